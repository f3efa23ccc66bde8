# SPDX-License-Identifier: MIT
"""build/traceprof top: a running program is seen as it is, and not disturbed."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import harness
from harness import (COMMAND, LIBRARY, clean_environment, command, ends_with_test,
                     expect, expect_equal, folder, program)


def wait_for(condition):
    """What it gives as soon as that is true."""
    for _ in range(1200):
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def start(*arguments, **env):
    """A program that is recorded and goes on for minutes; its folder."""
    out = os.path.join(folder(), "out")
    settings = clean_environment() | {"LD_PRELOAD": LIBRARY, "TRACEPROF_DIR": out,
                                      "OMP_NUM_THREADS": "2"} | env
    process = ends_with_test(subprocess.Popen(
        [program(arguments[0]), *arguments[1:]], env=settings,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    return process, out


def training(**env):
    process, out = start("train", "-e", "100000",
                         TRACEPROF_STEP="omp:adam_update", **env)
    wait_for(lambda: (look(process) or {}).get("steps", {}).get("begun", 0) > 5)
    return process, out


def look(process):
    done = command("top", "--once", "--json", "-i", "0.05", process.pid)
    return json.loads(done.stdout) if done.status == 0 and done.stdout else None


def stop(process):
    process.send_signal(signal.SIGSTOP)
    wait_for(lambda: state(process) == "T")


def state(process):
    with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0]


def recovered(process, out):
    """The trace of a program that is killed now."""
    process.kill()
    process.wait()
    done = command("recover", out)
    expect_equal(done.status, 0, done.stderr)
    (name,) = os.listdir(out)
    return harness.Trace(os.path.join(out, name))


def test_a_stopped_program_is_seen_as_it_is():
    """And what its trace says afterwards is what was shown."""
    process, out = training(TRACEPROF_MALLOC="all")
    stop(process)
    first, second = look(process), look(process)
    for one in (first, second):
        for field in ("recorded_ns", "between_ns"):
            expect(one.pop(field) > 0, field)
        one["steps"].pop("this_ns")
        for thread in one["threads"]:
            thread.pop("open_ns", None)
    expect_equal(first, second)
    shown = command("top", "--once", process.pid).stdout
    expect("omp_" not in shown, "no word of a person's", shown)
    expect_equal(first["steps"]["per_s"], 0)
    trace = recovered(process, out)
    # Who is dead has left something open: that is seen once more.
    expect(0 <= trace.meta["events"]["seen"] - first["events"]["seen"] <= 20,
           trace.meta["events"], first["events"])
    expect_equal(sum(thread["events"] for thread in first["threads"]),
                 first["events"]["seen"], "a thread is missing")
    last = max(event["args"]["region"] for event in trace.slices(omp="parallel"))
    expect_equal(first["regions"]["begun"], last & 0xffffffff, "regions")
    expect(0 <= first["steps"]["begun"] - len(trace.steps()) <= 1, first["steps"])


def test_its_sums_are_those_of_the_trace():
    """The heap's, and those of each thread, beside a reader that isn't ours."""
    process, out = training(TRACEPROF_MALLOC="all")
    stop(process)
    seen = look(process)
    trace = recovered(process, out)
    heap = trace.meta["heap"]
    expect_equal(seen["heap"]["calls"], heap["calls"] + heap["frees"], "calls")
    blocks = trace.memory()
    expect_equal(seen["heap"]["calls"], len(blocks), "blocks")
    expect_equal(seen["heap"]["live_bytes"], heap["live_bytes"], "live")
    expect_equal(seen["heap"]["live_bytes"] - heap["base_bytes"],
                 sum(block["args"]["Bytes"] for block in blocks), "sum of the blocks")
    expect_equal(seen["events"]["dropped"], trace.meta["events"]["dropped"])
    regions = {event["args"]["region"] for event in trace.slices(omp="parallel")}
    expect(0 <= sum(thread["regions"] for thread in seen["threads"]) - len(regions) <= 1,
           seen["threads"], len(regions))


def test_what_is_lost_is_shown():
    """Before anything is written: the program was never told of it."""
    process, out = start("many_blocks", "100000000", TRACEPROF_MALLOC="all",
                         TRACEPROF_BUFFER_MB="4", TRACEPROF_MAX_OVERHEAD="0", TRACEPROF_ON_FULL="drop",
                         TRACEPROF_GZIP="zlib:9")
    wait_for(lambda: (look(process) or {}).get("events", {}).get("dropped", 0))
    stop(process)
    seen = look(process)
    said = command("top", "--once", process.pid).stdout
    lost = seen["events"]["dropped"]
    expect(f"LOST     {lost} events without room" in said, said)
    trace = recovered(process, out)
    expect_equal(seen["events"]["dropped"], trace.meta["events"]["dropped"])
    expect_equal(sum(thread["dropped"] for thread in seen["threads"]),
                 seen["events"]["dropped"], seen["threads"])


def test_rates_of_a_running_one():
    process, out = training()
    wait_for(lambda: look(process)["steps"]["per_s"] > 0)
    said = command("top", "--once", "-i", "0.3", process.pid)
    expect_equal(said.status, 0, said.stderr)
    for word in (f"train ({process.pid})", " a second, ", "lost     nothing",
                 "heap ", "regions "):
        expect(word in said.stdout, word, said.stdout)
    recovered(process, out)


def test_a_gpu():
    fake = os.path.join(harness.BUILD, "fake-gpu")
    if not os.path.exists(os.path.join(harness.PROGRAMS, "cuda_train_openmp")):
        raise harness.Skip(harness.not_built("cuda_train", "nvcc"))
    process, out = start("cuda_train_openmp", "1000000", "2", LD_LIBRARY_PATH=fake)
    wait_for(lambda: (look(process) or {}).get("gpu", {}).get("kernels", 0) > 50)
    seen = look(process)["gpu"]
    # One launch of the graph runs three kernels and more.
    expect(seen["launches"] > 0 and seen["kernels"] > 50, seen)
    recovered(process, out)


def test_it_ends_with_the_program():
    process, out = training()
    top = ends_with_test(subprocess.Popen(
        [COMMAND, "top", "-i", "0.05", str(process.pid)], stdout=subprocess.PIPE,
        text=True, env=clean_environment()))
    expect(" a second; " in top.stdout.readline(), "no line")
    recovered(process, out)
    expect_equal(top.wait(30), 0)
    top.stdout.close()


def test_a_screen_and_its_keys():
    """As wide and as high as the terminal, and the terminal is left as it was."""
    process, out = training()
    child, screen = pty.fork()
    if not child:
        os.execv(COMMAND, [COMMAND, "top", "-i", "0.05", str(process.pid)])
    resize(screen, 6, 40)
    wait_for(lambda: any(len(lines) == 6 and max(map(len, lines)) <= 40
                         for lines in frames(drawn(screen))))
    resize(screen, 30, 150)
    wait_for(lambda: any("events/s" in line for lines in frames(drawn(screen))
                         for line in lines))
    os.write(screen, b"q")
    wait_for(lambda: b"\x1b[?1049l" in drawn(screen))
    expect_equal(os.waitpid(child, 0)[1], 0)
    os.close(screen)
    recovered(process, out)


def on_terminal(process, kind):
    """top on a terminal of that kind: its end of it, and its pid."""
    child, screen = pty.fork()
    if not child:
        os.environ["TERM"] = kind
        os.execv(COMMAND, [COMMAND, "top", "-i", "0.05", str(process.pid)])
    return screen, child


def test_a_screen_that_ends_says_why():
    """A program that is killed, whose last screen goes away at once."""
    process, out = training()
    screen, child = on_terminal(process, "xterm")
    seen = [b""]

    def shows(text):
        seen[0] += drawn(screen)
        return text in seen[0]

    wait_for(lambda: shows(b"events/s"))
    recovered(process, out)
    wait_for(lambda: shows(b"%d has ended." % process.pid))
    expect_equal(os.waitpid(child, 0)[1], 0)
    os.close(screen)


def test_a_dumb_terminal_gets_lines():
    process, out = training()
    screen, child = on_terminal(process, "dumb")
    seen = [b""]

    def shows(text):
        seen[0] += drawn(screen)
        return text in seen[0]

    wait_for(lambda: shows(b" a second; "))
    os.kill(child, signal.SIGINT)
    expect_equal(os.waitpid(child, 0)[1], 0)
    expect(b"\x1b" not in seen[0], seen[0])
    os.close(screen)
    recovered(process, out)


def resize(screen, rows, columns):
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def drawn(screen):
    """What it shows in a while."""
    seen = b""
    end = time.monotonic() + 0.4
    while time.monotonic() < end:
        if select.select([screen], [], [], 0.05)[0]:
            try:
                seen += os.read(screen, 65536)
            except OSError:
                break
    return seen


def frames(seen):
    """Whole ones."""
    return [part.replace("\r", "").split("\n") for part in
            seen.decode(errors="replace").split("\x1b[H\x1b[J")[1:-1]]


def test_what_can_t_be_watched():
    for arguments, status in ((("top",), 2), (("top", "x"), 2), (("top", "1", "2"), 2),
                              (("top", "-i", "0", "1"), 2),
                              (("top", "999999999"), 3), (("top", os.getpid()), 3)):
        done = command(*arguments)
        expect_equal(done.status, status, f"{arguments}: {done.stderr}")
        if status == 3:
            expect_equal(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    harness.main()
