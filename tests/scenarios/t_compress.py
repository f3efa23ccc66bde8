# SPDX-License-Identifier: MIT
"""traceprof compress: the same text in fewer bytes, or the file as it was."""

import gzip
import os
import pty
import shutil

import harness
from harness import command, expect, expect_equal, folder, traced


def content(path):
    with gzip.open(path) as file:
        return file.read()


def trace(**env):
    run = traced("heap_calls", "malloc", "900", "64",
                 env={"TRACEPROF_MALLOC": "all"} | env)
    expect_equal(len(run.files), 1, run.stderr)
    return run.files[0]


def refused(path, why):
    with open(path, "rb") as file:
        before = file.read()
    done = command("compress", path)
    expect_equal(done.status, 3, done.stderr)
    expect(why in done.stderr and os.path.basename(path) in done.stderr, done.stderr)
    with open(path, "rb") as file:
        expect_equal(file.read() == before, True, "the file is as it was")
    expect_equal(len(os.listdir(os.path.dirname(path))), 1, "what is left in the folder")


def test_the_same_text_in_fewer_bytes():
    path = trace()
    before, text = os.stat(path), content(path)
    os.chmod(path, 0o640)
    done = command("compress", path)
    expect_equal(done.status, 0, done.stderr)
    expect_equal(content(path) == text, True, "the text is the same")
    now = os.stat(path)
    expect(now.st_size < before.st_size, f"{now.st_size} of {before.st_size} bytes")
    expect_equal(now.st_mode & 0o777, 0o640, "mode")
    expect_equal(now.st_mtime_ns, before.st_mtime_ns, "time")
    expect_equal(command("check", path).status, 0, "check")
    again = command("compress", path)
    expect_equal((again.status, "as small as it gets" in again.stdout), (0, True), "again")
    expect_equal(os.stat(path).st_ino, now.st_ino, "nothing to win, nothing replaced")


def test_a_link_stays_a_link():
    path = trace()
    link = os.path.join(folder(), "link.gz")
    os.symlink(path, link)
    size = os.path.getsize(path)
    expect_equal(command("compress", link).status, 0, "status")
    expect(os.path.islink(link) and os.path.getsize(path) < size, "through the link")


def test_what_is_not_finished_is_left_alone():
    path = trace()
    text = content(path).replace(b'"final":true', b'"final":false')
    with gzip.open(path, "wb") as file:
        file.write(text)
    refused(path, "not finished")


def test_what_is_damaged_is_left_alone():
    path = trace()
    whole = os.path.getsize(path)
    with open(path, "ab") as file:
        file.write(b"x")
    refused(path, "after the end")
    os.truncate(path, whole - 5)
    refused(path, "cut short")
    refused(trace(TRACEPROF_GZIP="off"), "not compressed")


def test_usage():
    expect_equal(command("compress").status, 2, "no file")
    expect_equal(command("compress", "/nonexistent.gz").status, 3, "no such file")


def test_a_bar_on_a_terminal_alone():
    try:
        os.close(os.open("/dev/ptmx", os.O_RDWR))
    except OSError as error:
        raise harness.Skip(f"no terminals here: {error}") from error
    path = os.path.join(folder(), "long.json")
    line = b',\n{"ph":"i","cat":"c","name":"n","pid":1,"tid":1,"ts":1.000,"s":"t"}'
    with open(path, "wb") as file:
        file.write(b'{"schemaVersion":1,"traceEvents":[\n' + line[2:])
        for _ in range(60):
            file.write(line * 50000)
        file.write(b"\n]}")
    expect("\r" not in command("report", path).stderr, "a bar in a pipe")
    pid, terminal = pty.fork()
    if not pid:
        os.execv(harness.COMMAND, [harness.COMMAND, "report", path])
    shown = b""
    try:
        while piece := os.read(terminal, 65536):
            shown += piece
    except OSError:
        pass
    os.waitpid(pid, 0)
    expect(b"\rlong.json [#" in shown, repr(shown[:300]))


if __name__ == "__main__":
    harness.main()
