# SPDX-License-Identifier: MIT
"""The heap: every function that gives or takes memory, in every mode."""

import json
import os
import re
import subprocess

import harness
from harness import expect, expect_equal, same, traced

FUNCTIONS = ("malloc", "calloc", "realloc", "reallocarray", "posix_memalign",
             "aligned_alloc", "memalign", "valloc", "pvalloc", "strdup")


def heap(function, count, size, **options):
    """The run, its trace, and the block's usable size as the program says."""
    env = {"TRACEPROF_" + key.upper(): str(value) for key, value in options.items()}
    env = {"TRACEPROF_MALLOC": "large"} | env
    # What an aligned block holds besides depends on what lies before it.
    run = (traced if "align" in function else same)(
        "heap_calls", function, count, size, env=env)
    expect_equal(run.status, 0, run.stderr)
    usable = re.search(r"usable (\d+)", run.stdout)
    return run, run.trace, int(usable.group(1)) if usable else None


def check_pairs(trace, count, usable):
    """Exactly so many blocks of this size are born, and die, in pairs.

    Aligned blocks differ by what the allocator cannot use for others.
    """
    born = [one for one in trace.memory()
            if usable - 64 <= one["args"]["Bytes"] <= usable + 64]
    died = [one for one in trace.memory()
            if usable - 64 <= -one["args"]["Bytes"] <= usable + 64]
    expect_equal(len(born), count, f"births of {usable} bytes")
    expect_equal(len(died), count, f"deaths of {usable} bytes")
    expect(any(one["args"]["Bytes"] == usable for one in born), "usable size")
    expect_equal(sorted((one["args"]["Addr"], one["args"]["Bytes"]) for one in born),
                 sorted((one["args"]["Addr"], -one["args"]["Bytes"]) for one in died),
                 "addresses and sizes")
    for one in born + died:
        expect_equal((one["ph"], one["args"]["Device Type"]), ("i", 0), "kind of event")
        # TensorBoard fails on a total of a device that it can't look up.
        expect_equal(one["args"].get("Device Id"),
                     -1 if "Total Allocated" in one["args"] else None, one)
    return born, died


def check_function(function, mode):
    _, trace, usable = heap(function, 50, 98765, malloc=mode)
    born, died = check_pairs(trace, 50, usable)
    expect(max(one["ts"] for one in born) <= min(one["ts"] for one in died),
           "a block died before all were born")


def test_a_peak_that_was_looked_at_now_and_then_is_the_least():
    for mode in ("counters", "large", "sampled", "all", "sites"):
        trace = heap("malloc", 50, 98765, malloc=mode)[1]
        said = harness.command("report", trace.path).stdout
        expect_equal("  peak at least " in said, mode not in ("all", "sites"), mode + said)
        expect("  peak " in said, mode, said)
        sums = json.loads(harness.command("report", "--json", trace.path).stdout)[0]["heap"]
        expect_equal(sums["peak_is_least"], mode not in ("all", "sites"), mode)


def test_a_peak_over_what_is_missing_is_the_least():
    """A block that isn't in the file, or that no window saw, may have been part of it."""
    trace = heap("malloc", 50, 98765, malloc="all")[1]
    changed = os.path.join(harness.folder(), "changed.pt.trace.json")
    for group, name, value in (("events", "dropped", 1), ("events", "unrecorded_calls", 1),
                               ("heap", "thinned_mask", 3), ("options", "ACTIVE", 2),
                               ("step", "name", "by hand"), ("step", "seen", 0)):
        meta = trace.meta | {group: trace.meta.get(group, {}) | {name: value}}
        with open(changed, "w", encoding="utf-8") as file:
            json.dump(trace.top | {"traceprof": meta}, file)
        sums = json.loads(harness.command("report", "--json", changed).stdout)[0]["heap"]
        expect_equal(sums["peak_is_least"], name != "seen", name)


def test_a_heap_that_was_not_counted_is_not_said_to_be_empty():
    for mode, *program in (("off", "region", "plain_parallel"), ("large", "own_malloc")):
        run = traced(*program, env={"TRACEPROF_MALLOC": mode})
        for what in ("report", "memory"):
            said = harness.command(what, run.trace.path).stdout
            expect("0 allocations" not in said and "eak at least 0" not in said, said)
        said = harness.command("diff", run.trace.path, run.trace.path).stdout
        expect("heap peak" not in said, said)


def test_a_peak_outside_of_the_windows_may_be_higher():
    """A megabyte more with each of twenty steps; two of the first are recorded."""
    for mode in ("all", "sites"):
        run = traced("alloc_sites", "leak", 20, env={
            "TRACEPROF_MALLOC": mode, "TRACEPROF_WAIT": "2", "TRACEPROF_ACTIVE": "2",
            "TRACEPROF_REPEAT": "1", "TRACEPROF_MAX_OVERHEAD": "0"})
        said = harness.command("report", run.trace.path).stdout
        expect("  peak at least " in said and "until this file was finished" in said,
               mode, said)
        said = " ".join(harness.command("memory", run.trace.path).stdout.split())
        expect("until this file was finished the program made " in said and ", had at least " in said and
               "below, what windows have" in said, mode, said)


def test_malloc():
    check_function("malloc", "large")
    check_function("malloc", "all")


def test_calloc():
    check_function("calloc", "large")
    check_function("calloc", "all")


def test_realloc():
    check_function("realloc", "large")
    check_function("realloc", "all")


def test_reallocarray():
    check_function("reallocarray", "large")


def test_posix_memalign():
    check_function("posix_memalign", "large")
    check_function("posix_memalign", "all")


def test_aligned_alloc():
    check_function("aligned_alloc", "large")


def test_memalign():
    check_function("memalign", "large")


def test_valloc():
    check_function("valloc", "large")


def test_pvalloc():
    check_function("pvalloc", "large")


def test_blocks_that_libc_makes_for_itself():
    check_function("strdup", "large")


def test_sized_frees_of_c23():
    """The library offers them even where libc has none, and passes them on."""
    run = harness.traced("heap_calls", "sized", 1, 98816,
                         env={"TRACEPROF_MALLOC": "large"})
    expect_equal((run.status, run.stdout), (0, "2 functions\n"), run.stderr)
    sizes = [one["args"]["Bytes"] for one in run.trace.memory()]
    expect_equal(len([size for size in sizes if size < 0]), 2, f"deaths in {sizes}")
    expect_equal(sum(sizes), 0, f"sum of {sizes}")


def test_realloc_is_a_death_and_a_birth():
    _, trace, usable = heap("realloc", 20, 700000, malloc="all")
    small = [one for one in trace.memory() if 70000 < one["args"]["Bytes"] < 71000]
    gone = [one for one in trace.memory() if -71000 < one["args"]["Bytes"] < -70000]
    expect_equal((len(small), len(gone)), (20, 20), "blocks before they grew")
    check_pairs(trace, 20, usable)


def test_blocks_of_another_thread():
    _, trace, usable = heap("threads", 20, 98765)
    born, died = check_pairs(trace, 20, usable)
    main = {one["tid"] for one in died}
    expect_equal(len(main), 1, "threads that free")
    expect(not main & {one["tid"] for one in born}, "born on the main thread")


def test_large_blocks_only():
    _, trace, usable = heap("malloc", 10, 65535)
    expect(usable >= 65536 or not [one for one in trace.memory()
                                   if abs(one["args"]["Bytes"]) < 65536],
           "a small block in mode large")
    _, trace, _ = heap("malloc", 10, 1000)
    expect(not [one for one in trace.memory() if abs(one["args"]["Bytes"]) < 65536],
           "a small block in mode large")


def test_smallest_block_is_an_option():
    _, trace, usable = heap("malloc", 10, 5000, malloc_min="4K")
    check_pairs(trace, 10, usable)


def test_all_records_small_blocks():
    _, trace, usable = heap("malloc", 10, 1234, malloc="all")
    check_pairs(trace, 10, usable)


def test_total_follows_the_blocks():
    _, trace, usable = heap("malloc", 30, 400000, malloc="all")
    born = [one for one in trace.memory() if one["args"]["Bytes"] == usable]
    totals = [one["args"]["Total Allocated"] for one in born]
    expect_equal([after - before for before, after in zip(totals, totals[1:])],
                 [usable] * 29, "growth of the total")


def test_what_blocks_dont_say_can_be_added_up():
    """Each block of the heap is there, so the total is said now and then, and at
    each peak; a viewer that adds nothing up is never far from it."""
    run = traced("alloc_sites", "clean", 200, env={"TRACEPROF_MALLOC": "all"})
    live, untold, told, most = None, 0, 0, 0
    for one in run.trace.events:
        if one["name"] != "[memory]":
            continue
        args = one["args"]
        live = args["Bytes"] + (live or 0)
        if "Total Allocated" in args:
            expect(live == args["Total Allocated"] or not told, "the sum", args)
            expect_equal(args["Total Reserved"], args["Total Allocated"], "totals")
            live, untold, told = args["Total Allocated"], 0, told + 1
            most = max(most, live)
        else:
            untold += 1
            expect(live <= most and untold < 16, live, most, untold)
    blocks = len(run.trace.memory())
    expect(0 < told < blocks / 2, f"{told} of {blocks}")


def test_counters_alone():
    run, trace, _ = heap("malloc", 100, 98765, malloc="counters")
    expect(not trace.memory(), "events in mode counters")
    heap_meta = trace.meta.get("heap", {})
    calls = [value for value in heap_meta.values() if isinstance(value, int)]
    expect(calls and max(calls) >= 100 * 98765, "no totals of the heap", heap_meta)
    expect(trace.counters(), "no counter track")


def test_off_records_no_heap():
    run = same("region", "plain_parallel", env={"TRACEPROF_MALLOC": "off"})
    expect(not run.trace.memory(), "heap events in mode off")
    expect(not same("heap_calls", "malloc", 100, 98765,
                    env={"TRACEPROF_MALLOC": "off"}).files, "a trace of nothing")


def test_a_program_that_only_allocates_is_left_alone():
    run = same("heap_calls", "malloc", 100, 98765)
    expect(not run.files, "a trace although nothing of interest happened")


def test_duration_on_request():
    _, trace, usable = heap("malloc", 10, 1234, malloc="all", malloc_duration=1)
    born, _ = check_pairs(trace, 10, usable)
    expect(all(one["args"].get("dur_ns", -1) >= 0 for one in born), "no duration",
           born[0])


def test_edges_and_errno():
    for mode in ("off", "counters", "large", "all"):
        same("heap_calls", "edges", env={"TRACEPROF_MALLOC": mode})


def in_all(run):
    """Calls, frees and bytes from the process's first call on."""
    ours = run.trace.meta["heap"]
    return [ours[key] + ours[key + "_before"] for key in ("calls", "frees", "bytes")]


def test_executable_at_a_fixed_address():
    """It takes malloc's address, and so has an entry of that name itself: Debian's
    python3 is such a one.  Its allocator is the C library's all the same."""
    built = harness.compile_program("heap_calls.c", "-no-pie", "-fno-pie",
                                    "-pthread", "-D", "TAKES_ADDRESS")
    symbols = subprocess.run(["readelf", "--dyn-syms", "-W", built],
                             capture_output=True, text=True).stdout
    expect(re.search(r"0*[1-9a-f][0-9a-f]* +0 FUNC .* UND malloc@", symbols),
           "no such entry: the test is none")
    run = traced(built, "malloc", 50, 98765, env={"TRACEPROF_MALLOC": "large"})
    expect_equal(run.trace.meta["notes"], [], "notes")
    expect(run.trace.meta["heap"]["calls"] >= 50, run.trace.meta["heap"])


def asked(function, size, **options):
    """Bytes asked for and held, from the process's first call on."""
    env = {"TRACEPROF_" + key.upper(): str(value) for key, value in options.items()}
    run = traced("heap_calls", function, 50, size, env=env)
    ours = run.trace.meta["heap"]
    return run, [ours[key] + ours[key + "_before"] for key in ("asked_bytes", "bytes")]


def test_what_was_asked_for():
    """Blocks of one size, for calls that ask for three bytes more."""
    ways = [(function, {"malloc": "large"}) for function in FUNCTIONS]
    ways += [(function, options) for function in ("malloc", "calloc", "memalign")
             for options in ({"malloc": "all"}, {"malloc": "counters"},
                             {"malloc": "sampled"},
                             {"malloc": "all", "malloc_duration": 1},
                             {"malloc": "all", "stack": "heap:4"})]
    for function, options in ways:
        _, few = asked(function, 98765, **options)
        run, more = asked(function, 98768, **options)
        expect_equal(more[0] - few[0], 50 * 3, f"asked for by {function}, {options}")
        expect(0 < more[0] < more[1], f"{function}, {options}: {more}")
    shown = harness.command("report", run.trace.path).stdout
    expect(re.search(r"sizes of blocks; asked for were \d", shown), shown)


def test_totals_begin_with_the_process():
    """Whenever the recording begins, the calls before it are in the totals."""
    for what in (("mixed", 1, 2000), ("mixed", 6, 2000)):
        late = traced("starts", *what, env={"TRACEPROF_MALLOC_MIN": "64K"})
        early = traced("starts", *what, env={"TRACEPROF_MALLOC": "large"})
        expect(early.trace.meta["heap"]["calls_before"] <
               late.trace.meta["heap"]["calls_before"],
               late.trace.meta["heap"], early.trace.meta["heap"])
        # What a thread frees last, as it ends, may be past our look at it.
        exact = 3 if what[1] == 1 else 1
        expect_equal(in_all(late)[:exact], in_all(early)[:exact],
                     f"calls, frees and bytes of {what}")
        asked_for = [sum(run.trace.meta["heap"]["asked_bytes" + when]
                         for when in ("", "_before")) for run in (late, early)]
        expect_equal(*asked_for, f"bytes asked for of {what}")
        shown = harness.command("report", late.trace.path).stdout
        expect(f"{in_all(late)[0]} allocations of" in shown.replace(",", "")
               and "  before the recording: " in shown, shown)


def test_each_call_before_the_recording_is_counted():
    """In every way to allocate; of a thread alone, of some, and of more than have
    counters of their own."""
    # After two seconds of processor time allocations alone begin the recording.
    for threads, rounds in (1, 4150), (8, 4150), (100, 450):
        few, many = (traced("before", threads, each) for each in (50, rounds))
        did = [tuple(map(int, run.stdout.split())) for run in (few, many)]
        for what, began, ended, less, more in zip(
                ("calls", "frees", "bytes"), in_all(few), in_all(many), *did):
            expect_equal(ended - began, more - less, f"{what} of {threads} threads")
        ours = many.trace.meta["heap"]
        expect(ours["calls_before"] >= 5 * rounds * threads, ours)


if __name__ == "__main__":
    harness.main()
