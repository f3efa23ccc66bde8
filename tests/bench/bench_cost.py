# SPDX-License-Identifier: MIT
"""What a run says that it cost, against runs without recording, and what the
writer takes where little happens."""

import statistics

from bench_rounds import Variant, interval, rounds

SPIN = {"OMP_WAIT_POLICY": "active", "GOMP_SPINCOUNT": "infinite"}
# The hooks alone: the writer rests, since a team waits for its time as well.
ALONE = SPIN | {"TRACEPROF_ENCODE": "late", "TRACEPROF_STEP": "api",
                "TRACEPROF_MAX_OVERHEAD": "0"}
RATE = 5000         # events a second: an ordinary program's
SECONDS = 4


def factor(one, other):
    small, large = sorted((max(one, 1e-6), max(other, 1e-6)))
    return large / small


def told(bench):
    """The hooks' cost as the trace has it and as measured: the larger
    of the two over the smaller."""
    for name, program, numbers, variant in (
            ("all", "bench_heap", ("mixed", 1, bench.many(400000)), bench.every),
            ("default", "bench_heap", ("mixed", 1, bench.many(4000000)), bench.default),
            ("regions", "bench_region", (1, bench.many(200000), 0), bench.ours()),
            ("regions of two spinning threads", "bench_region",
             (2, bench.many(50000), 0), bench.ours(**ALONE))):
        plain = Variant(**SPIN) if program == "bench_region" else bench.plain
        runs = rounds(bench.rounds, {"plain": plain, "told": variant.telling()},
                      [bench.program(program), *numbers])
        bench.keep("told " + name, runs)
        calls = numbers[1] if program == "bench_region" else 2 * numbers[2]
        if program == "bench_region":
            calls *= numbers[0]     # all members take as long
        # Processor time of the one thread that calls.
        column = 2 if program == "bench_region" else 1
        plain, traced = ([one.numbers[column] * calls / 1e9 for one in runs[key]]
                         for key in ("plain", "told"))
        said = [one.hooks_s for one in runs["told"]]
        middle = statistics.median
        bench.add(f"hooks' cost, told and measured, {name}", "x",
                  interval(lambda a, b, c: factor(middle(c), middle(b) - middle(a)),
                           plain, traced, said),
                  target=1.3,
                  note=f"told {1000 * middle(said):.1f} ms, measured "
                  f"{1000 * (middle(traced) - middle(plain)):.1f} ms")


def writer(bench):
    """The writer's share of a core at an ordinary rate, and where nothing
    happens; what its start and end take is taken off."""
    command = [bench.program("bench_heap"), "mixed", 1]
    turns = 3 if bench.full else 1
    for name, rate, target in ((f"at {RATE} events/s", RATE, 0.02),
                               ("idle", 32, 0.001)):
        pairs = max(rate * SECONDS // 2, 64)
        shares = []
        for _ in range(turns):
            short = bench.every.telling().run(command + [64])
            long = bench.every.telling().run(command + [pairs, rate])
            shares.append((long.writer_s - short.writer_s) / SECONDS)
        bench.add(f"writer, share of a core, {name}", "x",
                  max(statistics.median(shares), 0.0), target=target,
                  note=f"over {SECONDS} s")
