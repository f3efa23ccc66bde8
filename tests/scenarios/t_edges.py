# SPDX-License-Identifier: MIT
"""What lies across the begin or the end of a window: in it, or counted."""

import os
import subprocess

import harness
from harness import PROGRAMS, ROOT, Skip, expect, expect_equal, folder, same, traced


def edges(*arguments, program="edges", **options):
    env = {"TRACEPROF_" + key.upper(): str(value) for key, value in options.items()}
    return same(program, *arguments, env=env)


def runs_of_tasks(run):
    """All but the first, of which nobody knows when it begins."""
    return [len([one for one in trace.slices(omp="explicit")
                 if one["args"]["task"] > 1]) for trace in run.traces]


def check_tasks(program):
    run = edges("tasks", 100, program=program, wait=1, active=1, repeat=1)
    expect_equal(runs_of_tasks(run), [100], "tasks that ran in the window")


def test_tasks_that_were_created_before_the_window():
    check_tasks("edges")


def test_tasks_of_libomp_that_were_created_before_the_window():
    program = os.path.join(folder(), "edges")
    try:
        done = subprocess.run(
            ["clang", "-O1", "-g", "-D_GNU_SOURCE", "-I", ROOT + "/include",
             "-fopenmp", "-pthread", "-o", program,
             os.path.join(ROOT, "tests/programs/edges.c")],
            capture_output=True, text=True)
    except FileNotFoundError:
        raise Skip("clang is not on this machine")
    if done.returncode:
        raise Skip("clang has no OpenMP here: " + done.stderr[:200])
    check_tasks(program)


def test_a_lock_that_is_held_across_windows():
    """The end of one inside it, taken between windows, is not its end."""
    run = edges("locks", wait=1, active=1)
    held = [trace.slices(sync="critical", omp="held") for trace in run.traces]
    expect_equal([len(one) for one in held], [1, 1], "held")
    window = run.traces[1].slices("ProfilerStep#3")[0]
    expect(abs(held[1][0]["dur"] - window["dur"]) < 0.01 * window["dur"] + 1,
           held[1], window)


def test_what_ends_just_behind_its_window():
    run = edges("ends", 41, wait=3, active=1)
    expect_equal(len(run.files), 10, "files")
    for trace in run.traces:
        step = trace.slices("ProfilerStep#*")[0]
        for found in (trace.regions("edge"), trace.slices("edge scope")):
            inside = [one for one in found if one["ts"] >= step["ts"] - 0.01]
            expect_equal(len(inside), 1, f"{trace.path}: {found} in {step}")


def test_what_other_threads_do_at_once():
    run = edges("others", 400, wait=3, active=1)
    expect_equal([len(trace.slices("other")) for trace in run.traces],
                 [1] * len(run.files), "scopes of the other thread")


def test_signals_between_any_two_instructions():
    """The program's own count of calls is what was seen, to the last one."""
    run = traced("edges", "signals", 100000)
    handled = int(run.stdout)
    events = run.trace.meta["events"]
    expect_equal(len(run.trace.slices("between")), 100000, "scopes")
    expect_equal(len(run.trace.slices("handler")) + events.get("missed_calls", 0),
                 handled, "what handlers did")
    expect_equal(events["seen"], 120000 + handled, "seen")
    if events.get("missed_calls"):
        expect("calls missed that came inside of others, of handlers or the loader"
               in run.stderr, run.stderr)


def test_what_a_program_calls_like_a_system_call_is_its_own():
    """A read() of other arguments, an array `signal`: they stand before the C library's."""
    run = same("own_names")
    expect_equal(len(run.traces[0].slices("ProfilerStep#*")), 40, "steps")


if __name__ == "__main__":
    harness.main()
