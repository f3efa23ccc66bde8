# SPDX-License-Identifier: MIT
"""A file of some steps alone says what was counted in these."""

import harness
from harness import expect, expect_equal, traced

BLOCKS = 50000  # that planted's churn takes in a step
ACTIVE = {"TRACEPROF_STEP": "api", "TRACEPROF_WAIT": "2", "TRACEPROF_ACTIVE": "3"}


def counts_of(steps, files, **env):
    run = traced("planted", "churn", str(steps), env=env)
    expect_equal(run.status, 0, run.stderr)
    expect_equal(len(run.traces), files, "files")
    return [trace.meta for trace in run.traces]


def expect_blocks(ours, steps):
    """The rest is OpenMP's own, and what sets it up."""
    calls = ours["window"]["heap_calls"]
    expect(steps * BLOCKS <= calls < steps * BLOCKS + 1000, ours["window"])
    expect(calls * 48 <= ours["window"]["heap_bytes"] < calls * 64 + 10**6, ours["window"])


def test_each_window_has_its_own():
    for ours in counts_of(15, 3, **ACTIVE):
        expect_blocks(ours, 3)


def test_one_that_the_programs_end_closes():
    ours, = counts_of(8, 1, **ACTIVE | {"TRACEPROF_ACTIVE": "20"})
    expect_blocks(ours, 6)


def test_what_hooks_took_there():
    """By what one of a kind takes, as for the whole recording."""
    ours, = counts_of(12, 1, **ACTIVE, TRACEPROF_MALLOC="counters", TRACEPROF_REPEAT="1")
    least = 2 * 3 * BLOCKS * ours["cost"]["heap_call_ps"] / 1000
    expect(least <= ours["window"]["hooks_ns"] < ours["cost"]["hooks_ns"],
           f"{least} {ours['window']} {ours['cost']}")
    expect(ours["heap"]["calls"] >= 5 * BLOCKS, "there the steps before, too")


def test_a_whole_recording_is_one_window():
    ours, = counts_of(3, 1, TRACEPROF_STEP="api")
    expect_equal(ours["window"]["heap_calls"], ours["heap"]["calls"], "calls")
    expect_equal(ours["window"]["hooks_ns"], ours["cost"]["hooks_ns"], "hooks")


def test_of_the_past_nobody_counted():
    """The flight recorder's window is what it still holds."""
    run = traced("uneven", "150", "10", "100", "1000", env={
        "TRACEPROF_STEP": "api", "TRACEPROF_FLIGHT": "20steps",
        "TRACEPROF_TRIGGER": "slow:30", "TRACEPROF_WAIT": "1000000",
        "TRACEPROF_ACTIVE": "1"})
    flown = [trace for trace in run.traces if "trigger" in trace.meta]
    expect(flown, run.stderr)
    for trace in flown:
        expect("window" not in trace.meta, trace.meta)


if __name__ == "__main__":
    harness.main()
