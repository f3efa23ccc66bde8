# SPDX-License-Identifier: MIT
"""A loop that is left in the midst.  steps 200"""
import itertools

from gpu_client import kernels, launch, read

mv, norm = kernels("mv", "norm")


def main():
    for i in itertools.count():
        launch(mv)
        launch(norm)
        read()
        if i == 199:
            break


main()
