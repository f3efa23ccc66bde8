# SPDX-License-Identifier: MIT
"""Events that are written down when there is room, or after the program."""

import glob
import os
import pty
import re
import shutil
import signal
import subprocess
import time

import harness
from harness import Skip, command, expect, expect_equal, folder, traced

LEFT = "after the program's end"


def late(*arguments, program="spins", **options):
    return traced(program, *arguments, env={
        "TRACEPROF_ENCODE": "late"} | {
            "TRACEPROF_" + key.upper(): str(value)
            for key, value in options.items()})


def shape(trace):
    """What is in it, whatever the times were."""
    return [len(trace.slices(omp=kind)) for kind in ("parallel", "task", "wait")]


def check_whole(trace, regions):
    events = trace.meta["events"]
    expect_equal(events["seen"], events["written"], events)
    expect_equal((events["cut"], events["dropped"]), (0, 0), events)
    expect_equal(len(trace.regions()), regions, "regions")
    expect_equal((trace.meta["final"], trace.meta["recovered"]), (True, False), "end")
    calls = sum(total["calls"] for total in trace.meta["totals"]
                if "[omp parallel" in total["name"])
    expect_equal(calls, 3 * regions, "regions and shares in the totals")


def test_it_makes_no_difference():
    shapes = []
    for when in ("live", "late", "auto"):
        run = traced("spins", 2, 4000, 0, env={"TRACEPROF_ENCODE": when})
        check_whole(run.trace, 4000)
        shapes.append(shape(run.trace))
    expect_equal(shapes[0], shapes[1], "live and late")
    expect_equal(shapes[0], shapes[2], "live and auto")


def test_the_rest_is_written_after_the_end():
    run = late(2, 90000, 0)
    expect(any(LEFT in line for line in run.own_lines), run.stderr)
    check_whole(run.trace, 90000)
    expect(run.trace.meta["writer"]["late_passes"] > 0, run.trace.meta["writer"])


def test_a_little_is_left_too_where_it_takes_long():
    """What an event takes is measured; with this coder, ten times as much."""
    run = late(2, 40000, 0, gzip="zlib:9", max_overhead=0)
    expect(any(LEFT in line for line in run.own_lines), run.stderr)
    check_whole(run.trace, 40000)


def test_the_lines_name_the_step_before_the_rest_is_written():
    """It takes less than a twentieth of so long a run."""
    run = late(2, 40000, 25, gzip="zlib:9", max_overhead=0)
    said = [number for number, line in enumerate(run.own_lines)
            if "step = omp region " in line or LEFT in line]
    expect(len(said) == 2 and LEFT in run.own_lines[said[1]], run.stderr)
    expect(run.own_lines[-1].endswith(", for the verdict, when that is done"), run.stderr)
    expect_equal(sum(note.startswith("step = ") for note in run.trace.meta["notes"]), 1,
                 run.trace.meta["notes"])
    expect(len(run.trace.slices(cat="user_annotation")) > 10000, "steps are drawn")


def test_the_lines_say_where_the_step_will_be():
    """There is no time to look for it, and nobody to be told when it is known."""
    run = late(2, 90000, 0)
    expect(any(LEFT in line for line in run.own_lines), run.stderr)
    is_said = any("step = " in line or "no step found" in line for line in run.own_lines)
    what = "the verdict" if is_said else "the verdict and the step"
    expect(run.own_lines[-1].endswith(f", for {what}, when that is done"), run.stderr)
    expect(any("step" in note for note in run.trace.meta["notes"]), run.trace.meta["notes"])


def test_more_than_memory_holds():
    """A file takes what the buffer can't, and is gone at the end.  Its threads wait
    asleep: two that spin at 60,000 barriers took 15 s beside eight busy programs,
    without us too."""
    run = traced("spins", 2, 60000, 0, env={
        "TRACEPROF_ENCODE": "late", "TRACEPROF_BUFFER_MB": "4", "TRACEPROF_MAX_MB": "0",
        "TRACEPROF_ON_FULL": "wait", "OMP_WAIT_POLICY": "passive"})
    check_whole(run.trace, 60000)
    expect(run.trace.meta["writer"]["spooled_bytes"] > 500000,
           run.trace.meta["writer"])


def test_what_is_left_is_not_all_that_is_said():
    """What found no room was not recorded."""
    run = traced("many_blocks", 400000, env={
        "TRACEPROF_ENCODE": "late", "TRACEPROF_BUFFER_MB": "4", "TRACEPROF_MALLOC": "all",
        "TRACEPROF_MAX_MB": "1", "TRACEPROF_MAX_PARTS": "2", "TRACEPROF_PARTS_KEEP": "last",
        "TRACEPROF_MAX_OVERHEAD": "0"})
    events = run.traces[-1].meta["events"]
    for line in run.own_lines:
        found = re.search(r"recorded (\d+) events?, ", line)
        if found:
            expect_equal(int(found[1]), events["written"] + events["cut"], events)


def test_live_leaves_nothing():
    run = traced("spins", 2, 30000, 0, env={"TRACEPROF_ENCODE": "live"})
    expect(not any(LEFT in line for line in run.own_lines), run.stderr)
    check_whole(run.trace, 30000)
    expect_equal(run.trace.meta["writer"]["late_passes"], 0, "late passes")


def test_a_hundredth_of_a_full_core_is_used():
    """A kill finds a part in the file already, though no core was ever free."""
    target = os.path.join(folder(), "out")
    process = subprocess.Popen(
        [harness.program("spins"), str(2 * os.cpu_count()), "1000000", "300"],
        env=harness.clean_environment() | {
            "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target,
            "TRACEPROF_STEP": "api", "OMP_WAIT_POLICY": "active"},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run = harness.Run([], 0, "", "", target)
    for _ in range(600):
        time.sleep(0.1)
        if run.files and run.trace.regions():
            break
    process.kill()
    process.wait()
    said = command("recover", target).stdout
    events, kept = map(int, re.search(r"(\d+) events, (\d+) of them", said).groups())
    expect(kept < events, said)
    harness.check_files(run)


def writers_of(target):
    """Processes without the program that have a file of this folder open."""
    found = []
    for path in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if os.readlink(path).startswith(target):
                found.append(int(path.split("/")[2]))
        except OSError:
            pass
    return set(found)


def test_killed_while_it_writes_the_rest():
    """`recover`, or the next run, finishes it."""
    target = os.path.join(folder(), "out")
    env = harness.clean_environment() | {
        "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target,
        "TRACEPROF_ENCODE": "late", "TRACEPROF_MAX_MB": "0",
        "TRACEPROF_BUFFER_MB": "8", "TRACEPROF_GZIP": "zlib:9"}
    done = subprocess.run([harness.program("spins"), "2", "90000", "0"], env=env,
                          capture_output=True, text=True, timeout=harness.HANGS)
    expect(LEFT in done.stderr and "traceprof recover" in done.stderr, done.stderr)
    writers = writers_of(target)
    expect(len(writers) == 1, f"who writes: {writers}", done.stderr)
    writer = writers.pop()
    os.kill(writer, signal.SIGKILL)
    while os.path.exists(f"/proc/{writer}"):
        time.sleep(0.1)
    run = harness.Run([], 0, "", done.stderr, target)
    said = command("recover", target)
    expect_equal(said.status, 0, said.stderr)
    harness.check_files(run)
    harness.expect_no_session(run)
    events = run.trace.meta["events"]
    expect_equal(events["seen"], events["written"], events)
    expect_equal(len(run.trace.regions()), 90000, "regions")
    expect(run.trace.meta["recovered"], run.trace.meta)


def test_a_file_that_is_removed_is_not_wanted():
    """Its memory goes with it: a script that cleans up after each run would fill
    /dev/shm."""
    for what in ("file", "folder"):
        target = os.path.join(folder(), "out")
        run = harness.execute(
            [harness.program("spins"), "2", "90000", "0"],
            harness.clean_environment() | {
                "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target,
                "TRACEPROF_ENCODE": "late", "TRACEPROF_GZIP": "zlib:9"},
            100, target=target)
        expect(LEFT in run.stderr, run.stderr)
        expect(harness.sessions_of(run), "nothing left to write", run.stderr)
        if what == "file":
            os.unlink(run.files[0])
        else:
            shutil.rmtree(target)
        while writers_of(target):
            time.sleep(0.1)
        harness.expect_no_session(run)


def test_the_rest_is_written_once_where_a_clone_is_a_fork():
    """Under valgrind what is between the program and who goes on has a copy of the
    program's memory: the program didn't hear that somebody goes on, and went on too."""
    run = late("-q", "--tool=none", harness.program("spins"), 2, 12000, 0,
               program="valgrind", gzip="zlib:9", exit_ms=60000)
    expect(LEFT in run.stderr, run.stderr)
    check_whole(run.trace, 12000)


def test_record_waits_for_it():
    target = os.path.join(folder(), "out")
    done = command("record", "--dir", target, "--encode", "late", "--",
                   harness.program("spins"), 2, 90000, 0, timeout=harness.HANGS)
    expect(LEFT in done.stderr, done.stderr)
    run = harness.Run([], 0, "", done.stderr, target)
    harness.check_files(run)
    harness.expect_no_session(run)
    check_whole(run.trace, 90000)


def test_record_shows_how_far_it_is():
    """On a terminal: a bar that grows and is gone in the end."""
    target = os.path.join(folder(), "out")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [harness.COMMAND, "record", "--dir", target, "--encode", "late",
         "--gzip", "zlib:9", "--", harness.program("spins"), "2", "90000", "0"],
        env=harness.clean_environment(), stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen = b""
    while piece := read_terminal(ours):
        seen += piece
    expect_equal(process.wait(), 0, seen)
    bars = re.findall(rb"\rtraceprof record: writing the trace \[(#*)(\.*)\] +(\d+) %",
                      seen)
    expect(bars, seen)
    shares = [int(share) for _, _, share in bars]
    expect_equal(shares, sorted(shares), "it goes back")
    expect(all(len(done) + len(rest) == 30 and len(done) * 100 // 30 == share
               for (done, rest, _), share in zip(bars, shares)), bars)
    expect(shares[-1] > shares[0], shares)
    expect(seen.rindex(b"\r\x1b[K") > seen.rindex(b"writing the trace"), seen)


def read_terminal(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:         # nobody has its other side
        os.close(terminal)
        return b""


def test_the_first_process_of_a_container_waits():
    """All others end with it."""
    if os.geteuid():
        raise Skip("root, for a namespace of processes")
    target = os.path.join(folder(), "out")
    done = harness.execute(
        ["unshare", "--pid", "--fork", harness.program("spins"), "2", "30000", "0"],
        harness.clean_environment() | {
            "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target,
            "TRACEPROF_ENCODE": "late", "TRACEPROF_EXIT_MS": "60000"}, 100,
        target=target)
    expect(LEFT not in done.stderr, done.stderr)
    harness.check_files(done)
    check_whole(done.trace, 30000)


def check_words(path, target):
    """Each command says that this isn't all, how much it is, and what to do."""
    ways = {"stdout": (["check"], ["report"], ["report", "--json"]),
            "stderr": (["export", "--csv", "-o", "/dev/null"],
                       ["html", "-o", "/dev/null"],
                       ["memory"], ["steps"], ["diff", path])}
    for where, commands in ways.items():
        for words in commands:
            done = command(*words, path)
            said = getattr(done, where)
            found = re.search(r"not finished: \d+ events were in it and (\d+) waited",
                              said)
            expect(found and int(found.group(1)), words, said, done.stderr)
            expect(f"traceprof recover {target}" in said, words, said)
            expect(said.count("not finished") == 1, words, said)


def test_a_file_that_lags_says_so():
    """At a checkpoint while the program runs."""
    target = os.path.join(folder(), "out")
    process = harness.ends_with_test(subprocess.Popen(
        [harness.program("spins"), "2", "100000000", "0"],
        env=harness.clean_environment() | {
            "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target,
            "TRACEPROF_ENCODE": "late"},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    run = harness.Run([], 0, "", "", target)
    waiting = 0
    for _ in range(600):
        time.sleep(0.1)
        if run.files:
            waiting = run.trace.meta.get("waiting", 0)  # none yet when it is made
        if waiting:
            break
    expect(waiting > 0, f"waiting: {waiting}")
    check_words(run.files[0], target)
    process.kill()
    process.wait()
    expect_equal(command("recover", target).status, 0, "recover")
    harness.expect_no_session(run)


harness.main()
