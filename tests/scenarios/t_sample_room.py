# SPDX-License-Identifier: MIT
"""Samples of code that uses the stack pointer for something else."""

import harness
from harness import compile_program, expect, expect_equal, same


def test_what_lies_below_the_stack_pointer_stays():
    program = compile_program("stack_pointer.c", "-O1", "-pthread", name="stack_pointer")
    run = same(program, env={"TRACEPROF_SAMPLE": "997"})
    expect_equal(run.stdout.splitlines(), ["0 bytes changed"] * 2, "on both threads")
    expect(run.trace.meta["written_by_kind"]["cpu_sample"] > 20, "samples")


if __name__ == "__main__":
    harness.main()
