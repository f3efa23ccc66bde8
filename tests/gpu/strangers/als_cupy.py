# SPDX-License-Identifier: MIT
"""CuPy: alternating least squares, users then items, each in one batched solve; the
error each fifth round."""
import cupy as cp

ROUNDS, USERS, ITEMS, RANK = 40, 2000, 1000, 16


def solve(ratings, others):
    gram = others.T @ others + 0.1 * cp.eye(RANK, dtype=cp.float32)
    return cp.linalg.solve(gram, others.T @ ratings.T).T


def main():
    cp.random.seed(0)
    ratings = cp.random.random((USERS, ITEMS), dtype=cp.float32)
    users = cp.random.random((USERS, RANK), dtype=cp.float32)
    items = cp.random.random((ITEMS, RANK), dtype=cp.float32)
    for number in range(ROUNDS):
        users = solve(ratings, items)
        items = solve(ratings.T, users)
        if number % 5 == 4:
            print(number, round(float(cp.abs(ratings - users @ items.T).mean()), 3))
    print("steps", ROUNDS)


main()
