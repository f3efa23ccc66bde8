# SPDX-License-Identifier: MIT
"""torch.compile with mode reduce-overhead: its step is a CUDA graph."""
import sys

import torch

STEPS = 60


def main(device):
    torch.manual_seed(10)
    model = torch.nn.Sequential(*[torch.nn.Sequential(
        torch.nn.Linear(256, 256), torch.nn.LayerNorm(256), torch.nn.GELU())
        for _ in range(4)]).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    fast = torch.compile(model, mode="reduce-overhead") if device == "cuda" else model
    for step in range(STEPS):
        x = torch.randn(64, 256, device=device)
        loss = (fast(x) - x).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 20 == 19:
            print("step", step, round(loss.item(), 2))
    print("steps", STEPS)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
