# SPDX-License-Identifier: MIT
"""What a trainer keeps of each step, against the interval that the slope has.

    traceprof memory --json FILE... | leak_interval.py SCRIPT LINE BYTES

One tolerance does not fit all modes: with each block known at each step's end the
slope is exact, samples have an error, and lines of sums lie up to 5 ms beside the
steps' ends. Each says its own error by an interval of 99.9 %, and that is what is
held against the truth: it has to hold the BYTES that are kept, or those and a
hundredth more, which the objects around a block and the allocator's rounding take.
And it has to be of use: narrower than what tells the truth from its half and its
double."""
import json
import sys


def line_of(place, script):
    """Where the script was: of its frames the innermost."""
    return next((frame["line"] for frame in place["stack"]
                 if frame.get("file", "").endswith("/" + script)), None)


def main():
    script, line, kept = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    host = json.load(sys.stdin)[0]["memories"][0]
    grows = [place for place in host["places"] if place.get("growth")]
    if not grows:
        sys.exit(f"nothing grows: {host['growth']}")
    most = line_of(max(grows, key=lambda place: place["growth"]), script)
    # A list of Python's and its objects are two.
    here = [place for place in grows if line_of(place, script) == line]
    slope, low, high = (sum(place[key] for place in here)
                        for key in ("growth", "growth_low", "growth_high"))
    said = (f"{script}:{most} +{slope / 1024:.2f} KiB, "
            f"{low / 1024:.2f} to {high / 1024:.2f}")
    if most != line:
        sys.exit(f"another line: {said}")
    if not (low <= 1.01 * kept and high >= kept):
        sys.exit(f"the interval is not about {kept / 1024:.0f} KiB: {said}")
    if not (low > kept / 2 and high < 2 * kept):
        sys.exit(f"the interval says too little: {said}")
    print(said)


main()
