# SPDX-License-Identifier: MIT
"""A PyTorch training on the GPU, in one of three ways.

    torch_train.py --mode eager|compile|graph --out FILE [--profiler TRACE]

eager: a convolution, linear layers, normalisation and Adam, each step with a
copy from pinned memory and one back.  compile: the same through torch.compile.
graph: the whole step captured once as a CUDA graph.  --profiler records all
steps but the first --warm-up ones with torch.profiler; with --profiler-first it
is started before anything touches CUDA, and again for the steps.  Everything is
deterministic, so that two runs give the same losses to the last bit.
"""

import argparse
import contextlib
import os
import sys

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch
from torch import nn

import train_marks

BATCH, SIDE, WIDTH, CLASSES = 256, 32, 1024, 10


def model():
    def block():
        return nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH),
                             nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    return nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(),
                         nn.Flatten(), nn.Linear(16 * (SIDE // 2) ** 2, WIDTH),
                         block(), block(), nn.Linear(WIDTH, CLASSES))


def batches(device):
    """Four batches on the host, pinned where there is a GPU."""
    made = torch.Generator().manual_seed(1)
    for _ in range(4):
        images = torch.randn(BATCH, 3, SIDE, SIDE, generator=made)
        labels = torch.randint(CLASSES, (BATCH,), generator=made)
        if device == "cuda":
            images, labels = images.pin_memory(), labels.pin_memory()
        yield images, labels


class Trainer:
    def __init__(self, mode, device):
        self.device = device
        self.net = model().to(device)
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=1e-4,
                                          capturable=mode == "graph")
        self.loss_of = nn.CrossEntropyLoss()
        self.forward = torch.compile(self.net) if mode == "compile" else self.net
        self.data = list(batches(device))
        self.count = 0
        self.graph = None
        if mode == "graph":
            self.capture()

    def next_batch(self):
        self.count += 1
        return self.data[self.count % len(self.data)]

    def learn(self, images, labels):
        self.optimiser.zero_grad(set_to_none=True)
        loss = self.loss_of(self.forward(images), labels)
        loss.backward()
        self.optimiser.step()
        return loss.detach()

    def capture(self):
        """The step on buffers that stay, after a few on a side stream."""
        self.images, self.labels = (each.to(self.device) for each in self.data[0])
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.learn(self.images, self.labels)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = self.learn(self.images, self.labels)

    def step(self):
        images, labels = self.next_batch()
        if self.graph is None:
            loss = self.learn(images.to(self.device, non_blocking=True),
                              labels.to(self.device, non_blocking=True))
        else:
            self.images.copy_(images, non_blocking=True)
            self.labels.copy_(labels, non_blocking=True)
            self.graph.replay()
            loss = self.loss
        return loss.item()


@contextlib.contextmanager
def nvtx_range():
    torch.cuda.nvtx.range_push("nvtx_step")
    yield
    torch.cuda.nvtx.range_pop()


def profiler(device):
    wanted = [torch.profiler.ProfilerActivity.CPU]
    if device == "cuda":
        wanted.append(torch.profiler.ProfilerActivity.CUDA)
    return torch.profiler.profile(activities=wanted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=["eager", "compile", "graph"], default="eager")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--warm-up", type=int, default=10)
    parser.add_argument("--out", required=True)
    parser.add_argument("--profiler", metavar="TRACE")
    parser.add_argument("--profiler-first", action="store_true")
    options = parser.parse_args()

    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    torch.set_float32_matmul_precision("high")
    if options.profiler_first:
        with profiler(options.device):
            pass
    also = [nvtx_range] if options.device == "cuda" else []
    if options.profiler:
        also.append(lambda: torch.profiler.record_function("train_step"))
    trainer = Trainer(options.mode, options.device)
    steps = train_marks.Steps(*also)
    for _ in range(options.warm_up):
        steps.run(trainer.step)
    recording = profiler(options.device) if options.profiler else None
    if recording:
        recording.start()
    for _ in range(options.steps - options.warm_up):
        steps.run(trainer.step)
    if recording:
        if options.device == "cuda":
            torch.cuda.synchronize()
        recording.stop()
        recording.export_chrome_trace(options.profiler)
    steps.write(options.out, warm_up=options.warm_up, torch=torch.__version__,
                cuda=torch.version.cuda)


if __name__ == "__main__":
    sys.exit(main())
