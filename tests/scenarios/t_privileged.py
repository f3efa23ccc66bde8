# SPDX-License-Identifier: MIT
"""What only some machines let a test do: mount a disk that can be stopped, and
make a memory cgroup, in which who takes too much is killed.
"""

import contextlib
import errno
import glob
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "chaos"))
import harness
import kill_loop
from harness import Skip, expect, expect_equal, folder, traced

CALM = "0 regions went wrong\n"
ROOT_GROUP = "/sys/fs/cgroup"


def group_parents():
    """[(folder in which a memory group may be made, its limits' names)]"""
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(":", 2) for line in file]
    for _, controllers, path in lines:
        for place in dict.fromkeys((path, "/")):
            if "memory" in controllers.split(","):
                yield (f"{ROOT_GROUP}/memory{place}", "memory.limit_in_bytes",
                       "memory.memsw.limit_in_bytes")
            elif not controllers:
                yield ROOT_GROUP + place, "memory.max", "memory.swap.max"


def limit_group(group, limit, swap_limit, size):
    with open(os.path.join(group, limit), "w", encoding="ascii") as file:
        file.write(str(size))
    # With swap, too much is only slow.
    with contextlib.suppress(OSError), \
            open(os.path.join(group, swap_limit), "w", encoding="ascii") as file:
        file.write(str(size) if "memsw" in swap_limit else "0")


def remove_group(group):
    for _ in range(100):
        try:
            os.rmdir(group)
            return
        except OSError:         # who was in it is still on the way out
            time.sleep(0.1)


@contextlib.contextmanager
def memory_group(size):
    """Commands that run a program in a memory cgroup of `size` bytes."""
    refused = "no memory controller"
    for parent, limit, swap_limit in group_parents():
        try:
            group = tempfile.mkdtemp(prefix="traceprof-test-", dir=parent)
        except OSError as error:
            refused = error
            continue
        try:
            limit_group(group, limit, swap_limit, size)
        except OSError as error:
            remove_group(group)
            refused = error
            continue
        try:
            yield ["sh", "-c",
                   f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh"]
        finally:
            remove_group(group)
        return
    raise Skip(f"no memory cgroup of our own: {refused}")


def session_of(target):
    """The memory file whose trace lies in this folder."""
    for path in glob.glob("/dev/shm/traceprof-*"):
        with contextlib.suppress(OSError), open(path, "rb") as file:
            if target.encode() in file.read(1 << 16):
                return path
    return None


def test_a_memory_cgroup():
    with memory_group(48 << 20) as prefix:
        done = traced(*prefix, harness.program("hostile"), "calm", 2000,
                      env={"TRACEPROF_MALLOC": "all"})
        expect_equal((done.status, done.stdout), (7, CALM), done.stderr)
        expect(done.trace.regions("hostile_region"), "no regions")


def test_killed_for_memory_in_a_cgroup():
    """The kernel kills who takes more than the group has: nothing is lost, and
    what the session took is a small part."""
    size = 64 << 20
    target = os.path.join(folder(), "out")
    with memory_group(size) as prefix:
        process, reader = kill_loop.start(target, 3, "grow", 2000, prefix=prefix)
        try:
            process.wait(timeout=harness.HANGS)
        finally:
            process.kill()
        reader.join()
        said = process.stderr.read().decode("utf-8", "replace")
        process.stdout.close()
        process.stderr.close()
        expect_equal(process.returncode, -signal.SIGKILL, said)
        session = session_of(target)
        if session:
            expect(os.stat(session).st_blocks * 512 <= size // 8,
                   f"the session takes {os.stat(session).st_blocks * 512}")
        else:                   # no shared memory here, and it was said
            raise Skip(f"no session in shared memory: {said}")
        kill_loop.recover(target)
    told = reader.events()
    expect_equal(len(told), 3, "threads that told")
    expect_equal(kill_loop.compare(target, told), 0, "wrong events")


FUSE_SCRIPT = """
disk=$1 mount=$2 stored=$3 pid=$4 said=$5 command=$6
shift 6
"$disk" $mount $stored $pid </dev/null >/dev/null 2>$said & server=$!
while [ ! -s $pid ]; do
	kill -0 $server 2>/dev/null || exit 77
	sleep 0.05
done
"$@"
status=$?
"$command" recover $mount >$said 2>&1 || status=99
umount $mount
exit $status
"""


def start_on_fuse(place, *words):
    """A traced program whose folder is a FUSE disk; stored in place/stored."""
    for name in ("mount", "stored"):
        os.mkdir(os.path.join(place, name))
    paths = [os.path.join(place, name)
             for name in ("mount", "stored", "pid", "said")]
    env = harness.clean_environment() | {
        "TRACEPROF_DIR": paths[0], "TRACEPROF_EXIT_MS": "700"}
    return subprocess.Popen(
        ["unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c",
         FUSE_SCRIPT, "sh", harness.program("fuse_disk"), *paths,
         harness.COMMAND, "env", "LD_PRELOAD=" + harness.LIBRARY, *words],
        env=env, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True)


def read_file(*path):
    with contextlib.suppress(OSError), \
            open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()
    return ""


def test_a_disk_that_is_stopped():
    """The server of a FUSE disk stops while the program runs: one line when the
    wait for it is over.  The kernel then holds the process, since the file is
    open there; when the server goes on it ends as it would have."""
    place = folder()
    process = start_on_fuse(place, harness.program("hostile"), "calm", "2500")
    try:
        while not read_file(place, "pid") and process.poll() is None:
            time.sleep(0.05)
        time.sleep(1)
        if process.poll() is not None:
            raise Skip(f"no FUSE here: {read_file(place, 'said')} "
                       f"{process.stderr.read()}")
        server = int(read_file(place, "pid"))
        os.kill(server, signal.SIGUSR1)
        line = process.stderr.readline()
        expect("TRACEPROF_EXIT_MS" in line, line)
        os.kill(server, signal.SIGCONT)
        # Not communicate(), which leaves out what readline() has read ahead.
        stderr, stdout = process.stderr.read(), process.stdout.read()
        process.wait(timeout=harness.HANGS)
    finally:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    expect_equal((process.returncode, stdout, stderr), (7, CALM, ""),
                 read_file(place, "said"))
    after = harness.Run([], 0, "", "", os.path.join(place, "stored"))
    harness.check_files(after)
    expect("from memory" in read_file(place, "said"), read_file(place, "said"))
    expect(after.trace.regions("hostile_region"), "no regions")


@contextlib.contextmanager
def small_disk(size):
    place = folder()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", place],
                          capture_output=True, text=True)
    if done.returncode:
        raise Skip(f"no right to mount: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def writes_there(place):
    for path in glob.glob("/proc/[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if os.readlink(path).startswith(place):
                return True
    return False


def fill(path):
    """Piece by piece, since who writes on beside us takes of what is free."""
    piece = 64 << 10
    with open(path, "wb") as file:
        for at in itertools.count(0, piece):
            try:
                os.posix_fallocate(file.fileno(), at, piece)
            except OSError as error:
                expect_equal(error.errno, errno.ENOSPC, path)
                return


def test_a_disk_that_gets_full_after_the_programs_end():
    """Nobody is left to be told.  Memory holds the rest until there is room."""
    with small_disk("48m") as place:
        target = os.path.join(place, "out")
        done = subprocess.run(
            [harness.program("spins"), "2", "90000", "0"], capture_output=True,
            text=True, timeout=harness.HANGS, env=harness.clean_environment() | {
                "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target,
                "TRACEPROF_ENCODE": "late", "TRACEPROF_GZIP": "zlib:9",
                "TRACEPROF_STEP": "api"})
        fill(os.path.join(place, "other"))
        expect("left to be written" in done.stderr, done.stderr)
        run = harness.Run([], 0, "", done.stderr, target)
        while writes_there(target):
            time.sleep(0.1)
        expect(not run.trace.meta["final"], "nothing was missing")
        expect(harness.sessions_of(run), "memory is gone")
        said = harness.command("check", run.files[0]).stdout
        expect("not finished" in said and "waited" in said, said)
        os.unlink(os.path.join(place, "other"))
        said = harness.command("recover", target)
        expect_equal(said.status, 0, said.stderr)
        harness.expect_no_session(run)
        events = run.trace.meta["events"]
        expect_equal((events["written"], len(run.trace.regions())),
                     (events["seen"], 90000), events)


if __name__ == "__main__":
    harness.main()
