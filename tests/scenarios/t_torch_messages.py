# SPDX-License-Identifier: MIT
"""Messages between processes, as PyTorch's groups make them, on a double of its
library: what they are made of."""

import harness
from harness import ROOT, expect, expect_equal, same
from t_torch import library, one, program, recorded


def sent(count, strings=1, **env):
    """A run with messages, by a library whose strings are of C++11 or older."""
    path = library("2.15.0+cpu", f"{ROOT}/tests/programs/lib/torch_messages.cpp",
                   f"-D_GLIBCXX_USE_CXX11_ABI={strings}", "-lstdc++")
    return same(program(), path, "messages", str(count), env=env)


def test_what_a_message_is_made_of():
    """As torch.profiler writes it; what would be no JSON is left out."""
    group = {"Collective name": "allreduce", "Group size": 2, "dtype": "Float",
             "Process Group Name": "a group with a long name",
             "Is asynchronized op": True, "Comms Id": 11537390013703896217}
    wanted = [group | {"In msg nelems": size, "Out msg nelems": size, "Seq": size - 999}
              for size in (1000, 1001, 1002)]
    for strings in (1, 0):
        for shapes in ("0", "1"):
            trace = sent(3, strings, TRACEPROF_SHAPES=shapes).trace
            found = [one["args"] for one in trace.slices("record_param_comms", cat="cpu_op")]
            expect_equal(["Input Dims" in args for args in found], 3 * [shapes == "1"], found)
            ours = ("External id", "Record function id", "Ev Idx", "Input Dims", "Input type")
            expect_equal([{key: value for key, value in args.items() if key not in ours}
                          for args in found], wanted, f"strings {strings}")
            one(trace, "record_param_comms", cat="user_annotation")


def test_ranges_have_shapes_too():
    trace = recorded(TRACEPROF_SHAPES="1").trace
    for name in ("gloo:all_reduce", "Optimizer.step#SGD.step"):
        expect("Input Dims" in one(trace, name, cat="user_annotation")["args"], name)


def test_messages_of_ever_new_sizes_are_counted():
    run = sent(9000)
    found = run.trace.slices("record_param_comms", cat="cpu_op")
    known = sum("In msg nelems" in one["args"] for one in found)
    expect_equal(len(found), 9000, "messages")
    expect(8192 <= known < 9000, known)
    expect_equal(run.trace.meta["events"]["unfollowed_calls"], 9000 - known, "calls")
    expect_equal([one["args"]["Seq"] for one in found], list(range(1, 9001)), "numbers")


if __name__ == "__main__":
    harness.main()
