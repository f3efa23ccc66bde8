# SPDX-License-Identifier: MIT
"""What `make bench` prints of a run that was cut off; nothing is measured."""

import contextlib
import io
import json
import os
import sys
import tempfile
import types

import tree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "bench"))
import bench  # noqa: E402

KEPT = {"part": "regions", "name": "kept", "unit": "x", "figure": 1.5, "low": None,
        "high": None, "target": None, "at_least": False, "peer": "", "note": ""}


class CutOff(bench.Bench):
    """Ends in its second part."""
    PARTS = ("heap", "regions")

    def heap(self):
        self.add("measured", "x", 1.1)

    def regions(self):
        self.add("half measured", "x", 1.2)
        raise KeyboardInterrupt


def lines(build, begun, **kept):
    path = os.path.join(build, "bench.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"kind": "a kind", "machine": bench.machine(), "samples": {},
                   "rows": [KEPT | kept]}, file)
    run = CutOff(types.SimpleNamespace(full=False, build=build, scale=1))
    handler = bench.signal.getsignal(bench.signal.SIGTERM)
    with contextlib.redirect_stdout(io.StringIO()):
        tree.expect(not run.measure(None), "a run that was cut off is whole")
    bench.signal.signal(bench.signal.SIGTERM, handler)
    run.merge(path, "a kind")
    return bench.table(run.rows, begun).splitlines()[2:]


def test_rows_of_an_earlier_run_say_of_when_they_are():
    with tempfile.TemporaryDirectory() as build:
        for kept, word in (({"when": "2001-02-03 04:05"}, "of 2001-02-03 04:05"),
                           ({}, "of an earlier day")):
            found = lines(build, bench.moment(), **kept)
            tree.expect(len(found) == 2, f"not two rows: {found}")
            tree.expect("measured" in found[0] and "of " not in found[0],
                        f"the new row: {found[0]}")
            tree.expect("kept" in found[1] and word in found[1],
                        f"the earlier row: {found[1]}")


if __name__ == "__main__":
    tree.main()
