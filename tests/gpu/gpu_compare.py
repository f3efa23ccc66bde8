# SPDX-License-Identifier: MIT
"""Compares the work on a GPU in two traces of the same steps.

One trace is ours and the other torch.profiler's, of another run of the same
program.  Both hold slices "train_step" on the CPU; what was launched inside
the chosen ones is compared: the same kernels by name and count, the same
length of each within LIMIT, the same sum, and an arrow to each of ours.

Nothing here needs more than Python.
"""

import collections
import gzip
import json
import shutil
import statistics
import subprocess

WORK = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver")
MEDIAN_SHARE, MEDIAN_US = 0.05, 0.5     # whichever is more
SUM_SHARE = 0.02
TIMES_THEIRS = 2                        # what two runs of torch.profiler differ by
NAME_LENGTH = 1000                      # compared; templates can be longer

Row = collections.namedtuple("Row", "check passed said")


class Trace:
    """A file of ours or of torch.profiler's."""

    def __init__(self, path):
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "rt", encoding="utf-8") as file:
            self.top = json.load(file, strict=False)
        self.path = path
        self.slices = [event for event in self.top["traceEvents"]
                       if event.get("ph") == "X"]
        self.calls = {}
        for event in self.of(*CALLS):
            number = event["args"].get("correlation")
            # A driver's call inside a runtime call has the same number.
            kept = self.calls.get(number)
            if kept is None or event["ts"] < kept["ts"]:
                self.calls[number] = event
        self.work = self.of(*WORK)
        self.kernels = self.of("kernel")
        self.gpu = self.top.get("traceprof", {}).get("gpu", {})
        self.notes = self.top.get("traceprof", {}).get("notes", [])

    def of(self, *categories):
        return [event for event in self.slices if event.get("cat") in categories]

    def named(self, name):
        """Slices of this name on the CPU, in time order."""
        found = [event for event in self.slices if event["name"] == name
                 and event.get("cat") in ("user_annotation", "cpu_op")]
        return sorted(found, key=lambda event: event["ts"])

    def launched_in(self, spans):
        """Work whose call began in one of these slices, on whatever thread."""
        ends = [(span["ts"], span["ts"] + span["dur"]) for span in spans]
        found = []
        for event in self.work:
            call = self.calls.get(event["args"].get("correlation"))
            if call and any(start <= call["ts"] < end for start, end in ends):
                found.append(event)
        return found

    def arrows(self):
        """(share of the work that has both ends of its arrow, pieces without)"""
        starts, ends = set(), set()
        for event in self.top["traceEvents"]:
            if event.get("cat") == "ac2g" and event["ph"] == "s":
                starts.add(event["id"])
            elif event.get("cat") == "ac2g" and event["ph"] == "f":
                ends.add(event["id"])
        both = starts & ends
        missing = [event for event in self.work
                   if event["args"]["correlation"] not in both]
        share = 1 - len(missing) / len(self.work) if self.work else 0
        return share, missing

    def before_launch(self):
        """Work that begins before its call, of all, in ns."""
        found = []
        for event in self.work:
            call = self.calls.get(event["args"].get("correlation"))
            if call and event["ts"] < call["ts"]:
                found.append(round((call["ts"] - event["ts"]) * 1000))
        return found

    def gaps(self):
        """From a call's begin to its work's, in us, smallest first."""
        return sorted(event["ts"] - self.calls[event["args"]["correlation"]]["ts"]
                      for event in self.work
                      if event["args"].get("correlation") in self.calls)


def demangle(names):
    """{name: readable name}; as they are where there is no c++filt."""
    coded = [name for name in names if name.startswith("_Z")]
    readable = {name: name for name in names}
    if coded and shutil.which("c++filt"):
        done = subprocess.run(["c++filt"], input="\n".join(coded), text=True,
                              capture_output=True)
        lines = done.stdout.splitlines()
        if done.returncode == 0 and len(lines) == len(coded):
            readable.update(zip(coded, lines))
    return readable


def plain_names(events):
    """{name: what is compared}: blanks and quoting differ between writers."""
    names = {event["name"] for event in events}
    return {name: "".join(text.split()).replace("\\", "/")[:NAME_LENGTH]
            for name, text in demangle(names).items()}


def by_name(events):
    """{compared name: durations in us}"""
    plain = plain_names(events)
    found = collections.defaultdict(list)
    for event in events:
        found[plain[event["name"]]].append(event["dur"])
    return found


def short(name):
    return name if len(name) <= 60 else name[:57] + "..."


def names_row(ours, theirs):
    missing, more = sorted(set(theirs) - set(ours)), sorted(set(ours) - set(theirs))
    if not theirs:
        return Row("kernels by name", False, "none in torch.profiler's trace")
    said = f"{len(theirs)} names"
    if missing:
        said += f"; not in ours ({len(missing)}): {short(missing[0])}"
    if more:
        said += f"; only in ours ({len(more)}): {short(more[0])}"
    return Row("kernels by name", not missing and not more, said)


def counts_row(ours, theirs, what="kernels by count"):
    different = [(name, len(ours.get(name, ())), len(theirs.get(name, ())))
                 for name in sorted(set(ours) | set(theirs))
                 if len(ours.get(name, ())) != len(theirs.get(name, ()))]
    said = f"{sum(map(len, ours.values()))} of {sum(map(len, theirs.values()))}"
    if different:
        name, seen, wanted = different[0]
        said += f"; {len(different)} differ, {short(name)}: {seen}, not {wanted}"
    return Row(what, bool(theirs) and not different, said)


def medians_row(ours, theirs, again=None):
    """`again`: a second run of theirs; what lies between the two is theirs too."""
    worst, where, faults = 0.0, "", 0
    for name in sorted(set(ours) & set(theirs)):
        seen, wanted = statistics.median(ours[name]), statistics.median(theirs[name])
        own = (abs(statistics.median(again[name]) - wanted)
               if again and name in again else 0)
        apart = abs(seen - wanted) / max(MEDIAN_SHARE * wanted, MEDIAN_US,
                                         TIMES_THEIRS * own)
        faults += apart > 1
        if apart > worst:
            worst = apart
            where = f"{short(name)}: {seen:.3f} us, not {wanted:.3f}"
    said = f"worst {worst:.2f} of what is allowed, {where}"
    if faults:
        said = f"{faults} names too far off; {said}"
    return Row("median of each kernel", bool(set(ours) & set(theirs)) and not faults,
               said)


def sum_row(ours, theirs, again=None):
    seen = sum(sum(times) for times in ours.values())
    wanted = sum(sum(times) for times in theirs.values())
    apart = abs(seen - wanted) / wanted if wanted else 1.0
    own = (abs(sum(sum(times) for times in again.values()) - wanted) / wanted
           if again and wanted else 0)
    return Row("sum of kernel time", apart <= max(SUM_SHARE, TIMES_THEIRS * own),
               f"{seen:.1f} us, torch.profiler's {wanted:.1f} us, {apart:.2%} apart"
               + (f", its two runs {own:.2%}" if again else ""))


def arrows_row(trace):
    share, missing = trace.arrows()
    said = f"{share:.2%} of {len(trace.work)}"
    if missing:
        said += f"; none at {short(missing[0]['name'])}"
    return Row("an arrow to each piece of work", share == 1, said)


def steps_of(trace, first, count, marker):
    """The chosen marked steps; torch's trace begins with the first of them."""
    steps = trace.named(marker)
    return steps[first:first + count]


def compare(ours, theirs, first, count, marker="train_step", again=None):
    """Rows on two Traces: `count` marked steps, from our `first` on and from
    the beginning of the other's.  `again`: another run of the other's."""
    our_steps = steps_of(ours, first, count, marker)
    their_steps = steps_of(theirs, 0, count, marker)
    rows = [Row("steps compared", len(our_steps) == count == len(their_steps),
                f"{len(our_steps)} of ours, {len(their_steps)} of "
                f"torch.profiler's, {count} wanted")]
    our_work, their_work = ours.launched_in(our_steps), theirs.launched_in(their_steps)
    kernels = [by_name([event for event in work if event["cat"] == "kernel"])
               for work in (our_work, their_work)]
    others = [by_name([event for event in work if event["cat"] != "kernel"])
              for work in (our_work, their_work)]
    second = by_name([event for event in again.launched_in(
        steps_of(again, 0, count, marker)) if event["cat"] == "kernel"]) if again else None
    rows += [names_row(*kernels), counts_row(*kernels),
             medians_row(*kernels, second), sum_row(*kernels, second)]
    if others[0] or others[1]:
        rows.append(counts_row(*others, what="copies and memsets by count"))
    rows.append(arrows_row(ours))
    return rows
