# SPDX-License-Identifier: MIT
"""The step of a training in PyTorch, by the lines of Python that its optimizers
are called from; on a double of its library."""

import os
import re
import sys

import harness
from harness import command, compile_program, expect, expect_equal, same
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
plain = Operator(-1, 0, 0, 0, False)

def step(inside=lambda: None):
    scope = torch.torch_double_begin(b"Optimizer.step#Adam.step", ctypes.byref(user))
    inside()
    torch.torch_double_end(scope)

class Optimizer:
    def step(*args):
        step()

def operator():
    torch.torch_double_end(torch.torch_double_begin(b"aten::add", ctypes.byref(plain)))

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


def expect_ends(trace, each):
    """A step ends when the last optimizer that steps in it has."""
    ends = [one["ts"] + one["dur"] for one in trace.slices("Optimizer.step#*")]
    steps = trace.slices("ProfilerStep#*")
    expect_equal(len(ends), len(steps) * each, "optimizers' steps")
    for step, end in zip(steps, ends[each - 1::each]):
        expect(abs(step["ts"] + step["dur"] - end) < 0.01, step, end)


def expect_pairs(run, steps):
    setting = os.path.join(harness.folder(), "step.txt")
    said = command("steps", "-o", setting, run.trace.path)
    expect(f"step: {steps} x Optimizer.step#Adam.step (one in 2)" in said.stdout, said.stdout)
    with open(setting, encoding="utf-8") as file:
        expect_equal(file.read(), "auto/2\nranges\nOptimizer.step#Adam.step\n", "setting")
    expect_equal(len(run.trace.steps()), steps, run.stderr)
    expect('step = range "Optimizer.step#Adam.step", one in 2' in run.stderr, run.stderr)
    expect_ends(run.trace, 2)


def settings(run):
    line = next(line for line in run.own_lines if "no step found" in line)
    return dict(re.findall(r"TRACEPROF_STEP=(\S+) \((\d+) steps\)", line))


def test_two_optimizers_with_as_much_work():
    """240 steps of one name, with the same between each two: 120 of both, since two
    lines have their turn."""
    for work in ("work.region_one(); work.region_two()", "pass"):
        run = training(f'''
for i in range(120):
    {work}
    step()
    {work}
    step()
''')
        expect_pairs(run, 120)


def test_three_optimizers_and_two_passes():
    """A critic, an actor, and a temperature that needs no region: the passes turn less
    often than the three step, and are no steps.  They lie too deep for their places to be
    known."""
    run = training('''
def deep(calls):
    if calls:
        deep(calls - 1)
    else:
        work.region_one(); work.region_two()

for i in range(60):
    step()
    deep(60)
    step()
    deep(60)
    step()
''')
    expect_equal(len(run.trace.steps()), 60, run.stderr)
    expect_ends(run.trace, 3)


def test_two_optimizers_one_of_which_steps_less_often():
    """The one that steps twice may be what a step is, or both."""
    run = training('''
for i in range(90):
    work.region_one(); work.region_two()
    step()
    if i % 2:
        work.region_one(); work.region_two()
        step()
''')
    expect_equal(run.trace.steps(), [], "steps")
    expect_equal(settings(run)["range:Optimizer.step#Adam.step"], "135", "settings")


def test_two_optimizers_one_of_which_steps_seldom():
    """A critic's 100 steps and the 20 of whom it judges: 120 are none."""
    for often in (5, 9):
        run = training(f'''
for i in range(100):
    work.region_one(); work.region_two()
    step()
    if i % {often} == 0:
        work.region_one(); work.region_two()
        step()
''')
        expect_equal(run.trace.steps(), [], "steps")


def test_a_training_in_two_stages():
    """First the head alone, then all: two lines, but one after the other."""
    run = training('''
for i in range(40):
    work.region_one(); work.region_two()
    step()
for i in range(50):
    work.region_one(); work.region_two()
    step()
''')
    expect_equal(len(run.trace.steps()), 90, "steps")
    run = training('''
for i in range(20):
    step(lambda: some(40))
for i in range(30):
    step(lambda: some(40))
''')
    expect_equal(len(run.trace.steps()), 50, "steps whose work tells nothing")


def test_two_optimizers_that_step_from_one_line():
    """A loop over both, with nothing between them."""
    run = training('''
for i in range(60):
    work.region_one(); work.region_two(); work.region_three()
    for optimizer in range(2):
        step()
''')
    expect_pairs(run, 60)


def test_an_optimizer_with_a_schedule():
    """Each window is whole steps, also of gradients of 4 batches added up."""
    for batches in (1, 4):
        run = training(f'''
for i in range(60):
    for batch in range({batches}):
        work.region_one(); work.region_two(); work.region_three()
    step(work.region_one)
''', TRACEPROF_WAIT="3", TRACEPROF_ACTIVE="2", TRACEPROF_REPEAT="2")
        expect_equal([trace.steps() for trace in run.traces], [[3, 4], [8, 9]], "windows")
        for trace in run.traces:
            expect_ends(trace, 1)
            expect_equal(len(trace.regions()), 2 * (3 * batches + 1), "regions")


def test_the_first_steps_are_no_optimizers():
    """They were not observed yet, or there are none: then operators come before."""
    for before, steps in (("", 60), ("operator()\n", 56)):
        run = training(before + '''
for i in range(60):
    work.region_one(); work.region_two(); work.region_three()
    if i > 3:
        step()
''')
        expect_equal(len(run.trace.steps()), steps, before)


def test_a_training_so_long_that_its_thread_counts():
    """Between windows nothing is recorded, and the optimizer's ends are told all the
    same."""
    run = training('''
for i in range(14000):
    work.region_one(); work.region_two()
    step()
    time.sleep(0.0002)
''', TRACEPROF_WAIT="4000", TRACEPROF_ACTIVE="2",
                   TRACEPROF_MAX_OVERHEAD="0")
    expect_equal([trace.steps() for trace in run.traces],
                 [[first, first + 1] for first in range(4000, 14000, 4002)], "windows")
    for trace in run.traces:
        expect_ends(trace, 1)
        expect_equal(len(trace.regions()), 4, "regions of two steps")
    seen = run.traces[-1].meta["events"]["seen"]
    expect(seen < 14000 * 4, f"{seen} events were recorded: the thread never counted")


def test_a_range_that_was_asked_for_with_a_schedule():
    """Its windows are counted where nothing is recorded."""
    run = training('''
for i in range(60):
    work.region_one(); work.region_two()
    step()
''', TRACEPROF_STEP="range:Optimizer.step*", TRACEPROF_WAIT="3", TRACEPROF_ACTIVE="2",
                   TRACEPROF_REPEAT="2")
    expect_equal([trace.steps() for trace in run.traces], [[3, 4], [8, 9]], "windows")


def test_one_optimizer_whose_work_tells_nothing():
    """LBFGS: as many tries in each step as it needs."""
    run = training("for i in range(20):\n    step(lambda: some(40))\n")
    expect_equal(len(run.trace.steps()), 20, "steps")
    expect('step = range "Optimizer.step#Adam.step"' in run.stderr, run.stderr)
    run = training("for i in range(20):\n    step(lambda: some(40))\n",
                   TRACEPROF_WAIT="3", TRACEPROF_ACTIVE="2")
    expect_equal([trace.steps() for trace in run.traces], [[3, 4], [8, 9], [13, 14], [18, 19]],
                 "windows")


def test_a_thread_that_works_for_the_main_one():
    """Adam, then LBFGS, which asks for the loss as often as it needs; what goes back
    through the layers is another thread's, as PyTorch's is with a GPU."""
    run = training('''
import queue, threading
asked, done = queue.Queue(), queue.Queue()

def back():
    while asked.get():
        for _ in range(2):
            work.region_one()
            work.region_two()
        work.region_three()
        done.put(True)

thread = threading.Thread(target=back)
thread.start()

def loss():
    asked.put(True)
    done.get()

def closures():
    for _ in range(10):
        loss()

for i in range(60):
    loss()
    step()
for i in range(8):
    scope = torch.torch_double_begin(b"Optimizer.step#LBFGS.step", ctypes.byref(user))
    closures()
    torch.torch_double_end(scope)
asked.put(False)
thread.join()
''')
    expect('step = range "Optimizer.step#Adam.step"' in run.stderr, run.stderr)
    expect_equal(len(run.trace.steps()), 60, run.stderr)


def test_two_trainings_one_after_the_other():
    """A model is trained by one class, four batches to a step, and tuned by another: nobody
    knows which of the two is meant.  A few steps of another are no training."""
    tuned = """
for i in range(30 * 4):
    work.region_one(); work.region_two(); work.region_three()
    if i %% 4 == 3:
        step()
for i in range(%d):
    work.region_one(); work.region_two(); work.region_three()
    torch.torch_double_end(torch.torch_double_begin(b"Optimizer.step#SGD.step",
                                                    ctypes.byref(user)))
"""
    run = training(tuned % 20)
    expect_equal(run.trace.steps(), [], run.stderr)
    expect("TRACEPROF_STEP=range:Optimizer.step#Adam.step (30 steps)" in run.stderr, run.stderr)
    run = training(tuned % 8)
    expect_equal(len(run.trace.steps()), 30, run.stderr)


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
    expect_pairs(run, 20)


def optimizers(count, before=""):
    return before + f'''
several = [Optimizer() for i in range({count})]
for i in range(60):
    for optimizer in several:
        work.region_one(); work.region_two()
        optimizer.step()
'''


def knows_objects():
    if sys.version_info[:2] not in ((3, 11), (3, 12)):
        raise harness.Skip("needs CPython 3.11 or 3.12 as python3")


def test_models_that_are_trained_beside_each_other():
    """One line steps for two objects, or for one that is made anew each time; for three
    in turn it can't be the latter."""
    knows_objects()
    run = training(optimizers(2))
    expect_equal(run.trace.steps(), [], "steps")
    expect_equal(settings(run), {"range:Optimizer.step#Adam.step": "120",
                                 "range:Optimizer.step#Adam.step/2": "60"}, "settings")
    run = training(optimizers(3))
    expect_equal(len(run.trace.steps()), 60, run.stderr)
    expect_ends(run.trace, 3)


def test_one_object_that_steps_from_one_line():
    run = training(optimizers(1))
    expect_equal(len(run.trace.steps()), 60, run.stderr)


def test_passes_before_the_first_step():
    """A model that is tried before it is trained, by an optimizer for each of its parts."""
    knows_objects()
    run = training('''
operator()
several = [Optimizer() for i in range(4)]
for i in range(62):
    work.region_one(); work.region_two(); work.region_three()
    if i > 1:
        for optimizer in several:
            optimizer.step()
''')
    expect_equal(len(run.trace.steps()), 60, run.stderr)
    expect_ends(run.trace, 4)


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
