# SPDX-License-Identifier: MIT
"""Batches by a generator.  steps 200"""
from gpu_client import kernels, launch, read

fwd, loss, bwd, upd, put = kernels("fwd", "loss", "bwd", "upd", "put")


def batches(n):
    for i in range(n):
        launch(put)
        yield i


def main():
    for epoch in range(4):
        for b in batches(50):
            for layer in range(3):
                launch(fwd)
            launch(loss)
            for layer in range(3):
                launch(bwd)
            launch(upd)
        read()


main()
