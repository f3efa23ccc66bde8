# SPDX-License-Identifier: MIT
"""Steps that are slow, and what is said of them."""

import harness
from harness import command, expect, expect_equal
from t_verdict import judged, made, slice_, step_

BESIDE = 10000700  # the lane beside thread 700


def steps(lengths, inside=lambda at, number: []):
    """One after the other, of so many us, each with what inside() puts there."""
    events, at = [], 0
    for number, length in enumerate(lengths):
        events += [step_(number, at, length), slice_("aten::mm", at + 1, length - 2)]
        events += inside(at, number)
        at += length
    return events


def found(events, ours=None):
    return {one["rule"]: one for one in judged(made(events, ours))["findings"]}


def compiles(number, *names, took=8000, tid=BESIDE):
    """In that step, one after the other."""
    return lambda at, here: [
        slice_(name, at + 500 + turn * took, took, tid, "user_annotation")
        for turn, name in enumerate(names)] if here == number else []


def test_what_is_compiled_in_a_slow_step_is_named():
    """It is drawn beside the thread, where another slice of the thread's own may be
    as long."""
    lengths = [1000] * 30
    lengths[13] = 10000
    name = "torch.compile: train.py(6): f [1/1]"
    one = found(steps(lengths, compiles(13, name)))["outliers"]
    expect(f"step 13 takes 10.0 times" in one["figure"] and
           f", most of it in {name}" in one["figure"], one)
    expect("TORCH_LOGS=recompiles" in one["next"], one)
    one = found(steps(lengths, lambda at, number: [
        *compiles(13, "jax.jit: compile f, train.py(7)")(at, number),
        *([slice_("call", at + 499, 8002)] if number == 13 else [])]))["outliers"]
    expect(", most of it in jax.jit: compile f, train.py(7)" in one["figure"], one)
    expect("JAX_EXPLAIN_CACHE_MISSES=1" in one["next"], one)
    one = found(steps(lengths, compiles(13, name, name.replace("1/1", "2/1"),
                                        took=4000)))["outliers"]
    expect(", most of it in 2 compilations, the longest torch.compile: " in one["figure"], one)
    lengths[13], lengths[0] = 1000, 10000
    one = found(steps(lengths, compiles(0, name)))["first-step"]
    expect(f", most of it in {name}" in one["figure"], one)


def test_a_long_name_of_a_compilation_keeps_its_function():
    """The number of a compilation has a slash, too."""
    lengths = [1000] * 30
    lengths[13] = 10000
    name = "torch.compile: /a/long/path/of/train.py(18): torch_dynamo_resume_in_loss_at_18 [1/0]"
    one = found(steps(lengths, compiles(13, name)))["outliers"]
    expect("most of it in .../of/train.py(18): torch_dynamo_resume_in_loss_at_18 [1/0]"
           in one["figure"], one)
    one = found(steps(lengths, compiles(13, name.replace("in_loss", "in_a_long_function"))))
    expect("most of it in ...n.py(18): torch_dynamo_resume_in_a_long_function_at_18 [1/0]"
           in one["outliers"]["figure"], one)


def test_what_is_compiled_elsewhere_or_in_no_time_is_not_named():
    lengths = [1000] * 30
    lengths[13] = 10000
    name = "torch.compile: train.py(6): f [1/1]"
    for inside in (compiles(13, name, took=4000), compiles(12, name, took=400),
                   compiles(13, name, tid=BESIDE + 1)):
        one = found(steps(lengths, inside))["outliers"]
        expect("most of it" not in one["figure"], one)
        expect("compare that step" in one["next"], one)


def sides(before, after, worst=0):
    """Steps with calls of Python, and those without, whose worst comes in their midst."""
    lengths = list(before) + list(after)
    if worst:
        lengths[len(before) + len(after) // 2] = worst
    return steps(lengths), {"python": {"ended": float(sum(before))}}


def test_steps_with_calls_of_python_are_not_told_slow():
    """What they take longer is what recording them costs.  Those without are judged, if
    they are a quarter, the first of all is no longer a first one, and a line says so."""
    with_calls = [9000] + [4000] * 11
    events, ours = sides(with_calls, [1000] * 40)
    expect_equal(found(events, ours), {})
    said = command("report", "--verdict", made(events, ours)).stdout
    expect("Verdict: 40 steps, median 1.000 ms" in said and "\n12 steps with recorded calls of "
           "Python are left out: they take longer\n" in said, said)
    one = found(*sides(with_calls, [1000] * 40, 9000))["outliers"]
    expect("1 of 40 steps is slow, step 32 takes 9.0 times the median" in one["figure"], one)
    both = found(*sides(with_calls, [9000] + [1000] * 39))
    expect("first-step" not in both and "1 of 40" in both["outliers"]["figure"], both)
    many = [4000] * 40
    many[20] = 20000
    one = found(*sides(many, [1000] * 14, 9000))["outliers"]
    expect("1 of 14 steps is slow" in one["figure"], one)
    events, ours = sides(many, [1000] * 12)
    one = found(events, ours)["outliers"]
    expect("1 of 40 steps is slow, step 20 takes 5.0 times the median" in one["figure"], one)
    said = command("report", "--verdict", made(events, ours)).stdout
    expect("\n12 steps without recorded calls of Python are left out: they take less\n" in said,
           said)


def test_steps_with_calls_of_python_have_a_median_of_their_own():
    """Where they take little longer all are judged, each beside its like."""
    events, ours = sides([1400] * 9 + [2400] * 3, [1000] * 40)
    expect("outliers" not in found(events, ours), found(events, ours))
    expect("outliers" in found(events), "recorded alike")
    one = found(*sides([1400] * 12, [1000] * 40, 9000))["outliers"]
    expect("1 of 52 steps is slow" in one["figure"], one)
    one = found(*sides([1000] * 12, [1800] * 40, 9000))["outliers"]
    expect("1 of 52 steps is slow" in one["figure"], "slower without: not for them", one)


if __name__ == "__main__":
    harness.main()
