# SPDX-License-Identifier: MIT
"""JAX's own profiler in the middle of a training: it gets what it gets alone."""
import glob
import gzip
import json
import os
import sys
import tempfile

import jax
import jax.numpy as jnp

STEPS = 60


def main():
    x = jax.random.normal(jax.random.PRNGKey(0), (512, 512))

    @jax.jit
    def step(w):
        return w - 0.01 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)

    w = x
    for _ in range(20):
        w = step(w)
    w.block_until_ready()
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder, create_perfetto_trace=True):
            for _ in range(20):
                w = step(w)
            w.block_until_ready()
        path = glob.glob(os.path.join(folder, "**", "perfetto_trace.json.gz"),
                         recursive=True)[0]
        with gzip.open(path, "rt") as file:
            events = json.load(file)
    events = events["traceEvents"] if isinstance(events, dict) else events
    kernels = [event for event in events if event.get("ph") == "X"
               and ("gemm" in event.get("name", "") or "nvjet" in event.get("name", ""))]
    print("products for jax.profiler", len(kernels))
    for _ in range(20):
        w = step(w)
    print("finite", bool(jnp.isfinite(w).all()))
    print("steps", STEPS)


if len(sys.argv) > 1 and sys.argv[1] == "cpu":
    jax.config.update("jax_platforms", "cpu")
main()
