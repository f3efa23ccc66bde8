# SPDX-License-Identifier: MIT
"""Layers of a transformer.  steps 80"""
from gpu_client import kernels, launch, read

embed, qkv, attn, proj, mlp, head, loss, bwd, adam = kernels(
    "embed", "qkv", "attn", "proj", "mlp", "head", "loss", "bwd", "adam")


def layer():
    launch(qkv)
    launch(attn)
    launch(proj)
    launch(mlp)


def main():
    for step in range(80):
        launch(embed)
        for l in range(12):
            layer()
        launch(head)
        launch(loss)
        for l in range(12):
            launch(bwd)
        for p in range(20):
            launch(adam)
        if step % 20 == 19:
            read()


main()
