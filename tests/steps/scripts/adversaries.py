# SPDX-License-Identifier: MIT
"""Two networks' optimizers by one function.  steps 120"""
from gpu_client import kernels, launch

gen, disc, lossk, bwd, adam = kernels("gen", "disc", "loss", "bwd", "adam")


def optimize(n):
    for p in range(n):
        launch(adam)


def d_step():
    launch(gen)
    launch(disc)
    launch(lossk)
    launch(bwd)
    optimize(2)


def g_step():
    launch(gen)
    launch(disc)
    launch(lossk)
    launch(bwd)
    launch(bwd)
    optimize(2)


def main():
    for it in range(120):
        d_step()
        g_step()


main()
