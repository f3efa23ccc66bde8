# SPDX-License-Identifier: MIT
"""Captures CUPTI's completed buffers for replay, by tests/fake_gpu's spy.

The spy is CUPTI's client here, with the kinds and settings that the library
uses; each program runs a few steps.  A capture is a file of chunks (see
tests/fake_gpu/spy.c), compressed, of at most 2 MB.  What replays it is
tests/scenarios/t_replay.py.
"""

import collections
import gzip
import importlib.util
import os
import re
import struct
import sys

import gpu_build
import gpu_machine
from gpu_machine import HERE, ROOT, Lacking

sys.path.insert(0, os.path.join(ROOT, "tests", "scenarios"))
import gpu_records

LIMIT = 2_000_000               # bytes of a capture
# As preload/cuda/cupti_kinds.c has them; device and context first.
KINDS = "8,9,10,1,22,2,5,4,38,17,49,36"
GRAPHS = KINDS + ",51"
PER_THREAD = "9=1"
HEAD = struct.Struct("=IIQQQ")


def spy(m):
    """Its path; built here, where it isn't yet."""
    built = os.path.join(m.double, "libspy.so")
    output = os.path.join(m.work, "libspy.so")
    if m.fake and os.path.exists(built):
        return built
    if os.path.exists(output):
        return output
    headers = gpu_build.cuda_with_headers(m)
    made = m.run("spy-build", [
        "gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-g", "-fPIC", "-shared",
        "-I", ROOT, "-isystem", f"{headers}/include", "-isystem",
        f"{headers}/extras/CUPTI/include", "-o", output,
        os.path.join(ROOT, "tests", "fake_gpu", "spy.c"), "-lpthread", "-ldl"])
    if made.status:
        raise Lacking(f"the spy was not built: {gpu_machine.last_words(made)}")
    return output


def cupti_of(m):
    """The libcupti that the library chose, by the note in a trace."""
    for path in m.kept:
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "rt", encoding="utf-8") as file:
            found = re.search(r'"CUPTI: (/[^"]+)"', file.read())
        if found:
            return found.group(1)
    return None


def version_of(lines):
    for line in lines:
        found = re.match(r"version (\d+)", line)
        if found:
            return int(found.group(1))
    return 0


def sizes_for(version):
    """The table of gpu_records that holds for this version."""
    return 130001 if version >= 130000 else 28 if version >= 26 else 24


def chunks(data):
    """(whole chunk, its kind) of each."""
    at = 0
    while at + HEAD.size <= len(data):
        kind, _, size, names, _ = HEAD.unpack_from(data, at)
        end = at + HEAD.size + size + names
        yield data[at:end], kind
        at = end


def shorten(data):
    """Compressed, and only as many buffers of its beginning as fit."""
    packed = gzip.compress(data, 9, mtime=0)
    parts = list(chunks(data))
    while len(packed) > LIMIT and len(parts) > 2:
        keep = max(2, int(len(parts) * LIMIT / len(packed) * 0.9))
        parts = parts[:min(keep, len(parts) - 1)]
        packed = gzip.compress(b"".join(part for part, _ in parts), 9, mtime=0)
    return packed


def examine(m, report, name, path):
    """What the buffers say about CUPTI itself."""
    with open(path, "rb") as file:
        data = file.read()
    lines = [part[HEAD.size:].decode(errors="replace")
             for part, kind in chunks(data) if kind == gpu_records.TEXT]
    refused = [line for line in lines if line.startswith("enable ")]
    report.tell(f"{name}: CUPTI said", "; ".join(
        line for line in lines if not line.startswith("enable "))[:300])
    report.tell(f"{name}: kinds refused", refused or "none")
    dump = gpu_records.Dump(path, sizes_for(version_of(lines)))
    report.expect(f"{name}: record lengths as tabled", dump.records,
                  f"{len(dump.records)} records in {len(dump.buffers)} buffers")
    report.tell(f"{name}: given back by", dict(collections.Counter(
        buffer.thread for buffer in dump.buffers).most_common(4)))
    numbers = [{record.correlation for record in dump.of(kind)}
               for kind in (gpu_records.RUNTIME, gpu_records.DRIVER)]
    report.tell(f"{name}: calls of runtime, driver, both",
                f"{len(numbers[0])}, {len(numbers[1])}, {len(numbers[0] & numbers[1])}")
    walked(m, report, name, dump)


def walked(m, report, name, dump):
    """The real walker steps as the table says."""
    if m.fake:
        library = gpu_records.real_library()
    else:
        place = cupti_of(m)
        library = gpu_records.ctypes.CDLL(place) if place else None
    if not library:
        report.add(f"{name}: CUPTI's own walk", "skip", "no libcupti to ask")
        return
    different = 0
    for buffer in dump.buffers:
        seen, _ = gpu_records.real_walk(library, buffer.data)
        wanted = [(record.kind, record.at) for record in dump.walk(buffer)]
        different += seen != wanted
    report.expect(f"{name}: CUPTI's own walk", not different,
                  f"{different} of {len(dump.buffers)} buffers differ")


def capture_one(m, report, name, command, kinds=KINDS):
    """Runs the command with the spy in it; a fixture for m.buffers."""
    place = cupti_of(m)
    paths = [m.environment(command[0]).get("LD_LIBRARY_PATH", ""),
             gpu_build.with_runtime(m).get("LD_LIBRARY_PATH", ""),
             os.path.dirname(place) if place and not m.fake else ""]
    path = os.path.join(m.work, f"{name}.spy")
    result = m.run(f"spy-{name}", command, limit=60, env={
        "CUDA_INJECTION64_PATH": spy(m), "SPY_OUT": path, "SPY_KINDS": kinds,
        "SPY_SET": PER_THREAD, "LD_LIBRARY_PATH": ":".join(filter(None, paths))})
    if not report.expect(f"{name}: finishes", result.status == 0
                         and os.path.exists(path), gpu_machine.last_words(result)):
        return
    with open(path, "rb") as file:
        packed = shorten(file.read())
    with open(path + ".gz", "wb") as file:
        file.write(packed)
    m.buffers.append(path + ".gz")
    report.expect(f"{name}: a fixture of at most 2 MB", len(packed) <= LIMIT,
                  f"{len(packed)} bytes")
    examine(m, report, name, path)


def capture_training(m, report, mode):
    """A few steps of one of the Python programs."""
    script = ["jax_train.py"] if mode == "jax" else ["torch_train.py", "--mode", mode]
    capture_one(m, report, f"python_{mode}", [
        m.python, os.path.join(HERE, script[0]), *script[1:], "--steps", "4",
        "--warm-up", "1", "--out", os.path.join(m.work, "spied.json")])


def capture(m, report):
    for kind in ("shared", "static"):
        if kind in m.programs:
            capture_one(m, report, f"trainer_{kind}",
                        [m.programs[kind], 6, 2, *gpu_build.cublas(m)])
    if "shared" in m.programs:
        capture_one(m, report, "trainer_graphs", [m.programs["shared"], 6, 2], GRAPHS)


def captures(m, report):
    """The same of the Python programs."""
    if m.fake:
        raise Lacking("a simulated GPU carries none of them")
    for mode, module in (("eager", "torch"), ("graph", "torch"), ("jax", "jax")):
        if importlib.util.find_spec(module):
            capture_training(m, report, mode)
