# SPDX-License-Identifier: MIT
"""What is known to be wrong with which CUPTI, and what comes of it: each row of
collector/system/cupti_versions.h on a simulated CUPTI that has the defect."""

import concurrent.futures

import harness
from harness import command, expect, expect_equal, program, traced
from t_cuda import (FAKE, STEPS, THREADS, calls, expect_whole, need, on_gpu,
                    train)


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
    lines = told(130401)
    expect_equal(lines[0], "CUPTI 13.4 U1 (130401)")
    # Nobody knows of a version without these.
    expect_equal([line.partition(":")[2] for line in lines[1:]],
                 [" after a disabling kernels were in an earlier window: kinds stay on "
                  "until the last window",
                  " kernels loaded where others were have those names: from the first "
                  "unloading on they are those of launches"])
    run = on_gpu(STEPS, THREADS)
    expect("CUPTI 13" not in run.stderr, run.stderr)


def test_rows_are_told_by_record():
    need("cuda_train")
    run = command("record", "--verbose=1", "--dir=" + harness.folder(),
                  program("cuda_train"), "2", "1", env={"LD_LIBRARY_PATH": FAKE})
    expect("traceprof: CUPTI 13.0 U1 (130001)" in run.stderr, run.stderr)


def test_a_refused_buffer_is_followed():
    """Before 12.9, so that without room CUPTI gets one whose records are lost; later
    it is refused, and CUPTI counts what it drops."""
    def run(version):
        # Nothing is done before all threads are there.
        return on_gpu(2300, program="cuda_crowd", SIMGPU_VERSION=version,
                      SIMGPU_LATENCY_NS=10 * 10**9, TRACEPROF_BUFFER_MB=1024)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = list(pool.map(run, (26, 27)))
    for done, drops in zip(runs, (False, True)):
        expect_equal((done.status, done.stdout), (0, "done\n"), done.stderr)
        gpu = done.trace.meta["gpu"]
        expect(gpu["lost_buffers"] > 0, gpu)
        expect_equal(gpu["dropped_records"] > 0, drops, gpu)


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
        expect(all(1980 < kernel["dur"] < 2020 for kernel in kernels),
               [kernel["dur"] for kernel in kernels])


def test_captured_launches_lack_no_kernel_whatever_the_clock():
    """A node of a graph is found in its call by CUPTI's clock too: by ours it may
    seem to be made after the call."""
    for version in (130001, 130101):
        gpu = train(SIMGPU_VERSION=version, SIMGPU_WOBBLE_NS=90000).meta["gpu"]
        expect_equal(gpu["missing_kernels"], 0, gpu)


def test_calls_follow_each_other_though_the_clock_was_set():
    """CUPTI's own, 0.3 ms forward and back, as where a system's time is put right by
    jumps. Those around it may reach past their step; which, nobody can know."""
    run = traced("cuda_behind", "40", "300", "0", "20000", check=False, env={
        "LD_LIBRARY_PATH": FAKE, "SIMGPU_VERSION": "130001",
        "SIMGPU_SET_NS": "300000"})
    expect_equal(run.status, 0, run.stderr)
    trace = run.trace
    expect("CUPTI's clock was set" in str(trace.meta["notes"]), trace.meta)
    # What ends before it begins has no time.
    without = trace.meta["gpu"]["without_time"]
    expect(trace.meta["gpu"]["missing_kernels"] <= without, trace.meta)
    made = sorted(calls(trace).values(), key=lambda call: call["args"]["correlation"])
    expect(len(made) >= 40 * 300 - without, (len(made), without))
    for one, next_one in zip(made, made[1:]):
        expect(one["ts"] + one["dur"] <= next_one["ts"] + 0.001, (one, next_one))


def test_threads_share_a_buffer_where_theirs_race():
    """Each step is a window, at whose end we ask CUPTI for what it has while the next
    one's launches go on."""
    for version in (21, 24):
        run = on_gpu(40, 5, 0, 3000, 500, program="cuda_behind", SIMGPU_VERSION=version,
                     SIMGPU_COMPLETE_ON="flusher", TRACEPROF_ACTIVE=1)
        expect_equal(len(run.files), 40, run.stderr)
        for trace in run.traces:
            gpu = trace.meta["gpu"]
            expect_equal((gpu["launched_kernels"], gpu["missing_kernels"],
                          gpu["unlinked"]), (5, 0, 0), (version, gpu))


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


def test_graphs_of_the_second_window():
    """Before 13.1 Update 1 a graph's kernels have another call's id once kernels
    were disabled: they are not, and each has its launch."""
    def run(version):
        return on_gpu(150, 1, 5, 40000, 3000, program="cuda_behind",
                      SIMGPU_VERSION=version, TRACEPROF_WAIT=70,
                      TRACEPROF_ACTIVE=2, TRACEPROF_REPEAT=2)

    # They sleep nearly all of the time, so at once.
    versions = (28, 130001, 130101)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = list(pool.map(run, versions))
    for version, done in zip(versions, runs):
        for trace in done.traces:
            launches = sorted(calls(trace).values(), key=lambda call: call["ts"])
            expect_equal([call["name"] for call in launches],
                         ["cudaGraphLaunch"] * 2, trace.path)
            ends = [call["ts"] for call in launches[1:]] + [float("inf")]
            for call, end in zip(launches, ends):
                mine = [kernel["ts"] for kernel in trace.slices(cat="kernel")
                        if kernel["args"]["correlation"]
                        == call["args"]["correlation"]]
                expect_equal(len(mine), 5, (version, trace.path))
                expect(max(mine) < end, f"{version}: kernels of the next launch")
            expect_equal(trace.meta["gpu"]["missing_kernels"], 0, version)


LATE_ROW = "who comes after the first CUDA call isn't told of devices"
NAMES_ROW = "names of kernels go with their module"


def rows_of(run):
    return [row for row in (LATE_ROW, NAMES_ROW) if row in run.stderr]


def test_who_comes_late_has_the_devices():
    """Before 13.3 they are told of to who is there at the start, or asks; what is done
    is right in later ones."""
    for version, rows in ((28, [LATE_ROW, NAMES_ROW]), (130299, [LATE_ROW, NAMES_ROW]),
                          (130300, [NAMES_ROW])):
        run = on_gpu(STEPS, THREADS, CUDA_INJECTION64_PATH="/nonexistent.so",
                     SIMGPU_VERSION=version, TRACEPROF_VERBOSE=1)
        expect_equal((run.status, rows_of(run)), (0, rows), run.stderr)
        trace = run.trace
        expect(any("came late" in note for note in trace.meta["notes"]), trace.meta)
        expect_equal([device["name"] for device in trace.top["deviceProperties"]],
                     ["Simulated GPU"], version)
        expect(trace.slices(cat="kernel"), version)


def test_names_are_copied_where_they_go_with_their_module():
    """Before 13.4 Update 1: they are overwritten when the buffer was handed over."""
    for version, rows in ((28, [LATE_ROW, NAMES_ROW]), (130400, [NAMES_ROW]),
                          (130401, [])):
        run = on_gpu(STEPS, THREADS, SIMGPU_VERSION=version, TRACEPROF_VERBOSE=1)
        expect_equal((run.status, rows_of(run)), (0, rows), run.stderr)
        expect_whole(run.trace)


def hung(knob, how, *command, **env):
    """Two windows of two steps of a program that goes on and ends."""
    need(command[0])
    run = traced(*command, check=False, env={
        "LD_LIBRARY_PATH": FAKE, "SIMGPU_VERSION": "130101", knob: how,
        "TRACEPROF_ACTIVE": "2", "TRACEPROF_REPEAT": "2",
        "TRACEPROF_EXIT_MS": "6000"} | env)
    expect_equal(run.status, 0, run.stderr)
    return run


def test_disabling_that_hangs():
    """On a thread of the library's own, after the last window: both are whole."""
    run = hung("SIMGPU_HANG_DISABLE", "1", "cuda_behind", 100, 2, 0, 10000, 0,
               TRACEPROF_WAIT="40")
    expect_equal([(len(trace.slices(cat="kernel")), trace.meta["gpu"]["missing_kernels"])
                  for trace in run.traces], [(4, 0), (4, 0)], run.stderr)


def test_enabling_that_hangs():
    """Nor is it a thread of the program's that hangs there, nor the writer."""
    run = hung("SIMGPU_HANG_ENABLE", "first", "cuda_scopes", 60, TRACEPROF_STEP="api",
               TRACEPROF_WAIT="20")
    expect("CUPTI was not switched on within 5000 ms" in run.stderr, run.stderr)
    expect_equal([len(trace.slices("ProfilerStep#*")) for trace in run.traces], [2, 2],
                 run.stderr)
    expect(any("CUPTI was not switched on" in note
               for note in run.traces[0].meta["notes"]), run.traces[0].meta["notes"])


def test_kinds_are_left_on_where_disabling_them_hangs():
    """After the last window too, where kernels go on: those versions hang then."""
    for version in (28, 130000):
        run = on_gpu(120, 40, 0, 20000, 0, program="cuda_behind", SIMGPU_VERSION=version,
                     SIMGPU_KERNEL_NS=1000000, TRACEPROF_WAIT=5, TRACEPROF_ACTIVE=2,
                     TRACEPROF_REPEAT=1)
        expect("did not" not in run.stderr, version, run.stderr)
        expect_equal(run.trace.meta["gpu"]["missing_kernels"], 0, version)


def test_disabling_takes_its_time_elsewhere():
    """Half a second of it, in a run of a tenth: windows are whole."""
    for version in (130001, 130101):
        run = on_gpu(60, 2, 0, 20000, 0, program="cuda_behind",
                     SIMGPU_VERSION=version, SIMGPU_DISABLE_NS=500000000,
                     TRACEPROF_WAIT=18, TRACEPROF_ACTIVE=2, TRACEPROF_REPEAT=3)
        for trace in run.traces:
            expect_equal((len(trace.slices(cat="kernel")),
                          trace.meta["gpu"]["missing_kernels"]), (4, 0), version)


if __name__ == "__main__":
    harness.main()
