# SPDX-License-Identifier: MIT
"""What the report says of DistributedDataParallel's buckets, on made-up steps."""

import json
import os

import harness
from harness import command, expect_equal

NODE = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"


def slice_(name, start, dur, cat="cpu_op", tid=7, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 7, "tid": tid,
            "ts": start, "dur": dur, "args": args}


def bucket(start, elements, by, node=NODE):
    """One all-reduce of floats, with what its group tells of it."""
    events = [slice_(node, start, 50), slice_("c10d::allreduce_", start + 10, 30)]
    if by == "gloo":
        events[1]["args"] = {"Input Dims": [[[elements]], [], []],
                             "Input type": ["TensorList", "", "Scalar"]}
        events.append(slice_("gloo:all_reduce", start + 20, 90, "user_annotation", 8,
                             **{"Input Dims": [[elements]], "Input type": ["float"]}))
    elif by == "nccl":
        events.append(slice_("record_param_comms", start + 11, 5, **{
            "Collective name": "allreduce", "In msg nelems": elements, "dtype": "BFloat16"}))
    return events


def said(fill, forward="DistributedDataParallel.forward"):
    """The report's remarks on ten steps, children before their parents or behind."""
    events = []
    for number in range(10):
        start = 1000 + number * 1000
        events += [slice_(f"ProfilerStep#{number}", start, 1000, "user_annotation"),
                   slice_(forward, start + 10, 90, "user_annotation")]
        events += fill(start, number)
    found = []
    for one in (events, events[::-1]):
        path = os.path.join(harness.folder(), "made.pt.trace.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "traceEvents": one}, file)
        done = command("report", "--json", path)
        expect_equal(done.status, 0, done.stderr)
        found.append(json.loads(done.stdout)[0].get("remarks", []))
    expect_equal(found[0], found[1], "order")
    return found[0]


def two(by, node=NODE):
    """The first step has one bucket, as before they are made anew."""
    return lambda start, number: (
        bucket(start + 200, 1 << 20, by, node)
        + (bucket(start + 400, 1 << 18, by, node) if number else []))


def test_sizes_from_the_operators_and_their_groups():
    expect_equal(said(two("gloo")), [
        "DistributedDataParallel all-reduces 2 buckets of gradients a step: 5.000 MiB, "
        "1.000 MiB to 4.000 MiB each."])


def test_sizes_from_the_messages():
    expect_equal(said(two("nccl")), [
        "DistributedDataParallel all-reduces 2 buckets of gradients a step: 2.500 MiB, "
        "512.0 KiB to 2.000 MiB each."])


def test_without_sizes_their_number():
    expect_equal(said(two("")), [
        "DistributedDataParallel all-reduces 2 buckets of gradients a step. Their sizes "
        "aren't in the trace (TRACEPROF_SHAPES=1)."])


def test_other_all_reduces_are_no_buckets():
    expect_equal(said(two("gloo", "autograd::engine::evaluate_function: SyncBackward")), [])
    expect_equal(said(two("gloo"), forward="my forward"), [])


def test_a_size_of_two_types_is_not_known():
    def fill(start, number):
        events = two("gloo")(start, number)
        if number == 4:
            events[2]["args"]["Input type"] = ["c10::Half"]
        return events
    expect_equal([line.split(". ")[1][:5] for line in said(fill)], ["Their"])


if __name__ == "__main__":
    harness.main()
