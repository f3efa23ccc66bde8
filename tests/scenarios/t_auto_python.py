# SPDX-License-Identifier: MIT
"""The step of a program in Python whose regions tell nothing: its lines and the loops
of its functions do."""

import os

import harness
from harness import compile_program, expect, expect_equal, traced
from t_python_stacks import pythons

SCRIPT = '''
import ctypes, sys
work = ctypes.CDLL(sys.argv[1])
one, two = work.region_one, work.region_two
%s
print("done")
'''


def run(body, path, **env):
    script = os.path.join(harness.folder(), "program.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(SCRIPT % body)
    regions = compile_program("lib/regions.c", "-shared", "-fPIC", "-fopenmp",
                              name="libregions.so")
    done = traced(path, script, regions, env=env)
    expect_equal((done.status, done.stdout), (0, "done\n"), done.stderr)
    return done


def expect_steps(body, steps, versions=("3.11", "3.12", "3.13", "3.14", "3.15")):
    for version, path in pythons().items():
        if version in versions:
            done = run(body, path)
            expect_equal(len(done.trace.steps()), steps, (version, done.stderr))


def test_one_region_in_one_loop():
    expect_steps('''
for i in range(45):
    one()
''', 45)


def test_one_region_some_functions_up():
    """The loop is the caller's, and each call's place is the same."""
    expect_steps('''
class Model:
    def fit(self, turns):
        while turns:
            self.turn(*[turns])
            turns -= 1
    def turn(self, *numbers):
        one()
Model().fit(70)
''', 70)


def test_one_region_in_two_loops():
    """An iteration may run it once or four times."""
    expect_steps('''
for i in range(20):
    for k in range(4):
        one()
''', 0)


def test_two_lines_that_call_one_region():
    """CPython runs them in the same frames."""
    expect_steps('''
def sweep():
    one()
    one()
for i in range(50):
    sweep()
''', 50, ("3.10", "3.11", "3.12", "3.13", "3.14", "3.15"))


def test_two_lines_some_frames_further_up():
    expect_steps('''
for i in range(50):
    work.region_deep(12)
    work.region_deep(12)
''', 50)


def test_a_loop_around_turns_of_any_length():
    """Each has what it begins and ends with, and sweeps until something converged."""
    expect_steps('''
for i in range(60):
    two()
    for k in range(3 + i * 7 % 11):
        one(); work.region_three()
    work.region_four()
''', 60)


def test_what_comes_after_the_loop():
    """An exception leads to where the loop goes on, and no turn does."""
    expect_steps('''
for i in range(40):
    try:
        one()
    except OSError:
        continue
for i in range(3):
    two()
''', 40)


OPAQUE = """
def opaque(times=1):
    work.region_opaque(times)
"""
COUNTED = ("3.11", "3.12", "3.13", "3.14", "3.15")


def expect_opaque(body, steps, versions=COUNTED, *lines):
    """Of what lies between the line and the region nothing is known."""
    for version, path in pythons().items():
        if version in versions:
            done = run(OPAQUE + body, path)
            expect_equal(len(done.trace.steps()), steps, (version, done.stderr))
            for line in lines:
                expect(line in done.stderr, (version, line, done.stderr))


def test_what_a_loop_goes_through_tells_its_turns():
    expect_opaque('''
for i in range(45):
    opaque()
''', 45)
    expect_opaque('''
for i, name in enumerate("abcdefgh" * 5):
    opaque()
''', 40)
    expect_opaque('''
for i in list(range(33)):
    opaque()
''', 33)


def test_its_turns_are_told_some_functions_up():
    expect_opaque('''
class Model:
    def fit(self, turns):
        for turn in range(turns):
            self.turn(turn)
    def turn(self, number):
        opaque()
Model().fit(70)
''', 70)


def test_a_loop_that_turns_once_is_none():
    expect_opaque('''
for restart in range(1):
    for i in range(40):
        opaque()
''', 40)


def test_opaque_in_two_loops():
    """It may be a sweep in a time step or a batch in an epoch."""
    expect_opaque('''
for i in range(60):
    for k in range(4):
        opaque()
''', 0, COUNTED, "TRACEPROF_STEP=omp:region_one (240 steps) or "
                  "TRACEPROF_STEP=omp:region_one/4 (60 steps) sets one")


def test_opaque_loops_that_turn_as_often_as_they_need():
    expect_opaque('''
for i in range(60):
    for k in range(3 + i % 4):
        opaque()
''', 0, COUNTED, "TRACEPROF_STEP=omp:region_one (270 steps) or "
                  "TRACEPROF_STEP=omp:region_one/N (each Nth) sets one")


def test_opaque_twice_in_a_turn():
    expect_opaque('''
for i in range(50):
    opaque(2)
''', 0)


def test_what_nothing_counts():
    expect_opaque('''
i = 0
while i < 50:
    opaque()
    i += 1
''', 0)
    expect_opaque('''
for i in (k for k in range(50)):
    opaque()
''', 0)
    expect_opaque('''
turns = 5
while turns:
    for i in range(10):
        opaque()
    turns -= 1
''', 0)


def test_a_library_calls_back():
    """Its own loop may be around what counts."""
    expect_opaque('''
def sweeps(number):
    for i in range(3):
        opaque()
    return number
list(map(sweeps, range(20)))
''', 0)


def test_opaque_with_a_schedule():
    path = list(pythons().values())[0]
    done = run(OPAQUE + '''
for i in range(5000):
    opaque()
''', path, TRACEPROF_WAIT="3", TRACEPROF_ACTIVE="2", TRACEPROF_REPEAT="1")
    expect_equal(done.trace.steps(), [3, 4], done.stderr)


def test_a_schedule_has_the_same():
    path = list(pythons().values())[0]
    done = run('''
for i in range(5000):
    one()
''', path, TRACEPROF_WAIT="3", TRACEPROF_ACTIVE="2", TRACEPROF_REPEAT="1")
    expect_equal(done.trace.steps(), [3, 4], done.stderr)

if __name__ == "__main__":
    harness.main()
