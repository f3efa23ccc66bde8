# SPDX-License-Identifier: MIT
"""PyTorch's own observer, by which an unknown version is asked: entered, left,
and made way for, on a double of its modules."""

import glob
import os
import sys

import harness
from harness import compile_program, expect, expect_equal, same, traced
from t_torch import MODULES, inside, library, one

OBSERVER = MODULES + '''
itt = ctypes.CDLL(sys.argv[2])
on = []


def enable(who):
    if on:
        raise RuntimeError("Profiler is already enabled on this thread")
    on.append(who)


class emit_itt:
    def __enter__(self):
        profiler._enable_profiler("itt")

    def __exit__(self, *_):
        on.remove("itt")


def operator(name, inner=()):
    is_told = on == ["itt"]
    if is_told:
        itt.itt_begin(b"PyTorch", name)
    for one in inner:
        operator(one)
    if is_told:
        itt.itt_end(b"PyTorch")


atexit.register(lambda: print("at the end", on))
spec = types.SimpleNamespace(_initializing=True)
make("torch", __spec__=spec)
make("torch.autograd", _profiler_enabled=lambda: bool(on))
profiler = make("torch.autograd.profiler", _enable_profiler=enable,
                _run_on_profiler_start=int)
%s
if here:
    time.sleep(0.3)             # looks come while it is half imported
profiler.emit_itt = emit_itt
spec._initializing = False
wait_for(lambda: on)
operator(b"aten::linear", [b"aten::addmm"])
operator(b"autograd::engine::evaluate_function: AddmmBackward0", [b"AddmmBackward0"])
operator(b"Optimizer.step#SGD.step", [b"aten::add_"])
profiler._enable_profiler("own")
print(on)
operator(b"aten::its_own")
on.remove("own")
wait_for(lambda: on)
operator(b"aten::after")
'''


def observed(special="", **env):
    script = os.path.join(harness.folder(), "observer.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(OBSERVER % special)
    itt = compile_program("itt_calls.c", "-shared", "-fPIC", "-pthread", "-ldl",
                          name="libitt.so")
    return same(sys.executable, script, library("2.99.0"), itt,
                env={"TRACEPROF_MALLOC": "all"} | env)


def test_an_unknown_version_is_asked_through_the_interpreter():
    run = observed()
    trace = run.trace
    expect(inside(one(trace, "aten::addmm"), one(trace, "aten::linear")), "not nested")
    expect(inside(one(trace, "AddmmBackward0"),
                  one(trace, "autograd::engine::evaluate_function: AddmmBackward0")),
           "not nested")
    expect(inside(one(trace, "aten::add_"), one(
        trace, "Optimizer.step#SGD.step", cat="user_annotation")), "not nested")
    one(trace, "aten::after")
    expect(not trace.slices("aten::its_own"), "the program's own profiler was on")
    expect_equal(run.stdout, "['own']\nat the end []\n", "what was on")
    expect([note for note in trace.meta["notes"] if "by their names alone" in note
            and "version is unknown" in note], trace.meta["notes"])
    expect([note for note in trace.meta["notes"] if "own profiler is on" in note],
           trace.meta["notes"])
    phases = [event["name"] for event in trace.slices("phase: *", cat="user_annotation")]
    expect_equal(phases, ["phase: forward", "phase: backward", "phase: optimizer",
                          "phase: other"], "phases")


def test_a_profiler_that_was_on_first_is_said():
    run = observed("asked = []\n"
                   "sys.modules['torch.autograd']._profiler_enabled = "
                   "lambda: asked.append(1) or bool(on)\n"
                   "profiler.emit_itt, spec._initializing = emit_itt, False\n"
                   "on.append('own')\n"
                   "wait_for(lambda: len(asked) > 2)\n"
                   "sys.exit()")
    expect_equal(run.stdout, "at the end ['own']\n", "what was on")
    expect([note for note in run.trace.meta["notes"] if "own profiler is on" in note],
           run.trace.meta["notes"])


def test_the_observer_of_a_second_interpreter():
    found = sorted(glob.glob(os.path.expanduser(
        "~/.pyenv/versions/3.*/lib/libpython3.*.so.1.0"))
        + glob.glob("/usr/lib/*/libpython3.*.so.1.0"))
    if not found:
        raise harness.Skip("no libpython3.*.so.1.0")
    itt = compile_program("itt_calls.c", "-shared", "-fPIC", "-pthread", "-ldl",
                          name="libitt.so")
    path = found[0]
    home = os.path.dirname(os.path.dirname(path)) if "pyenv" in path else "/usr"
    code = f"import sys\nsys.argv = {['', library('2.99.0'), itt]}\n"
    run = traced("embeds_python", path, 2, code + OBSERVER % "",
                 env={"PYTHONHOME": home, "TRACEPROF_MALLOC": "all"},
                 preload=harness.LIBRARY + ":" + path)
    expect_equal(run.stdout.count("ended: 0"), 2, run.stderr)
    expect_equal(len(run.trace.slices("aten::after")), 2, "in each of them")


def test_an_observer_that_is_not_to_be_had():
    run = observed("tried = []\n"
                   "emit_itt.__enter__ = lambda self: tried.append(1) or 1 / 0\n"
                   "profiler.emit_itt, spec._initializing = emit_itt, False\n"
                   "wait_for(lambda: tried)\n"
                   "wait_for = int")
    expect(not run.trace.slices(cat="cpu_op"), "operators")
    expect([note for note in run.trace.meta["notes"] if "isn't to be had" in note],
           run.trace.meta["notes"])


# A handler raises once its observer is entered, and before it is left.
LATE = """
import signal


class Late(Exception):
    pass


def raise_late(*_):
    raised.append(1)
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    raise Late


def interrupt(before):
    if here and len(raised) == before:
        os.kill(os.getpid(), signal.SIGUSR1)
        while len(raised) == before:
            pass


def enter(self, enter=emit_itt.__enter__):
    enter(self)
    interrupt(0)


def leave(self, *args, leave=emit_itt.__exit__):
    if armed:
        interrupt(1)
    leave(self, *args)


def wait_for(condition, wait=wait_for):
    for start in (lambda: setattr(held, "_initializing", False) or wait(condition),
                  lambda: armed.append(1) or profiler._enable_profiler("own")):
        signal.signal(signal.SIGUSR1, raise_late)
        try:
            start()
        except Late:
            caught.append(1)
            start()
    print("late", caught == raised == [1, 1] * here, on)
    on.remove("own")
    globals()["wait_for"] = wait
    wait(condition)


caught, raised, armed = [], [], []
emit_itt.__enter__, emit_itt.__exit__ = enter, leave
torch_module = sys.modules["torch"]
held = torch_module.__spec__ = types.SimpleNamespace(_initializing=True)
"""


def test_what_a_handler_raises_meanwhile_is_the_programs():
    run = observed(LATE)
    expect("late True ['own']" in run.stdout, run.stdout)
    one(run.trace, "aten::linear")
    one(run.trace, "aten::after")


def test_nothing_is_entered_while_it_makes_way():
    run = observed("def leave(self, *_, leave=emit_itt.__exit__):\n"
                   "    leave(self)\n"
                   "    time.sleep(0.4 * here)\n"
                   "emit_itt.__exit__ = leave")
    expect_equal(run.stdout, "['own']\nat the end []\n", "what was on")
    one(run.trace, "aten::after")


def test_another_collector_of_itt_has_the_operators():
    run = observed("wait_for = int", INTEL_LIBITTNOTIFY64="/nowhere/libother.so")
    expect(not run.trace.slices(cat="cpu_op"), "operators")
    expect([line for line in run.own_lines if "its version is unknown here" in line],
           run.stderr)


if __name__ == "__main__":
    harness.main()
