# SPDX-License-Identifier: MIT
"""Episodes of twenty steps, and then four updates.  steps 60 1200"""
from gpu_client import kernels, launch, read

policy, value, loss, bwd, adam = kernels("policy", "value", "loss", "bwd", "adam")
for episode in range(60):
    t = 0
    while t < 20:
        launch(policy)
        launch(value)
        read()
        t += 1
    for k in range(4):
        launch(policy)
        launch(value)
        launch(loss)
        launch(bwd)
        launch(adam)
