# SPDX-License-Identifier: MIT
"""From which lines most calls of an operator come, where few of them tell it: one a
millisecond, so hardly ever one that follows another at once."""

import harness
from harness import expect
from t_verdict_torch import called, first, is_found, slices

LOOP, OTHER = "train.py(5): forward", "train.py(9): <module>"


def layers(tells):
    """In each step one copy behind a long operator, which always tells its line, and
    ten behind short ones, of which tells(step, copy) do."""
    def fill(start):
        events = [slices("aten::randn", start, 100),
                  called("aten::contiguous", start + 101, 30, OTHER)]
        for copy in range(10):
            at = start + 200 + 50 * copy
            events.append(slices("aten::transpose", at, 2))
            events.append(called("aten::contiguous", at + 3, 30, LOOP)
                          if tells(start // 1000, copy) else
                          slices("aten::contiguous", at + 3, 30))
        return events
    return first(fill)


def test_calls_that_tell_their_line_speak_for_others_like_them_alone():
    for tells in (lambda step, copy: False, lambda step, copy: step < 3 and copy == 4):
        found = layers(tells)
        is_found(found, "copied-layout", "(aten::contiguous, 11 calls)")
        expect("In which function: TRACEPROF_PYTHON=1" in found["next"], found)
    found = layers(lambda step, copy: step < 4 and copy == 4)
    is_found(found, "copied-layout", f"(aten::contiguous, 11 calls, most in {LOOP})")
    expect("TRACEPROF_PYTHON" not in found["next"], found)


def test_of_two_lines_both_are_said():
    """Where neither has most calls alone; of three, that none is known to have."""
    def found(lines):
        def fill(start):
            events = []
            for number in range(150):
                name, line = lines[number % len(lines)]
                at = start + 6 * number
                events += [slices(name, at, 1),
                           called("aten::add_", at + 2, 3, line) if number % 40 < len(lines)
                           else slices("aten::add_", at + 2, 3)]
            return events
        return first(fill)
    lines = [("aten::mul", LOOP), ("aten::sqrt", OTHER), ("aten::div", "train.py(12): update")]
    is_found(found(lines[:1] + lines[1:2]), "short-operators", f", most in {LOOP} and {OTHER}")
    is_found(found(lines[:1] * 2 + lines[1:2]), "short-operators", f", most in {LOOP}")
    one = found(lines + [("aten::exp", "train.py(20): loss")])
    expect("most in" not in one["figure"], one)


def test_most_calls_are_not_what_takes_most():
    """Of a function's, where those are recorded."""
    def fill(start):
        events = [slices("train.py(3): once", start, 600, "python_function"),
                  slices("train.py(9): often", start + 601, 398, "python_function")]
        for number in range(120):
            at = start + 1 + 14 * number if number < 40 else start + 602 + 4 * (number - 40)
            events.append(slices("aten::mul", at, 12 if number < 40 else 3))
        return events
    is_found(first(fill), "short-operators", "most in train.py(9): often")


def test_the_line_of_a_copy_for_a_shape_is_one_that_copies():
    """Most views are asked for elsewhere."""
    def fill(start):
        events = []
        for number in range(20):
            at = start + 40 * number
            events.append(called("aten::reshape", at, 2, OTHER))
        return events + [called("aten::reshape", start + 850, 140, LOOP),
                         slices("aten::clone", start + 855, 130)]
    is_found(first(fill), "copied-layout", "aten::reshape, 1 calls, most in " + LOOP)


if __name__ == "__main__":
    harness.main()
