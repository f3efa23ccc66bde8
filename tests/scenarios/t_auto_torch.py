# SPDX-License-Identifier: MIT
"""The step of a training in PyTorch, by the lines of Python that its optimizers
are called from; on a double of its library."""

import os
import re
import sys

import harness
from harness import compile_program, expect, expect_equal, same
from t_torch import library

TRAINING = '''
import ctypes, random, sys, time
torch = ctypes.CDLL(sys.argv[1])
work = ctypes.CDLL(sys.argv[2])
torch.torch_double_begin.restype = ctypes.c_void_p
torch.torch_double_end.argtypes = [ctypes.c_void_p]
torch.torch_double_is_observed.restype = ctypes.c_bool

class Operator(ctypes.Structure):
    _fields_ = [("sequence", ctypes.c_int64), ("forward", ctypes.c_uint64),
                ("inputs", ctypes.c_uint64), ("scope", ctypes.c_uint8),
                ("is_async", ctypes.c_bool)]

user = Operator(-1, 0, 0, 7, False)

def step(inside=lambda: None):
    scope = torch.torch_double_begin(b"Optimizer.step#Adam.step", ctypes.byref(user))
    inside()
    torch.torch_double_end(scope)

work.region_one()
while hasattr(ctypes.CDLL(None), "traceprof_mark_") and not torch.torch_double_is_observed():
    time.sleep(0.01)
random.seed(1)

def some(most):
    for _ in range(random.randrange(most)):
        random.choice((work.region_one, work.region_two, work.region_three))()

%s
print("done")
'''


def training(body, **env):
    script = os.path.join(harness.folder(), "training.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(TRAINING % body)
    regions = compile_program("lib/regions.c", "-shared", "-fPIC", "-fopenmp",
                              name="libregions.so")
    return same(sys.executable, script, library(), regions, env=env)


def settings(run):
    line = next(line for line in run.own_lines if "no step found" in line)
    return dict(re.findall(r"TRACEPROF_STEP=(\S+) \((\d+) steps\)", line))


def test_two_optimizers_with_as_much_work():
    """240 steps of one name, with the same between each two: 120 of both."""
    for work in ("work.region_one(); work.region_two()", "pass"):
        run = training(f'''
for i in range(120):
    {work}
    step()
    {work}
    step()
''')
        expect_equal(run.trace.steps(), [], "steps")
        expect_equal(settings(run), {"range:Optimizer.step#Adam.step": "240",
                                     "range:Optimizer.step#Adam.step/2": "120"}, work)


def test_one_optimizer_whose_work_tells_nothing():
    """LBFGS: as many tries in each step as it needs."""
    run = training("for i in range(20):\n    step(lambda: some(40))\n")
    expect_equal(len(run.trace.steps()), 20, "steps")
    expect('step = range "Optimizer.step#Adam.step"' in run.stderr, run.stderr)
    run = training("for i in range(20):\n    step(lambda: some(40))\n",
                   TRACEPROF_WAIT="3", TRACEPROF_ACTIVE="2")
    expect_equal([trace.steps() for trace in run.traces], [[3, 4], [8, 9], [13, 14], [18, 19]],
                 "windows")


def test_one_optimizer_in_a_part_of_the_run():
    """Most of it uses what was trained first."""
    run = training('''
for i in range(20):
    step(lambda: some(40))
for i in range(200):
    some(40)
''')
    expect_equal(run.trace.steps(), [], "steps")


def test_two_optimizers_whose_work_tells_nothing():
    run = training('''
for i in range(20):
    step(lambda: some(40))
    step(lambda: some(40))
''')
    expect_equal(run.trace.steps(), [], "steps")
    expect_equal(settings(run), {"range:Optimizer.step#Adam.step": "40",
                                 "range:Optimizer.step#Adam.step/2": "20"}, "settings")


def test_epochs_of_what_was_played():
    """One line, and every fourth step has more before it: no four optimizers."""
    run = training('''
for i in range(15):
    for play in range(20):
        work.region_one()
    for epoch in range(4):
        work.region_one(); work.region_two(); work.region_three()
        step()
''')
    expect_equal(len(run.trace.steps()), 60, "steps")


if __name__ == "__main__":
    harness.main()
