# SPDX-License-Identifier: MIT
"""TRACEPROF_MAX_OVERHEAD and explicit tasks: short ones are counted, and what they
took is in the file as exactly as if each were drawn.

The tasks do next to nothing, so that 1 % is too little for them on any machine.
"""

import glob
import json
import os
import signal

import harness
from harness import command, expect, expect_equal, expect_thinned, same, traced
from t_ompt import build
from t_verdict import made, rules, slice_, step_

COUNT = 30000
THIN = {"TRACEPROF_MAX_OVERHEAD": "1"}
# Sums, or while the step is searched for a mark for each.
MODES = ({"TRACEPROF_STEP": "api"}, {})


def clang():
    return build("clang", "short_tasks.c", "-fopenmp")


def rows(trace, part):
    return [row for row in trace.meta.get("sampled", []) if row.get("omp") == part]


def calls(trace, tail):
    """By the file's sums, of all names that end so."""
    return sum(row["calls"] for row in trace.meta["totals"] if row["name"].endswith(tail))


def tasks(trace):
    return calls(trace, "[omp task]")


def creations(trace):
    return calls(trace, "[omp task create]")


def unfollowed(trace):
    """libomp's: more at once than are kept."""
    return trace.meta["events"]["unrecorded_calls"]


def sums_fit_slices(trace):
    for row in rows(trace, "explicit") + rows(trace, "create"):
        drawn = [one["dur"] for one in trace.slices(omp=row["omp"])
                 if one["name"] == row["name"]]
        expect_equal(row["seen"], row["drawn"] + row["thinned"], row["name"])
        expect_equal(len(drawn), row["drawn"], row["name"])
        expect(row["total_us"] >= sum(drawn) - 0.001 * len(drawn), row, sum(drawn))
        expect(row["max_us"] >= max(drawn, default=0) - 0.01, row)


def every_task_is_counted(program, pattern, count=COUNT, is_thinned=True):
    for mode in MODES:
        run = same(program, pattern, count, env=THIN | mode)
        trace, ran = run.trace, int(run.stdout)
        # Of `queue` one more is made.
        most = ran + (pattern == "queue")
        expect(ran <= tasks(trace) + unfollowed(trace) <= most,
               f"{pattern}: {tasks(trace)} of {ran}", mode)
        expect(ran <= creations(trace) <= most, f"{pattern}: {creations(trace)} creations")
        sums_fit_slices(trace)
        if is_thinned:
            expect_thinned(trace, count / 2)
            expect(any("MAX_OVERHEAD" in note for note in trace.meta["notes"]), "note")


def test_tasks_in_a_row():
    every_task_is_counted("short_tasks", "flat")


def test_tasks_in_tasks():
    every_task_is_counted("short_tasks", "tree")


def test_tasks_of_groups():
    every_task_is_counted("short_tasks", "group")


def test_tasks_of_a_loop():
    """One call makes them all, and waits; libomp's makes some that make others."""
    for mode in MODES:
        run = same("short_tasks", "loop", COUNT, env=THIN | mode)
        expect_equal(tasks(run.trace), COUNT, "tasks")
        sums_fit_slices(run.trace)
        trace = same(clang(), "loop", COUNT, env=THIN | mode).trace
        expect_equal(tasks(trace) + unfollowed(trace), creations(trace), "libomp's")
        expect(tasks(trace) >= COUNT, "libomp's")
        sums_fit_slices(trace)


def test_tasks_that_depend():
    every_task_is_counted("short_tasks", "chain")


def test_tasks_with_priorities():
    every_task_is_counted("short_tasks", "ranks")


def test_tasks_of_a_nested_region():
    every_task_is_counted("short_tasks", "nested")


def test_thousands_of_tasks_alive():
    every_task_is_counted("short_tasks", "queue", 8000, is_thinned=False)
    every_task_is_counted(clang(), "queue", 8000, is_thinned=False)


def test_libomps_tasks():
    every_task_is_counted(clang(), "flat")
    # Its threads give way to others in each wait, which makes tasks long.
    for pattern in ("tree", "group", "chain", "nested"):
        every_task_is_counted(clang(), pattern, is_thinned=False)


def test_libomps_untied_tasks():
    """Two kinds of task with one name: one row."""
    every_task_is_counted(clang(), "ranks", is_thinned=False)


def work_of(trace):
    """What the report says of the region in which the tasks run."""
    said = json.loads(command("report", "--json", trace.path).stdout)[0]
    row, = (row for row in said["regions"] if row["name"].startswith("work "))
    return row["work_ns"] / 1000


def tasks_are_work(program, env):
    """Whoever waits at the barrier runs them meanwhile."""
    trace = same(program, "busy", COUNT, env=env).trace
    took = sum(row["total_us"] for row in rows(trace, "explicit"))
    if not took:
        took = sum(one["dur"] for one in trace.slices(omp="explicit"))
    worked = work_of(trace)
    expect(worked > 0.9 * took, f"{worked:.0f} us of work, and {took:.0f} of tasks")
    return trace


def test_tasks_are_work():
    """Those too that a worker runs in its wait at the region's end."""
    trace = tasks_are_work("short_tasks", {"TRACEPROF_MAX_OVERHEAD": "0"})
    region, = trace.regions("work")
    shares = trace.team(region)
    ends = {share["tid"]: share["ts"] + share["dur"] for share in shares}
    did = sum(share["dur"] for share in shares)
    did += sum(one["dur"] for one in trace.slices(omp="explicit")
               if one["ts"] >= ends[one["tid"]])
    worked = work_of(trace)
    expect(0.95 < worked / did < 1.05, f"{worked:.0f} us of work, {did:.0f} was done")


def test_tasks_that_are_not_drawn_are_work():
    for program in ("short_tasks", clang()):
        trace = tasks_are_work(program, THIN)
        expect_thinned(trace, COUNT)


def test_rows_of_tasks_take_as_long_as_those():
    """libomp has each thread run them in its barrier, or as it makes them."""
    trace = same(clang(), "busy", COUNT, env=THIN).trace
    row, = rows(trace, "explicit")
    shown = sum(one["dur"] for part in ("explicit", "tasks")
                for one in trace.slices(omp=part))
    expect(0.9 < shown / row["total_us"] < 1.001, shown, row)
    names = {one["name"] for one in trace.slices(omp="tasks")}
    expect_equal(names, {"busy [omp tasks]"}, "names")
    barriers = [one for one in trace.slices(omp="wait") if "tasks_us" in one["args"]]
    expect(barriers, "no wait has tasks in it")
    for one in barriers:
        expect(0 < one["args"]["tasks_us"] <= one["dur"] + 0.001, one)


def test_short_waits_in_tasks_are_waits():
    """Of a task, and of each wait, what is drawn is as long as it took."""
    for program in ("short_tasks", clang()):
        trace = same(program, "idle", COUNT // 10, env=THIN).trace
        row, = rows(trace, "wait")
        expect_equal(row["seen"], 20 * (COUNT // 10), "waits")
        drawn = [one for one in trace.slices("taskwait wait", omp="wait")]
        expect_equal(len(drawn), row["drawn"], "drawn")
        net = sum(one["dur"] - one["args"].get("tasks_us", 0) for one in drawn)
        expect(row["total_us"] >= net - 0.001 * len(drawn), row, net)
        short = sum(one["dur"] for one in trace.slices(omp="waits"))
        expect(short <= row["total_us"] - net + 0.1, short, row, net)


def test_a_barrier_in_which_tasks_ran_is_none():
    """Its thread waited in one of them, as the other did in its share."""
    for tasks_us, rule in ((0, "barrier"), (990, "waits")):
        events = []
        for number in range(10):
            at, region = 1000 * number, number + 1
            events += [slice_("taskwait wait", at + 300, 400, tid, cat="openmp", omp="wait",
                              sync="taskwait", region=region) for tid in (700, 701)]
            events += [slice_("f [omp task]", at + 3, 990, 701, omp="explicit",
                              region=region),
                       slice_("barrier wait", at + 2, 992, 701, cat="openmp", omp="wait",
                              sync="barrier", region=region, tasks_us=tasks_us)]
            events += [slice_("f [omp parallel #1]", at, 1000, tid, omp="task",
                              region=region, team=2, thread=tid - 700)
                       for tid in (700, 701)]
            events += [slice_("f [omp parallel #1]", at, 1000, omp="parallel",
                              region=region, team=2), step_(number, at, 1000)]
        expect_equal(rules(made(events))[:1], [rule], f"{tasks_us} us of tasks")


def test_long_tasks_are_drawn():
    for program in ("short_tasks", clang()):
        trace = same(program, "long", COUNT // 3, env=THIN).trace
        found = [one for one in trace.slices(omp="explicit") if one["dur"] > 150]
        expect(len(found) + unfollowed(trace) >= COUNT / 300, len(found))


def test_without_a_bound_each_task_is_drawn():
    for program in ("short_tasks", clang()):
        trace = same(program, "flat", 5000, env={"TRACEPROF_MAX_OVERHEAD": "0"}).trace
        expect_equal(len(trace.slices(omp="explicit")) + unfollowed(trace), 5000, "tasks")
        expect_equal(len(trace.slices(omp="create")), 5000, "creations")
        expect_equal(len(trace.slices(omp="tasks")), 0, "rows")
        expect("sampled" not in trace.meta, "sampled")


def test_tasks_of_windows():
    """Each file has those of its own steps."""
    for program, function in (("short_tasks", "begin_turn"), (clang(), "work")):
        run = traced(program, "flat", 4000, 2, 12, env=THIN | {
            "TRACEPROF_STEP": f"omp:{function}", "TRACEPROF_WAIT": "2",
            "TRACEPROF_ACTIVE": "3", "TRACEPROF_REPEAT": "2"})
        expect_equal(len(run.traces), 2, "files")
        lost = unfollowed(run.traces[-1])
        expect_thinned(run.traces[-1], 12000)
        for trace in run.traces:
            expect_equal(creations(trace), 3 * 4000, "creations")
            expect(3 * 4000 - lost <= tasks(trace) <= 3 * 4000, tasks(trace), lost)
            sums_fit_slices(trace)


def forget_libomp(pid):
    """What it leaves when it is killed."""
    for path in glob.glob(f"/dev/shm/__KMP_REGISTERED_LIB_{pid}_*"):
        os.unlink(path)


def test_a_killed_run_adds_up():
    for program in ("short_tasks", clang()):
        for mode in MODES:
            run = traced(program, "kill", COUNT, env=THIN | mode, check=False)
            expect_equal(run.status, -signal.SIGKILL, "status")
            forget_libomp(run.pid)
            command("recover", run.folder)
            events = run.trace.meta["events"]
            kinds = run.trace.meta["written_by_kind"]
            expect_thinned(run.trace, COUNT)
            calls = (events["thinned"] + kinds["omp_explicit"] + kinds["omp_create"]
                     + events["unrecorded_calls"])
            expect_equal(calls, 2 * COUNT, "tasks and creations")
            expect(command("check", run.trace.path).status == 0, "check")


def test_the_report_says_how_many_and_how_long():
    trace = same("short_tasks", "flat", COUNT, env=THIN).trace
    row, = rows(trace, "explicit")
    text = " ".join(command("report", trace.path).stdout.split())
    expect(f'{row["thinned"]} of {COUNT} tasks were short and are not drawn' in text, text)
    expect(f'{row["thinned"]} of {COUNT} tasks were short and are counted' in text, text)
    said = json.loads(command("report", "--json", trace.path).stdout)[0]
    found, = (one for part in said["categories"] for one in part["names"]
              if one["name"] == row["name"])
    expect_equal(found["calls"], COUNT, found)
    expect("median_ns" not in found, "of those that are drawn alone", found)


if __name__ == "__main__":
    harness.main()
