# SPDX-License-Identifier: MIT
"""What a program may do to CUDA in the middle of launches, without and with us."""

import os

import harness
from harness import (BUILD, command, expect, expect_equal, expect_no_session, plain,
                     traced)
from t_cuda import FAKE, need

GPU = {"LD_LIBRARY_PATH": FAKE, "SIMGPU_KERNEL_NS": "20000"}
WINDOWS = {"TRACEPROF_WAIT": "1", "TRACEPROF_ACTIVE": "1", "TRACEPROF_REPEAT": "0",
           "TRACEPROF_GPU_WAIT_MS": "500"}


def attack(*words, check=True, **env):
    """As it runs without us: status and output are the same."""
    need("cuda_attack")
    wanted = plain("cuda_attack", *words, env=GPU | env)
    run = traced("cuda_attack", *words, env=GPU | env, check=False)
    expect_equal((run.status, run.stdout), (wanted.status, wanted.stdout), run.stderr)
    if check:
        expect_good(run)
        expect_no_session(run)
    return run


def expect_good(run):
    """Threads that launch all the time are ahead of the GPU, and of us where they have
    the processors: a window may have launches alone, which is a fault of the file
    that is said, or lack some kernels, which is a warning."""
    faults = [line for line in command("check", *run.files).stdout.splitlines()
              if "[rule" in line]
    for line in faults:
        expect("no kernel [rule 28]" in line or "lack kernels [rule 30]" in line,
               *faults[:20])
    expect(not faults or "lack kernels in the trace" in run.stderr
           or "records LOST" in run.stderr, run.stderr, *faults)


def expect_all(run, cut=0):
    """Each launch is known, and is missing only if that is said.  `cut`: threads that
    the end may have found between a driver's call and the one around it."""
    gpu = run.trace.meta["gpu"]
    kernels = len(run.trace.slices(cat="kernel"))
    expect_equal(gpu["launched_kernels"] - gpu["missing_kernels"], kernels, gpu)
    expect(kernels > 0, gpu)
    # However many threads there have been, the driver's calls are inside others.
    expect(len(run.trace.slices("cuLaunchKernel")) <= cut, "driver calls")


def test_each_way_to_end():
    for how in ("return", "exit", "quick_exit"):
        expect_all(attack(how), cut=4)


def test_ends_that_nobody_sees():
    for how in ("_exit", "throw", "abort", "segv", "term"):
        run = attack(how, check=False)
        done = command("recover", run.folder)
        expect_equal(done.status, 0, done.stderr)
        expect(run.files, how)
        expect_no_session(run)


def test_many_threads_while_windows_open_and_close():
    # All comes that was launched, if one waits for it.
    run = attack("storm", 15, 64, **WINDOWS | {"TRACEPROF_GPU_WAIT_MS": "60000",
                                               "TRACEPROF_EXIT_MS": "60000"})
    expect(len(run.files) > 2, run.files)
    expect_all(attack("storm", 15, 64))


def test_devices_that_are_reset_under_load():
    # A reset waits for what was launched: a slow GPU would never come to its end.
    attack("reset", SIMGPU_KERNEL_NS="1")
    attack("reset", 40, 8, SIMGPU_KERNEL_NS="1", **WINDOWS)


def test_forks_of_a_program_that_launches():
    attack("fork")
    attack("fork", 30, 8, **WINDOWS)


def test_forks_and_windows_while_cuda_starts():
    """We attach on the thread that is inside of cuInit(): others wait there as they
    do without us, children end, and what is launched after that is recorded.  Each
    call of CUPTI's takes 10 ms, so that the attaching itself is met."""
    for env in ({"SIMGPU_CALL_NS": "10000000"}, {"SIMGPU_INIT_NS": "300000000"}):
        run = attack("start", 0, 4, **env)
        # A child that was forked before starts CUDA by itself, and has a trace.
        trace = max(run.traces, key=lambda one: one.meta["gpu"]["launched_kernels"])
        gpu = trace.meta["gpu"]
        expect_equal((gpu["launched_kernels"], gpu["missing_kernels"]), (80, 0), gpu)
        expect_equal(len(trace.slices(cat="kernel")), 80, gpu)
        # A window that opens there waits for nobody but our own thread.
        attack("start", 0, 4, check=False, **WINDOWS, **env)


def test_cuda_starts_in_a_constructor():
    """Inside of dlopen(): windows open there, stacks are taken, and all is there."""
    need("late_load")
    library = os.path.join(BUILD, "tests/programs/lib/libcuda_start.so")
    for settings, launches in (({"TRACEPROF_STACK": "cuda"}, [40]),
                               ({"TRACEPROF_WAIT": "5", "TRACEPROF_ACTIVE": "3",
                                 "TRACEPROF_REPEAT": "3"}, [3, 3, 3])):
        run = traced("late_load", library, env=GPU | settings)
        expect_equal((run.status, run.stdout), (0, "late 40\n"), run.stderr)
        gpus = [trace.meta["gpu"] for trace in run.traces]
        expect_equal([gpu["launched_kernels"] for gpu in gpus], launches, gpus)
        expect_equal([gpu["missing_kernels"] for gpu in gpus], [0] * len(gpus), gpus)


def test_what_is_no_point_of_cancellation_stays_none():
    """A thread that is to be cancelled makes the first call: CUPTI is loaded, the
    session is made, on its way."""
    run = attack("cancel", 0, 3)
    expect("cut" not in run.stdout, run.stdout)
    attack("cancel", 0, 3, TRACEPROF_STACK="cuda")


def test_libraries_that_come_and_go():
    attack("load")
    attack("unload")
    attack("unload", 30, **WINDOWS)


if __name__ == "__main__":
    harness.main()
