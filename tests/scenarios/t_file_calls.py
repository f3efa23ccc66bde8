# SPDX-License-Identifier: MIT
"""Files that are read and written by parts at a place, or copied past the program's
own memory."""

import os

import harness
from harness import expect, expect_equal, same
from t_host import IO, file_sums


def copies(**settings):
    folder = os.path.join(harness.folder(), "files")
    os.mkdir(folder)
    return same("file_copies", folder, env=IO | settings)


def test_each_is_a_read_or_a_write_of_its_file():
    sums = file_sums(copies().trace)
    expect_equal(dict(sums), {
        ("write", "from"): [4, 10000 + 6000 + 10000 + 6000],
        ("read", "from"): [8, 10000 + 6000 + 10000 + 6000 + 3000 + 1 + 500 + 7000],
        ("write", "sent"): [2, 3001], ("write", "copied"): [1, 7000]}, "files")


def test_a_copy_is_drawn_for_both_files():
    """The one that is read in the other; a socket is none."""
    trace = copies().trace
    writes = [one for one in trace.events if one["name"].startswith("write: ")
              and os.path.basename(one["name"]) in ("sent", "copied")]
    expect_equal(len(writes), 3, "files that are written")
    reads = [one for one in trace.events if one["name"].startswith("read: ")]
    for write in writes:
        inside = [one for one in reads if write["ts"] <= one["ts"]
                  and one["ts"] + one["dur"] <= write["ts"] + write["dur"]]
        expect_equal([one["args"]["bytes"] for one in inside], [write["args"]["bytes"]], write)


def test_results_are_the_same_with_waits_and_without_files():
    run = copies(TRACEPROF_IO="0", TRACEPROF_SAMPLE="499", TRACEPROF_WAIT_MIN="0")
    names = {one["name"] for one in run.trace.events if one.get("cat") == "wait"}
    wanted = {"wait: preadv", "wait: pwritev", "wait: preadv2", "wait: pwritev2",
              "wait: sendfile", "wait: copy_file_range", "wait: write (pipe or socket)"}
    expect(wanted <= names, sorted(wanted - names))


if __name__ == "__main__":
    harness.main()
