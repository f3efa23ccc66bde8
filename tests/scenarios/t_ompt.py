# SPDX-License-Identifier: MIT
"""OpenMP of clang's runtime: the same trace as from gcc's."""

import atexit
import collections
import os
import shutil
import subprocess
import tempfile

import harness
from harness import (LIBRARY, ROOT, Skip, expect, expect_equal, program,
                     same, traced)

_built = {}


def kept_folder():
    """One that lives as long as this file's tests."""
    place = tempfile.mkdtemp(prefix="traceprof-test-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


def clang():
    """compilers.c for libomp; built once for all tests of this file."""
    return build("clang", "compilers.c", "-fopenmp")


def gcc_on_libomp():
    """gcc's code, whose GOMP_* calls libomp answers."""
    part = os.path.join(kept_folder(), "compilers.o")
    subprocess.run(["gcc", "-O1", "-g", "-fopenmp", "-c", "-o", part,
                    os.path.join(ROOT, "tests/programs/compilers.c")], check=True)
    return build("clang", part, "-fopenmp")


def build(compiler, source, *flags):
    key = (compiler, os.path.basename(source))
    if key not in _built:
        output = os.path.join(kept_folder(), "compilers")
        try:
            done = subprocess.run(
                [compiler, "-O1", "-g", "-D_GNU_SOURCE", "-o", output,
                 os.path.join(ROOT, "tests/programs", source), *flags],
                capture_output=True, text=True)
        except FileNotFoundError:
            raise Skip(f"{compiler} is not on this machine")
        if done.returncode:
            raise Skip("clang has no OpenMP here: " + done.stderr[:200])
        _built[key] = output
    return _built[key]


def content(trace):
    """How often each kind of slice is there."""
    return collections.Counter(
        (event["name"], event["args"].get("omp"), event["args"].get("sync"))
        for event in trace.slices() if "omp" in event.get("args", {}))


def differences(one, other):
    return [f"{key}: {one[key]} and {other[key]}"
            for key in sorted(set(one) | set(other), key=str)
            if one[key] != other[key]]


def expect_same_as_gcc(construct):
    clangs = content(same(clang(), construct).trace)
    gccs = content(same("compilers", construct).trace)
    expect(clangs, "nothing recorded")
    expect(not differences(clangs, gccs), "clang and gcc:",
           "\n".join(differences(clangs, gccs)))


def test_loops():
    expect_same_as_gcc("two_loops")


def test_barriers():
    expect_same_as_gcc("barriers")


def test_critical():
    expect_same_as_gcc("critical")


def test_single():
    expect_same_as_gcc("single")


def test_serial():
    expect_same_as_gcc("serial")


def test_nested():
    expect_same_as_gcc("outer")


def test_tasks():
    expect_same_as_gcc("tasks")


def test_tasks_of_a_loop_are_called_as_their_function():
    """Of them libomp says that they were begun in itself."""
    for program in (clang(), "compilers"):
        trace = same(program, "task_loop").trace
        expect(len(explicit(trace)) > 1, "tasks")
        expect_equal({one["name"] for one in explicit(trace)}, {"task_loop [omp task]"},
                     program)


def test_a_league_of_one_is_a_team_of_one():
    """libomp tells no member of it."""
    for program in (clang(), "compilers"):
        league, = [one for one in same(program, "league").trace.slices(omp="parallel")
                   if one["args"].get("schedule") == "teams"]
        expect_equal(league["args"]["team"], 1, program)


def nested(pattern, count, program=None):
    """(trace, tasks that ran by the program's own count)"""
    run = same(program or build("clang", "task_nest.c", "-fopenmp"), pattern, count)
    return run, int(run.stdout)


def explicit(trace):
    return [one for one in trace.slices(cat="cpu_op") if one["args"].get("omp") == "explicit"]


def expect_all_tasks(pattern, count):
    run, ran = nested(pattern, count)
    expect_equal(len(explicit(run.trace)), ran, "tasks")
    expect_equal(run.trace.meta["events"]["unrecorded_calls"], 0, "not followed")


def test_tasks_that_wait_for_tasks_are_all_there():
    expect_all_tasks("tree", 19)


def test_untied_tasks_are_all_there():
    """Their parts run on more than one thread."""
    expect_all_tasks("untied", 10000)


def test_untied_tasks_whose_first_part_ends_last():
    run = same(build("clang", "untied_late.c", "-fopenmp", "-ldl"), 50)
    expect_equal(len(explicit(run.trace)), 50, "tasks")
    expect_equal(run.trace.meta["events"]["unrecorded_calls"], 0, "not followed")


def test_more_tasks_than_can_be_followed_at_once():
    """libomp queues 256, unless it is told otherwise."""
    run = same(build("clang", "task_nest.c", "-fopenmp"), "queue", 70000,
               env={"KMP_ENABLE_TASK_THROTTLING": "0"})
    missing = run.trace.meta["events"]["unrecorded_calls"]
    expect(missing > 0, "all could be followed: the test is none")
    # The one that the others wait for is a task, too.
    expect_equal(len(explicit(run.trace)) + missing, int(run.stdout) + 1, "tasks")
    expect(any(f"{missing} calls could not be followed" in line
               for line in run.own_lines), run.own_lines)


def test_what_is_nested_too_deep_is_counted():
    """Each task is there; of their waits and groups, each or its count."""
    for program in (None, "task_nest"):
        found = []
        for count in (5, 100):
            run, ran = nested("deep", count, program)
            expect_equal(len(explicit(run.trace)), ran, "tasks")
            waits = [one for one in run.trace.slices(cat="openmp")
                     if one["args"].get("sync") in ("taskwait", "taskgroup")]
            missing = run.trace.meta["events"]["unrecorded_calls"]
            found.append((len(waits), missing))
            expect_equal(any(f"{missing} calls could not be followed" in line
                             for line in run.own_lines), missing > 0, run.own_lines)
        (few, none), (many, missing) = found
        expect_equal(none, 0, "missing of a few")
        expect(missing > 0, "nothing was too deep")
        expect_equal(many + missing, few * 20, f"waits and groups, {missing} missing")


def test_ordered():
    expect_same_as_gcc("ordered")


def test_teams_and_waits_fit_together():
    trace = same(clang(), "two_loops").trace
    found = trace.regions("two_loops")
    expect_equal([one["name"] for one in found],
                 ["two_loops [omp parallel #1]", "two_loops [omp parallel #2]"],
                 "names")
    for region in found:
        team = trace.team(region)
        expect_equal(sorted((one["args"]["thread"], one["args"]["team"])
                            for one in team), [(0, 2), (1, 2)], "team")
        expect_equal(len({one["tid"] for one in team}), 2, "threads")
        for one in team:
            expect(region["ts"] - 0.001 <= one["ts"] and one["ts"] + one["dur"]
                   <= region["ts"] + region["dur"] + 0.001, one, region)
    expect_equal(len(trace.waits("region end")), 4, "waits")


def test_nothing_is_counted_twice():
    """gcc's code on libomp goes through both interfaces."""
    expect_equal(differences(content(same(gcc_on_libomp(), "two_loops").trace),
                             content(same("compilers", "two_loops").trace)), [],
                 "gcc's code on libomp and on libgomp")


def test_a_runtime_without_a_region_leaves_nothing():
    expect_equal(same(clang(), "asked").files, [], "files")


def test_openmp_can_be_left_out():
    run = same(clang(), "all", env={"TRACEPROF_OPENMP": "0",
                                    "TRACEPROF_MALLOC": "all"})
    expect(not run.trace.slices("*[[]omp*"), "regions in spite of OPENMP=0")


def test_steps():
    run = same(clang(), "all", env={"TRACEPROF_STEP": "omp:two_loops",
                                    "TRACEPROF_WAIT": "1"})
    expect_equal(run.trace.steps(), [1], "steps")
    expect_equal([one["name"] for one in run.trace.regions("two_loops")],
                 ["two_loops [omp parallel #2]"], "regions of the window")


def test_another_tool_goes_first():
    other = program("lib/libother_tool.so")
    run = traced(clang(), "two_loops", preload=f"{LIBRARY}:{other}")
    expect_equal((run.status, run.files), (0, []), "status and files")
    expect_equal(len([line for line in run.own_lines if "another tool" in line]), 1,
                 run.stderr)



def test_steps_that_the_code_tells():
    """Places and loops of a region's calls, as with gcc's runtime."""
    program = build("clang", "../steps/kernels.c", "-fopenmp", "-lm")
    for name, steps in (("passes", 180), ("filters", 60), ("sweeps", 0), ("multigrid", 40)):
        expect_equal(len(same(program, name).trace.steps()), steps, f"steps of {name}")


if __name__ == "__main__":
    harness.main()
