# SPDX-License-Identifier: MIT
"""The steps of a training in PyTorch that moves its weights by hand, without an
optimizer of PyTorch's; on a double of its library."""

import os
import sys

import harness
from harness import compile_program, expect, expect_equal, same
from t_torch import library

TRAINING = '''
import ctypes, random, sys, time
torch = ctypes.CDLL(sys.argv[1])
torch.torch_double_begin.restype = ctypes.c_void_p
torch.torch_double_end.argtypes = [ctypes.c_void_p]
torch.torch_double_is_observed.restype = ctypes.c_bool
random.seed(1)

class Operator(ctypes.Structure):
    _fields_ = [("sequence", ctypes.c_int64), ("forward", ctypes.c_uint64),
                ("inputs", ctypes.c_uint64), ("scope", ctypes.c_uint8),
                ("is_async", ctypes.c_bool)]

nodes = 0                  # that were made, to be run backward

def operator(name, sequence=-1, inside=(), scope=0):
    one = Operator(sequence, 0, 0, scope, False)
    begun = torch.torch_double_begin(name.encode(), ctypes.byref(one))
    for inner in inside:
        operator(inner)
    torch.torch_double_end(begun)

def forward(layers=3, first=()):
    global nodes
    for name in first:
        operator(name)
    for _ in range(layers):
        operator("aten::linear", nodes, ["aten::copy_"])
        operator("aten::relu_", nodes + 1)
        nodes += 2

def without_gradients(count=3):
    for _ in range(count):
        operator("aten::linear", -1, ["aten::addmm"])

def backward(weights=4, more=0, loss="Mse"):
    operator("aten::ones_like", nodes, ["aten::fill_"])
    operator(f"autograd::engine::evaluate_function: {loss}Backward0", nodes - 1, [], 1)
    for _ in range(weights + more):
        operator("autograd::engine::evaluate_function: AddmmBackward0", 1,
                 ["aten::mm"], 1)
    for _ in range(weights):
        operator("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
                 -1, ["aten::detach"], 1)

def update(weights=4, with_gradients=False):
    sequence = nodes if with_gradients else -1
    for _ in range(weights):
        operator("aten::mul", sequence)
        operator("aten::sub_", sequence, ["aten::sub"])

if hasattr(ctypes.CDLL(None), "traceprof_mark_"):
    ctypes.CDLL(None).traceprof_mark_(b"begin")
    while not torch.torch_double_is_observed():
        time.sleep(0.01)
%s
print("done")
'''
SAID = "step = what PyTorch runs backward"
SCHEDULE = {"TRACEPROF_WAIT": "3", "TRACEPROF_ACTIVE": "2", "TRACEPROF_REPEAT": "1"}


def training(body, **env):
    script = os.path.join(harness.folder(), "training.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(TRAINING % body)
    return same(sys.executable, script, library(), env=env)


def expect_steps(body, steps, each=1):
    run = training(body)
    expect_equal(len(run.trace.steps()), steps, body + run.stderr)
    expect((SAID + (f", one in {each}, every" if each > 1 else ", every")) in run.stderr,
           run.stderr)
    return run


def expect_none(body):
    run = training(body)
    expect_equal(run.trace.steps(), [], body + run.stderr)


def end_of(one):
    return one["ts"] + one["dur"]


# --- found ----------------------------------------------------------------------

def test_each_run_backward_that_moves_the_weights():
    """A step begins with its forward, or its data, and ends when the last weight was
    moved: what makes the next batch is the next one's."""
    run = expect_steps('''
for _ in range(60):
    forward(first=["aten::randn"])
    backward()
    update()
    operator("aten::to", -1, ["aten::copy_"])
''', 60)
    steps = run.trace.slices("ProfilerStep#*")
    moved = run.trace.slices("aten::sub_")[3::4]
    expect_equal(len(moved), 60)
    for step, last in zip(steps, moved):
        expect(abs(end_of(step) - end_of(last)) < 0.01, step, last)
    first = run.trace.slices("aten::linear")[0]
    expect(abs(steps[0]["ts"] - first["ts"]) < 1000 and steps[0]["ts"] <= first["ts"] + 0.01,
           steps[0], first)


def test_weights_that_are_moved_through_their_data():
    """With gradients on: what is moved makes no node."""
    expect_steps('''
for epoch in range(6):
    for _ in range(10):
        forward()
        backward()
        update(with_gradients=True)
    without_gradients(9)
''', 60)


def test_weights_that_are_made_anew():
    """Nothing is changed in place, but each round has as much."""
    expect_steps('''
for _ in range(60):
    forward()
    backward()
    for _ in range(4):
        operator("aten::mul")
        operator("aten::sub")
''', 60)


def test_gradients_that_are_added_up():
    """A batch is normalised in place, and so is a mean that a layer keeps; more copies
    lie in what makes the batch, and layers work in place."""
    expect_steps('''
for i in range(80):
    forward(9, first=["aten::sub_", "aten::add_"])
    operator("aten::to", -1, ["aten::copy_"] * 9)
    backward(8)
    if i % 4 == 3:
        update(8)
''', 20, each=4)


def test_two_networks_in_turn():
    """The judge has gradients, too, when the other learns from it."""
    for of_other in (3, 9):
        expect_steps(f'''
for _ in range(50):
    forward()
    backward(4)
    update(4)
    forward()
    backward({of_other})
    update(5)
''', 50, each=2)


def test_two_networks_in_turn_that_have_regions():
    """By those alone each of them has a turn."""
    regions = compile_program("lib/regions.c", "-shared", "-fPIC", "-fopenmp",
                              name="libregions.so")
    expect_steps(f'''
work = ctypes.CDLL({regions!r})
for _ in range(50):
    for weights in (4, 8):
        forward()
        work.region_one()
        backward(weights)
        work.region_two()
        update(4)
''', 50, each=2)


def test_first_steps_that_pytorch_did_not_tell_of():
    """It is asked when the recording has begun: then the regions know better."""
    regions = compile_program("lib/regions.c", "-shared", "-fPIC", "-fopenmp",
                              name="libregions.so")
    run = training(f'''
work = ctypes.CDLL({regions!r})
for i in range(60):
    work.region_one()
    if i > 9:
        forward()
        backward(loss=random.choice(("Mse", "NllLoss")))
        update()
    work.region_two()
''')
    expect_equal(len(run.trace.steps()), 60, run.stderr)


def test_evaluations_between():
    expect_steps('''
for epoch in range(6):
    for _ in range(10):
        forward(random.randrange(3, 20))
        backward()
        update()
    without_gradients(9)
''', 60)


def test_windows_are_cut_from_what_was_kept():
    run = training('''
for _ in range(60):
    forward()
    backward()
    update()
''', **SCHEDULE)
    expect_equal(run.trace.steps(), [3, 4], run.stderr)
    expect_equal(len(run.trace.slices("aten::sub_")), 8)


# --- in doubt --------------------------------------------------------------------

def test_weights_that_are_moved_now_and_then():
    expect_none('''
for _ in range(60):
    forward()
    backward()
    if random.random() < 0.4:
        update()
''')


def test_two_networks_that_are_alike():
    """Or two losses of one: as many weights, but each second time more was run."""
    expect_none('''
for _ in range(60):
    forward()
    backward()
    update()
    forward(6)
    backward(more=3)
    update()
''')


def test_weights_that_are_moved_there_and_back():
    """An extragradient, with two networks' losses; sharpness-aware minimisation, which
    changes more as it comes back; or moves what it didn't keep."""
    there, back = "update()", "update()\n    update()"
    for body in ((there, back), (there, "update()\n    without_gradients()")):
        for times in (1, 2):
            expect_none("\nfor _ in range(40):\n" + "".join(
                "    forward()\n    backward()\n" * times + f"    {moved}\n"
                for moved in body))
    # In three stages.
    expect_none("\nfor _ in range(40):\n" + "".join(
        f"    forward()\n    backward()\n    {moved}\n" for moved in (there, there, back)))


def test_walks_of_one_weight():
    """Six gradients of a sample, by Hamiltonian Monte Carlo: are there 20 or 120?"""
    expect_none('''
for i in range(120):
    forward()
    backward(1)
    update(1)
    if i % 6 == 5:
        without_gradients()
''')
    # A report is none.
    expect_steps('''
for i in range(120):
    forward()
    backward(1)
    update(1)
    if i % 10 == 9:
        without_gradients()
''', 120)


def test_networks_of_any_size():
    expect_none('''
for _ in range(60):
    weights = random.randrange(2, 9)
    forward()
    backward(weights)
    update(weights)
''')


def test_a_training_that_is_a_small_part():
    expect_none('''
for _ in range(10):
    forward()
    backward()
    update()
without_gradients(900)
''')


def test_a_training_beside_a_larger_loop():
    """Of ranges, of which some lie before it; none is called like a step."""
    expect_none('''
own = ctypes.CDLL(None)
def ranges(count):
    for i in range(count if hasattr(own, "traceprof_push_") else 0):
        own.traceprof_push_(b"load%d" % random.randrange(3))
        own.traceprof_pop_()
ranges(40)
for _ in range(30):
    forward()
    backward()
    update()
''')


def test_an_optimizer_of_pytorchs_goes_first():
    """It stepped twice, which is no step of a loop; but nobody knows what is by hand."""
    expect_none('''
for i in range(40):
    forward()
    backward()
    if i < 2:
        operator("Optimizer.step#SGD.step", -1, ["aten::add_"] * 4, 7)
    else:
        update()
''')


def test_four_runs_backward_are_no_loop():
    expect_none('''
for _ in range(4):
    forward()
    backward()
    update()
''')


if __name__ == "__main__":
    harness.main()
