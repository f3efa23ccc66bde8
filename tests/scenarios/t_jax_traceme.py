# SPDX-License-Identifier: MIT
"""XLA's annotations, from a double of the recorder that jaxlib has."""

import os
import subprocess
import sys

import harness
from harness import Skip, compile_program, expect, expect_equal, same

FETCHED = ("XLA's annotations: those that end while they are fetched are missing",
           "XLA's annotations: the last ones of threads that end are missing")

# What a program has of jaxlib: the double of the recorder, and modules around it.
JAXLIB = '''\
import ctypes, glob, os, signal, sys, threading, time, types

here = "LD_PRELOAD" in os.environ
base, how = sys.argv[1:3]
xla = ctypes.CDLL(base + "/libjax_common.so")   # which the other one needs
ctypes.CDLL(base + "/_jax.so")
xla.is_on.restype = ctypes.c_bool


def wait_for(condition, seconds=20):
    until = time.time() + seconds
    while here and not condition() and time.time() < until:
        time.sleep(0.001)


class TraceMe:
    def __init__(self, name):
        self.name = name.encode()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        xla.annotate(self.name, b"in it", 10)


listeners = []
monitoring = types.ModuleType("jax._src.monitoring")
monitoring._event_duration_secs_listeners = listeners
profiler = types.ModuleType("jaxlib._profiler")
profiler.TraceMe = TraceMe
'''

PROGRAM = JAXLIB + '''

class Session:
    def __init__(self, options=None):
        print("session", options, xla.is_on())


profiler.ProfilerSession = Session
profiler.start_server = lambda port: print("server", port, xla.is_on())
if how != "unfollowed":
    sys.modules["jaxlib._profiler"] = profiler
sys.modules["jax._src.monitoring"] = monitoring
wait_for(xla.is_on if how in ("on", "forked", "leaves", "many", "long") else lambda: listeners,
         20)


def work(count=50):
    for number in range(count):
        xla.annotate(b"PjitFunction(step)", b"dot.%d#hlo_op=dot,hlo_module=jit#" % number, 400)
        xla.annotate(b"end: dot.7#_ct=0#", b"a name of more than fifteen letters", 100)


if how == "forked":
    if not os.fork():
        print("child", xla.is_on(), flush=True)
        work(3)
        os._exit(0)
    os.wait()
if how == "leaves":
    work(5)
    profiler.ProfilerSession("mine")
    profiler.start_server(port=1234)
thread = threading.Thread(target=work)
thread.start()
work()
thread.join()
if how == "many":
    # Of one that ends before another begins that one may have the number.
    all_here = threading.Barrier(80)
    threads = [threading.Thread(target=lambda: (all_here.wait(), work(1))) for _ in range(80)]
    [one.start() for one in threads]
    [one.join() for one in threads]
if how == "long":
    work(1900)
if how == "killed":
    os._exit(3)
print("done")
'''


def library(version="0.10.2", *flags):
    base = os.path.join(harness.folder(), "jaxlib")
    os.makedirs(base, exist_ok=True)
    for made, name, more in (("lib/xla_double.cpp", "libjax_common.so",
                              ("-fvisibility=hidden", "-std=c++17", "-lstdc++", *flags)),
                             ("lib/blocks.c", "_jax.so", ())):
        os.replace(compile_program(made, "-fPIC", "-shared", *more, name=name),
                   os.path.join(base, name))
    with open(os.path.join(base, "version.py"), "w", encoding="utf-8") as file:
        file.write(f'# first\n_version = "{version}"\n')
    return base


def recorded(base, how="on", **env):
    if os.uname().machine != "x86_64":
        raise Skip("the recorder is known on x86-64")
    script = os.path.join(harness.folder(), "annotated.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    run = same(sys.executable, script, base, how, env={"TRACEPROF_MALLOC": "all"} | env)
    expect_equal(run.status, 0, run.stderr)
    return run


def notes(trace):
    return [note for note in trace.meta["notes"] if "XLA's annotations" in note]


def reasons(trace):
    return [note for note in notes(trace) if note not in FETCHED]


def test_annotations_are_slices_of_their_threads():
    """Where it is switched off and on (OLD) what ends meanwhile is missing."""
    for version, *flags in (("0.12.0.1",), ("0.10.2",), ("0.4.38", "-DOLD")):
        trace = recorded(library(version, *flags)).trace
        if flags:
            outer = trace.slices("PjitFunction(step)", cat="cpu_op")
            expect(0 < len(outer) <= 100 and all(399 < one["dur"] < 402 for one in outer), outer)
            expect_equal(notes(trace), [FETCHED[0]], "notes")
            continue
        outer = trace.slices("PjitFunction(step)", cat="cpu_op")
        inner = trace.slices("dot.*", cat="cpu_op")
        expect_equal((len(outer), len(inner)), (100, 100), "all of them")
        expect_equal({one["name"] for one in inner}, {f"dot.{at}" for at in range(50)})
        expect_equal(len(trace.slices("a name of more than fifteen letters")), 100)
        expect_equal(trace.slices("end: *"), [], "marks of an end")
        expect_equal(len({one["tid"] for one in outer}), 2, "lanes")
        for one in outer:
            expect(399 < one["dur"] < 402, one)
            expect_equal(sum(one["tid"] == other["tid"] and one["ts"] < other["ts"]
                             and other["ts"] + other["dur"] < one["ts"] + one["dur"]
                             for other in inner), 1, one)
        expect_equal(notes(trace), [FETCHED[1]], "notes")


def test_what_ends_while_they_are_fetched_is_there():
    """The writer's thread was put aside then, on a busy machine, and half of a training's
    calls were lost."""
    trace = recorded(library("0.10.2", "-DSLOW"), "long").trace
    expect_equal(len(trace.slices("PjitFunction(step)")), 2000, "all of them")


def test_what_annotations_take_is_given_back():
    """By our thread, but the blocks were the program's."""
    def live(**env):
        trace = recorded(library(), "on", **env).trace
        return trace.meta["heap"]["live_bytes"]

    try:
        with_them, without = live(), live(TRACEPROF_TORCH="off")
    except KeyError as error:
        raise AssertionError("no sums of the heap") from error
    expect(abs(with_them - without) < 100000, with_them, without)


def test_the_programs_own_profiler_goes_first():
    run = recorded(library(), "leaves")
    expect_equal(run.stdout, "session mine False\nserver 1234 False\ndone\n", run.stdout)
    trace = run.trace
    expect_equal(len(trace.slices("PjitFunction(step)")), 5, "up to there")
    expect_equal([("ends where" in note or "end where" in note) for note in reasons(trace)],
                 [True], "a note")


def test_a_forked_child_keeps_none():
    run = recorded(library(), "forked", PYTHONWARNINGS="ignore::DeprecationWarning")
    expect_equal(run.stdout, "child False\ndone\n")
    expect(any(len(trace.slices("PjitFunction(step)")) == 100 for trace in run.traces),
           "the parent's")


def test_threads_beyond_those_that_are_followed_are_said():
    trace = recorded(library(), "many").trace
    expect(any("more than 64 threads" in note for note in notes(trace)), notes(trace))


def test_where_it_can_t_be_used_a_note_says_so():
    for version, flags, how, why in (
            ("0.99.0", (), "off", "version is unknown"),
            ("0.13.0", (), "off", "version is unknown"),
            ("0.4.37", (), "off", "version is unknown"),
            ("0.10.2", ("-s",), "off", "has no symbols of it"),
            ("0.10.2", ("-DLEVEL=2",), "off", "own profiler is on"),
            ("0.10.2", ("-DODD",), "off", "don't lie as"),
            ("0.10.2", (), "unfollowed", "can't be followed")):
        trace = recorded(library(version, *flags), how).trace
        expect_equal(trace.slices("PjitFunction*"), [], why)
        expect_equal([why in note for note in reasons(trace)], [True], why)


if __name__ == "__main__":
    harness.main()
