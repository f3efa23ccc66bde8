# SPDX-License-Identifier: MIT
"""TRACEPROF_MALLOC=sites: the account of each call stack without the blocks."""

import gzip
import json
import os
import re
import signal
import subprocess
import time

import harness
from harness import command, expect, expect_equal, same

SITES = {"TRACEPROF_MALLOC": "sites"}
ALL = {"TRACEPROF_MALLOC": "all", "TRACEPROF_STACK": "heap",
       "TRACEPROF_MAX_OVERHEAD": "0"}


def record(*arguments, **env):
    return same(*arguments, env=SITES | env)


def account(path):
    done = command("memory", "--json", "--top", 0, path)
    expect_equal((done.status, done.stderr), (0, ""))
    return json.loads(done.stdout)[0]["memories"][0]


def of_places(found, *keys):
    """What each place has of these."""
    return sorted((tuple(place.get(key) for key in keys),
                   [frame["function"] for frame in place["stack"]])
                  for place in found["places"])


def check_as_all(*arguments):
    """Both modes of a program of one thread say the same, to the byte."""
    run = record(*arguments)
    expect(not run.trace.memory(), "blocks are drawn")
    ours, theirs = account(run.files[0]), account(same(*arguments, env=ALL).files[0])
    keys = sorted(key for key in theirs if isinstance(theirs[key], int)
                  and not key.endswith("_ns"))
    expect(len(keys) > 5, keys)
    expect_equal({key: ours[key] for key in keys}, {key: theirs[key] for key in keys},
                 "sums")
    keys = sorted({key for place in theirs["places"] for key in place
                   if key not in ("stack", "growth")})
    expect(len(keys) > 5, keys)
    expect_equal(of_places(ours, *keys), of_places(theirs, *keys), "places")
    return run, ours


def test_sums_are_those_of_all_blocks():
    check_as_all("alloc_sites", "clean", 60)
    check_as_all("template_leak", 60)


def test_leak_grows_by_step():
    _, found = check_as_all("alloc_sites", "leak", 60)
    expect_equal(found["growth"]["for_each"], "step", "points")
    place, = [place for place in found["places"] if place.get("growth")]
    expect(1000000 <= place["growth"] <= 1010000, place["growth"])
    expect_equal(place["stack"][0]["function"], "make_block", "who leaks")


def test_leak_grows_by_a_step_that_nobody_marked():
    # It is found when the run is over, and all calls of the heap were taken.
    found = account(record("unmarked_leak", 60, 1).files[0])
    growth = found["growth"]
    expect_equal((growth["for_each"], growth["grows"]), ("step", True), growth)
    place, = [place for place in found["places"] if place.get("growth")]
    expect(1000000 <= place["growth"] <= 1100000, place["growth"])
    expect_equal(place["stack"][0]["function"], "make_activation", "who leaks")
    found = account(record("unmarked_leak", 60, 0).files[0])
    expect_equal((found["growth"]["known"], found["growth"]["grows"]),
                 (True, False), found["growth"])


def test_lambdas_inside_the_library():
    """Those that the compiler puts into std::thread's and std::function's functions."""
    source = "lambdas.cpp"
    with open(os.path.join(harness.ROOT, "tests", "programs", source), encoding="utf-8") as file:
        lines = file.read().splitlines()
    for flags in (["-O2"], ["-O2", "-g0"]):
        built = harness.compile_program(source, "-pthread", *flags, compiler="g++")
        done = command("memory", record(built).files[0])
        at_end = done.stdout.split("live at the end\n", 1)[1].split("\n\n")[0]
        if "-g0" in flags:
            expect(re.search(r"main::.lambda.*::_M_run \[lambdas\]", at_end), at_end)
            continue
        for word in ("of the function", "of the thread"):
            number = next(at for at, line in enumerate(lines, 1) if word in line)
            expect(re.search(rf" 64 \S+ {re.escape(source)}:{number}\b", at_end), at_end)


def test_growth_that_few_lines_tell_is_not_known():
    path = record("alloc_sites", "leak", 60).files[0]
    with gzip.open(path, "rt") as file:
        lines = file.read().splitlines(True)
    rows = [line for line in lines if '"[memory] site' in line]
    stamp = re.search(r'"ts":([\d.]+)', rows[-1]).group(1)
    with open(os.path.join(harness.folder(), "few.pt.trace.json"), "w") as file:
        file.writelines(line for line in lines
                        if line not in rows or f'"ts":{stamp},' in line)
    done = command("memory", file.name)
    expect("growth: not known, the file says too seldom" in done.stdout, done.stdout)


def test_noise_is_no_leak():
    done = command("memory", record("alloc_sites", "clean", 100, "noise").files[0])
    expect("growth: none" in done.stdout, done.stdout)


def test_blocks_of_other_threads():
    _, found = check_as_all("alloc_sites", "handed", 100)
    expect(found["foreign"], "blocks that another thread freed")


def test_threads_that_allocate_at_once():
    """Each call counts once, and what another thread freed is not live."""
    run = record("alloc_sites", "crowd", 20000)
    found, heap = account(run.files[0]), run.trace.meta["heap"]
    expect_equal((found["allocations"], found["bytes"], found["frees"]),
                 (heap["calls"], heap["bytes"], heap["frees"]), "calls")
    place, = [place for place in found["places"]
              if "exchange" in [frame["function"] for frame in place["stack"]]]
    expect_equal((place["calls"], place["frees"], place["live"]), (80000, 80000, 0),
                 "of the threads")
    expect(place["foreign"], "none was freed by another")


def test_a_part_of_it_is_not_known():
    path = record("alloc_sites", "leak", 20).files[0]
    for option in ("--steps", "--time"):
        done = command("memory", option, "1:2", path)
        expect_equal(done.status, 3, option)
        expect("TRACEPROF_MALLOC=all" in done.stderr, done.stderr)


def test_kill_in_the_middle():
    """What was drained by then is in the file, and what lay in the rings."""
    place = os.path.join(harness.folder(), "out")
    environment = harness.clean_environment() | SITES | {
        "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": place}
    process = subprocess.Popen([harness.program("alloc_sites"), "leak", "100000"],
                               env=environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    harness.ends_with_test(process)
    harness.wait_for_file(place, process)
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = command("recover", place)
    expect_equal(done.status, 0, done.stderr)
    name, = os.listdir(place)
    trace = harness.Trace(os.path.join(place, name))
    found = account(os.path.join(place, name))
    seen = trace.meta["written_by_kind"]
    expect_equal(found["allocations"],
                 sum(count for kind, count in seen.items() if "alloc" in kind), seen)
    expect(found["peak_bytes"] > 0 and found["places"], "the peak is known")


def test_options_say_it():
    done = command("options")
    expect(re.search(r"MALLOC.*sites", done.stdout), done.stdout)


def test_limits_are_said():
    """Each that is counted, with its number, and no other."""
    said = {("heap", "samples_refused"): "7 of the sampled blocks found no place",
            ("stacks", "refused"): "since there was no room for more: 7",
            ("stacks", "shortened"): "the innermost frames of their stack alone, since "
                                     "there was little room left: 7",
            ("stacks", "untaken"): "threads as they begin: 7",
            ("events", "dropped"): "7 events were lost"}
    block = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "ts": 1,
             "pid": 1, "tid": 1, "args": {"Addr": 4096, "Bytes": 100, "Device Type": 0,
                                          "Device Id": -1, "Total Allocated": 100}}
    path = os.path.join(harness.folder(), "limits_1.1.pt.trace.json")
    for chosen in (None, *said):
        ours = {"heap": {"sample_bytes": 512}, "stacks": {}, "events": {"seen": 9}}
        for place, name in said:
            ours[place][name] = 7 * ((place, name) == chosen)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "traceEvents": [block], "traceprof": ours}, file)
        done = command("memory", path)
        expect_equal(done.status, 0, done.stderr)
        text = " ".join(done.stdout.split())
        expect_equal([key for key, words in said.items() if words in text],
                     [chosen] if chosen else [], text)


if __name__ == "__main__":
    harness.main()
