# SPDX-License-Identifier: MIT
"""torch.compile of model and loss, then of the optimizer's step too; bf16."""
import sys

import torch

STEPS = 120


def main(device):
    torch.manual_seed(8)
    model = torch.nn.Sequential(torch.nn.Linear(128, 512), torch.nn.GELU(),
                                torch.nn.LayerNorm(512), torch.nn.Linear(512, 512),
                                torch.nn.GELU(), torch.nn.Linear(512, 10)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=torch.tensor(1e-3))

    @torch.compile
    def loss_of(images, labels):
        return torch.nn.functional.cross_entropy(model(images), labels)

    @torch.compile(fullgraph=False)
    def advance():
        optimizer.step()

    for step in range(STEPS):
        images = torch.randn(128, 128, device=device)
        labels = torch.randint(0, 10, (128,), device=device)
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = loss_of(images, labels)
        loss.backward()
        advance()
        optimizer.zero_grad()
        if step % 40 == 39:
            print(step, round(loss.item(), 1))
    print("steps", STEPS)


main(sys.argv[1])
