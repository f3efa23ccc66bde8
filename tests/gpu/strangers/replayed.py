# SPDX-License-Identifier: MIT
"""A training that is one CUDA graph: inputs are copied into it, it is replayed, and the
loss is looked at every 30 steps."""
import sys

import torch

STEPS = 240


def main(device):
    torch.manual_seed(4)
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(),
                                torch.nn.Linear(512, 512), torch.nn.ReLU(),
                                torch.nn.Linear(512, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    images, labels = torch.randn(64, 256, device=device), torch.zeros(
        64, dtype=torch.long, device=device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss

    if device == "cuda":
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = step()
    for number in range(STEPS):
        images.copy_(torch.randn(64, 256))
        labels.copy_(torch.randint(0, 10, (64,)))
        if device == "cuda":
            graph.replay()
        else:
            loss = step()
        if number % 30 == 29:
            print(number, round(loss.item(), 1))
    print("steps", STEPS)


main(sys.argv[1])
