# SPDX-License-Identifier: MIT
"""Epochs of batches, a function each.  steps 300 10"""
from gpu_client import kernels, launch, read

fwd, act, loss, bwd, upd = kernels("fwd", "act", "loss", "bwd", "upd")


def forward():
    for layer in range(3):
        launch(fwd)
        launch(act)


def train(batch):
    forward()
    launch(loss)
    for layer in range(3):
        launch(bwd)
    launch(upd)


for epoch in range(10):
    for batch in range(30):
        train(batch)
    read()
