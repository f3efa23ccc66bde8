# SPDX-License-Identifier: MIT
"""torch's LBFGS: the closure runs several times in each step."""
import sys

import torch

STEPS = 25


def main(device):
    torch.manual_seed(14)
    x = torch.randn(2000, 20, device=device)
    y = (x @ torch.randn(20, 1, device=device)).tanh()
    model = torch.nn.Sequential(torch.nn.Linear(20, 40), torch.nn.Tanh(),
                                torch.nn.Linear(40, 1)).to(device)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=6)

    def closure():
        optimizer.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        return loss

    for _ in range(STEPS):
        loss = optimizer.step(closure)
    print("small", loss.item() < 0.2)
    print("steps", STEPS)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
