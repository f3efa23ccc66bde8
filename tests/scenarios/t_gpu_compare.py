# SPDX-License-Identifier: MIT
"""The comparison that tests/gpu/run makes with torch.profiler's traces: it
must see each kind of difference, and none where there is none."""

import copy
import gzip
import json
import os
import sys

import harness
from harness import ROOT, expect, expect_equal

sys.path.insert(0, os.path.join(ROOT, "tests", "gpu"))
import gpu_compare

STEPS, WARM_UP = 6, 2
KERNELS = {"void gemm<float, 128>(float const*, int)": 50.0,
           "void gelu(float*, unsigned long)": 3.0, "reduce": 8.0}


def call(number, ts, name="cudaLaunchKernel", cat="cuda_runtime"):
    return {"ph": "X", "cat": cat, "name": name, "pid": 100, "tid": 101, "ts": ts,
            "dur": 2.0, "args": {"cbid": 211, "correlation": number}}


def work(number, ts, name, dur, cat="kernel"):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": ts,
            "dur": dur, "args": {"device": 0, "stream": 7, "correlation": number}}


def arrow(number, ts):
    place = {"id": number, "cat": "ac2g", "name": "ac2g", "ts": ts}
    return [dict(place, ph="s", pid=100, tid=101),
            dict(place, ph="f", pid=0, tid=7, bp="e")]


def sample(first, steps, stretch=1.0):
    """Steps of three kernels each and a copy; `stretch` is noise."""
    events, number, now = [], 1000, 5000.0
    for step in range(first, first + steps):
        start = now
        for name, dur in KERNELS.items():
            events += [call(number, now), *arrow(number, now),
                       work(number, now + 5, name, dur * stretch)]
            number, now = number + 1, now + 100
        events += [call(number, now, "cudaMemcpyAsync"), *arrow(number, now),
                   work(number, now + 5, "Memcpy HtoD (Pinned -> Device)", 4.0,
                        "gpu_memcpy")]
        number, now = number + 1, now + 100
        events.append({"ph": "X", "cat": "user_annotation", "name": "train_step",
                       "pid": 100, "tid": 100, "ts": start, "dur": now - start - 1,
                       "args": {}})
    return events


def trace(events):
    path = os.path.join(harness.folder(), "x_1.1.pt.trace.json.gz")
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)
    return gpu_compare.Trace(path)


def failed(ours, theirs, first=WARM_UP, count=STEPS - WARM_UP, again=None):
    rows = gpu_compare.compare(trace(ours), trace(theirs), first, count,
                               again=trace(again) if again else None)
    return {row.check for row in rows if not row.passed}


def pair():
    """Ours of the whole run, and the other's of what comes after warming up."""
    return sample(0, STEPS), sample(WARM_UP, STEPS - WARM_UP, 1.01)


def kernels_of(events, name):
    return [event for event in events if event["name"] == name]


def test_same_work_passes():
    ours, theirs = pair()
    expect_equal(failed(ours, theirs), set())


def test_blanks_in_names_are_no_difference():
    ours, theirs = pair()
    for event in ours:
        event["name"] = event["name"].replace("float, 128", "float,128 ")
    expect_equal(failed(ours, theirs), set())


def test_coded_names_are_made_readable():
    ours, theirs = pair()
    for event in ours:
        if event["name"] == "reduce":
            event["name"] = "_Z6reducev"
    for event in theirs:
        if event["name"] == "reduce":
            event["name"] = "reduce()"
    expect_equal(failed(ours, theirs), set())


def test_a_kernel_of_another_name():
    ours, theirs = pair()
    for event in kernels_of(ours, "reduce"):
        event["name"] = "reduce2"
    expect_equal(failed(ours, theirs), {"kernels by name", "kernels by count"})


def test_a_kernel_that_is_missing():
    ours, theirs = pair()
    ours.remove(kernels_of(ours, "reduce")[-1])
    expect("kernels by count" in failed(ours, theirs), "not seen")


def test_a_kernel_that_is_there_twice():
    ours, theirs = pair()
    ours.append(copy.deepcopy(kernels_of(ours, "reduce")[-1]))
    expect_equal(failed(ours, theirs), {"kernels by count", "sum of kernel time"})


def test_a_copy_that_is_missing():
    ours, theirs = pair()
    ours.remove(kernels_of(ours, "Memcpy HtoD (Pinned -> Device)")[-1])
    expect_equal(failed(ours, theirs), {"copies and memsets by count"})


def test_lengths():
    ours, theirs = pair()
    for event in kernels_of(ours, "void gemm<float, 128>(float const*, int)"):
        event["dur"] *= 1.08
    expect_equal(failed(ours, theirs), {"median of each kernel", "sum of kernel time"})


def test_what_two_runs_of_the_others_differ_by_is_allowed_twice():
    for more, wanted in ((1.05, set()),
                         (1.01, {"median of each kernel", "sum of kernel time"})):
        ours, theirs = pair()
        again = sample(WARM_UP, STEPS - WARM_UP, 1.01)
        for events, longer in ((ours, 1.08), (again, more)):
            for event in kernels_of(events, "void gemm<float, 128>(float const*, int)"):
                event["dur"] *= longer
        expect_equal(failed(ours, theirs, again=again), wanted, more)


def test_half_a_microsecond_is_allowed():
    for more, wanted in ((0.3, set()), (0.7, {"median of each kernel"})):
        ours, theirs = pair()
        for event in kernels_of(ours, "void gelu(float*, unsigned long)"):
            event["dur"] += more
        expect_equal(failed(ours, theirs), wanted, f"{more} us")


def test_an_arrow_that_is_missing():
    for phase in "sf":
        ours, theirs = pair()
        ours.remove([event for event in ours if event["ph"] == phase][3])
        expect_equal(failed(ours, theirs), {"an arrow to each piece of work"}, phase)


def test_too_few_steps():
    ours, theirs = pair()
    ours.remove(kernels_of(ours, "train_step")[-1])
    expect("steps compared" in failed(ours, theirs), "not seen")


def test_nothing_compared_is_no_success():
    seen = failed([sample(0, 1)[-1]], [sample(0, 1)[-1]], 0, 1)
    expect({"kernels by name", "kernels by count", "median of each kernel",
            "sum of kernel time", "an arrow to each piece of work"} <= seen, seen)


def test_driver_calls_inside_runtime_calls():
    """The outermost of two calls of one number is the launch."""
    ours, theirs = pair()
    for event in list(theirs):
        if event.get("cat") == "cuda_runtime":
            inner = call(event["args"]["correlation"], event["ts"] + 0.5,
                         "cuLaunchKernel", "cuda_driver")
            theirs.append(inner)
    expect_equal(failed(ours, theirs), set())


if __name__ == "__main__":
    harness.main()
