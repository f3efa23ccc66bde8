# SPDX-License-Identifier: MIT
"""A transformer and a CNN of fixed seeds: torch_exact.py [TRACE].

Prints each loss with all its digits and a hash of all weights.  With a file
torch.profiler writes down the step of each model that is named "exact step"."""

import contextlib
import hashlib
import sys

import torch
from torch import nn

STEPS = 12


def transformer():
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
    return nn.Sequential(nn.Embedding(50, 32), nn.TransformerEncoder(layer, 2),
                         nn.Flatten(), nn.Linear(32 * 12, 50))


def network():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Dropout(0.2),
                         nn.Linear(64, 50))


def train(model, batch, observed):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for number in range(STEPS):
        is_last = number == STEPS - 1
        rows, labels = batch(), torch.randint(0, 50, (16,))
        with observed if is_last else contextlib.nullcontext():
            with torch.profiler.record_function("exact step" if is_last else "step"):
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(model(rows), labels)
                loss.backward()
                optimizer.step()
        print(f"{loss.item():.17g}")
    state = hashlib.sha256()
    for value in model.state_dict().values():
        state.update(value.numpy().tobytes())
    print("weights", state.hexdigest())


def main():
    torch.manual_seed(7)
    torch.set_num_threads(2)
    for name, model, batch in (
            ("transformer", transformer(), lambda: torch.randint(0, 50, (16, 12))),
            ("network", network(), lambda: torch.randn(16, 3, 20, 20))):
        observed = contextlib.nullcontext()
        if len(sys.argv) > 1:
            observed = torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CPU])
        train(model, batch, observed)
        if len(sys.argv) > 1:
            observed.export_chrome_trace(f"{sys.argv[1]}.{name}.json")


main()
