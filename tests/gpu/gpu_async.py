# SPDX-License-Identifier: MIT
"""Steps of PyTorch that never wait: by the end of the loop the GPU is seconds
behind the host.

    gpu_async.py --mode eager|graph --out FILE [--profiler TRACE] [--steps N]
                 [--device cpu] [--products N]

Each step is marked, also by traceprof.h's functions where the library is there.
Each launches N products, or as many as take the GPU STEP_MS.
"""

import argparse
import contextlib
import json
import sys
import time

import torch

import train_marks

# A driver queues a thousand launches: these are seconds of work.
SIZE, EACH, STEP_MS = 5120, 8, 300


class Work:
    """So many matrix products that a step takes the GPU STEP_MS."""

    def __init__(self, mode, device, products):
        size = SIZE if device == "cuda" else SIZE // 16
        self.first = torch.randn(size, size, device=device)
        self.second = torch.randn(size, size, device=device) / size
        self.products = EACH
        self.graph = None
        self.wait = torch.cuda.synchronize if device == "cuda" else lambda: None
        self.launch()
        self.wait()
        start = time.perf_counter()
        self.launch()
        self.wait()
        took_ms = (time.perf_counter() - start) * 1000
        self.products = products or max(1, min(400, round(EACH * STEP_MS / took_ms)))
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
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--products", type=int)
    options = parser.parse_args()
    work = Work(options.mode, options.device, options.products)
    work.wait()
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
    work.wait()
    behind = time.perf_counter() - start - host
    if recording:
        recording.stop()
        recording.export_chrome_trace(options.profiler)
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump({"host_s": host, "behind_s": behind, "products": work.products}, file)


if __name__ == "__main__":
    sys.exit(main())
