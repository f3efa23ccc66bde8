# SPDX-License-Identifier: MIT
"""Three training steps, seen by torch.profiler as well: torch_shape_rows.py OUT.

OUT.json is its trace, OUT.rows.json its key_averages(group_by_input_shape=True).
The recording of ours begins and ends with it."""

import json
import sys

import torch
import traceprof
from torch import nn


def main(out):
    torch.manual_seed(7)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4),
                          nn.Flatten(), nn.Linear(128, 32), nn.ReLU(), nn.Linear(32, 5))
    optimizers = [torch.optim.Adam(model.parameters(), foreach=True),
                  torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9,
                                  foreach=True)]
    rows, labels = torch.randn(8, 3, 12, 12), torch.randint(0, 5, (8,))
    observer = torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True)
    observer.start()
    window = traceprof.capture_async("steps")
    for _ in range(3):
        for optimizer in optimizers:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(rows), labels).backward()
            optimizer.step()
    window.stop()
    observer.stop()
    observer.export_chrome_trace(out + ".json")
    with open(out + ".rows.json", "w", encoding="utf-8") as file:
        json.dump([(one.key, one.input_shapes, one.count)
                   for one in observer.key_averages(group_by_input_shape=True)], file)


main(sys.argv[1])
