# SPDX-License-Identifier: MIT
"""The files that git knows, for the structure checks."""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "scenarios"))

import harness                  # noqa: E402  (needs the path above)

main = harness.main
expect = harness.expect
Skip = harness.Skip
PRODUCT = ("preload", "collector", "writer", "tools", "include")


def files(*endings):
    """Tracked files, and new ones that git does not ignore, by ending."""
    done = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached",
                           "--others", "--exclude-standard"],
                          capture_output=True, text=True)
    if done.returncode != 0:    # an exported tree without .git
        names = [os.path.relpath(os.path.join(folder, name), ROOT)
                 for folder, _, found in os.walk(ROOT) for name in found
                 if "/build" not in folder and "/.git" not in folder]
    else:
        names = done.stdout.split("\0")
    return sorted(name for name in set(names)
                  if name.endswith(endings) and name
                  and os.path.isfile(os.path.join(ROOT, name)))


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def no_faults(faults):
    """A check fails with all that it found, one line each."""
    expect(not faults, "\n".join(faults))


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    expect(done.returncode == 0, " ".join(command), done.stderr)
    return done.stdout
