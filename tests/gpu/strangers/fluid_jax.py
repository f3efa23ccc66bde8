# SPDX-License-Identifier: MIT
"""JAX: shallow water, one jitted step called from Python's loop and never waited for
but for a picture each 100th."""
import jax
import jax.numpy as jnp

STEPS, SIDE = 500, 256


@jax.jit
def step(h, u, v):
    def over(field, axis):
        return (jnp.roll(field, -1, axis) - jnp.roll(field, 1, axis)) / 2

    u = u - 0.02 * over(h, 0)
    v = v - 0.02 * over(h, 1)
    return h - 0.02 * (over(u, 0) + over(v, 1)), u, v


def main():
    x = jnp.arange(SIDE) - SIDE / 2
    h = 1 + jnp.exp(-(x[:, None] ** 2 + x ** 2) / 200)
    u = v = jnp.zeros((SIDE, SIDE))
    for number in range(STEPS):
        h, u, v = step(h, u, v)
        if number % 100 == 99:
            print(number, round(float(h.mean()), 2))
    print("steps", STEPS)


main()
