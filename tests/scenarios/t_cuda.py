# SPDX-License-Identifier: MIT
"""What the library makes of a GPU, on the simulated one (tests/fake_gpu)."""

import collections
import os
import subprocess
import zlib

import harness
from harness import BUILD, Skip, command, expect, expect_equal, traced
from t_top import wait_for

FAKE = os.path.join(BUILD, "fake-gpu")
STEPS, THREADS = 4, 2
WORK = ("kernel", "gpu_memcpy", "gpu_memset")


def need(program):
    if not os.path.exists(os.path.join(FAKE, "libcupti.so.13")):
        raise Skip(harness.not_built("the double", "CUDA headers"))
    if not os.path.exists(os.path.join(BUILD, "tests", "programs", program)):
        raise Skip(harness.not_built(program, "nvcc"))


def on_gpu(*command, program="cuda_train", **env):
    """A run of a program on the simulated GPU, with SIMGPU_ and TRACEPROF_
    settings."""
    need(program)
    settings = {"LD_LIBRARY_PATH": FAKE}
    for key, value in env.items():
        settings[key] = str(value)
    return traced(program, *map(str, command), env=settings)


def train(**env):
    run = on_gpu(STEPS, THREADS, **env)
    expect_equal(run.status, 0, run.stderr)
    return run.trace


def work(trace):
    return [event for category in WORK for event in trace.slices(cat=category)]


def calls(trace):
    found = trace.slices(cat="cuda_runtime") + trace.slices(cat="cuda_driver")
    return {event["args"]["correlation"]: event for event in found}


def arrows(trace, phase):
    return collections.Counter(event["id"] for event in trace.events
                               if event["ph"] == phase)


def expect_whole(trace):
    """All that a run of the trainer does is there, and hangs together."""
    counts = collections.Counter(event["cat"] for event in work(trace))
    expect_equal(counts["kernel"], 3 * STEPS * THREADS, "kernels")
    expect_equal(counts["gpu_memset"], (STEPS + 2) * THREADS, "memsets")
    expect_equal(counts["gpu_memcpy"], (2 * STEPS + 2) * THREADS, "copies")
    launches, begins, ends = calls(trace), arrows(trace, "s"), arrows(trace, "f")
    for event in work(trace):
        number = event["args"]["correlation"]
        expect(number in launches, f"no call of {event}")
        expect(event["ts"] >= launches[number]["ts"], f"before its call: {event}")
        expect_equal((begins[number], ends[number] > 0), (1, True),
                     f"arrows of {event}")
    names = collections.Counter(event["name"] for event in trace.slices(cat="kernel"))
    expect_equal(names, {
        "forward(float const*, float const*, float*)": STEPS * THREADS,
        "backward(float const*, float const*, float*)": STEPS * THREADS,
        "update(float*, float const*, float)": STEPS * THREADS}, "names")


def test_trainer():
    trace = train()
    expect_whole(trace)
    # The trainer's threads have ended by the time that they are drawn.
    lanes = [event["args"]["name"] for event in trace.events
             if event["name"] == "thread_name"]
    expect(not [name for name in lanes if "()" in name], lanes)
    gpu, device = trace.meta["gpu"], trace.top["deviceProperties"][0]
    expect_equal(gpu["source"], "cupti")
    expect_equal(trace.top["cupti_version"], 130001)
    expect_equal((device["name"], device["numSms"], device["computeMajor"]),
                 ("Simulated GPU", 132, 9))
    expect_equal((gpu["unlinked"], gpu["unknown_records"], gpu["lost_buffers"]),
                 (0, 0, 0))
    kernel = trace.slices("forward*", cat="kernel")[0]
    expect_equal((kernel["args"]["grid"], kernel["args"]["block"]),
                 ([4, 1, 1], [128, 1, 1]))
    expect_equal(round(kernel["args"]["blocks per SM"] * 132), 4)
    copy = trace.slices("Memcpy HtoD (Pinned -> Device)")[0]
    expect_equal(copy["args"]["bytes"], 524288)
    expect(abs(copy["args"]["memory bandwidth (GB/s)"] * copy["dur"] * 1000
               - 524288) < 1000, copy)
    expect_equal({event["args"]["name"] for event in trace.events
                  if event["name"] == "process_name" and event["pid"] == 0},
                 {"cuda_train GPU 0"})
    expect(trace.slices("Lazy Function Loading", cat="overhead"), "no overhead")


def test_waits_lie_on_lanes_of_their_own():
    trace = train()
    waits = trace.slices("Stream Sync", cat="cuda_sync")
    expect_equal(len(waits), STEPS * THREADS, "waits for a stream")
    for wait in waits:
        expect_equal(wait["tid"], wait["args"]["stream"] + 1000000)
    expect(trace.slices("Context Sync"), "no wait for the device")
    expect(trace.slices("Stream Wait Event"), "no wait for an event")


def test_device_memory():
    blocks = [event for event in train().memory()
              if event["args"]["Device Type"] == 1]
    expect(blocks, "nothing allocated")
    total = 0
    for event in blocks:
        total += event["args"]["Bytes"]
        expect_equal((event["args"]["Total Allocated"], event["args"]["Device Id"]),
                     (total, 0))
    expect_equal(total, 0, "what stays")


def test_pinned_memory_is_a_kind_of_its_own():
    """Once each, also where the runtime's call shows the driver's inside."""
    for inner in (0, 1):
        run = on_gpu(program="pinned", SIMGPU_DUP_DRIVER=inner)
        expect_equal((run.status, run.stdout), (0, "done\n"), run.stderr)
        blocks = [event for event in run.trace.events
                  if event["name"] == "[memory] pinned"]
        total = 0
        sizes = []
        for event in sorted(blocks, key=lambda event: event["ts"]):
            total += event["args"]["Bytes"]
            sizes.append(event["args"]["Bytes"] >> 20)
            expect_equal((event["args"]["Total Allocated"], event["args"]["Device Type"],
                          event["args"]["Device Id"]), (total, 0, -1), event)
        expect_equal(sizes, [1, 2, 3, 4, 2, -2, 1, -1, -2, -3, -4, -1], "blocks")
        expect_equal([event["args"]["live_bytes"] for event in run.trace.events
                      if event["name"] == "pinned memory"][-1], 0, "counter")
        expect(not [event for event in run.trace.memory()
                    if event["args"]["Device Type"] == 1
                    and abs(event["args"]["Bytes"]) != 1 << 20], "counted as the GPU's")
        said = command("report", run.files[0]).stdout
        expect("Pinned host memory: 6 blocks of 13.00 MiB, 6 frees of 13.00 MiB, "
               "highest total 12.00 MiB" in said, said)


def test_older_cupti():
    for version in (20, 24, 28):
        trace = train(SIMGPU_VERSION=version)
        expect_whole(trace)
        expect_equal(trace.top["cupti_version"], version)


def test_buffers_in_any_way():
    for knob in ({"PER_THREAD": 0}, {"PER_THREAD": 1}, {"OOO": 1},
                 {"NAME_REUSE": 1}, {"COMPLETE_ON": "flusher"},
                 {"COMPLETE_ON": "app"}):
        expect_whole(train(**{f"SIMGPU_{key}": value
                              for key, value in knob.items()}))


def test_ids_that_wrap():
    trace = train(SIMGPU_WRAP_CORR=1)
    expect_whole(trace)
    numbers = sorted(calls(trace))
    expect(numbers[-1] > 0xfffffff0, f"{numbers[0]} to {numbers[-1]}")
    expect_equal(len(numbers), len(trace.slices(cat="cuda_runtime")), "ids used once")


def test_one_slice_for_one_call():
    trace = train(SIMGPU_DUP_DRIVER=1)
    expect_whole(trace)
    expect(trace.meta["gpu"]["doubled_calls"] > STEPS, trace.meta["gpu"])
    expect_equal(trace.slices(cat="cuda_driver"), [])


def test_skew_is_told():
    trace = train(SIMGPU_SKEW_NS=-50000)
    expect_whole(trace)
    gpu = trace.meta["gpu"]
    expect(gpu["moved_to_launch"] > STEPS, gpu)
    expect(0 < gpu["moved_most_ns"] <= 50000, gpu)
    # As long as the double's shortest kernel, but for what rounding takes.
    short = [event for event in trace.slices(cat="kernel") if event["dur"] < 4.9]
    expect_equal(short, [], "kernels that were shortened")
    expect_equal(train().meta["gpu"]["moved_to_launch"], 0, "without skew")


def test_overlap_goes_to_a_side_lane():
    # Long ones, so that the next is launched before the end on any machine.
    overlapping = train(SIMGPU_OVERLAP=1, SIMGPU_KERNEL_NS=3000000)
    sides = [event for event in overlapping.slices(cat="kernel")
             if event["tid"] >= 2000000]
    expect(sides, "no side lane")
    for event in sides:
        expect_equal(event["tid"] % 2000000, event["args"]["stream"])
    expect_equal([event for event in train().slices(cat="kernel")
                  if event["tid"] >= 2000000], [], "without overlap")


def test_dropped_records_are_counted():
    run = on_gpu(STEPS, THREADS, SIMGPU_DROP=3)
    trace = run.trace
    missing = 3 * STEPS * THREADS - len(trace.slices(cat="kernel"))
    expect(missing > 0, "none dropped")
    dropped = trace.meta["gpu"]["dropped_records"]
    expect(dropped >= missing, trace.meta["gpu"])
    expect(f"{dropped} records of the GPU LOST" in run.stderr, run.stderr)
    expect_equal(train().meta["gpu"]["dropped_records"], 0, "otherwise")


def test_records_without_time():
    run = on_gpu(STEPS, THREADS, SIMGPU_FORCED_INCOMPLETE=1)
    expect(f"{THREADS} records of the GPU LOST" in run.stderr, run.stderr)
    trace = run.trace
    expect_equal(trace.meta["gpu"]["without_time"], THREADS)
    expect_equal(len(trace.slices(cat="kernel")), 3 * STEPS * THREADS - THREADS)


def test_flush_that_hangs():
    run = on_gpu(STEPS, THREADS, SIMGPU_HANG_FLUSH=1, TRACEPROF_EXIT_MS=1000)
    expect_equal(run.status, 0, run.stderr)
    expect("CUPTI did not hand over" in run.stderr, run.stderr)
    expect("the GPU's last records LOST" in run.stderr, run.stderr)
    expect(run.trace.slices(cat="cuda_runtime"), "nothing at all")


def test_another_profiler_is_there():
    run = on_gpu(STEPS, THREADS, SIMGPU_SUBSCRIBER_TAKEN=1)
    expect_equal(run.status, 0, run.stderr)
    lines = [line for line in run.own_lines if "SomeOtherTool" in line]
    expect_equal(len(lines), 1, run.stderr)
    trace = run.trace
    expect_equal(trace.meta["gpu"]["source"], "calls")
    expect_equal(work(trace), [], "work of the GPU")
    expect_equal(len(trace.slices("cudaStreamSynchronize")), STEPS * THREADS)
    expect(trace.slices("cudaLaunchKernel"), "no launch")
    expect_equal(trace.slices("cudaMemcpyAsync")[0]["args"]["bytes"], 524288)


def test_no_driver():
    run = on_gpu(STEPS, THREADS, SIMGPU_DRIVER="absent")
    expect_equal((run.status, run.files, run.own_lines), (1, [], []))


def test_variable_of_another_tool():
    run = on_gpu(STEPS, THREADS, CUDA_INJECTION64_PATH="/nonexistent.so")
    expect_equal(run.status, 0, run.stderr)
    trace = run.trace
    expect(trace.slices(cat="kernel"), "no kernels")
    expect(any("came late" in note for note in trace.meta["notes"]), trace.meta)
    expect_equal(trace.top["deviceProperties"][0]["name"], "Simulated GPU")


def test_no_arrow_is_left_where_the_detail_ends():
    """The records of work come before those of the calls that launched it."""
    trace = on_gpu(1500, THREADS, TRACEPROF_MAX_MB=1).trace
    expect(trace.meta["detail_ended"] is not None, "all of it fitted")
    linked, known = arrows(trace, "f"), calls(trace)
    expect(len(linked) > 100, f"{len(linked)} arrows")
    expect_equal([number for number in linked if number not in known], [])


def test_off():
    run = on_gpu(STEPS, THREADS, TRACEPROF_CUDA="off")
    expect_equal((run.status, run.files), (0, []))


def test_fatal_error():
    need("cuda_train")
    # What CUPTI had not given back by then is gone: a launch, and no kernel.
    run = traced("cuda_train", str(STEPS), str(THREADS), check=False, env={
        "LD_LIBRARY_PATH": FAKE, "SIMGPU_FATAL_STATE_AFTER": "40"})
    expect_equal(run.status, 0, run.stderr)
    expect(any("fatal" in note for note in run.trace.meta["notes"]), run.trace.meta)
    expect(run.trace.meta["gpu"]["unsettled_ns"] > 0, run.trace.meta["gpu"])


def test_whole_graphs():
    trace = train(TRACEPROF_GRAPHS="graph")
    runs = trace.slices("CUDA graph", cat="kernel")
    launches = trace.slices("cudaGraphLaunch")
    expect_equal(len(runs), len(launches), "runs of a graph")
    expect_equal([event for event in trace.slices(cat="kernel")
                  if event["args"]["graph id"] and event not in runs], [],
                 "their kernels")
    expect(any(event["args"]["graph id"] for event in train().slices("forward*")),
           "by default each kernel is there")


def test_work_belongs_to_its_operation():
    trace = on_gpu(5, program="cuda_scopes").trace
    uploads = trace.slices("upload", cat="user_annotation")
    expect_equal(len(uploads), 5, "scopes")
    for scope in uploads:
        number = scope["args"]["External id"]
        own = [event for event in trace.slices("Memcpy*") + trace.slices("cudaMemcpy*")
               if event["args"].get("External id") == number]
        expect_equal(len(own), 4, f"two calls and two copies of {scope}")
        twin = trace.slices("upload", cat="gpu_user_annotation",
                            **{"External id": number})
        expect_equal(len(twin), 1, f"on the GPU: {scope}")
        copies = [event for event in own if event["cat"] == "gpu_memcpy"]
        expect_equal((twin[0]["ts"], twin[0]["tid"]),
                     (copies[0]["ts"], copies[0]["tid"]))
    whole = trace.slices("run", cat="gpu_user_annotation")
    expect_equal(len(whole), 1, "the scope around all")
    expect_equal(trace.slices("prepare", cat="gpu_user_annotation"), [])
    expect_equal(trace.slices("ProfilerStep*", cat="gpu_user_annotation"), [])


def test_windows():
    run = on_gpu(12, program="cuda_scopes", TRACEPROF_WAIT=1, TRACEPROF_ACTIVE=2,
                 TRACEPROF_REPEAT=3)
    expect_equal(len(run.traces), 3, run.stderr)
    for trace in run.traces:
        expect_equal(len(trace.steps()), 2)
        copies, launches = trace.slices(cat="gpu_memcpy"), calls(trace)
        expect(len(copies) >= 4, f"{len(copies)} copies")
        for event in copies:
            expect(event["args"]["correlation"] in launches, event)


def test_steps_by_a_call():
    run = on_gpu(12, program="cuda_scopes", TRACEPROF_WAIT=2, TRACEPROF_ACTIVE=2,
                 TRACEPROF_REPEAT=2, TRACEPROF_STEP="cuda:cudaStreamSynchronize*")
    expect_equal([trace.steps() for trace in run.traces], [[2, 3], [6, 7]])


def test_steps_by_a_kernel():
    """Of three threads one only captures the kernel into a graph; of the other
    two the first one steps."""
    for knobs in ({}, {"SIMGPU_DUP_DRIVER": 1}):
        trace = on_gpu(6, 3, TRACEPROF_STEP="kernel:*update*", **knobs).trace
        expect_equal(trace.steps(), list(range(6)))
        steps = trace.slices("ProfilerStep#*")
        made = sorted((call for call in calls(trace).values()
                       if call["tid"] == steps[0]["tid"]),
                      key=lambda call: call["ts"])
        for step in steps:
            first = next(call for call in made if call["ts"] >= step["ts"])
            expect_equal(first["name"], "cudaLaunchKernel", "begins the step")


def test_a_captured_launch_is_no_step():
    run = on_gpu(6, 1, TRACEPROF_STEP="kernel:*update*")
    expect_equal((run.trace.steps(), len(run.trace.slices("update*"))), ([], 6))
    run = on_gpu(6, 1, TRACEPROF_STEP="cuda:cudaGraphLaunch*")
    expect_equal(run.trace.steps(), list(range(6)), "launches of the graph")


def test_a_launch_that_fails_is_no_step():
    trace = on_gpu("failures", program="cuda_kinds", TRACEPROF_STEP="kernel:*").trace
    errors = [call["args"].get("error") for call in trace.slices("cudaLaunchKernel")]
    expect_equal((trace.steps(), errors), ([], 2 * ["cudaErrorInvalidConfiguration"]))


def written(folder):
    """What the file that is being written holds by now."""
    text = b""
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        with open(os.path.join(folder, name), "rb") as file:
            rest = file.read()
        while rest:
            member = zlib.decompressobj(31)
            try:
                text += member.decompress(rest)
            except zlib.error:      # its last block is being written
                break
            rest = member.unused_data
    return text


def killed(until, *words, **env):
    """The trace of a program that was killed once its file held that, before it had
    ended by itself."""
    need(program=words[0])
    output = os.path.join(harness.folder(), "out")
    process = subprocess.Popen(
        [harness.program(words[0]), *(str(word) for word in words[1:])],
        env=harness.clean_environment() | {
            "LD_PRELOAD": harness.LIBRARY, "LD_LIBRARY_PATH": FAKE,
            "TRACEPROF_DIR": output} | env, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: process.poll() is not None or until(written(output)))
        expect(process.poll() is None, "it has ended, and until then that was not there")
    finally:
        process.kill()
        process.wait()
    expect_equal(command("recover", output).status, 0)
    return harness.Trace(os.path.join(output, os.listdir(output)[0]))


def test_killed():
    trace = killed(lambda text: text.count(b"gpu_memcpy") > 100,
                   "cuda_scopes", 1000000)
    copies, launches = trace.slices(cat="gpu_memcpy"), calls(trace)
    expect(len(copies) > 50, f"{len(copies)} copies")
    numbers = [event["args"]["correlation"] for event in copies]
    expect_equal(len(numbers), len(set(numbers)), "copies drawn once")
    # The last calls may not have been handed over.
    missing = [number for number in numbers if number not in launches]
    expect(len(missing) < len(numbers) / 4, f"{len(missing)} copies without a call")


if __name__ == "__main__":
    harness.main()
