# SPDX-License-Identifier: MIT
"""A network that solves Burgers' equation: second derivatives by autograd, first Adam,
then LBFGS, which asks for the loss as often as it needs."""
import sys

import torch

ADAM, LBFGS = 150, 20


def main(device):
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[layer for size in ((2, 32), (32, 32), (32, 32))
                                  for layer in (torch.nn.Linear(*size), torch.nn.Tanh())],
                                torch.nn.Linear(32, 1)).to(device)
    inside = (torch.rand(2048, 2) * 2 - 1).to(device).requires_grad_()
    edge = torch.rand(256, 2).to(device)
    edge[:, 1] = 0

    def loss_of():
        u = model(inside)
        first = torch.autograd.grad(u.sum(), inside, create_graph=True)[0]
        second = torch.autograd.grad(first[:, 0].sum(), inside, create_graph=True)[0][:, 0]
        rest = first[:, 1] + u[:, 0] * first[:, 0] - 0.003 * second
        start = model(edge)[:, 0] + torch.sin(torch.pi * edge[:, 0])
        return (rest ** 2).mean() + (start ** 2).mean()

    adam = torch.optim.Adam(model.parameters(), 1e-3)
    for step in range(ADAM):
        adam.zero_grad()
        loss = loss_of()
        loss.backward()
        adam.step()
    print("adam", "falls" if float(loss.detach()) < 1 else "doesn't")
    lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=10)

    def closure():
        lbfgs.zero_grad()
        loss = loss_of()
        loss.backward()
        return loss

    for step in range(LBFGS):
        loss = lbfgs.step(closure)
    print("lbfgs", "falls" if float(loss.detach()) < 1 else "doesn't")
    print("steps", ADAM, ADAM + LBFGS)


main(sys.argv[1])
