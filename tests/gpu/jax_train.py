# SPDX-License-Identifier: MIT
"""A JAX training on the GPU: one jitted step of a small network.

    jax_train.py --out FILE [--steps N] [--device gpu|cpu]
"""

import argparse
import os
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
if "--device" not in " ".join(sys.argv[1:]):
    os.environ.setdefault("XLA_FLAGS", "--xla_gpu_deterministic_ops=true")

import jax
import jax.numpy as jnp

import train_marks

BATCH, WIDTH, CLASSES = 256, 1024, 10


def network(key):
    keys = jax.random.split(key, 3)
    shapes = [(WIDTH, 2 * WIDTH), (2 * WIDTH, WIDTH), (WIDTH, CLASSES)]
    return [jax.random.normal(k, shape) * 0.02 for k, shape in zip(keys, shapes)]


def loss_of(weights, images, labels):
    hidden = images
    for matrix in weights[:-1]:
        hidden = jax.nn.gelu(hidden @ matrix)
    logits = jax.nn.log_softmax(hidden @ weights[-1])
    return -jnp.mean(jnp.sum(logits * labels, axis=1))


@jax.jit
def step(weights, images, labels):
    loss, slopes = jax.value_and_grad(loss_of)(weights, images, labels)
    return [w - 0.01 * s for w, s in zip(weights, slopes)], loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--warm-up", type=int, default=10)
    parser.add_argument("--device", default="gpu")
    options = parser.parse_args()

    if jax.devices()[0].platform != options.device:
        print(f"jax sees {jax.devices()[0].platform} alone", file=sys.stderr)
        return 77
    keys = jax.random.split(jax.random.key(0), 3)
    weights = network(keys[0])
    images = jax.random.normal(keys[1], (BATCH, WIDTH))
    labels = jax.nn.one_hot(jax.random.randint(keys[2], (BATCH,), 0, CLASSES), CLASSES)

    def one_step():
        nonlocal weights
        weights, loss = step(weights, images, labels)
        return float(loss)

    steps = train_marks.Steps()
    for _ in range(options.steps):
        steps.run(one_step)
    steps.write(options.out, warm_up=options.warm_up, jax=jax.__version__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
