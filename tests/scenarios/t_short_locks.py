# SPDX-License-Identifier: MIT
"""TRACEPROF_MAX_OVERHEAD and what one thread of a team has to itself: short waits for
it, and the times that it was held, are counted; long ones are drawn."""

import gzip
import json
import os

import harness
from harness import command, expect, expect_equal, same
from t_ompt import build

COUNT = 20000
THIN = {"TRACEPROF_MAX_OVERHEAD": "1"}


def clang():
    return build("clang", "short_locks.c", "-fopenmp")


def calls(trace, name):
    return sum(row["calls"] for row in trace.meta["totals"] if row["name"] == name)


def each_is_counted(program, kind, parts=("wait", "held")):
    """Of two threads, where who waits long may be drawn each time (where a thread has
    each less often than once in some 10 us), and of one, which can't be."""
    for threads in (2, 1):
        for mode in ({"TRACEPROF_STEP": "api"}, {}):
            run = same(program, kind, COUNT, threads, env=THIN | mode)
            trace, had = run.trace, int(run.stdout)
            expect(threads == 2 or trace.meta["events"]["thinned"] > 0, trace.meta["events"])
            for part in parts:
                is_counted(trace, f"{kind} wait" if part == "wait" else kind, part, had)


def is_counted(trace, name, part, had):
    drawn = [one["dur"] for one in trace.slices(name, omp=part)]
    rows = [row for row in trace.meta.get("sampled", [])
            if row["name"] == name and row["omp"] == part]
    expect_equal(calls(trace, name), had, name)
    if not rows:
        expect_equal(len(drawn), had, f"{name}: all are drawn")
        return
    row, = rows
    expect_equal(len(drawn), row["drawn"], name)
    expect_equal(row["seen"], had, name)
    expect(row["total_us"] >= sum(drawn) - 0.001 * len(drawn), row, sum(drawn))


def test_critical_sections():
    each_is_counted("short_locks", "critical")
    each_is_counted(clang(), "critical")


def test_atomic_regions():
    each_is_counted("short_locks", "atomic")


def test_turns():
    each_is_counted("short_locks", "ordered")
    each_is_counted(clang(), "ordered")


def test_singles():
    each_is_counted("short_locks", "single", parts=("held",))


def test_the_verdict_knows_those_that_are_not_drawn():
    """Critical sections are all that there is; the time that they are held counts.
    How much of the run that is depends on who else has the processors, so it is
    made up; and of one thread, of which not all are drawn anywhere."""
    trace = same("short_locks", "critical", 10 * COUNT, 1, env=THIN).trace
    with gzip.open(trace.path, "rt", encoding="utf-8") as file:
        whole = json.load(file)
    elapsed_us = sum(one["dur"] for one in trace.regions())
    for row in whole["traceprof"]["sampled"]:
        if row["name"].startswith("critical"):
            row["total_us"] = 0.9 * elapsed_us
    path = os.path.join(harness.folder(), "made.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(whole, file)
    found = json.loads(command("report", "--json", path).stdout)[0]["findings"]
    figure, = (one["figure"] for one in found if one["rule"] == "critical")
    expect(f"critical wait ({10 * COUNT} times)" in figure, figure)


def test_without_a_bound_each_is_drawn():
    trace = same("short_locks", "critical", 5000, env={"TRACEPROF_MAX_OVERHEAD": "0"}).trace
    expect_equal(len(trace.slices("critical", omp="held")), 10000, "held")
    expect_equal(len(trace.slices("critical wait", omp="wait")), 10000, "waits")


if __name__ == "__main__":
    harness.main()
