# SPDX-License-Identifier: MIT
"""Steps and schedules: which iterations lie in which file."""

import re

import harness
from harness import command, expect, expect_equal, same


def steps(count, *arguments, **options):
    """Step numbers of each file, oldest first, and the run."""
    env = {"TRACEPROF_" + key.upper(): str(value) for key, value in options.items()}
    run = same("step_loop", count, *arguments, env=env)
    return [trace.steps() for trace in run.traces], run


def works(run):
    """How many of the region `work` lie in each file."""
    return [len(trace.regions("work")) for trace in run.traces]


def test_whole_run_without_a_schedule():
    files, run = steps(5)
    expect_equal(files, [[0, 1, 2, 3, 4]], "steps")
    expect_equal(works(run), [5], "regions")


def test_one_cycle():
    files, run = steps(20, wait=3, warmup=1, active=3, repeat=1)
    expect_equal(files, [[4, 5, 6]], "steps")
    expect_equal(works(run), [3], "regions")


def test_two_cycles():
    """The README's "pass over 3, warm up 1, record 3, twice"."""
    files, run = steps(30, wait=3, warmup=1, active=3, repeat=2)
    expect_equal(files, [[4, 5, 6], [11, 12, 13]], "steps")
    expect_equal(works(run), [3, 3], "regions")


def test_for_ever():
    files, _ = steps(12, wait=2, active=1)
    expect_equal(files, [[2], [5], [8], [11]], "steps")


def test_windows_that_come_too_fast_are_counted_and_said():
    files, run = steps(400, wait=1, active=1)
    missed = run.traces[-1].meta["step"]["missed_windows"]
    expect_equal(len(files) + missed, 200, "windows")
    said = f"{missed} of the schedule's windows were missed" in run.stderr
    expect_equal(said, missed > 0, run.stderr)


def test_a_range_of_steps():
    files, _ = steps(200, skip_first=150, active=6, repeat=1)
    expect_equal(files, [[150, 151, 152, 153, 154, 155]], "steps")


def test_every_hundredth():
    files, _ = steps(301, wait=99, active=1)
    expect_equal(files, [[99], [199], [299]], "steps")


def test_first_wait_left_out():
    files, _ = steps(12, wait=3, active=1, skip_first_wait=1, repeat=2)
    expect_equal(files, [[0], [4]], "steps")


def test_skip_first():
    files, _ = steps(10, skip_first=2, wait=1, active=2, repeat=1)
    expect_equal(files, [[3, 4]], "steps")


def test_active_to_the_end():
    files, _ = steps(8, wait=5)
    expect_equal(files, [[5, 6, 7]], "steps")


def test_run_that_ends_inside_a_window():
    files, _ = steps(6, wait=4, active=10, repeat=1)
    expect_equal(files, [[4, 5]], "steps")


def test_schedule_that_is_never_reached():
    files, run = steps(5, wait=100, active=3)
    expect_equal(files, [], "files")
    said = "\n".join(run.own_lines)
    expect(re.search(r"\b5 steps", said) and "101" in said or "103" in said,
           "does not say how many steps came and how many it takes", run.stderr)


def test_steps_by_function():
    files, run = steps(10, 0, "unmarked", step="omp:work", wait=2, active=3, repeat=1)
    expect_equal(files, [[2, 3, 4]], "steps")
    expect_equal(works(run), [3], "regions")


def test_steps_by_pattern_and_divisor():
    """update runs twice an iteration; four of its regions make a step."""
    files, run = steps(20, 0, "unmarked", step="omp:upd*/4", wait=2, active=2, repeat=1)
    expect_equal(files, [[2, 3]], "steps")
    expect_equal([len(trace.regions("update")) for trace in run.traces], [8], "regions")


def test_steps_of_the_program_with_divisor():
    files, _ = steps(20, step="api/5", wait=1, active=2, repeat=1)
    expect_equal(files, [[1, 2]], "steps")


def test_steps_by_time():
    files, _ = steps(40, 10, "unmarked", step="time:50", wait=1, active=2, repeat=1)
    expect_equal(files, [[1, 2]], "steps")


def test_steps_that_the_program_does_not_mark():
    files, run = steps(5, 0, "unmarked", step="api", wait=1, active=1)
    expect_equal(files, [], "files")
    expect(run.own_lines, "says nothing of steps that never came")


def test_a_pattern_that_never_matches_is_said():
    """Where it can't, at the start; where nothing was called so, at the end."""
    for step, words in (("omp:[", "TRACEPROF_STEP=omp:[ is not valid: its [ has no ]"),
                        ("omp:work/0", "is not valid: after / comes a count from 1 on"),
                        ("omp:none*", "=omp:none* matched nothing: the run has no steps"),
                        ("range:none/0", "=range:none/0 matched nothing: the run has no"),
                        ("omp:work", None)):
        _, run = steps(5, 0, "unmarked", step=step)
        lines = [line for line in run.own_lines if "TRACEPROF_STEP=" in line]
        expect_equal(len(lines), 1 if words else 0, f"{step}: {run.stderr}")
        expect(not words or words in lines[0], run.stderr)


def test_step_slices_are_annotations_of_the_cpu():
    _, run = steps(3)
    for event in run.trace.slices("ProfilerStep#*"):
        expect_equal(event["cat"], "user_annotation", "category")
    expect(not run.trace.slices("ProfilerStep#*", cat="gpu_user_annotation"), "twin")


def test_plan_says_what_happens():
    said = command("plan", "--wait", 3, "--warmup", 1, "--active", 3, "--repeat", 2)
    if said.status == 2:        # takes the variables as well
        said = command("plan", env={"TRACEPROF_WAIT": "3", "TRACEPROF_WARMUP": "1",
                                    "TRACEPROF_ACTIVE": "3", "TRACEPROF_REPEAT": "2"})
    expect_equal(said.status, 0, said.stderr)
    numbers = re.findall(r"\d+", said.stdout)
    for number in ("4", "6", "11", "13"):
        expect(number in numbers, f"no step {number}", said.stdout)


if __name__ == "__main__":
    harness.main()
