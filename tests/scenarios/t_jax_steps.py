# SPDX-License-Identifier: MIT
"""Steps of what JAX runs on a processor, by XLA's annotations, which come late: from a
double of the recorder that jaxlib has."""

import json
import os
import subprocess
import sys

import harness
import t_recover
from harness import Skip, command, expect, expect_equal, same
from t_auto import said
from t_jax_traceme import JAXLIB, library
from t_verdict import judged, made, slice_, step_, threads_

PROGRAM = JAXLIB + '''
count = int(sys.argv[3])
profiler.ProfilerSession = TraceMe
profiler.start_server = print
sys.modules["jaxlib._profiler"] = profiler
sys.modules["jax._src.monitoring"] = monitoring
wait_for(xla.is_on)


def call(name, us=50):
    """JAX enters a function twice."""
    xla.annotate(b"PjitFunction(%s)" % name, b"PjitFunction(%s)" % name, us)


def compiled(name, *others):
    """Others are called while it is traced."""
    for other in others:
        xla.annotate(b"PjitFunction(%s)" % name, b"PjitFunction(%s)" % other, 50)


def loop():
    for at in range(count):
        if how == "two":
            call(b"loss_of")
            call(b"apply")
        elif how == "second":
            call(b"learn")
            if at % 2:
                call(b"soft")
        elif how == "added":
            for micro in range(4):
                call(b"micro_step")
            call(b"apply")
        elif how == "evaluated":
            call(b"train_step")
            if at % 10 == 9:
                for batch in range(3):
                    call(b"eval_step")
        elif how == "whole":
            call(b"split")
            call(b"train_epoch")
            if at % 5 == 4:
                call(b"score")
        elif how == "split":
            for name in (b"split", b"unstack", b"normal", b"getitem", b"train_step"):
                call(name)
        elif how == "own":
            if here:
                ctypes.CDLL(None).traceprof_step_()
            call(b"f")
            # Between windows it is switched off some time after them.
            if at in (2, 6):
                wait_for(lambda: not xla.is_on())
                print("between", xla.is_on())
        elif how == "numbered":
            xla.annotate(b"train#_r=1,step_num=%d#" % at, b"PjitFunction(f)", 50)
        elif how == "around":
            xla.annotate(b"my iteration", b"PjitFunction(f)", 50)
            xla.annotate(b"XLA's create batch", b"copy", 50)
        elif how == "traced":
            compiled(b"train_step", b"multiply")
        else:
            call(how.encode(), 50)
        time.sleep(0.0005)
    xla.annotate(b"np.asarray(jax.Array)", b"copy", 50)


call(b"stage")
if how == "split":
    for name in (b"split", b"unstack", b"normal", b"multiply", b"normal", b"multiply"):
        call(name)
if how == "thread":
    thread = threading.Thread(target=loop)
    thread.start()
    thread.join()
else:
    loop()
if "killed" in sys.argv:
    wait_for(lambda: not xla.kept())
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL if here else 0)
if "later" in sys.argv:
    until = time.time() + 20
    while here and len(glob.glob(os.environ["TRACEPROF_DIR"] + "/*")) < 2 and time.time() < until:
        call(b"train_step")
        time.sleep(0.0005)
    wait_for(lambda: not xla.is_on())
    print("off", xla.is_on())
print("done")
'''

WINDOWS = {"TRACEPROF_WAIT": "3", "TRACEPROF_ACTIVE": "2", "TRACEPROF_REPEAT": "2"}


def written():
    if os.uname().machine != "x86_64":
        raise Skip("the recorder is known on x86-64")
    script = os.path.join(harness.folder(), "stepping.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    return script


def recorded(how, count=40, *more, **env):
    return same(sys.executable, written(), library(), how, str(count), *more,
                env={"TRACEPROF_MALLOC": "all"} | env)


def expect_steps(how, steps, marker, count=40):
    run = recorded(how, count)
    trace = run.trace
    expect_equal(trace.steps(), list(range(steps)), run.stderr)
    expect_equal(said(run)[0], marker, run.stderr)
    return trace


def test_a_function_that_is_called_like_a_step():
    """And XLA's annotations are on a lane beside the main thread's."""
    trace = expect_steps("train_step", 40, 'JAX function "train_step"')
    main = trace.slices("PjitFunction(train_step)")
    expect_equal({one["tid"] for one in main}, {210000000 + main[0]["pid"]}, "lane")
    expect_equal({one["tid"] for one in trace.slices("ProfilerStep#*")},
                 {180000000 + main[0]["pid"]}, "the main thread's")


def test_another_function_that_is_called_once_more():
    """A key is split for the weights, and then in each step."""
    expect_steps("split", 40, 'JAX function "train_step"')


def test_the_first_process_of_a_container():
    """Whose number lanes of GPUs have, so that it gets another."""
    inside = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*inside, "true"], capture_output=True).returncode:
        raise Skip("no unshare --pid here")
    run = harness.traced(*inside, sys.executable, written(), library(), "train_step", "40",
                         env={"TRACEPROF_MALLOC": "all"})
    trace, = [trace for trace in run.traces if trace.slices("PjitFunction*")]
    expect_equal(trace.steps(), list(range(40)), run.stderr)
    expect_equal(command("check", trace.path).status, 0)
    main, = {one["tid"] for one in trace.slices("ProfilerStep#*")}
    expect_equal({one["tid"] for one in trace.slices("PjitFunction(train_step)")},
                 {main + 30000000}, "lane")
    told = json.loads(command("report", "--json", trace.path).stdout)[0]
    expect(told["step"]["count"] == 40, told["step"])


def test_an_update_that_alone_is_called():
    expect_steps("update", 40, 'JAX function "update"')


def test_an_epoch_that_is_one_call():
    expect_steps("whole", 40, 'JAX function "train_epoch"')


def test_two_functions_in_turn():
    expect_steps("two", 40, 'JAX function "apply"')


def test_what_annotations_are_called():
    expect_steps("numbered", 40, 'range "train"')
    expect_steps("around", 40, 'range "my iteration"')


def test_an_evaluation_that_is_called_like_a_step():
    expect_steps("evaluated", 40, 'JAX function "train_step"')


def test_functions_that_others_call_while_they_are_traced():
    expect_steps("traced", 40, 'JAX function "train_step"')


def test_in_doubt_nothing():
    """One function that may be a part of a step; two calls and then another one; and of
    four micro-steps and another one it isn't what is called like a step."""
    for how, name, times in (("relax", "relax", 40), ("second", "learn", 40)):
        run = recorded(how)
        expect_equal(run.trace.steps(), [], how)
        expect(f'(JAX function "{name}" comes {times} times)' in run.stderr, run.stderr)
        expect("no step found; jax.profiler.StepTraceAnnotation, or" in run.stderr, run.stderr)
    expect_equal(recorded("added").trace.steps(), [], "micro-steps")


def test_another_thread_s_calls_are_not_followed():
    expect_equal(recorded("thread").trace.steps(), [])


def test_windows_are_cut_from_what_is_kept():
    run = recorded("train_step", 60, **WINDOWS)
    expect_equal([trace.steps() for trace in run.traces], [[3, 4], [8, 9]], run.stderr)
    for trace in run.traces:
        expect_equal(len(trace.slices("PjitFunction(train_step)")), 4, "calls, twice each")


def test_nothing_is_recorded_after_the_last_window():
    """They are written while the run goes on."""
    run = recorded("train_step", 100, "later", **WINDOWS)
    expect_equal([trace.steps() for trace in run.traces], [[3, 4], [8, 9]], run.stderr)
    expect("off False" in run.stdout, run.stdout)


def test_steps_of_the_programs_own_leave_xla_alone_between_windows():
    run = recorded("own", 10, **WINDOWS)
    expect_equal([trace.steps() for trace in run.traces], [[3, 4], [8, 9]], run.stderr)
    expect("between False" in run.stdout, run.stdout)
    for trace in run.traces:
        expect_equal(len(trace.slices("PjitFunction(f)")), 4, "calls, twice each")


def test_a_run_that_is_killed():
    """Its steps are those that it would have said."""
    target = os.path.join(harness.folder(), "out")
    run = harness.execute(
        [sys.executable, written(), library(), "traced", "40", "killed"],
        harness.clean_environment() | {"LD_PRELOAD": harness.LIBRARY, "TRACEPROF_MALLOC": "all",
                                       "TRACEPROF_DIR": target}, 60, None, target)
    if not t_recover.sessions(target):
        raise Skip("no shared memory that outlives a process")
    expect_equal(command("recover", target).status, 0)
    expect_equal([trace.steps() for trace in run.traces], [list(range(40))])


def test_what_xla_says_of_a_thread_is_what_it_does():
    """It lies on lane number 21; and to wait for XLA's threads is nothing to be mended."""
    events = threads_(700)
    for number in range(8):
        at = number * 10000
        events += [step_(number, at, 10000) | {"tid": 180000700},
                   slice_("PjitFunction(f)", at, 1000, 210000700, "cpu_op"),
                   slice_("np.asarray(jax.Array)", at + 1000, 8000, 210000700, "cpu_op")]
    found = judged(made(events))
    parts = found["step"]["split_ns"]
    expect_equal(parts["off_cpu"], 64000000, parts)
    expect_equal(found["findings"], [], found["findings"])


if __name__ == "__main__":
    harness.main()
