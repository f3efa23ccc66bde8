# SPDX-License-Identifier: MIT
"""What a GPU's records and CUDA's names cost in instructions, on the simulated one.

Counted in our own code, as in t_instructions.py, in two runs that differ only in
how many calls they make.
"""

import glob
import os
import re

import harness
from harness import Skip, expect, expect_equal, folder, program, traced
from t_cuda import FAKE, need
from t_instructions import count, of_library

# On the program's thread, for each turn of cuda_each: what CUPTI asks of us there.
# The writer's thread decodes and draws what came of it.
PROGRAM = {"kernel": 240, "memcpy": 90, "memset": 90, "sync": 60, "event": 60,
           "node": 200, "call": 30, "wrong": 30, "pool": 560, "onhost": 130,
           "unified": 330, "latency": 280, "across": 90, "jit": 300, "naming": 400,
           "marking": 360}
# Of some of them: the turn of cuda_each, and settings.
TURNS = {"latency": "kernel"}
SETTINGS = {"onhost": {"SIMGPU_VERSION": "130101"},
            "latency": {"SIMGPU_VERSION": "130401", "TRACEPROF_GPU_LATENCY": "1"},
            "unified": {"TRACEPROF_UNIFIED_MEMORY": "1"}}
FEW, MANY = 500, 6500
# Words of cuda_kinds, each of which does it a thousand times.
WORDS = {"naming", "marking"}
# On NVML's thread, for each time that it looks at a GPU.
SAMPLE = 900
# In a name of CUDA's that is called through us and has nothing to do.
JUMP = 20


def of_others(path):
    """Of the threads that are not the program's first: ours, all of them."""
    return sum(of_library(other) for other in glob.glob(path[:-2] + "*")
               if other != path)


def each_turn(kind, hands_over="app"):
    """Instructions for one more of it: of the program's thread, and of ours.  Which
    thread hands buffers over is CUPTI's to choose; the program's own is the worst.
    Without hooks of the heap, where the simulated GPU allocates."""
    need("cuda_each")

    def both(path):
        return of_library(path), of_others(path)

    def command(turns):
        if kind in WORDS:
            return [program("cuda_kinds"), *([kind] * (turns // 500))]
        return [program("cuda_each"), TURNS.get(kind, kind), turns]

    few, many = (count(command(turns),
                       {"LD_LIBRARY_PATH": FAKE, "SIMGPU_KERNEL_NS": "1",
                        "SIMGPU_NAME_REUSE": "0", "TRACEPROF_NVML": "0",
                        "SIMGPU_COMPLETE_ON": hands_over,
                        "TRACEPROF_MALLOC": "off", "TRACEPROF_STEP": "api"}
                       | SETTINGS.get(kind, {}),
                       harness.LIBRARY, read=both) for turns in (FEW, MANY))
    turns = (MANY - FEW) * (2 if kind in WORDS else 1)
    return [(more - less) / turns for less, more in zip(few, many)]


def of_nvml(path):
    """Of the thread that asks NVML, ours; and how many samples it left."""
    mine = []
    for other in glob.glob(path[:-2] + "*"):
        with open(other, encoding="utf-8") as file:
            if re.search(r"^c?fn=\(\d+\) nvmlDeviceGetPowerUsage$", file.read(), re.M):
                mine.append(other)
    expect_equal(len(mine), 1, "threads that ask NVML")
    out = os.path.join(os.path.dirname(path), "out")
    trace = harness.Trace(os.path.join(out, os.listdir(out)[0]))
    return of_library(mine[0]), len([event for event in trace.events
                                     if event["name"] == "GPU state"])


def each_sample():
    """Instructions of ours for one more sample of a GPU's state."""
    need("cuda_kinds")
    (less, few), (more, many) = (
        count([program("cuda_kinds"), *turns * ["busy"]],
              {"LD_LIBRARY_PATH": FAKE, "TRACEPROF_MALLOC": "off"},
              harness.LIBRARY, read=of_nvml) for turns in (1, 4))
    expect(many > few + 10, f"{few} and {many} samples")
    return (more - less) / (many - few)


def test_a_sample_of_nvml():
    seen = each_sample()
    expect(seen < SAMPLE, f"{seen:.1f} instructions, the limit is {SAMPLE}")


def test_kinds_of_records():
    """Those that say most; tests/bench/bench_records.py counts all of them."""
    for kind in ("kernel", "memcpy", "wrong", "latency", "across", "jit", "naming",
                 "marking"):
        limit = PROGRAM[kind]
        seen, _ = each_turn(kind)
        expect(seen < limit, f"{kind}: {seen:.1f} instructions on the program's "
               f"thread, the limit is {limit}")


def of_names(path):
    """Instructions in CUDA's names in our library, and how often they were called."""
    objects, functions, here, at, called = {}, {}, None, None, [None, None]
    cost = calls = 0
    is_call = False
    with open(path, encoding="utf-8") as file:
        for line in file:
            named = re.match(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?", line)
            if named:
                known = objects if named[2] == "ob" else functions
                known.setdefault(named[3], named[4])
                value = known[named[3]]
                if named[1]:
                    called[named[2] == "fn"] = value
                elif named[2] == "ob":
                    here = value
                else:
                    at = value
            elif line.startswith("calls="):
                is_call = True
                into = called[0] or here
                if into == harness.LIBRARY and here != into \
                        and re.match("_*cuda", called[1]):
                    calls += int(re.match(r"calls=(\d+)", line)[1])
                called = [None, None]
            elif re.match(r"[\d+*-]", line):
                if not is_call and here == harness.LIBRARY and re.match("_*cuda", at):
                    cost += int(line.split()[1])
                is_call = False
    return cost, calls


def in_names(**env):
    """Instructions in CUDA's names of ours for fifty more steps, and calls of them."""
    need("cuda_train")

    def of_threads(path):
        return map(sum, zip(*map(of_names, glob.glob(path[:-2] + "*"))))

    few, many = (count([program("cuda_train"), steps, 1],
                       {"LD_LIBRARY_PATH": FAKE, "SIMGPU_KERNEL_NS": "1"} | env,
                       harness.LIBRARY, read=of_threads) for steps in (10, 60))
    return (more - less for less, more in zip(few, many))


def test_a_name_beside_cupti_costs_little_more_than_a_jump():
    cost, calls = in_names()
    expect(calls >= 250, f"{calls} calls through us")
    expect(cost / calls < JUMP, f"{cost / calls:.1f} instructions a call")


def test_off_is_not_called():
    expect_equal(list(in_names(TRACEPROF_CUDA="off")), [0, 0], "instructions, calls")


def test_off_loads_no_cupti():
    for cuda, wanted in (("off", False), ("auto", True)):
        need("cuda_train")
        said = os.path.join(folder(), "loaded")
        run = traced("cuda_train", "2", "1", env={
            "LD_LIBRARY_PATH": FAKE, "TRACEPROF_CUDA": cuda, "LD_DEBUG": "files",
            "LD_DEBUG_OUTPUT": said})
        expect_equal(run.status, 0, run.stderr)
        text = ""
        for path in glob.glob(said + "*"):
            with open(path, encoding="utf-8", errors="replace") as file:
                text += file.read()
        expect("libcudart.so.13" in text, "the runtime")
        expect_equal("libcupti" in text, wanted, cuda)


if __name__ == "__main__":
    harness.main()
