#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says what Perfetto's JSON importer would refuse, drop, move or mistake.

    tests/real/perfetto_rules.py FILE...

A second opinion: written from what the importer does, of any version, and
sharing nothing with `traceprof check`.  It also holds the few rules of
Catapult's page that Perfetto does not have (gzip of one member and of at least
4096 bytes).  Exit status: 0 if nothing would be lost, 1 otherwise.
"""

import collections
import decimal
import json
import re
import sys
import zlib

import traces

LEAST_BYTES = 4096              # below, Catapult's page never loads a .gz
HIGHEST = (1 << 32) - 1         # of a pid or a tid; above, it becomes 0
GPU_PIDS = range(16)
GPU_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation",
                  "cuda_sync", "cuda_event", "ac2g", "unified_memory", "gpu_throttle"}
# Counters of a device, and slices of what it was doing.
GPU_COUNTERS = ("memory pool ", "GPU state")
METADATA = {"process_name": "name", "process_labels": "labels",
            "process_sort_index": "sort_index", "thread_name": "name",
            "thread_sort_index": "sort_index"}
PHASES = set("XiCMsf")
SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


class Unreadable(Exception):
    """The importer would stop here, with all that comes after."""


def inflate(data):
    """The one gzip member; nothing may follow it."""
    if len(data) < LEAST_BYTES:
        raise Unreadable(f"{len(data)} bytes of gzip, fewer than {LEAST_BYTES}")
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        text = inflater.decompress(data) + inflater.flush()
    except zlib.error as fault:
        raise Unreadable(f"gzip: {fault}") from fault
    if not inflater.eof:
        raise Unreadable("gzip: no end of stream, or no CRC")
    if inflater.unused_data:
        raise Unreadable(f"gzip: {len(inflater.unused_data)} bytes behind the member")
    return text


def refuse_constant(text):
    raise Unreadable(f"{text} is no number")


def unique(pairs):
    """An object whose keys are all different."""
    result = dict(pairs)
    if len(result) != len(pairs):
        twice = [key for key, n in collections.Counter(
            key for key, _ in pairs).items() if n > 1]
        raise Unreadable(f"key {twice[0]!r} twice in one object")
    return result


def parse(data):
    """The top object, with each decimal as it is written."""
    if not data.lstrip(b" \t\r\n").startswith(b'{"'):
        raise Unreadable("does not begin with an object, so it is no trace")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise Unreadable(f"not UTF-8: {fault}") from fault
    found = SURROGATE.search(text)
    if found:
        raise Unreadable(f"surrogate escape {found.group()}: "
                         f"{text[max(0, found.start() - 40):found.end()]!r}")
    decoder = json.JSONDecoder(parse_float=decimal.Decimal, strict=True,
                               parse_constant=refuse_constant,
                               object_pairs_hook=unique)
    start = len(text) - len(text.lstrip())
    try:
        top, end = decoder.raw_decode(text, start)
    except ValueError as fault:
        raise Unreadable(f"JSON: {fault}") from fault
    if text[end:].strip():
        raise Unreadable(f"{len(text) - end} characters behind the last brace")
    if not isinstance(top.get("traceEvents"), list) or not top["traceEvents"]:
        raise Unreadable("no traceEvents")
    if top.get("displayTimeUnit", "ms") not in ("ms", "ns"):
        raise Unreadable("displayTimeUnit is neither ms nor ns")
    return top["traceEvents"]


def is_number(value):
    return isinstance(value, (int, decimal.Decimal)) and not isinstance(value, bool)


class Events:
    """Goes through the events as the importer does: by itself, then in order."""

    def __init__(self, report):
        self.report = report
        self.place = None
        self.slices = collections.defaultdict(list)     # by thread
        self.starts = set()     # (thread, ns)
        self.flows = []

    def fault(self, text):
        self.report.expect(False, f"event {self.place}: {text}")

    def time(self, event, key):
        """In ns, or None."""
        value = event.get(key)
        if not is_number(value):
            self.fault(f"{key} is {value!r}: skipped")
            return None
        exact = decimal.Decimal(value) * 1000
        if exact != exact.to_integral_value():
            self.fault(f"{key} {value} has more than three decimals: rounded")
        if not 0 <= exact < 1 << 63:
            self.fault(f"{key} {value} is out of range: skipped")
            return None
        return int(exact)

    @staticmethod
    def is_of_gpu(event):
        """What may stand among a device's rows."""
        if event["ph"] == "C":
            return event["name"].startswith(GPU_COUNTERS)
        return event["ph"] != "X" or event.get("cat") in GPU_CATEGORIES

    def thread(self, event):
        """The thread on which the importer puts it."""
        pid, tid = event.get("pid"), event.get("tid")
        marker = event["ph"] in "iM" or event.get("cat") == "Trace"
        for key, value in (("pid", pid), ("tid", tid)):
            if isinstance(value, str) and marker:
                continue
            if not isinstance(value, int) or isinstance(value, bool):
                self.fault(f"{key} is {value!r}")
            elif not 0 <= value <= HIGHEST:
                self.fault(f"{key} {value} becomes 0")
        if tid == 0 and pid != 0 and (event["ph"] in "Xsf"
                                      or event.get("s", "t") == "t"
                                      and event["ph"] == "i"):
            self.fault(f"tid 0 becomes {pid}")
            tid = pid
        if pid in GPU_PIDS and not self.is_of_gpu(event):
            self.fault(f"pid {pid} is that of a GPU")
        return pid, tid

    def one(self, place, event):
        self.place = place
        if not isinstance(event, dict) or event.get("ph") not in PHASES:
            self.fault(f"no event that is known: {str(event)[:80]}")
            return
        if not isinstance(event.get("name"), str):
            self.fault(f"name is {event.get('name')!r}")
        if not isinstance(event.get("args", {}), dict):
            self.fault("args are no object")
            return
        thread = self.thread(event)
        getattr(self, {"X": "slice", "i": "instant", "C": "counter",
                       "M": "metadata"}.get(event["ph"], "flow"))(event, thread)

    def slice(self, event, thread):
        start, length = self.time(event, "ts"), self.time(event, "dur")
        if not isinstance(event.get("cat"), str):
            self.fault("a slice without cat")
        if start is not None and length is not None:
            self.slices[thread].append((start, -length, self.place, event["name"]))

    def instant(self, event, _thread):
        self.time(event, "ts")
        if event.get("s", "t") not in ("g", "p", "t"):
            self.fault(f"an instant of scope {event.get('s')!r}")

    def counter(self, event, _thread):
        self.time(event, "ts")
        if not event.get("args"):
            self.fault("a counter without a value")
        for key, value in event.get("args", {}).items():
            if not is_number(value):
                self.fault(f"counter {key!r} is {value!r}")

    def metadata(self, event, _thread):
        key = METADATA.get(event["name"])
        if key is None:
            self.fault(f"metadata {event['name']!r}")
        elif key not in event.get("args", {}):
            self.fault(f"metadata {event['name']!r} without {key!r}")

    def flow(self, event, thread):
        when = self.time(event, "ts")
        if not isinstance(event.get("id"), int):
            self.fault(f"flow id is {event.get('id')!r}")
        elif when is not None:
            self.flows.append((when, event["ph"] == "f", self.place, thread,
                               (event["id"], event.get("cat"), event["name"]),
                               event.get("bp")))

    # --- what depends on other events ---------------------------------------

    def nesting(self):
        """Drops what crosses the slice that is open, as the importer does."""
        for thread, found in self.slices.items():
            found.sort()
            open_ends = []
            for start, negative, place, name in found:
                end = start - negative
                while open_ends and open_ends[-1][0] <= start:
                    open_ends.pop()
                if open_ends and end > open_ends[-1][0]:
                    self.place = place
                    self.fault(f"{name!r} on {thread} crosses the end of "
                               f"{open_ends[-1][1]!r} by {end - open_ends[-1][0]} ns")
                else:
                    open_ends.append((end, name))

    def covered(self, thread, when):
        """True if a slice of the thread is there at that time."""
        return (thread, when) in self.starts or any(
            start <= when <= start - negative
            for start, negative, _, _ in self.slices[thread])

    def arrows(self):
        self.starts = {(thread, found[0]) for thread, all_found
                       in self.slices.items() for found in all_found}
        waiting = set()
        for when, is_end, self.place, thread, key, bound in sorted(
                self.flows, key=lambda flow: flow[:3]):
            if not self.covered(thread, when):
                self.fault(f"flow {key[0]} touches no slice of {thread}")
            if not is_end:
                if key in waiting:
                    self.fault(f"flow {key[0]} begins twice")
                waiting.add(key)
            elif key not in waiting:
                self.fault(f"flow {key[0]} ends before it begins")
            elif bound != "e":
                self.fault(f"flow {key[0]} ends on the next slice, not on its own")


def check(path):
    report = traces.Report(path)
    events = Events(report)
    count = 0
    try:
        with open(path, "rb") as file:
            data = file.read()
        for place, event in enumerate(parse(
                inflate(data) if path.endswith(".gz") else data)):
            events.one(place, event)
            count += 1
        events.nesting()
        events.arrows()
    except Unreadable as fault:
        report.expect(False, str(fault))
    return report.end(f"Perfetto would keep all {count} events")


if __name__ == "__main__":
    sys.exit(traces.main(check, __doc__))
