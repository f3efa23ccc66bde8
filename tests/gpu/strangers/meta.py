# SPDX-License-Identifier: MIT
"""functorch: gradients of each example, hand-written descent, no optimizer."""
import sys

import torch
from torch.func import functional_call, grad, vmap

STEPS = 50


def main(device):
    torch.manual_seed(15)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.Tanh(),
                                torch.nn.Linear(64, 1)).to(device)
    weights = {name: value.detach() for name, value in model.named_parameters()}

    def loss_of(weights, x, y):
        return (functional_call(model, weights, (x,)) - y).pow(2).sum()

    each = vmap(grad(loss_of), in_dims=(None, 0, 0))
    for _ in range(STEPS):
        x = torch.randn(64, 32, device=device)
        grads = each(weights, x, x[:, :1].sin())
        for name, value in grads.items():
            norm = value.flatten(1).norm(dim=1).clamp(min=1)
            weights[name] = weights[name] - 0.01 * (
                value / norm.view(-1, *[1] * (value.dim() - 1))).mean(0)
    print("finite", all(torch.isfinite(value).all().item() for value in weights.values()))
    print("steps", STEPS)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
