# SPDX-License-Identifier: MIT
"""The lines of the program that call PyTorch's operators, on a double of its library."""

import os
import sys

import harness
from harness import expect, expect_equal, same
from t_torch import MODULES, library

LINES = MODULES + '''

class Operator(ctypes.Structure):
    _fields_ = [("sequence", ctypes.c_int64), ("forward", ctypes.c_uint64),
                ("inputs", ctypes.c_uint64), ("scope", ctypes.c_uint8),
                ("is_async", ctypes.c_bool)]


torch.torch_double_begin.restype = ctypes.c_void_p
torch.torch_double_end.argtypes = [ctypes.c_void_p]
record = ctypes.byref(Operator(-1, 0, 0, 0))
user = ctypes.byref(Operator(-1, 0, 0, 7))
wait_for(torch.torch_double_is_observed)
exec(compile("""def layer(name, inner=None):
    outer = torch.torch_double_begin(name, record)
    if inner:
        torch.torch_double_end(torch.torch_double_begin(inner, record))
    torch.torch_double_end(outer)
""", "/opt/lib/python3.11/site-packages/nn/layer.py", "exec"))


def begin_and_end(until):
    while time.thread_time() < until:
        torch.torch_double_end(torch.torch_double_begin(b"aten::mul", record))


def update(until):
    begin_and_end(until)


def forward(until):
    while time.thread_time() < until:
        layer(b"aten::linear", b"aten::addmm")


def fit(until):
    """The optimizer runs the model."""
    step = torch.torch_double_begin(b"Optimizer.step#SGD.step", user)
    while time.thread_time() < until:
        torch.torch_double_end(torch.torch_double_begin(b"aten::relu", record))
    torch.torch_double_end(step)


def work():
    update(time.thread_time() + 0.2)
    forward(time.thread_time() + 0.1)
    if len(sys.argv) > 2:
        fit(time.thread_time() + 0.1)


work()
'''


def line_with(word):
    return next(number for number, line in enumerate(LINES.splitlines(), 1) if word in line)


def lines_of(trace, key):
    """Operators and the lines that they say they come from."""
    return {(event["name"], event["args"][key]) for event in trace.events
            if event.get("cat") == "cpu_op" and key in event["args"]}


def expect_once_a_millisecond(told, all_of_it):
    """The program works for 100 ms of processor time and more, however long they take."""
    took_us = max(event["ts"] for event in all_of_it) - min(
        event["ts"] for event in all_of_it)
    expect(10 <= len(told) <= took_us / 1000 + 50, len(told), took_us)


def test_the_line_of_the_program_that_calls_an_operator():
    """In a forked child too, whose names are numbered anew; once a millisecond, of
    operators that lie in no other."""
    script = os.path.join(harness.folder(), "lines.py")
    forks = "if not os.fork():\n    [str(n) for n in range(99)]\n    work()\nelse:\n    os.wait()\n"
    with open(script, "w", encoding="utf-8") as file:
        file.write(LINES + forks)
    run = same(sys.executable, script, library(),
               env={"TRACEPROF_CHILDREN": "all", "TRACEPROF_MALLOC": "counters"})
    expect_equal(len(run.traces), 2, "a file for each process")
    for trace in run.traces:
        (called,) = lines_of(trace, "called from")
        (below,) = lines_of(trace, "called below")
        expect_equal(called[0], "aten::mul")
        expect(called[1].endswith(f"lines.py({line_with('aten::mul')}): begin_and_end"), called)
        expect_equal(below[0], "aten::linear", "the outermost")
        expect(below[1].endswith(f"lines.py({line_with('aten::linear')}): forward"), below)
        told = [event for event in trace.slices("aten::mul") if "called from" in event["args"]]
        expect_once_a_millisecond(told, trace.slices("aten::mul"))


def test_the_lines_of_what_an_optimizer_runs():
    """As all of Lightning's model: they are asked for as others are."""
    script = os.path.join(harness.folder(), "fits.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(LINES)
    trace = same(sys.executable, script, library(), "fit",
                 env={"TRACEPROF_MALLOC": "counters"}).trace
    all_of_it = trace.slices("aten::relu")
    told = [event for event in all_of_it if "called from" in event["args"]]
    expect_once_a_millisecond(told, all_of_it)
    line = told[0]["args"]["called from"]
    expect(line.endswith(f"fits.py({line_with('aten::relu')}): fit"), line)


if __name__ == "__main__":
    harness.main()
