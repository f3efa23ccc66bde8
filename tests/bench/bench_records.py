# SPDX-License-Identifier: MIT
"""What each kind of a GPU's records costs in instructions, counted by callgrind on
the simulated GPU: on the program's thread where CUPTI hands buffers over there,
where its own thread does, and on the threads of ours.

    python3 tests/bench/bench_records.py [KIND...]
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                                "scenarios"))

import t_gpu_instructions as records  # noqa: E402

if __name__ == "__main__":
    print(f"{'kind':8} {'program':>8} {'elsewhere':>10} {'ours':>8}")
    for kind in sys.argv[1:] or records.PROGRAM:
        here, ours = records.each_turn(kind)
        elsewhere, _ = records.each_turn(kind, "worker")
        print(f"{kind:8} {here:8.0f} {elsewhere:10.0f} {ours:8.0f}")
