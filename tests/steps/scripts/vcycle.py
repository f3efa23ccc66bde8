# SPDX-License-Identifier: MIT
"""Cycles of a function that calls itself.  steps 40"""
from gpu_client import kernels, launch, read

smooth, restrict, prolong, resid = kernels("smooth", "restrict", "prolong", "resid")


def cycle(level):
    launch(smooth)
    launch(smooth)
    if level == 0:
        return
    launch(restrict)
    cycle(level - 1)
    launch(prolong)
    launch(smooth)


def main():
    for it in range(40):
        cycle(5)
        launch(resid)
        read()


main()
