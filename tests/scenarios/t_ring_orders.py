# SPDX-License-Identifier: MIT
"""Ring and other shared things under ThreadSanitizer, each memory order weakened
in turn."""

import os
import subprocess
import sys

import harness


def test_every_memory_order_is_needed():
    """tests/stress/run says which were not noticed."""
    done = subprocess.run(
        [sys.executable, "-B", os.path.join(harness.ROOT, "tests/stress/run"),
         "--build", harness.BUILD],
        text=True, errors="replace", capture_output=True)
    if done.returncode == 77:
        raise harness.Skip(done.stdout.strip())
    harness.expect_equal(done.returncode, 0, done.stdout + done.stderr)
    harness.expect(done.stdout.count("race: ") >= 18, done.stdout)


if __name__ == "__main__":
    harness.main()
