# SPDX-License-Identifier: MIT
"""traceprof memory: who held the peak, what leaks, what grows, who allocates."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import time

import harness
import protobuf
from harness import Skip, command, expect, expect_equal, folder, program, same, traced

HEAP = {"TRACEPROF_STACK": "heap", "TRACEPROF_MALLOC": "all"}


def record(*arguments, **env):
    run = same(*arguments, env=HEAP | env)
    return run.files[0]


def account(path, *options):
    """The host's account, as --json has it."""
    done = command("memory", "--json", *options, path)
    expect_equal((done.status, done.stderr), (0, ""))
    found = json.loads(done.stdout)
    expect_equal(len(found), 1, "objects")
    return found[0]["memories"][0]


def text(path, *options):
    done = command("memory", *options, path)
    expect_equal((done.status, done.stderr), (0, ""))
    return done.stdout


def line_of(function, word, source="alloc_sites.c"):
    """The line in a function where a word stands."""
    path = os.path.join(harness.ROOT, "tests", "programs", source)
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    start = next(number for number, line in enumerate(lines)
                 if re.search(rf"\b{function}\(", line) and not line.endswith(";"))
    return next(number + 1 for number, line in enumerate(lines)
                if number >= start and word in line)


def growing(found):
    return [place for place in found["places"] if place.get("growth")]


def names(place):
    return [frame["function"] for frame in place["stack"]]


def test_planted_leak_is_named_with_file_and_line():
    path = record("alloc_sites", "leak", 60)
    found = account(path)
    expect_equal(found["growth"]["for_each"], "step", "points")
    places = growing(found)
    expect_equal(len(places), 1, [names(one) for one in places])
    expect(1000000 <= places[0]["growth"] <= 1010000, places[0]["growth"])
    stack = places[0]["stack"]
    expect_equal(names(places[0])[:3], ["make_block", "keep_tensor", "train_step"])
    expect_equal((os.path.basename(stack[0]["file"]), stack[0]["line"]),
                 ("alloc_sites.c", line_of("make_block", "malloc(")))
    expect_equal(stack[1]["line"], line_of("keep_tensor", "make_block("))
    said = text(path)
    expect(re.search(r"growth: \+9\d\d\.\d KiB a step, 1 place explains 100 % of it",
                     said), said)
    expect(f"alloc_sites.c:{stack[0]['line']}" in said, said)


def test_leak_in_an_inlined_template_is_named():
    found = account(record("template_leak", 60))
    places = growing(found)
    expect_equal(len(places), 1, [names(one) for one in places])
    expect(1000000 <= places[0]["growth"] <= 1010000, places[0]["growth"])
    lines = [(frame["function"], os.path.basename(frame.get("file", "")),
              frame.get("line")) for frame in places[0]["stack"]]
    inner = line_of("remember", "new T", "template_leak.cpp")
    outer = line_of("step", "cache.remember", "template_leak.cpp")
    expect(any(name.startswith("nn::Cache") and name.endswith("remember")
               and line == inner for name, _, line in lines), lines)
    expect(("nn::Trainer::step", "template_leak.cpp", outer) in lines, lines)


def test_the_caller_that_keeps_is_named():
    """Of a function that others call, who leaks isn't who allocates most."""
    path = record("alloc_callers", 60)
    said = text(path)
    at_end = said.split("live at the end\n", 1)[1].split("\n\n")[0]
    expect("< keep_some alloc_callers.c" in at_end, at_end)
    expect("pass_on" not in at_end, at_end)
    growth = said.split("growth: +", 1)[1].split("\n\n")[0]
    expect("keep_some" in growth and "pass_on" not in growth, growth)
    found = account(path)
    kept, = [place for place in growing(found) if "keep_some" in names(place)]
    expect_equal(kept["live_blocks"], 60, "blocks that were kept")
    at_peak = said.split("who held the peak\n", 1)[1].split("\n\n")[0]
    ways = re.search(r"get_room alloc_callers.c:\d+, by\n(.*\n.*)", at_peak)
    expect(ways and "    < pass_on alloc_callers.c" in ways[1]
           and "    < keep_some alloc_callers.c" in ways[1], at_peak)


def test_leak_of_a_worker_is_named():
    said = text(record("alloc_callers", 80, "worker"))
    line = line_of("get_room", "malloc", "alloc_callers.c")
    expect(re.search(r"growth: \+97\.\d+ KiB a step, 1 place explains", said), said)
    expect(f"get_room alloc_callers.c:{line} < keep_some" in said, said)


def test_what_is_freed_later_is_no_leak():
    for how in ("saw", "twice"):
        said = text(record("alloc_callers", 100, how))
        expect("growth: none" in said, how, said)


def test_what_threads_free_at_their_end_is_not_held():
    """Of samples most frees are no events, and a thread's end is none."""
    run = traced("alloc_callers", 200, "threads",
                 env=HEAP | {"TRACEPROF_MALLOC": "sampled"})
    totals = [one["args"]["Total Allocated"] for one in run.trace.memory()
              if "Total Allocated" in one["args"]]
    expect(totals and max(totals) < 3000000, max(totals))
    expect("the heap grows" not in run.stderr, run.stderr)


def test_blocks_of_constructors_have_who_allocated_them():
    """libstdc++ has a block before our constructor runs, and thus libunwind's."""
    for mode in ("all", "sites"):
        said = text(record("template_leak", 5, TRACEPROF_MALLOC=mode))
        expect(re.search(r"\n *71\.\d+ KiB +[\d.]+ % +1 .*(libstdc\+\+|eh_alloc)", said),
               mode, said)
        expect("(no stack)" not in said, mode, said)
    expect(re.search(r"\nwithout callers, mostly of libraries that began before "
                     r"ours and of threads as they begin: \d+\n", said), said)


def test_the_library_of_cplusplus_takes_no_frame():
    said = text(record("template_leak", 20), "--frames", 2, "--top", 0)
    line = line_of("Row", "new char", "template_leak.cpp")
    step = line_of("step", "emplace_back", "template_leak.cpp")
    expect(f"nn::Row::Row template_leak.cpp:{line} ... < nn::Trainer::step "
           f"template_leak.cpp:{step}" in said, said)


def test_what_samples_can_tell_is_said():
    run = traced("alloc_sites", "clean", 60,
                 env=HEAP | {"TRACEPROF_MALLOC": "sampled"})
    said = " ".join(text(run.files[0]).split())
    expect(re.search(r"growth: none, from step to step, that samples can tell: less than "
                     r"about 2\d\d.\d KiB a step is seen with TRACEPROF_MALLOC=sites", said),
           said)
    # Which block was freed next can't be known: then it isn't 0.
    expect("temporary" not in said and "temporary" not in account(run.files[0]), said)
    expect(" temporary (" in text(record("alloc_sites", "clean", 60)), "every block")


def test_a_wrapper_of_malloc_is_no_place():
    found = account(record("alloc_callers", 60))
    lines = {place["stack"][1]["line"]: place["live_blocks"]
             for place in growing(found) if names(place)[0] == "checked_malloc"}
    line = line_of("keep_by_wrapper", "checked_malloc", "alloc_callers.c")
    expect_equal(lines, {line: 60, line + 1: 60}, "one place for each call")


def test_functions_without_lines_are_one_place_each():
    place = folder()
    copy = os.path.join(place, "bare")
    subprocess.run(["strip", "-g", "-o", copy, program("alloc_callers")], check=True)
    found = account(traced(copy, 60, env=HEAP).files[0])
    kept = [one["live_blocks"] for one in growing(found)
            if "keep_by_wrapper" in names(one)]
    expect_equal(kept, [120], "blocks of a function's two calls")


def test_units_that_are_in_no_table_of_addresses():
    """As clang and rustc write their debug information."""
    copy = os.path.join(folder(), "tableless")
    subprocess.run(["objcopy", "--remove-section=.debug_aranges",
                    program("template_leak"), copy], check=True)
    ways = [[(frame["function"], frame.get("line")) for frame in place["stack"]]
            for path in (traced(copy, 60, env=HEAP).files[0],
                         record("template_leak", 60))
            for place in growing(account(path))]
    expect_equal(ways[0][:4], ways[1][:4])


def test_functions_inside_of_a_namespace_entry():
    """clang puts a function there that gcc puts beside it."""
    if not shutil.which("clang++"):
        raise Skip("clang++ is not on this machine")
    copy = harness.compile_program("template_leak.cpp", "-O2", "-g",
                                   compiler="clang++")
    inner = line_of("remember", "new T", "template_leak.cpp")
    outer = line_of("step", "cache.remember", "template_leak.cpp")
    lines = [(frame["function"].split("::")[-1], frame.get("line")) for frame in
             growing(account(traced(copy, 60, env=HEAP).files[0]))[0]["stack"]]
    expect(("remember", inner) in lines and ("step", outer) in lines, lines)


def test_our_own_functions_are_in_no_stack():
    """We stand between the program and libgomp, which allocates."""
    found = account(record("short_regions", 3, 1, 2))
    modules = {frame["module"] for place in found["places"]
               for frame in place["stack"]}
    expect(any(one.startswith("libgomp") for one in modules), modules)
    expect("libtraceprof.so" not in modules, modules)


def test_clean_program_has_no_leak():
    said = text(record("alloc_sites", "clean", 60))
    expect("growth: none" in said, said)


def test_noise_is_no_leak():
    for _ in range(3):
        said = text(record("alloc_sites", "clean", 100, "noise"))
        expect("growth: none" in said, said)


def test_cache_that_warms_up_is_no_leak():
    said = text(record("alloc_sites", "warm", 60))
    expect("growth: none" in said, said)
    expect("fill_cache" in said, "what is live at the end is shown all the same")


def test_too_few_steps_are_said():
    expect("too few steps" in text(record("alloc_sites", "leak", 10)), "what is said")


def test_sums_are_those_of_the_program():
    """Against what the trace itself says, added up independently."""
    path = record("alloc_sites", "churn", 20000)
    trace = harness.Trace(path)
    live = {}
    peak = total = calls = 0
    for one in sorted(trace.memory(), key=lambda event: event["ts"]):
        args = one["args"]
        if args["Bytes"] > 0:
            live[args["Addr"]] = args["Bytes"]
            calls += 1
            total += args["Bytes"]
        else:
            live.pop(args["Addr"], 0)
        peak = max(peak, sum(live.values())) if len(live) < 50 or calls % 97 == 0 \
            else peak
    found = account(path)
    expect_equal((found["allocations"], found["bytes"]), (calls, total))
    expect_equal(found["live_bytes"], sum(live.values()))
    expect(found["peak_bytes"] >= peak, (found["peak_bytes"], peak))
    by_site = {names(place)[0]: place for place in found["places"]}
    expect_equal(by_site["small_site"]["calls"], 20000)
    expect_equal(by_site["small_site"]["live_blocks"], 5000)
    # Every tenth comes before a middle one, every fourth is kept.
    temporary = sum(bool(i % 4 and i % 10 and i % 5000) for i in range(20000))
    expect_equal(by_site["small_site"]["temporary"], temporary)
    expect_equal(by_site["middle_site"]["calls"], 2000)
    expect_equal(by_site["middle_site"]["live"], 0)
    expect_equal(by_site["large_site"]["calls"], 4)
    for key in ("peak", "live", "bytes", "calls"):
        expect_equal(sum(place[key] for place in found["places"]),
                     found[{"peak": "peak_bytes", "live": "live_bytes",
                            "bytes": "bytes", "calls": "allocations"}[key]], key)


def heap_totals(path):
    """What the file says at its end, without a look at its events."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        said = re.search(r'"heap":\{[^}]*\}', file.read())
    heap = json.loads("{" + said.group(0) + "}")["heap"]
    return heap["calls"], heap["bytes"], heap["frees"]


def test_samples_are_an_unbiased_estimate():
    """Of ten sites, from 1 byte to 100 MB, over ten runs: within 2 %."""
    seen = {}
    env = {"TRACEPROF_MALLOC": "sampled", "TRACEPROF_MALLOC_SAMPLE": "4K"}
    wanted = None
    for number in range(10):
        run = (traced if number else same)("alloc_sites", "sizes", env=env)
        found = account(run.files[0])
        expect(found["live_bytes"] < 1e6, "what was freed is gone")
        for place in found["places"]:
            seen.setdefault(names(place)[0], []).append((place["bytes"], place["calls"]))
        heap = heap_totals(run.files[0])
        wanted = wanted or heap
        expect_equal(heap, wanted, "counts are exact in every run")
    counts = (1000000, 600000, 240000, 80000, 24000, 2400, 240, 24, 3, 1)
    sizes = (24, 40, 104, 312, 1000, 10008, 100008, 1003504, 10002416, 100003824)
    for site, (count, size) in enumerate(zip(counts, sizes)):
        found = seen[f"site{site}"]
        expect_equal(len(found), 10, f"runs that saw site{site}")
        mean = sum(number for number, _ in found) / 10
        expect(abs(mean / (count * size) - 1) < 0.02,
               f"site{site}: {mean} for {count * size}")
        calls = sum(number for _, number in found) / 10
        expect(abs(calls / count - 1) < 0.02, f"site{site}: {calls} for {count} calls")


def test_counts_are_the_same_in_every_mode():
    found = {}
    for mode in ("counters", "large", "all", "sampled"):
        run = same("alloc_sites", "churn", 20000, env={"TRACEPROF_MALLOC": mode})
        heap = run.trace.meta["heap"]
        found[mode] = tuple(heap[key] for key in ("calls", "frees", "bytes"))
    expect_equal(len(set(found.values())), 1, found)


def test_samples_of_every_function():
    """Each way to get and to give back a block, through the sampled one."""
    for function in ("malloc", "calloc", "realloc", "reallocarray", "posix_memalign",
                     "aligned_alloc", "memalign", "valloc", "pvalloc", "strdup"):
        env = {"TRACEPROF_MALLOC": "sampled", "TRACEPROF_MALLOC_SAMPLE": "64K"}
        run = (traced if "align" in function else same)(
            "heap_calls", function, 50, 987654, env=env)
        trace = run.trace
        born = [one for one in trace.memory() if one["args"]["Bytes"] > 900000]
        died = [one for one in trace.memory() if one["args"]["Bytes"] < -900000]
        expect_equal((len(born), len(died)), (50, 50), function)
        expect(all("stack" in one["args"] for one in born), function)
        expect_equal(account(run.files[0])["strange_frees"], 0, function)


def test_suppressions():
    path = record("alloc_sites", "leak", 60)
    listed = os.path.join(folder(), "list")
    for pattern, hides in (("keep_tensor", True), ("^keep*sor$", True),
                           ("alloc_sites.c", True), ("^tensor", False),
                           ("libother", False)):
        with open(listed, "w", encoding="utf-8") as file:
            file.write(f"# known\n\nleak:{pattern}\n")
        said = text(path, "--suppressions", listed)
        expect_equal("growth: none" in said, hides, pattern)
        left_out = re.search(r"left out by --suppressions: (\S+ \S+) live at the end, of "
                             r"(\d+) place", said)
        expect_equal(bool(left_out), hides, said)
    with open(listed, "w", encoding="utf-8") as file:
        file.write("leak:ok\nrace:other\n")
    done = command("memory", "--suppressions", listed, path)
    expect_equal(done.status, 2, done.stderr)
    expect("line 2" in done.stderr, done.stderr)


def test_folded_stacks_add_up():
    path = record("alloc_sites", "leak", 30)
    found = account(path)
    for options, key in (([], "peak_bytes"), (["--cost", "live"], "live_bytes"),
                         (["--cost", "calls"], "allocations")):
        lines = text(path, "--flame", *options).splitlines()
        expect_equal(sum(int(line.rsplit(" ", 1)[1]) for line in lines), found[key])
    largest = max(text(path, "--flame").splitlines(),
                  key=lambda line: int(line.rsplit(" ", 1)[1])).split(";")
    expect_equal(largest[0], "host memory")
    expect(largest[-1].startswith("make_block "), largest)
    turned = text(path, "--flame", "--inverted").splitlines()
    expect(any(line.split(";")[1].startswith("make_block ") for line in turned), turned)


def test_speedscope_file():
    path = record("alloc_sites", "leak", 30)
    file = json.loads(text(path, "--speedscope"))
    profile = file["profiles"][0]
    expect_equal(len(profile["samples"]), len(profile["weights"]))
    expect_equal(sum(profile["weights"]), profile["endValue"])
    expect_equal(profile["endValue"], account(path)["peak_bytes"])
    frames = [one["name"] for one in file["shared"]["frames"]]
    expect(all(0 <= frame < len(frames) for stack in profile["samples"]
               for frame in stack), "frames")
    expect(any(name.startswith("make_block ") for name in frames), frames)


def test_pprof_profile():
    path = record("alloc_sites", "leak", 30)
    profile = os.path.join(folder(), "profile.pb.gz")
    with open(profile, "wb") as out:
        subprocess.run([harness.COMMAND, "memory", "--pprof", path], stdout=out,
                       check=True)
    kinds, samples = protobuf.profile(profile)
    found = account(path)
    sums = {kind: sum(values[number] for _, values in samples)
            for number, kind in enumerate(kinds)}
    expect_equal(sums, {"peak_space": found["peak_bytes"],
                        "inuse_space": found["live_bytes"],
                        "alloc_space": found["bytes"],
                        "alloc_objects": found["allocations"],
                        "temporary_objects": found["temporary"]})
    line = line_of("make_block", "malloc(")
    expect(any(stack[0][0] == "malloc" or any(
        (function, os.path.basename(file), at) == ("make_block", "alloc_sites.c", line)
        for function, file, at in stack[:2]) for stack, _ in samples), samples)
    if shutil.which("go"):
        done = subprocess.run(["go", "tool", "pprof", "-top", "-sample_index=inuse_space",
                               profile], capture_output=True, text=True)
        expect(done.returncode or "make_block" in done.stdout, done.stdout)
    expect_equal(command("memory", "--pprof", path, path).status, 2)


def test_stacks_are_cut_on_a_terminal_alone():
    path = record("template_leak", 20)
    def rows(*options, **env):
        done = command("memory", "--frames", 0, *options, path, env=env)
        return [line for line in done.stdout.splitlines() if "remember" in line
                or " ... " not in line and "..." in line]
    whole = rows()
    expect(any(len(line) > 80 for line in whole), whole)
    cut = rows(COLUMNS="80")
    expect(cut and all(len(line) <= 80 for line in cut), cut)
    expect_equal(rows("--long", COLUMNS="80"), whole)
    # So are those of what changed.
    differ = command("memory", "--diff", "--long", "--frames", 0, path,
                     record("template_leak", 40), env={"COLUMNS": "60"})
    expect("..." not in differ.stdout.replace(" ... <", ""), differ.stdout)


def test_one_module_alone():
    path = record("alloc_sites", "leak", 30)
    whole, own, libc = (account(path, *options) for options in
                        ([], ["--module", "alloc_sites"], ["--module", "libc"]))
    expect({"make_block"} == {names(place)[0] for place in own["places"]}, own)
    expect_equal(own["strange_frees"], 0)
    expect(libc["allocations"] > 0, "the output's buffer")
    expect(own["allocations"] + libc["allocations"] <= whole["allocations"], whole)
    mine = [place for place in whole["places"] if names(place)[0] == "make_block"]
    expect_equal((own["bytes"], own["frees"]),
                 (sum(place["bytes"] for place in mine),
                  sum(place["frees"] for place in mine)))


def test_blocks_that_another_thread_frees():
    path = record("alloc_sites", "handed", 2000)
    found = account(path)
    site = next(place for place in found["places"] if "producer_site" in names(place))
    expect_equal((site["calls"], site["frees"], site["foreign"]), (2000, 1500, 1000))
    expect(1000 <= found["foreign"] < 1010, found["foreign"])
    said = text(path)
    expect("freed by another thread" in said, said)
    expect("freed by another thread" not in text(record("alloc_sites", "leak", 10)))
    lines = text(path, "--flame", "--cost", "foreign").splitlines()
    expect_equal(sum(int(line.rsplit(" ", 1)[1]) for line in lines), found["foreign"])


def test_what_a_threads_stacks_need_is_freed_as_it_came():
    """The loader frees libunwind's memory of a thread after its end."""
    for mode in ("all", "sites"):
        found = account(record("alloc_sites", "born", 50, TRACEPROF_MALLOC=mode))
        expect_equal(found["strange_frees"], 0, mode)
        mine = [place for place in found["places"] if "make_block" in names(place)]
        expect_equal(sum(place["calls"] for place in mine), 50, mode)
        # The loader frees it when it has a new use for the stack.
        expect(found["live_blocks"] < 10, mode, found["live_blocks"])


def test_memory_that_is_mapped():
    run = same("alloc_sites", "maps", env=HEAP | {"TRACEPROF_MMAP": "1"})
    done = command("memory", "--json", run.files[0])
    found = {one["memory"]: one for one in json.loads(done.stdout)[0]["memories"]}
    mapped = found["mapped by the program"]
    expect_equal(mapped["strange_frees"], 0)
    sites = [(names(place)[0], place["calls"], place["bytes"], place["live"],
              place["live_blocks"]) for place in mapped["places"]
             if names(place)[0] in ("map_site", "maps")]
    # Of 100 pages 10 in the middle go and 20 are replaced; 7 move into 70.
    page = 4096
    expect_equal(sorted(sites), [
        ("map_site", 2, 107 * page, 70 * page, 3),
        ("maps", 1, 2 * page, page, 1),
        ("maps", 1, 20 * page, 20 * page, 1),
        ("maps", 1, 70 * page, 70 * page, 1)])
    kinds = [one["args"]["kind"] for one in run.trace.events
             if one["name"] == "[memory] mapped" and one["args"]["Bytes"] > 0]
    expect_equal(sorted(kinds), ["anonymous"] * 3 + ["break", "reserved", "stack"])
    stack = next(one["args"] for one in run.trace.events
                 if one["name"] == "[memory] mapped" and one["args"].get("kind") == "stack")
    gone = [one["args"]["Bytes"] for one in run.trace.events
            if one["name"] == "[memory] mapped" and one["args"]["Addr"] == stack["Addr"]]
    expect_equal(sum(gone), 0, "the thread's stack")
    plain_run = same("alloc_sites", "maps", env=HEAP)
    expect(not [one for one in plain_run.trace.events if "mapped" in one["name"]], "off")


def test_part_of_a_run():
    path = record("alloc_sites", "leak", 60)
    part = account(path, "--steps", "10:19")
    kept = [place for place in part["places"] if "keep_tensor" in names(place)]
    expect_equal(kept[0]["live_blocks"], 10, "blocks kept in ten steps")
    part = account(path, "--steps", "50:99")
    kept = [place for place in part["places"] if "keep_tensor" in names(place)]
    expect_equal(kept[0]["live_blocks"], 9, "the last has no end")
    done = command("memory", "--steps", "60:70", path)
    expect_equal((done.status, done.stdout), (3, ""))
    expect("none of its 59 steps is asked for" in done.stderr, done.stderr)


def test_rates_are_those_of_the_part():
    path = record("alloc_sites", "leak", 60)

    def head(*options):
        said = text(path, *options)
        found = re.search(r"; (\d+) allocations? of .*\((\S+) a second\)", said)
        return said, int(found[1]), float(found[2])

    _, calls, rate = head()
    seconds = calls / rate
    said, calls, rate = head("--time", f"0:{seconds / 2:f}")
    expect("after the start alone" in said, said)
    expect(abs(calls / rate - seconds / 2) < seconds / 100, said)
    said = text(path, "--time", "5000:6000")
    expect("host memory: nothing was allocated or freed then\n" in said, said)
    expect(" -" not in said, "a peak before the start", said)


def test_two_runs_beside_each_other():
    before = record("alloc_sites", "clean", 40)
    after = record("alloc_sites", "leak", 40)
    said = command("memory", "--diff", before, after).stdout
    first = said.split("where\n", 1)[1].splitlines()[0]
    expect(re.match(r"\s*\+38\.\d+ MiB", first), said)
    expect("make_block alloc_sites.c" in first, said)


def test_stripped_program_is_named_by_its_build_id():
    """Recorded without debug information, which lies elsewhere."""
    place = folder()
    copy = os.path.join(place, "bare")
    debug = os.path.join(place, "debug")
    source = program("alloc_sites")
    notes = subprocess.run(["readelf", "-n", source], capture_output=True,
                           text=True).stdout
    number = re.search(r"Build ID: (\w+)", notes).group(1)
    os.makedirs(os.path.join(debug, ".build-id", number[:2]))
    kept = os.path.join(debug, ".build-id", number[:2], number[2:] + ".debug")
    subprocess.run(["objcopy", "--only-keep-debug", source, kept], check=True)
    subprocess.run(["strip", "-o", copy, source], check=True)
    run = traced(copy, "leak", 60, env=HEAP)
    path = run.files[0]
    expect("make_block" not in text(path), "a name that nobody could know")
    found = account(path, "--debug-dir", debug)
    expect_equal(names(growing(found)[0])[:2], ["make_block", "keep_tensor"])
    os.unlink(copy)
    said = text(path)
    expect("not here as they were recorded" in said and "bare" in said, said)
    found = account(path, "--debug-dir", debug)
    expect_equal(names(growing(found)[0])[:2], ["make_block", "keep_tensor"])
    # Another build in its place is not taken for it.
    subprocess.run(["strip", "-o", copy, program("threads")], check=True)
    expect("not here as they were recorded" in text(path), "another build")


def test_symbolized_trace_is_read_anywhere():
    """Recorded by a program that is then gone."""
    copy = os.path.join(folder(), "moved")
    subprocess.run(["cp", program("alloc_sites"), copy], check=True)
    path = traced(copy, "leak", 60, env=HEAP).files[0]
    before = growing(account(path))[0]["stack"]
    size = len(harness.Trace(path).events)
    done = command("symbolize", path)
    expect_equal((done.status, done.stderr), (0, ""))
    os.unlink(copy)
    expect_equal(command("check", path).status, 0)
    trace = harness.Trace(path)
    expect_equal(len(trace.events), size, "events")
    lines = [one["args"]["Call stack"] for one in trace.memory()
             if "Call stack" in one["args"]]
    expect(any(re.search(r"alloc_sites.c\(\d+\): make_block;[^;]*"
                         r"alloc_sites.c\(\d+\): keep_tensor;", line)
               for line in lines), lines)
    after = growing(account(path))[0]["stack"]
    expect_equal([(one["function"], one.get("line")) for one in after[:5]],
                 [(one["function"], one.get("line")) for one in before[:5]])


def test_symbolize_takes_a_folder():
    paths = [record("alloc_sites", "leak", steps) for steps in (10, 20)]
    place = folder()
    for path in paths:
        os.rename(path, os.path.join(place, os.path.basename(path)))
    expect_equal(command("symbolize", place, "-o", "x").status, 2)
    done = command("symbolize", place)
    expect_equal((done.status, done.stdout.count("with file and line")), (0, 2))
    with gzip.open(os.path.join(place, os.path.basename(paths[0])), "rt") as file:
        expect("alloc_sites.c(" in file.read(), "no lines")
    with open(os.path.join(place, "broken.pt.trace.json"), "w", encoding="utf-8") as file:
        file.write('{"traceEvents": [')
    expect_equal(command("symbolize", place).status, 3)
    expect_equal(command("symbolize", folder()).status, 3)


def test_symbolize_leaves_a_file_that_it_cannot_read():
    path = os.path.join(folder(), "broken.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"traceEvents": [')
    expect_equal(command("symbolize", path).status, 3)
    expect_equal(os.listdir(os.path.dirname(path)), ["broken.pt.trace.json"])


def test_blocks_that_are_too_small_are_spoken_of():
    """By default small ones are in the sums alone: the peak isn't the heap's."""
    for options, said in (({}, True), ({"TRACEPROF_MALLOC_MIN": "1G"}, True),
                          ({"TRACEPROF_MALLOC": "sampled"}, True),
                          ({"TRACEPROF_MALLOC": "all"}, False)):
        run = same("alloc_sites", "leak", 30, env=options)
        heap = run.trace.meta["heap"]
        calls = heap["calls"] + heap["calls_before"]
        told = text(run.files[0])
        expect_equal(f"the program made {calls} allocations" in told, said, told)


def test_trace_without_stacks_says_so():
    run = same("alloc_sites", "leak", 30, env={"TRACEPROF_MALLOC": "all"})
    said = text(run.files[0])
    expect("TRACEPROF_STACK=heap" in said, said)
    expect("28.6" in said or "28.7" in said, "the peak is known all the same")


def test_a_short_run_without_steps_is_not_said_to_grow():
    said = text(record("heap_calls", "malloc", 500, 5000))
    expect("growth: not known, there are no steps" in said, said)


def test_a_file_that_is_not_finished_is_said_to_be():
    place = folder()
    process = subprocess.Popen(
        [program("alloc_sites"), "leak", "100000"], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env=harness.clean_environment() | HEAP | {
            "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": place})
    harness.ends_with_test(process)
    while not os.listdir(place):
        time.sleep(0.05)
    process.kill()
    process.wait()
    done = command("memory", os.path.join(place, os.listdir(place)[0]))
    expect(f"traceprof recover {place}" in done.stderr, done.stderr)
    expect("not finished" in done.stdout, done.stdout)
    expect("record with" not in done.stdout, done.stdout)
    expect_equal(command("recover", place).status, 0)
    expect("not finished" not in text(os.path.join(place, os.listdir(place)[0])))


KEEPS = """
import time
kept = []
while True:
    kept.append(bytearray(1000000))
    time.sleep(0.05)
"""


def test_a_file_that_is_written_has_its_times():
    for mode in ("all", "sites", "sampled", "large"):
        place = folder()
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-c", KEEPS], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=harness.clean_environment() | HEAP | {
                "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": place,
                "TRACEPROF_MALLOC": mode})
        harness.ends_with_test(process)
        memory = {}
        while not memory.get("live_bytes"):
            time.sleep(0.1)
            expect(process.poll() is None, f"{mode}: it has ended")
            for name in os.listdir(place):
                done = command("memory", "--json", os.path.join(place, name))
                said = json.loads(done.stdout)[0] if done.status == 0 else {}
                memory = (said.get("memories") or [{}])[0]
        took = time.monotonic() - began
        process.kill()
        process.wait()
        expect(0 <= memory["peak_ns"] <= said["run_ns"] <= took * 1e9 + 1e6,
               mode, memory["peak_ns"], said["run_ns"], took)
        expect_equal(bool(said["sample_bytes"]), mode == "sampled", mode)
        expect_equal(command("recover", place).status, 0)


def test_all_traces_of_a_folder():
    run = traced("alloc_sites", "clean", 20, env={"TRACEPROF_MALLOC": "all",
                                                  "TRACEPROF_STACK": "heap"})
    expect_equal(text(os.path.dirname(run.files[0])), text(run.files[0]))
    empty = command("memory", folder())
    expect("no trace in it" in empty.stderr and empty.status == 3, empty.stderr)


def test_wrong_arguments():
    path = record("alloc_sites", "clean", 3)
    for options in (["--top", "x"], ["--cost", "money"], ["--steps", "5"],
                    ["--time", "-1:2"], ["--diff"], ["--suppressions", "/nowhere"]):
        expect_equal(command("memory", *options, path).status, 2, options)
    expect_equal(command("memory", "/nowhere").status, 3)


if __name__ == "__main__":
    harness.main()
