# SPDX-License-Identifier: MIT
"""Four stages in a time step, and an estimate.  steps 200"""
from gpu_client import kernels, launch

rhs, axpy, err = kernels("rhs", "axpy", "err")


def main():
    for step in range(200):
        for stage in range(4):
            launch(rhs)
            launch(axpy)
        launch(err)


main()
