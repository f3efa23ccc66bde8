#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares `traceprof report --by shape` with torch.profiler's rows of the same steps.

    tests/real/torch_shapes.py ROWS OUT

ROWS is what `report --by shape -n 0 --csv` printed, OUT as
torch_shape_rows.py was given.  Its trace has the same rows, call for call.
key_averages() has them but for two things: it leaves out the sizes of lists of
tensors, and a call that is the only one inside of a call of its name."""

import ast
import collections
import csv
import json
import re
import sys

import traces


def is_list(size):
    return any(isinstance(one, list) for one in size)


def spelled(dims):
    return json.dumps(dims, separators=(",", ":"))


def blank(rows):
    """Without the sizes of lists."""
    found = collections.Counter()
    for (name, dims), calls in rows.items():
        found[name, spelled([[] if is_list(one) else one
                             for one in json.loads(dims)])] += calls
    return found


def ours(path):
    found = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            name, dims = re.fullmatch(r"(.*?) (\[.*)", row["name"]).groups()
            found[name, spelled(json.loads(dims))] += int(row["calls"])
    return found


def main(path, out):
    report = traces.Report(path)
    own = ours(path)
    theirs = collections.Counter()
    for one in traces.load(out + ".json")["traceEvents"]:
        if one.get("ph") == "X" and one.get("cat") == "cpu_op":
            theirs[one["name"], spelled(one["args"].get("Input Dims", []))] += 1
    for row, calls in theirs.items():
        report.equal(f"{row} of its trace", own[row], calls)
    nested, equal = collections.Counter(), 0
    own = blank(own)
    for name, dims, calls in traces.load(out + ".rows.json"):
        dims = spelled(ast.literal_eval(dims) if isinstance(dims, str) else dims)
        if own[name, dims] > calls:
            nested[name] += 1
        else:
            report.equal(f"{name} {dims} of key_averages()", own[name, dims], calls)
            equal += 1
    report.expect(equal > 50, f"only {equal} rows")
    report.expect(set(nested) <= {"aten::add_", "aten::div_", "aten::mul_"},
                  f"more calls here: {dict(nested)}")
    return 0 if report.end(f"{len(theirs)} rows of its trace, {equal} of key_averages() "
                           f"and {sum(nested.values())} with calls that it drops") else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
