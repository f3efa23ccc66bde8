# SPDX-License-Identifier: MIT
"""What is written for aarch64 alone compiles for it, by a compiler on this machine."""

import os
import shutil
import subprocess

import tree

COMPILER = "aarch64-linux-gnu-gcc"


def sources():
    """Files that say something for one processor, in the library and the command."""
    return [name for name in tree.files(".c")
            if name.startswith(("preload/", "collector/", "writer/", "tools/"))
            and any(word in tree.read(name) for word in ("__aarch64__", "__x86_64__"))]


def test_what_is_for_aarch64_compiles():
    if not shutil.which(COMPILER):
        raise tree.Skip(f"{COMPILER} is not on this machine")
    found = sources()
    tree.expect(len(found) > 10, f"only {found} name a processor")
    faults = []
    for name in found:
        done = subprocess.run(
            [COMPILER, "-std=gnu11", "-D_GNU_SOURCE", "-I.", "-O1", "-fPIC", "-Wall",
             "-Wextra", "-Werror", "-fno-strict-aliasing", "-fno-builtin-malloc", "-c",
             "-o", os.devnull, name], cwd=tree.ROOT, capture_output=True, text=True)
        faults += done.stderr.splitlines()[:3] if done.returncode else []
    tree.no_faults(faults)


if __name__ == "__main__":
    tree.main()
