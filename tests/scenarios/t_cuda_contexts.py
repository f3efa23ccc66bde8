# SPDX-License-Identifier: MIT
"""Two contexts of a program's own on one device, used by two threads at once, on
the simulated GPU: their streams, events and waits have the same numbers."""

import collections

import harness
from harness import expect, expect_equal
from t_cuda import calls, on_gpu, work

STEPS, LAUNCHES = 6, 5
EACH = LAUNCHES + 2     # kernels of a context in a step


def run(**env):
    done = on_gpu(STEPS, LAUNCHES, program="cuda_contexts",
                  SIMGPU_KERNEL_NS=200000, **env)
    expect_equal(done.status, 0, done.stderr)
    return done


def contexts(trace):
    """The two, each with the name of its kernels."""
    found = collections.defaultdict(set)
    for kernel in trace.slices(cat="kernel"):
        found[kernel["args"]["context"]].add(kernel["name"].partition("(")[0])
    expect_equal(sorted(map(sorted, found.values())), [["one"], ["two"]], found)
    return {context: name for context, (name,) in found.items()}


def rows(trace):
    return {event["tid"]: event["args"]["name"] for event in trace.events
            if event["name"] == "thread_name" and event["pid"] == 0}


def test_each_context_has_rows_of_its_own():
    trace = run().trace
    owners = contexts(trace)
    names = rows(trace)
    on_rows = collections.defaultdict(set)
    for event in (work(trace) + trace.slices(cat="cuda_sync")
                  + trace.slices(cat="cuda_event")):
        expect_equal(event["pid"], 0, event)
        on_rows[event["tid"]].add(event["args"]["context"])
    # cudaFree() of the main thread made the primary one.
    expect_equal({tid: seen for tid, seen in on_rows.items() if len(seen) > 1}, {})
    expect_equal(len(set(names.values())), len(names), names)
    for kernel in trace.slices(cat="kernel"):
        args = kernel["args"]
        expect_equal(kernel["tid"] % 2000000, args["stream"], kernel)
        expect(args["occupancy"]["activeBlocksPerMultiprocessor"] > 0, kernel)
    streams = collections.defaultdict(set)
    for kernel in trace.slices(cat="kernel"):
        streams[kernel["args"]["stream"]].add(kernel["args"]["context"])
    expect_equal({stream: len(seen) for stream, seen in streams.items()},
                 {7: 2, 13: 2, 14: 2}, "the same numbers")
    # The name that each gave its stream 13.
    for kernel in trace.slices(cat="kernel"):
        if kernel["args"]["stream"] == 13:
            wanted = {"one": "first", "two": "second"}[owners[kernel["args"]["context"]]]
            expect(f"stream 13 {wanted} " in names[kernel["tid"]], names)


def test_waits_know_their_own_contexts_event():
    """Both have an event 1 that is recorded as often, and older CUPTIs don't say
    which recording is waited for."""
    for version in (130001, 24):
        trace = run(SIMGPU_VERSION=version).trace
        made = calls(trace)
        waits = trace.slices("Stream Wait Event", cat="cuda_sync")
        expect_equal(len(waits), 2 * STEPS, version)
        for wait in waits:
            record = made[wait["args"]["wait_on_cuda_event_record_corr_id"]]
            expect_equal(record["tid"], made[wait["args"]["correlation"]]["tid"],
                         f"{version}: another's {wait}")
            expect_equal(wait["args"]["wait_on_stream"], 13, wait)


def test_windows_have_the_work_of_both():
    done = run(TRACEPROF_WAIT=1, TRACEPROF_ACTIVE=2, TRACEPROF_REPEAT=2)
    expect_equal(len(done.traces), 2, done.stderr)
    for trace in done.traces:
        gpu = trace.meta["gpu"]
        expect_equal((gpu["launched_kernels"], gpu["missing_kernels"]),
                     (2 * 2 * EACH, 0), gpu)
        count = collections.Counter(kernel["args"]["context"]
                                    for kernel in trace.slices(cat="kernel"))
        expect_equal(sorted(count.values()), [2 * EACH] * 2, trace.path)
        contexts(trace)


if __name__ == "__main__":
    harness.main()
