# SPDX-License-Identifier: MIT
"""JAX and optax: a small transformer, AdamW with warm-up and clipping; a jitted
evaluation of five batches every 30 steps."""
import jax
import jax.numpy as jnp
import optax

STEPS, EVERY, WIDTH, LAYERS, WORDS = 150, 30, 128, 3, 512


def start(key):
    keys = jax.random.split(key, 2 + 4 * LAYERS)
    made = {"embed": jax.random.normal(keys[0], (WORDS, WIDTH)) * 0.02, "layers": []}
    for i in range(LAYERS):
        made["layers"].append([
            jax.random.normal(keys[2 + 4 * i + j], shape) * 0.05 for j, shape in enumerate(
                ((WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, 4 * WIDTH),
                 (4 * WIDTH, WIDTH)))])
    return made


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def loss_of(weights, words):
    x = weights["embed"][words[:, :-1]]
    mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1])))
    for qkv, out, up, down in weights["layers"]:
        q, k, v = jnp.split(norm(x) @ qkv, 3, -1)
        near = jnp.where(mask, q @ k.swapaxes(1, 2) / WIDTH ** 0.5, -1e9)
        x = x + jax.nn.softmax(near) @ v @ out
        x = x + jax.nn.gelu(norm(x) @ up) @ down
    return optax.softmax_cross_entropy_with_integer_labels(
        norm(x) @ weights["embed"].T, words[:, 1:]).mean()


def main():
    weights = start(jax.random.key(0))
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(
        optax.warmup_cosine_decay_schedule(0, 3e-4, 20, STEPS)))
    state = optimizer.init(weights)

    @jax.jit
    def step(weights, state, words):
        loss, slopes = jax.value_and_grad(loss_of)(weights, words)
        changes, state = optimizer.update(slopes, state, weights)
        return optax.apply_updates(weights, changes), state, loss

    judge = jax.jit(loss_of)
    key = jax.random.key(1)
    for number in range(STEPS):
        key, one = jax.random.split(key)
        words = jax.random.randint(one, (16, 65), 0, WORDS)
        weights, state, loss = step(weights, state, words)
        if number % EVERY == EVERY - 1:
            held = [judge(weights, jax.random.randint(jax.random.key(i), (16, 65), 0,
                                                      WORDS)) for i in range(5)]
            print(number, round(float(sum(held)) / 5, 1))
    print("steps", STEPS)


main()
