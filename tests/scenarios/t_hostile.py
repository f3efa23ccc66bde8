# SPDX-License-Identifier: MIT
"""Surroundings that are not friendly: the program goes on all the same.

Everywhere: same output and status as without the library, at most five lines of
ours, each trace that is there is whole.  What needs rights that the machine
does not give is skipped.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import harness
from harness import Skip, command, expect, expect_equal, folder, traced

CALM = "0 regions went wrong\n"


def run(what="calm", ms=1500, prefix=(), check=True, **env):
    """hostile WHAT under the library, after the commands of `prefix`."""
    words = [*prefix, harness.program("hostile"), what, ms]
    done = traced(*words, env=env, check=False)
    expect_equal(done.status, 7, f"status ({done.stderr[-1500:]})")
    expect_equal(done.stdout, CALM if what != "storm" else
                 CALM + "handlers ran: 1\n", "output")
    expect_equal(done.foreign_stderr, "", "errors")
    expect(len(done.own_lines) <= 5, "more than five lines", done.stderr)
    if check and "TRACEPROF_DIR" not in env:
        harness.check_files(done)
    return done


def limited(option, number):
    return ["sh", "-c", f'ulimit {option} {number}; exec "$@"', "sh"]


def as_another_user():
    """Commands before the program: root may write anywhere."""
    if os.geteuid() != 0:
        return []
    prefix = ["setpriv", "--reuid=65534", "--clear-groups"]
    done = subprocess.run([*prefix, "test", "-r", harness.LIBRARY, "-a", "-x",
                           harness.program("hostile")], check=False)
    if done.returncode:
        raise Skip("root's build is for root alone")
    return prefix


LITTLE = "mount -t tmpfs -o size=64m none /dev/shm"


def mounts(script):
    """Commands that run `script`, which may mount, before the program."""
    for unshare in (["unshare", "-m"], ["unshare", "-rm"]):
        try:
            done = subprocess.run([*unshare, "sh", "-c", script],
                                  capture_output=True, timeout=harness.HANGS)
        except OSError:
            break
        if done.returncode == 0:
            return [*unshare, "sh", "-c", script + ' && exec "$@"', "sh"]
    raise Skip("no right to mount")






def test_calm():
    expect(run().trace.regions("hostile_region"), "no regions")


def test_the_folder_is_a_link():
    """One of our own is followed; one that another user has put at the default
    place isn't."""
    for owner, files in ((os.geteuid(), 1), (65534, 0)):
        if owner != os.geteuid() and os.geteuid() != 0:
            raise Skip("only root can make another user's link")
        shared, aim = folder(), folder()
        os.chmod(shared, 0o777)
        link = os.path.join(shared, "traceprof")
        os.symlink(aim, link)
        os.lchown(link, owner, -1)
        done = harness.execute(
            [harness.program("hostile"), "calm", "300"],
            harness.clean_environment() | {"LD_PRELOAD": harness.LIBRARY}, 60, cwd=shared)
        expect_equal((done.status, done.stdout), (7, CALM), done.stderr)
        expect_equal(len(os.listdir(aim)), files, done.stderr)
        if not files:
            expect(any("a link of another user" in line for line in done.own_lines),
                   done.stderr)


def test_the_folder_is_a_pipe():
    place = os.path.join(folder(), "pipe")
    os.mkfifo(place)
    done = run(TRACEPROF_DIR=place)
    expect_equal(len(done.own_lines), 1, done.stderr)
    expect(place in done.own_lines[0], done.stderr)


def test_a_pipe_that_nobody_reads_stands_in_the_file():
    """The trace's place is taken by a pipe while the program runs."""
    target = os.path.join(folder(), "out")
    process = subprocess.Popen(
        [harness.program("hostile"), "calm", "3000"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
        env=harness.clean_environment() | {"LD_PRELOAD": harness.LIBRARY,
                                           "TRACEPROF_DIR": target})
    while not (os.path.isdir(target) and os.listdir(target)):
        expect(process.poll() is None, "no trace")
        time.sleep(0.05)
    path = os.path.join(target, os.listdir(target)[0])
    os.remove(path)
    os.mkfifo(path)
    stdout, stderr = process.communicate(timeout=harness.HANGS)
    expect_equal((process.returncode, stdout), (7, CALM), stderr)
    expect(len(stderr.splitlines()) <= 3, stderr)
    os.remove(path)
    command("recover", target)


def test_the_folder_is_removed():
    target = os.path.join(folder(), "out")
    process = subprocess.Popen(
        [harness.program("hostile"), "calm", "0"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # What is written down at once may be all that there was when it is noticed.
        env=harness.clean_environment() | {"LD_PRELOAD": harness.LIBRARY,
                                           "TRACEPROF_ENCODE": "late",
                                           "TRACEPROF_DIR": target})
    harness.wait_for_file(target, process)
    shutil.rmtree(target)
    # It is noticed before the program ends.
    lines = []
    while not lines or lines[-1] and "recording ends here" not in lines[-1]:
        lines.append(process.stderr.readline())
    stdout, stderr = process.communicate(timeout=harness.HANGS)
    stderr = "".join(lines) + stderr
    expect_equal((process.returncode, stdout), (7, CALM), stderr)
    said = [line for line in stderr.splitlines() if " step = " not in line]
    expect_equal(len(said), 1, stderr)
    expect("recording ends here" in stderr, stderr)
    # What was in memory then is still to be had.
    done = command("recover", target)
    expect_equal(done.status, 0, done.stderr)
    after = harness.Run([], 0, "", "", target)
    harness.check_files(after)
    expect(after.trace.regions("hostile_region"), "nothing was kept")


def test_an_unwritable_folder():
    place = folder()
    os.chmod(place, 0o500)
    done = run(prefix=as_another_user(), TRACEPROF_DIR=place)
    # Where shared memory is small, that is said as well.
    lines = [line for line in done.own_lines if "no room for shared memory" not in line]
    expect_equal(len(lines), 1, done.stderr)
    expect_equal(os.listdir(place), [], "files")


def test_a_read_only_disk():
    place = folder()
    done = run(prefix=mounts(f"mount -t tmpfs -o ro none {place}"),
               TRACEPROF_DIR=place)
    expect_equal(len(done.own_lines), 1, done.stderr)
    expect("ead-only" in done.own_lines[0], done.stderr)


def test_a_full_disk():
    """A disk of 16 KiB: what fits on it is a whole trace."""
    place = folder()
    seen = os.path.join(folder(), "checked")
    check = f"{harness.COMMAND} check {place}/*.gz >{seen} 2>&1"
    done = run("calm", 3000, mounts(f"mount -t tmpfs -o size=16k none {place}")
               + ["sh", "-c", f'"$@"; status=$?; {check}; exit $status', "sh"],
               TRACEPROF_DIR=place, TRACEPROF_MALLOC="all")
    expect("No space left" in done.stderr, done.stderr)
    expect(re.search(r"\.gz holds \d+ of [1-9]\d* events$", done.stderr, re.M),
           done.stderr)
    with open(seen, encoding="utf-8") as file:
        text = file.read()
    expect(text.rstrip().endswith("good"), text)
    command("recover", place)


def test_a_limit_of_file_size():
    for blocks in (1, 24, 200):
        done = run("calm", 2500, limited("-f", blocks), TRACEPROF_MALLOC="all")
        expect(done.own_lines, "not a word")


def status_without_reader(*command):
    """Of a command whose stderr is a pipe that nobody holds the other end of."""
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=writes, timeout=harness.HANGS,
                          env=harness.clean_environment(), check=False)
    os.close(writes)
    expect_equal(done.stdout.decode(), CALM, "output")
    return done.returncode


def test_nobody_reads_stderr_any_more():
    words = [harness.program("hostile"), "calm", "100"]
    place = os.path.join(folder(), "out")
    status = status_without_reader(
        "env", f"TRACEPROF_DIR={place}", f"LD_PRELOAD={harness.LIBRARY}", *words)
    expect_equal(status, 7, "status")
    status = status_without_reader(harness.COMMAND, "record", "-o", place, "--", *words)
    expect_equal(status, 7, "record's status")
    files = harness.Run([], 0, "", "", place).files
    expect_equal(len(files), 2, "traces")
    expect_equal(command("check", *files).status, 0, "check")


def test_a_limit_of_descriptors():
    run(prefix=limited("-n", 4))
    done = run("fds", prefix=limited("-n", 64))
    expect(done.own_lines, "not a word")


MOMENT = """
import ctypes, resource, time
own = ctypes.CDLL(None)
def step():
    if hasattr(own, "traceprof_step_"):
        own.traceprof_mark_(b"in a step")
        own.traceprof_step_()
        time.sleep(0.3)
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
step()
resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
step()
step()
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
step()
"""


def test_no_descriptor_for_a_moment():
    """The file of a window can't be made then, but a little later."""
    done = harness.same(sys.executable, "-c", MOMENT,
                        env={"TRACEPROF_STEP": "api", "TRACEPROF_WAIT": "1",
                             "TRACEPROF_ACTIVE": "1", "TRACEPROF_REPEAT": "1"})
    expect_equal(done.trace.steps(), [1], done.stderr)
    expect_equal(len([one for one in done.trace.events if one["name"] == "in a step"]), 1)


def test_a_limit_of_memory():
    done = run("memory")
    expect(done.own_lines or done.files, "not a word")


def test_signals_all_the_time():
    expect(run("storm").trace.regions("hostile_region"), "no regions")


def test_the_working_folder_is_gone():
    place = run("nowhere", TRACEPROF_DIR="./out")
    expect(len(place.own_lines) >= 1, "not a word")


def test_no_shared_memory():
    script = "mount -t tmpfs -o ro none /dev/shm"
    done = run(prefix=mounts(script), XDG_RUNTIME_DIR="")
    expect(done.trace.regions("hostile_region"), "no regions")
    expect("kill would lose" in done.stderr, done.stderr)


def test_little_shared_memory():
    """A container's 64 MB are the program's."""
    done = run(prefix=mounts(LITTLE), XDG_RUNTIME_DIR="")
    expect(done.trace.regions("hostile_region"), "no regions")


def test_record_holds_the_session():
    """Killed before its first second is over: all is in memory alone."""
    target = os.path.join(folder(), "out")
    env = harness.clean_environment() | {"TRACEPROF_MALLOC": "all"}
    env.pop("XDG_RUNTIME_DIR", None)
    process = subprocess.Popen(
        [*mounts(LITTLE), harness.COMMAND, "record", "--dir", target, "--",
         harness.program("endless")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    process.stdout.readline()
    with open(f"/proc/{process.pid}/task/{process.pid}/children",
              encoding="ascii") as file:
        child = int(file.read().split()[0])
    time.sleep(0.3)
    os.kill(child, signal.SIGKILL)
    stderr = process.communicate(timeout=harness.HANGS)[1]
    expect_equal(process.returncode, 128 + signal.SIGKILL, "its end")
    expect("kill would lose" not in stderr, stderr)
    found = re.search(r"recovered \S+ \((\d+) events, (\d+) of them from memory",
                      stderr)
    expect(found and int(found.group(2)) > 0, stderr)
    run_ = harness.Run([], 0, "", "", target)
    expect_equal(len(run_.files), 1, "traces")
    expect_equal(subprocess.run([harness.COMMAND, "check", *run_.files],
                                capture_output=True, check=False).returncode, 0, "check")
    expect(run_.trace.regions("endless_region"), "no regions")


def test_record_takes_memory_back():
    """One program after the other, and two at a time: each has a trace."""
    program = harness.program("endless")
    place = os.path.join(folder(), "out")
    script = f"for i in 1 2 3; do {program} 200 & {program} 300; wait; sleep 0.7; done"
    env = {key: value for key, value in harness.clean_environment().items()
           if key != "XDG_RUNTIME_DIR"}
    done = subprocess.run(
        [*mounts(LITTLE), harness.COMMAND, "record", "--dir", place, "--", "sh", "-c",
         script], capture_output=True, text=True, timeout=harness.HANGS, env=env, check=False)
    expect_equal(done.returncode, 0, done.stderr)
    expect("kill would lose" not in done.stderr, done.stderr)
    expect("recovered" not in done.stderr, done.stderr)
    expect_equal(len(harness.Run([], 0, "", "", place).files), 6, "traces")


def test_an_old_variable_harms_no_file():
    """The process of that number may have other descriptors by now."""
    path = os.path.join(folder(), "log")
    with open(path, "w", encoding="ascii") as file:
        done = run(prefix=mounts(LITTLE), XDG_RUNTIME_DIR="",
                   TRACEPROF_RECORD_HELD=f"{os.getpid()}:{file.fileno()}")
    expect_equal(os.path.getsize(path), 0, "bytes in a file of the program's")
    expect("kill would lose" in done.stderr, done.stderr)


def check_stuck(writes):
    """What is there opens, in the middle of a write too; recovery has more.  The disk
    never answers: who waits longer hangs."""
    done = run(
        check=False,
        LD_PRELOAD=f"{harness.program('lib/libstuck_disk.so')}:{harness.LIBRARY}",
        STUCK_WRITES=str(writes), TRACEPROF_EXIT_MS="700")
    expect("was not done after 700 ms (TRACEPROF_EXIT_MS)" in done.stderr, done.stderr)
    expect(len(done.traces) <= 1, done.files)
    expect_equal(command("recover", done.folder).status, 0, "recover")
    harness.check_files(done)
    expect(done.trace.regions("hostile_region"), "no regions")


def test_a_disk_that_hangs_from_the_start():
    check_stuck(0)


def test_a_disk_that_hangs_later():
    check_stuck(6)


if __name__ == "__main__":
    harness.main()
