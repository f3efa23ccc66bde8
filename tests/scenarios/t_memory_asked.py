# SPDX-License-Identifier: MIT
"""traceprof memory --asked: bytes that were asked for, beside those that are held."""

import gzip
import json
import os

import harness
from harness import command, expect, expect_equal, same, traced

MODES = {"all": {"TRACEPROF_MALLOC": "all", "TRACEPROF_STACK": "heap"},
         "sites": {"TRACEPROF_MALLOC": "sites"}}


def account(path, *options):
    done = command("memory", "--json", *options, path)
    expect_equal((done.status, done.stderr), (0, ""))
    found, = json.loads(done.stdout)
    expect_equal(found["measure"], "asked" if options else "held", "measure")
    return found["memories"][0]


def of(found, function):
    """The sums of the places that are this function's."""
    places = [place for place in found["places"]
              if place["stack"] and place["stack"][0]["function"] == function]
    expect(places, f"no place {function}")
    return {key: sum(place[key] for place in places)
            for key in ("peak", "peak_blocks", "live", "live_blocks", "bytes", "calls")}


def test_each_function_says_what_it_was_asked_for():
    for function, size in (("malloc", 1), ("malloc", 100), ("calloc", 1001),
                           ("realloc", 5003), ("reallocarray", 77),
                           ("posix_memalign", 300), ("aligned_alloc", 70),
                           ("memalign", 1300), ("valloc", 5001), ("pvalloc", 5001),
                           ("malloc", 200000)):
        for mode in MODES.values():
            # Of an aligned block it depends on what lies before it.
            path = traced("heap_calls", function, 200, size, env=mode).files[0]
            asked = of(account(path, "--asked"), "by_" + function)
            expect_equal((asked["peak"], asked["peak_blocks"], asked["live"]),
                         (200 * size, 200, 0), function)
            expect(of(account(path), "by_" + function)["peak"] > 200 * size,
                   f"{function}: what is held isn't more")


def test_each_measure_has_a_peak_of_its_own():
    for mode in MODES.values():
        path = same("asked_peaks", env=mode).files[0]
        held, asked = account(path), account(path, "--asked")
        for found, most, function, blocks in ((held, 48000, "many", 2000),
                                              (asked, 30000, "one", 1)):
            expect(most <= found["peak_bytes"] < most + 3000, found["peak_bytes"])
            for name in ("many", "one"):
                there = of(found, name)
                expect_equal((there["peak"], there["peak_blocks"]),
                             (most, blocks) if name == function else (0, 0), name)
        kept = of(asked, "keep")
        expect_equal((kept["live"], kept["live_blocks"], kept["bytes"]),
                     (1000, 100, 102000), "kept")
        expect_equal(of(held, "keep")["live"], 2400, "held of it")
        for key in ("bytes", "peak_bytes", "live_bytes"):
            expect_equal((held["asked_" + key], asked["held_" + key]),
                         (asked[key], held[key]), key)
        expect(held["peak_ns"] < asked["peak_ns"], "both at once")


def test_what_a_sample_asked_for_is_its_part():
    """Of blocks of a size, the estimates are as the sizes are."""
    path = same("heap_calls", "malloc", 1000, 5001,
                env={"TRACEPROF_MALLOC": "sampled", "TRACEPROF_STACK": "heap",
                     "TRACEPROF_MALLOC_SAMPLE": "4K"}).files[0]
    held, asked = (of(account(path, *options), "by_malloc")["bytes"]
                   for options in ((), ("--asked",)))
    expect(held > 1000000, held)
    expect(abs(asked / held - 5001 / 5016) < 1e-3, (asked, held))


def test_the_head_line_says_both():
    path = same("asked_peaks", env=MODES["sites"]).files[0]
    done = command("memory", path)
    expect("(asked for: 29.3" in done.stdout or "(asked for: 30.3" in done.stdout,
           done.stdout)
    done = command("memory", "--asked", path)
    expect("--asked: bytes of the heap are those that were asked for" in done.stdout
           and "(held: " in done.stdout, done.stdout)
    done = command("memory", "--module", "asked_peaks", path)
    expect("asked for" not in done.stdout, done.stdout)


def test_a_trace_that_does_not_say_it():
    path = same("asked_peaks", env=MODES["all"]).files[0]
    with gzip.open(path, "rt") as file:
        text = file.read()
    expect('"has_spare":true' in text, "no mark")
    old = os.path.join(harness.folder(), "old.pt.trace.json")
    with open(old, "w") as file:
        file.write(text.replace('"has_spare":true,', "").replace(
            ',"has_spare":true', ""))
    done = command("memory", "--asked", old)
    expect_equal(done.status, 3, done.stdout)
    expect("what was asked for" in done.stderr, done.stderr)
    done = command("memory", old)
    expect_equal((done.status, "asked for" in done.stdout), (0, False), done.stdout)


if __name__ == "__main__":
    harness.main()
