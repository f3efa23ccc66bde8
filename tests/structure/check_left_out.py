# SPDX-License-Identifier: MIT
"""Where a machine lacks all libraries but zlib, the build has no warnings either."""

import os
import subprocess

import tree

WORDS = ("HAVE_", "UNWINDS_BY_LIBUNWIND")


def warnings():
    """The compiler's options for warnings, as the Makefile has them."""
    text = tree.read("Makefile").replace("\\\n", " ")
    return next(line.split(":=")[1].split() for line in text.splitlines()
                if line.startswith("WARN "))


def test_what_is_left_out_leaves_no_warning():
    found = [name for name in tree.files(".c")
             if name.startswith(("preload/", "collector/", "writer/", "tools/",
                                 "tests/unit/"))
             and any(word in tree.read(name) for word in WORDS)]
    tree.expect(len(found) > 40, f"only {found} can do without a library")
    faults = []
    for name in found:
        done = subprocess.run(
            ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-I.", *warnings(), "-Werror",
             "-fno-strict-aliasing", "-DCMOCKA_DISABLE_DEPRECATION_WARNINGS",
             "-c", "-o", os.devnull, name],
            cwd=tree.ROOT, capture_output=True, text=True)
        faults += [line for line in done.stderr.splitlines() if "error:" in line]
    tree.no_faults(faults)


if __name__ == "__main__":
    tree.main()
