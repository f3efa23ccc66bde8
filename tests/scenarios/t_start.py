# SPDX-License-Identifier: MIT
"""The start of a recording: what other threads do meanwhile belongs to it.

With tests/programs/lib/slow_start.c before it, the thread that begins takes as
long as a test wants.
"""

import os

import harness
from harness import expect, expect_equal, traced

SLOW = harness.LIBRARY + " " + os.path.join(harness.PROGRAMS, "lib",
                                            "libslow_start.so")


def slow(*command, ms, **settings):
    return traced("starts", *command, preload=SLOW,
                  env={"SLOW_START_MS": str(ms)} | settings)


def scopes(trace, name="start"):
    return len(trace.slices(name, cat="user_annotation"))


def account(trace):
    return trace.meta["events"]


def check_whole(run, annotated, regions):
    trace = run.trace
    expect_equal((scopes(trace), len(trace.regions("start_region"))),
                 (annotated, regions), "scopes and regions")
    expect_equal(account(trace)["unrecorded_calls"], 0, "calls without a record")


def test_scopes_of_four_threads():
    check_whole(slow("scopes", 4, 200, ms=30), 800, 0)


def test_regions_of_two_threads():
    check_whole(slow("regions", 2, 200, ms=30), 0, 400)


def test_threads_that_would_all_begin_it():
    """One of them does; the others are about to when they see that."""
    check_whole(slow("scopes", 4, 200, ms=30, START_TOGETHER="4"), 800, 0)


def test_many_threads_of_all_kinds():
    check_whole(slow("mixed", 64, 20, ms=30), 22 * 20, 21 * 20)


def test_blocks_wait_too():
    memory = slow("allocate", ms=100).trace.memory()
    for sign in (1, -1):
        expect_equal(len([one for one in memory
                          if sign * one["args"]["Bytes"] >= 100000]), 200,
                     f"blocks of sign {sign}")


def test_start_that_is_held_up():
    """Nobody waits longer than a second, and what is missing is told."""
    run = slow("scopes", 4, 200, ms=2500)
    seen = scopes(run.trace)
    expect(0 < seen < 800, f"{seen} scopes")
    expect_equal(account(run.trace)["unrecorded_calls"], 800 - seen,
                 "calls that are not in it")
    said = f"{800 - seen} call{'s' * (seen < 799)} came while the start"
    expect(said in run.stderr, run.stderr)
    expect(said in str(run.trace.meta["notes"]), run.trace.meta["notes"])
    events = account(run.trace)
    expect_equal((events["held_up_calls"], events["seen"] - events["written"]),
                 (800 - seen, 800 - seen), "the books")
    gaps = run.trace.slices("lost * events")
    expect_equal([one["args"]["lost"] for one in gaps], [800 - seen], "gaps")
    expect(gaps[0]["ts"] + gaps[0]["dur"] < run.trace.slices("start")[0]["ts"] + 1e6, gaps)


def test_end_of_the_program_meanwhile():
    run = slow("leave", ms=300)
    expect_equal(run.status, 7, "status")
    expect_equal(len(run.files), 1, "files")


def test_fork_meanwhile():
    run = slow("fork", ms=300)
    expect_equal(run.status, 8, "the child's status")
    expect_equal(sorted((scopes(trace, "start"), scopes(trace, "child"),
                         scopes(trace, "end")) for trace in run.traces),
                 [(0, 1, 0), (1, 0, 1)], "scopes of child and parent")


def test_signal_meanwhile():
    """Its handler runs when the recording has begun."""
    trace = slow("interrupt", ms=300).trace
    expect_equal([scopes(trace, name) for name in ("start", "handler", "end")],
                 [1, 1, 1], "scopes")


def test_a_long_jump_meanwhile():
    trace = slow("leap", ms=300).trace
    expect_equal([scopes(trace, name) for name in ("after", "end")], [1, 1], "scopes")
    events = account(trace)
    expect_equal((events["unrecorded_calls"], events["seen"]),
                 (0, events["written"]), "the books")


if __name__ == "__main__":
    harness.main()
