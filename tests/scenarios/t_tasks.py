# SPDX-License-Identifier: MIT
"""OpenMP tasks: each gets a slice where it runs, and its data arrive whole."""

import harness
from harness import expect, expect_equal, same


def tasks(construct, threads=2):
    return same("tasks", construct, threads).trace


def check_explicit(construct, least, threads=2):
    """At least so many task executions, each on a thread of a team."""
    trace = tasks(construct, threads)
    found = trace.explicit_tasks()
    expect(len(found) >= least, f"{len(found)} tasks ran, {least} wanted",
           sorted({one["name"] for one in trace.slices()}))
    team = {one["tid"] for one in trace.slices(omp="task")}
    for one in found:
        expect(one["tid"] in team or not team, "ran on a thread of no team", one)
    return trace, found


def test_results_stay_the_same():
    for threads in (1, 2, 5):
        same("tasks", "all", threads)


def test_task():
    check_explicit("task", 10)


def test_task_creation():
    trace = tasks("task")
    expect_equal(len(trace.created_tasks()), 10, "tasks created")


def test_taskwait():
    trace, _ = check_explicit("taskwait", 2)
    expect(trace.waits("taskwait"), "no wait for tasks")


def test_depend():
    trace, _ = check_explicit("task_depend", 2)
    expect(trace.waits("taskwait"), "no wait for a dependence")


def test_taskgroup():
    trace, _ = check_explicit("taskgroup", 5)
    expect(trace.waits("taskgroup"), "no wait for the group")
    expect_equal(len(trace.held("taskgroup")), 1, "groups")


def test_taskloop():
    trace, _ = check_explicit("taskloop", 5)
    expect(trace.slices("*taskloop*"), "no slice for the taskloop")


def test_taskloop_ull():
    check_explicit("taskloop_ull", 4)


def test_taskloop_reduction():
    check_explicit("taskloop_reduction", 4)


def test_task_reduction():
    check_explicit("task_reduction", 10)


def test_aligned_data():
    check_explicit("task_aligned", 4)


def test_copied_data():
    check_explicit("task_copied", 4)


def test_undeferred():
    check_explicit("task_undeferred", 4)


def test_priority_and_untied():
    check_explicit("task_priority", 6)


def test_detached():
    check_explicit("task_detach", 1)


def test_tree_of_tasks():
    check_explicit("task_tree", 200)


def test_task_outside_of_a_region():
    run = same("tasks", "task_alone")
    expect(len(run.files) <= 1, "more than one file")


if __name__ == "__main__":
    harness.main()
