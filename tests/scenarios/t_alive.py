# SPDX-License-Identifier: MIT
"""A session is taken when its process is dead, and known to be: whatever can be
seen of /proc, whatever descriptors are closed, whoever else has the memory."""

import os
import shutil
import signal
import subprocess
import tempfile
import time

import harness
from harness import Skip, clean_environment, command, expect, expect_equal, folder

HIDE_PROC = ["unshare", "--mount", "sh", "-c",
             'mount -t tmpfs none /proc && exec "$@"', "sh"]
OTHER_PIDS = ["unshare", "--pid", "--fork", "--mount-proc"]


def needs(prefix):
    if prefix and subprocess.run([*prefix, "true"], capture_output=True).returncode:
        raise Skip(f"no {' '.join(prefix[:2])} here")


def spawn(target, *words, prefix=()):
    return subprocess.Popen(
        [*prefix, "env", "LD_PRELOAD=" + harness.LIBRARY,
         harness.program(words[0]), *words[1:]],
        env=clean_environment() | {"TRACEPROF_DIR": target},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True)


def start(target, *words, prefix=()):
    """A traced program that has printed its first line: (process, line).  What
    stands before it (unshare) is not traced."""
    process = spawn(target, *words, prefix=prefix)
    return process, process.stdout.readline()


def living(group):
    """The processes of a group that are no zombies, or have threads that still end:
    the memory is theirs, too."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        state, its_group, threads = fields[0], int(fields[2]), int(fields[17])
        if its_group == group and (state not in "ZX" or threads > 1):
            found.append(int(name))
    return found


def kill(process):
    """And all that it started; they are dead then."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    while living(process.pid):
        time.sleep(0.01)


def recover(target, prefix=()):
    """What `traceprof recover` says."""
    if not os.path.exists(target):
        os.makedirs(target, exist_ok=True)  # the program makes it meanwhile, perhaps
    done = subprocess.run([*prefix, harness.COMMAND, "recover", target],
                          env=clean_environment(), capture_output=True, text=True)
    expect_equal(done.returncode, 0, done.stderr)
    return done.stdout


def check_left_alone(target, process, prefix=()):
    said = recover(target, prefix)
    expect("nothing to recover" in said, "of a living program:", said)
    expect(process.poll() is None, "the program ended")
    expect(session_of(target), "its session is gone")


def session_of(target):
    """The session file whose trace goes to this folder, None: there is none."""
    for name in os.listdir("/dev/shm"):
        try:
            with open("/dev/shm/" + name, "rb") as file:
                if target.encode() + b"\0" in file.read(1 << 16):
                    return "/dev/shm/" + name
        except OSError:
            pass
    return None


def check(inside=(), outside=()):
    """A program that runs `inside` is left alone by who recovers `outside`, and
    taken as soon as it is killed."""
    needs(inside)
    needs(outside)
    target = os.path.join(folder(), "out")
    process, _ = start(target, "endless", prefix=inside)
    try:
        if not session_of(target):
            raise Skip("no shared memory that outlives a process")
        check_left_alone(target, process, outside)
        check_left_alone(target, process)
    finally:
        kill(process)
    said = recover(target, outside)
    expect("events" in said, "of a dead program:", said)
    expect(not session_of(target), "the session is still there")


def test_in_plain_sight():
    check()


def test_recovery_without_proc():
    check(outside=HIDE_PROC)


def test_a_program_without_proc():
    check(inside=HIDE_PROC)


def test_recovery_in_another_pid_namespace():
    check(outside=OTHER_PIDS)


def test_a_program_in_another_pid_namespace():
    check(inside=OTHER_PIDS)


def test_processes_that_are_hidden_from_their_own_user():
    """hidepid=2, and a program that its user may run but not read: /proc shows
    it to nobody but root."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skip("needs two users")
    hidden = ["unshare", "--mount", "sh", "-c",
              'mount -t proc -o hidepid=2 none /proc && exec setpriv --reuid=65534 '
              '--regid=65534 --clear-groups "$@"', "sh"]
    needs(hidden)
    with tempfile.TemporaryDirectory(prefix="traceprof-test-") as place:
        os.chmod(place, 0o777)
        for path, mode in ((harness.LIBRARY, 0o755), (harness.COMMAND, 0o755),
                           (harness.program("endless"), 0o711)):
            os.chmod(shutil.copy(path, place), mode)
        target = os.path.join(place, "out")
        os.mkdir(target)
        os.chown(target, 65534, 65534)
        tool = [*hidden, os.path.join(place, "traceprof"), "recover", target]
        process = subprocess.Popen(
            [*hidden, "env", f"LD_PRELOAD={place}/libtraceprof.so", place + "/endless"],
            env=clean_environment() | {"TRACEPROF_DIR": target},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True)
        process.stdout.readline()
        try:
            if not session_of(target):
                raise Skip("no shared memory that outlives a process")
            shown = subprocess.run([*hidden, "test", "-e", f"/proc/{process.pid}"])
            expect_equal(shown.returncode, 1, "the program can be seen")
            said = subprocess.run(tool, capture_output=True, text=True).stdout
            expect("nothing to recover" in said, "of a living program:", said)
            expect(process.poll() is None and session_of(target), "it was taken")
        finally:
            kill(process)
        said = subprocess.run(tool, capture_output=True, text=True).stdout
        expect("events" in said, "of a dead program:", said)
        expect(not session_of(target), "the session is still there")


def test_the_next_run_leaves_it_alone():
    """Without /proc, and in the same folder."""
    needs(HIDE_PROC)
    target = os.path.join(folder(), "out")
    process, _ = start(target, "endless")
    second = None
    try:
        if not session_of(target):
            raise Skip("no shared memory that outlives a process")
        second, _ = start(target, "endless", "300", prefix=HIDE_PROC)
        _, said = second.communicate()
        expect("killed" not in said and "may be" not in said, said)
        check_left_alone(target, process)
    finally:
        if second and second.poll() is None:
            kill(second)
        kill(process)
    expect("events" in recover(target), "not recovered")


def test_a_program_that_closes_all_descriptors():
    target = os.path.join(folder(), "out")
    process = spawn(target, "close_all", target + "-file")
    try:
        # Its own files are open in the place of all others.
        while process.poll() is None and not os.path.exists("/proc/%d/fd/1000"
                                                            % process.pid):
            time.sleep(0.01)
        if process.poll() is None:
            check_left_alone(target, process)
        _, said = process.communicate()
        expect_equal(process.returncode, 0, said)
    finally:
        if process.poll() is None:
            kill(process)
        process.communicate()
    # On full cores another process writes what is left, and says so.
    for _ in range(600 if "after the program's end" in said else 0):
        if not session_of(target):
            break
        time.sleep(0.1)
    expect(not session_of(target), "a session is left:", said)


def check_outlived(*words, is_free):
    target = os.path.join(folder(), "out")
    process, line = start(target, "outlived", *words)
    child = int(line)
    try:
        if not session_of(target):
            raise Skip("no shared memory that outlives a process")
        check_left_alone(target, process)
        process.kill()
        process.wait()
        said = recover(target)
        expect(os.path.exists(f"/proc/{child}"), "the child is gone")
        expect_equal("events" in said, is_free, said)
    finally:
        kill(process)
    expect_equal("events" in recover(target), not is_free, "when all is over")


def test_a_forked_child_outlives_it():
    check_outlived(is_free=True)


def test_a_child_of_no_handler_outlives_it():
    """It still has the session's memory, so that it counts as running."""
    if os.uname().machine != "x86_64":
        raise Skip("a bare system call for x86-64")
    check_outlived("clone", is_free=False)


def test_a_copy_is_not_taken_for_the_file():
    """Nobody holds the lock of a copy: it is not a dead program's for that."""
    target = os.path.join(folder(), "out")
    copy = os.path.join(folder(), "copy.session")
    process, _ = start(target, "endless")
    try:
        session = session_of(target)
        if not session:
            raise Skip("no shared memory that outlives a process")
        with open(session, "rb") as source, open(copy, "wb") as file:
            file.write(source.read())
        done = command("recover", copy)
        expect("still runs" in done.stdout, done.stdout, done.stderr)
        if not subprocess.run([*OTHER_PIDS, "true"], capture_output=True).returncode:
            said = recover(copy, OTHER_PIDS)
            expect("may still run" in said, said)
        check_left_alone(target, process)
    finally:
        kill(process)
    expect("events" in recover(copy), "of a dead program's copy")
    command("recover", target)


if __name__ == "__main__":
    harness.main()
