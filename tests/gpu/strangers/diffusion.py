# SPDX-License-Identifier: MIT
"""A denoiser with an average of its weights, kept on the host now and then."""
import copy
import io
import sys

import torch

STEPS = 60


class Denoiser(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.into = torch.nn.Conv2d(3, 32, 3, padding=1)
        self.mid = torch.nn.ModuleList(torch.nn.Conv2d(32, 32, 3, padding=1)
                                       for _ in range(6))
        self.out = torch.nn.Conv2d(32, 3, 3, padding=1)

    def forward(self, x, t):
        x = self.into(x) + t[:, None, None, None]
        for layer in self.mid:
            x = x + torch.nn.functional.silu(layer(x))
        return self.out(x)


def main(device):
    torch.manual_seed(13)
    model = Denoiser().to(device)
    average = copy.deepcopy(model)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for step in range(STEPS):
        clean = torch.randn(8, 3, 32, 32, device=device)
        t, noise = torch.rand(8, device=device), torch.randn_like(clean)
        loss = (model(clean + t[:, None, None, None] * noise, t) - noise).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for kept, new in zip(average.parameters(), model.parameters()):
                kept.mul_(0.99).add_(new, alpha=0.01)
        if step % 20 == 19:
            torch.save(average.state_dict(), io.BytesIO())
            print("step", step, "saved")
    print("steps", STEPS)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
