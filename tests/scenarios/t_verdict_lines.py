# SPDX-License-Identifier: MIT
"""From which lines most calls of an operator come, where few of them tell it: one a
millisecond, so hardly ever one that follows another at once."""

import harness
from harness import expect, expect_equal
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
    lines = [("aten::mm", LOOP), ("aten::bmm", OTHER), ("aten::addmm", "train.py(12): update")]
    is_found(found(lines[:1] + lines[1:2]), "short-operators", f", most in {LOOP} and {OTHER}")
    is_found(found(lines[:1] * 2 + lines[1:2]), "short-operators", f", most in {LOOP}")
    one = found(lines + [("aten::matmul", "train.py(20): loss")])
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


def in_turn(*names, rounds=40, below=False, lines=(LOOP, LOOP, OTHER), told=9, dur=2):
    """A step has so many turns of these operators; here and there one tells its line."""
    def fill(start):
        events = [slices("aten::linear", start, 50)]
        for number in range(rounds * len(names)):
            at, place = start + 60 + (dur + 1) * number, number % len(names)
            events.append(called(names[place], at, dur, lines[place % len(lines)], below)
                          if told and number % told == place else slices(names[place], at, dur))
        return events
    return first(fill)


UPDATE = ("aten::mul_", "aten::add_", "aten::sub_")


def test_short_operators_that_come_in_turn():
    """None of the three comes a hundred times a step."""
    found = in_turn(*UPDATE)
    is_found(found, "short-operators", "120 calls a step, in turn, of aten::",
             "2.000 us each", f", most in {LOOP}")
    expect(all(name in found["figure"] for name in UPDATE), found)
    expect("_foreach_" in found["next"] and "TRACEPROF_PYTHON" not in found["next"], found)
    found = in_turn(*UPDATE, lines=(LOOP, OTHER, "train.py(30): step"))
    expect("most in train.py" in found["figure"] and " and train.py" in found["figure"], found)
    many = ["aten::pow", "aten::sum", "aten::sqrt", "aten::add_", "aten::clamp_", "aten::add",
            "aten::div_", "aten::mul", "aten::abs_"]
    found = in_turn(*many, rounds=30, lines=[LOOP] * 7 + [OTHER] * 2)
    is_found(found, "short-operators", "270 calls a step, in turn, of aten::", " and 5 more, 2.0",
             f", most in {LOOP}")


def test_what_takes_more_is_said_of_turns_and_of_one_operator():
    """A loop's turns beside many shorter calls of one operator, within others."""
    def found(dur):
        def fill(start):
            events = []
            for number in range(120):
                at = start + 8 * number
                name = UPDATE[number % 3]
                events += [called(name, at, 4, LOOP) if number % 9 < 3 else slices(name, at, 4),
                           slices("aten::as_strided", at + 0.5, dur)]
            return events
        return first(fill)
    is_found(found(1), "short-operators", "120 calls a step, in turn, of aten::")
    is_found(found(3.2), "short-operators", "120 calls a step, in turn, of aten::")


def test_turns_that_are_no_loop_over_parameters():
    """An optimizer of PyTorch's, a model's layers, what changes nothing in place, what
    isn't known to be the program's, and too few."""
    for words in ({"below": True}, {"rounds": 33}, {"told": 0}):
        expect_equal(in_turn(*UPDATE, **words), None, words)
    for names in (("aten::linear", "aten::add_", "aten::gelu"),
                  ("aten::mul", "aten::add", "aten::sub")):
        expect_equal(in_turn(*names), None, names)


if __name__ == "__main__":
    harness.main()
