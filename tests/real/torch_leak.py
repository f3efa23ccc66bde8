# SPDX-License-Identifier: MIT
"""A PyTorch training that keeps 512 KiB each step in a list: a tensor, or small
objects of Python's."""
import sys
import torch

torch.manual_seed(1)
torch.set_num_threads(1)
model = torch.nn.Linear(256, 256)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
history = []


def train():
    out = model(torch.randn(512, 256))
    loss = (out * out).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return out.detach(), loss.item()


def main():
    for step in range(40):
        out, loss = train()
        if sys.argv[1:] == ["list"]:
            history.extend([bytes(400 + step % 2) for i in range(1170)])
        else:
            history.append(out.clone())
        print(step, loss)


main()
