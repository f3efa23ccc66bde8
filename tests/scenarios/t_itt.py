# SPDX-License-Identifier: MIT
"""ITT: tasks, frames, counters and names that a copy of ittnotify hands over."""

import os
import re

import harness
from harness import (LIBRARY, command, compile_program, expect, expect_equal,
                     plain, same, traced)


def program():
    return compile_program("itt_calls.c", "-pthread", "-ldl", name="itt_calls")


def one(trace, name):
    found = trace.slices(name, cat="user_annotation")
    expect_equal(len(found), 1, f"slices named {name}")
    return found[0]


def inside(inner, outer):
    return (outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"]
            <= outer["ts"] + outer["dur"] + 0.001)


def test_tasks_nest_on_their_thread():
    trace = same(program()).trace
    outer = one(trace, "net: outer")
    found = trace.slices("net: inner", cat="user_annotation")
    expect_equal(len(found), 2, "one on each thread")
    mine = [event for event in found if event["tid"] == outer["tid"]]
    expect(len(mine) == 1 and inside(mine[0], outer), found, outer)
    expect(inside(one(trace, "net: dlsym"), outer), "a task named by its function")


def test_overlapped_tasks_and_frames_lie_beside():
    trace = same(program()).trace
    outer, beside = one(trace, "net: outer"), one(trace, "net: beside")
    expect(beside["tid"] != outer["tid"], "on one lane")
    expect(beside["ts"] + beside["dur"] > outer["ts"] + outer["dur"], "ends later")
    expect_equal(len(trace.slices("picture")), 3,
                 "a frame by its id, one by its thread, one that was submitted")


def test_who_wants_a_version_of_the_collector():
    """As OpenCV does, which would warn on stderr."""
    expect_equal(same(program()).trace.slices("net: whole"), [], "not asked to trace")
    trace = same(program(), env={"OPENCV_TRACE_ITT_ENABLE": "1"}).trace
    region, task = one(trace, "net: whole"), one(trace, "net: here")
    expect(region["tid"] != task["tid"], "a region lies beside the thread", region)
    expect_equal(trace.slices("net: (unnamed)"), [], "a region without a name")


def test_a_task_that_never_ends():
    event = one(same(program()).trace, "net: never ended")
    expect_equal(event["args"].get("finished"), "false", event)


def test_counters_marks_and_names():
    trace = same(program()).trace
    values = [(event["name"], event["args"]["value"]) for event in trace.events
              if event["ph"] == "C" and event["name"].startswith("net: ")]
    expect_equal(values, [("net: load", 2.5), ("net: queue", 1), ("net: queue", 2),
                          ("net: queue", 1)], "counters")
    expect("net: here" in [event["name"] for event in trace.events
                           if event["ph"] == "i"], "no mark")
    names = [event["args"]["name"] for event in trace.events
             if event["ph"] == "M" and event["name"] == "thread_name"]
    expect(any("(itt worker with a name)" in name for name in names), names)


def test_the_time_of_threads_is_said_by_these_names():
    note, = [note for note in same(program(), "works").trace.meta["notes"]
             if note.startswith("processor time of threads: ")]
    expect(re.search(r": itt worker with a name \(1 thread\) 1[4-9]\d ms \(idle", note), note)


def test_domains_and_names_that_the_collector_makes():
    trace = same(program()).trace
    first, second = one(trace, "made: first"), one(trace, "made: second")
    expect(inside(second, first), first, second)


def test_another_protocol_is_left_alone():
    run = traced(program(), "strange", env={"TRACEPROF_MALLOC": "all"})
    expect_equal((run.status, run.stdout), (0, "done\n"), "run")


def test_another_collector_is_left_in_place():
    run = traced(program(), env={"INTEL_LIBITTNOTIFY64": "/nowhere/libother.so",
                                 "TRACEPROF_MALLOC": "all"})
    expect_equal(run.status, 0, "status")
    expect(not run.trace.slices(cat="user_annotation"), "took the tasks")
    expect_equal(len([line for line in run.own_lines
                      if "/nowhere/libother.so" in line]), 1, run.stderr)
    expect(any("/nowhere/libother.so" in note for note in run.trace.meta["notes"]),
           "no note", run.trace.meta["notes"])


def test_child_without_the_library_is_left_alone():
    target = os.path.join(harness.folder(), "out")
    run = plain(program(), env={"INTEL_LIBITTNOTIFY64": LIBRARY,
                                "TRACEPROF_DIR": target})
    expect_equal((run.status, run.stdout, run.stderr), (0, "done\n", ""), "child")
    expect(not os.path.exists(target), "recorded without being preloaded")


def test_record_names_us_for_early_constructors():
    run = command("record", "--", "printenv", "INTEL_LIBITTNOTIFY64")
    expect_equal(run.stdout.strip(), os.path.realpath(LIBRARY), "variable")


if __name__ == "__main__":
    harness.main()
