# SPDX-License-Identifier: MIT
"""A large file is judged by its last part: what is said of it is true of that part."""

import gzip
import json
import re
import statistics

import harness
from harness import command, expect, expect_equal, folder, main, traced
from t_cuda import FAKE

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1}
STEPS = 1500


def recorded(**settings):
    """A run of two threads that launch, and of which the steps are found at its end."""
    env = {"LD_LIBRARY_PATH": FAKE} | {
        "TRACEPROF_" + key.upper(): str(value) for key, value in settings.items()}
    run = traced("cuda_train", STEPS, 2, env=env)
    expect_equal(len(run.trace.steps()), STEPS, run.stderr)
    return run


def verdict(path, *options):
    done = command("report", "--verdict", *options, path)
    return done.status, " ".join((done.stdout + done.stderr).split())


def times(text):
    return [float(number) * SECONDS[unit]
            for number, unit in re.findall(r"([\d.]+) (us|ms|s)\b", text)]


def share(text, part):
    found = re.search(r"([\d.]+) % " + part, text)
    return float(found[1]) if found else 0


def from_there(trace, ns):
    """The same trace without what began before: read whole, it is judged alike."""
    path = folder() + "/part.json"
    with gzip.open(trace.path) if trace.path.endswith(".gz") else open(trace.path, "rb") \
            as file:
        whole = json.load(file)
    whole["traceEvents"] = [event for event in whole["traceEvents"]
                            if event.get("ts", ns) >= ns or event.get("cat") == "Trace"]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(whole, file)
    return path


def check_part(trace, percent):
    """The steps are the last ones, and its figures theirs.  None: it has too few.  How
    many there are depends on how often the writer had a core: what it writes at once
    lies thread by thread, and all is there only from the last thread's begin on."""
    status, text = verdict(trace.path, f"--last={percent}")
    if status == 3 and text.endswith(": too few steps in that part of it"):
        return None
    expect_equal(status, 0, text)
    head = re.match(r"Verdict by the last (.*?) of (.*?): (\d+) steps.*?, "
                    "median (.*?), ", text)
    expect(head, text)
    count = int(head[3])
    steps = sorted(trace.slices("ProfilerStep#*"), key=lambda step: step["ts"])[-count:]
    span, = trace.slices("PyTorch Profiler*")
    last, whole, median = times(f"{head[1]} {head[2]} {head[4]}")
    expect(abs(whole - span["dur"] / 1e6) < 0.01 * whole, text, span["dur"])
    expect(abs(median - statistics.median(step["dur"] for step in steps) / 1e6)
           < 0.01 * median, text)
    began = steps[0]["ts"]
    ended = max(event["ts"] + event["dur"] for event in trace.slices()
                if event.get("cat") not in ("Trace", "overhead"))
    # The part begins somewhere in the step before.
    expect(abs(last - (ended - began) / 1e6) < 0.1 * last, text, (ended - began) / 1e6)
    _, alone = verdict(from_there(trace, began))
    expect(f": {count} steps" in alone and f", median {head[4]}, " in alone, text, alone)
    for part in ("host-bound", "copies", "synchronisation", "GPU busy"):
        expect(abs(share(text, part) - share(alone, part)) <= 0.5, part, text, alone)
    return count, text


def test_the_part_tells_of_its_own_steps():
    for gzipped in ("auto", "zlib:6", "off"):
        run = recorded(gzip=gzipped)
        _, whole = verdict(run.trace.path)
        expect(f"Verdict: {STEPS} steps" in whole, whole)
        told = list(filter(None, [check_part(run.trace, percent)
                                  for percent in (90, 75, 60, 45)]))
        counts = [count for count, _ in told]
        expect(counts and 20 <= min(counts) and max(counts) < STEPS
               and counts == sorted(counts, reverse=True), counts)
        expect(all("needless-sync" in text for _, text in told), told)


def test_a_part_of_steps_alone_says_nothing():
    """They are written when all else was; they had been called host code."""
    run = recorded()
    for percent in (3, 0.5):
        status, text = verdict(run.trace.path, f"--last={percent}")
        expect(status == 3 and text.endswith(": too few steps in that part of it"), text)


def test_a_slow_step_of_the_part_is_not_the_runs_first():
    """It is as any other that is slow."""
    run = recorded()
    for percent in (40, 45, 50, 55, 60):
        _, text = verdict(run.trace.path, f"--last={percent}")
        expect("first-step" not in text, text)


def test_traces_of_others_are_read_whole():
    run = recorded()
    path = folder() + "/theirs.json.gz"
    with gzip.open(run.trace.path) as ours, gzip.open(path, "wb") as theirs:
        theirs.write(ours.read())
    expect_equal(verdict(path, "--last=40"), verdict(path))


def test_what_is_no_percentage_is_refused():
    for word in ("0", "-1", "101", "half", ""):
        status, text = verdict("none", f"--last={word}")
        expect(status == 2 and "no percentage, as 10" in text, word, text)
    status, text = verdict("none", "--last=5")
    expect(status == 3, text)


def test_record_judges_the_last_part_of_a_large_trace():
    """It had said how to have the verdict, and no more."""
    done = command("record", "--gzip=off", "--dir", folder(), "--",
                   harness.program("cuda_train"), str(STEPS), "2",
                   env={"LD_LIBRARY_PATH": FAKE, "TRACEPROF_VERDICT": "1"})
    expect_equal(done.status, 0, done.stderr)
    expect("Verdict by the last " in done.stderr, done.stderr)


if __name__ == "__main__":
    main()
