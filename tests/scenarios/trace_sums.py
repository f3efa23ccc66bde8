# SPDX-License-Identifier: MIT
"""A trace's totals, computed from the file by gzip and json alone, to compare the
command's with.  Times are integers of nanoseconds."""

import collections
import copy
import decimal
import gzip
import json
import math

WORK = ("kernel", "gpu_memcpy", "gpu_memset")
# What is no content of the program, or a twin of what is: no self time.
BESIDE = ("Trace", "overhead", "gpu_user_annotation", "cuda_sync", "cuda_event",
          "gpu_throttle", "unified_memory")


class Slice:
    def __init__(self, event, category=None, start=None, dur=None):
        self.name = event["name"]
        self.category = category or event["cat"]
        self.lane = (str(event["pid"]), str(event["tid"]))
        self.start = ns(event["ts"]) if start is None else start
        self.dur = ns(event["dur"]) if dur is None else dur
        self.end = self.start + self.dur
        self.args = event.get("args", {})
        self.inside = 0             # what lies directly in it
        self.parent = None
        self.gpu = 0                # of the work that was launched in it
        self.device = self.args.get("device", self.args.get("inDevice"))
        self.stream = self.args.get("stream")

    def alone(self):
        """The same, before it is known what lies in it."""
        other = copy.copy(self)
        other.inside, other.parent, other.gpu = 0, None, 0
        return other

    @property
    def is_work(self):
        return self.category in WORK

    @property
    def is_step(self):
        return self.name.startswith("ProfilerStep#")


def ns(us):
    return int(us * 1000)


def load(path):
    """As it is written: a double has no room for nanoseconds."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file, parse_float=decimal.Decimal)


def category_of(event):
    part = event.get("args", {}).get("omp")
    return {"task": "openmp members", "wait": "openmp waits"}.get(part, event["cat"])


class Sums:
    """One file's slices, each with what encloses it."""

    def __init__(self, path):
        self.top = load(path)
        self.events = self.top["traceEvents"]
        found = []
        for event in self.events:
            if event["ph"] != "X":
                continue
            args = event.get("args", {})
            if "share_us" in args:      # the master's, in the region's own slice
                start = ns(event["ts"]) + ns(args["share_after_us"])
                share = Slice(event, "openmp members", start, ns(args["share_us"]))
                share.args = args | {"omp": "task"}
                found.append(share)
            found.append(Slice(event, category_of(event)))
        self.spans = [one for one in found if one.category == "Trace"]
        self.slices = [one for one in found if one.category != "Trace"
                       and (one.category, one.name) != ("overhead", "traceprof writer")]
        self.steps = sorted((one for one in self.slices if one.is_step
                             and one.category == "user_annotation"),
                            key=lambda one: one.start)
        self.content = [one for one in self.slices if not one.is_step]
        self.start = (self.spans[-1].start if self.spans
                      else min(one.start for one in self.slices))
        self._nest()
        self._launches()

    def _nest(self):
        lanes = collections.defaultdict(list)
        for one in self.content:
            if one.category not in BESIDE and not one.is_work:
                lanes[one.lane].append(one)
        for lane in lanes.values():
            lane.sort(key=lambda one: (one.start, -one.end))
            opened = []
            for one in lane:
                while opened and opened[-1].end <= one.start:
                    opened.pop()
                if opened:
                    opened[-1].inside += one.dur
                    one.parent = opened[-1]
                opened.append(one)

    def _launches(self):
        calls = {one.args["correlation"]: one for one in self.content
                 if one.category in ("cuda_runtime", "cuda_driver")
                 and "correlation" in one.args}
        for work in self.content:
            if not work.is_work:
                continue
            for outer in enclosing(calls.get(work.args.get("correlation"))):
                outer.gpu += work.dur


def outermost(slices):
    """Time in any of them, thread by thread: what lies in one of the same name
    counts once."""
    lanes = collections.defaultdict(list)
    for one in slices:
        lanes[one.lane].append(one)
    return sum(union(lane) for lane in lanes.values())


def union(slices):
    total, until = 0, -1 << 62
    for one in sorted(slices, key=lambda one: one.start):
        total += max(0, one.end - max(one.start, until))
        until = max(until, one.end)
    return total


class Row:
    """What a table says of the slices of one name."""

    def __init__(self, slices):
        durs = sorted(one.dur for one in slices)
        self.slices, self.durs = slices, durs
        self.calls, self.sum = len(durs), sum(durs)
        self.total = outermost(slices)
        self.min, self.max = durs[0], durs[-1]
        self.avg = self.sum // self.calls
        mean = self.sum / self.calls
        self.stddev = math.sqrt(sum((dur - mean) ** 2 for dur in durs) / self.calls)
        self.bytes = sum(max(0, one.args.get("bytes", 0)) for one in slices
                         if isinstance(one.args.get("bytes", 0), int))
        own = [one for one in slices if not one.is_work and one.category not in BESIDE]
        self.self = sum(one.dur - one.inside for one in own) if own else None
        members = set(map(id, slices))
        self.gpu = sum(one.gpu for one in slices if not any(
            id(outer) in members for outer in enclosing(one)))

    def quantile(self, share):
        return self.durs[max(1, math.ceil(share * self.calls)) - 1]


def enclosing(one):
    while one and one.parent:
        one = one.parent
        yield one


def rows(slices, key):
    """Row by key(slice), where that isn't None."""
    groups = collections.defaultdict(list)
    for one in slices:
        name = key(one)
        if name is not None:
            groups[name].append(one)
    return {name: Row(group) for name, group in groups.items()}
