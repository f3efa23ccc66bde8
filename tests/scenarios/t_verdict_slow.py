# SPDX-License-Identifier: MIT
"""Steps that are slow, and what is said of them."""

import harness
from harness import expect, expect_equal
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


def test_what_is_compiled_elsewhere_or_in_no_time_is_not_named():
    lengths = [1000] * 30
    lengths[13] = 10000
    name = "torch.compile: train.py(6): f [1/1]"
    for inside in (compiles(13, name, took=4000), compiles(12, name, took=400),
                   compiles(13, name, tid=BESIDE + 1)):
        one = found(steps(lengths, inside))["outliers"]
        expect("most of it" not in one["figure"], one)
        expect("compare that step" in one["next"], one)


if __name__ == "__main__":
    harness.main()
