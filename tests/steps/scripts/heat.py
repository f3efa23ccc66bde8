# SPDX-License-Identifier: MIT
"""Time steps of one kernel, with a report now and then.  steps 500"""
from gpu_client import kernels, launch, read

stencil, = kernels("stencil")


def main():
    for step in range(500):
        launch(stencil)
        if step % 50 == 49:
            read()


main()
