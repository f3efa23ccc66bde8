#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the operators of a step with torch.profiler's of the same step.

    tests/real/torch_operators.py TRACE THEIRS...

TRACE is of torch_exact.py; THEIRS are torch.profiler's, one of each "exact step",
in their order.  Names and counts of operators and annotations are to be the same, and
which of them have sequence numbers.
"""

import collections
import sys

import traces

STEP = "exact step"
# oneDNN tells us of its own, which torch.profiler doesn't hear; nor of OpenMP and BLAS.
OURS_ALONE = ("dnnl::", "onednn")


def with_number(one):
    return "Sequence number" in one.get("args", {})


def steps(events):
    """Names and counts in each exact step, and of those that have a number."""
    slices = [event for event in events if event.get("ph") == "X"
              and event.get("cat") in ("cpu_op", "user_annotation")
              and not {"omp", "flops"} & set(event.get("args", {}))
              and not event["name"].startswith(OURS_ALONE)]
    found = []
    for step in sorted((one for one in slices if one["name"] == STEP),
                       key=lambda one: one["ts"]):
        end = step["ts"] + step["dur"]
        inside = [one for one in slices
                  if one["tid"] == step["tid"] and step["ts"] <= one["ts"] < end
                  and one is not step]
        found.append((collections.Counter(one["name"] for one in inside),
                      collections.Counter(one["name"] for one in filter(with_number, inside))))
    return found


def main(path, *theirs):
    report = traces.Report(path)
    ours = steps(traces.load(path)["traceEvents"])
    wanted = [one for other in theirs for one in steps(traces.load(other)["traceEvents"])]
    report.equal("steps", (len(ours), len(wanted)), (len(theirs), len(theirs)))
    for (own, numbers), (other, their_numbers) in zip(ours, wanted):
        # Without a callback of ours PyTorch tells names alone.
        if numbers:
            report.equal("operators with numbers", numbers, their_numbers)
        for name in sorted(set(own) | set(other)):
            report.equal(name, own[name], other[name])
        report.expect(sum(other.values()) > 100, f"only {sum(other.values())} operators")
    same = ", ".join(f"{sum((own & other).values())} of {sum(other.values())}"
                     for (own, _), (other, _) in zip(ours, wanted))
    return 0 if report.end(f"{same} operators") else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
