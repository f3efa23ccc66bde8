# SPDX-License-Identifier: MIT
"""The same step in two loops.  steps 200 100"""
from gpu_client import kernels, launch, read

fwd, loss, bwd, upd = kernels("fwd", "loss", "bwd", "upd")


def step():
    for layer in range(4):
        launch(fwd)
    launch(loss)
    for layer in range(4):
        launch(bwd)
    launch(upd)


def main():
    for i in range(100):
        step()
    read()
    for i in range(100):
        step()
    read()


main()
