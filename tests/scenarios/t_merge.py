# SPDX-License-Identifier: MIT
"""Several traces as one: every event once, and nothing that is one by chance."""

import collections
import gzip
import json
import os

import harness
from harness import command, expect, expect_equal, folder, traced


def events_of(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def slices(trace):
    """What is in it, by all that merging leaves alone."""
    return collections.Counter(
        (event["name"], event["ts"], event["dur"], event.get("cat"), event["tid"])
        for event in trace["traceEvents"] if event.get("ph") == "X")


def merged(*paths):
    output = os.path.join(folder(), "job.1.pt.trace.json.gz")
    done = command("merge", *paths, "-o", output)
    expect_equal(done.status, 0, done.stderr)
    return output


def test_ranks_of_a_job():
    paths = [traced("spins", 2, 300, 0, env={"RANK": str(rank), "WORLD_SIZE": "2"})
             .files[0] for rank in range(2)]
    parts = [events_of(path) for path in paths]
    output = merged(*paths)
    checked = command("check", output)
    expect_equal(checked.status, 0, checked.stdout)
    job = events_of(output)
    expect_equal(slices(job), slices(parts[0]) + slices(parts[1]), "slices")
    labels = {event["pid"]: event["args"]["labels"] for event in job["traceEvents"]
              if event["name"] == "process_labels"}
    expect_equal([label.split(",")[0] for label in labels.values()],
                 ["rank 0", "rank 1"])
    expect_equal([part["traceprof"]["events"] for part in job["merged"]],
                 [part["traceprof"]["events"] for part in parts], "what lies around")


def test_a_job_lasts_from_the_first_ranks_start_to_the_last_ones_end():
    """One rank after the other, here."""
    paths = [traced("spins", 2, 300, 0, env={"RANK": str(rank), "WORLD_SIZE": "2",
                                             "TRACEPROF_MALLOC": "all"})
             .files[0] for rank in range(2)]
    output = merged(*paths)
    spans = [event for event in events_of(output)["traceEvents"]
             if event.get("cat") == "Trace"]
    expect_equal(len(spans), 2, "spans")
    lasted_us = (max(span["ts"] + span["dur"] for span in spans) -
                 min(span["ts"] for span in spans))
    for what, key in (("report", "wall_ns"), ("memory", "run_ns")):
        said = json.loads(command(what, "--json", output).stdout)
        said = said[0] if isinstance(said, list) else said
        expect(abs(said[key] / 1000 - lasted_us) < 1, what, said[key], lasted_us)


def test_the_traces_of_a_folder():
    both, empty = folder(), folder()
    for name in ("one", "two"):
        os.rename(made(name, 0, slice_(1)), os.path.join(both, f"{name}.1.pt.trace.json"))
    job = events_of(merged(both))["traceEvents"]
    expect_equal([event["ts"] for event in job if event["ph"] == "X"], [1, 1])
    done = command("merge", empty, "-o", os.path.join(both, "job.json.gz"))
    expect_equal((done.status, done.stderr), (3, f"traceprof merge: {empty}: no trace in it\n"))


def made(name, base, *events):
    path = os.path.join(folder(), f"{name}.1.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "baseTimeNanoseconds": base,
                   "distributedInfo": {"rank": 0}, "deviceProperties": [],
                   "traceEvents": list(events)}, file)
    return path


def arrow(phase, ts):
    return {"ph": phase, "id": 7, "cat": "ac2g", "name": "ac2g", "pid": 5, "tid": 5,
            "ts": ts, **({"bp": "e"} if phase == "f" else {})}


def slice_(ts, pid=5):
    return {"ph": "X", "cat": "cpu_op", "name": "f", "pid": pid, "tid": 5, "ts": ts,
            "dur": 9, "args": {"id": 7, "pid": 5, "ts": 1}}


def test_what_is_one_by_chance():
    """The same pid on two machines, the same numbers of arrows, another base."""
    one = made("one", 1000000, slice_(10.5), arrow("s", 11), arrow("f", 12))
    two = made("two", 1500250, slice_(10.5), arrow("s", 11), arrow("f", 12),
               slice_(30, "Spans"))
    job = events_of(merged(one, two))["traceEvents"]
    first, second, _ = [event for event in job if event["ph"] == "X"]
    expect_equal((first["pid"], first["ts"]), (5, 10.5))
    expect(second["pid"] != 5, second)
    expect_equal(second["ts"], 510.75, "the base of the first file")
    expect_equal(second["args"], first["args"], "args are left alone")
    ids = [event["id"] for event in job if event["ph"] in "sf"]
    expect_equal((ids[0], ids[2]), (ids[1], ids[3]))
    expect(ids[0] != ids[2], ids)
    third = events_of(merged(one, one, one))["traceEvents"]
    expect_equal(len({event["pid"] for event in third}), 3, "pids")


def test_what_cannot_be_merged():
    good = made("good", 1, slice_(1))
    output = os.path.join(folder(), "out.1.pt.trace.json.gz")
    bad = os.path.join(folder(), "bad.json")
    with open(bad, "w", encoding="utf-8") as file:
        file.write('{"traceEvents":[{"ph":')
    for path in (bad, os.path.join(folder(), "none")):
        done = command("merge", good, path, "-o", output)
        expect_equal(done.status, 3, path)
        expect_equal(len(done.stderr.splitlines()), 1, done.stderr)
        expect(path in done.stderr and not os.path.exists(output), done.stderr)
    done = command("merge", good, "-o", good)
    expect_equal(done.status, 2)
    expect("is an input, too" in done.stderr, done.stderr)
    expect_equal(len(os.listdir(os.path.dirname(good))), 1, "left a file")
    expect("FILE" in command("merge").stderr, "no file")


if __name__ == "__main__":
    harness.main()
