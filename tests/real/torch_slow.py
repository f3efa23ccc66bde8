# SPDX-License-Identifier: MIT
"""Training that is slow for one reason, which the report is to name: a function that
collates slowly, values read one by one, a loop over parameters, a layout that has to
be copied."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
reason = sys.argv[1]
rows = TensorDataset(torch.randn(1600, 64), torch.randint(0, 10, (1600,)))


def slow_rows(batch):
    """One number at a time."""
    rows = [[float(value) / 2 for value in row.tolist() for _ in range(20)]
            for row, _ in batch]
    return (torch.tensor([row[::20] for row in rows]),
            torch.tensor([int(label) for _, label in batch]))


class Turned(nn.Module):
    """Works on what lies across the memory."""

    def forward(self, rows):
        wide = rows.unsqueeze(1).expand(-1, 8192, -1)
        return rows + wide.transpose(1, 2).contiguous().sum(2) / 8192


model = nn.Sequential(*[Turned() for _ in range(reason == "layout")],
                      *[nn.Linear(64, 64) for _ in range(4)], nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
total = 0.0
for rows, labels in DataLoader(rows, batch_size=16,
                               collate_fn=slow_rows if reason == "collate" else None):
    loss = nn.functional.cross_entropy(model(rows), labels)
    model.zero_grad()
    loss.backward()
    if reason == "item":
        total += sum(value.item() for value in rows.flatten())
    if reason == "parameters":
        with torch.no_grad():
            for parameter in model.parameters():
                for row in parameter.view(-1, parameter.shape[-1]):
                    row -= 0.0001
    optimizer.step()
print(f"{loss.item():.5f} {total:.3f}")
