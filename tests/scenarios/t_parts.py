# SPDX-License-Identifier: MIT
"""A run that outgrows its file: what goes first, and where it goes on."""

import json
import os
import re

import harness
import t_recover
from harness import Skip, command, expect, expect_equal, folder, main, program, traced

SCOPES = """
import ctypes
library = ctypes.CDLL(None)
for i in range(%d):
    library.traceprof_push_(b"scope %%d" %% (i %% 7))
    library.traceprof_pop_()
"""

BLOCKS = """
import ctypes
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = [ctypes.c_void_p]
for i in range(%d):
    library.free(library.malloc(100))
"""


def python(source, **options):
    """What isn't in the file is in the closing line of who writes it all."""
    return traced("python3", "-c", source, env={"TRACEPROF_ENCODE": "live"} | {
        "TRACEPROF_" + key.upper(): str(value) for key, value in options.items()})


def scopes_of(traces):
    return sum(len(trace.slices("scope *")) for trace in traces)


def numbers(run):
    return [int(found.group(1)) if (found := re.search(r"\.part(\d+)\.", path)) else 1
            for path in run.files]


def check_parts(run):
    """Each ends well, and the last one's account is that of all."""
    traces = run.traces
    for trace in traces:
        expect(trace.meta["final"], trace.path)
    last = traces[-1].meta["events"]
    expect_equal(last["seen"], last["written"] + last["cut"] + last["dropped"]
                 + last.get("thinned", 0), last)
    return traces, last


def test_it_goes_on_in_a_next_part():
    run = python(SCOPES % 40000, max_mb=1, max_parts=64, malloc="off", step="api")
    traces, last = check_parts(run)
    expect(len(traces) > 2, run.files)
    expect_equal(numbers(run), list(range(1, len(traces) + 1)), "parts")
    expect_equal((scopes_of(traces), last["cut"]), (40000, 0), last)
    expect_equal(sum(trace.meta["events"]["in_file"] for trace in traces),
                 last["written"], "events in the parts")
    expect_equal(sum(total["calls"] for trace in traces
                     for total in trace.meta["totals"]
                     if total["name"].startswith("scope ")), 40000, "totals")


TURNS = """
import ctypes
library = ctypes.CDLL(None)
for i in range(%d):
    for name in (b"load", b"forward", b"backward", b"update"):
        library.traceprof_push_(name)
        library.traceprof_pop_()
"""


def test_a_part_is_not_judged_by_what_the_run_was():
    """Its sums are those of the run until then."""
    run = python(SCOPES % 40000, max_mb=1, max_parts=64, malloc="off", step="api",
                 verdict=1)
    expect("there is no slice" not in run.stderr, run.stderr)
    expect_equal([trace.meta.get("part", 1) for trace in run.traces],
                 list(range(1, len(run.traces) + 1)), "numbers")
    # One that begins with the last slice of time has none.
    last = [trace for trace in run.traces if scopes_of([trace])][-1]
    said = " ".join(command("report", "--verdict", last.path).stdout.split())
    expect(f"so on part {last.meta['part']} of the recording, " in said
           and "own-cost" not in said, said)


def test_each_part_has_its_own_steps():
    """They had all been drawn in the last one, beside the little that it holds: the
    verdict called the rest of the run host code.  A part may be longer than the bound
    by what the writer takes at once, here as much again and more."""
    turns = 40000
    run = python(TURNS % turns, max_mb=4, max_parts=64, malloc="off", step="auto")
    traces, _ = check_parts(run)
    expect(len(traces) > 2, run.files)
    number = 0
    for trace in traces:
        steps = trace.steps()
        expect_equal(steps, list(range(number, number + len(steps))), trace.path)
        number += len(steps)
        expect_equal(trace.meta["step"]["drawn"], len(steps), "drawn")
        inside = len(trace.slices("update"))
        expect(abs(inside - len(steps)) <= 1, inside, len(steps), trace.path)
    expect_equal(number, turns, "steps in all")


LONG_TURNS = """
import ctypes
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = [ctypes.c_void_p]
for i in range(%d):
    for name in (b"load", b"forward", b"backward", b"update"):
        library.traceprof_push_(name)
        for j in range(1000):
            library.free(library.malloc(100000))
        library.traceprof_pop_()
"""


def test_steps_of_parts_that_are_closed_are_not_drawn():
    """The first parts may hold a turn or two, of which nobody knows that they are
    steps: what is known too late is said, and all that comes then is there."""
    run = python(LONG_TURNS % 30, max_mb=1, max_parts=64, malloc="all", step="auto",
                 max_overhead=0)
    traces, _ = check_parts(run)
    late = sum(int(found.group(1)) for note in traces[-1].meta["notes"]
               if (found := re.match(r"(\d+) steps? lies? in parts that were closed", note)))
    steps = [number for trace in traces for number in trace.steps()]
    expect_equal(steps, list(range(late, 30)), run.stderr)


KILLED_TURNS = TURNS % 12000 + """
import glob, os, time
while not glob.glob(os.environ["TRACEPROF_DIR"] + "/*.part2.*"):
    time.sleep(0.01)
""" + (TURNS % 3000).replace("import ctypes", "") + """
os.kill(os.getpid(), 9)
"""


def test_steps_of_a_run_that_is_killed_in_its_second_part():
    """What is recovered has the steps that no part has yet, and no other."""
    target = os.path.join(folder(), "out")
    run = harness.execute(
        [program("python3"), "-c", KILLED_TURNS],
        harness.clean_environment() | {
            "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target,
            "TRACEPROF_MAX_MB": "4", "TRACEPROF_MAX_PARTS": "64",
            "TRACEPROF_MALLOC": "off", "TRACEPROF_STEP": "auto",
            "TRACEPROF_MAX_OVERHEAD": "0", "TRACEPROF_ENCODE": "live"},
        60, None, target)
    if not t_recover.sessions(target):
        raise Skip("no shared memory that outlives a process")
    expect_equal(command("recover", target).status, 0)
    expect(len(run.files) > 1, run.files)
    steps = [number for trace in run.traces for number in trace.steps()]
    expect_equal(steps, list(range(15000)), len(steps))


def test_no_more_parts_than_asked_for():
    run = python(SCOPES % 30000, max_mb=1, max_parts=2, malloc="off", step="api")
    traces, last = check_parts(run)
    expect_equal(numbers(run), [1, 2], run.files)
    expect(last["cut"] > 0, last)
    expect_equal(last["past_max"], last["cut"], last)
    expect(f"{last['cut']} events came past TRACEPROF_MAX_MB=1" in run.stderr,
           run.stderr)
    expect_equal(sum(total["calls"] for trace in traces
                     for total in trace.meta["totals"]
                     if total["name"].startswith("scope ")), 30000, "totals")


def test_the_newest_parts_are_kept():
    # A part ends with a pass of the writer's, which on a busy machine is three times as
    # large: there are more than three parts all the same.
    run = python(SCOPES % 200000, max_mb=1, max_parts=3, parts_keep="last",
                 malloc="off", step="api")
    traces, last = check_parts(run)
    kept = numbers(run)
    expect(len(kept) == 3 and kept[0] == 1 and kept[1] > 2
           and kept[2] == kept[1] + 1, run.files)
    expect_equal(scopes_of(traces) + last["deleted"], 200000, last)
    expect(f"{last['deleted']} events of parts that were deleted" in run.stderr,
           run.stderr)


def test_small_blocks_take_half_and_what_follows_has_room():
    """As with `import torch`, and then the training.  What is asked for waits for the
    writer: what comes after it is no part of the same look."""
    run = python(BLOCKS % 40000 + SCOPES % 20 + "library.traceprof_report_(1)"
                 + SCOPES % 1980, max_mb=2, malloc="all", step="api")
    traces, last = check_parts(run)
    expect(len(traces) >= 2, run.files)
    expect(last["past_heap"] > 10000, last)
    expect_equal(scopes_of(traces), 2000, "scopes")
    expect(f"{last['past_heap']} calls for small blocks" in run.stderr, run.stderr)
    text = sum(len(str(event)) for event in traces[0].memory())
    expect(text < 2.2e6, f"blocks in the first part: {text}")


def test_a_region_that_goes_on_in_a_next_part():
    """Its members wait in the one, and their waits end in the other."""
    run = traced(program("task_nest"), "untied", "120000",
                 env={"OMP_NUM_THREADS": "3", "TRACEPROF_ENCODE": "live",
                      "TRACEPROF_MAX_OVERHEAD": "0", "TRACEPROF_MAX_MB": "1",
                      "TRACEPROF_MAX_PARTS": "64"})
    traces, last = check_parts(run)
    expect(len(traces) > 1, run.files)
    done = command("check", *run.files)
    expect_equal(done.status, 0, done.stdout)
    waits = traces[-1].meta["waits"]
    expect("later" not in waits, waits)
    expect_equal(waits["begun"], waits["drawn"] + waits["outside"] + waits["lost"], waits)
    expect_equal(last["dropped"], 0, last)


def test_the_account_of_memory_ends_with_the_small_blocks():
    """What is freed after that would seem to stay."""
    source = BLOCKS % 20000 + """
blocks = [library.malloc(1000) for i in range(1000)]
for block in blocks:
    library.free(block)
"""
    run = python(source, max_mb=2, malloc="all", stack="heap", step="api", max_parts=1)
    trace = run.trace
    ended = trace.meta["heap"]["small_blocks_ended"]
    expect(all(block["ts"] < ended or abs(block["args"]["Bytes"]) >= 65536
               for block in trace.memory()), ended)
    said = command("memory", trace.path)
    expect_equal(said.status, 0, said.stderr)
    expect("small blocks ended" in said.stdout and "so does this account" in said.stdout,
           said.stdout)
    (found,) = json.loads(command("memory", "--json", trace.path).stdout)
    expect(0 < found["ended_ns"] == found["run_ns"], found["ended_ns"], found["run_ns"])
    page = os.path.join(folder(), "page.html")
    expect_equal(command("html", trace.path, "-o", page).status, 0)
    with open(page, encoding="utf-8") as file:
        expect(f'"ended_ns":{found["ended_ns"]}' in file.read(), "not on the page")


def test_what_is_left_to_write_is_not_promised_to_be_in_the_file():
    """What isn't is known after the program's end: the file says it."""
    run = python(BLOCKS % 100000, max_mb=16, malloc="all", step="api", encode="late",
                 gzip="zlib:9")
    expect("left to be written" in run.stderr, run.stderr)
    expect("TRACEPROF_MAX_MB=16 may leave out some" in run.stderr, run.stderr)
    _, last = check_parts(run)
    expect(last["past_heap"] > 10000, last)
    run = python(BLOCKS % 4000, malloc="all", step="api", encode="late",
                 gzip="zlib:9")
    expect("may leave out" not in run.stderr, run.stderr)


def test_what_was_thinned_is_not_left_to_write():
    """Nor does the first part tell of what the whole window counted."""
    run = traced(program("many_blocks"), "30000000",
                 env={"TRACEPROF_MALLOC": "all", "TRACEPROF_ENCODE": "late",
                      "TRACEPROF_MAX_OVERHEAD": "1",
                      "TRACEPROF_MAX_MB": "4", "TRACEPROF_GZIP": "zlib:9"})
    expect_equal(run.status, 0, run.stderr)
    expect("left to be" in run.stderr, run.stderr)
    (seen, left, wait), = re.findall(
        r"recorded (\d+) events, .*; (\d+) of them are left .* in about ([\d.]+) s",
        run.stderr)
    _, last = check_parts(run)
    expect(last["thinned"] > last["seen"] // 2, last)
    expect(int(left) <= int(seen) - last["thinned"], left, last)
    # A second; were all 60 million written, 400.
    expect(float(wait) < 60, wait)
    expect(len(run.traces) > 1, run.files)
    expect("window" not in run.traces[0].meta, run.traces[0].meta.get("window"))


main()
