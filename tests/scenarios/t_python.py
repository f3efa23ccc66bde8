# SPDX-License-Identifier: MIT
"""tools/python: the module with and without the library."""

import os
import subprocess
import sys
import tempfile

import harness
from harness import ROOT, Skip, expect, expect_equal, plain, traced

MODULE = os.path.join(ROOT, "tools", "python")
TESTS = os.path.join(ROOT, "tests", "python", "test_module.py")
PATH = {"PYTHONPATH": MODULE, "PYTHONDONTWRITEBYTECODE": "1"}


def expect_passed(run):
    expect(run.status == 0 and "OK" in run.stderr, run.stderr[-3000:])


def test_without_the_library():
    expect_passed(plain(sys.executable, TESTS, env=PATH))


def test_with_windows_by_hand():
    run = traced(sys.executable, TESTS,
                 env=PATH | {"EXPECT_PRELOADED": "1", "TRACEPROF_STEP": "manual"})
    expect_passed(run)
    expect_equal(len(run.files), 16, f"windows {run.files}")


def test_with_no_variable_set():
    """As guides write it: windows get files, and nothing between them is lost."""
    run = traced(sys.executable, TESTS,
                 env=PATH | {"EXPECT_PRELOADED": "1"})
    expect_passed(run)
    named = [trace for trace in run.traces if trace.meta["step"].get("name")]
    expect_equal(len(named), 16, f"windows {run.files}")


def test_in_a_run_that_is_recorded_whole():
    run = traced(sys.executable, TESTS,
                 env=PATH | {"EXPECT_PRELOADED": "1", "TRACEPROF_STEP": "auto"})
    expect_passed(run)
    trace = run.trace
    for name in ("decorated", "raises", "inside", "one block", "step"):
        expect(trace.slices(name), f"no slice {name}")
    expect_equal(len(trace.slices("append")), 5, "benchmarked calls")
    expect_equal(trace.steps(), list(range(29)), "steps of all classes")
    expect(trace.counters("a counter"), "no counter")


def test_steps_and_a_schedule():
    code = ("import traceprof\n"
            "for number in range(8):\n"
            "    traceprof.step()\n"
            "    with traceprof.scope('batch %d' % number): pass\n")
    trace = traced(sys.executable, "-c", code, env=PATH | {
        "TRACEPROF_WAIT": "2", "TRACEPROF_ACTIVE": "2",
        "TRACEPROF_REPEAT": "1"}).trace
    expect_equal(trace.steps(), [2, 3], "steps")
    expect_equal([one["name"] for one in trace.slices("batch*")],
                 ["batch 2", "batch 3"], "scopes")


def test_windows_by_hand_have_their_steps():
    """As torch.profiler's have, whatever lies between."""
    code = ("import traceprof\n"
            "with traceprof.profile(schedule=traceprof.schedule(wait=1, warmup=1, active=3,\n"
            "                       repeat=2)) as prof:\n"
            "    for _ in range(12):\n"
            "        with traceprof.scope('inner'): sum(range(20000))\n"
            "        prof.step()\n")
    for step, windows in (("manual", [[2, 3, 4], [7, 8, 9]]),
                          ("manual/2", [[1, 2], [4]])):
        run = traced(sys.executable, "-c", code, env=PATH | {"TRACEPROF_STEP": step,
                                                             "TRACEPROF_WAIT": "1"})
        expect_equal([trace.steps() for trace in run.traces], windows, step)
        expect_equal([len(trace.slices("inner")) for trace in run.traces], [3, 3], step)


def test_without_the_library_one_line_says_so():
    code = ("import traceprof\n"
            "for _ in range(3):\n"
            "    with traceprof.profile_trace(None): pass\n"
            "traceprof.profiler.report()\n")
    run = plain(sys.executable, "-c", code, env=PATH)
    expect_equal(run.status, 0, run.stderr)
    expect_equal(run.stderr.count("is not preloaded"), 1, run.stderr)


def test_a_second_window_is_refused_by_name():
    code = ("import traceprof\n"
            "with traceprof.profile_trace(None, 'first'):\n"
            "    for _ in range(2):\n"
            "        with traceprof.profile_trace(None, 'second'): pass\n")
    run = traced(sys.executable, "-c", code, env=PATH | {"TRACEPROF_STEP": "manual"})
    expect_equal(run.stderr.count("already active, 'first': 'second'"), 1, run.stderr)


def test_installs():
    with tempfile.TemporaryDirectory() as place:
        source = os.path.join(place, "source")
        subprocess.run(["cp", "-r", MODULE, source], check=True)
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--no-index",
             "--no-build-isolation", "--target", place + "/site", source],
            capture_output=True, text=True)
        if "No module named pip" in done.stderr:
            raise Skip("pip cannot build here: No module named pip")
        expect_equal(done.returncode, 0, done.stderr[-2000:])
        run = plain(sys.executable, "-c",
                    "import traceprof; print(traceprof.__version__)",
                    env={"PYTHONPATH": place + "/site"})
        expect_equal(run.stdout, "0.1\n", run.stderr)
        expect(os.path.exists(place + "/site/traceprof-0.1.dist-info/RECORD"), "RECORD")


if __name__ == "__main__":
    harness.main()
