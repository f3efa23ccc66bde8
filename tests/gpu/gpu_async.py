# SPDX-License-Identifier: MIT
"""Steps of PyTorch that never wait: by the end of the loop the GPU is seconds
behind the host.

    gpu_async.py --mode eager|graph --out FILE [--profiler TRACE] [--steps N]

Each step is marked, also by traceprof.h's functions where the library is there.
What each launches is the same.
"""

import argparse
import contextlib
import json
import sys
import time

import torch

import train_marks

SIZE, EACH, STEP_MS = 4096, 8, 300


class Work:
    """So many matrix products that a step takes the GPU STEP_MS."""

    def __init__(self, mode):
        self.first = torch.randn(SIZE, SIZE, device="cuda")
        self.second = torch.randn(SIZE, SIZE, device="cuda") / SIZE
        self.products = EACH
        self.graph = None
        self.launch()
        torch.cuda.synchronize()
        start = time.perf_counter()
        self.launch()
        torch.cuda.synchronize()
        took_ms = (time.perf_counter() - start) * 1000
        self.products = max(1, min(400, round(EACH * STEP_MS / took_ms)))
        if mode == "graph":
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                self.launch()
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.launch()

    def launch(self):
        for _ in range(self.products):
            torch.mm(self.first, self.second)
        self.first.add_(0)

    def step(self):
        if self.graph is None:
            self.launch()
        else:
            self.graph.replay()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=["eager", "graph"], default="eager")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--out", required=True)
    parser.add_argument("--profiler", metavar="TRACE")
    options = parser.parse_args()
    work = Work(options.mode)
    torch.cuda.synchronize()
    calls = train_marks.annotation_calls()
    recording = torch.profiler.profile() if options.profiler else None
    if recording:
        recording.start()
    start = time.perf_counter()
    for _ in range(options.steps):
        with (torch.profiler.record_function("train_step") if recording
              else contextlib.nullcontext()):
            if calls:
                calls[0](b"train_step")
            work.step()
            if calls:
                calls[1]()
    host = time.perf_counter() - start
    torch.cuda.synchronize()
    behind = time.perf_counter() - start - host
    if recording:
        recording.stop()
        recording.export_chrome_trace(options.profiler)
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump({"host_s": host, "behind_s": behind, "products": work.products}, file)


if __name__ == "__main__":
    sys.exit(main())
