# SPDX-License-Identifier: MIT
"""The four reasons of torch_slow.py in other shapes, and a copy for a shape.  The
parameters were misnamed, layout and shape missed until the rules were widened."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
torch.set_num_threads(1)


def train(model, optimizer, batches, after=None):
    """Prints the last loss."""
    for rows, labels in batches:
        guess = model(rows)
        loss = nn.functional.cross_entropy(guess, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if after:
            after(guess, labels)
    print(f"{loss.item():.5f}")


def pad(batch):
    """Element by element."""
    longest = max(len(row) for row, _ in batch)
    rows = torch.zeros(len(batch), longest)
    for at, (row, _) in enumerate(batch):
        for column, value in enumerate(row):
            rows[at, column] = value
    return rows.mean(1, keepdim=True), torch.tensor([label for _, label in batch])


def collate():
    rows = [(list(range(at % 50 + 5)), at % 4) for at in range(3200)]
    model = nn.Sequential(nn.Linear(1, 16), nn.Linear(16, 4))
    train(model, torch.optim.AdamW(model.parameters()),
          DataLoader(rows, batch_size=32, collate_fn=pad))


def count_right(guess, labels):
    """Compares one by one."""
    return sum(guess[at].argmax().item() == labels[at].item() for at in range(len(labels)))


def item():
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 2))
    rows = torch.randn(12800, 32)
    train(model, torch.optim.Adam(model.parameters()),
          zip(rows.split(128), (rows.sum(1) > 0).long().split(128)), count_right)


class Averaged:
    """An optimizer written by hand."""

    def __init__(self, parameters):
        self.parameters = list(parameters)
        self.averages = [one.detach().clone() for one in self.parameters]

    def zero_grad(self):
        for one in self.parameters:
            one.grad = None

    @torch.no_grad()
    def step(self):
        norm = sum(one.grad.norm() ** 2 for one in self.parameters) ** 0.5
        for one, average in zip(self.parameters, self.averages):
            one.mul_(0.999).add_(one.grad / max(1.0, float(norm)), alpha=-0.01)
            average.mul_(0.99).add_(one, alpha=0.01)


def parameters():
    model = nn.Sequential(*[nn.Sequential(nn.LayerNorm(24), nn.Linear(24, 24))
                            for _ in range(40)], nn.Linear(24, 5))
    train(model, Averaged(model.parameters()),
          ((torch.randn(8, 24), torch.randint(0, 5, (8,))) for _ in range(150)))


class Mixed(nn.Module):
    """Channels last for one layer, first for the next."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.mix = nn.Conv2d(8, 8, 1)

    def forward(self, rows):
        rows = self.norm(rows.permute(0, 2, 3, 1).contiguous())
        return self.mix(rows.permute(0, 3, 1, 2).contiguous())


def layout():
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), *[Mixed() for _ in range(4)],
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
    train(model, torch.optim.SGD(model.parameters(), lr=0.01),
          ((torch.randn(16, 3, 64, 64), torch.randint(0, 4, (16,))) for _ in range(40)))


def shape():
    rows = torch.randn(2000, 1500)
    for number in range(60):
        mean = (rows + number).t().reshape(-1).mean()
    print(f"{mean:.5f}")


{"collate": collate, "item": item, "parameters": parameters, "layout": layout,
 "shape": shape}[sys.argv[1]]()
