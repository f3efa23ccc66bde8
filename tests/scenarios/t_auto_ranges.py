# SPDX-License-Identifier: MIT
"""TRACEPROF_STEP=auto on ranges that lie in others: the outermost that turns is the
step, whatever those in it are called, in the run and by `traceprof steps`."""

import harness
from harness import command, expect, expect_equal, same
from t_auto import expect_begin_with, said

WINDOW = {"TRACEPROF_WAIT": "3", "TRACEPROF_ACTIVE": "2", "TRACEPROF_REPEAT": "1"}
MODULE = "XlaModule:#hlo_module=jit_%s#"


def expect_range(mode, marker, steps=40, ranges=None):
    """Step k begins with the range k of that name."""
    run = same("named_ranges", mode, str(steps))
    expect_equal(said(run)[0], f'range "{marker}"', run.stderr)
    expect_equal(run.trace.steps(), list(range(steps)), "steps")
    expect_begin_with(run.trace.slices("ProfilerStep#*"),
                      run.trace.slices(ranges or marker))
    shown = command("steps", run.trace.path)
    expect(f"step: {steps} x {marker}, " in " ".join(shown.stdout.split()),
           "the command says otherwise", shown.stdout)


def test_a_step_around_what_is_called_like_one():
    """By XLA, after the function that it compiled: several thunks of one name but for
    numbers in it."""
    expect_range("marked", "train_step")


def test_a_function_that_is_called_step():
    expect_range("step", MODULE % "step")


def test_a_module_around_its_thunks():
    expect_range("update", MODULE % "update")


def test_steps_that_xla_numbers():
    expect_range("numbers", "train#step_num=0#", ranges="train#step_num=*")


def test_a_step_of_many_ranges_after_a_few_others():
    expect_range("checked", "train_step")


def test_parts_of_a_step_that_are_over_before_it_is():
    """The third microbatch ends before the first step does."""
    expect_range("parts", "step", 6)
    run = same("named_ranges", "parts", "6", env=WINDOW)
    expect_equal(said(run)[0], 'range "step"', run.stderr)
    expect_equal([trace.steps() for trace in run.traces], [[3, 4]], "window")
    expect_equal(len(run.trace.slices("microbatch")), 8, "parts in the window")


def test_a_range_around_all_steps():
    """It isn't over before the run is."""
    run = same("named_ranges", "whole", "6", env=WINDOW)
    expect_equal(said(run)[0], 'range "step"', run.stderr)
    expect_equal([trace.steps() for trace in run.traces], [[3, 4]], "window")


if __name__ == "__main__":
    harness.main()
