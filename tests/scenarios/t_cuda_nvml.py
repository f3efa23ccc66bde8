# SPDX-License-Identifier: MIT
"""Load, power and clocks of GPUs, sampled through a simulated NVML."""

import harness
from harness import command, expect, expect_equal
from t_cuda import on_gpu

STATE = {"utilization %": 87, "memory MiB": 0, "power W": 412.5,
         "SM clock MHz": 1980, "memory clock MHz": 3201, "temperature C": 71}


def busy(*words, **env):
    run = on_gpu("busy", *words, program="cuda_kinds", **env)
    expect_equal(run.status, 0, run.stderr)
    return run


def samples(trace):
    return [event for event in trace.events
            if event["ph"] == "C" and event["name"] == "GPU state"]


def test_a_track_for_each_gpu():
    trace = busy().trace
    track = samples(trace)
    # Ten a second, of a run of one second at least.
    expect(len(track) >= 3, f"{len(track)} samples")
    for event in track:
        expect_equal((event["args"], event["pid"]), (STATE, 0))
    expect_equal(trace.slices(cat="gpu_throttle"), [])
    names = {event["args"]["name"] for event in trace.events
             if event["name"] == "process_name" and event["pid"] == 0}
    expect_equal(names, {"cuda_kinds GPU 0"})


def test_off_never_loads_it():
    trace = busy(TRACEPROF_NVML=0, SIMGPU_NVML_HANG="start").trace
    expect_equal(samples(trace), [])


def test_a_throttled_gpu_is_seen_as_one():
    """Idleness and clocks that a user set are no throttling."""
    trace = busy(SIMGPU_NVML_REASONS=0x01 | 0x02 | 0x04 | 0x40).trace
    held = trace.slices(cat="gpu_throttle")
    expect_equal({event["name"] for event in held},
                 {"throttled: software power cap, hardware thermal"})
    ends = [event["ts"] + event["dur"] for event in held]
    for before, event in zip(ends, held[1:]):
        expect(event["ts"] >= before, "they overlap")
    expect_equal({event["args"]["SM clock MHz"] for event in samples(trace)}, {1200})
    report = command("report", trace.path).stdout
    expect("of the time: software power cap, hardware thermal\n" in report, report)
    expect("GPU 0 was throttled" in report, report)
    expect_equal(busy(SIMGPU_NVML_REASONS=0x03).trace.slices(cat="gpu_throttle"), [])


def test_only_in_windows():
    """Windows of a step by hand: none is sampled between them."""
    trace = busy(TRACEPROF_STEP="cuda:cudaStreamSynchronize", TRACEPROF_WAIT=20,
                 TRACEPROF_ACTIVE=60, TRACEPROF_REPEAT=1).trace
    begin, end = [next(event["ts"] for event in trace.events if event["name"] == name)
                  for name in ("Iteration Start: PyTorch Profiler",
                               "Record Window End")]
    track = samples(trace)
    expect(track, "no sample")
    expect(all(begin <= event["ts"] for event in track), (begin, track[0]))
    # The last one may have been under way.
    expect(sum(event["ts"] > end for event in track) <= 1, (end, track[-1]))


def test_a_failure_is_noted():
    trace = busy(SIMGPU_FAIL="nvmlInit_v2:9").trace
    expect_equal(samples(trace), [])
    expect("NVML: error 9" in str(trace.meta["notes"]), trace.meta["notes"])


def test_what_a_gpu_lacks_is_left_out():
    trace = busy(SIMGPU_FAIL="nvmlDeviceGetPowerUsage:3").trace
    wanted = {key: value for key, value in STATE.items() if key != "power W"}
    expect_equal([event["args"] for event in samples(trace)][:1], [wanted])


def test_a_call_that_hangs_holds_nobody_up():
    for where in ("start", "load"):
        trace = busy(SIMGPU_NVML_HANG=where).trace
        expect_equal(samples(trace), [])
        expect_equal(len(trace.slices(cat="kernel")), 100, "kernels")


if __name__ == "__main__":
    harness.main()
