# SPDX-License-Identifier: MIT
"""A graph convolution of PyTorch Geometric, the whole graph in each epoch, and a
test after each."""
import sys

import torch
from torch_geometric.nn import GCNConv

EPOCHS = 100


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(64, 32), GCNConv(32, 7)

    def forward(self, x, edges):
        x = torch.relu(self.first(x, edges))
        return self.second(torch.nn.functional.dropout(x, training=self.training), edges)


def main(device):
    torch.manual_seed(4)
    x = torch.randn(3000, 64, device=device)
    edges = torch.randint(0, 3000, (2, 12000), device=device)
    y = torch.randint(0, 7, (3000,), device=device)
    model = Net().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(EPOCHS):
        model.train()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x, edges)[:2000], y[:2000])
        loss.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            right = (model(x, edges)[2000:].argmax(1) == y[2000:]).float().mean().item()
        if epoch % 50 == 49:
            print("epoch", epoch, "tested", 0 <= right <= 1)
    print("steps", EPOCHS)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
