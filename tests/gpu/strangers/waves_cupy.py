# SPDX-License-Identifier: MIT
"""CuPy: a wave on a grid, whole arrays at a time, its energy read each 25th step."""
import cupy as cp

STEPS = 200


def main():
    now = cp.zeros((512, 512), cp.float32)
    now[250:260, 250:260] = 1
    before = now.copy()
    for step in range(STEPS):
        spread = (cp.roll(now, 1, 0) + cp.roll(now, -1, 0) + cp.roll(now, 1, 1)
                  + cp.roll(now, -1, 1) - 4 * now)
        now, before = 2 * now - before + 0.2 * spread, now
        if step % 25 == 24:
            print(step, round(float((now * now).sum()), 1))
    print("steps", STEPS)


main()
