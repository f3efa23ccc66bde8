# SPDX-License-Identifier: MIT
"""A function that is compiled in each step: jit is called in the loop."""

import jax
import jax.numpy as jnp
import numpy

images = numpy.random.default_rng(0).normal(size=(512, 64)).astype("float32")
labels = (images[:, 0] > 0).astype("float32")
weights = jnp.zeros(64)


def loss(weights):
    return jnp.mean(jnp.logaddexp(0.0, -(2 * labels - 1) * (images @ weights)))


for _ in range(20):
    slope = jax.jit(jax.grad(lambda weights: loss(weights)))
    weights = weights - 0.1 * slope(weights)
print("loss", repr(float(loss(weights))))
