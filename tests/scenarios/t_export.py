# SPDX-License-Identifier: MIT
"""build/traceprof export: each format holds what the trace does."""

import collections
import csv
import decimal
import gzip
import json
import os
import re
import sqlite3
import struct

import harness
from harness import Skip, command, expect, expect_equal, folder, traced

FIXTURES = os.path.join(harness.ROOT, "tests", "fixtures")
GPU = os.path.join(FIXTURES, "gpu_4242.1791057570000000000.pt.trace.json")
STREAMS = os.path.join(FIXTURES, "streams_4242.1791057570000000000.pt.trace.json")
OPENMP = os.path.join(FIXTURES, "openmp_4242.1791057570000000000.pt.trace.json")


def exported(format_, trace, name="out"):
    path = os.path.join(folder(), name)
    done = command("export", "--" + format_, trace, "-o", path)
    if "libsqlite3-dev" in done.stderr:
        raise Skip("built without SQLite: apt-get install libsqlite3-dev")
    expect_equal((done.status, done.stdout, done.stderr), (0, path + "\n", ""))
    return path


def made(events):
    path = os.path.join(folder(), "made.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)
    return path


def slice_of(name, ts, dur, tid=77, cat="cpu_op", pid=77, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
            "ts": ts, "dur": dur, "args": args}


def events_of(path):
    """With times as they are written: a double has no room for nanoseconds."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        return json.load(file, parse_float=decimal.Decimal)["traceEvents"]


def ns(us):
    return int(us * 1000)


# --- Perfetto's format, decoded by its wire format alone ---------------------

def fields(data):
    """(number, value) of a message's fields."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 == 1:
            yield tag >> 3, data[at:at + 8]
            at += 8
        else:
            expect_equal(tag & 7, 2, "wire type")
            size = varint()
            expect(at + size <= len(data), "a field is longer than its message")
            yield tag >> 3, data[at:at + size]
            at += size


def message(data):
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


class Native:
    """A trace of Perfetto's: slices as (track, name, start, end, args)."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        self.names, self.tracks = {2: {}, 1: {}, 3: {}, 29: {}}, {}
        self.slices, self.instants, self.counters = [], [], []
        self.flows = collections.Counter()
        self.open = collections.defaultdict(list)
        events = []
        for number, packet in fields(data):
            expect_equal(number, 1, "not a packet")
            packet = message(packet)
            for interned in packet[12]:
                self.intern(interned)
            for track in packet[60]:
                track = message(track)
                self.tracks[track[1][0]] = track
            for event in packet[11]:
                events.append((packet[8][0], message(event)))
        events.sort(key=lambda event: event[0])     # stable, as Perfetto's
        for when, event in events:
            self.take(when, event)
        expect(not any(self.open.values()), "slices that never end")

    def intern(self, data):
        for number, entry in fields(data):
            entry = message(entry)
            self.names[number][entry[1][0]] = entry[2][0].decode()

    def args(self, event):
        found = {}
        for annotation in event[4]:
            annotation = message(annotation)
            key = self.names[3][annotation[1][0]]
            if annotation[17]:
                found[key] = self.names[29][annotation[17][0]]
            elif annotation[5]:
                found[key] = struct.unpack("<d", annotation[5][0])[0]
            elif annotation[4]:
                value = annotation[4][0]
                found[key] = value - (1 << 64) if value >> 63 else value
            else:
                found[key] = bool(annotation[2][0])
        return found

    def take(self, when, event):
        track, kind = event[11][0], event[9][0]
        expect(track in self.tracks, "an event on a track that nobody described")
        for flow in event[47]:
            self.flows[("s", struct.unpack("<Q", flow)[0])] += 1
        for flow in event[48]:
            self.flows[("f", struct.unpack("<Q", flow)[0])] += 1
        if kind == 4:
            self.counters.append((when, struct.unpack("<d", event[44][0])[0]))
            return
        if kind == 2:
            name, start, args = self.open[track].pop()
            self.slices.append((track, name, start, when, args))
            return
        name = self.names[2][event[10][0]]
        if kind == 3:
            self.instants.append((name, when, self.args(event)))
        else:
            self.open[track].append((name, when, self.args(event)))

    def label(self, track):
        track = self.tracks[track]
        if track[4]:
            return (message(track[4][0])[5] or [b""])[0].decode()
        return track[2][0].decode()


def scalars(event):
    return {key: float(value) if isinstance(value, decimal.Decimal) else value
            for key, value in event.get("args", {}).items()
            if not isinstance(value, (list, dict))}


def hashable(args):
    return tuple(sorted((key, str(value)) for key, value in args.items()))


def expect_same(path, native):
    """What the JSON has and what the other has."""
    events = events_of(path)
    wanted = collections.Counter(
        (event["name"], ns(event["ts"]), ns(event["ts"]) + ns(event["dur"]),
         hashable(scalars(event))) for event in events if event["ph"] == "X")
    seen = collections.Counter((name, start, end, hashable(args))
                               for _, name, start, end, args in native.slices)
    expect(wanted == seen, "too many:", list(seen - wanted)[:3], "missing:",
           list(wanted - seen)[:3])
    expect_equal(collections.Counter(
        (event["name"], ns(event["ts"])) for event in events
        if event["ph"] == "i") - collections.Counter(
            (name, when) for name, when, _ in native.instants),
        collections.Counter(), "instants")
    expect_equal(sum(len(event["args"]) for event in events
                     if event["ph"] == "C"), len(native.counters), "counters")
    for kind in "sf":
        expect_equal(
            sorted(event["id"] for event in events if event["ph"] == kind),
            sorted(flow & 0xffffffffffff for (end, flow), number
                   in native.flows.items() for _ in range(number) if end == kind))


def test_perfetto_holds_what_the_trace_does():
    run = traced("train", "-e", "1", env={"OMP_NUM_THREADS": "3",
                                          "TRACEPROF_MALLOC": "all"})
    for path in (GPU, STREAMS, OPENMP, run.trace.path):
        expect_same(path, Native(exported("perfetto", path)))
    native = Native(exported("perfetto", run.trace.path, "out.gz"))
    expect_same(run.trace.path, native)


def test_perfetto_s_tracks_have_names_and_parents():
    for path in (GPU, OPENMP):
        native = Native(exported("perfetto", path))
        named = {event["args"]["name"] for event in events_of(path)
                 if event["name"] == "thread_name"}
        used = {native.label(track) for track, *_ in native.slices}
        expect(used & named, f"{used} are none of {named}")
        for uuid, track in native.tracks.items():
            expect(track[2] or track[3] or track[4], f"track {uuid} has no name")
            for parent in track[5]:
                expect(parent in native.tracks, f"track {uuid} lacks its parent")


def test_slices_that_cross_get_a_track_of_their_own():
    """Kernels of one stream may overlap; Perfetto's slices of a track may not."""
    events = [slice_of("outer", 0, 100), slice_of("crosses", 50, 100),
              slice_of("crosses both", 90, 100), slice_of("inner", 10, 20),
              slice_of("same start", 200, 10), slice_of("longer", 200, 20),
              slice_of("no length", 205, 0), slice_of("next to it", 220, 5)]
    path = made(events)
    native = Native(exported("perfetto", path))
    expect_same(path, native)
    tracks = {name: track for track, name, *_ in native.slices}
    expect_equal(len({tracks[name] for name in ("outer", "crosses", "crosses both")}), 3)
    expect_equal(len(set(tracks.values())), 3, "more tracks than are needed")


def test_arrows_without_a_slice_are_told():
    events = [slice_of("one", 0, 10), {"ph": "s", "id": 5, "pid": 77, "tid": 77,
                                       "ts": 5, "cat": "ac2g", "name": "ac2g"}]
    path = made(events)
    done = command("export", "--perfetto", path, "-o", path + ".out")
    expect_equal(done.status, 0, done.stderr)
    expect(done.stderr.startswith("traceprof export: 1 end"), done.stderr)


def test_folded_stacks():
    path = made([slice_of("in;ner", 10, 20), slice_of("outer", 0, 100),
                 slice_of("in;ner", 40, 5), slice_of("outer", 200, 1),
                 {"ph": "M", "name": "thread_name", "pid": 77, "tid": 77, "ts": 0,
                  "args": {"name": "main"}}])
    with open(exported("folded", path), encoding="utf-8") as file:
        lines = dict(line.rstrip("\n").rsplit(" ", 1) for line in file)
    expect_equal(lines, {"main;outer": "76000", "main;outer;in:ner": "25000"})


def test_all_steps_are_one_frame():
    path = made([slice_of(f"ProfilerStep#{at}", at * 100, 100) for at in range(9)] +
                [slice_of("op", at * 100, 40) for at in range(9)])
    with open(exported("folded", path), encoding="utf-8") as file:
        stacks = [line.rsplit(" ", 1) for line in file.read().splitlines()]
    expect_equal([(stack.split(";", 1)[1], int(time)) for stack, time in stacks],
                 [("ProfilerStep#*", 540000), ("ProfilerStep#*;op", 360000)])


def test_csv():
    path = made([slice_of('a "quoted", name\nof two lines', 1.5, 2.25, bytes=7)])
    for source in (path, GPU):
        with open(exported("csv", source), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        events = events_of(source)
        expect_equal(len(rows), len(events))
        for row, event in zip(rows, events):
            expect_equal((row["ph"], row["name"]), (event["ph"], event["name"]))
            expect_equal(row["start_ns"], str(ns(event["ts"])))
            expect_equal(json.loads(row["args"], parse_float=decimal.Decimal),
                         event.get("args", {}))
            if event["ph"] == "X":
                expect_equal(row["dur_ns"], str(ns(event["dur"])))


def test_database_and_the_documented_queries():
    with open(os.path.join(harness.ROOT, "docs", "export.md"), encoding="utf-8") as file:
        queries = re.findall(r"```sql\n-- (.*?)\n(.*?)```", file.read(), re.S)
    expect(len(queries) >= 7, "the queries are not found")
    run = traced("train", "-e", "1", env={"OMP_NUM_THREADS": "2"})
    answers = {}
    for path in (GPU, run.trace.path):
        database = sqlite3.connect(exported("sqlite", path))
        database.row_factory = sqlite3.Row
        for title, query in queries:
            answers.setdefault(title, []).extend(map(dict, database.execute(query)))
        expect_equal(database.execute("SELECT count(*) FROM slice").fetchone()[0],
                     sum(event["ph"] == "X" for event in events_of(path)))
        for (view,) in database.execute("SELECT name FROM sqlite_master "
                                        "WHERE type = 'view'").fetchall():
            database.execute(f"SELECT * FROM {view}").fetchall()
        database.close()
    for title, rows in answers.items():
        expect(rows, f"no rows: {title}")
    (said,) = json.loads(command("report", "--json", "--top", "0",
                                 run.trace.path).stdout)
    waits = {region["name"]: (region["calls"], region["elapsed_ns"])
             for region in said["regions"]}
    expect_equal({row["region"]: (row["calls"], row["elapsed"]) for row in
                  answers["how much of a parallel region its threads waited"]}, waits)
    kernels = answers["from a launch to its kernel: how long it waited"]
    expect_equal([(row["kernel"], row["launches"]) for row in kernels],
                 [("sgemm_128x128_nn", 2)])
    copies = answers["copies by kind (1 host to device, 2 device to host, 8 device "
                     "to device)"]
    expect_equal([(row["copyKind"], row["copies"], row["bytes"]) for row in copies],
                 [(1, 2, 8388608)])
    slowest = answers["the slowest steps"][0]
    expect_equal((slowest["number"], slowest["dur"]),
                 (said["steps"]["slowest"], said["steps"]["max_ns"]))


def test_arrays_are_args_as_they_stand():
    args = {"Input type": ["float", "", 'a"b\\c\n['], "Input Dims": [[1, 2], []],
            "none": [], "mixed": [1, None, True, "x"], "many": ["9876543210"] * 100}
    path = made([slice_of("f", 1, 2, **args | {"object": {"x": 1},
                                               "objects": [1, {"x": 1}],
                                               "large": ["x" * 70000, 1]})])
    with open(exported("csv", path), encoding="utf-8", newline="") as file:
        (line,) = csv.DictReader(file)
    expect_equal(json.loads(line["args"]), args)
    database = sqlite3.connect(exported("sqlite", path))
    expect_equal(json.loads(database.execute("SELECT args FROM slice").fetchone()[0]), args)
    database.close()


def test_events_wherever_a_piece_of_the_file_ends():
    """The reader takes 64 KiB at a time: each of these events lies across the end of a
    piece, each at another of its bytes."""
    event = slice_of("a name\nwith \"quotes\"", 12345.678, 9.5, cat="user_annotation",
                     **{"a key": "a value", "k\"2": "v\\2\u00e9", "number": -12.25e3,
                        "yes": True, "none": None, "array": [[1, 2], "b", []], "end": 7})
    text = json.dumps(event, indent=0)
    events, parts, length = 0, ['{"traceEvents": [\n'], len('{"traceEvents": [\n')
    for at in range(len(text)):
        filling = (events + 1) * (64 << 10) - at - length
        parts.append(" " * filling + text + ",\n")
        length += filling + len(text) + 2
        events += 1
    path = os.path.join(folder(), "pieces.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(parts) + text + "]}")
    with open(exported("csv", path), encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    expect_equal(len(lines), events + 1, "slices")
    for line in lines:
        expect_equal((line["name"], line["cat"], json.loads(line["args"])),
                     (event["name"], event["cat"], event["args"]), line)


def test_what_can_t_be_exported():
    path = os.path.join(folder(), "kept.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("no database\n")
    nowhere = os.path.join(FIXTURES, "none")
    for arguments, status in (((nowhere, "--csv"), 3), ((GPU,), 2),
                              ((GPU, "--csv", "--folded"), 2),
                              ((GPU, GPU, "--csv", "-o", path), 2),
                              ((nowhere, "--perfetto", "-o", path), 3),
                              ((GPU, "--sqlite", "-o", path), 3),
                              ((GPU, "--csv", "-o", "/nowhere/x.csv"), 3)):
        done = command("export", *arguments)
        expect_equal(done.status, status, f"{arguments}: {done.stderr}")
        if status == 3:
            expect_equal(done.stderr.count("\n"), 1, done.stderr)
    with open(path, encoding="utf-8") as file:
        expect_equal(file.read(), "no database\n")
    done = command("export", "--csv", GPU, "-o", "/dev/full")
    expect_equal((done.status, done.stderr.count("\n")), (3, 1), done.stderr)


if __name__ == "__main__":
    harness.main()
