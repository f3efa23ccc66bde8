# SPDX-License-Identifier: MIT
"""Two layers on scikit-learn's digits with JAX: XLA's own pool of threads, whose
matrix products (oneDNN) keep something else in the stack pointer."""
import jax
import jax.numpy as jnp
import numpy
from sklearn.datasets import load_digits

digits = load_digits()
images = jnp.asarray(numpy.tile(digits.data / 16, (1, 8)), jnp.float32)
labels = jnp.asarray(numpy.eye(10)[digits.target], jnp.float32)
random = numpy.random.default_rng(0)
weights = [jnp.asarray(random.normal(size=size) * 0.05, jnp.float32)
           for size in ((512, 512), (512, 10))]


def loss(weights):
    hidden = jnp.tanh(images @ weights[0])
    return jnp.mean((hidden @ weights[1] - labels) ** 2)


step = jax.jit(jax.value_and_grad(loss))
for _ in range(100):
    value, slopes = step(weights)
    weights = [weight - 0.1 * slope for weight, slope in zip(weights, slopes)]
print("loss", repr(float(value)))
