# SPDX-License-Identifier: MIT
"""Iterations by a while, which read two products each.  steps 150 5"""
from gpu_client import kernels, launch, read

spmv, dot, axpy, fill = kernels("spmv", "dot", "axpy", "fill")


def solve():
    launch(fill)
    launch(fill)
    it = 0
    while it < 30:
        launch(spmv)
        launch(dot)
        read()
        launch(axpy)
        launch(axpy)
        launch(dot)
        read()
        it += 1


for k in range(5):
    solve()
