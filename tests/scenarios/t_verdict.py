# SPDX-License-Identifier: MIT
"""The verdict: a bottleneck that was planted is found first, and nothing is said
where there is none.

A machine with other work to do makes single steps slow, and says so: what is
first is looked for among the causes, unless the steps themselves are planted.
"""

import json
import os

import harness
from harness import BUILD, Skip, command, expect, expect_equal, traced

FAKE = os.path.join(BUILD, "fake-gpu")
ABOUT_STEPS = ("first-step", "nth-step", "outliers")


def judged(path):
    done = command("report", "--json", path)
    expect_equal(done.status, 0, done.stderr)
    return json.loads(done.stdout)[0]


def rules(path, causes=True):
    return [finding["rule"] for finding in judged(path)["findings"]
            if not causes or finding["rule"] not in ABOUT_STEPS]


def planted(name, steps=20, **settings):
    run = traced("planted", name, str(steps), env={"TRACEPROF_STEP": "api"} | settings)
    expect_equal(run.status, 0, run.stderr)
    return run.trace.path


def planted_gpu(name, kernel_ns=1000000, **settings):
    if not os.path.exists(os.path.join(BUILD, "tests", "programs", "cuda_planted")):
        raise Skip("cuda_planted is not built: no nvcc on this machine")
    run = traced("cuda_planted", name, env={
        "LD_LIBRARY_PATH": FAKE, "TRACEPROF_STEP": "api",
        "SIMGPU_KERNEL_NS": str(kernel_ns)} | settings)
    expect_equal(run.status, 0, run.stderr)
    return run.trace.path


def expect_first(path, rule):
    found = rules(path)
    expect(found and found[0] == rule, f"{rule} is not first: {found}",
           json.dumps(judged(path)["findings"], indent=1))


# --- each bottleneck, and a run without ---------------------------------------

def test_openmp():
    for name in ("imbalance", "barrier", "critical", "oversubscribed", "idle-threads"):
        expect_first(planted(name, 10), name)
    expect_first(planted("short-regions", 10), "short-regions")


def test_heap():
    for name in ("churn", "large-blocks", "growth"):
        expect_first(planted(name), name)


def test_waiting():
    for name in ("data-starved", "exposed-comm"):
        expect_first(planted(name), name)


def test_steps():
    for name in ABOUT_STEPS:
        found = [rule for rule in rules(planted(name, 30), causes=False)
                 if rule in ABOUT_STEPS]
        expect_equal(found[:1], [name])


def test_our_own_cost():
    expect_first(planted("own-cost"), "own-cost")


def test_gpu():
    for name in ("blocking-copies", "needless-sync", "idle-host", "idle-alloc",
                 "idle-openmp", "data-starved", "exposed-comm", "serial-streams",
                 "layout", "memory-bound", "low-occupancy", "compute-bound"):
        kernel_ns = 200000 if name in ("idle-alloc", "idle-host", "idle-openmp",
                                       "data-starved", "needless-sync") else 1000000
        expect_first(planted_gpu(name, kernel_ns), name)


def test_gpu_of_small_things():
    expect_first(planted_gpu("results-read", 100000), "needless-sync")
    expect_first(planted_gpu("small-copies", 2000), "small-copies")
    expect_first(planted_gpu("small-kernels", 2000), "small-kernels")


def test_gpu_that_is_throttled():
    found = rules(planted_gpu("none", SIMGPU_NVML_REASONS="0x20"))
    expect("throttled" in found, found)


def test_nothing_is_said_of_nothing():
    expect_equal(rules(planted_gpu("none", 5000000)), [])


if __name__ == "__main__":
    harness.main()
