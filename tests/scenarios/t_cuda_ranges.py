# SPDX-License-Identifier: MIT
"""Ranges around launches are drawn on the GPU's lanes too, however many wait for it."""

import collections

import harness
from harness import command, expect, expect_equal, traced
from t_cuda import FAKE, need


def ranges(*words, check=True, **env):
    """A run that is over when its GPU is."""
    need("cuda_ranges")
    settings = {"LD_LIBRARY_PATH": FAKE, "SIMGPU_KERNEL_NS": 200000,
                "TRACEPROF_EXIT_MS": 60000} | env
    run = traced("cuda_ranges", *map(str, words), check=check,
                 env={name: str(value) for name, value in settings.items()})
    expect_equal((run.status, run.stdout), (0, "done\n"), run.stderr)
    return run.trace


def spans(trace):
    return collections.Counter(event["name"] for event in
                               trace.slices(cat="gpu_user_annotation"))


def expect_around_their_work(trace, name):
    """Each has the span of the work with its id."""
    work = collections.defaultdict(list)
    for kernel in trace.slices(cat="kernel"):
        work[kernel["args"].get("External id"), kernel["tid"]].append(kernel)
    for span in trace.slices(name, cat="gpu_user_annotation"):
        own = work[span["args"]["External id"], span["tid"]]
        expect(own, f"nothing in {span}")
        expect(abs(span["ts"] - own[0]["ts"]) < 0.01, f"{span} {own[0]}")


def test_each_range_has_its_work_however_far_behind():
    trace = ranges(1500, 1, 2)
    expect_equal(spans(trace), {"all": 1, "range": 1500, "inner": 3000})
    expect_around_their_work(trace, "inner")
    expect_equal((trace.meta["gpu"]["cut_annotations"],
                  trace.meta["gpu"]["calls_without_operation"]), (0, 0))


def test_calls_find_their_ranges_however_late():
    trace = ranges(9000, SIMGPU_KERNEL_NS=50000)
    calls = trace.slices("cudaLaunchKernel")
    ids = {event["args"]["External id"] for event in
           trace.slices("range", cat="user_annotation")}
    expect_equal((len(calls), len(ids)), (9000, 9000))
    expect_equal({call["args"].get("External id") for call in calls}, ids)


def test_a_range_spans_each_of_forty_streams():
    expect_equal(spans(ranges(20, 40)), {"all": 40, "range": 800})


def test_ranges_of_a_device_that_is_never_described():
    """Its kernels are drawn seconds later."""
    expect_equal(spans(ranges(300, SIMGPU_DEVICE_RECORDS=0)), {"all": 1, "range": 300})


def test_ranges_that_are_too_many_are_said():
    """The first one's kernel takes longer than the program."""
    trace = ranges(1, 1, 0, 140000, check=False, SIMGPU_KERNEL_NS=60000000000,
                   TRACEPROF_EXIT_MS=4000)
    expect(trace.meta["gpu"]["cut_annotations"] > 10000, trace.meta["gpu"])
    expect(any("too many of a thread waited" in note for note in trace.meta["notes"]),
           trace.meta["notes"])
    said = " ".join(command("report", trace.path).stdout.split())
    expect("ranges the GPU's part is missing" in said, said)


if __name__ == "__main__":
    harness.main()
