# SPDX-License-Identifier: MIT
"""CuPy: a chain of Metropolis over a lattice of spins, black cells then white by a raw
kernel, its magnetisation read each 20th sweep."""
import cupy as cp

SWEEPS, SIDE = 400, 512

flip = cp.RawKernel(r"""
extern "C" __global__ void flip(signed char *spins, const float *drawn, int colour,
                                float beta, int side) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / side, column = i % side;
    if ((row + column) % 2 != colour)
        return;
    int near = spins[(row + 1) % side * side + column]
             + spins[(row + side - 1) % side * side + column]
             + spins[row * side + (column + 1) % side]
             + spins[row * side + (column + side - 1) % side];
    if (drawn[i] < expf(-2 * beta * spins[i] * near))
        spins[i] = -spins[i];
}""", "flip")


def main():
    cp.random.seed(3)
    spins = cp.ones((SIDE, SIDE), cp.int8)
    for sweep in range(SWEEPS):
        for colour in range(2):
            drawn = cp.random.random((SIDE, SIDE), dtype=cp.float32)
            flip((SIDE * SIDE // 256,), (256,),
                 (spins, drawn, cp.int32(colour), cp.float32(0.5), cp.int32(SIDE)))
        if sweep % 20 == 19:
            print(sweep, round(float(cp.abs(spins.mean())), 1))
    print("steps", SWEEPS)


main()
