# SPDX-License-Identifier: MIT
"""Whole traces, masked, against tests/scenarios/golden/.

When one changes on purpose: UPDATE_GOLDEN=1 python3 tests/scenarios/t_golden.py,
and read the difference before it is committed.
"""

import harness
from harness import golden, masked, same


def test_annotations():
    golden("annotate_calls.txt", masked(same("annotate_calls").trace))


def test_two_regions():
    golden("two_regions.txt", masked(same("region", "two_regions", 2).trace))


def test_loop():
    golden("loop_dynamic.txt", masked(same("region", "loop_dynamic", 2).trace))


def test_barrier():
    golden("barrier.txt", masked(same("region", "barrier", 2).trace))


def test_task_of_one_thread():
    golden("taskwait.txt", masked(same("tasks", "taskwait", 1).trace))


if __name__ == "__main__":
    harness.main()
