# SPDX-License-Identifier: MIT
"""A running program is told to record: traceprof ctl, and a signal."""

import glob
import os
import re
import shutil
import signal
import subprocess
import time

import harness
from harness import Skip, command, expect, expect_equal, folder


class Running:
    """A program under the library, until leave() or kill()."""

    def __init__(self, *arguments, program="step_loop", env=None, **options):
        self.target = os.path.join(folder(), "out")
        settings = {"LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": self.target}
        self.process = harness.ends_with_test(subprocess.Popen(
            [harness.program(program), *map(str, arguments)], text=True,
            env=harness.clean_environment() | settings | {
                "TRACEPROF_" + key.upper(): str(value)
                for key, value in options.items()} | (env or {}),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE))
        self.pid = self.process.pid

    def ctl(self, *arguments, pid=None):
        return command("ctl", pid or self.pid, *arguments)

    def good(self, *arguments):
        done = self.ctl(*arguments)
        expect_equal(done.status, 0, f"{arguments}: {done.stderr}")
        return done.stdout

    def until(self, *words):
        """Waits for a status that holds one of these."""
        for _ in range(300):
            done = self.ctl("status")
            if done.status == 0 and any(word in done.stdout for word in words):
                return done.stdout
            time.sleep(0.05)
        raise AssertionError(f"no {words} in {done.stdout} {done.stderr}")

    def held(self, step):
        """Waits until this step waits (tests/programs/held.h)."""
        expect_equal(self.process.stdout.readline(), f"step {step}\n", "held")

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def until_written(self):
        """Waits until the file of the last window is finished."""
        for _ in range(300):
            done = self.ctl("snapshot")
            if done.status == 1 and "nothing is being recorded" in done.stderr:
                return
            time.sleep(0.05)
        raise AssertionError(f"still written: {done.stdout} {done.stderr}")

    def leave(self):
        """Lets it end, and checks what it left."""
        stdout, stderr = self.process.communicate(timeout=harness.HANGS)
        run = harness.Run([], self.process.returncode, stdout, stderr,
                          self.target)
        expect_equal(run.status, 0, stderr)
        harness.check_files(run)
        harness.expect_no_session(run)
        return run

    def kill(self):
        self.process.kill()
        self.process.communicate()
        command("recover", self.target)


def stepping(count, *held, **options):
    """Steps of a millisecond, of which some wait until go_on() or leave()."""
    return Running(count, 1, ",".join(map(str, held)), "held", program="uneven",
                   **options)


def test_a_window_of_so_many_steps():
    program = stepping(40, 10, 30, wait=100000, active=1)
    program.held(10)
    expect("state    not recording" in program.good("status"), "before")
    expect("waiting for the next step, to record 3" in
           program.good("start", "--steps", 3), "what was begun is not said")
    program.go_on()
    program.held(30)
    program.until_written()
    said = program.good("status")
    expect("window   1\n" in said, said)
    run = program.leave()
    expect_equal(run.files, [said.split()[-1]], "files")
    expect_equal(run.trace.steps(), [11, 12, 13], "steps")
    expect_equal(len(run.trace.regions("work")), 3, "regions")
    expect_equal(run.trace.meta["step"]["name"], "ctl", "name")
    expect_equal([run.trace.meta["step"][key] for key in ("first", "last")],
                 [11, 13], "the window's steps")


def test_a_window_of_so_many_milliseconds():
    program = Running(1000000, 20, step="manual")
    program.until("not recording")
    expect("ms left" in program.good("start", "--ms", 300), "not said")
    program.until("window   1\n")
    program.until_written()
    program.kill()
    run = harness.Run([], 0, "", "", program.target)
    harness.check_files(run)
    window = run.trace.slices("PyTorch Profiler*")[0]
    # It ends with the first of the writer's passes after that.
    expect(window["dur"] > 250e3, f"{window['dur']} us")
    expect(run.trace.regions("work"), "no region")


def test_start_and_stop():
    program = stepping(60, 10, 30, 50, step="manual")
    program.held(10)
    expect("recording until it is stopped" in program.good("start"), "start")
    program.go_on()
    program.held(30)
    path = program.good("stop").strip()
    expect(os.path.exists(path), f"stop did not say which file: {path}")
    harness.check_files(harness.Run([], 0, "", "", program.target))
    program.go_on()
    program.held(50)
    run = program.leave()
    expect_equal(run.files, [path], "files")
    expect_equal(len(run.trace.regions("work")), 20, "regions")


def test_a_second_start_is_refused():
    program = Running(500, 20, wait=100000, active=1)
    program.until("not recording")
    program.good("start", "--steps", 100000)
    program.until("state    recording, ")
    done = program.ctl("start", "--ms", 5)
    expect_equal(done.status, 1, "status")
    expect(re.search(r"already recording, \d+ of 100000 steps", done.stderr),
           done.stderr)
    program.good("stop")
    done = program.ctl("stop")
    expect_equal(done.status, 1, "second stop")
    expect("nothing is being recorded" in done.stderr, done.stderr)
    run = program.leave()
    expect_equal(len(run.files), 1, "files")


def test_a_window_that_still_waits_for_its_step():
    program = Running(400, 20, "unmarked", wait=5, active=1, step="api")
    program.until("not recording")
    expect("none has begun so far" in program.good("start", "--steps", 2),
           "that no step has been seen is not said")
    done = program.ctl("start")
    expect_equal(done.status, 1, "status")
    expect("waiting" in done.stderr, done.stderr)
    expect("no longer waiting" in program.good("stop"), "stop")
    expect_equal(program.leave().files, [], "files")


def test_what_the_schedule_records_is_its_own():
    program = Running(400, 20, active=100000)
    program.until("recording, ")
    for verb, said in (("start", r"already recording, \d+ of 100000 steps"),
                       ("stop", "the schedule ends it")):
        done = program.ctl(verb)
        expect_equal(done.status, 1, verb)
        expect(re.search(said, done.stderr), done.stderr)
    program.leave()


def test_windows_of_the_schedule_go_on_around_one_by_hand():
    program = stepping(120, 10, wait=50, active=3, repeat=2)
    program.held(10)
    program.good("start", "--steps", 4)
    run = program.leave()
    expect_equal([trace.steps() for trace in run.traces],
                 [[11, 12, 13, 14], [50, 51, 52], [103, 104, 105]], "files")


def test_a_snapshot_is_complete():
    """All that had been recorded when it was asked for is in the file."""
    program = stepping(60, 30)
    program.held(30)
    seen = int(re.search(r"(\d+) seen", program.good("status")).group(1))
    path = program.good("snapshot").strip()
    copy = os.path.join(folder(), os.path.basename(path))
    shutil.copyfile(path, copy)
    harness.check_files(harness.Run([], 0, "", "", os.path.dirname(copy)))
    trace = harness.Trace(copy)
    written = trace.meta["events"]["written"]
    expect(written >= seen > 30, f"{written} of {seen}")
    expect_equal(len(trace.regions("work")), 31, "regions")
    expect_equal(program.leave().files, [path], "files")


def test_status():
    program = stepping(40, 4, wait=2, active=3, repeat=4)
    program.held(4)
    said = program.good("status")
    for line in (r"state    recording, 2 of 3 steps", r"step     4, by api, for \d+(\.\d+)? (s|ms|us)",
                 r"window   1 of 4",
                 r"events   \d+ seen, 0 of them dropped, \d+ in files"):
        expect(re.search(f"^{line}$", said, re.M), f"no '{line}' in {said}")
    program.leave()


def test_processes_that_cannot_be_asked():
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        done = command("ctl", sleeper.pid, "status")
        expect_equal(done.status, 3, "without traceprof")
        expect("without traceprof" in done.stderr, done.stderr)
    finally:
        sleeper.kill()
        sleeper.wait()
    done = command("ctl", sleeper.pid, "start")
    expect_equal(done.status, 3, "dead")
    expect("there is no process" in done.stderr, done.stderr)
    for arguments in (("x", "status"), ("1",), ("1", "go"), ("1", "stop", "--ms", "3"),
                      ("1", "start", "--ms", "3", "--steps", "3"),
                      ("1", "start", "--steps", "0")):
        expect_equal(command("ctl", *arguments).status, 2, arguments)


def test_a_dead_process_that_nobody_has_waited_for():
    program = Running(1000, 20)
    program.until("recording")
    program.process.kill()
    os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
    done = program.ctl("status")
    program.kill()
    expect_equal(done.status, 3, "status")
    expect("is dead" in done.stderr and "recover" in done.stderr, done.stderr)


def wait_for(path, text):
    """Waits until a file of /proc holds the text."""
    for _ in range(600):
        with open(path, encoding="utf-8") as file:
            if text in file.read():
                return
        time.sleep(0.05)
    raise AssertionError(f"{path} never held {text!r}")


def stop(pid):
    """The signal alone is not enough: one thread must take it before any stops."""
    os.kill(pid, signal.SIGSTOP)
    for thread in os.listdir(f"/proc/{pid}/task"):
        wait_for(f"/proc/{pid}/task/{thread}/status", "State:\tT")


def test_someone_elses_process():
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skip("needs two users")
    sleeper = subprocess.Popen(["setpriv", "--reuid=65534", "--clear-groups",
                                "sleep", "60"])
    try:
        wait_for(f"/proc/{sleeper.pid}/status", "Uid:\t65534")
        done = command("ctl", sleeper.pid, "start")
        expect_equal(done.status, 3, "status")
        expect("belongs to another user" in done.stderr, done.stderr)
    finally:
        sleeper.kill()
        sleeper.wait()


def session_of(pid):
    # An older one is of a process that had this number and was killed.
    found = glob.glob(f"/dev/shm/traceprof-{os.geteuid()}-{pid}-*")
    if not found:
        raise Skip("no shared memory with room for a session")
    return max(found, key=os.path.getmtime)


def test_a_session_of_another_version():
    program = Running(1000, 20)
    program.until("recording")
    path = session_of(program.pid)
    with open(path, "r+b") as file:
        file.seek(8)
        file.write(b"\1")
    done = program.ctl("status")
    program.kill()
    os.remove(path)
    expect_equal(done.status, 3, "status")
    expect("version" in done.stderr, done.stderr)


def test_a_session_that_is_cut_off():
    program = Running(1000, 20)
    program.until("recording")
    path = session_of(program.pid)
    stop(program.pid)
    tool = subprocess.Popen([harness.COMMAND, "ctl", str(program.pid), "status"],
                            stderr=subprocess.PIPE, text=True)
    wait_for(f"/proc/{tool.pid}/maps", path)
    wait_for(f"/proc/{tool.pid}/status", "State:\tS")
    os.truncate(path, 0)
    said = tool.communicate(timeout=harness.HANGS)[1]
    program.process.kill()
    os.kill(program.pid, signal.SIGCONT)
    program.kill()
    os.remove(path)
    expect_equal((tool.returncode, said), (3, "traceprof ctl: its session is damaged\n"),
                 "a tool that waits")


def test_a_writer_that_does_not_answer():
    program = Running(2000, 20)
    program.until("recording")
    stop(program.pid)
    done = program.ctl("start")
    expect_equal(done.status, 1, "status")
    expect("has not answered" in done.stderr, done.stderr)
    os.kill(program.pid, signal.SIGCONT)
    program.until("recording")          # and the box is free again
    program.kill()


def test_a_request_left_by_a_tool_that_was_killed():
    program = Running(2000, 20)
    program.until("recording")
    path = session_of(program.pid)
    stop(program.pid)
    tool = subprocess.Popen([harness.COMMAND, "ctl", str(program.pid), "status"])
    wait_for(f"/proc/{tool.pid}/maps", path)
    time.sleep(0.3)
    tool.kill()
    tool.wait()
    os.kill(program.pid, signal.SIGCONT)
    program.until("recording")
    program.kill()


def test_a_signal_starts_and_stops():
    program = stepping(60, 10, 30, step="manual", signal="SIGUSR2")
    program.held(10)
    program.process.send_signal(signal.SIGUSR2)
    program.until("recording until it is stopped")
    program.go_on()
    program.held(30)
    program.process.send_signal(signal.SIGUSR2)
    program.until("not recording")
    run = program.leave()
    expect_equal(len(run.files), 1, "files")
    expect_equal(run.trace.meta["step"]["name"], "signal", "name")
    expect_equal(len(run.trace.regions("work")), 20, "regions")


def test_a_signal_before_there_is_anything_to_record():
    """Its default action would end the program."""
    run = harness.traced("bash", "-c", "kill -USR2 $$; exec true",
                         env={"TRACEPROF_SIGNAL": "USR2"})
    expect(run.status in (0, -signal.SIGUSR2), run.status)  # a shell is a tool
    source = "import os, signal; os.kill(os.getpid(), signal.SIGUSR2); print('on')"
    run = harness.traced("python3", "-c", source, env={"TRACEPROF_SIGNAL": "12"})
    expect_equal((run.status, run.stdout), (0, "on\n"), run.stderr)


def test_a_handler_of_the_programs_own_stays():
    source = """
import ctypes, signal, time
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
step = ctypes.CDLL(None).traceprof_step_
for _ in range(16):
    step()
    time.sleep(0.1)
signal.raise_signal(signal.SIGUSR1)
print(len(seen))
"""
    run = harness.traced("python3", "-c", source,
                         env={"TRACEPROF_SIGNAL": "USR1", "TRACEPROF_STEP": "manual"})
    expect_equal((run.status, run.stdout), (0, "1\n"), run.stderr)
    expect_equal(run.files, [], "files")
    expect_equal(run.stderr.count("handles signal 10 itself"), 1, run.stderr)


def test_calls_go_on_behind_the_handler():
    """SA_RESTART: a read that a signal meets is not cut short."""
    source = """
import ctypes, os, threading, time
ctypes.CDLL(None).traceprof_step_()
ends = os.pipe()
main = threading.get_native_id()
def later():
    time.sleep(0.2)
    os.kill(os.getpid(), 12)
    time.sleep(0.2)
    os.write(ends[1], b"x")
threading.Thread(target=later).start()
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(1)
print(libc.read(ends[0], buffer, 1), buffer.raw)
"""
    run = harness.traced("python3", "-c", source,
                         env={"TRACEPROF_SIGNAL": "USR2", "TRACEPROF_STEP": "manual"})
    expect_equal((run.status, run.stdout), (0, "1 b'x'\n"), run.stderr)


def test_signals_that_cannot_be_used():
    for name in ("KILL", "SIGSTOP", "SEGV", "TERM", "CHLD", "IO", "9", "64000", "USR9"):
        run = harness.traced("step_loop", 3, env={"TRACEPROF_SIGNAL": name})
        expect("TRACEPROF_SIGNAL" in run.stderr and "USR2" in run.stderr,
               f"{name}: {run.stderr}")
        done = command("record", "--signal", name, "--", "true")
        expect_equal(done.status, 2, name)
    for name in ("USR1", "SIGUSR2", "10", "RTMIN", "RTMIN+3", "SIGRTMAX-1"):
        run = harness.traced("step_loop", 3, env={"TRACEPROF_SIGNAL": name})
        expect("TRACEPROF_SIGNAL" not in run.stderr, f"{name}: {run.stderr}")


if __name__ == "__main__":
    harness.main()
