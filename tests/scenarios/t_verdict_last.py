# SPDX-License-Identifier: MIT
"""A large file is judged by its last part: what is said of it is true of that part."""

import functools
import gzip
import json
import os
import re
import shutil
import statistics
import tempfile

import harness
from harness import command, expect, expect_equal, folder, main, traced
from t_cuda import FAKE
from t_verdict import judged, made, slice_, step_

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1}
STEPS = 1500
KEPT = tempfile.TemporaryDirectory(prefix="traceprof-test-")


def recorded(**settings):
    """A run of two threads that launch, and of which the steps are found at its end.  A
    program that waits for room doesn't leave all to be written thread by thread at the
    end, however seldom the writer has a core."""
    env = {"LD_LIBRARY_PATH": FAKE, "TRACEPROF_MAX_OVERHEAD": "0",
           "TRACEPROF_BUFFER_MB": "2", "TRACEPROF_ON_FULL": "wait"} | {
        "TRACEPROF_" + key.upper(): str(value) for key, value in settings.items()}
    run = traced("cuda_train", STEPS, 2, env=env)
    expect_equal(len(run.trace.steps()), STEPS, run.stderr)
    return run


@functools.cache
def as_it_is_set():
    """One recording for all tests that change nothing of it."""
    path = recorded().trace.path
    return harness.Trace(shutil.copy(path, os.path.join(KEPT.name, os.path.basename(path))))


def verdict(path, *options):
    done = command("report", "--verdict", *options, path)
    return done.status, " ".join((done.stdout + done.stderr).split())


def times(text):
    return [float(number) * SECONDS[unit]
            for number, unit in re.findall(r"([\d.]+) (us|ms|s)\b", text)]


def share(text, part):
    found = re.search(r"([\d.]+) % " + part, text)
    return float(found[1]) if found else 0


def from_there(trace, ns):
    """The same trace without what was before: read whole, it is judged alike."""
    path = folder() + "/part.json"
    with gzip.open(trace.path) if trace.path.endswith(".gz") else open(trace.path, "rb") \
            as file:
        whole = json.load(file)
    kept = []
    for event in whole["traceEvents"]:
        late = ns - event.get("ts", ns)
        if late > 0 and event.get("cat") != "Trace":
            if (event["ph"] != "X" or event["dur"] <= late
                    or event["name"].startswith("ProfilerStep#")):
                continue
            event |= {"ts": ns, "dur": event["dur"] - late}
        kept.append(event)
    whole["traceEvents"] = kept
    with open(path, "w", encoding="utf-8") as file:
        json.dump(whole, file)
    return path


def check_part(trace, percent):
    """The steps are the last ones, and its figures theirs.  None: it has too few.  How
    many there are depends on how often the writer had a core: what it writes at once
    lies thread by thread, and all is there only from the last thread's begin on."""
    status, text = verdict(trace.path, f"--last={percent}")
    if status == 3 and text.endswith(": too few whole steps in that part of it"):
        return None
    expect_equal(status, 0, text)
    head = re.match(r"Verdict by the last (.*?) of (.*?): (\d+) steps.*?, "
                    "median (.*?), ", text)
    expect(head, text)
    count = int(head[3])
    before, *steps = sorted(trace.slices("ProfilerStep#*"),
                            key=lambda step: step["ts"])[-count - 1:]
    span, = trace.slices("PyTorch Profiler*")
    last, whole, median = times(f"{head[1]} {head[2]} {head[4]}")
    expect(abs(whole - span["dur"] / 1e6) < 0.01 * whole, text, span["dur"])
    expect(abs(median - statistics.median(step["dur"] for step in steps) / 1e6)
           < 0.01 * median, text)
    began = steps[0]["ts"]
    ended = max(event["ts"] + event["dur"] for event in trace.slices()
                if event.get("cat") not in ("Trace", "overhead"))
    # The part begins somewhere in the step before.
    rounded = last * 1e3
    expect(ended - began - rounded < last * 1e6 < ended - before["ts"] + rounded, text,
           began, ended, before)
    _, alone = verdict(from_there(trace, began))
    expect(f": {count} steps" in alone and f", median {head[4]}, " in alone, text, alone)
    for part in ("host-bound", "copies", "synchronisation", "GPU busy"):
        expect(abs(share(text, part) - share(alone, part)) <= 0.5, part, text, alone)
    return count, text


def test_the_part_tells_of_its_own_steps():
    for gzipped, parts in (("auto", (90, 60, 45)), ("zlib:6", (95, 75)),
                           ("off", (95, 75))):
        trace = as_it_is_set() if gzipped == "auto" else recorded(gzip=gzipped).trace
        _, whole = verdict(trace.path)
        expect(f"Verdict: {STEPS} steps" in whole, whole)
        told = list(filter(None, [check_part(trace, percent)
                                  for percent in parts]))
        counts = [count for count, _ in told]
        # A smaller part may tell of more steps: a lane whose last events lie before it
        # holds nothing up.
        expect(counts and 8 <= min(counts) and max(counts) < STEPS, counts)
        expect(all("needless-sync" in text for _, text in told), told)


def test_a_part_of_steps_alone_says_nothing():
    """They are written when all else was; they had been called host code."""
    trace = as_it_is_set()
    for percent in (3, 0.5):
        status, text = verdict(trace.path, f"--last={percent}")
        expect(status == 3 and text.endswith(": too few whole steps in that part of it"), text)


def written_in_turn(turns, together, **account):
    """As the library writes: what threads had of so many steps, then what CUPTI told
    of them; the steps last."""
    lines = ['{"ph":"M","name":"process_name","pid":700,"args":{"name":"it"}}']
    kinds = {"scope": 0, "cuda_api": 0, "kernel": 0}
    for first in range(0, turns, together):
        ops, calls = [], []
        for at in range(first * 1000, (first + together) * 1000, 1000):
            for number in range(8):
                call = slice_("cudaLaunchKernel", at + 100 * number + 10, 20,
                              cat="cuda_runtime", correlation=at + number)
                ops.append(slice_("aten::mm", at + 100 * number, 90))
                calls += [call, slice_("gemm", at + 100 * number + 40, 50, 7, "kernel", 0,
                                       device=0, stream=7, correlation=at + number)]
        kinds["scope"] += len(ops)
        kinds["cuda_api"] += len(calls) // 2
        kinds["kernel"] += len(calls) // 2
        lines += map(json.dumps, ops + calls)
    lines += [json.dumps(step_(number, number * 1000, 1000)) for number in range(turns)]
    lines.append(json.dumps(slice_("PyTorch Profiler (0)", 0, turns * 1000, cat="Trace")))
    path = folder() + "/it_700.1.pt.trace.json"
    with open(path, "w", encoding="utf-8") as file:
        text = ",\n".join(line.replace(": ", ":").replace(", ", ",") for line in lines)
        file.write('{"schemaVersion":1,"traceEvents":[\n' + text + '\n],"traceprof":'
                   + json.dumps({"written_by_kind": kinds} | account) + "}")
    return path


def test_a_part_without_what_threads_did_says_nothing():
    """The writer had no core: what CUPTI told is behind all that threads had."""
    for together in (4, 100, 4000):
        status, text = verdict(written_in_turn(4000, together), "--last=50")
        if together < 4000:
            expect(status == 0 and "Verdict by the last " in text, together, text)
        else:
            expect(status == 3 and "too few whole steps in that part" in text, together, text)


def test_a_file_that_grows_is_said_to():
    """Whole or in part; what record judges had gone by without that word."""
    for final in (True, False):
        path = written_in_turn(4000, 4, final=final)
        for options in (("--last=50",), ("--last=100",), ()):
            status, text = verdict(path, *options)
            expect_equal((status, "not finished" in text), (0, not final), text)


def test_a_slow_step_of_the_part_is_not_the_runs_first():
    """It is as any other that is slow."""
    trace = as_it_is_set()
    for percent in (40, 45, 50, 55, 60):
        _, text = verdict(trace.path, f"--last={percent}")
        expect("first-step" not in text, text)


def test_steps_from_before_a_part_began_are_not_judged():
    """A run's last part had all steps, and what lay in them was in the parts before."""
    events = [step_(number, number * 1000, 1000) for number in range(100)]
    events += [slice_("aten::mm", number * 1000, 1000) for number in range(90, 100)]
    events.append(slice_("PyTorch Profiler (0)", 90_000, 10_000, cat="Trace"))
    step = judged(made(events))["step"]
    expect_equal((step["count"], step["total_ns"]), (10, 10_000_000), step)


def test_traces_of_others_are_read_whole():
    trace = as_it_is_set()
    path = folder() + "/theirs.json.gz"
    with gzip.open(trace.path) as ours, gzip.open(path, "wb") as theirs:
        theirs.write(ours.read())
    expect_equal(verdict(path, "--last=40"), verdict(path))


def test_what_is_no_percentage_is_refused():
    for word in ("0", "-1", "101", "half", ""):
        status, text = verdict("none", f"--last={word}")
        expect(status == 2 and "no percentage, as 10" in text, word, text)
    status, text = verdict("none", "--last=5")
    expect(status == 3, text)


def test_record_judges_the_last_part_of_a_large_trace():
    """It had said how to have the verdict, and no more.  What one thread does is written
    in its order, however much of it at once."""
    done = command("record", "--gzip=off", "--max-overhead=0", "--step=omp:*/100",
                   "--dir", folder(), "--", harness.program("short_regions"), "150000",
                   "0", "1", env={"TRACEPROF_VERDICT": "1"})
    expect_equal(done.status, 0, done.stderr)
    expect("Verdict by the last " in done.stderr, done.stderr)


if __name__ == "__main__":
    main()
