# SPDX-License-Identifier: MIT
"""Flax and Optax: a jitted step, an evaluation after each tenth."""
import sys

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

STEPS = 120


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (512, 512, 10):
            x = nn.relu(nn.Dense(width)(x))
        return x


def main():
    x = jax.random.normal(jax.random.PRNGKey(0), (256, 128))
    y = jax.random.randint(jax.random.PRNGKey(1), (256,), 0, 10)
    model = Net()
    weights = model.init(jax.random.PRNGKey(2), x)
    optimizer = optax.adam(1e-3)
    state = optimizer.init(weights)

    def loss_of(weights):
        return optax.softmax_cross_entropy_with_integer_labels(
            model.apply(weights, x), y).mean()

    @jax.jit
    def step(weights, state):
        loss, grads = jax.value_and_grad(loss_of)(weights)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(weights, updates), state, loss

    @jax.jit
    def right(weights):
        return (model.apply(weights, x).argmax(1) == y).mean()

    for number in range(STEPS):
        weights, state, loss = step(weights, state)
        if number % 10 == 9:
            right(weights).block_until_ready()
    print("loss is finite", bool(jnp.isfinite(loss)))
    print("steps", STEPS)


if len(sys.argv) > 1 and sys.argv[1] == "cpu":
    jax.config.update("jax_platforms", "cpu")
main()
