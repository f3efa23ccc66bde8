#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures how long Perfetto's page takes for a trace in both its formats.

    bench_perfetto.py [--rounds N] TRACE.json...

Each file is exported by build/traceprof (TRACEPROF names another) and both are
loaded in turn, in a new browser each time.  The figure is the processor time
of the thread that runs trace_processor, less that for a trace of one slice.
What arrived is counted in SQL: a row that only one of them has is a fault.
Needs what tests/real needs.  Exit status: 0 good, 1 a fault, 77 no browser.
"""

import argparse
import glob
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "real"))

import browser      # noqa: E402
import perfetto     # noqa: E402

TINY = ('{"traceEvents":[{"ph":"X","name":"a","cat":"cpu_op","pid":77,"tid":77,'
        '"ts":1,"dur":1}]}')
COUNTS = {
    "slices": "select count(*) from slice",
    "time": "select sum(dur) from slice",
    # grid[0] and occupancy.blockLimitRegs are not exported
    "args": "select count(*) from slice join args using (arg_set_id)"
            " where key like 'debug.%' or key like 'args.%' and key not like"
            " '%[%' and (key not like 'args.%.%' or key like 'args.%. %')",
    "counter values": "select count(*) from counter",
    "flows": "select count(*) from flow",
    "errors": "select coalesce(sum(value), 0) from stats"
              " where severity in ('error', 'data_loss')",
}


def engine_seconds(session):
    """Of the busiest worker of the browser whose session this is."""
    seconds = 0
    for path in glob.glob("/proc/[0-9]*/task/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                name, _, rest = file.read().rpartition(")")
        except OSError:
            continue
        numbers = rest.split()
        if int(numbers[3]) == session and "DedicatedWorker" in name:
            ticks = int(numbers[11]) + int(numbers[12])
            seconds = max(seconds, ticks / os.sysconf("SC_CLK_TCK"))
    return seconds


def load(path):
    """Seconds, and what is in the tables."""
    with perfetto.Perfetto(path) as page:
        seconds = engine_seconds(page.browser.pid)
        return seconds, {what: page.number(query)
                         for what, query in COUNTS.items()}


def measure(path, native, rounds, base):
    times = {path: [], native: []}
    faults = 0
    for number in range(rounds):
        counts = {}
        for file in times:
            seconds, counts[file] = load(file)
            times[file].append(seconds - base)
        for what in COUNTS if number == 0 else ():
            pair = counts[path][what], counts[native][what]
            if pair[0] != pair[1] or what == "errors" and any(pair):
                print(f"FAULT {path}: {what} {pair[0]}, native {pair[1]}")
                faults += 1
    ratios = sorted(b / a for a, b in zip(times[path], times[native]))
    print(f"{os.path.basename(path)}: {counts[path]['slices']} slices,"
          f" {counts[path]['args']} args; JSON"
          f" {statistics.median(times[path]):.2f} s, native"
          f" {statistics.median(times[native]):.2f} s; ratios"
          f" {' '.join(f'{ratio:.2f}' for ratio in ratios)};"
          f" load {os.getloadavg()[0]:.1f}", flush=True)
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("traces", nargs="+")
    options = parser.parse_args()
    program = os.environ.get("TRACEPROF", os.path.join(ROOT, "build", "traceprof"))
    perfetto.SECONDS = 300
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        tiny = os.path.join(folder, "tiny.json")
        with open(tiny, "w", encoding="utf-8") as file:
            file.write(TINY)
        try:
            base = statistics.median(load(tiny)[0] for _ in range(3))
        except browser.Missing as missing:
            print(missing)
            return 77
        print(f"a trace of one slice: {base:.2f} s")
        for path in options.traces:
            native = os.path.join(folder, "native")
            subprocess.run([program, "export", "--perfetto", path, "-o", native],
                           check=True, stdout=subprocess.DEVNULL)
            faults += measure(path, native, options.rounds, base)
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())
