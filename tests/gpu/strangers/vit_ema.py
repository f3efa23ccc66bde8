# SPDX-License-Identifier: MIT
"""A vision transformer: AdamW, warm-up and cosine, bf16, clipped gradients, a moving
average of the weights; a validation of four batches every 40 steps."""
import copy
import math
import sys

import torch

STEPS, EVERY = 160, 40


class Vit(torch.nn.Module):
    def __init__(self, width=192, depth=4):
        super().__init__()
        self.patches = torch.nn.Conv2d(3, width, 8, 8)
        self.where = torch.nn.Parameter(torch.zeros(1, 16, width))
        layer = torch.nn.TransformerEncoderLayer(width, 4, 2 * width, 0.0, "gelu",
                                                 batch_first=True, norm_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = torch.nn.Linear(width, 10)

    def forward(self, images):
        tokens = self.patches(images).flatten(2).transpose(1, 2) + self.where
        return self.head(self.layers(tokens).mean(1))


def main(device):
    torch.manual_seed(5)
    model = Vit().to(device)
    average = copy.deepcopy(model).eval()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / 20) * 0.5
        * (1 + math.cos(math.pi * step / STEPS)))
    for step in range(STEPS):
        images = torch.randn(32, 3, 32, 32).to(device)
        labels = torch.randint(0, 10, (32,)).to(device)
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            for mean, now in zip(average.parameters(), model.parameters()):
                mean.lerp_(now, 0.01)
        if step % EVERY == EVERY - 1:
            with torch.no_grad():
                right = sum((average(torch.randn(32, 3, 32, 32).to(device)).argmax(1)
                             >= 0).sum().item() for _ in range(4))
            print(step, right)
    print("steps", STEPS)


main(sys.argv[1])
