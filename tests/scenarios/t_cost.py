# SPDX-License-Identifier: MIT
# runs alone: it compares told with measured time.
"""What recording cost: said at the end, kept in the trace, shown by report."""

import re

import harness
from harness import command, expect, expect_equal, traced

LINE = re.compile(r"; took ([\d.]+) s of ([\d.]+) s processor time\)")


def check(run):
    """The closing line and the trace say the same.  Returns the metadata."""
    ours = run.trace.meta
    cost = ours["cost"]
    said = LINE.search(run.stderr)
    expect(said, run.stderr)
    took, process = map(float, said.groups())
    expect(took <= process, f"more than the process used: {said.group(0)}")
    # The writer goes on for a moment after it has written its own number.
    parts = (cost["hooks_ns"] + cost["writer_ns"]) / 1e9
    expect(parts - 0.001 <= took <= 1.5 * parts + 0.05,
           f"{said.group(0)} of {cost}")
    expect(cost["writer_ns"] > 0, "the writer's clock")
    for key in ("heap_call_ps", "heap_event_ps", "slice_ps", "region_ps", "member_ps",
                "thinned_ps", "marked_ps"):
        expect(0 < cost[key] < 10000000, f"{key} is {cost[key]}")
    # A slice reads the clock twice, an event once, a counted call never.
    expect(cost["heap_call_ps"] < cost["heap_event_ps"] < cost["slice_ps"]
           < cost["region_ps"], str(cost))
    expect(cost["thinned_ps"] < cost["region_ps"], str(cost))
    expect(cost["marked_ps"] < cost["region_ps"], str(cost))
    return ours


def estimate(ours):
    """The rule of docs/trace-format.md, from the numbers in the trace."""
    written = ours["written_by_kind"]
    calls = ours["heap"]["calls"] + ours["heap"]["frees"]
    events = written.get("alloc", 0) + written.get("free", 0)
    regions, members = (written.get(kind, 0) for kind in ("omp_region", "omp_task"))
    slices = sum(written.values()) - events - regions - members
    cost = ours["cost"]
    return (events * cost["heap_event_ps"] + (calls - events) * cost["heap_call_ps"]
            + slices * cost["slice_ps"] + (regions - cost["teams"]) * cost["region_ps"]
            + (members + cost["teams"]) * cost["member_ps"]) / 1000


def test_every_call_recorded():
    run = traced("heap_calls", "malloc", 1000, 100,
                 env={"TRACEPROF_MALLOC": "all"})
    ours = check(run)
    expect(ours["cost"]["hooks_ns"] >= 2000 * ours["cost"]["heap_event_ps"] / 1000,
           str(ours["cost"]))
    expect(abs(ours["cost"]["hooks_ns"] - estimate(ours)) <= 1e-3 * estimate(ours) + 1e4,
           f"{estimate(ours)} from {ours}")


def test_calls_that_are_only_counted():
    run = traced("heap_calls", "malloc", 1000, 100,
                 env={"TRACEPROF_MALLOC": "counters"})
    ours = check(run)
    expect_equal(ours["written_by_kind"].get("alloc", 0), 0, "events")
    expect(ours["cost"]["hooks_ns"] >= 2000 * ours["cost"]["heap_call_ps"] / 1000,
           str(ours["cost"]))


def test_regions():
    run = traced("step_loop", 50)
    ours = check(run)
    expect(abs(ours["cost"]["hooks_ns"] - estimate(ours)) <= 1e-3 * estimate(ours) + 1e4,
           f"{estimate(ours)} from {ours}")


def test_each_member_of_a_team_loses_by_it():
    """The master's share is in its region's event, and counts nevertheless."""
    ours = traced("short_regions", 500, 4, 2).trace.meta
    cost, written = ours["cost"], ours["written_by_kind"]
    expect(cost["teams"] > 0, cost)
    expect_equal(cost["teams"], written["omp_region"], "teams")
    expect(cost["hooks_ns"] >= 2 * cost["teams"] * (cost["member_ps"] / 1000) - 1e4,
           str(cost))


def test_the_handler_of_samples_is_in_it():
    """By those that were timed on the thread's own clock: some microseconds each, and
    no slice costs so much."""
    ours = check(traced("shares", 1, 400, env={"TRACEPROF_SAMPLE": "997"}))
    sampling, cost = ours["sampling"], ours["cost"]
    samples = ours["written_by_kind"]["cpu_sample"]
    expect(sampling["timed"] >= samples // 16, sampling)
    each = sampling["timed_ns"] / sampling["timed"]
    expect(500 < each < 1e6, sampling)
    expect(cost["hooks_ns"] >= samples * each - 1e3, f"{samples} of {each} ns, {cost}")


def test_report_shows_it():
    run = traced("step_loop", 5)
    shown = command("report", run.trace.path)
    expect("Recording took" in shown.stdout and "in the writer's" in shown.stdout,
           shown.stdout)


def test_what_the_rest_takes_after_the_end():
    """By what a part of it took, with this coder on this machine."""
    run = traced("spins", 2, 60000, 0, env={
        "TRACEPROF_ENCODE": "late", "TRACEPROF_GZIP": "zlib:9",
        "TRACEPROF_STEP": "api", "TRACEPROF_MAX_MB": "0"})
    told = float(re.search(r"after the program's end, in about ([\d.]+) s",
                           run.stderr).group(1))
    took = run.trace.meta["writer"]["cpu_ns"] / 1e9
    expect(took / 3 < told < took * 3, f"told {told} s, took {took} s", run.stderr)


if __name__ == "__main__":
    harness.main()
