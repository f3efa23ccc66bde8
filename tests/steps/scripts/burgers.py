# SPDX-License-Identifier: MIT
"""Adam, and then a minimiser that asks for the loss as often as it needs.  steps 150 170"""
from gpu_client import kernels, launch, read

fwd, act, loss, bwd, adam, dotk, axpy, zero = kernels(
    "fwd", "act", "loss", "bwd", "adam", "dot", "axpy", "zero")


def evaluate():
    for layer in range(3):
        launch(fwd)
        launch(act)
    launch(loss)
    for layer in range(3):
        launch(bwd)


def adam_step():
    for p in range(6):
        launch(adam)


def lbfgs_step(closure):
    closure()
    n = 0
    while n < 9:
        n += 1
        for k in range(min(n, 5)):
            launch(dotk)
            launch(axpy)
        read()
        closure()


def main():
    for step in range(150):
        launch(zero)
        evaluate()
        adam_step()
    read()
    def closure():
        launch(zero)
        evaluate()
    for step in range(20):
        lbfgs_step(closure)
    read()


main()
