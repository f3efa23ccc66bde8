# SPDX-License-Identifier: MIT
"""Trains a small network on the processor: bench_torch.py STEPS.

Prints milliseconds of wall time and of processor time, of all threads, for
each step.  They are counted after some seconds: what is done once (PyTorch's
own choices, our names of the functions that it calls) is over then.
"""

import sys
import time

import torch


SETTLE_S = 1.5


def main(steps):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(),
                                torch.nn.Linear(1024, 1024), torch.nn.ReLU(),
                                torch.nn.Linear(1024, 10))
    optimizer = torch.optim.Adam(model.parameters())
    loss_of = torch.nn.CrossEntropyLoss()
    data = torch.randn(256, 512)
    wanted = torch.randint(0, 10, (256,))

    def step():
        optimizer.zero_grad()
        loss_of(model(data), wanted).backward()
        optimizer.step()

    until = time.perf_counter() + SETTLE_S
    while time.perf_counter() < until:
        step()
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(steps):
        step()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{1000 * wall / steps:.4f} {1000 * cpu / steps:.4f}")


main(int(sys.argv[1]))
