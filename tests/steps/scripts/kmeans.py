# SPDX-License-Identifier: MIT
"""Restarts of iterations.  steps 120 3"""
from gpu_client import kernels, launch, read

dist, assign, update, init = kernels("dist", "assign", "update", "init")
for restart in range(3):
    launch(init)
    for it in range(40):
        launch(dist)
        launch(assign)
        launch(update)
        read()
