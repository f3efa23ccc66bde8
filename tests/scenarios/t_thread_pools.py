# SPDX-License-Identifier: MIT
"""Programs whose threads work and do nothing else that is recorded."""

import json
import re

import harness
from harness import command, compile_program, expect, expect_equal, same

WHY = "two seconds of processor time, and threads"


def pools(how, seconds=3, **env):
    program = compile_program("thread_pools.cpp", "-O1", "-pthread", compiler="g++",
                              name="thread_pools")
    run = same(program, how, seconds, env=env)
    expect_equal(run.stdout, "done\n", "what it prints")
    return run


def tracks(trace):
    return {entry["name"] for entry in trace.events
            if entry["ph"] == "C" and entry["name"].startswith("core time ")}


def told(run):
    """What the report says of the threads, and its rows by name."""
    report = command("report", run.trace.path)
    said = [line for line in report.stdout.splitlines() if line.startswith("on a core:")]
    rows = json.loads(command("report", "--json", run.trace.path).stdout)[0]["threads"]
    expect_equal(len(said), 1, report.stdout)
    expect_equal([row["tid"] for row in rows].count(0), 1, "the process")
    return said[0], [row for row in rows if row["tid"]]


def test_a_pool_that_the_first_thread_waits_for():
    """Whether the heap is recorded or not."""
    run = pools("pool", 4, TRACEPROF_MALLOC="off")
    expect_equal(run.trace.top["traceprof_reason"], WHY, "what began it")
    said, rows = told(run)
    expect(said.startswith("on a core: crunch (2 threads)"), said)
    work = sorted(row["ran_ns"] for row in rows if row["name"] == "crunch")
    expect_equal(len(work), 2, rows)
    # One works half as long a turn as the other.
    expect(work[0] < 0.7 * work[1], rows)
    expect_equal(len([name for name in tracks(run.trace) if name.endswith(" crunch")]), 2,
                 tracks(run.trace))


def test_threads_that_are_waited_for_till_they_end():
    """pthread_join() alone is called meanwhile, or thrd_join()."""
    run = pools("join_c11")
    expect_equal(run.trace.top["traceprof_reason"], WHY, "what began it")
    run = pools("join")
    expect_equal(run.trace.top["traceprof_reason"], WHY, "what began it")
    said, rows = told(run)
    expect("thread_pools (2 threads)" in said, said)
    expect_equal(len(rows), 3, rows)
    # What they ran before is not in it, and is said.
    expect(any(re.match("the recording began when the program had used 2[.][0-9] s of "
                        "processor time; events of what it did before are not in it$", note)
               for note in run.trace.meta["notes"]), run.trace.meta["notes"])
    expect(0 < sum(row["ran_ns"] for row in rows) < 1.5e9, rows)


def test_those_that_work_among_many_that_wait():
    """More than the verdict tells apart: `report` has them all, the busiest first."""
    run = pools("crowd", 4)
    said, rows = told(run)
    expect_equal(said, re.sub(r"of \d+ that", f"of {len(rows)} that", said), "all of them")
    expect("threads at a time, of " in said and len(rows) > 90, said)
    table = command("report", run.trace.path).stdout.splitlines()
    head, = (at for at, line in enumerate(table) if line.endswith(" migrations thread"))
    expect(all(line.endswith(" crunch") for line in table[head + 1:head + 3]),
           table[head:head + 4])


def test_threads_that_come_and_go():
    run = pools("each", 4)
    expect_equal(run.trace.top["traceprof_reason"], WHY, "what began it")
    said, rows = told(run)
    expect("threads at a time, of" in said, said)
    expect(len(rows) > 4, rows)


def test_threads_that_keep_promises():
    """The first thread waits in calls of the kernel that libstdc++ makes."""
    run = pools("future")
    expect_equal(run.trace.top["traceprof_reason"], WHY, "what began it")
    expect_equal(len(told(run)[1]), 3, run.stderr)


def test_a_first_thread_that_never_waits_is_not_looked_at():
    run = pools("idle")
    expect_equal(run.files, [], "no trace")
    expect("no trace: in 3" in run.stderr, run.stderr)


def test_what_a_join_returns():
    """Its value and its errors, while it is looked whether threads work."""
    program = compile_program("join_results.c", "-pthread", name="join_results")
    run = same(program)
    expect_equal(run.stdout, "value 7, itself EDEADLK, detached EINVAL, errno 5, cancelled\n"
                             "C11: -7, itself an error, errno 5\n", "as without")


if __name__ == "__main__":
    harness.main()
