# SPDX-License-Identifier: MIT
"""What the verdict's shares are of: which thread, and how much of the recording."""

import json
import re
import sys

import harness
from harness import command, expect, expect_equal
from t_verdict import SAMPLES, judged, made, sampled, slice_, step_, threads_
from t_verdict_limits import team


def test_a_first_thread_that_does_next_to_nothing_is_not_judged():
    """Without steps and samples, where all regions are another thread's; but where
    something is recorded of the first one, too, nobody knows what else it does."""
    for own_us, all_us, judges in ((10, 9900, 701), (2000, 9900, 700), (10, 4000, 700)):
        events = threads_(700, 701) + [
            slice_("few", 0, own_us, omp="parallel", region=1, team=1, thread=0),
            slice_("all", 10, all_us, 701, omp="parallel", region=2, team=1, thread=0),
            slice_("last", 9909, 1, 701)]
        work = judged(made(events))["step"]["split_ns"]["omp_work"]
        expect_equal(work, 1000 * (all_us if judges == 701 else own_us))
        said = command("report", made(events)).stdout
        expect_equal("thread 701 (works most):" in " ".join(said.split()), judges == 701, said)


def test_an_idle_program_is_judged_by_its_first_thread():
    """memcached's: 30 ms of work in 3 s were most of a thread that looks after old
    entries, and its sleep was what to mend."""
    for work_us, judges in ((100, 700), (3000, 701)):
        events = threads_(700, 701) + [
            slice_("wait: epoll_wait", 0, 10000, cat="wait"), sampled(700, 10, 10),
            sampled(701, 0, work_us),
            slice_("wait: usleep", work_us, 10000 - work_us, 701, cat="wait")]
        said = command("report", made(events, {"cpus": 4, "options": {"SAMPLE": "499"}})).stdout
        expect_equal("thread 701 (works most):" in " ".join(said.split()), judges == 701, said)


def test_a_run_is_not_judged_by_its_end():
    """nginx's first process sleeps where nobody sees it, until it is told to end:
    4 ms of 5 s were the run, and what it sent there 87 % of it."""
    end = slice_("PyTorch Profiler (0)", 1000, 99000, "PyTorch Profiler", "Trace", "Spans")
    for start_us, is_whole in ((95000, True), (20000, False)):
        found = judged(made(threads_(700) + [
            slice_("wait: sendmsg", start_us, 4000, cat="wait"), end],
            {"options": {"SAMPLE": "499"}}))
        parts = found["step"]["split_ns"]
        expect_equal(sum(parts.values()), 1000 * (100000 - (1000 if is_whole else start_us)), parts)
        expect_equal([one["rule"] for one in found["findings"]],
                     [] if is_whole else ["exposed-comm"], found)


def test_threads_of_a_batch_are_what_their_joiner_waits_for():
    """None of them tells of the run; of one that lives through most of it its own
    time does."""
    ours = {"cpus": 4, "options": {"SAMPLE": "9999"}}
    for of_batch in ((701, 702), (703, 704)), ((701, 702), (701, 703)):
        events = threads_(700, 701, 702, 703, 704) + [sampled(700, 10000, 10)]
        for start_us, tids in zip((0, 5000), of_batch):
            events.append(slice_("wait: pthread_join", start_us, 5000))
            events += [sampled(tid, start_us + 100, 4500 - 1000 * (tid % 2))
                       for tid in tids]
        found = judged(made(events, ours))
        parts = found["step"]["split_ns"]
        lives = of_batch[1][0] == 701
        said = command("report", made(events, ours)).stdout
        expect_equal("thread 701 (works most):" in " ".join(said.split()), lives, said)
        expect_equal(parts.get("others", 0), 0 if lives else 9000000, parts)
        if not lives:
            expect_equal(parts["off_cpu"], 1000000, parts)
            expect("89.9 % waits while others work, 10.0 % off the CPU" in said, said)
            expect_equal(found["findings"], [], found)


def test_a_thread_that_sleeps_all_the_time_needs_no_sample():
    """Samples were asked for, and it ran too little to have one: it is off the CPU."""
    for asked, ran_us, part in ((499, 1000, "off_cpu"), (0, 1000, "host"),
                                (499, 6000, "host"), (499, 0, "host")):
        ours = {"cpus": 4, "options": {"SAMPLE": str(asked)},
                "scheduled": {"ran_ns": ran_us * 1000, "waited_ns": 0}}
        events = threads_(700) + [slice_("first", 0, 1), slice_("last", 9999, 1)]
        split = judged(made(events, ours))["step"]["split_ns"]
        expect_equal(split[part], 10**7, (asked, ran_us))


def test_workers_that_found_no_processor_are_said():
    """The first thread waits for them, so the kernel tells nothing of it; but what the
    program's own threads took from each other is no busy machine."""
    def said(ready_us, others, first_us=100, idle=0):
        tasks = [{"tid": 0, "ran_us": 2000, "wall_us": 10000},
                 {"tid": 700, "ran_us": first_us, "ready_us": 0, "wall_us": 10000}]
        tasks += [{"tid": 701 + at, "ran_us": 500, "ready_us": ready_us,
                   "wall_us": wall_us} for at, wall_us in enumerate([5000] * 4 +
                                                                    [10000] * idle)]
        ours = {"cpus": 2, "options": {"SAMPLE": "9999"}, "tasks": tasks,
                "scheduled": {"ran_ns": first_us * 1000, "waited_ns": 0,
                              "processors_ns": 10**9, "others_ns": others * 10**7,
                              "program_ns": 10**6}}
        return judged(made(threads_(700) + [slice_("wait: pthread_join", 0, 10000)],
                           ours))["findings"]

    # Two at a time: 40 % of their time is 40 % of the program's.
    for found, share in ((said(2000, 90), 0.4), (said(2000, 22), 0.2),
                         (said(2000, 0), 0), (said(100, 90), 0),
                         (said(2000, 90, first_us=6000), 0),
                         (said(4000, 90, idle=2), 0.6)):
        expect_equal("no-processor" in [one["rule"] for one in found], share > 0)
        if share:
            found = [one for one in found if one["rule"] == "no-processor"]
            expect(abs(found[0]["saved_ns"] / 1e7 - share) < 0.01, found)
            expect("other threads than the first one" in found[0]["figure"], found)


def test_what_the_programs_own_threads_had_is_no_busy_machine():
    """32 threads on 2 processors: the first one found none free for 90 % of the time."""
    def said(program, others, machine=2, size=0, bound=(2, 4)):
        made_ = made([event for number in range(10)
                      for event in [step_(number, number * 1000, 1000),
                                    *team(number * 1000, number + 1, *[900] * size,
                                          dur=900)]],
                     {"cpus": 2, "bound_cpus": bound[0], "bound_threads": bound[1],
                      "scheduled": {
                         "ran_ns": 10**8, "waited_ns": 9 * 10**8, "lived_ns": 10**9,
                         "processors_ns": machine * 10**9, "others_ns": others * 10**7,
                         "program_ns": program * 10**7}})
        return {one["rule"]: round(one["share"], 1) for one in judged(made_)["findings"]
                if one["rule"] in ("no-processor", "crowded")}

    expect_equal(said(program=190, others=0), {"crowded": 0.9})
    expect_equal(said(program=160, others=30), {"no-processor": 0.1, "crowded": 0.8})
    # Two threads on two processors, and two of another program.
    expect_equal(said(program=105, others=95), {"no-processor": 0.5})
    # One thread alone, and two processors of 64 that others kept busy.
    expect_equal(said(program=10, others=10), {"no-processor": 0.9})
    expect_equal(said(program=105, others=95, machine=64), {"no-processor": 0.5})
    # Bound to one of the two.
    expect_equal(said(program=98, others=2, bound=(1, 4)), {"crowded": 0.9})
    expect_equal(said(program=98, others=2, bound=(1, 1)), {"no-processor": 0.9})
    # Of a processor or so nothing is known.
    expect_equal(said(program=120, others=0), {})
    # A team tells how many threads it has.
    expect_equal(said(program=190, others=0, size=32), {})


def test_what_was_counted_before_the_steps_is_none_of_theirs():
    """`import torch` allocates a million blocks in two seconds; the training that
    follows took 20 ms, and each of its steps was said to allocate 10,000."""
    steps = [step_(number, number * 1000, 1000) for number in range(10)]

    def said(lived_ms, **settings):
        return {one["rule"] for one in judged(made(steps, {
            "cpus": 2, "heap": {"calls": 10**6, "bytes": 10**8},
            "cost": {"hooks_ns": 10**6}, "scheduled": {
                "ran_ns": lived_ms * 10**6, "waited_ns": 0,
                "lived_ns": lived_ms * 10**6}} | settings))["findings"]}

    expect_equal(said(10), {"churn", "own-cost"})
    expect_equal(said(18), {"churn", "own-cost"})
    expect_equal(said(22), {"own-cost"})
    expect_equal(said(2000), set())
    # A window's own are its own, however long the program had run.
    expect_equal(said(2000, options={"ACTIVE": "10"}, window={
        "heap_calls": 10**6, "heap_bytes": 10**8, "hooks_ns": 10**6}),
        {"churn", "own-cost"})


def test_a_window_is_a_part_of_what_the_kernel_counted():
    """It counts since the thread began; who reads of a window's "time" would take it
    for the window's."""
    steps = [step_(number, number * 1000, 1000) for number in range(10)]
    for ns, words in ((10**5, "of its time the first thread could run"),
                      (10**6, "of the run, of which this is a part, the first thread")):
        found, = judged(made(steps, {"scheduled": {
            "ran_ns": 80 * ns, "waited_ns": 20 * ns}}))["findings"]
        expect_equal(found["rule"], "no-processor")
        expect(words in found["figure"], found)


def test_a_run_that_slept_outside_of_its_window_wanted_no_processor():
    """10 ms without one in a minute were 67 % of the run in a file of 10 ms of it."""
    steps = [step_(number, number * 1000, 1000) for number in range(10)]
    for lived_ms, share in ((60000, 0), (100, 0.1), (5, 0.67)):
        findings = judged(made(steps, {"scheduled": {
            "ran_ns": 5 * 10**6, "waited_ns": 10**7, "lived_ns": lived_ms * 10**6}}))["findings"]
        expect_equal([one["rule"] for one in findings], ["no-processor"] * (share > 0))
        expect(not share or abs(findings[0]["saved_ns"] / 1e7 - share) < 0.01, findings)
        if lived_ms == 100:
            expect("for 10 % of the run, of which this is a part, the first thread"
                   in findings[0]["figure"], findings)


def test_a_file_says_how_long_its_program_had_run():
    """From its start, not from the recording's."""
    run = harness.traced(sys.executable, "-c", "import time; time.sleep(0.5)",
                         env={"TRACEPROF_SAMPLE": "499"})
    scheduled = run.trace.meta["scheduled"]
    expect(0.5e9 < scheduled["lived_ns"] < 60e9, scheduled)


def test_one_step_has_no_median():
    said = command("report", "--verdict", made([step_(0, 0, 1000)])).stdout
    expect("Verdict: 1 step, 1.000 ms:" in said, said)
    ours = {"heap": {"calls": 1, "bytes": 8, "frees": 1, "peak_bytes": 8,
                     "live_bytes": 0}, "events": {"missed_calls": 1}}
    said = command("report", made([step_(0, 0, 1000)], ours)).stdout
    expect("\n1 event, 1.000 ms" in said, said)
    expect("Heap: 1 allocation of 8 B while recorded, 1 free," in said, said)
    expect("Not recorded: 1 call that came" in said, said)


def test_who_waits_for_a_message_may_train_nothing():
    """A socket's other end may be anybody; MPI's collectives are begun earlier."""
    for name, cat, advice in (("wait: recv", "wait", "who is to send"),
                              ("MPI_Allreduce", "cpu_op", "MPI_Iallreduce"),
                              ("c10d::allreduce_", "cpu_op", "backward pass")):
        events = [step_(at, at * 1000, 1000) for at in range(10)] + [
            slice_(name, at * 1000 + 100, 400, cat=cat) for at in range(10)]
        found = judged(made(events))["findings"]
        expect_equal([one["rule"] for one in found], ["exposed-comm"], name)
        expect(advice in found[0]["next"], found)


def test_a_program_that_sleeps_after_its_last_slice_wants_no_processor():
    """nginx's first process: 4 ms without one in 3 s were "35 % of its time"."""
    end = slice_("PyTorch Profiler (0)", 0, 3000000, "PyTorch Profiler", "Trace", "Spans")
    for waited_ms, found in ((4, []), (400, ["no-processor"])):
        ours = {"options": {"SAMPLE": "499"},
                "scheduled": {"ran_ns": 8 * 10**6, "waited_ns": waited_ms * 10**6}}
        events = threads_(700) + [sampled(700, 1000, 3000), end]
        expect_equal([one["rule"] for one in judged(made(events, ours))["findings"]], found)


def test_what_waits_in_python_is_no_work():
    """As drawn by TRACEPROF_PYTHON=1."""
    events = [step_(at, at * 1000, 1000) for at in range(10)]
    for at, name in enumerate(("<built-in method acquire of _thread.lock object>",
                               "<built-in method poll of select.poll object>",
                               "<built-in function waitpid>", "train.py(3): work",
                               "<built-in method sort of list object>")):
        events.append(slice_(name, at * 1900, 1900 - 100 * at, cat="python_function"))
    said = " ".join(command("report", "--verdict", made(events)).stdout.split())
    expect("most work in all: train.py(3): work 1.600 ms, "
           "<built-in method sort of list object> 1.500 ms" in said, said)


def test_the_first_finding_has_room():
    """Names before it give way, the least of them first."""
    busy = {"scheduled": {"ran_ns": 6 * 10**6, "waited_ns": 4 * 10**6}}
    events = [step_(at, at * 1000, 1000) for at in range(10)] + [
        slice_(f"aten::{at}{60 * 'a'}", at * 300, 290) for at in range(3)]
    for columns, has_names in ((70, True), (32, False)):
        lines = command("report", "--verdict", made(events, busy),
                        env={"COLUMNS": str(columns)}).stdout.splitlines()
        expect(len(lines) <= 15, lines)
        expect(any(line.startswith("1. ") for line in lines), lines)
        expect_equal(any(line.startswith("most work") for line in lines), has_names, lines)


def test_a_finding_that_has_no_room_is_said_without_its_place():
    """However narrow the terminal: it is what the verdict is for."""
    busy = {"scheduled": {"ran_ns": 6 * 10**6, "waited_ns": 4 * 10**6}}
    name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    events = [event for at in range(10) for event in (
        step_(at, at * 1000, 1000), slice_(name, at * 1000 + 10, 900, cat="user_annotation"))]
    for columns, has_place in ((70, True), (30, False)):
        said = command("report", "--verdict", made(events, busy),
                       env={"COLUMNS": str(columns)}).stdout
        expect("\n1. " in said and "Next:" in said, columns, said)
        expect_equal("Worst:" in said.split("\n1. ")[1], has_place, said)


def test_what_the_whole_run_counted_is_not_that_of_some_steps():
    """9 ms for all of 1 s are 0.9 % of it, and of each step."""
    ours = {"cost": {"hooks_ns": 9 * 10**6}, "heap": {"calls": 10**6, "bytes": 48 * 10**6}}
    events = [slice_("PyTorch Profiler (0)", 0, 10**6, cat="Trace")] + [
        step_(at, at * 10**4, 10**4) for at in range(100)]
    whole = made(events, ours)
    for wanted in ((), ("--step", "3:4"), ("--from", "100ms", "--to", "120ms")):
        done = command("report", "--json", *wanted, whole)
        expect_equal(json.loads(done.stdout)[0]["findings"], [], str(wanted))


def test_what_is_compiled_in_the_beginning_alone_is_not_compiled_again():
    """Without steps: JAX compiles functions of its own for each shape that it meets."""
    for apart_us, wanted in ((700, []), (2000, ["compiled-again"])):
        events = threads_(700) + [slice_("first", 0, 1), slice_("last", 19999, 1)] + [
            slice_("jax.jit: compile _multi_slice, train.py(9)", 100 + number * apart_us,
                   600, 10000700, "user_annotation") for number in range(6)]
        found = judged(made(events))["findings"]
        expect_equal([one["rule"] for one in found], wanted, apart_us)


def test_steps_that_are_little_of_the_run_are_said_to_be():
    """Typical ones, less than half of a recording of 0.1 s and more."""
    ours = {"options": {"SAMPLE": "0"}}
    for outside, length, part in ((11, 1e5, "48"), (300, 1e5, "3.2"), (9, 1e5, None),
                                  (11, 4e3, None), (11, 5e3, "48")):
        events = [slice_("set-up", 0, outside * length)] + [
            step_(at, (outside + at) * length, length) for at in range(10)]
        expect_part(made(events, ours), part)
    # Most of the time in steps that are no typical ones; of others nothing is said.
    ends = (0, 1, 2, 3, 4, 5, 6, 20, 34)
    events = [step_(at, start * 1e5, (end - start) * 1e5)
              for at, (start, end) in enumerate(zip(ends, ends[1:]))]
    events.append(slice_("work", 6e5, 28e5))
    text = expect_part(made(events, ours), "18")
    expect("that is recorded" not in text, text)


def test_what_lies_between_steps_is_said():
    """A validation after each tenth step, which is none of them."""
    for pause, said in ((20e5, "; from first to last 79 % lie between them"), (0, "")):
        events, at = [slice_("set-up", 0, 12e5)], 12e5
        for number in range(20):
            events.append(step_(number, at, 0.5e5))
            at += 0.5e5
            if number % 10 == 9:
                events.append(slice_("validate", at, pause))
                at += pause
        events.append(step_(20, at, 0.5e5))
        text = " ".join(command("report", made(events, {"options": {"SAMPLE": "0"}}))
                        .stdout.split())
        expect(re.search(r"the typical steps, \d+ % of the recording" + re.escape(said) + ":",
                         text), text)


def expect_part(path, part):
    text = " ".join(command("report", path).stdout.split())
    if part:
        expect(f" the typical steps, {part} % of the recording: " in text, text)
    else:
        expect("the typical steps" not in text, text)
    expect(re.match(r"Verdict: \d+ steps, median", text), text)
    return text


def phase_(name, start_us, dur_us, pid=700):
    """On the lane beside the thread, of which it is a side lane."""
    return slice_("phase: " + name, start_us, dur_us, 10000000 + pid,
                  "user_annotation", pid)


def test_phases_of_typical_steps():
    """Cut at the steps; what a slow step, no step and another process have is out."""
    events = [step_(number, 1000 * number, 1000) for number in range(5)]
    events += [step_(5, 5000, 4000), slice_("outer", 0, 9000)]
    for number in range(6):
        events += [phase_("forward", 1000 * number + 100, 300),
                   phase_("backward", 1000 * number + 400, 500)]
    events += [phase_("optimizer", 4950, 100), phase_("forward", 9500, 300),
               phase_("data", 0, 900, 701)]
    path = made(events)
    expect_equal(judged(path)["step"]["phases_ns"],
                 {"data": 0, "forward": 1500000, "backward": 2500000,
                  "optimizer": 50000, "other": 0})
    text = command("report", path).stdout
    expect("\nby phase: 50.0 % backward, 30.0 % forward, 1.0 % optimizer\n" in text, text)


def test_phases_in_doubt_are_not_said():
    """Those that overlap are the program's own; so is what has another name."""
    for more in ([phase_("forward", 0, 900), phase_("backward", 100, 900)],
                 [phase_("two", 0, 500), slice_("phase: forward", 0, 900)]):
        path = made([step_(0, 0, 1000), slice_("outer", 0, 900)] + more)
        expect("phases_ns" not in judged(path)["step"], judged(path)["step"])
        expect("by phase" not in command("report", path).stdout)


def test_compilations_are_recorded():
    """Beside the thread, on whose lane nothing is."""
    events = [slice_("first", 0, 1), slice_("last", 1999999, 1)]
    line = slice_("jax.jit: compile f, a.py(7)", 1000, 1.2e6, 10000700, "user_annotation")
    for more, found in (([], True), ([line], False), ([line | {"name": "other"}], True)):
        said = command("report", made(events + more, {"options": {"SAMPLE": "0"}})).stdout
        expect_equal("nothing happens" in " ".join(said.split()), found, said)


def frame_(name, start_us, dur_us, tid=700):
    return slice_(name, start_us, dur_us, SAMPLES + tid, "python_function")


def by_samples(*events):
    said = command("report", "--verdict", made(threads_(700, 701, 702) + list(events))).stdout
    return " ".join(said.split()).split("most processor time")[1]


def test_samples_name_the_program_s_lines():
    """The innermost one has what it calls in packages and in native code."""
    package = "/opt/lib/python3.11/site-packages/torch/graph.py(9): run"
    expect_equal(by_samples(
        sampled(700, 0, 10000, "_start"), frame_("/home/me/train.py(7): <module>", 0, 9000),
        frame_(package, 1000, 3000), sampled(700, 2000, 1000, "dot"),
        frame_("/home/me/model.py(3): forward", 4000, 2500),
        frame_("/usr/lib/python3.11/copy.py(1): deepcopy", 4000, 500),
        frame_("<frozen importlib._bootstrap>(2): load", 5000, 100)),
        ", by samples: /home/me/train.py(7): <module> 6.500 ms, "
        "/home/me/model.py(3): forward 2.500 ms, _start 1.000 ms")
    expect_equal(by_samples(
        frame_("/home/me/train.py(7): <module>", 0, 9000), frame_(package, 1000, 7000),
        sampled(700, 2000, 1000, "dot")),
        ", by samples: /home/me/train.py(7): <module> 9.000 ms "
        "(most in torch/graph.py(9): run)")
    # A thread of a package's own.
    expect_equal(by_samples(frame_(package, 0, 9000), sampled(700, 2000, 1000, "dot"),
                            frame_("/usr/lib/python3.11/queue.py(5): get", 4000, 3000)),
                 ", by samples: torch/graph.py(9): run 6.000 ms, queue.py(5): get 3.000 ms")


def test_samples_of_native_threads_beside_python():
    """They stand for themselves, but a module's name alone says nothing."""
    expect_equal(by_samples(
        frame_("train.py(7): step", 100, 4500), sampled(701, 0, 3000, "pool"),
        sampled(701, 100, 2000, "dot"), sampled(702, 0, 3000, "[libc.so.6]")),
        ", by samples: train.py(7): step 4.500 ms, dot 2.000 ms, pool 1.000 ms")


def test_samples_of_runtimes_count_for_who_calls_them():
    """In a thread of OpenMP's own there is nobody who does."""
    innermost = {"at": "libc.so.6 0x1234:1"}
    expect_equal(by_samples(
        sampled(700, 0, 9000, "_start"), sampled(700, 0, 9000, "__libc_start_main"),
        sampled(700, 100, 8800, "main"), sampled(700, 200, 2000, "operator new"),
        sampled(700, 300, 1800, "malloc"), sampled(700, 3000, 500, "solve"),
        slice_("odd", 4000, 3000, SAMPLES + 700, "cpu_sample", **innermost),
        sampled(701, 0, 2500, "libgomp.so.1+0x1cd9a")),
        ", by samples: main 8.300 ms, [libgomp.so.1] 2.500 ms, solve 500.0 us")
    expect_equal(by_samples(
        sampled(700, 100, 3000, "solve"), sampled(700, 200, 2800, "fread")),
        ", by samples: solve 3.000 ms (most in fread)")


def test_samples_are_of_typical_steps():
    """Imports take longer, and are no step."""
    steps = [step_(at, 20000 + 1000 * at, 1000) for at in range(5)]
    expect_equal(by_samples(
        *steps, step_(5, 25000, 9000), frame_("/a/train.py(1): <module>", 0, 20000),
        frame_("/a/train.py(7): step", 20000, 2500), sampled(701, 24500, 5000, "dot")),
        " in these steps, by samples: /a/train.py(7): step 2.500 ms, dot 500.0 us")


def test_bursts_between_waits_count_by_their_processor_time():
    """400 us of work, 600 of waiting, again and again: a sample each 4 ms of work is
    drawn so long, but stands for ten bursts."""
    for cat, part in (("cpu_sample", "native"), ("python_function", "python")):
        events = threads_(700) + [slice_("first", 0, 1)]
        for number in range(40):
            events.append(slice_("wait: poll", 1000 * number + 400, 600, cat="wait"))
        for number in range(4):
            events.append(slice_("busy", 10000 * number + 5400, 4000, SAMPLES + 700, cat,
                                 samples=1, self_us=4000))
        split = judged(made(events))["step"]["split_ns"]
        expect_equal((split[part], split["off_cpu"]), (16000000, 24000000), split)
    # What lacks most is not laid before the run of samples before it.
    events[-1]["args"]["self_us"] = events[-4]["args"]["self_us"] = 40000
    split = judged(made(events))["step"]["split_ns"]
    expect_equal((split["python"], split["off_cpu"]), (16000000, 24000000), split)


def test_native_code_within_a_function_of_python_is_no_loop_of_python():
    """An operator on arrays, or a function of Cython's, is no call that Python tells."""
    for cat, wanted in (("cpu_sample", []), ("python_function", ["python"])):
        events = threads_(700)
        for number in range(10):
            events += [step_(number, 10000 * number, 10000),
                       slice_("train.py(3): half", 10000 * number + 1, 9000,
                              cat="python_function"),
                       slice_("half", 10000 * number, 10000, SAMPLES + 700, cat,
                              samples=10, self_us=10000)]
        findings = judged(made(events, {"options": {"SAMPLE": "999"}}))["findings"]
        expect_equal([found["rule"] for found in findings], wanted)
    without = judged(made([event for event in events if event["tid"] == 700]))["findings"]
    expect("TRACEPROF_SAMPLE=499 tells them apart" in without[0]["next"], without)


def test_what_no_sample_stands_for_was_off_the_processor():
    """Pauses shorter than a period are drawn over, steps long and short."""
    events = threads_(700) + [step_(number, 2000 * number, 2000) for number in range(10)]
    events.append(slice_("busy", 0, 20000, SAMPLES + 700, "cpu_sample",
                         samples=4, self_us=15000))
    step = judged(made(events))["step"]["split_ns"]
    expect_equal((step["native"], step["off_cpu"]), (15000000, 5000000), step)


if __name__ == "__main__":
    harness.main()
