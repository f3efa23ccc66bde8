#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Totals by operator, ours beside torch.profiler's of the same steps.

    LD_PRELOAD=libtraceprof.so torch_totals.py run MODEL THEIRS.json
    torch_totals.py compare TRACE THEIRS.json

MODEL is mlp, network or transformer: 20 steps with both observers at once.  Names
and counts of `aten::` operators are to be the same; printed is how our totals lie to
theirs: of all that no other operator is around, and of those operators that take 1 %
of it, the median and the range.  A PyTorch that has one observer at a time can't be
compared so, and is skipped (77).  Whichever is told of an operator first has the
other's work in its time.
"""

import collections
import statistics
import sys

STEPS, WARM, MEASURED = 20, 3, "measured"


def run(name, path):
    import torch
    from torch import nn

    torch.manual_seed(7)
    torch.set_num_threads(1)
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.1, batch_first=True)
    models = {
        "mlp": (nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.LayerNorm(512),
                              nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 10)),
                lambda: torch.randn(64, 256)),
        "network": (nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(),
                                  nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(),
                                  nn.AdaptiveAvgPool2d(2), nn.Flatten(),
                                  nn.Linear(128, 10)),
                    lambda: torch.randn(16, 3, 32, 32)),
        "transformer": (nn.Sequential(nn.Embedding(50, 64),
                                      nn.TransformerEncoder(layer, 2), nn.Flatten(),
                                      nn.Linear(64 * 16, 10)),
                        lambda: torch.randint(0, 50, (16, 16))),
    }
    model, batch = models[name]
    optimizer = torch.optim.Adam(model.parameters())

    def steps(count):
        for _ in range(count):
            rows = batch()
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(rows),
                                               torch.randint(0, 10, (len(rows),)))
            loss.backward()
            optimizer.step()

    steps(WARM)
    with torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU]) as theirs:
        steps(WARM)
        with torch.profiler.record_function(MEASURED):
            steps(STEPS)
    theirs.export_chrome_trace(path)
    print(torch.__version__, name)


def totals(events):
    """Calls and time of each operator, and of all that are in no other."""
    slices = [event for event in events if event.get("ph") == "X"
              and event.get("cat") in ("cpu_op", "user_annotation")]
    whole = next(one for one in slices if one["name"] == MEASURED)
    end = whole["ts"] + whole["dur"]
    found, outer, until = collections.defaultdict(lambda: [0, 0.0]), 0.0, {}
    for one in sorted(slices, key=lambda one: (one["ts"], -one["dur"])):
        if (one["name"].startswith("aten::") and whole["ts"] <= one["ts"] < end):
            found[one["name"]][0] += 1
            found[one["name"]][1] += one["dur"]
            if one["ts"] >= until.get(one["tid"], 0):
                outer += one["dur"]
                until[one["tid"]] = one["ts"] + one["dur"]
    return found, outer


def compare(path, other):
    import traces

    report = traces.Report(path)
    alone = [note for note in traces.load(path)["traceprof"].get("notes", ())
             if "own profiler is on" in note]
    if alone:
        print(alone[0])
        return 77
    (ours, all_ours), (theirs, all_theirs) = (
        totals(traces.load(one)["traceEvents"]) for one in (path, other))
    for name in sorted(set(ours) | set(theirs)):
        report.equal(name, ours[name][0], theirs[name][0])
    report.expect(len(theirs) > 10, f"only {len(theirs)} names")
    ratios = [ours[name][1] / time for name, (_, time) in theirs.items()
              if time > all_theirs / 100]
    calls = sum(calls for calls, _ in theirs.values())
    return 0 if report.end(
        f"{len(theirs)} names, {calls} calls; all {all_ours / all_theirs:.3f}, "
        f"{len(ratios)} operators {statistics.median(ratios):.3f} "
        f"({min(ratios):.3f} to {max(ratios):.3f})") else 1


if __name__ == "__main__":
    sys.exit({"run": run, "compare": compare}[sys.argv[1]](*sys.argv[2:]))
