# SPDX-License-Identifier: MIT
"""TRACEPROF_STEP=auto for scripts in Python that put work on a GPU: their calls tell
little, their lines and loops tell the step.  Each says how many steps it has, as a
person counts them."""

import os
import re
import sys

import harness
from harness import ROOT, compile_program, expect, expect_equal
from t_cuda import on_gpu

SCRIPTS = os.path.join(ROOT, "tests", "steps", "scripts")
# Nothing tells which loop it is, and nothing is said.
IN_DOUBT = {"burgers", "potts", "rl", "walk"}


def script(name, **env):
    """The run, and the steps that it says."""
    path = os.path.join(SCRIPTS, name + ".py")
    with open(path, encoding="utf-8") as file:
        said = re.search(r"  steps ([\d ]+)", file.read()).group(1)
    run = on_gpu(path, program=sys.executable, **env)
    expect_equal(run.status, 0, run.stderr)
    return run, [int(count) for count in said.split()]


def scripts():
    return sorted(name[:-3] for name in os.listdir(SCRIPTS)
                  if name.endswith(".py") and name != "gpu_client.py")


def test_each_script_has_its_steps_or_none():
    wrong = []
    for name in scripts():
        run, said = script(name)
        count = len(run.trace.steps())
        if count != 0 if name in IN_DOUBT else count not in said:
            wrong.append((name, count, said, run.stderr[:200]))
    expect_equal(wrong, [], "steps")


def test_what_calls_the_driver_can_not_be_read():
    """As of most libraries: Python's loops are around those calls all the same."""
    closed = compile_program("lib/closed_driver.c", "-shared", "-fPIC", name="libclosed.so")
    wrong = []
    for name in scripts():
        run, said = script(name, CLOSED_LIBRARY=closed)
        count = len(run.trace.steps())
        if count and count not in said:
            wrong.append((name, count, said, run.stderr[:200]))
    expect_equal(wrong, [], "steps")


def test_a_function_that_is_called_twice_in_a_step():
    """Its kernels come from two lines of one loop: two of them are a step."""
    for name, count in (("als", 40), ("adversaries", 120)):
        run, _ = script(name)
        expect("one in 2" in run.stderr, run.stderr)
        expect_equal(run.trace.steps(), list(range(count)), name)


if __name__ == "__main__":
    harness.main()
