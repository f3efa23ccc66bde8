# SPDX-License-Identifier: MIT
"""JAX: an epoch is one lax.scan() of 50 steps, so that the host sees epochs."""
import sys

import jax
import jax.numpy as jnp

EPOCHS = 30


def main():
    w = jax.random.normal(jax.random.PRNGKey(0), (256, 256)) * 0.05
    x = jax.random.normal(jax.random.PRNGKey(1), (50, 64, 256))

    def step(w, batch):
        loss, grad = jax.value_and_grad(
            lambda w: jnp.mean((jnp.tanh(batch @ w) - batch) ** 2))(w)
        return w - 0.1 * grad, loss

    @jax.jit
    def epoch(w):
        return jax.lax.scan(step, w, x)

    for number in range(EPOCHS):
        w, losses = epoch(w)
        if number % 10 == 9:
            print("epoch", number, round(float(losses.mean()), 3))
    print("steps", EPOCHS)


if len(sys.argv) > 1 and sys.argv[1] == "cpu":
    jax.config.update("jax_platforms", "cpu")
main()
