# SPDX-License-Identifier: MIT
"""What a training step of PyTorch is at: data, forward, backward, optimizer, told
from its operators on a double of its library."""

import os
import sys

import harness
from harness import expect, expect_equal, same
from t_torch import library, one, program


def test_phases_follow_the_outermost_operators():
    run = same(program(), library(), "steps", "2", env={"TRACEPROF_STEP": "manual"})
    for trace in run.traces:
        phases = trace.slices("phase: *", cat="user_annotation")
        expect_equal([one["name"] for one in phases],
                     ["phase: data", "phase: forward", "phase: backward",
                      "phase: other", "phase: optimizer"], "phases in their order")
        linear, forward = one(trace, "aten::linear"), phases[1]
        expect(forward["ts"] <= linear["ts"] and linear["ts"] + linear["dur"]
               <= forward["ts"] + forward["dur"] + 0.001, forward, linear)
        expect(forward["tid"] != linear["tid"], "on the thread's own lane")


def test_all_phases_lie_beside_the_main_thread():
    """Whichever thread runs backward, as for a GPU, and so ends forward."""
    trace = same(program(), library(), "beside").trace
    phases = trace.slices("phase: *", cat="user_annotation")
    expect_equal([one["name"] for one in phases],
                 ["phase: forward", "phase: backward", "phase: optimizer"] * 3, "phases")
    expect_equal(len({one["tid"] for one in phases}), 1, phases)


def test_a_compiled_function_is_forward():
    """Though nothing is run backward of it, but of what lies in it."""
    trace = same(program(), library(), "compiled").trace
    phases = trace.slices("phase: *", cat="user_annotation")
    expect_equal([one["name"].removeprefix("phase: ") for one in phases],
                 ["forward", "backward"] + ["other", "forward", "backward"] * 2, "phases")
    regions = trace.slices("Torch-Compiled Region: 0/0", cat="cpu_op")
    made = trace.slices("aten::randn", cat="cpu_op")
    for region, forward, before in zip(regions, phases[0:1] + phases[3::3], made):
        expect(forward["ts"] <= region["ts"] and region["ts"] + region["dur"]
               <= forward["ts"] + forward["dur"] + 0.001, region, forward)
        expect(before["ts"] + before["dur"] <= forward["ts"] + 0.001, before, forward)


# Dynamo's handler tells of each compilation, whose tracer runs operators, backward, too.
COMPILES = '''\
import ctypes, os, sys, threading, time, types

double = ctypes.CDLL(sys.argv[1], os.RTLD_GLOBAL)
double.torch_double_begin.restype = ctypes.c_void_p
double.torch_double_end.argtypes = [ctypes.c_void_p]


class Operator(ctypes.Structure):
    _fields_ = [("sequence", ctypes.c_int64), ("forward", ctypes.c_uint64),
                ("inputs", ctypes.c_uint64), ("scope", ctypes.c_uint8),
                ("is_async", ctypes.c_bool)]


def run(name, sequence=-1, scope=0):
    what = Operator(sequence, 0, 2, scope, False)
    record = double.torch_double_begin(name.encode(), ctypes.byref(what))
    time.sleep(0.002)
    double.torch_double_end(record)


def trace():
    run("aten::addmm", 90)
    run("AddmmBackward0", 90, 1)
    run("aten::detach")


def compiles():
    [one() for one in handler.start_callbacks]
    trace()
    [one() for one in handler.end_callbacks]


def elsewhere():
    """Another thread compiles meanwhile, which is none of this one's steps'."""
    thread = threading.Thread(target=lambda: [one() for one in handler.start_callbacks])
    thread.start()
    thread.join()


def step(number):
    run("aten::linear", number)
    if number != 3:
        compiles()
    run("aten::relu", number)
    run("autograd::engine: ReluBackward0", number, 1)
    if number == 2:
        compiles()
    run("AddmmBackward0", number, 1)
    run("Optimizer.step#SGD.step", scope=7)
    if number == 2:
        elsewhere()


handler = types.SimpleNamespace(start_callbacks=[], end_callbacks=[])
module = sys.modules["torch._dynamo.callback"] = types.ModuleType("callback")
module.callback_handler = handler
until = time.time() + 20
while "LD_PRELOAD" in os.environ and time.time() < until and not (
        handler.end_callbacks and double.torch_double_is_observed()):
    time.sleep(0.001)
for number in 1, 2, 3:
    step(number)
[one() for one in handler.end_callbacks]
print("done")
'''


def test_what_a_compiler_runs_is_a_phase_of_its_own():
    script = os.path.join(harness.folder(), "compiles.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(COMPILES)
    trace = same(sys.executable, script, library(), env={"TRACEPROF_MALLOC": "all"}).trace
    phases = trace.slices("phase: *", cat="user_annotation")
    expect_equal([one["name"].removeprefix("phase: ") for one in phases],
                 ["forward", "compilation", "forward", "backward", "optimizer",
                  "forward", "compilation", "forward", "backward", "compilation",
                  "backward", "optimizer", "forward", "backward", "optimizer"], "phases")
    compiled = [one for one in phases if one["name"] == "phase: compilation"]
    for phase, range_ in zip(compiled, trace.slices("torch.compile*")):
        expect(abs(phase["ts"] - range_["ts"]) < 2000, phase, range_)
        inside = [one["name"] for one in trace.slices(cat="cpu_op")
                  if phase["ts"] <= one["ts"] < phase["ts"] + phase["dur"]]
        expect_equal(inside, ["aten::addmm", "AddmmBackward0", "aten::detach"], "inside")


def test_a_training_on_another_thread():
    """What it runs backward was all that there was."""
    trace = same(program(), library(), "elsewhere").trace
    phases = trace.slices("phase: *", cat="user_annotation")
    expect_equal([one["name"].removeprefix("phase: ") for one in phases],
                 ["optimizer", "forward", "backward"] * 3 + ["optimizer"], "phases")
    expect_equal(len({one["tid"] for one in phases[:-1]}), 1, phases)


def test_another_thread_that_trains_is_no_part_of_a_step():
    trace = same(program(), library(), "both").trace
    expect_equal([one["name"].removeprefix("phase: ")
                  for one in trace.slices("phase: *", cat="user_annotation")],
                 ["forward", "backward", "optimizer"] * 2, "phases")


def test_what_sets_the_program_up_is_no_phase():
    """Else the first step would begin with it."""
    trace = same(program(), library(), "set-up").trace
    expect_equal([one["name"] for one in trace.slices("phase: *", cat="user_annotation")],
                 ["phase: data", "phase: forward", "phase: backward",
                  "phase: other", "phase: optimizer"], "phases in their order")


def test_an_optimizer_by_hand_is_no_forward():
    """Nothing is run backward of its operators; of what makes a forward's indices
    neither, but that lies within it."""
    trace = same(program(), library(), "by-hand").trace
    phases = trace.slices("phase: *", cat="user_annotation")
    expect_equal([one["name"] for one in phases],
                 (["phase: forward", "phase: backward", "phase: other"] * 3),
                 "phases in their order")
    for name, phase in (("aten::mul_", 2), ("aten::arange", 0)):
        for at, operator in enumerate(trace.slices(name, cat="cpu_op")):
            around = phases[3 * at + phase]
            expect(around["ts"] <= operator["ts"] and operator["ts"] + operator["dur"]
                   <= around["ts"] + around["dur"] + 0.001, operator, around)


def test_gradients_may_be_zeroed_between_forward_and_backward():
    """From the second step on; what the first one's was is known too late."""
    trace = same(program(), library(), "late").trace
    phases = [one["name"] for one in trace.slices("phase: *", cat="user_annotation")]
    expect_equal(phases[-10:], (["phase: forward", "phase: optimizer", "phase: other",
                                 "phase: backward", "phase: optimizer"] * 2),
                 "phases in their order")


def phases_of(*arguments):
    trace = same(program(), library(), *arguments).trace
    return [one["name"].removeprefix("phase: ")
            for one in trace.slices("phase: *", cat="user_annotation")]


def test_a_model_that_the_optimizer_runs():
    """Lightning's steps are all closures: the model isn't the optimizer's time."""
    expect_equal(phases_of("closure"), ["forward", "backward", "optimizer"] * 3,
                 "phases in their order")


def test_an_optimizer_with_a_closure_that_minds_no_gradients():
    """What it updates looks like the next forward, which backward tells apart; so
    the first of two updates is taken for a forward."""
    expect_equal(phases_of("old-closure"),
                 ["forward", "backward", "forward", "backward", "optimizer"] * 3,
                 "phases in their order")


if __name__ == "__main__":
    harness.main()
