# SPDX-License-Identifier: MIT
"""A chain over a lattice of spins, black cells then white, read each 20th sweep.  steps 400"""
from gpu_client import kernels, launch, read

rnd, flip, absk, mean = kernels("gen", "flip", "absolute", "mean")


def main():
    for sweep in range(400):
        for colour in range(2):
            launch(rnd)
            launch(flip)
        if sweep % 20 == 19:
            launch(absk)
            launch(mean)
            read()


main()
