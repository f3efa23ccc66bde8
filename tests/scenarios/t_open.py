# SPDX-License-Identifier: MIT
"""build/traceprof open: the file is served once, to who may have it."""

import http.client
import os
import re
import signal
import socket
import subprocess

import harness
from harness import COMMAND, clean_environment, command, ends_with_test, expect, \
    expect_equal, folder


def served(name="a trace+.json"):
    """The command, its port, the path in its link and what the file holds."""
    path = os.path.join(folder(), name)
    content = os.urandom(3000000)
    with open(path, "wb") as file:
        file.write(content)
    process = ends_with_test(subprocess.Popen(
        [COMMAND, "open", "--port", "0", path], stdout=subprocess.PIPE, text=True,
        env=clean_environment()))
    link = process.stdout.readline()
    found = re.fullmatch(r"Open https://ui\.perfetto\.dev/#!/\?url=http://127\.0\.0\.1:"
                         r"(\d+)(/\S+)\n", link)
    expect(found, link)
    return process, int(found.group(1)), found.group(2), content


def ask(port, method, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=harness.HANGS)
    connection.request(method, path, headers={key.replace("_", "-"): value
                                              for key, value in headers.items()})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def test_it_is_fetched_once():
    process, port, path, content = served()
    answer, body = ask(port, "OPTIONS", path, Origin="https://ui.perfetto.dev",
                       Access_Control_Request_Private_Network="true")
    expect_equal((answer.status, body), (204, b""))
    expect_equal(answer.headers["Access-Control-Allow-Private-Network"], "true")
    answer, body = ask(port, "HEAD", path)
    expect_equal((answer.status, answer.headers["Content-Length"], body),
                 (200, str(len(content)), b""))
    answer, body = ask(port, "GET", path, Origin="https://ui.perfetto.dev")
    expect_equal(answer.status, 200)
    expect(body == content, "another content")
    expect_equal(answer.headers["Access-Control-Allow-Origin"],
                 "https://ui.perfetto.dev")
    expect_equal(process.wait(30), 0)
    process.stdout.close()


def test_others_get_nothing():
    """Nor does the command end by them."""
    process, port, path, content = served()
    for method, wanted, headers, status in (
            ("GET", "/", {}, 404), ("GET", "/etc/passwd", {}, 404),
            ("GET", path + "x", {}, 404), ("POST", path, {}, 405),
            ("GET", path, {"Host": f"evil.example:{port}"}, 403)):
        answer, body = ask(port, method, wanted, **headers)
        expect_equal((answer.status, body), (status, b""), f"{method} {wanted}")
    for text in (b"", b"GET\r\n\r\n", b"\r\n\r\n", b"GET " + b"x" * 20000):
        with socket.create_connection(("127.0.0.1", port)) as guest:
            try:
                guest.sendall(text)
            except OSError:
                pass
    with socket.create_connection(("127.0.0.1", port)) as guest:    # and gives up
        guest.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
        try:
            guest.recv(100)
        except ConnectionResetError:            # as well as nothing
            pass
        guest.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    for _ in range(200):                        # and so do many, at any moment
        with socket.create_connection(("127.0.0.1", port)) as guest:
            guest.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
            guest.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    _, body = ask(port, "GET", path)
    expect(body == content, "another content")
    expect_equal(process.wait(30), 0)
    process.stdout.close()


def test_control_c_ends_it():
    process, *_ = served()
    process.send_signal(signal.SIGINT)
    expect_equal(process.wait(30), 0)
    process.stdout.close()


def test_it_is_for_this_machine_alone():
    process, port, *_ = served()
    text = open("/proc/net/tcp", encoding="utf-8").read()
    expect(f" 0100007F:{port:04X} " in text, "not at 127.0.0.1")
    process.kill()
    process.wait()
    process.stdout.close()


def test_what_can_t_be_opened():
    taken = socket.create_server(("127.0.0.1", 0))
    port = taken.getsockname()[1]
    for arguments, status in (((), 2), (("a", "b"), 2), (("/nowhere/x",), 3),
                              ((folder(),), 3), (("--port", "x", "a"), 2),
                              (("--port", port, COMMAND), 3)):
        done = command("open", *arguments)
        expect_equal(done.status, status, f"{arguments}: {done.stderr}")
        if status == 3:
            expect_equal(done.stderr.count("\n"), 1, done.stderr)
    taken.close()


if __name__ == "__main__":
    harness.main()
