# SPDX-License-Identifier: MIT
"""Programs that change what they run on a GPU from step to step: what they say
that they launched is what is recorded, by kind and window."""

import collections
import re

import harness
from harness import expect, expect_equal
from t_cuda import calls, on_gpu

WINDOWS = {"TRACEPROF_WAIT": "1", "TRACEPROF_ACTIVE": "2", "TRACEPROF_REPEAT": "0"}
WHOLE = {}
SORTS = {"kernel": "kernel", "copy": "gpu_memcpy", "set": "gpu_memset"}


def said(run):
    """{step: {sort: how many}}"""
    return {int(line.split()[1]): {sort: int(count) for sort, count
                                   in re.findall(r" (\w+) (\d+)", line[6:])}
            for line in run.stdout.splitlines() if line.startswith("step ")}


def seen(trace):
    """How many pieces of work of each sort, and calls, were launched in it."""
    launches = calls(trace)
    counts = collections.Counter(
        event["cat"] for category in SORTS.values()
        for event in trace.slices(cat=category)
        if event["args"]["correlation"] in launches)
    return counts + collections.Counter(event["name"] for event in launches.values()
                                        if not event["args"].get("result"))


def turned(program, *words, sorts=("kernel", "gpu_memcpy", "gpu_memset"), unsized=False,
           **env):
    """A run in which each window has what was launched in its steps, no more."""
    run = on_gpu(*words, program=program, **{"SIMGPU_KERNEL_NS": 200000} | env)
    expect_equal(run.status, 0, run.stderr)
    expect("lack kernels" not in run.stderr, run.stderr)
    steps, used = said(run), []
    for trace in run.traces:
        gpu = trace.meta["gpu"]
        # The last one of a whole run ends with the run.
        numbers = trace.steps()
        used += numbers
        wanted = sum((collections.Counter(steps[number]) for number in numbers),
                     collections.Counter())
        found = seen(trace)
        expect_equal({sort: found[sort] for sort in sorts},
                     {sort: wanted[sort] for sort in sorts}, (trace.path, gpu))
        expect_equal((gpu["missing_kernels"], gpu["partial_graphs"],
                      gpu["unlinked"], gpu["lost_buffers"]), (0, 0, 0, 0), gpu)
        expect(unsized or not gpu["unsized_graphs"], gpu)
    if env.get("TRACEPROF_ACTIVE"):
        expect(len(run.files) > 2, run.files)
    else:
        expect_equal(used, sorted(steps))
    return run


def test_graphs_that_change_and_have_nodes_off_or_no_kernel():
    sorts = ("kernel", "gpu_memset", "cudaGraphLaunch", "cudaLaunchKernel")
    for way in (WHOLE, WINDOWS):
        turned("graph_turns", sorts=sorts, unsized=True, **way)


def test_libraries_of_kernels_are_unloaded_while_they_run():
    """By two threads on two devices, in contexts that end; each kernel has the name
    of the library that it was of."""
    # The last but one: twenty streams of a device go on at once when their windows end.
    for way in (WHOLE, WINDOWS, WINDOWS | {"SIMGPU_KERNEL_NS": 20000000},
                WINDOWS | {"SIMGPU_VERSION": 130500}):
        run = turned("library_turns", 24, SIMGPU_DEVICES=2, **way)
        for trace in run.traces:
            for name, count in collections.Counter(
                    kernel["name"] for kernel in trace.slices(cat="kernel")
                    if kernel["args"]["correlation"] in calls(trace)).items():
                expect(re.fullmatch(r"turn_[01]_\d+", name), name)
                expect_equal(count, 3, name)
            expect_equal({kernel["args"]["device"]
                          for kernel in trace.slices(cat="kernel")}, {0, 1})


def test_pools_hosts_forks_and_resets():
    for way in (WHOLE, WINDOWS):
        run = turned("pool_turns", 18, 4, **way)
        for trace in run.traces:
            wanted = [said(run)[number] for number in trace.steps()]
            expect_equal(seen(trace)["cudaMallocAsync"],
                         sum(step["alloc"] for step in wanted))
            expect_equal(seen(trace)["cudaLaunchHostFunc"],
                         sum(step["host"] for step in wanted))


if __name__ == "__main__":
    harness.main()
