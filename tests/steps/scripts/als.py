# SPDX-License-Identifier: MIT
"""Two solves by one function in each round, the error each fifth.  steps 40"""
from gpu_client import kernels, launch, read

gram, eye, dot, lu, swap, trsm, absk, mean = kernels(
    "gram", "eye", "dot", "lu", "swap", "trsm", "absolute", "mean")


def solve():
    launch(gram)
    launch(eye)
    launch(dot)
    for k in range(3):
        launch(lu)
    launch(swap)
    launch(trsm)
    launch(trsm)


def main():
    for number in range(40):
        solve()
        solve()
        if number % 5 == 4:
            launch(absk)
            launch(mean)
            read()


main()
