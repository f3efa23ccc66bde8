# SPDX-License-Identifier: MIT
"""JAX's compilations, on a double of the module that tells its listeners."""

import os
import sys

import harness
from harness import compile_program, expect, expect_equal, same

# As jax._src.monitoring, and what jit() tells of one function.
JAX = '''\
import ctypes, os, sys, time, types

ctypes.CDLL(sys.argv[1])
here = "LD_PRELOAD" in os.environ
how = sys.argv[2]
if how == "full":
    nothing = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p)
    while not ctypes.pythonapi.Py_AtExit(nothing):
        pass


def register(listener):
    raise KeyboardInterrupt     # as an interrupt that comes just then


def wait_for(condition, seconds=20):
    until = time.time() + seconds
    while here and not condition() and time.time() < until:
        time.sleep(0.001)


listeners = []
module = types.ModuleType("jax._src.monitoring")
module.register_event_duration_secs_listener = register
if how != "old":
    module._event_duration_secs_listeners = listeners if how != "other" else ()
sys.modules["jax._src.monitoring"] = module
wait_for(lambda: listeners, 20 if how in ("new", "forked", "many") else 0.5)
package = "/usr/lib/python3/dist-packages/jax/jit.py"
exec(compile("""
def tell(event, *took, **named):
    for one in listeners:
        one("/jax/" + event, *took, **named)


def jit(function, took):
    for part, named in (("jaxpr_trace", function), ("jaxpr_to_mlir_module", "jit(%s)"),
                        ("backend_compile", "jit(%s)")):
        time.sleep(took)
        tell("core/compile/" + part + "_duration", took,
             fun_name=named % function if "%" in named else named)
""", package, "exec"))


def step():
    jit("loss", 0.001 if how == "many" else 0.01)   # its line


if how == "forked" and not os.fork():
    step()
    os._exit(0)
if how == "forked":
    os.wait()
for _ in range(60 if how == "many" else 1):
    step()
tell("core/compile/backend_compile_duration", 0.001)    # no function
# What it might tell one day, and what nobody tells.
tell("checkpoint/write/duration_sec", 0.001)
tell("core/compile/backend_compile_duration")
tell("core/compile/backend_compile_duration", "long", fun_name=7)
for seconds in (-1.0, 1e300, float("nan"), float("inf")):
    tell("core/compile/backend_compile_duration", seconds, fun_name="odd")
try:
    print(listeners[0](1, 2), listeners[0]("/jax/core/compile/jaxpr_trace_duration"))
    print(listeners[0]())
except IndexError:
    print(None, None)
    print(None)
'''


def recorded(how="new", **env):
    made = compile_program("lib/blocks.c", "-fPIC", "-shared", name="_jax.so")
    base = os.path.join(harness.folder(), "jaxlib")
    os.makedirs(base, exist_ok=True)
    os.replace(made, os.path.join(base, "_jax.so"))
    script = os.path.join(harness.folder(), "compiles.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(JAX)
    return same(sys.executable, script, os.path.join(base, "_jax.so"), how,
                env={"TRACEPROF_MALLOC": "all"} | env)


def line_of(comment):
    return next(f"compiles.py({number})" for number, line in
                enumerate(JAX.splitlines(), 1) if line.endswith("# " + comment))


def test_each_part_of_a_compilation_is_a_range():
    """With the function, the program's line, and as long as JAX says."""
    found = recorded().trace.slices("jax.jit*", cat="user_annotation")
    expect_equal([one["name"] for one in found],
                 [f"jax.jit: {part} loss, {line_of('its line')}"
                  for part in ("trace", "lower", "compile")]
                 + [f"jax.jit: compile, {line_of('no function')}"])
    # JAX's seconds become ticks and these the trace's time, each by a clock that may
    # run 0.1 % fast or slow (SLOPE_RANGE) to catch up with the system's.
    for one in found[:3]:
        expect(abs(one["dur"] - 10000) < 20, one)
    for before, after in zip(found, found[1:3]):
        expect(after["ts"] >= before["ts"] + before["dur"] - 0.002, before, after)


def test_compilations_are_recorded_in_windows_alone():
    trace = recorded("off", TRACEPROF_TORCH="off").trace
    expect_equal(trace.slices("jax.jit*"), [], "asked for nothing")


def test_compilations_are_no_steps():
    trace = recorded("many").trace
    expect_equal((len(trace.slices("jax.jit* loss*")), trace.slices("ProfilerStep*")),
                 (180, []))


def test_a_forked_child_s_are_not_the_parent_s():
    # That there are threads is said since 3.12 (docs/reliability.md).
    run = recorded("forked", PYTHONWARNINGS="ignore::DeprecationWarning")
    for trace in run.traces:
        found = [one["name"].split()[1] for one in trace.slices("jax.jit* loss*")]
        expect_equal(found, ["trace", "lower", "compile"], trace.path)


def test_versions_that_tell_nobody():
    for how, why in (("old", None), ("other", "this version tells nobody"),
                     ("full", "the interpreter's end can't be followed")):
        trace = recorded(how).trace
        expect_equal(trace.slices("jax.jit*"), [], how)
        said = [note for note in trace.meta["notes"] if "JAX's compilations" in note]
        expect_equal([why in note for note in said], [True] if why else [], said)


if __name__ == "__main__":
    harness.main()
