# SPDX-License-Identifier: MIT
"""JAX: a policy is tried in worlds that are one jitted function, then updated four
times by another; the loop is Python's."""
import sys

import jax
import jax.numpy as jnp
import optax

ROUNDS, UPDATES = 30, 4


def main():
    key = jax.random.PRNGKey(0)
    weights = {"w": jax.random.normal(key, (8, 64)) * 0.1, "v": jnp.zeros((64, 4))}
    optimizer = optax.adam(3e-4)
    state = optimizer.init(weights)

    def logits(weights, x):
        return jnp.tanh(x @ weights["w"]) @ weights["v"]

    @jax.jit
    def rollout(weights, key):
        def turn(x, key):
            act = jax.random.categorical(key, logits(weights, x))
            new = 0.9 * x + 0.1 * jax.nn.one_hot(act, 8)
            return new, (x, act, -jnp.abs(new).sum(-1))
        return jax.lax.scan(turn, jnp.zeros((32, 8)), jax.random.split(key, 16))[1]

    @jax.jit
    def improve(weights, state, seen):
        def loss(weights):
            x, act, reward = seen
            log = jax.nn.log_softmax(logits(weights, x))
            return -(jnp.take_along_axis(log, act[..., None], -1)[..., 0]
                     * (reward - reward.mean())).mean()
        value, grads = jax.value_and_grad(loss)(weights)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(weights, updates), state, value

    for number in range(ROUNDS):
        key, part = jax.random.split(key)
        seen = rollout(weights, part)
        for _ in range(UPDATES):
            weights, state, value = improve(weights, state, seen)
    print("finite", bool(jnp.isfinite(value)))
    print("steps", ROUNDS, ROUNDS * UPDATES)


if len(sys.argv) > 1 and sys.argv[1] == "cpu":
    jax.config.update("jax_platforms", "cpu")
main()
