# SPDX-License-Identifier: MIT
"""TRACEPROF_STEP=auto: the step is found, numbered, and used by the schedule."""

import gzip
import json
import os
import re
import subprocess
import time

import harness
import t_recover
import t_top
from harness import ROOT, Skip, command, compile_program, expect, expect_equal, same

NVTX = os.path.join(os.environ.get("CUDA", "/usr/local/cuda"), "include")


def looped(*arguments, **options):
    """Runs the program with a loop in it."""
    env = {"TRACEPROF_" + key.upper(): str(value) for key, value in options.items()}
    return same("nested_loop", *arguments, env=env)


def said(run):
    """The line that names the step: its marker, outer period or None.  Of a file
    that is written after the program's end only the file tells."""
    lines = [line for line in run.own_lines if "step = " in line]
    if not lines and "after the program's end" in run.stderr:
        lines = ["traceprof: " + note for note in run.trace.meta["notes"]
                 if note.startswith("step = ")]
    expect(len(lines) <= 1, "said twice", run.stderr)
    if not lines:
        return None, None
    found = re.fullmatch(r"traceprof: step = (.*), every \d+\.\d [mu]?s"
                         r"(?:; outer period (\d+))?(?:; or .*)?", lines[0])
    expect(found, "says what it found in another way", lines[0])
    return found.group(1), found.group(2)


def expect_begin_with(steps, slices):
    """Step k begins after slice k - 1 has ended and no later than slice k.  How
    long before is the machine's: the clock is read twice.  Slices of one lane are
    moved by nanoseconds so that they nest."""
    expect_equal(len(steps), len(slices), "steps")
    end = 0
    for step, its in zip(steps, slices):
        expect(end - 0.1 <= step["ts"] <= its["ts"] + 0.1, step, its)
        end = its["ts"] + its["dur"]


def expect_steps_of(trace, function, count):
    """Step k holds the function's region k, and ends where the next begins; an
    evaluation may lie between."""
    steps = trace.slices("ProfilerStep#*")
    regions = trace.regions(function)
    expect_equal(trace.steps(), list(range(count)), "numbers")
    expect_equal(len(regions), count, "regions")
    for step, region in zip(steps, regions):
        expect(step["ts"] <= region["ts"], step, region)
        expect(region["ts"] + region["dur"] <= step["ts"] + step["dur"] + 0.01,
               step, region)
    for step, following in zip(steps, steps[1:]):
        # As viewers add them up, in doubles.
        expect(step["ts"] + step["dur"] <= following["ts"],
               "steps cross", step, following)


def expect_period(run):
    """What is said to come every so often does: no more often than nine of ten of the
    steps, which sleep, and no more seldom than the longest one."""
    number, unit = re.search(r"every (\d+\.\d) (us|ms|s)",
                             run.stderr + str(run.trace.meta["notes"])).groups()
    period = float(number) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]
    took = sorted(step["dur"] for step in run.trace.slices("ProfilerStep#*"))
    expect(took[len(took) // 10] * 0.9 <= period <= took[-1] * 1.1, f"{number} {unit}", took)
    expect(period < 1000 or unit != "us", f"{number} {unit}")


def test_steps_back_to_the_first():
    run = looped("epochs=3", "steps=100", "layers=6", "evaluate=3")
    expect_equal(said(run)[0], 'omp region "update"', run.stderr)
    expect_steps_of(run.trace, "update", 300)


def test_a_schedule_waits_for_the_outer_loop():
    """Iterations are seen first; what comes between them may be the step."""
    run = same("time_steps", env={"TRACEPROF_WAIT": "3", "TRACEPROF_ACTIVE": "2"})
    expect("correct" not in said(run)[0], run.stderr)
    for number, trace in enumerate(run.traces[:1]):
        expect_equal(trace.steps(), [3, 4], f"numbers of file {number}")
        expect_equal(len(trace.regions("correct")), 48, "iterations")


def test_a_round_number_of_turns_is_in_doubt():
    """What comes every 10, 20 or 25 turns may be a report on steps, or the step:
    both are named, and the program's user knows."""
    run = same("time_steps", "25")
    expect_equal(said(run), (None, None), run.stderr)
    expect("TRACEPROF_STEP=omp:correct (1000 steps) or TRACEPROF_STEP=omp:source (40 "
           "steps)" in run.stderr + str(run.trace.meta["notes"]), run.stderr)


def test_a_run_shorter_than_the_search():
    run = looped("epochs=1", "steps=12", "layers=4")
    expect_equal(said(run)[0], 'omp region "update"', run.stderr)
    expect_steps_of(run.trace, "update", 12)


def test_the_tail_is_no_step():
    """What follows the loop is in no step, nor what came before it."""
    run = looped("epochs=1", "steps=30", "layers=2", "ms=5", "evaluate=10")
    expect_equal(said(run)[0], 'omp region "update"', run.stderr)
    expect_steps_of(run.trace, "update", 30)
    last = run.trace.slices("ProfilerStep#29")[0]
    end = last["ts"] + last["dur"]
    expect(end <= run.trace.regions("accuracy")[0]["ts"], "swallows the tail", last)


def test_outer_period():
    run = looped("epochs=40", "steps=8", "layers=3", "evaluate=1", "ms=4")
    marker, outer = said(run)
    expect_equal(marker, 'omp region "update"', run.stderr)
    expect_equal(outer, "8", run.stderr)
    expect_steps_of(run.trace, "update", 320)


def test_the_other_level_is_set_as_it_is_said():
    """A setting means each region of its name: one function's are several."""
    for mode, turns, setting in (("inner", 120, "omp:sweep/3"), ("all", 133, None),
                                 ("one", 133, "")):
        run = same("same_names", mode)
        expect_equal(run.trace.steps(), list(range(30)), run.stderr)
        line, = [line for line in run.own_lines if "step = " in line]
        if setting:
            expect(line.endswith(f"; or {turns} of TRACEPROF_STEP={setting}"), line)
            again = same("same_names", mode, env={"TRACEPROF_STEP": setting})
            expect_equal(again.trace.steps(), list(range(turns)), setting)
        elif setting is not None:   # a trace has one name for them all
            expect("; or" not in line, line)
        else:
            expect(line.endswith(f"; or {turns} by `traceprof steps`"), line)
            shown = command("steps", run.trace.path).stdout
            expect(f" {turns} x run_all " in shown, shown)


def test_a_marker_whose_name_has_no_room():
    """As C++ templates' have none."""
    name = "begin_" + 40 * "long"
    run = same(compile_program("short_regions.c", "-fopenmp", f"-Dbegin_turn={name}",
                               "-lm"), 3000, 8, 1)
    expect_equal(said(run)[0], f'omp region "{name[:111]}..."', run.stderr)


def test_warm_up_and_irregular_regions():
    run = looped("epochs=1", "steps=60", "layers=3", "warm=40", "odd=7", "ms=20")
    expect_equal(said(run)[0], 'omp region "update"', run.stderr)
    expect_period(run)
    expect_steps_of(run.trace, "update", 60)


def test_without_a_period():
    run = looped("epochs=0", "warm=300")
    expect_equal(said(run)[0], None, run.stderr)
    expect_equal(run.trace.steps(), [], "steps")


def expect_windows(run, wanted):
    """Each window holds its steps, under their own numbers, and their regions."""
    expect_equal([trace.steps() for trace in run.traces], wanted, "steps")
    for trace, steps in zip(run.traces, wanted):
        expect_equal(len(trace.regions("update")), len(steps), "updates")
        expect_equal(trace.meta["step"]["first"], steps[0], "first")
        expect_equal(trace.meta["step"]["last"], steps[-1], "last")
        expect_equal(trace.meta["step"]["drawn"], len(steps), "drawn")
        expect("passed" not in trace.meta["step"], trace.meta["step"])


def test_windows_lie_in_the_past():
    """However late the step is known, WAIT=1 means the second step."""
    run = looped("epochs=1", "steps=60", "layers=2", "ms=20",
                 wait=1, warmup=1, active=3, repeat=2)
    expect_windows(run, [[2, 3, 4], [7, 8, 9]])


def test_steps_of_no_time():
    run = looped("epochs=1", "steps=40", "layers=2",
                 wait=3, active=2, repeat=3)
    expect_windows(run, [[3, 4], [8, 9], [13, 14]])


def test_more_windows_than_the_table_holds():
    """All of them are cut, be the run over when the first is; but those that the
    thread opened itself may have found no place, and are counted."""
    run = looped("epochs=1", "steps=1000", "layers=2", wait=3, active=2)
    files = [trace.steps() for trace in run.traces]
    missed = run.traces[-1].meta["step"]["missed_windows"]
    expect_equal(len(files) + missed, 200, "windows")
    for steps in files:
        expect_equal((steps[0] % 5, steps[-1] - steps[0]), (3, 1), steps)


def test_many_windows_and_then_live_ones():
    """The writer cuts the first ones, and the thread opens the others."""
    run = looped("epochs=1", "steps=900", "layers=2", "ms=1",
                 wait=40, active=2, repeat=20)
    expect_windows(run, [[first, first + 1] for first in range(40, 880, 42)])


def test_windows_without_a_pause():
    run = looped("epochs=1", "steps=300", "layers=2", "ms=1",
                 wait=1, active=3, repeat=40)
    expect_windows(run, [[first, first + 1, first + 2]
                         for first in range(1, 160, 4)])


def test_a_window_to_the_end():
    run = looped("epochs=1", "steps=200", "layers=2", "ms=2", wait=3)
    numbers = run.trace.steps()
    expect_equal(numbers[:197], list(range(3, 200)), "steps")
    expect_equal(len(run.trace.regions("update")), 197, "updates")


def test_a_validation_before_the_training():
    """Its passes are a perfect loop, until the training begins."""
    run = looped("first=40", "epochs=1", "steps=40", "layers=4", "ms=2",
                 wait=1, active=3, repeat=1)
    expect_equal(said(run)[0], 'omp region "update"', run.stderr)
    expect_windows(run, [[1, 2, 3]])


def test_a_long_validation_before_the_training():
    """Seen alone, and for longer than a step that is one needs to be certain."""
    run = looped("first=400", "pause=500", "epochs=1", "steps=100", "layers=4", "ms=2",
                 wait=1, active=3, repeat=1)
    expect_equal(said(run)[0], 'omp region "update"', run.stderr)
    expect_windows(run, [[1, 2, 3]])


def test_no_window_is_there_yet():
    """The buffer is half full of a validation; its loop is given up for another."""
    run = looped("first=1500", "pause=500", "epochs=1", "steps=4000", "layers=4",
                 wait=3000, active=2, repeat=1, buffer_mb=4, on_full="wait")
    expect_equal(said(run)[0], 'omp region "update"', run.stderr)
    expect_windows(run, [[3000, 3001]])


def test_schedule_longer_than_the_run():
    run = looped("epochs=1", "steps=20", "layers=2", wait=100, active=3)
    expect_equal(len(run.traces), 0, "traces")
    expect(any("the run had 20 steps, the schedule needs 103: nothing was recorded"
               in line for line in run.own_lines), run.stderr)


def test_a_buffer_that_is_too_small():
    """What no longer fits is past: the numbers stay true, and it is said."""
    run = looped("epochs=1", "warm=40000", "steps=300", "layers=2", "ms=0",
                 wait=2, active=2, repeat=1, buffer_mb=4)
    expect(said(run)[0] in ('omp region "update"', None), run.stderr)
    for trace in run.traces:
        steps = trace.slices("ProfilerStep#*")
        for step, region in zip(steps, trace.regions("update")):
            expect(step["ts"] <= region["ts"] <= step["ts"] + step["dur"], step)


def test_a_setting_from_a_file():
    """`traceprof steps -o` writes any level, TRACEPROF_STEP=@FILE takes it over."""
    arguments = ("epochs=5", "steps=12", "layers=3", "evaluate=2")
    run = looped(*arguments)
    path = os.path.join(harness.folder(), "loop.step")
    shown = command("steps", "-o", path, run.trace.path)
    expect_equal(shown.status, 0, shown.stderr)
    expect("step: 60 x update" in shown.stdout, shown.stdout)
    levels = re.findall(r"^ *(\d+) .*?(\d+) x (\S+)", shown.stdout, re.M)
    expect(any("told by the" in line for line in shown.stdout.splitlines()),
           "no level that its context tells", shown.stdout)
    for number, turns, function in levels:
        command("steps", "-l", number, "-o", path, run.trace.path)
        again = looped(*arguments, step="@" + path)
        expect_equal(said(again)[0], f'omp region "{function}"', again.stderr)
        expect_equal(len(again.trace.steps()), int(turns), shown.stdout)
    command("steps", "-o", path, run.trace.path)
    window = looped(*arguments, step="@" + path, wait=3, active=2, repeat=1)
    expect_windows(window, [[3, 4]])


def test_the_loops_of_each_trace_of_a_folder():
    run = looped("epochs=2", "steps=30", "layers=2")
    path, where = run.trace.path, os.path.dirname(run.trace.path)
    alone = command("steps", path)
    expect("step: 60 x update" in alone.stdout, alone.stdout)
    expect_equal(command("steps", where).stdout, alone.stdout, "a folder of one")
    two = command("steps", where, path)
    expect_equal(two.stdout, f"{path}\n{alone.stdout}\n{path}\n{alone.stdout}", "two")
    expect_equal(two.status, 0, two.stderr)
    for option in (("-l", "1"), ("-o", os.path.join(harness.folder(), "no.step"))):
        refused = command("steps", *option, where, path)
        expect_equal((refused.status, refused.stdout), (2, ""), refused.stderr)
        expect("take one trace, there are 2" in refused.stderr, refused.stderr)
    some = command("steps", path + ".none", path)
    expect_equal(some.status, 3, some.stderr)
    expect("step: 60 x update" in some.stdout, some.stdout)


def test_loops_of_a_part_are_said_to_be():
    run = looped("epochs=2", "steps=30", "layers=2")
    with gzip.open(run.trace.path, "rt") as file:
        trace = json.load(file)
    expect("detail ended" not in command("steps", run.trace.path).stdout)
    trace["traceprof"]["detail_ended"] = max(
        event["ts"] for event in trace["traceEvents"] if event["ph"] == "X")
    path = os.path.join(harness.folder(), "cut_1.1.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file)
    done = command("steps", path)
    expect_equal(done.status, 0, done.stderr)
    expect("step: 60 x update" in done.stdout, done.stdout)
    expect("the file's detail ended before the run" in done.stdout, done.stdout)


def test_no_loops_of_regions_that_were_thinned():
    """What is drawn of them comes in an order that the program doesn't have."""
    run = looped("epochs=2", "steps=30", "layers=2")
    with gzip.open(run.trace.path, "rt") as file:
        trace = json.load(file)
    trace["traceprof"]["notes"] = []
    trace["traceprof"]["sampled"] = [{
        "name": "update [omp parallel #1]", "omp": "parallel", "sampled": "1/2",
        "seen": 120, "drawn": 60, "thinned": 60}]
    path = os.path.join(harness.folder(), "thinned_1.1.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file)
    done = command("steps", path)
    expect_equal(done.status, 1, done.stdout)
    expect(done.stdout.startswith("60 regions were thinned: ") and
           "regions of" not in done.stdout, done.stdout)


def test_a_level_of_ranges_from_a_file():
    """Numbers in a range's name don't count."""
    run = looped("epochs=1", "steps=30", "layers=2", "range")
    path = os.path.join(harness.folder(), "range.step")
    shown = command("steps", run.trace.path)
    number = re.search(r"ranges of .*\n *(\d+) +(?:step: )?30 x train_step", shown.stdout)
    expect(number, "no level of ranges", shown.stdout)
    command("steps", "-l", number.group(1), "-o", path, run.trace.path)
    again = looped("epochs=1", "steps=30", "layers=2", "range", step="@" + path)
    expect_equal(said(again)[0], 'range "train_step 0"', again.stderr)
    expect_equal(again.trace.steps(), list(range(30)), "steps")


def test_levels_of_a_run_without_a_step():
    none = looped("epochs=0", "warm=300")
    shown = command("steps", none.trace.path)
    expect_equal(shown.status, 1, shown.stdout)
    expect("no step" in shown.stdout, shown.stdout)
    most = re.search(r"what comes most is (\d+) x .*TRACEPROF_STEP=(\S+)", shown.stdout)
    expect(most, "nothing is named", shown.stdout)
    again = looped("epochs=0", "warm=300", step=most.group(2))
    expect_equal(len(again.trace.steps()), int(most.group(1)), "steps")


def test_schedule_without_a_period_records_the_whole_run():
    run = looped("epochs=0", "warm=300", wait=2, active=1)
    expect_equal(said(run)[0], None, run.stderr)
    expect(any("no step found: the run is recorded whole" in line
               for line in run.own_lines), run.stderr)
    expect_equal(run.trace.meta["step"]["missed_windows"], 1, "missed windows")
    whole = looped("epochs=0", "warm=300")
    expect_equal(len(run.trace.regions()), len(whole.trace.regions()), "regions")
    expect_equal(run.trace.steps(), [], "steps")


def test_a_run_without_a_region_is_not_told_to_name_one():
    """Of the heap alone: a time is what such a run can be cut by."""
    run = harness.traced("heap_calls", "malloc", 1000, 64, env={
        "TRACEPROF_MALLOC": "all", "TRACEPROF_WAIT": "2", "TRACEPROF_ACTIVE": "1"})
    line, = [line for line in run.own_lines if "no step found" in line]
    expect("omp:" not in line and "TRACEPROF_STEP=time:500" in line, line)


def named(run):
    """The settings that the words of "no step" name: each with its steps."""
    lines = [line for line in run.own_lines if "no step found" in line]
    expect_equal(len(lines), 1, run.stderr)
    found = re.findall(r"TRACEPROF_STEP=(.+?) \((\d+) steps\)", lines[0])
    expect(1 <= len(found) <= 2, "settings named", lines[0])
    return [(setting, int(count)) for setting, count in found]


def test_the_settings_that_no_step_names():
    """Each of them finds as many steps as was said."""
    for schedule in ({}, {"wait": 2, "active": 1}):
        for setting, count in named(looped("epochs=0", "warm=300", **schedule)):
            again = looped("epochs=0", "warm=300", step=setting)
            expect_equal(again.trace.steps(), list(range(count)), setting)
            expect(not any("no step" in line for line in again.own_lines), again.stderr)


def test_few_regions_and_no_word():
    """Nobody asked for steps, and there is nothing to tell them from; but a region that
    comes 20 times may be one's."""
    for warm in (0, 1):
        run = looped("epochs=0", f"warm={warm}")
        expect(not any("step" in line for line in run.own_lines), run.stderr)
    run = looped("epochs=0", "warm=20")
    expect(any("no step found; TRACEPROF_STEP=omp:" in line for line in run.own_lines), run.stderr)


def test_an_own_call_wins():
    run = looped("epochs=2", "steps=30", "layers=4", "call")
    expect_equal(said(run)[0], None, run.stderr)
    expect_equal(run.trace.steps(), list(range(60)), "steps")
    calls = looped("epochs=2", "steps=30", "layers=4", "call",
                   wait=3, warmup=1, active=3, repeat=2)
    expect_equal([trace.steps() for trace in calls.traces],
                 [[4, 5, 6], [11, 12, 13]], "steps")


def test_a_range_called_like_a_step_wins():
    run = looped("epochs=2", "steps=50", "layers=4", "range", "ms=10")
    expect_equal(said(run)[0], 'range "train_step 0"', run.stderr)
    ranges = run.trace.slices("train_step*")
    expect_equal(run.trace.steps(), list(range(100)), "steps")
    expect_begin_with(run.trace.slices("ProfilerStep#*"), ranges)


def test_the_thread_with_the_loop():
    """A second thread runs few regions, irregularly."""
    run = looped("epochs=1", "steps=120", "layers=4", "aside", "ms=12")
    expect_equal(said(run)[0], 'omp region "update"', run.stderr)
    trace = run.trace
    own = {region["tid"] for region in trace.regions("update")}
    expect_equal(len(own), 1, "threads")
    expect_equal(trace.steps(), list(range(120)), "steps")


def test_an_own_call_that_comes_late():
    """From the first one on it alone begins steps."""
    run = looped("epochs=1", "steps=300", "layers=4", "late=200", "ms=2")
    expect_equal(said(run)[0], None, run.stderr)
    expect_equal(run.trace.steps(), list(range(100)), "steps")
    steps = run.trace.slices("ProfilerStep#*")
    for step, region in zip(steps, run.trace.regions("forward")[200 * 4::4]):
        expect(step["ts"] <= region["ts"] < step["ts"] + step["dur"], step, region)


def written(target):
    return sorted(name for name in os.listdir(target) if name.endswith(".gz")) \
        if os.path.isdir(target) else []


def test_an_own_call_after_windows_of_the_search():
    """It begins the steps from then on, and that is said with their numbers; what
    was seen is told truly by each file, those that the writer cut, too."""
    target = os.path.join(harness.folder(), "out")
    process = subprocess.Popen(
        [harness.program("nested_loop"), "epochs=1", "steps=6200", "layers=2",
         "late=5000", "held"], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=harness.clean_environment() | {
            "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target,
            "TRACEPROF_WAIT": "1000", "TRACEPROF_ACTIVE": "2"})
    process.stdout.readline()
    try:
        t_top.wait_for(lambda: len(written(target)) >= 4)
    finally:
        words = process.communicate("\n", timeout=harness.HANGS)[1]
    expect_equal(process.returncode, 0, words)
    traces = [harness.Trace(os.path.join(target, name))
              for name in sorted(written(target), key=lambda name: name.split(".")[1])]
    for trace in traces:
        step = trace.meta["step"]
        expect_equal(trace.steps(), [step["first"], step["last"]], "numbers")
        expect(step["last"] < step["seen"] <= 6200, "seen", step)
    own = traces[4:]
    expect_equal([trace.steps() for trace in traces[:4]],
                 [[first, first + 1] for first in (1000, 2002, 3004, 4006)],
                 "of the search")
    expect("from then on it begins the steps" in words, words)
    # Whether the thread counted already when the writer knew the step.
    expect_equal([trace.steps() for trace in own],
                 [[1000, 1001]] if "from 0 again" in words
                 else [[5008, 5009], [6010, 6011]], words)
    expect("traceprof_step() was called" in str(own[0].meta["notes"]), own[0].meta)


def test_clang():
    loop = compile_program("nested_loop.c", "-fopenmp", "-pthread", compiler="clang")
    run = same(loop, "epochs=1", "steps=150", "layers=3", "ms=10")
    expect_equal(said(run)[0], 'omp region "update"', run.stderr)
    expect_steps_of(run.trace, "update", 150)


def test_nvtx():
    if not os.path.exists(os.path.join(NVTX, "nvtx3", "nvToolsExt.h")):
        raise Skip("no headers of NVTX on this machine")
    calls = compile_program("nvtx/calls.c", "-isystem", NVTX, "-I", ROOT,
                            "-pthread", "-ldl", name="calls")
    run = same(calls, "steps", 8)
    expect_equal(said(run)[0], 'range "batch"', run.stderr)
    expect_equal(run.trace.steps(), list(range(24)), "steps")


def killed(*arguments, wait=1.0, **options):
    """The traces that `recover` makes of a run that was killed while it waited."""
    target = os.path.join(harness.folder(), "out")
    process = subprocess.Popen(
        [harness.program("nested_loop"), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=harness.clean_environment() | {
            "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target,
            "TRACEPROF_MAX_OVERHEAD": "0"}
        | {"TRACEPROF_" + key.upper(): str(value) for key, value in options.items()})
    process.stdout.readline()
    time.sleep(wait)
    process.kill()
    process.wait()
    process.stdout.close()
    if not t_recover.sessions(target):
        raise Skip("no shared memory that outlives a process")
    done = command("recover", target)
    expect_equal(done.status, 0, done.stderr)
    paths = sorted(os.listdir(target), key=lambda name: int(name.split(".")[1]))
    expect(paths, "no trace", done.stdout)
    return [harness.Trace(os.path.join(target, path)) for path in paths]


def test_killed_while_it_searches():
    """With a schedule no file is there yet; all of it is in the session."""
    trace, = killed("epochs=0", "warm=100000", "ms=5", wait=1, WAIT=5)
    expect(len(trace.regions()) > 20, "regions", len(trace.regions()))
    expect_equal(trace.steps(), [], "steps")


def test_a_killed_run_has_its_steps():
    """As if it had ended: the writer's marks are in the session, too."""
    trace, = killed("epochs=1", "steps=200", "layers=3", "still=100000")
    expect_steps_of(trace, "update", 200)


def test_a_killed_run_has_its_steps_encoded_live():
    trace, = killed("epochs=1", "steps=200", "layers=3", "ms=5", "still=100000",
                    wait=3, encode="live")
    expect_steps_of(trace, "update", 200)


def test_a_killed_run_has_its_windows():
    traces = killed("epochs=1", "steps=200", "layers=3", "still=100000",
                    WAIT=3, ACTIVE=2, REPEAT=2)
    expect_equal([trace.steps() for trace in traces], [[3, 4], [8, 9]], "steps")
    for trace in traces:
        expect_equal(len(trace.regions("update")), 2, "updates")


def test_a_killed_run_whose_step_was_known():
    """Its windows go on where the writer stood, the last one to the last step."""
    traces = killed("epochs=1", "steps=1572", "layers=2", "still=100000",
                    WAIT=100, ACTIVE=5)
    wanted = [list(range(first, min(first + 5, 1572))) for first in range(100, 1572, 105)]
    expect_equal([trace.steps() for trace in traces], wanted, "steps")
    for trace, steps in zip(traces, wanted):
        expect_equal(len(trace.regions("update")), len(steps), "updates")


def test_divisor():
    run = looped("epochs=1", "steps=60", "layers=2", "ms=20", step="auto/5")
    expect_equal(run.trace.steps(), list(range(12)), "steps")


if __name__ == "__main__":
    harness.main()
