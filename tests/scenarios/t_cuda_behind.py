# SPDX-License-Identifier: MIT
"""A GPU that is seconds behind the host: each window has all of its kernels."""

import harness
from harness import command, expect, expect_equal, traced
from t_cuda import FAKE, calls, need, on_gpu

MS = 1000000


def kernels(trace):
    """Those that were launched in the window; others may run in it."""
    launches = calls(trace)
    return [event for event in trace.slices(cat="kernel")
            if event["args"]["correlation"] in launches]


def behind(*command, **env):
    """A run that ends well, and with nothing missing."""
    run = on_gpu(*command, program="cuda_behind", **env)
    expect_equal(run.status, 0, run.stderr)
    expect("no kernel" not in run.stderr, run.stderr)
    for trace in run.traces:
        expect_equal(trace.meta["gpu"]["missing_kernels"], 0, trace.path)
    return run


def test_windows_of_an_asynchronous_loop():
    """120 steps in half a second on the host, in six seconds on the GPU, and the
    program goes on launching while a window's work is still to come."""
    run = behind(120, 5, 0, 4000, 8000, SIMGPU_KERNEL_NS=10 * MS,
                 TRACEPROF_WAIT=5, TRACEPROF_ACTIVE=3, TRACEPROF_REPEAT=3)
    expect_equal([len(kernels(trace)) for trace in run.traces], [15, 15, 15],
                 run.stderr)


def test_graph_of_many_nodes():
    run = behind(40, 1, 400, 20000, 6000, SIMGPU_KERNEL_NS=MS // 4,
                 TRACEPROF_WAIT=2, TRACEPROF_ACTIVE=2, TRACEPROF_REPEAT=1)
    expect_equal([len(kernels(trace)) for trace in run.traces], [800],
                 run.stderr)


def test_far_behind():
    run = behind(12, 50, 0, 1000, 6000, SIMGPU_KERNEL_NS=5 * MS,
                 SIMGPU_LATENCY_NS=3000 * MS, TRACEPROF_WAIT=1,
                 TRACEPROF_ACTIVE=10, TRACEPROF_REPEAT=1)
    expect_equal([len(kernels(trace)) for trace in run.traces], [500],
                 run.stderr)


def test_nothing_is_withheld():
    """The same where CUPTI gives each record when it is done."""
    run = behind(12, 50, 0, 1000, 6000, SIMGPU_KERNEL_NS=5 * MS,
                 SIMGPU_LATENCY_NS=3000 * MS, TRACEPROF_WAIT=1,
                 TRACEPROF_ACTIVE=10, TRACEPROF_REPEAT=1, SIMGPU_WITHHOLD=0)
    expect_equal([len(kernels(trace)) for trace in run.traces], [500],
                 run.stderr)
    run = behind(40, 1, 400, 20000, 6000, SIMGPU_KERNEL_NS=MS // 4,
                 TRACEPROF_WAIT=2, TRACEPROF_ACTIVE=2, TRACEPROF_REPEAT=1,
                 SIMGPU_WITHHOLD=0)
    expect_equal([len(kernels(trace)) for trace in run.traces], [800],
                 run.stderr)


def test_what_does_not_come_in_time_is_said():
    """An hour of kernel: nothing of the window is there, and everybody says so."""
    need("cuda_behind")
    run = traced("cuda_behind", "12", "5", "0", "1000", "4000", check=False, env={
        "LD_LIBRARY_PATH": FAKE, "SIMGPU_KERNEL_NS": str(3600 * 1000 * MS),
        "TRACEPROF_WAIT": "1", "TRACEPROF_ACTIVE": "2", "TRACEPROF_REPEAT": "1",
        "TRACEPROF_GPU_WAIT_MS": "1000"})
    expect_equal(kernels(run.trace), [])
    expect_equal((run.trace.meta["gpu"]["launched_kernels"],
                  run.trace.meta["gpu"]["missing_kernels"]), (10, 10))
    expect("10 launches of kernels have no kernel in the trace" in run.stderr,
           run.stderr)
    said = command("check", run.trace.path)
    expect_equal(said.status, 1)
    expect("10 launches of kernels, and no kernel [rule 28]"
           in said.stdout + said.stderr, said.stdout + said.stderr)
    said = command("report", run.trace.path)
    expect("of 10 launches of kernels 10 have no kernel" in said.stdout,
           said.stdout)


if __name__ == "__main__":
    harness.main()
