# SPDX-License-Identifier: MIT
"""What the verdict advises where a trace lacks something."""

import harness
from harness import command, expect_equal
from t_verdict import idle_gpu, judged, made


def test_the_advice_is_for_the_cause_of_the_loss():
    """None where nothing is known to help."""
    missing = {"launched_kernels": 20, "missing_kernels": 10}
    window = {"options": {"WAIT": "5", "ACTIVE": "3"}}
    room = "raise TRACEPROF_BUFFER_MB, set TRACEPROF_ON_FULL=wait, or record some steps alone."
    for ours, words in (
            ({"events": {"seen": 1000, "dropped": 400}}, room),
            ({"events": {"seen": 1000, "dropped": 4}, "gpu": missing}, room),
            ({"gpu": missing}, ""),
            ({"gpu": missing | {"without_time": 10}}, ""),
            ({"gpu": {"unsettled_ns": 10**10}}, ""),
            ({"gpu": missing | {"without_time": 10, "unfinished": 10}},
             "let the program wait for the GPU before it ends, or raise "
             "TRACEPROF_EXIT_MS."),
            (window | {"gpu": missing | {"without_time": 10, "unfinished": 10}},
             "wait longer for the GPU: raise TRACEPROF_GPU_WAIT_MS, and TRACEPROF_EXIT_MS "
             "for the end of the program."),
            ({"gpu": missing | {"dropped_records": 10}},
             "record some steps alone (TRACEPROF_ACTIVE)."),
            (window | {"gpu": missing | {"dropped_records": 10}}, ""),
            ({"gpu": missing | {"lost_buffers": 2}, "notes": [
                "2 buffers did not come back from CUPTI: another profiler in the program "
                "has taken it"]}, "record without the other profiler in the program."),
            ({"gpu": missing, "notes": ["CUPTI refuses records of kind 10: error 21"]},
             "another version of CUPTI may have them: TRACEPROF_CUPTI names one."),
            ({"gpu": missing, "notes": ["CUPTI refuses records of kind 1: error 21"]}, "")):
        path = made(idle_gpu(), ours)
        expect_equal([one["next"] for one in judged(path)["findings"]
                      if one["rule"] == "losses"], [words], ours)
        said = " ".join(command("report", path).stdout.split())
        expect_equal(f"on the GPU]. Next: {words}" in said, bool(words), said)
        expect_equal("Next: " in said, bool(words), said)


if __name__ == "__main__":
    harness.main()
