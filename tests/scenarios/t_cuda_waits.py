# SPDX-License-Identifier: MIT
"""CUDA events and the waits for them, on the simulated GPU: lanes of their own,
and from each wait the way back to the recording that it waited for."""

import collections

import harness
from harness import expect, expect_equal
from t_cuda import FAKE, STEPS, THREADS, arrows, calls, on_gpu, train

EVENT_LANE, SYNC_LANE, SIDE = 1500000, 1000000, 2000000


def recordings(trace):
    """The calls that record events, by correlation."""
    return {call["args"]["correlation"]: call
            for call in trace.slices("cudaEventRecord", cat="cuda_runtime")}


def marks(trace):
    return trace.slices("cudaEvent", cat="cuda_event")


def expect_linked(trace):
    """Each wait of the trainer knows its recording, and that one's stream."""
    made = recordings(trace)
    lanes = {mark["args"]["correlation"]: mark["tid"] for mark in marks(trace)}
    waits = trace.slices("Stream Wait Event", cat="cuda_sync")
    expect_equal(len(waits), STEPS * THREADS, "waits")
    for wait in waits:
        args = wait["args"]
        number = args.get("wait_on_cuda_event_record_corr_id")
        expect(number in made, f"no recording of {wait}")
        expect_equal(lanes[number], args["wait_on_stream"] + EVENT_LANE)
        expect(args["wait_on_stream"] != args["stream"], wait)
        # The last one of its thread before it.
        call = calls(trace)[args["correlation"]]
        own = [one for one in made.values() if one["tid"] == call["tid"]
               and one["ts"] < call["ts"]]
        expect_equal(max(own, key=lambda one: one["ts"])["args"]["correlation"],
                     number, "the recording")
    numbers = [wait["args"]["wait_on_cuda_event_record_corr_id"] for wait in waits]
    expect_equal(len(set(numbers)), len(numbers), "one recording for each wait")


def test_events_lie_on_lanes_of_their_own():
    trace = train()
    made, found = recordings(trace), marks(trace)
    expect_equal(len(found), 3 * STEPS * THREADS, "events")
    expect_equal({mark["args"]["correlation"] for mark in found}, set(made))
    begins, ends = arrows(trace, "s"), arrows(trace, "f")
    for mark in found:
        number = mark["args"]["correlation"]
        expect(EVENT_LANE < mark["tid"] < SIDE, mark)
        expect("stream" not in mark["args"], f"readers take it for work: {mark}")
        expect(mark["ts"] >= made[number]["ts"], f"before its call: {mark}")
        expect_equal((begins[number], ends[number]), (1, 1), f"arrows of {mark}")
    names = {event["args"]["name"] for event in trace.events
             if event["name"] == "thread_name" and event["pid"] == 0
             and EVENT_LANE < event["tid"] < SIDE}
    expect_equal(names, {f"stream {mark['tid'] - EVENT_LANE} (events)"
                         for mark in found})


def test_an_event_is_reached_when_the_work_before_it_is_done():
    late = 0
    trace = on_gpu(STEPS, 1, SIMGPU_KERNEL_NS=30000000).trace
    kernels = trace.slices(cat="kernel")
    for mark in marks(trace):
        call = recordings(trace)[mark["args"]["correlation"]]
        before = [kernel for kernel in kernels
                  if kernel["tid"] == mark["tid"] - EVENT_LANE
                  and calls(trace)[kernel["args"]["correlation"]]["ts"] < call["ts"]]
        if before and max(k["ts"] + k["dur"] for k in before) > call["ts"] + 1000:
            late += 1
            expect(mark["ts"] >= max(k["ts"] + k["dur"] for k in before) - 0.002,
                   f"{mark} before {before[-1]}")
    expect(late >= STEPS, f"{late} events behind work")


def test_waits_know_what_they_wait_for():
    expect_linked(train())


def test_buffers_in_any_order():
    for knobs in ({"SIMGPU_OOO": 1}, {"SIMGPU_PER_THREAD": 0},
                  {"SIMGPU_WRAP_CORR": 1}):
        expect_linked(train(**knobs))


def test_older_cupti_says_less():
    """Before 12.8: neither the recording nor a time of the GPU."""
    trace = train(SIMGPU_VERSION=24)
    expect_linked(trace)
    for mark in marks(trace):
        call = recordings(trace)[mark["args"]["correlation"]]
        expect_equal((mark["ts"], mark["args"].get("time")),
                     (call["ts"], "of the call"))
    times = collections.Counter(mark["args"].get("time")
                                for mark in marks(train(SIMGPU_JITTER_NS=0)))
    expect_equal(times, {None: 3 * STEPS * THREADS}, "13.0 has measured all")


def test_versions():
    top = train().top
    expect_equal((top["cupti_version"], top["cuda_driver_version"],
                  top["cuda_runtime_version"]), (130001, 13000, 13000))
    trace = on_gpu(5, program="ptx_launch", SIMGPU_VERSION=28,
                   LD_LIBRARY_PATH=FAKE + "-12").trace
    expect_equal((trace.top["cupti_version"], trace.top["cuda_driver_version"]),
                 (28, 12090))
    expect("cuda_runtime_version" not in trace.top, "no runtime is loaded")
    # Ours are not the program's calls.
    for one in (trace, train(SIMGPU_VERSION=24)):
        expect_equal(one.slices("cu*GetVersion"), [])


if __name__ == "__main__":
    harness.main()
