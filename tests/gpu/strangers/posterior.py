# SPDX-License-Identifier: MIT
"""NumPyro's NUTS: compiled as a whole, so that there is no step on the host."""
import sys

import jax
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def model(x, y=None):
    w = numpyro.sample("w", dist.Normal(0, 1).expand([4]).to_event(1))
    numpyro.sample("y", dist.Normal(x @ w, 0.5), obs=y)


def main():
    x = jax.random.normal(jax.random.PRNGKey(0), (100, 4))
    y = x @ jax.numpy.arange(4.0)
    found = MCMC(NUTS(model), num_warmup=50, num_samples=50, progress_bar=False)
    found.run(jax.random.PRNGKey(1), x, y)
    print("samples", found.get_samples()["w"].shape)
    print("steps", 0)


if len(sys.argv) > 1 and sys.argv[1] == "cpu":
    jax.config.update("jax_platforms", "cpu")
main()
