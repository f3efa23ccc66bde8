# SPDX-License-Identifier: MIT
"""Which test programs there are, and what their output means."""

import glob
import os
import re
import sys

TAP = re.compile(r"^(not ok|ok) \d+ ?-? ?(.*)$")
SKIP = re.compile(r"\s*# SKIP\s*(.*)$")
ALONE = re.compile(r"^(?:#|/\*|//) runs alone: ", re.M)
OF_THE_PROGRAM = re.compile(r"said nothing for|ended with status|ran no test")
TEST = re.compile(r"^def (test_\w+)\(", re.M)
# Long ones go first, and in parts that run side by side.
PARTS = {"scenarios/t_neighbours": 4, "scenarios/t_host": 2,
         "scenarios/t_instructions": 2, "scenarios/t_cuda_behind": 2,
         "scenarios/t_python_calls": 2, "scenarios/t_cuda_versions": 2,
         "scenarios/t_gpu_run": 1, "scenarios/t_auto_shapes": 1,
         "scenarios/t_hostile": 2, "scenarios/t_flight": 2, "scenarios/t_auto": 2,
         "scenarios/t_auto_gpu": 2, "scenarios/t_late": 2, "scenarios/t_closing": 1,
         "scenarios/t_children": 1, "scenarios/t_sample_room": 1,
         "scenarios/t_thin": 2, "scenarios/t_unusual_programs": 1,
         "scenarios/t_recover": 2, "scenarios/t_cuda_trouble": 1,
         "scenarios/t_control": 2, "scenarios/t_ring_orders": 1,
         "scenarios/t_step_sources": 2, "scenarios/t_process": 2,
         "scenarios/t_crash": 2}
# What enables skipped tests: (part of the reason, what to do).
REMEDIES = (
    (r"is not built$", "make programs"),
    (r"no CUDA headers|no headers of NVTX",
     "NVIDIA's cuda-cupti-dev and cuda-nvtx, or CUDA=/where/it/is"),
    (r"nvcc", "NVIDIA's cuda-nvcc"),
    (r"libcupti", "NVIDIA's cuda-cupti of CUDA 13.0"),
    (r"valgrind is not", "apt-get install valgrind"),
    (r"clang-format", "apt-get install clang-format-14"),
    (r"clang has no OpenMP", "apt-get install libomp-dev"),
    (r"clang(\+\+)? is not", "apt-get install clang"),
    (r"g\+\+ is not", "apt-get install g++"),
    (r"libjemalloc", "apt-get install libjemalloc2"),
    (r"libtcmalloc", "apt-get install libtcmalloc-minimal4"),
    (r"libmimalloc", "apt-get install libmimalloc2.0"),
    (r"libdnnl-dev", "apt-get install libdnnl-dev"),
    (r"package nvtx", "pip install nvtx"),
    (r"pip cannot build", "apt-get install python3-pip"),
    (r"shared memory", "a /dev/shm of 300 MB or more: docker run --shm-size=1g"),
    (r"two users|another user's rights|no right to|root's build|memory cgroup",
     "root's rights: docker run --privileged"),
    (r"fuse", "apt-get install libfuse3-dev fuse3"),
    (r"\bgo is not", "apt-get install golang-go"),
    (r"flamegraph\.pl", "apt-get install libdevel-nytprof-perl"),
    (r"([\w-]+) is not on this machine", r"install \1"),
)


class Part:
    """A test program, or some of its tests (none named: all)."""

    def __init__(self, name, command, source, tests=()):
        self.name = name
        self.command = command
        self.source = source
        self.tests = list(tests)
        self.is_unit = name.startswith("unit/")
        self.alone = bool(ALONE.search(read(source)))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def everything(root, build):
    """A part for each program, whole."""
    for path in sorted(glob.glob(f"{build}/tests/unit/*/test_*")
                       + glob.glob(f"{build}/tests/unit/*/*/test_*")):
        name = os.path.relpath(path, os.path.join(build, "tests"))
        source = os.path.join(root, "tests", name + ".c")
        # A program whose source is gone is none of this tree's.
        if "." not in os.path.basename(path) and os.path.exists(source):
            yield Part(name, [path], source)
    for kind, pattern in (("structure", "check_*.py"), ("scenarios", "t_*.py")):
        for path in sorted(glob.glob(os.path.join(root, "tests", kind, pattern))):
            yield Part(f"{kind}/{os.path.basename(path)[:-3]}",
                       [sys.executable, "-B", path], path)


def split(part):
    """A long one in parts, tests dealt out in turn."""
    tests = TEST.findall(read(part.source))
    number = PARTS[part.name]
    return [Part(part.name, part.command, part.source, tests[first::number])
            for first in range(number)]


def chosen_by(pattern, parts):
    """The names of those that a pattern means: the file that is called so, else
    those whose name holds it, and a test of that name if one is wanted."""
    word, _, test = pattern.partition(":")
    called = [part for part in parts if ("/" + part.name).endswith("/" + word)]
    return {part.name for part in called or parts if word in part.name
            and (part.is_unit or any(test in name
                                     for name in TEST.findall(read(part.source))))}


def find(root, build, patterns):
    """The parts to run, longest first."""
    found = []
    parts = list(everything(root, build))
    meant = {pattern: chosen_by(pattern, parts) for pattern in patterns}
    for part in parts:
        chosen = [pattern.partition(":")[2] for pattern in patterns
                  if part.name in meant[pattern]]
        if patterns and not chosen:
            continue
        if any(chosen):         # certain tests of it
            found += [Part(part.name, part.command, part.source, [test] if test
                           else []) for test in chosen]
        elif part.name in PARTS:
            found += split(part)
        else:
            found.append(part)
    order = list(PARTS)
    found.sort(key=lambda part: order.index(part.name) if part.name in order
               else len(order))
    return found


def selector(name, test):
    """":TEST" for the command that runs one test alone, "" if it can't be
    told from the others."""
    if OF_THE_PROGRAM.match(test):
        return ""
    test = test.replace(" ", "_")
    if not re.fullmatch(r"\w+", test) or name == "tests/run":
        return ""
    return ":" + (test if name.startswith("unit/") else "test_" + test)


def remedy(reason):
    for pattern, what in REMEDIES:
        match = re.search(pattern, reason)
        if match:
            return match.expand(what)
    return None


def results(part, output, status, limit):
    """[(verdict, test, detail)] of one program's output."""
    found = []
    detail = []
    for line in output.splitlines():
        match = TAP.match(line)
        if not match:
            detail.append(line)
            continue
        verdict = "ok" if match.group(1) == "ok" else "FAIL"
        test, skip = match.group(2), SKIP.search(match.group(2))
        if skip:                # cmocka prints "not ok 3 # SKIP name"
            verdict = "skip"
            test = test[:skip.start()] or skip.group(1)
            detail = [skip.group(1)] if test != skip.group(1) else []
        explained_later = verdict == "FAIL" and part.is_unit
        found.append((verdict, test, detail if verdict != "ok"
                      and not explained_later else []))
        if not explained_later:
            detail = []
    failed = any(verdict == "FAIL" for verdict, _, _ in found)
    if status is None:
        found.append(("FAIL", f"said nothing for {limit} s, and was ended", detail))
    elif status != 0 and not failed:
        found.append(("FAIL", f"ended with status {status}", detail))
    elif not found:
        found.append(("FAIL", "ran no test", detail))
    return found
