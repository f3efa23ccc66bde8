# SPDX-License-Identifier: MIT
"""TRACEPROF_PYTHON=1 beside a schedule whose step nobody has named."""

import re

import harness
from harness import expect, expect_equal
from t_python_calls import MANY, record, some


def test_calls_that_end_before_the_step_is_known():
    """There is no window yet: the time is counted from the recording's beginning, and no
    window is named."""
    for version, path in some().items():
        run = record(path, MANY + "fib(26)\n", TRACEPROF_MAX_OVERHEAD="1",
                     TRACEPROF_WAIT="2", TRACEPROF_ACTIVE="2")
        told = [line for line in run.own_lines + run.trace.meta["notes"]
                if "calls of Python end " in line]
        expect_equal(len(told), 2, (version, run.stderr))
        for line in told:
            when = re.search(r"end ([\d.]+) s after the recording began, before its step "
                             "was known", line)
            expect(when and float(when[1]) < 100, version, line)


if __name__ == "__main__":
    harness.main()
