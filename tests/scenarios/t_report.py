# SPDX-License-Identifier: MIT
"""`traceprof report` on a trace whose numbers are known, word by word.

When it changes on purpose: UPDATE_GOLDEN=1 python3 tests/scenarios/t_report.py,
and read the difference before it is committed.
"""

import json
import os

import harness
from harness import ROOT, command, expect_equal, golden

STREAMS = os.path.join("tests", "fixtures",
                       "streams_4242.1791057570000000000.pt.trace.json")


def report(*options):
    done = command("report", *options, os.path.join(ROOT, STREAMS))
    expect_equal(done.status, 0, done.stderr)
    return done.stdout.replace(ROOT + os.sep, "")


def test_gpus():
    golden("report_streams.txt", report().splitlines())


def test_gpus_for_programs():
    found = json.loads(report("--json"))[0]
    expect_equal([(row["device"], row["stream"]) for row in found["streams"]],
                 [(0, 7), (0, 13), (1, 7)])
    expect_equal(found["streams"][1], {
        "device": 0, "stream": 13, "busy_ns": 840000, "kernels": 6, "copies": 0,
        "memsets": 3, "kernel_ns": 930000, "copy_ns": 0, "memset_ns": 30000,
        "bytes": 3000000})
    peer = found["devices"][1]
    expect_equal((peer["busy_ns"], peer["copy_ns"]), (120000, 120000))


if __name__ == "__main__":
    harness.main()
