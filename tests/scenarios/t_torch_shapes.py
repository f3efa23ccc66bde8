# SPDX-License-Identifier: MIT
"""What PyTorch's operators are given, on torch_double.c."""

import harness
from harness import expect, expect_equal, same
from t_torch import library, one, program, recorded


def test_shapes_on_request():
    expect("Input Dims" not in one(recorded().trace, "aten::copy_")["args"], "not asked")
    args = one(recorded(TRACEPROF_SHAPES="1").trace, "aten::copy_")["args"]
    expect_equal(args["Input Dims"], [[2, 0], [2, 1], []], "dimensions")
    expect_equal(args["Input type"], ["float", "a type with a long name", "Scalar"],
                 "types")


def test_sizes_of_a_list_of_tensors():
    args = one(recorded(TRACEPROF_SHAPES="1").trace, "c10d::allreduce_")["args"]
    expect_equal(args["Input Dims"], [[[2, 0], [2, 1]], [2, 2], []], "dimensions")
    expect_equal(args["Input type"], ["TensorList", "a type with a long name", "Scalar"],
                 "types")


def test_sizes_of_several_lists():
    """All of a _foreach operator have one length; of others nothing tells."""
    trace = same(program(), library(), "lists", env={"TRACEPROF_SHAPES": "1"}).trace
    for name, dims, types in (
            ("aten::_foreach_lerp_",
             [[[2, 0], [2, 1]], [[2, 2], [2, 3]], [2, 4], []],
             ["TensorList", "TensorList", "float", "Scalar"]),
            ("aten::_foreach_addcdiv_",
             [[[2, 0], [2, 1], [2, 2]], [[2, 3], [2, 4], [2, 5]], [], []],
             ["TensorList", "TensorList", "ScalarList", "Scalar"]),
            ("aten::_fused_adam_", [[], [], [2, 2], []],
             ["GenericList", "GenericList", "float", "Scalar"])):
        args = one(trace, name)["args"]
        expect_equal((args["Input Dims"], args["Input type"]), (dims, types), name)


if __name__ == "__main__":
    harness.main()
