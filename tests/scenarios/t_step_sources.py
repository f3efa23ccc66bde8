# SPDX-License-Identifier: MIT
"""One program, every source of steps, every shape of schedule: the same files.

The program's iterations hold one of each marker, so iteration i is step i by
whatever marker, and what a schedule records of it can be written down.
"""

import os

import harness
from harness import BUILD, ROOT, Skip, compile_program, expect, expect_equal, traced

HEADERS = os.path.join(os.environ.get("CUDA", "/usr/local/cuda"), "include")
FAKE = os.path.join(BUILD, "fake-gpu")
COUNT = 24

SCHEDULES = (
    {"wait": 2, "active": 3},
    {"wait": 1, "warmup": 2, "active": 4, "repeat": 2},
    {"active": 5, "repeat": 1},
    {"warmup": 3, "active": 1},
    {"skip_first": 5, "wait": 2, "warmup": 1, "active": 3, "repeat": 2},
    {"skip_first": 3, "skip_first_wait": 1, "wait": 4, "active": 2},
    {"wait": 4, "skip_first_wait": 1, "warmup": 1, "active": 2, "repeat": 3},
    {"skip_first": 7},
    {"wait": 9},
    {"skip_first": 22, "active": 6, "repeat": 1},
    {"active": 1},
    {"wait": 30, "active": 1},
)


def files_of(steps, wait=0, warmup=0, active=None, repeat=0, skip_first=0,
             skip_first_wait=0):
    """The steps of each file, by laying a run's steps out one behind another."""
    files = []
    step = skip_first
    cycle = 0
    while step < steps and not (repeat and cycle == repeat):
        if cycle or not skip_first_wait:
            step += wait
        step += warmup
        last = steps if active is None else step + active
        files.append([number for number in range(step, last) if number < steps])
        step = last
        cycle += 1
    return [numbers for numbers in files if numbers]


def markers():
    if not os.path.exists(os.path.join(HEADERS, "nvtx3", "nvToolsExt.h")):
        raise Skip("no headers of NVTX on this machine")
    return compile_program("nvtx/markers.c", "-isystem", HEADERS, "-I", ROOT,
                           "-fopenmp", "-ldl", name="markers")


def need_gpu():
    if not os.path.exists(os.path.join(FAKE, "libcupti.so.13")):
        raise Skip(harness.not_built("the simulated GPU", "CUDA headers"))


def run(program, source, schedule, count=COUNT):
    env = {"TRACEPROF_" + key.upper(): str(value) for key, value in schedule.items()}
    env |= {"TRACEPROF_STEP": source, "TRACEPROF_MALLOC": "off",
            "LD_LIBRARY_PATH": FAKE}
    done = traced(program, count, env=env)
    expect_equal(done.status, 0, done.stderr)
    return [trace.steps() for trace in done.traces]


def drive(source):
    """The whole table by one source, and twice as many marks by a divisor."""
    program = markers()
    for schedule in SCHEDULES:
        wanted = files_of(COUNT, **schedule)
        expect_equal(run(program, source, schedule), wanted, f"{source} {schedule}")
    for schedule in SCHEDULES[1:5:3]:
        expect_equal(run(program, source + "/2", schedule, 2 * COUNT),
                     files_of(COUNT, **schedule), f"{source}/2 {schedule}")


def test_what_is_wanted():
    expect_equal(files_of(12, wait=2, active=1), [[2], [5], [8], [11]])
    expect_equal(files_of(30, wait=3, warmup=1, active=3, repeat=2),
                 [[4, 5, 6], [11, 12, 13]])
    expect_equal(files_of(8, wait=5), [[5, 6, 7]])
    expect_equal(files_of(12, wait=3, active=1, skip_first_wait=1, repeat=2), [[0], [4]])


def test_steps_of_the_program():
    drive("api")


def test_ranges():
    drive("range:bat*")


def test_regions():
    drive("omp:work")


def test_kernels():
    need_gpu()
    drive("kernel:batch_kernel")


def test_calls_of_cuda():
    need_gpu()
    drive("cuda:cuMemcpyHtoDAsync*")


def test_the_default():
    """What the program says itself wins from the first call on."""
    program = markers()
    for schedule in SCHEDULES:
        expect_equal(run(program, "auto", schedule), files_of(COUNT, **schedule),
                     f"auto {schedule}")


def test_time():
    """Its steps have no iterations, but the same numbers in the same files."""
    program = markers()
    for schedule in ({"wait": 2, "active": 3, "repeat": 2},
                     {"skip_first": 3, "warmup": 1, "active": 2, "repeat": 1}):
        files = run(program, "time:20", schedule, 600)
        expect_equal(files, files_of(COUNT, **schedule), f"time {schedule}")


def test_time_has_a_lane_of_its_own():
    """The writer marks such steps in the midst of its passes, which are drawn,
    and on its own thread, which has slices of its own."""
    source = """
import time
end = time.monotonic() + 1.5
while time.monotonic() < end:
    for _ in range(100):
        bytearray(1000)
    time.sleep(0.0005)
"""
    run = traced("python3", "-c", source,
                 env={"TRACEPROF_STEP": "time:20", "TRACEPROF_MALLOC": "all"})
    trace = run.trace
    steps = trace.slices("ProfilerStep#*")
    expect(len(steps) >= 3, f"{len(steps)} steps in 1.5 s")
    lanes = {step["tid"] for step in steps}
    expect_equal(len(lanes), 1, f"lanes of the {len(steps)} steps")
    passes = {event["tid"] for event in trace.slices("traceprof writer")}
    expect(not passes & lanes, f"{passes} and {lanes}")


def test_the_last_step_ends():
    """What follows the loop is in no step, where steps hold anything at all."""
    run = traced("nested_loop", "epochs=1", "steps=12", "layers=2", "call", "evaluate=5",
                 env={"TRACEPROF_STEP": "api"})
    last = run.trace.slices("ProfilerStep#11")[0]
    end = last["ts"] + last["dur"]
    own = run.trace.regions("update")[11]
    expect(end >= own["ts"] + own["dur"] - 0.01, last, own)
    expect(end <= run.trace.regions("accuracy")[0]["ts"], "swallows the tail", last)
    run = traced("step_loop", 6, 1, env={"TRACEPROF_STEP": "api"})
    last = run.trace.slices("ProfilerStep#5")[0]
    region = run.trace.regions("update")[-1]
    expect(abs(last["ts"] + last["dur"] - region["ts"] - region["dur"]) < 1,
           "doesn't end with its last region", last, region)


def test_the_last_step_crosses_nothing():
    """It begins in a scope that ends before it does, as those before it."""
    run = traced("python3", "-c",
                 "import traceprof as tp\n"
                 "with tp.scope('all'):\n"
                 "    for _ in range(5):\n"
                 "        with tp.scope('first'):\n"
                 "            tp.step()\n"
                 "        with tp.scope('second'): pass\n",
                 env={"PYTHONPATH": os.path.join(harness.ROOT, "tools/python")})
    steps = run.trace.slices("ProfilerStep#*")
    expect_equal([step["name"] for step in steps],
                 [f"ProfilerStep#{number}" for number in range(5)])
    expect_equal(len({step["tid"] for step in steps}), 1, "steps on one lane")
    last, own = steps[-1], run.trace.slices("second")[-1]
    expect(abs(last["ts"] + last["dur"] - own["ts"] - own["dur"]) < 1, last, own)


if __name__ == "__main__":
    harness.main()
