# SPDX-License-Identifier: MIT
"""Plain NumPy gradient descent: many arrays, no OpenMP."""
import numpy

numbers = numpy.random.default_rng(0)
x = numbers.random((2000, 64))
y = x @ numbers.random(64) + 0.1
w = numpy.zeros(64)
for step in range(400):
    error = x @ w - y
    w -= 0.05 * (x.T @ error) / len(y)
    if step % 100 == 0:
        print(step, repr(float((error ** 2).mean())))
print("end", repr(float(w.sum())))
