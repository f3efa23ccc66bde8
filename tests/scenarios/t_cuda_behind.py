# SPDX-License-Identifier: MIT
"""A GPU that is seconds behind the host: each window has all of its kernels."""

import collections
import time

import harness
from harness import command, expect, expect_equal, traced
from t_cuda import FAKE, STEPS, THREADS, calls, killed, need, on_gpu
from t_verdict import judged

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
    expect("lack kernels" not in run.stderr, run.stderr)
    for trace in run.traces:
        expect_equal(trace.meta["gpu"]["missing_kernels"], 0, trace.path)
    return run


def test_windows_of_an_asynchronous_loop():
    """120 steps in half a second on the host, in six seconds on the GPU, and the
    program goes on launching while a window's work is still to come."""
    run = behind(120, 5, 0, 4000, 4000, SIMGPU_KERNEL_NS=10 * MS,
                 TRACEPROF_WAIT=5, TRACEPROF_ACTIVE=3, TRACEPROF_REPEAT=3)
    expect_equal([len(kernels(trace)) for trace in run.traces], [15, 15, 15],
                 run.stderr)


def test_the_verdict_knows_what_was_launched_before():
    """The GPU is busy all the time, with launches and with a graph's kernels from before
    the window: it is nowhere said that it waits for the host, and what no step of the
    window launched is counted as that."""
    for settings, words in (
            ({"SIMGPU_KERNEL_NS": 2 * MS, "TRACEPROF_WARMUP": 20}, (60, 20, 0, 4000, 4000)),
            ({"SIMGPU_KERNEL_NS": MS // 4, "TRACEPROF_WARMUP": 2},
             (40, 1, 400, 20000, 2500))):
        run = behind(*words, TRACEPROF_WAIT=0, TRACEPROF_ACTIVE=3, TRACEPROF_REPEAT=1,
                     **settings)
        trace = run.trace
        earlier = len(trace.slices(cat="kernel")) - len(kernels(trace))
        expect(earlier, "none was launched before the window")
        step = judged(trace.path)["step"]
        expect_equal((step["split_ns"]["gpu"], step["behind_ns"], step["earlier_kernels"]),
                     (step["total_ns"], step["total_ns"], earlier), step)
        said = " ".join(command("report", trace.path).stdout.split())
        expect(f"Launched before this file begins: {earlier} of " in said, said)


def test_windows_of_a_loop_whose_step_is_found():
    """The step is known when the first windows are long over; the GPU isn't."""
    run = behind(30, 60, 0, 100000, 15000, 0, 0, 1, SIMGPU_KERNEL_NS=5 * MS,
                 TRACEPROF_SKIP_FIRST=2, TRACEPROF_WAIT=2, TRACEPROF_ACTIVE=2,
                 TRACEPROF_REPEAT=3)
    expect_equal([len(kernels(trace)) for trace in run.traces], [120, 120, 120],
                 run.stderr)


def test_graph_of_many_nodes():
    run = behind(40, 1, 400, 20000, 2500, SIMGPU_KERNEL_NS=MS // 4,
                 TRACEPROF_WAIT=2, TRACEPROF_ACTIVE=2, TRACEPROF_REPEAT=1)
    expect_equal([len(kernels(trace)) for trace in run.traces], [800],
                 run.stderr)


def test_far_behind():
    run = behind(12, 50, 0, 1000, 6000, SIMGPU_KERNEL_NS=5 * MS,
                 SIMGPU_LATENCY_NS=3000 * MS, TRACEPROF_WAIT=1,
                 TRACEPROF_ACTIVE=10, TRACEPROF_REPEAT=1)
    expect_equal([len(kernels(trace)) for trace in run.traces], [500],
                 run.stderr)


def test_work_that_a_switching_off_cuts_short():
    """What runs while kinds are switched off ends when they are switched on again.
    All of a window's is done before; the rest is in no file."""
    run = behind(240, 1, 0, 12000, 2000, SIMGPU_KERNEL_NS=5 * MS,
                 SIMGPU_LATENCY_NS=200 * MS, SIMGPU_VERSION=130101,
                 TRACEPROF_WAIT=70, TRACEPROF_ACTIVE=10, TRACEPROF_REPEAT=3)
    expect_equal([len(kernels(trace)) for trace in run.traces], [10, 10, 10],
                 run.stderr)
    for trace in run.traces:
        longest = max(kernel["dur"] for kernel in trace.slices(cat="kernel"))
        expect(longest < 10000, f"{longest} us in {trace.path}")


def test_a_call_is_one_whenever_its_driver_call_came():
    """Records of the two lie two seconds apart, as where the machine stood still or one
    of them was withheld.  It is one call, and one launch that has one kernel."""
    seen = []
    for at in (0, 12, 13):
        run = on_gpu(STEPS, 1, SIMGPU_STILL_AT=at)
        expect_equal(run.status, 0, run.stderr)
        made = run.trace.slices(cat="cuda_runtime") + run.trace.slices(cat="cuda_driver")
        twice = {key: count for key, count in collections.Counter(
            call["args"]["correlation"] for call in made).items() if count > 1}
        expect_equal(twice, {}, at)
        gpu = run.trace.meta["gpu"]
        seen.append((len(made), gpu["launches"], gpu["launched_kernels"],
                     gpu["missing_kernels"], gpu["doubled_calls"],
                     len(run.trace.slices(cat="kernel"))))
    expect_equal(seen[1:], [seen[0]] * 2)


def test_nothing_is_withheld():
    """The same where CUPTI gives each record when it is done."""
    run = behind(12, 50, 0, 1000, 6000, SIMGPU_KERNEL_NS=5 * MS,
                 SIMGPU_LATENCY_NS=3000 * MS, TRACEPROF_WAIT=1,
                 TRACEPROF_ACTIVE=10, TRACEPROF_REPEAT=1, SIMGPU_WITHHOLD=0)
    expect_equal([len(kernels(trace)) for trace in run.traces], [500],
                 run.stderr)
    run = behind(40, 1, 400, 20000, 2500, SIMGPU_KERNEL_NS=MS // 4,
                 TRACEPROF_WAIT=2, TRACEPROF_ACTIVE=2, TRACEPROF_REPEAT=1,
                 SIMGPU_WITHHOLD=0)
    expect_equal([len(kernels(trace)) for trace in run.traces], [800],
                 run.stderr)


def test_the_last_call_of_the_driver_is_awaited():
    """It may be a part of a call of the runtime's: that is known when its thread goes
    on, or after a second; so long its window is not finished."""
    run = on_gpu(3, 3, 3000, program="driver_steps", SIMGPU_VERSION=130101,
                 TRACEPROF_WAIT=1, TRACEPROF_ACTIVE=1, TRACEPROF_REPEAT=1)
    expect_equal(run.status, 0, run.stderr)
    gpu = run.trace.meta["gpu"]
    expect_equal((len(run.trace.slices("cuLaunchKernel", cat="cuda_driver")),
                  len(kernels(run.trace)), gpu["launched_kernels"], gpu["unlinked"]),
                 (3, 3, 3, 0), gpu)


def test_the_wait_is_as_long_as_a_step():
    """Kernels that end half a second after their step of 3 s: who asks for them has two
    seconds and a half left."""
    run = behind(3, 3, 0, 3000000, 1500, SIMGPU_LATENCY_NS=3500 * MS, TRACEPROF_WAIT=1,
                 TRACEPROF_ACTIVE=1, TRACEPROF_REPEAT=1, TRACEPROF_GPU_WAIT_MS=50,
                 SIMGPU_WITHHOLD=0)
    expect_equal([len(kernels(trace)) for trace in run.traces], [3], run.stderr)


def test_a_window_is_finished_while_the_program_goes_on():
    """Its kernels take an hour, and are waited for for a second."""
    trace = killed(lambda text: b"kernels are missing" in text, "cuda_behind", 3, 2, 0,
                   1000, 20000, SIMGPU_KERNEL_NS=str(3600 * 1000 * MS),
                   TRACEPROF_WAIT="1", TRACEPROF_ACTIVE="1", TRACEPROF_REPEAT="1",
                   TRACEPROF_GPU_WAIT_MS="1000")
    expect_equal(trace.meta["gpu"]["missing_kernels"], 2)


def test_a_window_is_finished_where_cupti_hangs():
    """It never answers, which is waited for for some seconds more."""
    trace = killed(lambda text: b'"final":true' in text, "cuda_behind", 3, 2, 0, 1000,
                   20000, SIMGPU_HANG_FLUSH="1", TRACEPROF_WAIT="1",
                   TRACEPROF_ACTIVE="1", TRACEPROF_REPEAT="1",
                   TRACEPROF_GPU_WAIT_MS="1000")
    expect_equal(len(trace.slices("ProfilerStep#*")), 1)


def test_work_without_times_is_not_awaited():
    """Its records have come, without times: the file waits for nothing."""
    trace = killed(lambda text: b'"final":true' in text, "cuda_behind", 3, 2, 0, 1000,
                   20000, SIMGPU_ZERO_TIMES="1", TRACEPROF_WAIT="1",
                   TRACEPROF_ACTIVE="1", TRACEPROF_REPEAT="1")
    gpu = trace.meta["gpu"]
    expect_equal((gpu["launched_kernels"], gpu["missing_kernels"]), (2, 2), gpu)
    expect(gpu["without_time"] >= 2, gpu)


def test_what_does_not_come_in_time_is_said():
    """An hour of kernel: nothing of the window is there, and everybody says so."""
    need("cuda_behind")
    run = traced("cuda_behind", "12", "5", "0", "1000", "4000", check=False, env={
        "LD_LIBRARY_PATH": FAKE, "SIMGPU_KERNEL_NS": str(3600 * 1000 * MS),
        "TRACEPROF_WAIT": "1", "TRACEPROF_ACTIVE": "2", "TRACEPROF_REPEAT": "1",
        "TRACEPROF_GPU_WAIT_MS": "1000"})
    expect_equal(kernels(run.trace), [])
    expect_equal((run.trace.meta["gpu"]["launched_kernels"],
                  run.trace.meta["gpu"]["missing_kernels"],
                  run.trace.meta["gpu"]["unfinished"]), (10, 10, 10))
    expect("10 launches lack kernels in the trace" in run.stderr,
           run.stderr)
    expect("TRACEPROF_GPU_WAIT_MS (1000) after" in run.stderr, run.stderr)
    expect("none lost" not in run.stderr, run.stderr)
    said = command("check", run.trace.path)
    expect_equal(said.status, 1)
    expect("10 launches of kernels, and no kernel [rule 28]"
           in said.stdout + said.stderr, said.stdout + said.stderr)
    said = command("report", run.trace.path)
    expect("Error: none of the kernels of 10 launches" in said.stdout,
           said.stdout)
    expect("raise TRACEPROF_GPU_WAIT_MS" in " ".join(said.stdout.split()), said.stdout)
    marks = [event for event in run.trace.events
             if event["name"] == "kernels are missing"]
    expect_equal([mark["args"] for mark in marks], [{"launches": 10, "missing": 10}])


def test_a_graph_of_which_some_kernels_are_missing():
    """CUPTI has no room for each hundredth: each launch of a graph of 400 lacks
    four."""
    run = on_gpu(20, 1, 400, 20000, 3000, program="cuda_behind", SIMGPU_DROP=100,
                 TRACEPROF_WAIT=2, TRACEPROF_ACTIVE=2, TRACEPROF_REPEAT=1,
                 TRACEPROF_GPU_WAIT_MS=4000)
    gpu = run.trace.meta["gpu"]
    expect_equal((gpu["launched_kernels"], gpu["missing_kernels"],
                  gpu["partial_graphs"]), (2, 2, 2))
    expect("2 launches lack kernels in the trace" in run.stderr, run.stderr)
    said = command("report", run.trace.path)
    expect("of 2 launches of graphs some kernels" in said.stdout, said.stdout)
    expect("Error" not in said.stdout, said.stdout)


def of_many_graphs(graphs):
    """The end does not wait for all kernels of the one that is launched."""
    need("cuda_behind")
    words = ["1", "1", "400", "1000", "0", "0", str(graphs)]
    run = traced("cuda_behind", *words, check=False, env={
        "LD_LIBRARY_PATH": FAKE, "SIMGPU_KERNEL_NS": str(100 * MS),
        "TRACEPROF_EXIT_MS": "10000"})
    gpu = run.trace.meta["gpu"]
    expect(len(kernels(run.trace)) < 400, gpu)
    return (gpu["launched_kernels"], gpu["missing_kernels"], gpu["unsized_graphs"],
            command("report", run.trace.path).stdout)


def test_a_graph_among_thousands_keeps_its_size():
    launched, missing, unsized, _ = of_many_graphs(3000)
    expect_equal((launched, missing, unsized), (1, 1, 0))


def test_a_graph_whose_size_is_forgotten_is_said():
    launched, _, unsized, said = of_many_graphs(17000)
    expect_equal((launched, unsized), (1, 1))
    expect("whether all kernels are here of 1 launches of graphs" in said, said)


def test_work_that_the_gpu_decides_about_has_its_launch():
    """The body of a graph's loop comes without correlation id (XLA makes such graphs).
    It is linked by its graph and time: each launch to its three kernels, live, in any
    order, and after a kill; where the GPU is behind it is of none rather than of
    another's."""
    for more in ({}, {"SIMGPU_OOO": 1}, {"TRACEPROF_ENCODE": "late"}):
        trace = on_gpu(STEPS, THREADS, SIMGPU_BODY=1, **more).trace
        gpu = trace.meta["gpu"]
        expect_equal((gpu["unlinked"], gpu["missing_kernels"]), (0, 0), f"{more}: {gpu}")
        each = collections.Counter(
            kernel["args"]["correlation"] for kernel in trace.slices(cat="kernel")
            if kernel["args"].get("graph id"))
        launches = {call["args"]["correlation"]
                    for call in trace.slices("cudaGraphLaunch")}
        expect_equal((set(each), set(each.values())), (launches, {3}), f"{more}")


def test_a_pause_in_a_graph_is_not_its_end():
    """Kernels of 2.5 seconds: what is missing is known from the graph, not from
    how long nothing came."""
    run = behind(2, 1, 2, 20000, 7000, SIMGPU_KERNEL_NS=2500 * MS,
                 SIMGPU_WITHHOLD=0, TRACEPROF_WAIT=0, TRACEPROF_ACTIVE=1,
                 TRACEPROF_REPEAT=1, TRACEPROF_EXIT_MS=30000)
    expect_equal([len(kernels(trace)) for trace in run.traces], [2], run.stderr)


def test_the_end_waits_for_kernels():
    """A program that leaves its last kernels running ends when they have."""
    run = behind(10, 5, 0, 1000, 0, SIMGPU_KERNEL_NS=20 * MS,
                 TRACEPROF_EXIT_MS=60000)
    expect_equal(len(kernels(run.trace)), 50, run.stderr)
    expect_equal(run.trace.meta["gpu"]["without_time"], 0)


def test_the_end_does_not_wait_for_ever():
    """An hour of kernel: forced at last, and counted."""
    need("cuda_behind")
    run = traced("cuda_behind", "3", "1", "0", "1000", check=False, env={
        "LD_LIBRARY_PATH": FAKE, "SIMGPU_KERNEL_NS": str(3600 * 1000 * MS),
        "TRACEPROF_EXIT_MS": "12000"})
    expect("3 launches lack kernels" in run.stderr, run.stderr)


def test_what_a_kill_costs():
    """On a GPU that is never idle, so that CUPTI gives back full buffers alone. They
    are small, 110 launches of this program, and one is being filled."""
    trace = killed(lambda text: text.count(b"ProfilerStep") > 1150,
                   "cuda_behind", 100000, 1, 0, 5000, SIMGPU_KERNEL_NS=str(10 * MS))
    kill = max(event["ts"] for event in trace.events if "ts" in event)
    done = end = 0
    for start in sorted(step["ts"] for step in trace.slices("ProfilerStep#*")):
        end = max(end, start) + 10000
        done += end < kill
    found = len(trace.slices(cat="kernel"))
    # What the writer had not come to is lost with it: half a second of kernels.
    expect(done + 2 > found > done - 110 - 50, f"{found} kernels of {done}")


def lost_to_a_kill(after, pause_us=10000):
    """Launches, one a step, of which nothing is in the file, on a GPU that is idle
    between them; `after` so many seconds from a look at the file on."""
    trace = killed(lambda text: text.count(b"ProfilerStep") > 250
                   and not time.sleep(after),
                   "cuda_behind", 1000000, 1, 0, pause_us)
    return len(trace.slices("ProfilerStep#*")) - len(trace.slices(cat="kernel"))


def test_what_a_kill_costs_where_the_gpu_keeps_up():
    """CUPTI is asked five times a second: 20 launches are lost at most, and another 30
    where the machine is busy; asked each second it would be up to 100."""
    for after in (0.25, 0.55, 0.85):
        lost = lost_to_a_kill(after)
        # The step that was killed may have its kernel.
        expect(0 <= lost < 50, f"{lost} launches")


def test_a_kill_in_a_long_kernel_is_said():
    """An hour of kernel: CUPTI keeps its buffer, and with it the calls around it.  So
    no launch lacks a kernel; but from before it on the GPU's records may be missing,
    and the trace, its report and a note say so."""
    trace = killed(lambda text: text.count(b"ProfilerStep") > 5, "cuda_behind", 100000,
                   1, 0, 5000, SIMGPU_KERNEL_NS=str(3600 * 1000 * MS))
    gpu = trace.meta["gpu"]
    expect_equal((gpu["launched_kernels"], kernels(trace)), (0, []), gpu)
    steps = trace.slices("ProfilerStep#*")
    # What was handed over by then is at most what came before the first launch.
    end = max(event["ts"] for event in trace.events if "ts" in event)
    expect(gpu["unsettled_ns"] / 1e3 > end - steps[1]["ts"], gpu)
    expect(any("records of the GPU may be missing" in note
               for note in trace.meta["notes"]), trace.meta["notes"])
    said = command("report", trace.path).stdout
    expect("records of the GPU may be missing: CUPTI had not" in said, said)


if __name__ == "__main__":
    harness.main()
