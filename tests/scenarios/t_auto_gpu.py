# SPDX-License-Identifier: MIT
"""TRACEPROF_STEP=auto where only kernels and CUDA calls tell of the loop, on the
simulated GPU."""

import os

from harness import command, expect, expect_equal, folder, main
from t_auto import named, said
from t_cuda import on_gpu


def looped(*arguments, **options):
    env = {"TRACEPROF_" + key.upper(): str(value) for key, value in options.items()
           if key != "knobs"}
    run = on_gpu(*arguments, program="cuda_loop", **env, **options.get("knobs", {}))
    expect_equal(run.status, 0, run.stderr)
    return run


def expect_steps_of_updates(trace, count):
    """Step k holds the launch of update k."""
    steps = trace.slices("ProfilerStep#*")
    numbers = {kernel["args"]["correlation"]
               for kernel in trace.slices("update", cat="kernel")}
    launches = sorted((call for call in trace.slices("cuLaunchKernel")
                       if call["args"]["correlation"] in numbers),
                      key=lambda call: call["ts"])
    expect_equal(trace.steps(), list(range(count)), "numbers")
    expect_equal(len(launches), count, "launches")
    end = 0
    for step, launch in zip(steps, launches):
        expect(step["ts"] <= launch["ts"] <= step["ts"] + step["dur"], step, launch)
    for step, following in zip(steps, steps[1:]):
        expect(step["ts"] + step["dur"] <= following["ts"] + 0.01,
               "steps cross", step, following)


def test_kernels_with_a_warm_up_and_evaluations():
    for knobs in ({}, {"SIMGPU_DUP_DRIVER": 1, "SIMGPU_OOO": 1, "SIMGPU_WRAP_CORR": 1}):
        run = looped("epochs=3", "steps=70", "evaluate=3", "warm=40", "ms=15",
                     knobs=knobs)
        expect_equal(said(run)[0], 'kernel "update"', run.stderr)
        expect_steps_of_updates(run.trace, 210)


def test_the_thread_of_the_steps_has_ended():
    """When the step is found, at the end of the run."""
    run = on_gpu(50, 2)
    expect_equal(said(run)[0], 'kernel "update(float*, float const*, float)"', run.stderr)
    expect_equal(run.trace.steps(), list(range(50)), "numbers")


def test_a_warm_up_with_the_loops_own_kernels():
    """Launches in no order are no steps; where they end is not sharp."""
    run = looped("steps=300", "own=120", "ms=4")
    expect(said(run)[0], run.stderr)
    steps = run.trace.steps()
    expect_equal(steps, list(range(len(steps))), "numbers")
    expect(299 <= len(steps) <= 302, f"{len(steps)} steps of 300")


def test_regions_and_kernels_of_one_loop():
    """Whichever tells the step, it is counted once."""
    region = 'omp region "adjust"'
    for regions, markers in ((2, ('kernel "update"', region)), (20, (region,))):
        run = looped("steps=150", "ms=8", f"regions={regions}")
        expect(said(run)[0] in markers, run.stderr)
        trace = run.trace
        expect_equal(trace.steps(), list(range(150)), f"steps with {regions}")
        expect_equal(len(trace.regions("adjust")), 150, "regions")
        expect_equal(len(trace.slices("update", cat="kernel")), 150, "kernels")
    run = looped("steps=150", "ms=8", "regions=20", wait=20, active=2, repeat=2)
    expect_equal([trace.steps() for trace in run.traces], [[20, 21], [42, 43]],
                 "windows")
    for trace in run.traces:
        expect_equal(len(trace.slices("update", cat="kernel")), 2, "kernels")


def test_a_run_shorter_than_the_search():
    run = looped("steps=20", "ms=5")
    expect_equal(said(run)[0], 'kernel "update"', run.stderr)
    expect_steps_of_updates(run.trace, 20)


def test_schedule_that_waits_long_enough():
    run = looped("steps=60", "ms=60", wait=20, active=3, repeat=2)
    expect_equal(said(run)[0], 'kernel "update"', run.stderr)
    expect_equal([trace.steps() for trace in run.traces],
                 [[20, 21, 22], [43, 44, 45]], "steps")
    for trace in run.traces:
        expect_equal(len(trace.slices("update", cat="kernel")), 3, "updates")
        expect("passed" not in trace.meta["step"], trace.meta["step"])


def test_launches_of_a_graph():
    # Steps of at least 3 ms on any machine: the run is longer than the search.
    run = on_gpu(2000, 1, SIMGPU_KERNEL_NS=1000000, TRACEPROF_WAIT=9,
                 TRACEPROF_ACTIVE=3, TRACEPROF_REPEAT=2)
    expect(said(run)[0] in ("CUDA call cudaGraphLaunch", "CUDA call cudaMemcpy",
                            "CUDA call cudaMemcpyAsync"), run.stderr)
    expect_equal([trace.steps() for trace in run.traces],
                 [[9, 10, 11], [21, 22, 23]], "steps")
    for trace in run.traces:
        expect_equal(len(trace.slices("cudaGraphLaunch")), 3, "launches")


def test_launches_of_a_graph_beside_an_empty_one():
    """From that one on launches of graphs are called back for anyway."""
    run = on_gpu("loop", 900, program="cuda_each", TRACEPROF_WAIT=9, TRACEPROF_ACTIVE=3,
                 TRACEPROF_REPEAT=2)
    expect_equal(said(run)[0], "CUDA call cudaGraphLaunch", run.stderr)
    expect_equal([trace.steps() for trace in run.traces],
                 [[9, 10, 11], [21, 22, 23]], "steps")
    for trace in run.traces:
        expect_equal(len(trace.slices("cudaGraphLaunch")), 3, "launches")


def test_without_a_period():
    for schedule in ({}, {"wait": 2, "active": 1}):
        run = looped("epochs=0", "warm=300", **schedule)
        expect_equal(said(run)[0], None, run.stderr)
        expect_equal(run.trace.steps(), [], "steps")
        expect_equal(len(run.trace.slices(cat="kernel")), 300, "kernels")
        for setting, count in named(run):
            again = looped("epochs=0", "warm=300", step=setting)
            expect_equal(again.trace.steps(), list(range(count)), setting)


def test_the_settings_of_calls_and_of_kernels_of_cpp():
    """`kernel:` is compared with the symbol, so that is what is named."""
    found = named(on_gpu(3, 2, TRACEPROF_WAIT=2))
    words = {setting.strip("'").split(":")[0] for setting, _ in found}
    expect(words <= {"cuda", "kernel"}, found)
    for setting, count in found:
        again = on_gpu(3, 2, TRACEPROF_STEP=setting.strip("'"))
        # Two threads do the same; the first one to do it steps.
        expect(again.trace.steps(), f"no step by {setting}, {count} said")
    found = named(on_gpu("steps=4", "layers=9", program="cuda_loop", TRACEPROF_WAIT=9))
    expect(any(setting.startswith("kernel:") for setting, _ in found), found)


def test_the_last_step():
    """It holds what the others hold, or viewers drop it, and ends with its turn
    however it was set: what follows the loop isn't in it."""
    for setting in ("auto", "kernel:update", "cuda:cuMemcpy*"):
        run = looped("steps=20", "ms=5", "tail=200", step=setting)
        trace = run.trace
        expect_equal(trace.steps(), list(range(20)), setting)
        last = trace.slices("ProfilerStep#19")[0]
        until = last["ts"] + last["dur"]
        expect_equal(last["args"].get("finished"), None, setting)
        waited = max(call["ts"] for call in trace.slices("cuStreamSynchronize"))
        expect(until <= waited + 1000, f"{setting} swallows the tail", last)
        updates = {kernel["args"]["correlation"]
                   for kernel in trace.slices("update", cat="kernel")}
        launches = [call for call in trace.slices("cuLaunchKernel")
                    if call["args"]["correlation"] in updates
                    and last["ts"] - 0.01 <= call["ts"] <= until]
        expect_equal(len(launches), 1, f"updates in the last step of {setting}")


def test_a_level_of_kernels_from_a_file():
    run = looped("steps=40", "ms=4")
    path = os.path.join(folder(), "kernels.step")
    shown = command("steps", "-o", path, run.trace.path)
    expect_equal(shown.status, 0, shown.stdout)
    expect("step: 40 x update" in shown.stdout, shown.stdout)
    expect("TRACEPROF_STEP=kernel:update" in shown.stdout, shown.stdout)
    again = looped("steps=40", "ms=4", step="@" + path)
    expect_equal(said(again)[0], 'kernel "update"', again.stderr)
    expect_steps_of_updates(again.trace, 40)


def test_a_copy_back_each_so_many():
    """It is no step, though the run ends with one."""
    for back in (10, 16):
        run = looped("steps=80", "ms=4", f"back={back}")
        expect_equal(said(run)[0], 'kernel "update"', run.stderr)
        expect_steps_of_updates(run.trace, 80)
        expect_equal(len(run.trace.slices("cuMemcpyDtoH")), 80 // back, "copies")
        shown = command("steps", run.trace.path)
        expect("step: 80 x update" in shown.stdout, shown.stdout)


def test_the_code_tells_a_report_from_what_a_step_does_once():
    """The calls are the same, one by one."""
    kinds = {}
    for way, every, times, wanted in (("report", 20, 30, 600), ("sweeps", 20, 30, 30),
                                      ("report", 100, 12, 1200), ("sweeps", 7, 40, 40)):
        run = on_gpu(way, every, times, program="cuda_reports")
        expect_equal(run.status, 0, run.stderr)
        expect(said(run)[0], run.stderr)
        steps = run.trace.steps()
        expect(steps == list(range(wanted)), f"{way}, {every}: {len(steps)} steps")
        kinds[way, every] = [call["name"] for call in run.trace.slices(cat="cuda_driver")
                             if "Launch" in call["name"] or "Memcpy" in call["name"]]
    expect_equal(kinds["report", 20], kinds["sweeps", 20], "calls")


def test_the_code_tells_an_iteration_from_its_two_products():
    """Their sum is copied back twice in each, and once before: as often as any."""
    for solves, iterations in ((10, 30), (6, 80)):
        run = on_gpu(solves, iterations, program="cuda_solves")
        expect_equal(run.status, 0, run.stderr)
        expect_equal(run.trace.steps(), list(range(solves * iterations)), run.stderr)


def test_several_graphs_in_each_step():
    run = on_gpu(60, 3, program="graph_steps")
    expect_equal(said(run)[0], "CUDA call cudaGraphLaunch", run.stderr)
    expect_equal(run.trace.steps(), list(range(60)), "steps")
    expect_equal(len(run.trace.slices("cudaGraphLaunch")), 180, "launches")


def test_several_graphs_and_a_schedule():
    """Which graph a call launches is known when it is over: no windows of a part."""
    run = on_gpu(400, 3, program="graph_steps", TRACEPROF_WAIT=9, TRACEPROF_ACTIVE=3,
                 TRACEPROF_REPEAT=2)
    expect_equal(said(run)[0], None, run.stderr)


def test_one_graph_of_several_in_each_step():
    for schedule in ({}, {"TRACEPROF_WAIT": 9, "TRACEPROF_ACTIVE": 3}):
        run = on_gpu(900, 4, "sizes", program="graph_steps", **schedule)
        expect(said(run)[0], run.stderr)
        if not schedule:
            expect_equal(run.trace.steps(), list(range(900)), "steps")


def test_divisor():
    run = looped("steps=60", step="auto/5")
    expect_equal(run.trace.steps(), list(range(12)), "steps")


if __name__ == "__main__":
    main()
