# SPDX-License-Identifier: MIT
"""Batches by zip().  steps 300 5"""
from gpu_client import kernels, launch, read

fwd, loss, bwd, upd = kernels("fwd", "loss", "bwd", "upd")
xs = list(range(60))
ys = list(range(60))
for epoch in range(5):
    for x, y in zip(xs, ys):
        launch(fwd)
        launch(fwd)
        launch(loss)
        launch(bwd)
        launch(bwd)
        launch(upd)
    read()
