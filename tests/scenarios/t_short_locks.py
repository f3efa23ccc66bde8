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
    for mode in ({"TRACEPROF_STEP": "api"}, {}):
        run = same(program, kind, COUNT, env=THIN | mode)
        trace, had = run.trace, int(run.stdout)
        rows = [row for row in trace.meta["sampled"] if row["name"].startswith(kind)]
        # Who waits long costs little: where a thread has each less often than once in
        # 10 us all may be drawn.
        each_us = sum(row["total_us"] for row in rows) / had
        expect(trace.meta["events"]["thinned"] > 0 or each_us > 5, each_us, rows)
        for part in parts:
            name = f"{kind} wait" if part == "wait" else kind
            expect_equal(calls(trace, name), had, name)
            row, = (row for row in trace.meta["sampled"]
                    if row["name"] == name and row["omp"] == part)
            drawn = [one["dur"] for one in trace.slices(name, omp=part)]
            expect_equal(len(drawn), row["drawn"], name)
            expect_equal(row["seen"], had, name)
            expect(row["total_us"] >= sum(drawn) - 0.001 * len(drawn), row, sum(drawn))
    return trace


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
    made up."""
    trace = same("short_locks", "critical", 10 * COUNT, env=THIN).trace
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
    expect(f"critical wait ({2 * 10 * COUNT} times)" in figure, figure)


def test_without_a_bound_each_is_drawn():
    trace = same("short_locks", "critical", 5000, env={"TRACEPROF_MAX_OVERHEAD": "0"}).trace
    expect_equal(len(trace.slices("critical", omp="held")), 10000, "held")
    expect_equal(len(trace.slices("critical wait", omp="wait")), 10000, "waits")


if __name__ == "__main__":
    harness.main()
