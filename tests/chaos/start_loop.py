# SPDX-License-Identifier: MIT
"""Many starts under load: what all threads did from the first call on is there.

    tests/chaos/start_loop.py [--starts N] [--threads N] [--load N]

tests/programs/starts.c lets its threads make scopes and regions, all from the
same moment on, so the recording begins while the others are at it.  --load
processes keep the processors busy beside it.  Each trace is read: the last line
says in how many starts something was missing.
"""

import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "scenarios"))
import harness

EACH = 20


def start(threads, target):
    """(scopes, regions) of one run, and what it said."""
    done = subprocess.run(
        [harness.program("starts"), "mixed", str(threads), str(EACH)],
        env=harness.clean_environment() | {"LD_PRELOAD": harness.LIBRARY,
                                           "TRACEPROF_DIR": target},
        capture_output=True, text=True, timeout=120)
    text = "".join(gzip.open(entry.path, "rt").read()
                   for entry in os.scandir(target))
    return (len(re.findall(r'"cat":"\w+","name":"start"', text)),
            len(re.findall(r'"cat":"\w+","name":"start_region \[omp parallel', text)),
            done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--load", type=int, default=4)
    options = parser.parse_args()
    # Thread by thread another of scopes, regions and blocks.
    wanted = tuple((options.threads + more) // 3 * EACH for more in (2, 1))
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(options.load)]
    faults = 0
    try:
        for number in range(options.starts):
            target = tempfile.mkdtemp(prefix="traceprof-starts-")
            try:
                *seen, said = start(options.threads, target)
            finally:
                shutil.rmtree(target)
            if tuple(seen) != wanted or "none lost" not in said:
                faults += 1
                print(f"start {number}: seen {seen}, wanted {wanted}: {said}")
    finally:
        for process in load:
            process.kill()
            process.wait()
    print(f"{options.starts} starts, {faults} with something missing")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
