# SPDX-License-Identifier: MIT
"""Two nets against each other: an optimizer step of each in a step."""
import sys

import torch

STEPS = 80


def net(first, last):
    return torch.nn.Sequential(torch.nn.Linear(first, 256), torch.nn.LeakyReLU(0.2),
                               torch.nn.Linear(256, 256), torch.nn.LeakyReLU(0.2),
                               torch.nn.Linear(256, last))


def main(device):
    torch.manual_seed(9)
    maker, judge = net(32, 64).to(device), net(64, 1).to(device)
    makers = torch.optim.Adam(maker.parameters(), 2e-4)
    judges = torch.optim.Adam(judge.parameters(), 2e-4)
    criterion = torch.nn.BCEWithLogitsLoss()
    for step in range(STEPS):
        real = torch.randn(128, 64, device=device)
        fake = maker(torch.randn(128, 32, device=device))
        judges.zero_grad()
        worse = criterion(judge(real), torch.ones(128, 1, device=device)) + \
            criterion(judge(fake.detach()), torch.zeros(128, 1, device=device))
        worse.backward()
        judges.step()
        makers.zero_grad()
        criterion(judge(fake), torch.ones(128, 1, device=device)).backward()
        makers.step()
        if step % 40 == 39:
            print("step", step, round(worse.item(), 1))
    print("steps", STEPS)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
