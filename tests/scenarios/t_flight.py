# SPDX-License-Identifier: MIT
"""The flight recorder: what led up to it is in the file."""

import os
import re
import signal
import time

import harness
from harness import command, expect, expect_equal, traced
from t_control import Running

CLOSED = {"wait": 1000000, "active": 1}
# However long a busy machine makes steps of 10 ms, now and then by a second.
SLOW, SLOW_MS = "slow:3s", 4000


def flown(*arguments, program="uneven", **options):
    env = {"TRACEPROF_" + key.upper(): str(value) for key, value in options.items()}
    return traced(program, *arguments, env=env)


def check_account(traces):
    """Each file's own, and all of them together: no event is in two files."""
    in_files = 0
    for trace in traces:
        events = trace.meta["events"]
        expect_equal(events["seen"],
                     events["written"] + events["cut"] + events["dropped"],
                     trace.path)
        expect(events["aged"] <= events["outside"], events)
        in_files += events["in_file"]
        expect_equal(events["written"], in_files, "events in files so far")


def test_a_slow_step_and_the_steps_before_it():
    """In a program that runs with its windows closed.  The median may be four times
    what it is on a quiet machine, and a step take two seconds."""
    run = flown(150, 10, 100, 10000, flight="20steps", trigger="slow:200", **CLOSED)
    expect_equal(len(run.files), 1, f"files {run.stderr}")
    trace = run.trace
    expect("_flight1." in trace.path, trace.path)
    expect_equal({key: trace.meta["trigger"][key] for key in ("reason", "number")},
                 {"reason": "slow", "number": 1}, "trigger")
    expect(re.match(r"step 100 took \d+\.\d s, the median is \d+\.\d [mu]s",
                    trace.meta["trigger"]["detail"]), trace.meta["trigger"])
    steps = trace.steps()
    expect_equal(steps[0], 81, f"the first of 20 steps, the slow one the last {steps}")
    expect_equal(steps, list(range(81, 101)), "steps in a row")
    slow = trace.slices("slow part")[0]
    expect(slow["dur"] > 990e3, slow)
    for step in steps[1:-1]:
        around = trace.slices(f"ProfilerStep#{step}")[0]
        expect(any(around["ts"] <= region["ts"] < around["ts"] + around["dur"]
                   for region in trace.regions("work")), f"no region in {step}")
    check_account(run.traces)


def test_nothing_triggers():
    run = flown(60, 5, flight="10s", trigger="slow:1000,slow:60s,stall:600s,cuda-error")
    expect_equal(run.files, [], "files")
    expect("TRACEPROF_TRIGGER" not in run.stderr, run.stderr)
    expect("nothing triggered" in run.stderr, run.stderr)


def held(*slow, **options):
    """A run whose steps `slow` are, to the writer, slow without doubt: each
    lasts longer than that, and ends once the dump for the one before is made."""
    dumps = options.get("flight_dumps", len(slow))
    program = Running(slow[-1] + 30, 10, ",".join(map(str, slow)), "held",
                      program="uneven", trigger=SLOW, **options)
    for number, step in enumerate(slow):
        program.held(step)
        program.until(f" {min(number, dumps)} dumps")
        time.sleep(SLOW_MS / 1000)
        program.go_on()
    return program.leave()


def causes(traces):
    """(number of the dump, step that was slow) of each."""
    return [(trace.meta["trigger"]["number"],
             int(re.match(r"step (\d+) took", trace.meta["trigger"]["detail"])[1]))
            for trace in traces]


def test_no_second_dump_of_the_same_events():
    run = held(60, 75, flight="50steps")
    expect_equal(causes(run.traces), [(1, 60), (2, 75)], run.stderr)
    check_account(run.traces)
    first, second = (trace.steps() for trace in run.traces)
    expect_equal(first, list(range(11, 61)), "up to the first slow step")
    expect_equal(second, list(range(61, 76)), "from there to the second")


def test_as_many_dumps_as_are_allowed():
    run = held(30, 60, flight="20steps", flight_dumps=2)
    expect_equal(causes(run.traces), [(1, 30), (2, 60)], run.stderr)
    expect("TRACEPROF_FLIGHT_DUMPS" not in run.stderr, run.stderr)
    for most in (1, 2):
        run = held(30, 60, 90, flight="20steps", flight_dumps=most)
        expect_equal(causes(run.traces), [(1, 30), (2, 60)][:most], run.stderr)
        expect_equal(run.stderr.count("TRACEPROF_FLIGHT_DUMPS"), 1, run.stderr)


def test_the_fullest_file_of_a_trigger_is_judged_as_such():
    """It has a name, of what triggered it, but nobody began it by hand."""
    run = held(60, 75, flight="50steps", verdict="wait")
    expect_equal([len(trace.steps()) for trace in run.traces], [50, 15], run.stderr)
    expect("traceprof: the newest with the most steps is " in run.stderr, run.stderr)


def test_a_stall():
    program = Running(200, 5, -1, 0, 50, program="uneven", flight="30steps",
                      trigger="stall:4s", **CLOSED)
    program.process.stdout.readline()
    program.until("1 dumps")
    time.sleep(5)               # one stall, one file
    program.kill()
    run = harness.Run([], 0, "", "", program.target)
    harness.check_files(run)
    trace = run.traces[0]
    expect_equal(trace.meta["trigger"]["reason"], "stall", "reason")
    steps = trace.steps()
    expect_equal(steps[-1], 50, "the step that never ends")
    expect(len(steps) > 25, steps)
    expect(trace.slices("never ends"), "the call that never returned")
    expect_equal(len(run.files), 1, "files")


def test_a_signal():
    # It is killed when that was seen, so it need not be timed.
    program = Running(1000000, 20, -1, program="uneven", flight="1s", signal="USR2",
                      trigger="signal", **CLOSED)
    program.until("flight recorder")
    time.sleep(3)
    program.process.send_signal(signal.SIGUSR2)
    program.until("1 dumps")
    program.kill()
    run = harness.Run([], 0, "", "", program.target)
    harness.check_files(run)
    trace = run.traces[0]
    expect_equal(trace.meta["trigger"]["reason"], "signal", "reason")
    span, = trace.slices("PyTorch Profiler*")
    # Counted back from the newest event that the writer knew.
    expect(span["dur"] >= 0.999e6, f"{span['dur']} us of 1 s")
    expect(trace.steps()[0] > 0, "all of the run is in it")
    expect(trace.regions("work"), "regions")
    check_account(run.traces)


def test_on_demand():
    program = Running(150, 20, 30, "held", program="uneven", flight="10s")
    program.held(30)
    said = program.until("flight recorder, up to 10s")
    expect(re.search(r"\d\.\d s in memory, 0 dumps", said), said)
    path = program.good("snapshot").strip()
    trace = harness.Trace(path)
    expect_equal(trace.meta["trigger"]["reason"], "demand", "reason")
    expect(len(trace.steps()) > 5, trace.steps())
    program.go_on()
    run = program.leave()
    expect_equal(run.files, [path], "files")


def test_killed():
    """The history is in the session, and recovery writes it."""
    program = Running(200, 5, -1, 0, 60, program="uneven", flight="20steps",
                      **CLOSED)
    program.process.stdout.readline()
    time.sleep(0.7)
    program.kill()
    run = harness.Run([], 0, "", "", program.target)
    harness.check_files(run)
    harness.expect_no_session(run)
    trace = run.trace
    expect_equal(trace.meta["trigger"]["reason"], "crash", "reason")
    expect(trace.meta["recovered"], "not marked")
    steps = trace.steps()
    expect_equal(steps[-1], 60, "last step")
    expect(19 <= len(steps) <= 61, steps)
    expect(trace.slices("never ends"), "the call that never returned")
    check_account([trace])


def step_of(program):
    return int(re.search(r"^step +(\d+),", program.good("status"), re.M)[1])


def test_killed_between_dumps():
    """What is in a file already is not written again."""
    program = Running(1000000, 10, -1, program="uneven", flight="1000steps", **CLOSED)
    program.until("flight recorder")
    program.good("snapshot")
    until = step_of(program) + 20
    while step_of(program) < until:
        time.sleep(0.05)
    program.kill()
    run = harness.Run([], 0, "", "", program.target)
    harness.check_files(run)
    first, second = (trace.steps() for trace in run.traces)
    expect(second and second[0] >= first[-1], f"{first} and {second}")
    expect_equal([trace.meta["trigger"]["number"] for trace in run.traces],
                 [1, 2], "numbers")


def test_more_than_the_buffer_holds():
    """Said with the figure; the newest part is kept."""
    source = """
import ctypes, time
library = ctypes.CDLL(None)
for _ in range(80):
    for _ in range(10000):
        library.traceprof_push_(b"scope")
        library.traceprof_pop_()
    time.sleep(0.05)
print("done", flush=True)
time.sleep(2)
"""
    # The program waits where it is faster than the writer, so that nothing is
    # lost; and these calls are no steps, however regular they are.
    program = Running("-c", source, program="python3", flight="1000s", buffer_mb=4,
                      malloc="off", on_full="wait", step="api")
    program.process.stdout.readline()
    path = program.good("snapshot").strip()
    run = program.leave()
    lines = [line for line in run.own_lines if "TRACEPROF_FLIGHT=1000s" in line]
    expect_equal(len(lines), 1, run.stderr)
    said = re.search(r"needs about (\d+) MB at this rate; TRACEPROF_BUFFER_MB=4 "
                     r"holds the last (\d+\.\d) s", lines[0])
    expect(said and int(said.group(1)) > 50, lines[0])
    expect_equal(run.files, [path], "files")
    check_account(run.traces)
    events = run.trace.meta["events"]
    expect(events["aged"] > 50000 and events["in_file"] > 20000, events)
    expect_equal((events["dropped"], events["aged"] + events["in_file"]),
                 (0, 800000), "events")
    expect("find no room" in str(run.trace.meta["notes"]), run.trace.meta["notes"])
    # Its span begins where its events do, not where they would with room enough, two
    # thirds of it earlier; that a busy machine stands still before them is no third.
    span, = run.trace.slices("PyTorch Profiler*")
    first = min(event["ts"] for event in run.trace.slices("scope"))
    expect(first - span["ts"] < span["dur"] / 2, f"{first} in {span}")


def test_a_failing_call_of_cuda():
    """Whether CUPTI tells of it, late, or the runtime's calls alone."""
    fake = os.path.join(harness.BUILD, "fake-gpu")
    if not os.path.exists(os.path.join(fake, "libcupti.so.13")):
        raise harness.Skip(harness.not_built("the simulated GPU", "CUDA headers"))
    settings = {"LD_LIBRARY_PATH": fake, "TRACEPROF_FLIGHT": "20steps",
                "TRACEPROF_TRIGGER": "cuda-error"}
    run = traced("cuda_scopes", 2000, env=settings | {
        "SIMGPU_FAIL": "cudaMemcpyAsync:700:301"})
    # Two copies a step: the 301st is in step 150.
    seen = run.trace.steps()
    expect(seen[0] <= 140 and 150 in seen, f"{seen[0]} to {seen[-1]}")
    expect_failure(run.trace)
    if not os.path.exists(os.path.join(harness.PROGRAMS, "cuda_train")):
        raise harness.Skip(harness.not_built("cuda_train", "nvcc"))
    for knobs in ({}, {"SIMGPU_SUBSCRIBER_TAKEN": "1"}):
        run = traced("cuda_train", 8, 1, env=settings | knobs | {
            "SIMGPU_FAIL": "cudaMemcpyAsync:700:5"})
        expect(run.status != 0, "the trainer has not noticed")
        expect_failure(run.trace)


def expect_failure(trace):
    expect_equal(trace.meta["trigger"]["reason"], "cuda-error", "reason")
    expect_equal(trace.meta["trigger"]["detail"],
                 "a CUDA call returned error 700", "detail")
    check_account([trace])


def test_beside_a_schedule():
    """Windows are files of their own, and the history goes on behind them."""
    run = flown(150, 10, 100, SLOW_MS, flight="20steps", trigger=SLOW, wait=30,
                active=3, repeat=1)
    expect_equal(len(run.files), 2, f"files {run.stderr}")
    window, dump = run.traces
    expect_equal(window.steps(), [30, 31, 32], "the schedule's")
    expect("trigger" not in window.meta, window.meta)
    expect(100 in dump.steps(), dump.steps())
    check_account(run.traces)


def test_a_schedule_whose_steps_are_found_too_late_is_said():
    """Nothing is cut from the history, which keeps the newest steps alone."""
    settings = {"TRACEPROF_FLIGHT": "5steps", "TRACEPROF_WAIT": "3", "TRACEPROF_ACTIVE": "2",
                "TRACEPROF_REPEAT": "1"}
    late = traced("nested_loop", "epochs=1", "steps=40", "layers=2", env=settings)
    expect(not late.files and "traceprof: nothing of the schedule was recorded: beside a "
           "flight recorder it begins when the step is found" in late.stderr, late.stderr)
    few = traced("uneven", 20, 1, env=settings | {"TRACEPROF_WAIT": "30"})
    expect(not few.files and "the run had 20 steps, the schedule needs 32: nothing was "
           "recorded" in few.stderr, few.stderr)


def test_steps_that_the_library_finds():
    program = Running(1000000, 10, "unmarked", flight="20steps")
    program.until("flight recorder")
    # Until the step is found the history is all that there is room for.
    for _ in range(60):
        time.sleep(1)
        path = program.good("snapshot").strip()
        steps = harness.Trace(path).steps()
        if len(steps) >= 20:
            break
    program.kill()
    expect(20 <= len(steps) < 200, steps)
    expect_equal(steps, list(range(steps[0], steps[-1] + 1)), "steps in a row")


def test_settings_that_make_no_sense():
    for name, value in (("FLIGHT", "10"), ("FLIGHT", "0s"), ("FLIGHT", "s"),
                        ("FLIGHT", "5000steps"), ("FLIGHT", "90000s"),
                        ("TRIGGER", "slow"), ("TRIGGER", "slow:1"),
                        ("TRIGGER", "slow:x"), ("TRIGGER", "stall:3"),
                        ("TRIGGER", "stall:3s,"), ("TRIGGER", "fast:2")):
        flag = "--" + name.lower()
        done = command("record", flag, value, "--", "true")
        expect_equal(done.status, 2, f"{name}={value}")
        expect(f"TRACEPROF_{name}={value} is not valid" in done.stderr, done.stderr)
    for name, value in (("FLIGHT", "1step"), ("FLIGHT", "250ms"), ("FLIGHT", "off"),
                        ("TRIGGER", "slow:1.5,stall:30s,cuda-error,signal")):
        done = command("record", "--" + name.lower(), value, "--", "true")
        expect_equal(done.status, 0, f"{name}={value}: {done.stderr}")


def test_the_program_is_not_changed():
    run = harness.same("uneven", 100, 2, 50, 30, env={
        "TRACEPROF_FLIGHT": "20steps", "TRACEPROF_TRIGGER": "slow:3",
        "TRACEPROF_MALLOC": "all"})
    check_account(run.traces)


if __name__ == "__main__":
    harness.main()
