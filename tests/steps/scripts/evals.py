# SPDX-License-Identifier: MIT
"""Evaluations by the forward pass, each tenth step.  steps 300"""
from gpu_client import kernels, launch, read

fwd, loss, bwd, upd, acc = kernels("fwd", "loss", "bwd", "upd", "acc")


def forward():
    for layer in range(3):
        launch(fwd)


def main():
    for step in range(300):
        forward()
        launch(loss)
        for layer in range(3):
            launch(bwd)
        launch(upd)
        if step % 10 == 9:
            for e in range(5):
                forward()
                launch(acc)
            read()


main()
