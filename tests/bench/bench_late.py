# SPDX-License-Identifier: MIT
"""What recording costs a program that leaves no core: 150,000 regions in some
1.5 s on two threads that spin at each barrier.

    tests/bench/bench_late.py [ROUNDS] [REGIONS] [MICROSECONDS]

Each round runs the program bare, then with TRACEPROF_ENCODE=live and =auto, one
behind the other; printed are the medians' ratios to the bare one, in wall time
and in the processor time of the program itself, and how long after its end the
file was whole.
"""

import glob
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from bench_rounds import CLOSING, ratio

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("TEST_BUILD", os.path.join(ROOT, "build"))


def one(when, arguments, build=BUILD):
    """(wall, processor, seconds until whole, stderr) of one run."""
    target = tempfile.mkdtemp(prefix="traceprof-bench-")
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("TRACEPROF", "LD_", "OMP_", "GOMP_"))}
    env |= {"OMP_WAIT_POLICY": "active", "OMP_PROC_BIND": "true"}
    if when:
        env |= {"LD_PRELOAD": os.path.join(build, "libtraceprof.so"),
                "TRACEPROF_DIR": target, "TRACEPROF_ENCODE": when}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    done = subprocess.run([os.path.join(build, "tests/programs/spins"), *arguments],
                          env=env, capture_output=True, text=True, check=True)
    end = time.monotonic()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    while any(target.encode() in beginning(name)
              for name in glob.glob("/dev/shm/traceprof-*")):
        time.sleep(0.02)
    whole = time.monotonic() - end
    shutil.rmtree(target)
    return (end - begin, after.ru_utime + after.ru_stime - before.ru_utime
            - before.ru_stime, whole, done.stderr)


def beginning(name):
    """Of a session, which may be gone by now."""
    try:
        with open(name, "rb") as file:
            return file.read(1 << 16)
    except OSError:
        return b""


REGION_US = 10


def work_for(build):
    """What makes a region take REGION_US here: spins' microseconds are of no certain
    processor."""
    micros = 9
    for _ in range(3):
        took_us = min(one("", ["2", "20000", str(micros)], build)[0] / 20000 * 1e6
                      for _ in range(3))
        micros = max(1, round(micros * REGION_US / took_us))
    return str(micros)


def behind(bench):
    """The rows of `make bench`."""
    micros = work_for(bench.build)
    regions = 150000 if bench.full else 30000
    runs = {"": [], "auto": []}
    for _ in range(11 if bench.full else 3):
        for way, found in runs.items():
            found.append(one(way, ["2", str(regions), micros], bench.build))
    wall, cpu, whole = ({way: [run[at] for run in found] for way, found in runs.items()}
                        for at in (0, 1, 2))
    seen = [CLOSING.search(run[3]) for run in runs["auto"]]
    lost = sum(int(found.group(2)) for found in seen if found and found.group(2) != "none")
    unsaid = sum(not found for found in seen)
    name = f"{regions:,} regions in {statistics.median(wall['']):.2f} s, both cores spinning"
    bench.add(f"{name}, wall", "x", ratio(wall[""], wall["auto"]), target=1.05,
              note=f"{lost:,} lost" if lost else "none lost")
    bench.add(f"{name}, processor time", "x", ratio(cpu[""], cpu["auto"]), target=1.05)
    bench.add(f"{name}, file whole after the end", "s", statistics.median(whole["auto"]),
              target=3, note=f"at most {max(whole['auto']):.2f} s"
              + (f"; {unsaid} runs said nothing" if unsaid else ""))


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    arguments = ["2", *(sys.argv[2:4] or ["150000", "9"])]
    ways = ("", "live", "auto")
    runs = {way: [] for way in ways}
    for _ in range(rounds):
        for way in ways:
            runs[way].append(one(way, arguments))
            print(f"{way or 'bare':4} {runs[way][-1][0]:.3f} s wall, "
                  f"{runs[way][-1][1]:.3f} s processor", file=sys.stderr, flush=True)
    bare = [statistics.median(run[i] for run in runs[""]) for i in (0, 1)]
    print(f"bare: {bare[0]:.3f} s wall, {bare[1]:.3f} s processor")
    for way in ways[1:]:
        wall, cpu, whole = (statistics.median(run[i] for run in runs[way])
                            for i in (0, 1, 2))
        print(f"{way}: wall {wall / bare[0]:.3f}, processor {cpu / bare[1]:.3f}, "
              f"whole after {whole:.2f} s; {(runs[way][-1][3].splitlines() or [''])[0]}")


if __name__ == "__main__":
    main()
