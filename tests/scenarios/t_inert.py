# SPDX-License-Identifier: MIT
"""Programs that are none of our business: same output, and no litter."""

import os
import sys

import harness
from harness import compile_program, expect, folder, same

RUNS = 200


def quiet(*command, **more):
    run = same(*command, **more)
    expect(not run.files, f"left {run.files}")
    expect(not os.path.exists(run.folder), "made the folder for nothing")
    expect(not run.own_lines, "said something", run.stderr)


def test_true_and_false():
    quiet("true")
    quiet("false")


def test_who_asks_for_a_function_of_cuda_is_told_that_there_is_none():
    """dlsym() finds ours: an answer of "no driver", nothing written, no word."""
    run = harness.traced(sys.executable, "-c", (
        "import ctypes; at = ctypes.c_void_p(7)\n"
        "print(ctypes.CDLL(None).cudaMalloc(ctypes.byref(at), 16), at.value)"))
    expect((run.status, run.stdout, run.files) == (0, "35 7\n", []), run)
    expect(not run.own_lines, run.stderr)


def faults(preload):
    """Page faults of /bin/true, the mean of many runs: where the kernel puts its
    memory makes some more or less."""
    env = {"LD_PRELOAD": harness.LIBRARY} if preload else {}
    seen = 0
    for _ in range(RUNS):
        pid = os.posix_spawn("/bin/true", ["true"], env)
        seen += os.wait4(pid, 0)[2].ru_minflt
    return seen / RUNS


def test_a_tool_touches_few_pages():
    """What a start costs is pages touched for the first time: a library with
    nothing in it has 5 or 6.  The kernel maps code in pieces of 64 KiB, and which
    of ours a start needs differs by a piece from build to build."""
    with open(harness.LIBRARY, "rb") as file:
        os.fsync(file)          # pages that wait for the disk are not mapped ahead
    added = faults(True) - faults(False)
    expect(added <= 13.5, f"{added:.1f} page faults more")


def test_shell():
    quiet("bash", "-c", "for i in 1 2 3; do echo $i | cat; done; (exit 3); ls / | head -3")
    quiet("sh", "-c", "echo out; echo err >&2; exit 7")


def test_pipes_that_break():
    quiet("bash", "-c", "yes | head -n 2; echo ${PIPESTATUS[1]}")


def test_git():
    place = folder()
    quiet("git", "init", "-q", os.path.join(place, "one"))
    quiet("git", "--version")


def test_gcc():
    place = folder()
    source = os.path.join(place, "a.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("int main(void) { return 0; }\n")
    quiet("gcc", "-O2", source, "-o", os.path.join(place, "a"))


def test_python():
    quiet(sys.executable, "-c", "pass")
    quiet(sys.executable, "-c", "import json; print(json.dumps({'a': [1] * 5}))")


def test_python_that_forks():
    """3.12 and later warn of a fork when a process has threads: it must not."""
    quiet(sys.executable, "-W", "error", "-c",
          "import os\n"
          "for _ in range(20):\n"
          "    pid = os.fork()\n"
          "    if pid == 0: os._exit(4)\n"
          "    print(os.waitpid(pid, 0)[1])")


def test_python_workers():
    quiet(sys.executable, "-c",
          "import multiprocessing as m\n"
          "if __name__ == '__main__':\n"
          "    with m.get_context('fork').Pool(2) as p:\n"
          "        print(p.map(abs, range(-20, 0)))")


def test_switched_off():
    quiet("region", "plain_parallel", env={"TRACEPROF": "0"})


def test_threads_alone():
    quiet("threads", 8, 200)


def test_static_program():
    path = compile_program("namespaces.c", "-static")
    quiet(path)


if __name__ == "__main__":
    harness.main()
