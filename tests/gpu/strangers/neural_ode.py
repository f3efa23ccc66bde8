# SPDX-License-Identifier: MIT
"""Equinox and Diffrax: a neural ODE, its loss read on the host in each step."""
import sys

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

STEPS = 50


class Field(eqx.Module):
    net: eqx.nn.MLP

    def __call__(self, t, y, args):
        return self.net(y)


def main():
    times = jnp.linspace(0, 1, 10)
    field = Field(eqx.nn.MLP(2, 2, 32, 2, key=jax.random.PRNGKey(0)))
    starts = jax.random.normal(jax.random.PRNGKey(1), (32, 2))
    optimizer = optax.adam(1e-2)
    state = optimizer.init(eqx.filter(field, eqx.is_inexact_array))

    def solve(field, start):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(field), diffrax.Tsit5(), 0.0, 1.0, 0.1, start,
            saveat=diffrax.SaveAt(ts=times)).ys

    @eqx.filter_value_and_grad
    def loss_of(field):
        return jnp.mean(jax.vmap(lambda start: solve(field, start))(starts) ** 2)

    @eqx.filter_jit
    def step(field, state):
        loss, grads = loss_of(field)
        updates, state = optimizer.update(grads, state)
        return eqx.apply_updates(field, updates), state, loss

    losses = []
    for _ in range(STEPS):
        field, state, loss = step(field, state)
        losses.append(float(loss))
    print("smaller", losses[-1] < losses[0])
    print("steps", STEPS)


if len(sys.argv) > 1 and sys.argv[1] == "cpu":
    jax.config.update("jax_platforms", "cpu")
main()
