# SPDX-License-Identifier: MIT
"""A small PyTorch training on the CPU: scikit-learn's digits, MLP then CNN.

Prints every loss with all its digits, so that two runs can be compared bit by
bit.  Knows nothing of traceprof.
"""
import argparse
import hashlib

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def batches(workers):
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32) / 16
    labels = torch.tensor(digits.target, dtype=torch.int64)
    order = torch.Generator().manual_seed(1)
    return DataLoader(TensorDataset(images, labels), batch_size=128,
                      shuffle=True, generator=order, num_workers=workers)


def model_for(kind):
    if kind == "mlp":
        return nn.Sequential(nn.Flatten(), nn.Linear(64, 512), nn.ReLU(),
                             nn.Linear(512, 512), nn.ReLU(),
                             nn.Linear(512, 10))
    return nn.Sequential(nn.Unflatten(1, (1, 8)), nn.Conv2d(1, 32, 3, padding=1),
                         nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(),
                         nn.Flatten(), nn.Linear(32 * 64, 10))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=["mlp", "cnn"], default="mlp")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=0)
    options = parser.parse_args()

    torch.manual_seed(0)
    torch.set_num_threads(2)
    model = model_for(options.model)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_of = nn.CrossEntropyLoss()
    for epoch in range(options.epochs):
        total = 0.0
        for images, labels in batches(options.workers):
            optimiser.zero_grad()
            loss = loss_of(model(images), labels)
            loss.backward()
            optimiser.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total:.17g}")
    state = hashlib.sha256()
    for value in model.state_dict().values():
        state.update(value.numpy().tobytes())
    print("weights", state.hexdigest())


if __name__ == "__main__":
    main()
