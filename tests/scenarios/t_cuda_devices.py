# SPDX-License-Identifier: MIT
"""Several GPUs, hidden ones, contexts that go and come, on the simulated GPU."""

import collections

import harness
from harness import expect, expect_equal
from t_cuda import STEPS, THREADS, calls, expect_whole, on_gpu, train


def run_on(devices, **env):
    run = on_gpu(24, 2, 0, 2000, 0, devices, program="cuda_behind",
                 SIMGPU_DEVICES=max(devices, 1), **env)
    expect_equal(run.status, 0, run.stderr)
    trace = run.trace
    kernels = trace.slices(cat="kernel")
    expect_equal(len(kernels), 48, run.stderr)
    launches = calls(trace)
    expect(all(kernel["args"]["correlation"] in launches for kernel in kernels),
           "each kernel has its call")
    expect_equal(trace.meta["gpu"]["missing_kernels"], 0, run.stderr)
    return trace


def test_several_devices():
    """Each kernel stands under its device, and each device is described."""
    trace = run_on(3)
    count = collections.Counter(k["pid"] for k in trace.slices(cat="kernel"))
    expect_equal(count, {0: 16, 1: 16, 2: 16})
    expect_equal([device["id"] for device in trace.top["deviceProperties"]],
                 [0, 1, 2])


def test_contexts_that_go_and_come():
    """Each device is reset once: kernels have two contexts there, of which none
    is another device's."""
    trace = run_on(2)
    contexts = collections.defaultdict(set)
    for kernel in trace.slices(cat="kernel"):
        contexts[kernel["pid"]].add(kernel["args"]["context"])
    expect_equal([len(contexts[device]) for device in (0, 1)], [2, 2], contexts)
    expect(not contexts[0] & contexts[1], contexts)


def test_hidden_devices_are_no_others():
    trace = run_on(2, SIMGPU_HIDDEN_DEVICES=2)
    names = [device["name"] for device in trace.top["deviceProperties"]]
    expect_equal(names, ["Simulated GPU"] * 2)


def test_devices_that_are_never_described():
    """Kernels wait for the description for a while, and are drawn without it."""
    trace = train(SIMGPU_DEVICE_RECORDS=0)
    expect_whole(trace)
    expect_equal(len(trace.slices(cat="kernel")), 3 * STEPS * THREADS)


def test_a_device_that_is_described_late():
    """The kernels before that wait for what a multiprocessor can hold of them."""
    run = on_gpu(60, 1, 0, 20000, 0, program="cuda_behind", SIMGPU_DEVICE_RECORDS="late")
    expect_equal(run.status, 0, run.stderr)
    kernels = run.trace.slices(cat="kernel")
    expect_equal(len(kernels), 60, run.stderr)
    bare = [kernel for kernel in kernels if "blocks per SM" not in kernel["args"]]
    expect_equal(bare, [], "without limits")


if __name__ == "__main__":
    harness.main()
