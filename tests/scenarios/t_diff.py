# SPDX-License-Identifier: MIT
"""build/traceprof diff and baseline: a change is found, noise is none."""

import json
import os
import random

import harness
from harness import command, expect, expect_equal, folder, traced

OPERATORS = 6


def write(steps, name, slower=None, live=None, into=None):
    """A trace whose steps take so many us, in OPERATORS equal parts each with a
    little of its own; slower: {operator: factor}; live: heap at each step."""
    events = []
    own = random.Random(name)
    start = 1000.0
    for number, length in enumerate(steps):
        events.append({"ph": "X", "cat": "user_annotation", "pid": 1, "tid": 1,
                       "name": f"ProfilerStep#{number}", "ts": round(start, 3),
                       "dur": round(length, 3)})
        for part in range(OPERATORS):
            took = length / OPERATORS * 0.9 * own.gauss(1, 0.01)
            events.append({"ph": "X", "cat": "cpu_op", "name": f"operator {part}",
                           "pid": 1, "tid": 1,
                           "ts": round(start + part * length / OPERATORS, 3),
                           "dur": round(took * (slower or {}).get(part, 1), 3)})
        if live:
            events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event",
                           "name": "[memory]", "pid": 1, "tid": 1,
                           "ts": round(start + length / 2, 3),
                           "args": {"Device Type": 0, "Bytes": 1,
                                    "Total Allocated": live[number]}})
        start += length
    path = os.path.join(into or folder(), f"{name}.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)
    return path


def steady(seed, count=20, factor=1.0):
    numbers = random.Random(seed)
    return [10000 * factor * numbers.gauss(1, 0.01) for _ in range(count)]


def related(seed, count=40):
    """Slow steps come in rows."""
    numbers = random.Random(seed)
    state, steps = 0, []
    for _ in range(count):
        state = 0.8 * state + numbers.gauss(0, 0.01)
        steps.append(10000 * (1 + state))
    return steps


def with_outliers(seed, count=20):
    numbers = random.Random(seed)
    return [10000 * (1 + abs(numbers.gauss(0, 0.01)) + (numbers.random() < 0.1) / 2)
            for _ in range(count)]


def compare(a, b, *more):
    done = command("diff", "--json", a, b, *more)
    expect(done.stdout.startswith("{"), "no answer", done.stderr)
    return json.loads(done.stdout), done


def test_equal_runs_don_t_differ():
    """Of these pairs at most one in twenty may, and no name may in many."""
    for kind in (steady, related, with_outliers):
        steps, names = 0, 0
        for pair in range(20):
            found, _ = compare(write(kind(f"a{pair}"), f"a{kind.__name__}{pair}"),
                               write(kind(f"b{pair}"), f"b{kind.__name__}{pair}"))
            steps += found["step"]["differs"]
            names += any(name["differs"] for name in found["names"])
        expect(steps <= 1 and names <= 1,
               f"{kind.__name__}: {steps} steps, {names} names of 20 pairs")


def test_three_percent_in_twenty_steps():
    for pair in range(5):
        found, _ = compare(write(steady(f"a{pair}"), f"a{pair}"),
                           write(steady(f"b{pair}", factor=1.03), f"b{pair}"))
        step = found["step"]
        expect(step["differs"], step)
        expect(step["shift_low_ns"] < 300000 < step["shift_high_ns"], step)


def with_tail(path, us):
    """A last step that the recording's end cut, in it what follows the loop."""
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    start = max(event["ts"] + event.get("dur", 0) for event in trace["traceEvents"])
    trace["traceEvents"] += [
        {"ph": "X", "cat": "user_annotation", "pid": 1, "tid": 1, "name": "ProfilerStep#99",
         "ts": start, "dur": us, "args": {"finished": "false"}},
        {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "name": "operator 0",
         "ts": start + 1, "dur": us - 2}]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file)
    return path


def test_what_follows_the_loop_is_no_step():
    found, _ = compare(with_tail(write(steady(1, 5), "a"), 10000),
                       with_tail(write(steady(2, 5), "b"), 5000000))
    expect_equal([found[side]["steps"] for side in "ab"], [5, 5], "steps")
    expect_equal([name["name"] for name in found["names"] if name["differs"]], [], "names")


def test_the_name_that_became_slower():
    found, _ = compare(write(steady(1), "a"), write(steady(2), "b", slower={3: 1.1}))
    differ = [name["name"] for name in found["names"] if name["differs"]]
    expect_equal(differ, ["operator 3"], found["names"])


def test_rules():
    a, b = write(steady(1), "a"), write(steady(2, factor=1.06), "b", slower={2: 1.2})
    for rule, status in (("step>3%", 1), ("step>10%", 0), ("step>400us", 1),
                         ("step>2ms", 0), ("name:operator 2>20%", 1),
                         ("name:operator*>40%", 0), ("name:gemm*>5%", 3)):
        done = command("diff", a, b, "--fail-if", rule)
        expect_equal(done.status, status, f"{rule}: {done.stdout}")
        expect_equal(f"broken: {rule}: " in done.stdout, status == 1, done.stdout)
        expect_equal(command("diff", b, a, "--fail-if", rule).status,
                     3 if status == 3 else 0, f"{rule}, the other way round")
    done = command("diff", a, b, "--fail-if", "step>3%", "--fail-if",
                   "name:operator 2>20%", "--fail-if", "step>90%")
    expect_equal((done.status, done.stdout.count("broken: ")), (1, 2), done.stdout)


def test_rules_of_the_heap():
    flat = [1000000 + number % 3 for number in range(20)]
    growing = [1000000 + 4096 * number for number in range(20)]
    a, b = write(steady(1), "a", live=flat), write(steady(2), "b", live=growing)
    for rule, status in (("growth>0", 1), ("growth>8KB", 0), ("peak>50KB", 1),
                         ("peak>1MB", 0), ("peak>1%", 1)):
        expect_equal(command("diff", a, b, "--fail-if", rule).status, status, rule)
    for rule in ("growth>0", "peak>50KB"):
        expect_equal(command("diff", b, a, "--fail-if", rule).status, 0, rule)
    found, _ = compare(a, b)
    expect_equal(found["a"]["heap_growth_bytes"], 0, found["a"])
    expect(abs(found["b"]["heap_growth_bytes"] - 4096) < 1, found["b"])


def test_windows_and_ranks_are_files_of_one_run():
    """Files of a process are windows; a rank's next process is the next run."""
    side, other = folder(), folder()
    for at, name in enumerate(("host_1.100", "host_1.200", "host_2.300")):
        write(steady(at), name, into=side)
    for rank, name in ((0, "a_1.1"), (1, "b_1.1"), (0, "a_2.1"), (1, "b_2.1")):
        path = write(steady(rank), name, into=other)
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace | {"distributedInfo": {"rank": rank}}, file)
    found, _ = compare(side, other)
    expect_equal([(found[one]["files"], found[one]["runs"]) for one in "ab"],
                 [(3, 2), (4, 2)])


def test_five_runs_tell_what_one_can_t():
    one, five = folder(), [folder(), folder()]
    for side, factor in ((0, 1), (1, 1.012)):
        for run in range(5):
            write(steady(10 * side + run, factor=factor), f"host_{run}.1", into=five[side])
    found, done = compare(*five, "--fail-if", "step>0.5%")
    expect(found["step"]["differs"] and found["step"]["noise_ns"] < 100000, found["step"])
    expect_equal(done.status, 1, done.stderr)
    found, done = compare(write(steady(1), "a", into=one),
                          write(steady(2, factor=1.012), "b"), "--fail-if", "step>0.5%")
    expect(not found["step"]["differs"], found["step"])
    expect_equal((done.status, "held: step>0.5%: " in done.stderr), (0, True), done.stderr)


def test_a_run_that_found_no_processor():
    """It's said, and tells no 6 %; kept in a baseline, too."""
    a, b = write(steady(1), "a"), write(steady(2, factor=1.06), "b")
    expect(compare(a, b)[0]["step"]["differs"], "6 % isn't found")
    with open(a, encoding="utf-8") as file:
        trace = json.load(file)
    with open(a, "w", encoding="utf-8") as file:
        json.dump(trace | {"traceprof": {"scheduled": {"ran_ns": 900,
                                                       "waited_ns": 100}}}, file)
    kept = os.path.join(folder(), "baseline.json")
    command("baseline", a, "-o", kept)
    for side in (a, kept):
        expect("for 10 % of its time it found no processor" in
               command("diff", side, b).stdout, "nothing is said")
        found, _ = compare(side, b)
        expect_equal((found["a"]["without_processor"], found["step"]["differs"]),
                     (0.1, False))


def test_several_runs_that_found_no_processor():
    """Equal ones, one side's while the machine was busier: they agree with each other
    and tell nothing of the program."""
    for waited, differs in ((10, True), (600, False)):
        sides = [folder(), folder()]
        for side, factor in ((0, 1), (1, 1.06)):
            for run in range(5):
                path = write(steady(10 * side + run, factor=factor), f"host_{run}.1",
                             into=sides[side])
                with open(path, encoding="utf-8") as file:
                    trace = json.load(file)
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(trace | {"traceprof": {"scheduled": {
                        "ran_ns": 1000, "waited_ns": waited * side}}}, file)
        found, _ = compare(*sides)
        expect_equal(found["step"]["differs"], differs, found["step"])


def test_a_machine_that_others_use():
    """A neighbour on the same core makes each step longer, evenly: it's said, and 6 %
    tells nothing where others had a third of the processors; of a rank nothing is
    known, since its neighbours are its own."""
    a, b = write(steady(1), "a"), write(steady(2, factor=1.06), "b")
    with open(a, encoding="utf-8") as file:
        trace = json.load(file)
    for ranks, others, found in ((1, 320, 0.3), (1, 45, 0.025), (2, 320, 0)):
        ours = {"scheduled": {"ran_ns": 900, "waited_ns": 0, "processors_ns": 10**9,
                              "others_ns": others * 10**6}}
        more = {"distributedInfo": {"rank": 0, "world_size": ranks}}
        with open(a, "w", encoding="utf-8") as file:
            json.dump(trace | {"traceprof": ours} | more, file)
        kept = os.path.join(folder(), "baseline.json")
        command("baseline", a, "-o", kept)
        for side in (a, kept):
            said = "other programs had 30 % of the processors" in \
                command("diff", side, b).stdout
            step, _ = compare(side, b)
            expect_equal((round(step["a"]["others_processors"], 3), said,
                          step["step"]["differs"]), (found, found > 0.05, found < 0.05))


def test_rules_that_are_none():
    a = write(steady(1), "a")
    for rule in ("step", "step>", "step>x", "step>3furlongs", "speed>3%", "name:>3%",
                 "growth>5%", "peak>3ms", "step>-1%"):
        done = command("diff", a, a, "--fail-if", rule)
        expect_equal(done.status, 2, rule)
        expect(rule in done.stderr, done.stderr)


def test_names_that_come_and_go():
    a, b = write(steady(1), "a"), write(steady(2), "b")
    with open(b, encoding="utf-8") as file:
        text = file.read().replace("operator 4", "operator new")
    with open(b, "w", encoding="utf-8") as file:
        file.write(text)
    said = command("diff", a, b).stdout
    for state, name in (("gone", "operator 4"), ("new", "operator new")):
        expect(any(state in line and name in line for line in said.splitlines()), said)


def test_a_baseline_takes_the_run_s_place():
    flat = [1000000 + number % 3 for number in range(20)]
    runs = folder()
    for seed in (1, 2):
        write(steady(seed), str(seed), live=flat, into=runs)
    kept = os.path.join(folder(), "baseline.json")
    done = command("baseline", runs, "-o", kept)
    expect_equal((done.status, done.stdout), (0, ""), done.stderr)
    other = write(steady(3, factor=1.05), "b")
    whole, _ = compare(runs, other)
    small, _ = compare(kept, other)
    expect_equal(small["step"], whole["step"], "the step")
    expect_equal(small["a"] | {"path": ""}, whole["a"] | {"path": ""}, "the run")
    expect_equal([name["name"] for name in small["names"]],
                 [name["name"] for name in whole["names"]], "names")


def test_real_runs():
    """Ours, with regions, members and waits."""
    first = traced("train", env={"OMP_NUM_THREADS": "2"})
    second = traced("train", env={"OMP_NUM_THREADS": "2"})
    found, _ = compare(first.folder, second.folder)
    expect(found["a"]["steps"] > 10 and found["b"]["steps"] > 10, found["a"])
    with open("/proc/self/schedstat", encoding="ascii") as file:
        knows = int(file.read().split()[0]) > 0
    scheduled = first.trace.meta.get("scheduled", {})
    expect_equal(scheduled.get("ran_ns", 0) > 0, knows)
    if knows:
        expect(0 <= scheduled["others_ns"] <= scheduled["processors_ns"], scheduled)
    expect({"openmp members", "openmp waits"}
           <= {name["category"] for name in found["names"]}, found["names"][:5])


def test_without_steps():
    path = os.path.join(folder(), "a.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "x", "pid": 1,
                                    "tid": 1, "ts": 1, "dur": 2}]}, file)
    done = command("diff", path, path)
    expect_equal(done.status, 0, done.stderr)
    expect("Without steps" in done.stdout, done.stdout)
    done = command("diff", path, path, "--fail-if", "step>3%")
    expect_equal(done.status, 3, done.stdout)
    expect("cannot judge step>3%: a run has no steps" in done.stdout, done.stdout)


def test_what_can_not_be_read():
    empty = os.path.join(folder(), "empty")
    os.mkdir(empty)
    for path, words in ((empty, "no trace in it"), ("/nonexistent", "No such file")):
        done = command("diff", path, path)
        expect_equal((done.status, words in done.stderr), (3, True), done.stderr)
        done = command("baseline", path)
        expect_equal((done.status, words in done.stderr), (3, True), done.stderr)
    expect_equal(command("diff", "one").status, 2, "one run")
    expect_equal(command("diff", "a", "b", "c").status, 2, "three runs")


if __name__ == "__main__":
    harness.main()
