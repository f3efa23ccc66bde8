# SPDX-License-Identifier: MIT
"""GPyTorch: a Gaussian process by its marginal likelihood."""
import sys

import gpytorch
import torch

STEPS = 60


class Model(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x),
                                                         self.covar_module(x))


def main(device):
    torch.manual_seed(6)
    x = torch.linspace(0, 1, 400, device=device)
    y = torch.sin(x * 12) + 0.1 * torch.randn(400, device=device)
    likelihood = gpytorch.likelihoods.GaussianLikelihood().to(device)
    model = Model(x, y, likelihood).to(device)
    model.train()
    likelihood.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = -marginal(model(x), y)
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            print("step", step, "loss", round(loss.item(), 1))
    print("steps", STEPS)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
