# SPDX-License-Identifier: MIT
"""A kernel that is called from two lines of a step.  steps 300"""
from gpu_client import kernels, launch, read

kick, drift, force = kernels("kick", "drift", "force")


def main():
    for step in range(300):
        launch(kick)
        launch(drift)
        launch(force)
        launch(kick)
        if step % 30 == 0:
            read()


main()
