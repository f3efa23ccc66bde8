# SPDX-License-Identifier: MIT
"""TRACEPROF_STEP=auto where the main loop lies within one parallel region: its barriers
tell the step (tests/steps/within.c)."""

import json
import os
import re
import shutil
import subprocess

import harness
from harness import Skip, command, compile_program, expect, expect_equal, expect_thinned, same

SCHEDULE = {"TRACEPROF_WAIT": "3", "TRACEPROF_ACTIVE": "2", "TRACEPROF_REPEAT": "1"}


def within(*flags, compiler="gcc"):
    if compiler == "clang" and (not shutil.which("clang") or subprocess.run(
            ["clang", "-fopenmp", "-x", "c", "-", "-o", os.devnull], input=b"int main(void) {}",
            capture_output=True).returncode):
        raise Skip("clang has no OpenMP here")
    return compile_program("../steps/within.c", "-fopenmp", "-lm", *flags, compiler=compiler,
                           name="within" + "".join(flags) + compiler)


def expect_steps(run, steps, what):
    expect_equal(run.trace.steps(), list(range(steps)), what)
    found = re.findall(r"step = (.*), every", run.stderr)
    expect_equal([one.split(" in ")[0] for one in found], ["omp barrier"] if steps else [], what)


def test_a_loop_within_one_region():
    """By any compiler's code, optimised or not: one barrier a step, two and a report now
    and then, and sweeps to a tolerance."""
    programs = [within("-O2"), within("-O0")]
    try:
        programs.append(within("-O2", compiler="clang"))
    except Skip:
        pass
    for program in programs:
        for name, steps in (("rod", 100), ("bodies", 120), ("settled", 40)):
            expect_steps(same(program, name), steps, f"{program} {name}")


def test_a_loop_around_the_region():
    """It turns when the region is over."""
    for flags in ("-O2", "-O0"):
        expect_steps(same(within(flags), "given"), 100, flags)


def test_what_may_be_another_loop():
    """Twelve sweeps in each turn, a loop in each of two regions, rounds of one sum."""
    for program in (within("-O2"), within("-O0")):
        for name in ("sweeps", "twice", "scan"):
            expect_steps(same(program, name), 0, f"{program} {name}")


def test_calls_that_a_compiler_made_of_a_loop():
    """clang makes twelve calls in one loop of the twelve sweeps."""
    expect_steps(same(within("-O2", compiler="clang"), "sweeps"), 0, "sweeps")


def test_regions_of_their_own_go_first():
    run = same(within("-O2"), "called")
    expect_equal(run.trace.steps(), list(range(30)), "steps")
    expect('step = omp region "called"' in run.stderr, run.stderr)


def waits_of_main(trace):
    main = trace.regions("*")[0]["tid"]
    return [wait for wait in trace.slices("* wait") if wait["tid"] == main]


def test_a_step_holds_the_work_before_its_barriers():
    trace = same(within("-O2"), "bodies").trace
    steps = trace.slices("ProfilerStep#*")
    expect_equal(steps[0]["ts"], trace.regions("bodies")[0]["ts"], "where the first begins")
    for before, step in zip(steps, steps[1:]):
        ends = [wait["ts"] + wait["dur"] for wait in waits_of_main(trace)
                if before["ts"] < wait["ts"] < step["ts"]]
        expect(len(ends) in (2, 3), before, ends)
        expect(abs(max(ends) - step["ts"]) < 0.002, step, ends)


def test_windows_of_such_steps():
    for name, barriers in (("rod", 1), ("bodies", 2)):
        run = same(within("-O2"), name, env=SCHEDULE)
        expect_equal([trace.steps() for trace in run.traces], [[3, 4]], f"windows of {name}")
        expect_equal(len(waits_of_main(run.trace)), 2 * barriers, f"barriers of {name}")
        region = run.trace.regions(name)[0]
        members = [one for one in run.trace.slices(f"{name} *") if one["cat"] == "openmp"]
        expect_equal(len(members), 1, f"{name}'s members beside the main thread")
        for one in [region] + members:
            expect_equal(one["args"]["finished"], "false", one)
        report = json.loads(command("report", "--json", run.trace.path).stdout)
        expect(report[0]["step"]["split_ns"]["omp_work"] > 0, report[0]["step"])


def test_the_same_where_waits_are_thinned():
    run = same(within("-O2"), "bare", "40000", env={"TRACEPROF_MAX_OVERHEAD": "1",
                                                    "OMP_NUM_THREADS": "1"})
    expect_equal(len(run.trace.steps()), 40000, "steps")
    expect_thinned(run.trace, 1000)


def test_too_many_to_be_kept():
    """65,536 at most: then there is none, rather than a part."""
    expect_steps(same(within("-O2"), "bodies", "40000"), 0, "bodies")


def test_what_the_run_said_is_repeated():
    run = same(within("-O2"), "rod")
    said = re.search(r"step = (.*), every", run.stderr)[0]
    expect(said in command("steps", run.trace.path).stdout, said)


if __name__ == "__main__":
    harness.main()
