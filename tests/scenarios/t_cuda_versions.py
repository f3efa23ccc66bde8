# SPDX-License-Identifier: MIT
"""What is known to be wrong with which CUPTI, and what comes of it: each row of
preload/cuda/cupti_versions.h on a simulated CUPTI that has the defect."""

import harness
from harness import command, expect, expect_equal, program, traced
from t_cuda import FAKE, STEPS, THREADS, expect_whole, need, on_gpu, train


def told(version, **env):
    run = on_gpu(STEPS, THREADS, SIMGPU_VERSION=version, TRACEPROF_VERBOSE=1, **env)
    return [line.removeprefix("traceprof: ") for line in run.own_lines
            if "CUPTI" in line]


def test_rows_are_told_where_asked():
    lines = told(24)
    expect_equal(lines[0], "CUPTI 12.6 (24)")
    for words in ("buffers for each thread race with a flush: all threads share",
                  "some times are 0: records have CUPTI's clock",
                  "disabling kernels may hang: kinds stay on"):
        expect(any(words in line for line in lines), (words, lines))
    lines = told(130001)
    expect_equal(lines[0], "CUPTI 13.0 U1 (130001)")
    expect(not any("may hang" in line or "race" in line for line in lines), lines)
    expect_equal(told(130401), ["CUPTI 13.4 U1 (130401)"])
    run = on_gpu(STEPS, THREADS)
    expect("CUPTI 13" not in run.stderr, run.stderr)


def test_rows_are_told_by_record():
    need("cuda_train")
    run = command("record", "--verbose=1", "--dir=" + harness.folder(),
                  program("cuda_train"), "2", "1", env={"LD_LIBRARY_PATH": FAKE})
    expect("traceprof: CUPTI 13.0 U1 (130001)" in run.stderr, run.stderr)


def test_no_time_is_lost_where_a_clock_of_ours_costs_some():
    """12.6 to 13.0: each 20th record would have none."""
    for version in (24, 25, 28, 130000, 130001):
        trace = train(SIMGPU_VERSION=version)
        expect_equal(trace.meta["gpu"]["without_time"], 0, version)
        expect_whole(trace)


def test_both_clocks_give_the_same():
    """Where CUPTI's clock is converted, and where it asks ours."""
    for version in (130001, 130100):
        trace = train(SIMGPU_VERSION=version, SIMGPU_KERNEL_NS=2000000)
        expect_equal(trace.meta["gpu"]["moved_to_launch"], 0, version)
        expect_whole(trace)
        kernels = trace.slices(cat="kernel")
        expect(all(1999 < kernel["dur"] < 2020 for kernel in kernels),
               [kernel["dur"] for kernel in kernels])


def test_threads_share_a_buffer_where_theirs_race():
    for version in (21, 24):
        expect_whole(train(SIMGPU_VERSION=version, SIMGPU_COMPLETE_ON="flusher"))


def test_kernels_that_some_versions_do_not_record():
    """12.4: said after a hundred launches, not a thousand."""
    def lines(version):
        run = traced("cuda_train", "60", "2", check=False, env={
            "LD_LIBRARY_PATH": FAKE, "SIMGPU_NO_KERNELS": "1",
            "SIMGPU_VERSION": str(version)})
        return [line for line in run.own_lines
                if "no record of the kernels" in line]

    expect_equal(len(lines(22)), 1)
    expect_equal(lines(130001), [])


if __name__ == "__main__":
    harness.main()
