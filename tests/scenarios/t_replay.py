# SPDX-License-Identifier: MIT
"""Captured CUPTI buffers go through the library once more.

tests/fixtures/gpu holds what tests/gpu/run captured: NAME.spy.gz.  The simulated
CUPTI hands out their bytes instead of records of its own, and the trace must
hold what the records say, read here a second time, and keep looking as in
golden/replay_NAME.  A capture whose name begins with "simulated" comes from the
simulated GPU itself.
"""

import collections
import glob
import gzip
import json
import os
import re

import harness
from gpu_records import (CONCURRENT_KERNEL, DRIVER, GRAPH, KERNEL, MEMCPY, MEMSET, PEER,
                         RUNTIME, SYNC, Dump)
from harness import BUILD, ROOT, Skip, expect, expect_equal, folder, traced

FAKE = os.path.join(BUILD, "fake-gpu")
GPU = {"kernel": (KERNEL, CONCURRENT_KERNEL, GRAPH), "gpu_memcpy": (MEMCPY, PEER),
       "gpu_memset": (MEMSET,)}
CALLS = ("cuda_runtime", "cuda_driver")
NEARLY_NS = 20                  # ticks and nanoseconds, there and back
SLOPE = 1000                    # 1 in so many: the clock's slope (clock.c, SLOPE_RANGE)
LONGEST_NS = 10_000_000         # longer ones are cut by the replay
# These differ with the times, or with what else is in the file.
VOLATILE = ("External id", "memory bandwidth (GB/s)", "moved_ns", "correlation",
            "wait_on_cuda_event_id", "wait_on_cuda_event_record_corr_id")


def captures():
    return sorted(glob.glob(os.path.join(ROOT, "tests", "fixtures", "gpu", "*.spy.gz")))


def version_of(path):
    """What cuptiGetVersion() said when it was captured."""
    with open(path, "rb") as file:
        return int(re.search(rb"version (\d+), subscribe", file.read()).group(1))


def table_for(version):
    return 130001 if version >= 130000 else 28 if version >= 26 else 24


def replay(capture):
    """(trace, the capture's records)"""
    if not os.path.exists(os.path.join(FAKE, "libcupti.so.13")):
        raise Skip(harness.not_built("the double", "CUDA headers"))
    path = os.path.join(folder(), "capture")
    with gzip.open(capture, "rb") as packed, open(path, "wb") as file:
        file.write(packed.read())
    version = version_of(path)
    run = traced("cuda_scopes", "0", env={
        "LD_LIBRARY_PATH": FAKE, "SIMGPU_REPLAY": path,
        "SIMGPU_VERSION": str(version), "TRACEPROF_EXIT_MS": "60000",
        # The program's own launches have no records: not to be waited for long.
        "TRACEPROF_GPU_WAIT_MS": "1000"})
    expect_equal(run.status, 0, run.stderr)
    return run.trace, Dump(path, table_for(version))


def finished(dump, kinds):
    """What has times; the others are counted and left out."""
    return [record for record in dump.of(*kinds) if record.start and record.end]


def expect_records(trace, dump):
    """Each piece of work of the capture is in the trace, as long as it was."""
    for category, kinds in GPU.items():
        wanted = finished(dump, kinds)
        seen = collections.defaultdict(list)
        for event in trace.slices(cat=category):
            seen[event["args"]["correlation"]].append(round(event["dur"] * 1000))
        expect_equal(sum(map(len, seen.values())), len(wanted), category)
        for record in wanted:
            lengths = seen[record.correlation]
            length = record.end - record.start
            near = [one for one in lengths if length >= LONGEST_NS
                    or abs(one - length) <= NEARLY_NS + length // SLOPE]
            expect(near, f"{category} of {length} ns: {record}, seen {lengths}")
            lengths.remove(near[0])


def expect_kernels(trace, dump):
    """Launch by launch, with the sizes that the record has."""
    wanted = collections.Counter(
        (record.correlation, record.grid, record.block, record.stream)
        for record in finished(dump, (KERNEL, CONCURRENT_KERNEL)))
    seen = collections.Counter(
        (event["args"]["correlation"], tuple(event["args"]["grid"]),
         tuple(event["args"]["block"]), event["args"]["stream"])
        for event in trace.slices(cat="kernel") if "grid" in event["args"])
    expect_equal(seen, wanted, "kernels")


def expect_calls(trace, dump):
    """The outermost call of each number, once."""
    wanted = {record.correlation for record in finished(dump, (RUNTIME, DRIVER))}
    seen = collections.Counter(event["args"]["correlation"] for category in CALLS
                               for event in trace.slices(cat=category))
    expect_equal(set(seen), wanted, "calls")
    expect_equal(max(seen.values()), 1, "slices of one call")
    expect_equal(len(trace.slices(cat="cuda_sync")) <= len(dump.of(SYNC)), True, "waits")


def summary(trace):
    """Lines "how many, what": the same for each replay."""
    found = collections.Counter()
    for event in trace.events:
        if event["ph"] == "X" and event.get("cat") in (*GPU, *CALLS, "cuda_sync"):
            args = {key: value for key, value in event["args"].items()
                    if key not in VOLATILE}
            found[json.dumps([event["cat"], event["name"][:100], args],
                             ensure_ascii=False, sort_keys=True)] += 1
    gpu = {key: value for key, value in trace.meta["gpu"].items()
           if not key.startswith("moved") and not key.endswith("_kernels")}
    return [json.dumps(gpu, sort_keys=True)] + [
        f"{count} {line}" for line, count in sorted(found.items())]


def test_there_is_a_capture():
    expect(captures(), "none in tests/fixtures/gpu")
    for path in captures():
        expect(os.path.getsize(path) <= 2_000_000, f"{path} is too large")


def test_captures_again():
    for path in captures():
        trace, dump = replay(path)
        expect_records(trace, dump)
        expect_kernels(trace, dump)
        expect_calls(trace, dump)
        name = os.path.basename(path).partition(".")[0]
        harness.golden(f"replay_{name}", summary(trace))


def test_a_record_that_is_changed_is_seen():
    """Else the comparison above would prove nothing."""
    trace, dump = replay(captures()[0])
    record = finished(dump, (KERNEL, CONCURRENT_KERNEL))[0]
    for field, value in (("end", record.end + 1000), ("grid", (7, 7, 7)),
                         ("stream", 99)):
        kept, record[field] = record[field], value
        try:
            expect_records(trace, dump)
            expect_kernels(trace, dump)
        except AssertionError:
            record[field] = kept
            continue
        raise AssertionError(f"{field} changed and nothing said")


if __name__ == "__main__":
    harness.main()
