# SPDX-License-Identifier: MIT
"""A training step of many small operators: bench_operators.py [torch | torch-shapes |
torch-stack].

Prints milliseconds of the fastest step, of the median step, and of processor time a
step, all threads together.  With a word torch.profiler observes the steps, with shapes
or Python's calls; ours does by LD_PRELOAD, TRACEPROF_SHAPES=1 and TRACEPROF_PYTHON=1.
"""

import statistics
import sys
import time

import torch
from torch import nn

SETTLE_S, STEPS = 1.5, 60


def main(observer):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    layers = [nn.Sequential(nn.LayerNorm(128), nn.Linear(128, 128), nn.GELU())
              for _ in range(12)]
    model = nn.Sequential(*layers, nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    rows, labels = torch.randn(64, 128), torch.randint(0, 10, (64,))

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows), labels).backward()
        optimizer.step()

    until = time.process_time() + SETTLE_S
    while time.process_time() < until:
        step()
    profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                                     record_shapes=observer == "torch-shapes",
                                     with_stack=observer == "torch-stack")
    if observer:
        profile.start()
    for _ in range(5):
        step()
    times, used = [], time.process_time()
    for _ in range(STEPS):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    used = time.process_time() - used
    if observer:
        profile.stop()
    print(f"{1000 * min(times):.3f} {1000 * statistics.median(times):.3f} "
          f"{1000 * used / STEPS:.3f}")


main(sys.argv[1] if len(sys.argv) > 1 else "")
