# SPDX-License-Identifier: MIT
"""Without CUPTI: what stands in front of the CUDA runtime, function by function."""

import collections
import re

import harness
from harness import expect, expect_equal
from t_cuda import FAKE, need


def test_each_call_is_recorded_and_changes_no_answer():
    need("runtime_calls")
    run = harness.same("runtime_calls", env={
        "LD_LIBRARY_PATH": FAKE, "SIMGPU_SUBSCRIBER_TAKEN": "1"})
    first, *called = [line.split()[0] for line in run.stdout.splitlines()]
    expect(first == "cudaEventCreate" and len(called) > 30, run.stdout)
    expect_equal(collections.Counter(call["name"] for call
                                     in run.trace.slices(cat="cuda_runtime")),
                 collections.Counter(re.sub(r"^__|_pt(sz|ds)$", "", name)
                                     for name in called), "calls")


if __name__ == "__main__":
    harness.main()
