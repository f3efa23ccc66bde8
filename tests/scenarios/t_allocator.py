# SPDX-License-Identifier: MIT
"""PyTorch's caching allocator: what it hands out, and what it holds."""

import os
import re
import sys

import harness
from harness import BUILD, Skip, command, expect, expect_equal, traced
from t_cuda import FAKE, need
from t_cuda_stacks import memories
from t_memory import line_of

LIBRARIES = os.path.join(BUILD, "tests", "programs", "lib")
STEPS = 40
PIECE, BLOCK, KEPT = 20000000, 3000000, 1000000


def train(*arguments, **env):
    need("caching")
    run = traced("caching", STEPS, *arguments, env={
        "LD_LIBRARY_PATH": f"{LIBRARIES}:{FAKE}", **env})
    expect_equal(run.status, 0, run.stderr)
    return run


def blocks(trace, name="[memory]"):
    return [event["args"] for event in trace.events
            if event["name"] == name and event["args"].get("Device Type") == 1]


def test_blocks_are_drawn_as_torch_draws_them():
    run = train()
    expect_equal(run.stdout, f"{2 * STEPS} reports\n", "passed on")
    seen = blocks(run.trace)
    expect_equal([one["Bytes"] for one in seen], [BLOCK, -BLOCK] * STEPS)
    expect_equal([one["Total Allocated"] for one in seen], [BLOCK, 0] * STEPS)
    expect_equal({one["Total Reserved"] for one in seen}, {PIECE})
    expect_equal({one["Device Id"] for one in seen}, {0})
    expect_equal(len({one["Addr"] for one in seen}), 1, "the same block")


def test_pieces_are_the_drivers():
    """What the allocator got from CUDA isn't counted twice."""
    trace = train().trace
    expect_equal([one["Bytes"] for one in blocks(trace, "[memory] driver")], [PIECE])


def test_without_an_allocator_the_driver_has_the_plain_name():
    run = traced("cuda_sites", "plain", 3, env={"LD_LIBRARY_PATH": FAKE})
    expect(blocks(run.trace), "none")
    expect_equal(blocks(run.trace, "[memory] driver"), [])


def test_what_is_held_against_what_is_used():
    path = train().files[0]
    found = memories(path)["GPU 0"]
    expect_equal((found["peak_bytes"], found["reserved_peak_bytes"],
                  found["used_then_bytes"], found["live_bytes"]),
                 (BLOCK, PIECE, BLOCK, 0))
    expect_equal(memories(path)["GPU 0, of the driver"]["peak_bytes"], PIECE)
    done = command("memory", path)
    expect("its allocator held 19.07 MiB at most, of which 15.0 % were in use then"
           in done.stdout, done.stdout)
    done = command("report", path)
    expect("GPU 0: the program's allocator held 19.07 MiB at most" in done.stdout,
           done.stdout)


def test_what_is_kept_in_it_is_named():
    path = train("keep", TRACEPROF_STACK="cuda").files[0]
    places = [place for place in memories(path)["GPU 0"]["places"]
              if place.get("growth")]
    expect_equal([[frame["function"] for frame in place["stack"][:3]]
                  for place in places], [["keep_loss", "train_step", "main"]])
    expect_equal(places[0]["growth"], KEPT)
    expect_equal((os.path.basename(places[0]["stack"][0]["file"]),
                  places[0]["stack"][0]["line"]),
                 ("caching.c", line_of("keep_loss", "return get(", "caching.c")))


def test_in_windows_alone():
    run = train(TRACEPROF_STEP="mark", TRACEPROF_WAIT="3", TRACEPROF_ACTIVE="2",
                TRACEPROF_REPEAT="2")
    expect_equal([len(blocks(trace)) for trace in run.traces], [4, 4])
    expect_equal(run.stdout, f"{2 * STEPS} reports\n", "passed on")


def test_off_passes_them_on():
    run = train(TRACEPROF_CUDA="off", TRACEPROF_MALLOC="all")
    expect_equal(blocks(run.trace), [])
    expect_equal(run.stdout, f"{2 * STEPS} reports\n", "passed on")


def test_torch_calls_it_by_its_name():
    """PyTorch's own libraries, here with the host's memory alone: their calls of
    the name come to us, and torch.profiler hears of all of them."""
    code = """
import torch
from torch.profiler import profile, ProfilerActivity
with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:
    x = torch.ones(1000, 1000)
    del x
found = [e for e in p.profiler.kineto_results.events() if e.name() == "[memory]"]
print(sorted(e.nbytes() for e in found if abs(e.nbytes()) >= 4000000))
"""
    try:
        import torch
    except ImportError:
        raise Skip("no PyTorch here") from None
    debug = os.path.join(harness.folder(), "bindings")
    run = traced(sys.executable, "-c", code, env={
        "LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": debug,
        "TRACEPROF_MALLOC": "all"})
    expect_equal(run.stdout, "[-4000000, 4000000]\n", run.stderr)
    text = ""
    for name in os.listdir(os.path.dirname(debug)):
        if name.startswith("bindings."):
            with open(os.path.join(os.path.dirname(debug), name),
                      encoding="utf-8", errors="replace") as file:
                text += file.read()
    bound = set(re.findall(r"binding file \S*/(libc10\S*|libtorch\S*) \[0\] to "
                           r"\S*/libtraceprof.so \[0\]: normal symbol "
                           r"`_ZN3c1027reportMemoryUsage", text))
    expect("libc10.so" in bound, bound)


if __name__ == "__main__":
    harness.main()
