# SPDX-License-Identifier: MIT
"""The README's recipes, as they stand there, do what they say."""

import os
import re
import shlex

import harness
from harness import expect, expect_equal, traced

BATCHES = 391


def readme():
    with open(os.path.join(harness.ROOT, "README.md"), encoding="utf-8") as file:
        return file.read()


def settings(recipe):
    """The variables of a row of the table."""
    row = re.search(rf"^\| {re.escape(recipe)} \| `(.+)` \|$", readme(), re.M)
    expect(row, f"README has no recipe \"{recipe}\"")
    return dict(word.split("=", 1) for word in shlex.split(row.group(1)))


def files(recipe, *command, **more):
    run = traced(*command, env=settings(recipe) | {"TRACEPROF_MALLOC": "off"} | more)
    return [trace.steps() for trace in run.traces]


def epochs(recipe, count):
    """(steps, batches) of each file: of `count` epochs of a trainer that has one
    region adam_update for each batch."""
    run = traced("adam", count * BATCHES,
                 env=settings(recipe) | {"TRACEPROF_MALLOC": "off"})
    return [(trace.steps(), len(trace.regions("adam_update")))
            for trace in run.traces]


def test_skip_warm_up_record_twice():
    expect_equal(files("skip 3, warm up 1, record 3, twice", "step_loop", 30),
                 [[4, 5, 6], [11, 12, 13]])


def test_a_range_of_steps():
    wanted = [list(range(150, 156))]
    expect_equal(files("steps 150–155", "step_loop", 200), wanted)
    expect_equal(files("the same, the two steps before as warm-up", "step_loop", 200),
                 wanted)


def test_every_thousandth():
    expect_equal(files("every 1000th step", "step_loop", 3001),
                 [[999], [1999], [2999]])


def test_by_epoch():
    expect_equal(epochs("by epoch of 391 batches, the second", 4), [([1], BATCHES)])
    expect_equal(epochs("by epoch of 391 batches: skip 1, warm up 1, record 1, twice", 7),
                 [([2], BATCHES), ([5], BATCHES)])


def test_by_hand():
    run = traced("manual", env=settings("only what `traceprof_start(name)`/`stop` "
                                        "enclose (with nothing set: the rest "
                                        "too, in files of its own)"))
    expect_equal([trace.meta["step"]["name"] for trace in run.traces],
                 ["first", "second"])


def test_from_python():
    """A capture that goes on at once, a block, a decorated function."""
    code = re.search(r"```python\n(import traceprof.*?)```", readme(), re.S).group(1)
    code = ("def load():\n    return sum(range(1000))\n" + code
            + "for _ in range(6):\n    train_step()\n")
    run = traced("python3", "-c", code, env={
        "TRACEPROF_STEP": "manual", "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.path.join(harness.ROOT, "tools", "python")})
    expect_equal(run.status, 0, run.stderr)
    capture, function = run.traces
    expect(os.path.samefile(run.stdout.strip(), capture.path), run.stdout)
    expect_equal(len(capture.slices("one block")), 1, "the block")
    expect(function.slices("train_step"), "the function's call")
    expect_equal(function.meta["step"]["name"], "train_step", "its window")


if __name__ == "__main__":
    harness.main()
