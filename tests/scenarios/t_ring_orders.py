# SPDX-License-Identifier: MIT
"""The ring under ThreadSanitizer, and each memory order weakened in turn."""

import os
import subprocess
import sys

import harness


def test_every_order_of_ring_and_pool_is_needed():
    """tests/stress/run says which were not noticed."""
    done = subprocess.run(
        [sys.executable, "-B", os.path.join(harness.ROOT, "tests/stress/run"),
         "--short", "--build", harness.BUILD],
        text=True, errors="replace", capture_output=True)
    if done.returncode == 77:
        raise harness.Skip(done.stdout.strip())
    harness.expect_equal(done.returncode, 0, done.stdout + done.stderr)
    harness.expect(done.stdout.count("race: ") >= 6, done.stdout)


if __name__ == "__main__":
    harness.main()
