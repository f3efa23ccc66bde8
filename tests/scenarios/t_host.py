# SPDX-License-Identifier: MIT
"""Samples of what threads do: where the time went, and what nobody notices."""

import collections
import json
import math
import os
import re
import sys
import xml.etree.ElementTree

import harness
from harness import expect, expect_equal, same, traced

SAMPLED = {"TRACEPROF_SAMPLE": "997"}
SHARES = {"half": 50, "third": 30, "fifth": 20}


def slices(trace):
    return [event for event in trace.events
            if event.get("cat") in ("cpu_sample", "python_function")]


def self_us(trace):
    """{function: processor time}; of Python without file and line."""
    sums = collections.Counter()
    for one in slices(trace):
        name = one["name"]
        if one["cat"] == "python_function":
            name = name.rsplit(" ", 1)[-1]
        sums[name] += one["args"]["self_us"]
    return sums


RUNS = 5


def equal_samples(traces):
    """Where the machine is busy each sample stands for another time; so many of
    different weight tell as much as (sum of w)^2 / (sum of w^2) equal ones."""
    rows = [one["args"] for trace in traces for one in slices(trace)]
    squares = sum(row["self_us"] ** 2 / row["samples"] for row in rows if row["samples"])
    return sum(row["self_us"] for row in rows) ** 2 / squares


def expect_shares(sums, traces):
    """By chance one of this file's 27 comparisons is off by 3.5 standard deviations in
    one of 80 runs, by 4.5 in one of 5,000."""
    samples = equal_samples(traces)
    for name, share in SHARES.items():
        found = 100 * sums[name] / sum(sums[each] for each in SHARES)
        by_chance = math.sqrt(share * (100 - share) / samples)
        expect(abs(found - share) <= max(2, 4.5 * by_chance), name, sums, samples)


def within_two_points(*command, found):
    """The planted functions have their shares in five runs together. A turn of a function begins
    and ends anywhere between two samples, and that is all that is left to chance: a turn
    of 80 ms or more, looked at each 4 ms, makes it a fifth of a point in all. Where threads
    want more processors than there are, ticks fall on them at random, fewer if it's busy.
    """
    sums, traces = collections.Counter(), []
    for _ in range(RUNS):
        done = traced(*command, env=SAMPLED)
        expect_equal((done.status, done.stdout), (0, "done\n"), done.stderr)
        sums.update(found(done))
        traces.append(done.trace)
    expect_shares(sums, traces)
    return done


def test_planted_shares_in_one_thread():
    within_two_points(harness.program("shares"), 1, 400,
                      found=lambda done: self_us(done.trace))


def test_planted_shares_in_four_threads():
    last = within_two_points(harness.program("shares"), 4, 1600,
                             found=lambda done: self_us(done.trace))
    # In 200 ms: of 50 each the kernel's ticks may miss all on a busy machine.
    lanes = {one["tid"] for one in slices(last.trace) if one["name"] == "half"}
    expect_equal(len(lanes), 4, "lanes with samples")


def test_planted_shares_of_inlined_functions():
    program = harness.compile_program(
        "shares.c", "-O2", "-pthread", "-x", "c++",
        "-DFUNCTION=__attribute__((always_inline)) static inline",
        compiler="g++", name="shares_inlined")

    def found(done):
        sums = collections.Counter()        # the others, too, for what a failure says
        for key, value in by_function(done.files[0]).items():
            sums[key.split("(")[0]] += value
        return sums
    within_two_points(program, 1, 400, found=found)
    within_two_points(program, 4, 1600, found=found)


def test_sums_are_the_processor_time():
    """Each sample stands for the time since the one before: no rate of the
    kernel's changes the sum."""
    done = same("phases", 2, 100, env=SAMPLED)
    total = [row for row in done.trace.meta["totals"] if row["cat"] == "cpu_sample"]
    expect_equal(len(total), 1, "rows of samples")
    drawn = sum(one["args"]["self_us"] for one in slices(done.trace))
    expect(abs(drawn - total[0]["total_us"]) < 1, (drawn, total))
    count = sum(one["args"]["samples"] for one in slices(done.trace))
    expect_equal(count, total[0]["calls"], "samples")
    expect_equal(count, done.trace.meta["written_by_kind"]["cpu_sample"], "written")


def test_callers_are_around():
    done = same("phases", 1, 150, env=SAMPLED)
    by_name = collections.defaultdict(list)
    for one in slices(done.trace):
        by_name[one["name"]].append(one)
    for half in by_name["half"]:
        expect(any(work["tid"] == half["tid"] and work["ts"] <= half["ts"] and
                   work["ts"] + work["dur"] >= half["ts"] + half["dur"]
                   for work in by_name["work"]), f"nobody called {half}")
    sampling = done.trace.meta["sampling"]
    expect_equal(sampling["source"], "timer", "source")
    expect(sampling["without_callers"] <= 2, sampling)


PHASES = """
import hashlib, sys, threading, time
DATA = b"x" * 30000
def burn(until, chunk):
    while time.thread_time() < until:
        chunk()
def pure():
    for _ in range(3000): pass
def extension():
    hashlib.md5(DATA).digest()
def half(chunk, until):
    burn(until, chunk)
def third(chunk, until):
    burn(until, chunk)
def fifth(chunk, until):
    burn(until, chunk)
def work(chunk, seconds):
    start = time.thread_time()
    burn(start + 0.25 * seconds, chunk)
    half(chunk, start + 0.75 * seconds)
    third(chunk, start + 1.05 * seconds)
    fifth(chunk, start + 1.25 * seconds)
    burn(start + 1.5 * seconds, chunk)
chunk = pure if sys.argv[1] == "pure" else extension
count = int(sys.argv[2])
threads = [threading.Thread(target=work, args=(chunk, 0.4))
           for _ in range(count)]
for one in threads: one.start()
for one in threads: one.join()
print("done")
"""


def totals_us(done):
    """{function of Python: with all that it calls}"""
    text = harness.command("report", "--hot", "--json", done.files[0]).stdout
    return {row["name"].split(" (")[0]: row["total_ns"] / 1000
            for row in json.loads(text)["functions"]}


def test_who_is_in_the_c_library_from_the_start_has_callers():
    """Nothing was loaded since, so no stack has to wait for it."""
    run = traced("in_libc", env={"TRACEPROF_SAMPLE": "997"})
    sampling = run.trace.meta["sampling"]
    expect(sampling["without_callers"] <= 2, sampling)


def test_planted_shares_in_python():
    """With what they call, in Python alone and in C code; by threads that have
    the GIL in turn."""
    script = os.path.join(harness.folder(), "phases.py")
    with open(script, "w", encoding="ascii") as out:
        out.write(PHASES)
    for way, threads in (("pure", 1), ("extension", 1), ("pure", 4), ("extension", 4)):
        within_two_points(sys.executable, script, way, threads, found=totals_us)


def test_the_number_of_a_closed_descriptor_is_the_programs():
    """What is read ten times a second waits until stdin is open."""
    for setting in ({"TRACEPROF_SAMPLE": "997"}, {"TRACEPROF_WAITS": "1"}):
        run = traced("/bin/sh", "-c", 'exec "$0" <&-', harness.program("closed_stdin"),
                     env=setting)
        expect_equal((run.status, run.stdout), (0, "done\n"), f"{setting}: {run.stderr}")


def test_who_begins_without_a_stdin_finds_nothing_in_its_place():
    """What the writer opens at its start waits for the program to open one."""
    for setting in ({"TRACEPROF_SAMPLE": "997"}, {"TRACEPROF_MALLOC": "all"}) * 10:
        run = traced("/bin/sh", "-c", 'exec "$0" nothing <&-', harness.program("closed_stdin"),
                     env={**setting, "TRACEPROF_CHILDREN": "all"})
        expect_equal((run.status, run.stdout), (0, "nothing\n"), f"{setting}: {run.stderr}")


def test_only_in_windows():
    done = same("step_loop", env={**SAMPLED, "TRACEPROF_STEP": "api",
                                  "TRACEPROF_WAIT": "1", "TRACEPROF_ACTIVE": "1",
                                  "TRACEPROF_REPEAT": "1"})
    trace = done.trace
    begin = min(one["ts"] for one in trace.events if one.get("name", "").startswith("ProfilerStep"))
    expect(all(one["ts"] >= begin - 1 for one in slices(trace)), "before the window")


def test_off_leaves_no_trace_of_a_plain_program():
    done = traced("phases", 1, 1)
    expect_equal((done.status, done.files), (0, []), "status and files")


def test_waits_are_drawn_and_short_ones_not():
    done = same("waits", 20, env=SAMPLED)
    names = collections.Counter(one["name"] for one in done.trace.events
                                if one.get("cat") == "wait")
    for call in ("poll", "ppoll", "nanosleep", "clock_nanosleep", "epoll_wait", "select",
                 "sem_timedwait"):
        expect(names[f"wait: {call}"] >= 60, names)
    long = same("waits", 20, env={**SAMPLED, "TRACEPROF_WAIT_MIN": "100000000"})
    expect(not [one for one in long.trace.events if one.get("cat") == "wait"], "short")
    off = same("waits", 5, env={**SAMPLED, "TRACEPROF_WAITS": "0"})
    expect(not [one for one in off.trace.events if one.get("cat") == "wait"], "off")


def test_disks_and_pipes_are_told_apart():
    done = same("syncs", os.path.join(harness.folder(), "file"), 10,
                env={"TRACEPROF_WAITS": "1", "TRACEPROF_WAIT_MIN": "0"})
    names = collections.Counter(one["name"].removeprefix("wait: ")
                                for one in done.trace.events if one.get("cat") == "wait")
    other = " (pipe or socket)"
    expect_equal([names[name] for name in ("fsync", "fdatasync", "write", "pread", "pwrite",
                                           "read", "write" + other, "read" + other)],
                 [6, 6, 10, 20, 10, 0, 10, 10], names)


def test_calls_of_who_was_built_with_checks_are_seen():
    """Their names are others (__read_chk), and the checks are made."""
    done = same("checked", harness.folder(),
                env={"TRACEPROF_WAITS": "1", "TRACEPROF_WAIT_MIN": "0"})
    names = collections.Counter(one["name"].removeprefix("wait: ")
                                for one in done.trace.events if one.get("cat") == "wait")
    expect_equal([names[name] for name in (
        "read", "pread", "read (pipe or socket)", "recv", "recvfrom", "poll", "ppoll",
        "accept4")], [2, 2, 1, 1, 1, 1, 1, 1], names)
    abort = " ".join(["6"] * 8)
    expect_equal(done.stdout.splitlines()[-1].strip(), abort, done.stdout)
    done = same("checked", harness.folder(), env={"TRACEPROF_IO": "1"})
    expect_equal(file_sums(done.trace)["read", "checked"], [4, 100 + 200 + 300 + 8192],
                 "what was read")


def test_report_names_what_took_the_processor():
    done = same("phases", 1, 300, env=SAMPLED)
    file = done.files[0]
    rows = json.loads(harness.command("report", "--hot", "--json", file).stdout)
    by_name = {row["name"]: row for row in rows["functions"]}
    for name, sum_us in self_us(done.trace).items():
        if "+0x" not in name:
            expect(abs(by_name[name]["self_ns"] - 1000 * sum_us) < 2000, name)
    expect("work" in by_name, by_name, done.trace.meta["notes"])
    work = by_name["work"]
    expect(work["total_ns"] > 0.97 * rows["cpu_ns"], rows)
    text = harness.command("report", "--hot", "-n", "3", file).stdout
    most = max((row for row in rows["functions"]), key=lambda row: row["self_ns"])
    table = text.split("function\n")[1]
    expect_equal(table.split("\n")[0].split()[-1], most["name"], text)
    folded = harness.command("report", "--folded", file).stdout
    sums = collections.Counter()
    for line in folded.splitlines():
        path, number = line.rsplit(" ", 1)
        sums[path.split(";")[-1]] += int(number)
    for name in SHARES:
        expect(abs(sums[name] - by_name[name]["self_ns"] / 1000) < 20, name)
    scope = json.loads(harness.command("report", "--speedscope", file).stdout)
    expect_equal(sum(scope["profiles"][0]["weights"]), rows["cpu_ns"], "weights")


def test_flame_is_one_picture_of_it():
    done = same("phases", 2, 100, env=SAMPLED)
    out = os.path.join(harness.folder(), "flame.svg")
    said = harness.command("report", "--flame", out, done.files[0])
    expect_equal(said.status, 0, said.stderr)
    boxes = xml.etree.ElementTree.parse(out).getroot().findall(
        "{http://www.w3.org/2000/svg}g")
    wide = collections.Counter()
    for box in boxes:
        rect = box.find("{http://www.w3.org/2000/svg}rect")
        wide[box.get("data-n")] += float(rect.get("width"))
    rects = [box.find("{http://www.w3.org/2000/svg}rect") for box in boxes]
    top = min(rects, key=lambda rect: int(rect.get("y")))
    expect_equal(float(top.get("width")), 1200, "the first screen begins with all")
    sums = self_us(done.trace)
    for name in SHARES:
        expect(abs(wide[name] / 1200 - sums[name] / sum(sums.values())) < 0.01, wide)
    same_file = harness.command("report", "--hot", "--diff", done.files[0],
                                done.files[0]).stdout
    expect("+0.0" in same_file, same_file)
    lines = same_file.splitlines()
    expect(lines[0].startswith("before: ") and "; after: " in lines[0], same_file)
    expect_equal(lines[2].split()[:6], ["before", "%", "after", "%", "change", "time"])
    row = lines[3].split()
    expect_equal((row[0], row[2:4]), (row[1], ["+0.0", "+0"]), same_file)
    run = os.path.dirname(done.files[0])
    expect_equal(harness.command("report", "--hot", run).stdout,
                 harness.command("report", "--hot", done.files[0]).stdout, "of a folder")
    expect_equal(harness.command("report", "--hot", "--diff", run, run).stdout, same_file)
    nowhere = harness.command("report", "--hot", os.path.join(run, "none"))
    expect_equal(nowhere.status, 3, nowhere.stderr)
    expect("No such file" in nowhere.stderr, nowhere.stderr)


def test_report_says_that_there_are_no_samples():
    done = same("region", "plain_parallel")
    said = harness.command("report", "--hot", done.files[0])
    expect_equal(said.status, 3, "status")
    expect("--sample" in said.stderr, said.stderr)


def test_a_run_too_short_for_a_sample_is_not_told_to_take_them():
    done = same("region", "plain_parallel", env={"TRACEPROF_SAMPLE": "1"})
    said = harness.command("report", "--hot", done.files[0])
    expect_equal(said.status, 3, said.stdout)
    expect("--sample" not in said.stderr and "1 sample a second" in said.stderr, said.stderr)


def test_who_records_nothing_is_told_of_samples():
    out = harness.folder()
    said = harness.command("record", "--dir", out, harness.program("phases"), "1", "1")
    expect("--sample shows where the time" in said.stderr, said.stderr)


HINT = "lie outside what was recorded"


def test_who_records_little_of_its_time_is_told_of_samples():
    """All of a heap's recording, none of what the program does; a program whose
    time lies in regions, or that is sampled, hears nothing."""
    def closing(*command, **env):
        return traced(*command, env=env).stderr

    heap = {"TRACEPROF_MALLOC": "all"}
    expect(HINT in closing(harness.program("phases"), 1, 1500, **heap), "no hint")
    said = closing(harness.program("phases"), 1, 1500, **heap, **SAMPLED)
    expect(HINT not in said, said)
    said = closing(harness.program("phases"), 1, 5, **heap)
    expect(HINT not in said, said)
    said = closing(sys.executable, "-c", "import time; time.sleep(1.2)", **heap)
    expect(HINT not in said, said)


def test_calls_that_wait_are_not_interrupted():
    done = same("waits", 60, env=SAMPLED)
    expect(slices(done.trace), "no samples")


def waits(trace, call):
    return [one for one in trace.events
            if one.get("cat") == "wait" and one["name"] == f"wait: {call}"]


def test_locks_are_waited_for_and_their_holder_is_named():
    """Held for 20 ms each: one long wait, and the thread that held it."""
    done = same("locks", env=SAMPLED)
    main = done.trace.events[0]["pid"]
    held = {}
    for call in ("pthread_mutex_lock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock"):
        long = [one for one in waits(done.trace, call)
                if one["dur"] > 5000 and one["tid"] == main]
        expect(long, f"no wait in {call}")
        held[call] = {one["args"].get("held by") for one in long}
        expect(all(one["args"]["object"].startswith("0x") for one in long), long)
    other = {one["tid"] for one in waits(done.trace, "poll") if one["tid"] != main}
    expect_equal(len(other), 1, "threads that hold")
    for call, who in held.items():
        expect_equal(who, other, f"who held {call}")


def test_waiters_are_told_who_woke_them():
    done = same("locks", env=SAMPLED)
    main = done.trace.events[0]["pid"]
    other = {one["tid"] for one in waits(done.trace, "poll") if one["tid"] != main}
    for call in ("pthread_cond_wait", "pthread_cond_timedwait",
                 "pthread_cond_clockwait", "sem_clockwait", "sem_wait"):
        long = [one for one in waits(done.trace, call)
                if one["dur"] > 5000 and one["tid"] == main]
        expect(long, f"no wait in {call}")
        expect_equal({one["args"].get("woken by") for one in long}, other, call)


def test_other_calls_that_wait():
    done = same("locks", env=SAMPLED)
    for call in ("epoll_pwait", "recvfrom", "recvmsg", "accept", "waitpid"):
        expect([one for one in waits(done.trace, call) if one["dur"] > 2000], call)


def test_barriers_futexes_children_and_sockets():
    """Who wakes is named where it is known; what runtimes ask the kernel for
    themselves is seen, too."""
    done = same("more_waits", env={"TRACEPROF_WAITS": "1"})
    main = done.trace.events[0]["pid"]

    def long(call, least=5000):
        found = [one for one in waits(done.trace, call)
                 if one["dur"] > least and one["tid"] == main]
        expect(found, f"no wait in {call}")
        return found

    for call in ("sendmsg", "wait4", "waitid", "pselect", "system"):
        long(call)
    long("sleep", 900000)
    expect(long("pthread_barrier_wait")[0]["args"]["object"].startswith("0x"))
    other = {one["tid"] for one in waits(done.trace, "poll") if one["tid"] != main}
    expect_equal(len(other), 1, "other threads")
    woken = long("futex")
    expect_equal({one["args"].get("woken by") for one in woken}, other)
    expect_equal(len(woken), 2, "one by each operation")


def test_a_handler_may_interrupt_an_allocation():
    """The first that is seen of a thread is what its handler calls."""
    same("handler_posts", env={**SAMPLED, "TRACEPROF_SAMPLE": "0",
                               "TRACEPROF_WAITS": "1", "TRACEPROF_IO": "1",
                               "TRACEPROF_STACK": "all",
                               "TRACEPROF_MALLOC": "off"})


def test_waits_alone_begin_a_recording():
    """Of a program that does nothing else; who is joined is named."""
    done = same("joins", 0, env={"TRACEPROF_WAITS": "1"})
    joins = waits(done.trace, "pthread_join")
    sleeps = waits(done.trace, "nanosleep")
    expect_equal((len(joins), len(sleeps)), (1, 1), "waits")
    expect_equal(joins[0]["args"].get("woken by"), sleeps[0]["tid"], "who was joined")


def test_threads_of_c11_are_sampled_from_their_start():
    done = same("joins", 20, env=SAMPLED)
    expect_equal(done.trace.meta["sampling"]["threads"], 22, "timers")


def test_waits_of_c11():
    """Who held the lock, who signalled, who was joined."""
    done = same("c11_waits", env={"TRACEPROF_WAITS": "1"})
    main = done.trace.events[0]["pid"]
    other = {one["tid"] for one in waits(done.trace, "thrd_sleep")} - {main}
    expect_equal(len(other), 1, "threads that sleep")
    # The wait behind the last sleep is too late; a busy machine may make it long.
    slept = max(one["ts"] for one in waits(done.trace, "thrd_sleep")
                if one["tid"] == main)
    for call, key in (("mtx_lock", "held by"), ("cnd_wait", "woken by"),
                      ("cnd_timedwait", "woken by"), ("thrd_join", "woken by")):
        long = [one for one in waits(done.trace, call)
                if one["dur"] > 5000 and one["tid"] == main and one["ts"] < slept]
        expect(long, f"no wait in {call}")
        expect_equal({one["args"].get(key) for one in long}, other, call)


def test_threads_of_timers_are_sampled_from_their_start():
    """The C library begins them by itself, and each lives for 10 ms."""
    done = same("timer_threads", env=SAMPLED)
    expect(done.trace.meta["sampling"]["threads"] >= 21, done.trace.meta["sampling"])


def test_locks_without_waits_are_left_alone():
    done = same("locks", env={**SAMPLED, "TRACEPROF_WAITS": "0"})
    expect(not [one for one in done.trace.events if one.get("cat") == "wait"], "off")


def file_sums(trace):
    """{(verb, the path's last part): [calls, bytes]}"""
    sums = collections.defaultdict(lambda: [0, 0])
    for one in trace.events:
        if one.get("cat") == "file_io":
            verb, path = one["name"].split(": ", 1)
            row = sums[verb, os.path.basename(path)]
            row[0] += 1
            row[1] += one["args"]["bytes"]
    return sums


IO = {"TRACEPROF_IO": "1"}


def test_files_by_path_and_bytes():
    folder = os.path.join(harness.folder(), "files")
    os.mkdir(folder)
    done = same("files", folder, 3, env=IO)
    sums = file_sums(done.trace)
    want = {("write", "a"): [3, 103500], ("read", "a"): [4, 50000 + 4000 + 1500 + 30000],
            ("map", "a"): [1, 100000], ("write", "b"): [1, 77]}
    for i in range(3):
        want["write", f"{i}.small"] = [1, 10]
        want["read", f"{i}.small"] = [1, 10]
    found = {key: row for key, row in sums.items() if key in want or key[1] in ("a", "b")}
    expect_equal(found, want, "what was read and written")
    paths = {one["name"] for one in done.trace.events if one.get("cat") == "file_io"}
    expect(f"read: {folder}/a" in paths, paths)
    expect(not any("pipe" in path for path in paths), paths)
    expect(done.trace.meta["io"]["read_bytes"] >= 85500, done.trace.meta["io"])
    said = harness.command("report", "--io", done.files[0]).stdout
    line = next(line for line in said.splitlines() if line.endswith(f"read: {folder}/a"))
    expect_equal(line.split()[0], "4", said)
    expect("by the whole process" in said, said)


def test_many_files_go_by_their_folder():
    folder = os.path.join(harness.folder(), "files")
    os.mkdir(folder)
    done = same("files", folder, 2500, env=IO)
    sums = file_sums(done.trace)
    small = [row for (verb, name), row in sums.items()
             if verb == "read" and name.endswith(".small")]
    expect_equal([sum(row[0] for row in small), sum(row[1] for row in small)],
                 [2500, 25000], "reads of small files")
    expect(400 < sums["read", "*.small"][0] < 2500, sums["read", "*.small"])


def test_files_of_steps():
    """Each writes a file of 10 bytes and reads it; what was read before is in
    none."""
    done = same("files", harness.folder(), 4, "steps",
                env={**IO, "TRACEPROF_STEP": "api", "TRACEPROF_ACTIVE": "4",
                     "TRACEPROF_REPEAT": "1"})
    said = harness.command("report", "--io", done.files[0]).stdout
    expect(re.match(r"4 steps of .*: .* in files each, for 20 B; "
                    r"most in step [0-3]: .*, for 20 B\n", said), said)


def test_report_says_that_no_files_were_recorded():
    done = same("region", "plain_parallel")
    said = harness.command("report", "--io", done.files[0])
    expect_equal(said.status, 3, "status")
    expect("record with --io" in said.stderr, said.stderr)


def task_rows(trace):
    return {row["tid"]: row for row in trace.meta["tasks"]}


def test_what_the_kernel_counts_of_threads():
    done = same("phases", 4, 300, env=SAMPLED)
    rows = task_rows(done.trace)
    expect_equal(len(rows), 5, "the process and four threads")
    sampled = collections.Counter()
    for one in slices(done.trace):
        sampled[one["tid"] % 10000000] += one["args"]["self_us"]
    drawn = collections.Counter()
    for one in done.trace.events:
        if one["name"].startswith("kernel counts"):
            for key in ("minor faults", "gave way", "was preempted"):
                drawn[one["name"], key] += one["args"][key]
    for tid, row in rows.items():
        name = f"kernel counts {tid}" if tid else "kernel counts, all"
        expect_equal(row["minor_faults"], drawn[name, "minor faults"], "faults drawn")
        expect_equal(row["voluntary"], drawn[name, "gave way"], "switches drawn")
        expect_equal(row["involuntary"], drawn[name, "was preempted"], "switches drawn")
        if tid:
            expect(row["ran_us"] <= row["wall_us"] * 1.02, row)
            # What it ran after the last round is in the process's own row.
            expect(row["ran_us"] - sampled[tid] < 0.1 * row["ran_us"] + 10000,
                   (row, sampled))
    all_us = sum(row["ran_us"] for tid, row in rows.items() if tid)
    expect(rows[0]["ran_us"] >= 0.9 * max(all_us, sampled.total()), (rows, sampled))
    expect(rows[0]["minor_faults"] > 0, rows)
    file = done.files[0]
    threads = json.loads(harness.command("report", "--hot", "--json", file).stdout)["threads"]
    expect_equal({row["tid"] for row in threads}, set(rows), "threads of the report")
    text = harness.command("report", "--hot", file).stdout
    expect("no core" in text and "the rest: threads that ended" in text, text)
    for row in [row for tid, row in rows.items() if tid]:
        idle = max(0, 1 - (row["ran_us"] + row["ready_us"]) / row["wall_us"])
        said, = re.findall(rf"s +([0-9.]+) % .* {row['tid']} ", text)
        expect(abs(float(said) - 100 * idle) < 0.06, "idle", said, row)


def test_counts_that_cannot_be_read_are_missed_aloud():
    done = same("no_counts", env=SAMPLED)
    expect_equal(set(task_rows(done.trace)), {0}, "rows")
    notes = " ".join(done.trace.meta["notes"])
    for what in ("schedstat", "(stat)", "status", "(sched)"):
        expect(what in notes, notes)
    expect(not [one for one in done.trace.events
                if one["name"].startswith("core time") and one["name"] != "core time, all"],
           "a track of a thread")


def by_function(file):
    """{function: share of self time}, of inlined functions too."""
    text = harness.command("report", "--hot", "--lines", "--json", file).stdout
    rows = json.loads(text)
    sums = collections.Counter()
    for row in rows["functions"]:
        sums[row["name"].rsplit(" (", 1)[0]] += row["total_ns"]
    return {name: 100 * ns / rows["cpu_ns"] for name, ns in sums.items()}


def judged(file):
    """The step of the report: {share: us} of all typical steps, and their sum."""
    step = json.loads(harness.command("report", "--json", file).stdout)[0]["step"]
    shares = {key: ns / 1000 for key, ns in step["split_ns"].items()}
    expect(abs(sum(shares.values()) - step["total_ns"] / 1000) < 1, step)
    return shares, step["total_ns"] / 1000


def near(found, wanted, whole, per_cent, what):
    expect(abs(found - wanted) < whole * per_cent / 100,
           f"{what}: {found:.0f} us of {whole:.0f}, not {wanted:.0f}")


def test_parts_of_a_step_are_those_that_were_planted():
    """Work, sleep and a lock, against the program's own clocks: what it lost to
    other processes counts as off the processor on both sides."""
    out = os.path.join(harness.folder(), "parts")
    done = same("step_parts", out, env={**SAMPLED, "TRACEPROF_STEP": "api"})
    with open(out, encoding="ascii") as file:
        steps = [[float(word) for word in line.split()] for line in file]
    wall, used = (sum(step[i] for step in steps) for i in (0, 1))
    shares, whole = judged(done.files[0])
    near(whole, wall, whole, 2, "steps")
    near(shares["native"], used, whole, 5, "work")
    near(shares["off_cpu"], wall - used, whole, 5, "sleep and lock")
    expect_equal(shares["host"], 0, "host code of no kind")
    text = harness.command("report", done.files[0]).stdout
    expect("most processor time in these steps, by samples: work" in text, text)


def test_bursts_shorter_than_a_period_are_parts_by_their_processor_time():
    out = os.path.join(harness.folder(), "parts")
    done = same("bursts", out, env=SAMPLED)
    with open(out, encoding="ascii") as file:
        used = float(file.read())
    shares, whole = judged(done.files[0])
    near(shares["native"], used, whole, 5, "work")
    near(shares["off_cpu"], whole - used, whole, 5, "sleep")


def test_python_and_native_code_come_apart():
    script = os.path.join(harness.folder(), "mixed.py")
    out = os.path.join(harness.folder(), "parts")
    with open(script, "w", encoding="ascii") as file:
        file.write("import hashlib, sys, time\n"
                   "def loop(n):\n    s = 0\n"
                   "    for i in range(n): s += i * i\n    return s\n"
                   "def crunch(n):\n    data = b'x' * (1 << 20)\n"
                   "    for i in range(n): hashlib.md5(data).digest()\n"
                   "used = [0, 0]\n"
                   "for i in range(5):\n"
                   "    at = time.thread_time(); loop(900000)\n"
                   "    used[0] += time.thread_time() - at\n"
                   "    at = time.thread_time(); crunch(60)\n"
                   "    used[1] += time.thread_time() - at\n"
                   "    time.sleep(0.04)\n"
                   "open(sys.argv[1], 'w').write('%f %f' % tuple(used))\n")
    done = traced(sys.executable, script, out, env=SAMPLED)
    with open(out, encoding="ascii") as file:
        python, native = (1e6 * float(word) for word in file.read().split())
    shares, whole = judged(done.files[0])
    # The rest is the interpreter's start and end.
    rest = shares["python"] + shares["native"] - python - native
    for key, wanted in (("python", python), ("native", native)):
        expect(-0.05 * whole < shares[key] - wanted < max(rest, 0) + 0.05 * whole,
               (key, wanted, shares))
    text = " ".join(harness.command("report", done.files[0]).stdout.split())
    expect("crunch" in text.split("by samples: ")[1][:300], text)


def test_inlined_functions_by_line():
    done = same("phases_inlined", 600, env=SAMPLED)
    shares = by_function(done.files[0])
    expect_shares({name: sum(value for key, value in shares.items() if key.endswith(name))
                   for name in SHARES}, [done.trace])
    said = harness.command("report", "--hot", "--lines", done.files[0])
    expect("(phases_inlined.cpp:" in said.stdout, said)


def test_what_has_no_symbol_is_its_module():
    program = harness.compile_program("shares.c", "-pthread", "-s", name="no_symbols")
    done = traced(program, 1, 400, env=SAMPLED)
    nameless = {name: us for name, us in self_us(done.trace).items()
                if name.startswith("no_symbols+0x")}
    expect(len(nameless) > 1, self_us(done.trace))
    text = harness.command("report", "--hot", "--json", done.files[0]).stdout
    rows = {row["name"]: row for row in json.loads(text)["functions"]}
    expect(not any("+0x" in name for name in rows), rows)
    row = rows["[no_symbols]"]
    expect(abs(row["self_ns"] / 1000 - sum(nameless.values())) < 0.01 * len(slices(done.trace)),
           row, nameless)
    expect_equal(row["samples"], sum(one["args"]["samples"] for one in slices(done.trace)
                                     if one["name"] in nameless), "samples")
    lines = by_function(done.files[0])
    expect(set(nameless) <= set(lines), lines)
    verdict = " ".join(harness.command("report", done.files[0]).stdout.split())
    expect("most processor time, by samples: [no_symbols]" in verdict, verdict)
    expect("no_symbols+0x" not in verdict.split(" calls total ")[0], verdict)


if __name__ == "__main__":
    harness.main()
