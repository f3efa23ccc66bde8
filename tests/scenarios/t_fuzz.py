# SPDX-License-Identifier: MIT
"""What `make fuzz` found worth keeping, once more on each target: they build with all
that has changed since, and none of these inputs ends one."""

import glob
import os
import subprocess
import tarfile

import harness
from harness import Skip, expect, expect_equal, folder

SEEDS = os.path.join(harness.ROOT, "tests", "fuzz", "seeds")


def inputs(target, place):
    found = glob.glob(os.path.join(SEEDS, target, "*"))
    with tarfile.open(os.path.join(SEEDS, "corpus.tar.gz")) as archive:
        for member in archive:
            if member.isfile() and member.name.startswith(target + "/"):
                found.append(os.path.join(place, os.path.basename(member.name)))
                with open(found[-1], "wb") as file:
                    file.write(archive.extractfile(member).read())
    return sorted(found)


def replay(target):
    program = os.path.join(harness.BUILD, "tests", "fuzz", "replay_" + target)
    if not os.path.exists(program):
        raise Skip(f"{target} was not built")
    files = inputs(target, folder())
    expect(len(files) > 5, f"{len(files)} inputs of {target}")
    done = subprocess.run([program, *files], env=harness.clean_environment(),
                          capture_output=True, text=True, errors="replace", timeout=harness.HANGS)
    named = [line for line in done.stdout.splitlines() if line in set(files)]
    expect_equal(done.returncode, 0,
                 f"{target} on {named[-1:]}, of {len(files)}: {done.stderr[-1000:]}")
    expect_equal(len(named), len(files), target)


def test_buffers_of_cupti():
    replay("cupti")


def test_json():
    replay("json")


def test_names():
    replay("names")


def test_options():
    replay("options")


def test_sessions():
    replay("session")


def test_symbols():
    replay("symbols")


def test_traces():
    replay("trace")


if __name__ == "__main__":
    harness.main()
