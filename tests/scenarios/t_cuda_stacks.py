# SPDX-License-Identifier: MIT
"""Who called CUDA, with CUPTI in between; and who holds a GPU's memory."""

import collections
import json
import os
import re

import harness
from harness import command, expect, expect_equal
from t_cuda import killed, on_gpu
from t_memory import line_of

CUDA = {"TRACEPROF_STACK": "cuda"}
STEPS = 30


def record(mode="plain", steps=STEPS, **env):
    run = on_gpu(mode, steps, program="cuda_sites", **CUDA, **env)
    expect_equal(run.status, 0, run.stderr)
    return run


def called(trace):
    """[(name, functions)] of each call of CUDA that tells its stack."""
    texts = {}
    for event in trace.events:
        text = event.get("args", {}).get("Call stack")
        if text:
            texts[event["args"]["stack"]] = [
                frame.split(": ", 1)[1] for frame in text.split(";")]
    return [(event["name"], texts[event["args"]["stack"]])
            for event in trace.events if "stack" in event.get("args", {})]


def test_calls_name_their_callers():
    trace = record().trace
    callers = collections.Counter((name, *functions[:2])
                                  for name, functions in called(trace))
    for name, *functions, count in (
            ("cudaMalloc", "make_tensor", "train_step", STEPS),
            ("cudaMallocAsync", "make_pooled", "train_step", STEPS),
            ("cudaHostAlloc", "make_batch", "load_batch", STEPS),
            ("cudaFree", "train_step", "main", STEPS),
            ("cudaMemcpy", "load_batch", "train_step", STEPS),
            ("cudaDeviceSynchronize", "wait_for_loss", "train_step", STEPS),
            ("cudaDeviceSynchronize", "wait_needlessly", "train_step", STEPS)):
        expect_equal(callers[(name, *functions)], count, f"{name} {callers}")
    expect_equal(trace.meta["gpu"]["calls_without_stack"], 0)


def test_launches_of_a_trainer():
    run = on_gpu(4, 2, **CUDA)
    expect("calls missed" not in run.stderr, run.stderr)
    launches = [functions for name, functions in called(run.trace)
                if name == "cudaLaunchKernel"]
    expect_equal(len(launches), len(run.trace.slices("cudaLaunchKernel")))
    # The function that nvcc makes for a kernel, and who wrote <<<>>>.
    expect(all("forward" in names[0] or "backward" in names[0]
               or "update" in names[0] for names in launches), launches)
    expect(all("train" in "".join(names[1:4]) for names in launches), launches)
    expect_equal(run.trace.meta["gpu"]["calls_without_stack"], 0)


def test_off_takes_none():
    trace = on_gpu("plain", 3, program="cuda_sites").trace
    expect_equal(called(trace), [])
    expect("calls_without_stack" not in trace.meta["gpu"], trace.meta["gpu"])


def test_stacks_in_windows_alone():
    run = record(steps=9, TRACEPROF_STEP="mark", TRACEPROF_WAIT=2,
                 TRACEPROF_ACTIVE=2, TRACEPROF_REPEAT=2)
    expect_equal(len(run.traces), 2, run.stderr)
    for trace in run.traces:
        expect_equal(len([1 for name, _ in called(trace)
                          if name == "cudaDeviceSynchronize"]), 4)
        expect_equal(trace.meta["gpu"]["calls_without_stack"], 0)


def test_steps_by_a_call_go_on():
    """The callbacks for stacks begin no step."""
    run = record(steps=6, TRACEPROF_STEP="cuda:cudaMallocAsync")
    expect_equal(len(run.trace.steps()), 6, run.stderr)
    run = on_gpu(6, 3, **CUDA, TRACEPROF_STEP="kernel:*update*")
    expect_equal(run.trace.steps(), list(range(6)), run.stderr)


def test_stacks_survive_a_kill():
    """With two devices: each kernel has its launch, and that who made it."""
    trace = killed(lambda text: text.count(b'"cat":"kernel"') > 1000,
                   "cuda_behind", 100000, 20, 0, 2000, 0, 2, SIMGPU_DEVICES="2", **CUDA)
    expect_equal(command("check", trace.path).status, 0)
    launches = {call["args"]["correlation"]: call["args"]
                for call in trace.slices("cudaLaunchKernel")}
    kernels = trace.slices(cat="kernel")
    expect_equal({kernel["pid"] for kernel in kernels}, {0, 1})
    expect(len(kernels) > 50, len(kernels))
    said = {event["args"]["stack"] for event in trace.events
            if "Call stack" in event.get("args", {})}
    for number in {kernel["args"]["correlation"] for kernel in kernels} & set(launches):
        expect(launches[number].get("stack") in said, launches[number])


def test_which_line_waits_for_the_gpu():
    path = record().files[0]
    done = command("symbolize", path)
    expect_equal(done.status, 0, done.stderr)
    done = command("report", "--by", "site", "--top", "0", path)
    expect_equal(done.status, 0, done.stderr)
    for function in ("wait_needlessly", "wait_for_loss"):
        line = line_of(function, "cuda.wait(", "cuda_sites.c")
        expect(re.search(rf"(?m)^ +{STEPS} .*cudaDeviceSynchronize at "
                         rf".*cuda_sites.c\({line}\): {function}$", done.stdout),
               done.stdout)


def memories(path, *options):
    done = command("memory", "--json", *options, path)
    expect_equal((done.status, done.stderr), (0, ""))
    return {one["memory"]: one for one in json.loads(done.stdout)[0]["memories"]}


def planted(mode, which, function, keeper):
    """The one place that grows, by 1 MB a step, with file and line."""
    found = memories(record(mode, 60).files[0])
    places = [place for place in found[which]["places"] if place.get("growth")]
    expect_equal(len(places), 1, places)
    stack = places[0]["stack"]
    expect_equal([frame["function"] for frame in stack[:3]],
                 [function, keeper, "main"])
    expect(1000000 <= places[0]["growth"] <= 1100000, places[0])
    expect_equal((os.path.basename(stack[0]["file"]), stack[0]["line"]),
                 ("cuda_sites.c", line_of(function, "check(cuda.", "cuda_sites.c")))
    for other, memory in found.items():
        if other != which:
            expect(not any(place.get("growth") for place in memory["places"]), other)


def test_device_leak_is_named_with_file_and_line():
    planted("leak", "GPU 0", "make_tensor", "keep_tensor")


def test_leak_in_a_pool_is_named():
    planted("pool", "GPU 0", "make_pooled", "keep_pooled")


def test_heap_that_grows_by_a_step_of_kernels():
    """The step is found when the heap's calls were put to their accounts."""
    run = on_gpu("steps=60", "keep=500", "ms=5", program="cuda_loop",
                 TRACEPROF_STACK="heap", TRACEPROF_MALLOC="sites")
    done = command("memory", "--json", "--top", "0", run.files[0])
    heap = json.loads(done.stdout)[0]["memories"][0]
    growth = heap["growth"]
    expect_equal((growth["for_each"], growth["grows"]), ("step", True), growth)
    place, = [place for place in heap["places"] if place.get("growth", 0) > 100000]
    expect("keep_some" in [frame["function"] for frame in place["stack"]], place)


def test_pinned_leak_is_named():
    planted("pinned", "pinned memory", "make_batch", "keep_batch")


if __name__ == "__main__":
    harness.main()
