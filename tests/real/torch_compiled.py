# SPDX-License-Identifier: MIT
"""torch.compile on the CPU: generated C++ with OpenMP regions, a graph break."""
import logging

import torch

logging.disable(logging.WARNING)        # of its C++ compiler, with the time

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(),
                            torch.nn.LayerNorm(128), torch.nn.Linear(128, 10))
optimizer = torch.optim.Adam(model.parameters())


@torch.compile
def loss_of(images, labels):
    output = model(images)
    torch._dynamo.graph_break()
    return torch.nn.functional.cross_entropy(output, labels)


for _ in range(20):
    loss = loss_of(torch.randn(256, 64), torch.randint(0, 10, (256,)))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(repr(loss.item()))
