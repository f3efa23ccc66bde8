#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at what a traced training run must have left in its file.

    tests/real/content.py FILE...

OpenMP regions on every thread of each team, named by functions; a heap
counter and [memory] events that agree with each other; no loss.
"""

import collections
import re
import sys

import traces


def regions(report, events):
    parallel = [event for event in events if event["ph"] == "X"
                and event.get("args", {}).get("omp") == "parallel"]
    report.expect(parallel, "no OpenMP region")
    members = collections.defaultdict(set)
    for event in events:
        args = event.get("args", {})
        if event["ph"] == "X" and (args.get("omp") == "task" or "share_us" in args):
            members[event["args"]["region"]].add(event["tid"])
    for event in parallel:
        team, number = event["args"]["team"], event["args"]["region"]
        if team > 1:            # a team of one has no slice but the region's
            report.equal(f"threads of {event['name']} (region {number})",
                         len(members[number]), team)
        report.expect(not re.match(r"\S*(0x|\?|unknown)", event["name"]),
                      f"a region named {event['name']}")
    return len(parallel), len({event["tid"] for event in events
                               if event["ph"] == "X" and event["cat"] == "cpu_op"})


def memory(report, events):
    """Frees match allocations, and the running total is never below zero."""
    live = {}
    changes = [event for event in events if event["name"] == "[memory]"]
    for event in sorted(changes, key=lambda event: event["ts"]):
        values = event["args"]
        size, address = values["Bytes"], values["Addr"]
        # Not each has it (docs/trace-format.md).
        report.expect(values.get("Total Allocated", 0) >= 0, f"a total below 0: {values}")
        if size > 0:
            live[address] = size
        elif address in live:
            report.equal(f"size of the block at {address}, freed", -size,
                         live.pop(address))
    counters = [event for event in events if event["ph"] == "C"]
    report.expect(counters, "no counter track")
    report.expect(all(value >= 0 for event in counters
                      for value in event["args"].values()), "a counter below 0")
    return len(changes)


def check(path):
    report = traces.Report(path)
    top = traces.load(path)
    events = top["traceEvents"]
    found, threads = regions(report, events)
    changes = memory(report, events)
    lost = top.get("traceprof", {}).get("events", {}).get("dropped", 0)
    report.equal("events lost", lost, 0)
    return report.end(f"{found} regions on {threads} threads, {changes} [memory] events")


if __name__ == "__main__":
    sys.exit(traces.main(check, __doc__))
