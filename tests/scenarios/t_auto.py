# SPDX-License-Identifier: MIT
"""TRACEPROF_STEP=auto: the step is found, numbered, and used by the schedule."""

import os
import re
import subprocess
import time

import harness
import t_recover
from harness import ROOT, Skip, command, compile_program, expect, expect_equal, same

NVTX = os.path.join(os.environ.get("CUDA", "/usr/local/cuda"), "include")


def looped(*arguments, **options):
    """Runs the program with a loop in it."""
    env = {"TRACEPROF_" + key.upper(): str(value) for key, value in options.items()}
    return same("nested_loop", *arguments, env=env)


def said(run):
    """The line that names the step: its marker, outer period or None."""
    lines = [line for line in run.own_lines if "step = " in line]
    expect(len(lines) <= 1, "said twice", run.stderr)
    if not lines:
        return None, None
    found = re.fullmatch(r"traceprof: step = (.*), every \d+\.\d [mu]s"
                         r"(?:; outer period (\d+))?", lines[0])
    expect(found, "says what it found in another way", lines[0])
    return found.group(1), found.group(2)


def expect_begin_with(steps, slices):
    """Step k begins after slice k - 1 has ended and no later than slice k.  How
    long before is the machine's: the clock is read twice.  Slices of one lane are
    moved by nanoseconds so that they nest."""
    expect_equal(len(steps), len(slices), "steps")
    end = 0
    for step, its in zip(steps, slices):
        expect(end - 0.1 <= step["ts"] <= its["ts"] + 0.1, step, its)
        end = its["ts"] + its["dur"]


def expect_steps_at(trace, function, count):
    """Step k runs from the function's region k to region k + 1."""
    steps = trace.slices("ProfilerStep#*")
    regions = trace.regions(function)
    expect_equal(trace.steps(), list(range(count)), "numbers")
    expect_equal(len(regions), count, "regions")
    expect_begin_with(steps, regions)
    for step, following in zip(steps, steps[1:]):
        expect(abs(step["ts"] + step["dur"] - following["ts"]) < 0.01,
               "a gap", step, following)
        # As viewers add them up, in doubles.
        expect(step["ts"] + step["dur"] <= following["ts"],
               "steps cross", step, following)


def test_steps_back_to_the_first():
    run = looped("epochs=3", "steps=100", "layers=6", "evaluate=3")
    expect_equal(said(run)[0], 'omp region "update"', run.stderr)
    expect_steps_at(run.trace, "update", 300)


def test_a_run_shorter_than_the_search():
    run = looped("epochs=1", "steps=12", "layers=4")
    expect_equal(said(run)[0], 'omp region "update"', run.stderr)
    expect_steps_at(run.trace, "update", 12)


def test_outer_period():
    run = looped("epochs=40", "steps=8", "layers=3", "evaluate=1", "ms=4")
    marker, outer = said(run)
    # Each of them comes once in a step.
    expect(marker in ('omp region "update"', 'omp region "forward"'), run.stderr)
    expect_equal(outer, "8", run.stderr)


def test_warm_up_and_irregular_regions():
    run = looped("epochs=1", "steps=60", "layers=3", "warm=40", "odd=7", "ms=20")
    expect_equal(said(run)[0], 'omp region "update"', run.stderr)
    expect_steps_at(run.trace, "update", 60)


def test_without_a_period():
    run = looped("epochs=0", "warm=300")
    expect_equal(said(run)[0], None, run.stderr)
    expect_equal(run.trace.steps(), [], "steps")


def test_schedule_that_waits_long_enough():
    """Where ten steps take the search long enough, the files are those of
    traceprof_step() itself."""
    run = looped("epochs=1", "steps=40", "layers=2", "ms=60",
                 wait=20, warmup=1, active=3, repeat=2)
    expect_equal([trace.steps() for trace in run.traces], [[21, 22, 23]], "steps")
    expect_equal([len(trace.regions("update")) for trace in run.traces], [3], "updates")


def test_schedule_that_is_found_too_late():
    run = looped("epochs=1", "steps=60", "layers=2", "ms=60",
                 wait=1, warmup=1, active=3, repeat=2)
    expect_equal([trace.steps() for trace in run.traces],
                 [[2, 3, 4], [7, 8, 9]], "steps")
    for trace in run.traces:
        passed = trace.meta["step"]["passed"]
        expect(7 <= passed <= 30, "steps before the schedule", passed)


def test_schedule_without_a_period_records_the_whole_run():
    run = looped("epochs=0", "warm=300", wait=2, active=1)
    expect_equal(said(run)[0], None, run.stderr)
    whole = looped("epochs=0", "warm=300")
    expect_equal(len(run.trace.regions()), len(whole.trace.regions()), "regions")
    expect_equal(run.trace.steps(), [], "steps")


def test_an_own_call_wins():
    run = looped("epochs=2", "steps=30", "layers=4", "call")
    expect_equal(said(run)[0], None, run.stderr)
    expect_equal(run.trace.steps(), list(range(60)), "steps")
    calls = looped("epochs=2", "steps=30", "layers=4", "call",
                   wait=3, warmup=1, active=3, repeat=2)
    expect_equal([trace.steps() for trace in calls.traces],
                 [[4, 5, 6], [11, 12, 13]], "steps")


def test_a_range_called_like_a_step_wins():
    run = looped("epochs=2", "steps=50", "layers=4", "range", "ms=10")
    expect_equal(said(run)[0], 'range "train_step 0"', run.stderr)
    ranges = run.trace.slices("train_step*")
    expect_equal(run.trace.steps(), list(range(100)), "steps")
    expect_begin_with(run.trace.slices("ProfilerStep#*"), ranges)


def test_the_thread_with_the_loop():
    """A second thread runs few regions, irregularly."""
    run = looped("epochs=1", "steps=120", "layers=4", "aside", "ms=12")
    expect_equal(said(run)[0], 'omp region "update"', run.stderr)
    trace = run.trace
    own = {region["tid"] for region in trace.regions("update")}
    expect_equal(len(own), 1, "threads")
    expect_equal(trace.steps(), list(range(120)), "steps")


def test_an_own_call_that_comes_late():
    """The numbers go on from those that were found."""
    run = looped("epochs=1", "steps=300", "layers=4", "late=200", "ms=10")
    expect_equal(said(run)[0], 'omp region "update"', run.stderr)
    numbers = run.trace.steps()
    expect_equal(numbers, list(range(len(numbers))), "numbers")
    expect(299 <= len(numbers) <= 301, "steps", len(numbers))
    last = run.trace.slices("ProfilerStep#*")[-50:]
    for step, region in zip(last, run.trace.regions("forward")[-50 * 4::4]):
        expect(step["ts"] <= region["ts"] < step["ts"] + step["dur"], step, region)


def test_clang():
    loop = compile_program("nested_loop.c", "-fopenmp", "-pthread", compiler="clang")
    run = same(loop, "epochs=1", "steps=150", "layers=3", "ms=10")
    expect_equal(said(run)[0], 'omp region "update"', run.stderr)
    expect_steps_at(run.trace, "update", 150)


def test_nvtx():
    if not os.path.exists(os.path.join(NVTX, "nvtx3", "nvToolsExt.h")):
        raise Skip("no headers of NVTX on this machine")
    calls = compile_program("nvtx/calls.c", "-isystem", NVTX, "-I", ROOT,
                            "-pthread", "-ldl", name="calls")
    run = same(calls, "steps", 8)
    expect_equal(said(run)[0], 'range "batch"', run.stderr)
    expect_equal(run.trace.steps(), list(range(24)), "steps")


def test_killed_while_it_searches():
    """With a schedule no file is there yet; all of it is in the session."""
    target = os.path.join(harness.folder(), "out")
    process = subprocess.Popen(
        [harness.program("nested_loop"), "epochs=0", "warm=100000", "ms=5"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=harness.clean_environment() | {
            "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target,
            "TRACEPROF_WAIT": "5"})
    process.stdout.readline()
    time.sleep(1)
    process.kill()
    process.wait()
    process.stdout.close()
    expect(not os.path.isdir(target) or not os.listdir(target), "a file already")
    if not t_recover.sessions(target):
        raise Skip("no shared memory that outlives a process")
    done = command("recover", target)
    expect_equal(done.status, 0, done.stderr)
    expect(os.path.isdir(target) and os.listdir(target), "no trace", done.stdout)
    trace = harness.Trace(os.path.join(target, os.listdir(target)[0]))
    expect(len(trace.regions()) > 20, "regions", len(trace.regions()))


def test_divisor():
    run = looped("epochs=1", "steps=60", "layers=2", "ms=20", step="auto/5")
    expect_equal(run.trace.steps(), list(range(12)), "steps")


if __name__ == "__main__":
    harness.main()
