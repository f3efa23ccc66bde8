# SPDX-License-Identifier: MIT
"""NVTX: every call of the interface, from C, from libraries and from Python."""

import os
import shutil
import subprocess
import sys

import harness
from harness import (LIBRARY, ROOT, Skip, command, compile_program, expect,
                     expect_equal, plain, same, traced)

HEADERS = os.path.join(os.environ.get("CUDA", "/usr/local/cuda"), "include")


def calls():
    if not os.path.exists(os.path.join(HEADERS, "nvtx3", "nvToolsExt.h")):
        raise Skip("no headers of NVTX on this machine")
    return compile_program("nvtx/calls.c", "-isystem", HEADERS, "-I", ROOT,
                           "-pthread", "-ldl", name="calls")


def part():
    return compile_program("nvtx/part.c", "-isystem", HEADERS, "-fPIC",
                           "-shared", "-ldl", name="libpart.so")


def one(trace, name):
    found = trace.slices(name, cat="user_annotation")
    expect_equal(len(found), 1, f"slices named {name}")
    return found[0]


def said(event):
    """What a range says of itself."""
    return {key: value for key, value in event.get("args", {}).items()
            if key in ("category", "colour", "payload")}


def marks(trace):
    return {event["name"]: said(event) for event in trace.events
            if event["ph"] == "i" and event.get("cat") == "user_annotation"}


def test_short_forms():
    trace = same(calls()).trace
    outer, inner = one(trace, "push a"), one(trace, "push w \u00e4\u20ac\U0001f600")
    expect(outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"]
           <= outer["ts"] + outer["dur"] + 0.001, "not nested", outer, inner)
    expect_equal(inner["tid"], outer["tid"], "lane of a pushed range")
    for name in ("start a", "start w"):
        expect(one(trace, name)["tid"] != outer["tid"], "on no lane of its own")
    expect("mark a" in marks(trace) and "mark w" in marks(trace), marks(trace))


def test_threads_by_name():
    trace = same(calls()).trace
    names = [event["args"]["name"] for event in trace.events
             if event["ph"] == "M" and event["name"] == "thread_name"]
    for wanted in ("main by name", "named before"):
        expect(any(f"({wanted})" in name for name in names), wanted, names)
    notes = str(trace.meta["notes"])
    expect("more than 256 threads were given a name before their first" in notes, notes)


def test_attributes():
    trace = same(calls()).trace
    expect_equal(said(one(trace, "unsigned")),
                 {"category": 7, "colour": "#ff336699", "payload": 2**64 - 1}, "u64")
    expect_equal(said(one(trace, "signed")),
                 {"category": "eighth", "colour": "#ff336699", "payload": -5}, "i64")
    expect_equal(said(one(trace, "float")), {"payload": 0.25}, "float")
    seen = marks(trace)
    for name, payload in (("double", 2.5), ("u32", 4000000000), ("i32", -4)):
        expect_equal(seen[name], {"payload": payload}, name)


def test_domains():
    trace = same(calls()).trace
    expect_equal(said(one(trace, "net: plain")), {"category": "third"}, "category")
    one(trace, "net: registered")
    one(trace, "wide: in wide")
    one(trace, "net: beside")
    expect("net: marked" in marks(trace), marks(trace))


def test_domains_that_cross():
    trace = same(calls()).trace
    first, second = one(trace, "a: crossing"), one(trace, "b: crossing")
    expect(first["tid"] != second["tid"], "on one lane")
    expect(first["ts"] < second["ts"] < first["ts"] + first["dur"]
           < second["ts"] + second["dur"], "times", first, second)


def test_range_that_another_thread_ends():
    one(same(calls()).trace, "ended elsewhere")


def test_ranges_that_never_end():
    trace = same(calls()).trace
    for name in ("never ended", "never popped"):
        expect_equal(one(trace, name)["args"].get("finished"), "false", name)


def test_two_libraries_share_their_domains():
    trace = same(calls(), part()).trace
    expect_equal(said(one(trace, "net: in the library")), {"category": "third"},
                 "the category that the program named")


def test_steps():
    trace = same(calls(), "steps", 6, env={
        "TRACEPROF_STEP": "nvtx:ep*", "TRACEPROF_WAIT": "2",
        "TRACEPROF_ACTIVE": "2", "TRACEPROF_REPEAT": "1"}).trace
    expect_equal(trace.steps(), [2, 3], "steps")
    expect_equal(len(trace.slices("batch")), 6, "ranges of two steps")
    expect_equal(len(trace.slices("epoch")), 2, "the steps' own ranges")


def test_pops_find_their_pushes_across_windows():
    """A window that opens inside a range must not end it early."""
    trace = same(calls(), "steps", 6, env={
        "TRACEPROF_STEP": "nvtx:batch", "TRACEPROF_WAIT": "4",
        "TRACEPROF_ACTIVE": "3", "TRACEPROF_REPEAT": "1"}).trace
    expect_equal(trace.steps(), [4, 5, 6], "steps")
    expect_equal(len(trace.slices("batch")), 3, "ranges")
    expect_equal(len(trace.slices("epoch")), 1, "ranges around them")


def test_another_tool_is_left_in_place():
    run = traced(calls(), env={"NVTX_INJECTION64_PATH": "/nowhere/libother.so",
                               "TRACEPROF_MALLOC": "all"})
    expect_equal(run.status, 0, "status")
    expect(not run.trace.slices(cat="user_annotation"), "took the ranges")
    expect_equal(len([line for line in run.own_lines
                      if "/nowhere/libother.so" in line]), 1, run.stderr)
    expect(any("/nowhere/libother.so" in note for note in run.trace.meta["notes"]),
           "no note", run.trace.meta["notes"])


def test_child_without_the_library_is_left_alone():
    """It has the variable, so it loads us late."""
    target = os.path.join(harness.folder(), "out")
    run = plain(calls(), env={"NVTX_INJECTION64_PATH": LIBRARY,
                              "TRACEPROF_DIR": target})
    expect_equal((run.status, run.stdout, run.stderr), (0, "done\n", ""), "child")
    expect(not os.path.exists(target), "recorded without being preloaded")


def test_record_names_us_for_early_constructors():
    run = command("record", "--", "printenv", "NVTX_INJECTION64_PATH")
    expect_equal(run.stdout.strip(), os.path.realpath(LIBRARY), "variable")
    run = command("record", "--", "printenv", "NVTX_INJECTION64_PATH",
                  env={"NVTX_INJECTION64_PATH": "/other.so"})
    expect_equal(run.stdout.strip(), "/other.so", "another tool's")


def python_with_nvtx():
    for python in (os.environ.get("TEST_PYTHON"), sys.executable,
                   "/tmp/real/venv/bin/python"):
        if python and shutil.which(python) and not subprocess.run(
                [python, "-c", "import nvtx"], capture_output=True).returncode:
            return python
    raise Skip("no Python with the package nvtx")


PROGRAM = """
import nvtx
with nvtx.annotate("block", color="green", domain="train"):
    pass
@nvtx.annotate()
def decorated():
    pass
decorated()
rng = nvtx.start_range("started", payload=3)
nvtx.end_range(rng)
nvtx.push_range("pushed", category="kind")
nvtx.pop_range()
nvtx.mark("marked")
"""


def test_python_package():
    trace = traced(python_with_nvtx(), "-c", PROGRAM).trace
    expect("colour" in said(one(trace, "train: block")), "no colour")
    one(trace, "*decorated")
    expect_equal(said(one(trace, "*started")).get("payload"), 3, "payload")
    expect_equal(said(one(trace, "*pushed")).get("category"), "kind", "category")
    expect(any(name.endswith("marked") for name in marks(trace)), marks(trace))


if __name__ == "__main__":
    harness.main()
