# SPDX-License-Identifier: MIT
"""numba.cuda: a heat equation, two kernels a step, a copy back each 50 steps."""
import numpy
from numba import cuda

STEPS = 400


@cuda.jit
def spread(old, new):
    i, j = cuda.grid(2)
    if 0 < i < old.shape[0] - 1 and 0 < j < old.shape[1] - 1:
        new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])


@cuda.jit
def edges(field):
    i = cuda.grid(1)
    if i < field.shape[0]:
        field[i, 0] = 1.0


def main():
    old = cuda.to_device(numpy.zeros((1024, 1024), numpy.float32))
    new = cuda.to_device(numpy.zeros((1024, 1024), numpy.float32))
    for step in range(STEPS):
        edges[4, 256](old)
        spread[(64, 64), (16, 16)](old, new)
        old, new = new, old
        if step % 50 == 49:
            print(step, round(float(old.copy_to_host().sum()), 1))
    print("steps", STEPS)


main()
