# SPDX-License-Identifier: MIT
"""Call stacks of events: who they name, and what becomes of the program."""

import os
import random
import re
import signal
import struct
import subprocess
import time

import harness
from harness import expect, expect_equal, same, traced

HEAP = {"TRACEPROF_STACK": "heap", "TRACEPROF_MALLOC": "all"}
BLOCKS = os.path.join(harness.BUILD, "tests", "programs", "lib", "libblocks.so")


def stacks(trace):
    """{number: [function, from the innermost on]}"""
    found = {}
    for one in trace.memory():
        text = one["args"].get("Call stack")
        if text:
            names = [frame.split(": ", 1)[1] for frame in text.split(";")]
            # What is recovered may say it again.
            expect_equal(found.setdefault(one["args"]["stack"], names), names)
    return found


def sites(trace):
    """[(bytes, functions)] of each new block that is told whose it is."""
    known = stacks(trace)
    return [(one["args"]["Bytes"], known[one["args"]["stack"]])
            for one in trace.memory() if "stack" in one["args"]]


def check_all_have_one(trace):
    born = [one for one in trace.memory() if one["args"]["Bytes"] > 0]
    account = trace.meta["stacks"]
    without = sum("stack" not in one["args"] for one in born)
    expect(without <= account["refused"] + account["untaken"],
           f"{without} blocks without a stack, but {account}")
    return account, without


def test_threads_that_ask_where_their_stack_lies():
    """The C library holds a lock of the thread's meanwhile, and we ask it the same: a
    thread that did so first of all waited for itself."""
    for env in (HEAP, HEAP | {"TRACEPROF_MALLOC": "sampled"}, {"TRACEPROF_MMAP": "1"}):
        run = same("asks_stack", 3, env={"TRACEPROF_MALLOC": "all"} | env)
        if env is HEAP:
            found = [names[:2] for size, names in sites(run.trace) if size > 128000]
            expect_equal(found, 3 * [["get", "run"]], "blocks of threads")


def test_each_block_names_its_caller():
    trace = same("alloc_sites", "leak", 20, env=HEAP).trace
    account, without = check_all_have_one(trace)
    expect_equal((account["refused"], without), (0, 0), account)
    seen = sites(trace)
    kept = [names for size, names in seen if 1000000 <= size < 1010000]
    expect_equal(len(kept), 20, "kept tensors")
    for names in kept:
        expect_equal(names[:4], ["make_block", "keep_tensor", "train_step",
                                 "run_steps"], "who called")
    passed = [names for size, names in seen if 65536 <= size < 65600]
    expect_equal(len(passed), 20, "passed tensors")
    expect(all(names[:2] == ["make_block", "pass_tensor"] for names in passed), passed)


def test_off_says_nothing_and_loads_nothing():
    trace = same("alloc_sites", "leak", 5, env={"TRACEPROF_MALLOC": "all"}).trace
    ours = trace.meta
    expect("stacks" not in ours and "modules" not in ours, ours.keys())
    expect(not any("stack" in one["args"] for one in trace.memory()), "a stack")


def test_depth_is_kept():
    env = HEAP | {"TRACEPROF_STACK": "heap:5"}
    trace = same("alloc_sites", "deep", 40, env=env).trace
    expect_equal({len(names) for names in stacks(trace).values()} - {1, 2, 3, 4},
                 {5}, "depths")
    env = HEAP | {"TRACEPROF_STACK": "heap:64"}
    trace = same("alloc_sites", "deep", 40, env=env).trace
    longest = max(stacks(trace).values(), key=len)
    expect_equal(longest.count("deep"), 41, longest)
    expect_equal(longest[0:2], ["make_block", "pass_tensor"], longest)
    expect("main" in longest, longest)


def test_wrong_choice_is_said():
    for bad in ("heap:65", "heap:0", "stack", "heap,", "heap:3x"):
        done = traced("alloc_sites", "leak", 2,
                      env={"TRACEPROF_MALLOC": "all", "TRACEPROF_STACK": bad})
        expect_equal(len([line for line in done.own_lines if bad in line]), 1,
                     done.own_lines)
        expect("stacks" not in done.trace.meta, bad)


def test_without_libunwind_one_line_says_so():
    if os.uname().machine == "aarch64":
        raise harness.Skip("there stacks are taken without libunwind")
    place = harness.folder()
    with open(os.path.join(place, "libunwind.so.8"), "w", encoding="utf-8") as file:
        file.write("none")
    run = traced("alloc_sites", "leak", 20, env=HEAP | {"LD_LIBRARY_PATH": place})
    expect_equal((run.status, run.stdout), (0, "kept 20\n"))
    said = [line for line in run.own_lines if "libunwind" in line]
    expect_equal(len(said), 1, run.own_lines)
    _, without = check_all_have_one(run.trace)
    expect(without >= 40, "blocks are recorded all the same")


def test_modules_are_known_by_build_id():
    trace = same("alloc_sites", "leak", 2, env=HEAP).trace
    modules = {os.path.basename(one["path"]): one["build_id"]
               for one in trace.meta["modules"]}
    wanted = subprocess.run(["readelf", "-n", harness.program("alloc_sites")],
                            capture_output=True, text=True).stdout
    expect("Build ID: " + modules["alloc_sites"] in wanted, modules)


def test_small_alternate_stack():
    run = same("alloc_sites", "alternate", env=HEAP | {"TRACEPROF_STACK": "heap:64"})
    account, without = check_all_have_one(run.trace)
    expect_equal(without, 100, account)
    expect(account["untaken"] >= 100, account)


def test_long_jumps():
    run = same("alloc_sites", "jump", env=HEAP)
    _, without = check_all_have_one(run.trace)
    expect_equal(without, 0, "blocks without a stack")


def test_exceptions_are_not_taken_over():
    """libunwind has functions of the same names for them."""
    same("unwinding", env=HEAP)


def test_code_right_behind_libunwind_is_not_libunwind():
    if os.uname().machine != "x86_64":
        raise harness.Skip("its code is x86-64's")
    for env in (HEAP, {"TRACEPROF_STACK": "all"}):
        same("near_unwinder", env=env)


def test_library_that_comes_and_goes():
    run = same("alloc_sites", "reload", BLOCKS, 200, env=HEAP)
    _, without = check_all_have_one(run.trace)
    made = [names for size, names in sites(run.trace) if 100000 <= size < 100100]
    expect_equal(len(made), 200, "blocks of the library")
    expect(all("reload" in names for names in made), made[-1])
    expect(any(names[:2] == ["inner_block", "library_block"] for names in made),
           made[0])


def test_frames_that_nobody_can_know():
    """Wrong tables, none at all, code made at run time, switched stacks."""
    for depth in ("16", "64"):
        run = same("foreign_frames", env={"TRACEPROF_STACK": f"heap:{depth}",
                                          "TRACEPROF_MALLOC": "all"})
        expect("1200 blocks, 200 turns" in run.stdout, run.stdout)
        born = [one for one in run.trace.memory() if 4000 <= one["args"]["Bytes"] < 4100]
        expect_equal(len(born), 1200, "blocks")
        without = [one for one in born if "stack" not in one["args"]]
        expect_equal(len(without), run.trace.meta["stacks"]["untaken"], "without a stack")
        expect(len(without) >= 200, "those of coroutines")


def entries(table):
    """Where the instructions of each function's entry of .eh_frame lie."""
    at = 0
    while at + 8 <= len(table):
        size, number = struct.unpack_from("<II", table, at)
        if not size:
            return
        if number:
            yield range(at + 17, at + 4 + size)
        at += 4 + size


def test_wrong_unwind_tables_give_short_stacks():
    """What says how a frame is left is replaced by noise: nothing but the stacks
    changes."""
    place = harness.folder()
    copy = os.path.join(place, "noisy")
    dumped = os.path.join(place, "table")
    subprocess.run(["objcopy", "--dump-section", f".eh_frame={dumped}",
                    harness.program("alloc_sites"), os.path.join(place, "unused")],
                   check=True)
    with open(dumped, "rb") as file:
        table = file.read()
    with open(harness.program("alloc_sites"), "rb") as file:
        image = file.read()
    at = image.index(table)
    places = [byte for entry in entries(table) for byte in entry]
    expect(len(places) > 300, "the table is read wrongly")
    depths = set()
    for seed in range(24):
        noise = random.Random(seed)
        damaged = bytearray(image)
        for _ in range(noise.choice([3, 30, 300])):
            damaged[at + noise.choice(places)] = noise.randrange(256)
        with open(copy, "wb") as file:
            file.write(damaged)
        os.chmod(copy, 0o755)
        run = same(copy, "deep", "20", env=HEAP)
        depths |= {len(one["args"]["Call stack"].split(";"))
                   for one in run.trace.memory() if "Call stack" in one["args"]}
    expect(min(depths) < 10 <= max(depths), depths)


def test_damaged_unwind_tables_give_short_stacks():
    """Any byte of a library's tables is replaced, their own lengths and pointers
    too, a thousand times over."""
    for seed in (1, 2, 3):
        run = same("noisy_tables", BLOCKS, 1000, seed, env=HEAP)
        known = {one["args"]["stack"]: one["args"]["Call stack"]
                 for one in run.trace.memory() if "Call stack" in one["args"]}
        made = [known[one["args"]["stack"]] for one in run.trace.memory()
                if 100000 <= one["args"]["Bytes"] < 100100 and "stack" in one["args"]]
        whole = [text for text in made if "noisy_tables(" in text]
        expect(len(made) > 900, f"{len(made)} blocks with a stack")
        expect(100 < len(whole) < len(made), f"{len(whole)} whole of {len(made)}")


def test_all_at_once():
    """Libraries, exceptions, jumps, forks, signals and switched stacks, on a
    thread each; and samples on top, which interrupt the loader too."""
    for turn in range(6):
        env = HEAP | {"TRACEPROF_STACK": f"heap:{16 + 24 * (turn % 3)}",
                      "TRACEPROF_SAMPLE": "997" if turn % 2 else "0"}
        same("storm", BLOCKS, 400, env=env)


def test_short_threads_share_what_libunwind_keeps_for_one():
    """Its table of 256 KiB for each thread: 64 pages that the kernel must clear."""
    run = traced("threads_in_turn", 1000, env={"TRACEPROF_STACK": "heap",
                                               "TRACEPROF_MALLOC": "all"})
    expect_equal(run.status, 0, run.stderr)
    expect(int(run.stdout) < 40, "pages that a thread touches first", run.stdout)


def test_fork():
    env = HEAP | {"TRACEPROF_CHILDREN": "all"}
    run = same("alloc_sites", "fork", env=env)
    expect_equal(len(run.traces), 2, run.files)
    for trace in run.traces:
        _, without = check_all_have_one(trace)
        expect_equal(without, 0, "blocks without a stack")


def test_check_misses_a_stack():
    """A block whose stack is gone without a word."""
    run = same("alloc_sites", "leak", 20, env=HEAP | {"TRACEPROF_GZIP": "off"})
    with open(run.files[0], encoding="utf-8") as file:
        text = file.read()
    broken = os.path.join(harness.folder(), os.path.basename(run.files[0]))
    with open(broken, "w", encoding="utf-8") as file:
        file.write(re.sub(r',"stack":\d+\}\}', "}}", text))
    done = harness.command("check", broken)
    expect_equal(done.status, 1, done.stdout)
    expect("blocks without a call stack" in done.stdout, done.stdout)


def test_regions_name_their_callers():
    """Of gcc's OpenMP; off, they have none."""
    env = {"TRACEPROF_STACK": "omp", "TRACEPROF_MALLOC": "off"}
    trace = same("region", "plain_parallel", env=env).trace
    regions = trace.regions()
    expect(regions, "no region")
    known = {one["args"]["stack"]: one["args"]["Call stack"]
             for one in regions if "Call stack" in one["args"]}
    for one in regions:
        names = [frame.split(": ", 1)[1] for frame in
                 known[one["args"]["stack"]].split(";")]
        expect_equal(names[0], "plain_parallel", names)
        expect("main" in names, names)
    trace = same("region", "plain_parallel", env={"TRACEPROF_STACK": "heap"}).trace
    expect(not any("stack" in one["args"] for one in trace.regions()), "a stack")


def test_kill_in_the_middle():
    place = os.path.join(harness.folder(), "out")
    environment = harness.clean_environment() | HEAP | {
        "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": place}
    process = subprocess.Popen([harness.program("alloc_sites"), "leak", "100000"],
                               env=environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    harness.ends_with_test(process)
    harness.wait_for_file(place, process)
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = harness.command("recover", place)
    expect_equal(done.status, 0, done.stderr)
    names = os.listdir(place)
    expect_equal(len(names), 1, names)
    trace = harness.Trace(os.path.join(place, names[0]))
    _, without = check_all_have_one(trace)
    expect_equal(without, 0, "blocks without a stack")
    expect(len(sites(trace)) > 100, "hardly anything was recovered")


def test_who_closes_all_descriptors_keeps_his_files():
    """libunwind had a pipe, and took whatever came to have its numbers for it."""
    program = harness.compile_program(
        "closes_pipe.c", "-O1", "-D_GNU_SOURCE", "-pthread", "-fno-asynchronous-unwind-tables",
        "-fno-omit-frame-pointer", name="closes_pipe")
    done = same(program, harness.folder(), env={"TRACEPROF_SAMPLE": "997"})
    expect_equal(done.stdout, "0 pipes\n64 files are open and empty\n", done.stderr)


if __name__ == "__main__":
    harness.main()
