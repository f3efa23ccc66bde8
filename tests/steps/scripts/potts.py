# SPDX-License-Identifier: MIT
"""Four colours a sweep, by a function.  steps 250"""
from gpu_client import kernels, launch, read

rnd, flip, energy = kernels("rnd", "flip", "energy")


def sweep():
    for colour in range(4):
        launch(rnd)
        launch(flip)


def main():
    for s in range(250):
        sweep()
        if s % 25 == 24:
            launch(energy)
            read()


main()
