# SPDX-License-Identifier: MIT
"""Five well-known OpenMP programs with short regions, on all cores and on two
that several threads share."""

import os
import shutil
import statistics

from bench_rounds import Variant, ratio, rounds

KERNELS = ("cg", "sor", "lu", "floyd", "align")
QUICK = ("cg", "sor")   # also with sleeping threads, in two minutes
SPIN = {"OMP_WAIT_POLICY": "active", "GOMP_SPINCOUNT": "infinite"}
SLEEP = {"OMP_WAIT_POLICY": "passive"}
RUN_NS = 60e6       # of each run, without recording
SOLVER_NS = 100e6
ROUNDS_MOST = 15    # of 30 rows; the middle half of the runs lies within 3 %


def few(bench):
    return min(bench.rounds, ROUNDS_MOST) if bench.full else 3


def measure(bench, name, threads, settings, prefix=(), variants=None):
    """Wall time with and without; the same number of repeats for all."""
    program = bench.program("bench_kernels")
    plain = Variant(prefix=prefix, **settings)
    probe = plain.run([program, name, threads, 1]).numbers
    repeats = max(int(RUN_NS * (2 if bench.full else 1) * bench.scale / probe[0]), 1)
    chosen = {"plain": plain, "traced": Variant(bench.library, prefix, **settings)}
    chosen |= variants or {}
    runs = rounds(few(bench), chosen,
                  [program, name, threads, repeats])
    return runs, probe[0] / max(probe[2], 1)


def add(bench, what, runs, region_ns, target):
    wall = {name: [one.numbers[0] for one in found] for name, found in runs.items()}
    cpu = {name: [one.numbers[1] for one in found] for name, found in runs.items()}
    note = (f"regions of {region_ns / 1000:.1f} us; "
            f"CPU {ratio(cpu['plain'], cpu['traced'])[0]:.2f}")
    if "whole" in wall:
        note += f"; everything drawn {ratio(wall['plain'], wall['whole'])[0]:.2f}"
    lost = max(one.lost for one in runs["traced"])
    bench.keep(what, runs)
    bench.add(what, "x", ratio(wall["plain"], wall["traced"]), target=target,
              note=note + (f"; {lost:,} lost" if lost else ""))


def kernels(bench):
    threads = os.cpu_count() or 2
    for name in KERNELS:
        for how, settings in (("spinning", SPIN), ("passive", SLEEP)):
            if how == "passive" and not bench.full and name not in QUICK:
                continue
            whole = {"whole": Variant(bench.library, TRACEPROF_MAX_OVERHEAD="0",
                                      **settings)}
            runs, region_ns = measure(bench, name, threads, settings,
                                      variants=whole if bench.full else None)
            add(bench, f"{name}, {threads} threads, {how}", runs, region_ns,
                1.15 if how == "spinning" else None)


def crowded(bench):
    """More threads than cores: each wait is the kernel's business."""
    taskset = shutil.which("taskset")
    if not taskset:
        print("taskset is not installed: left out")
        return
    for threads in (4, 8, 16) if bench.full else (4, 16):
        runs, region_ns = measure(bench, "sor", threads, SLEEP,
                                  [taskset, "-c", "0,1"])
        add(bench, f"sor, {threads} threads on two cores", runs, region_ns, None)


def solvers(bench):
    """Programs that are over in a tenth of a second, their start and end too."""
    threads = os.cpu_count() or 2
    program = bench.program("bench_kernels")
    plain = Variant(**SPIN)
    for name in KERNELS:
        probe = plain.run([program, name, threads, 1]).numbers[0]
        repeats = max(int(SOLVER_NS / probe), 1)
        runs = rounds(few(bench), {"plain": plain,
                                   "traced": Variant(bench.library, **SPIN)},
                      [program, name, threads, repeats])
        bench.keep(f"solver {name}", runs)
        wall, cpu = ({key: [getattr(one, what) for one in found]
                      for key, found in runs.items()} for what in ("wall", "cpu"))
        lost = max(one.lost for one in runs["traced"])
        bench.add(f"small solver {name}, {statistics.median(wall['plain']) * 1000:.0f} ms, "
                  "whole process", "x", ratio(wall["plain"], wall["traced"]), target=1.15,
                  note=f"CPU {ratio(cpu['plain'], cpu['traced'])[0]:.2f}"
                  + (f"; {lost:,} lost" if lost else ""))


def short_regions(bench):
    """Two threads, empty loops of a given length, all waits spinning."""
    program = bench.program("bench_region")
    per_step = statistics.median(
        bench.plain.run([program, 1, 200, 200000]).numbers[0] for _ in range(3)) / 200000
    for length, bound, target in ((20, "5", 1.01), (6, "5", 1.08), (6, "0", 1.15)):
        count = bench.many((200000 if bench.full else 50000) / length)
        runs = rounds(bench.rounds, {
            "plain": Variant(**SPIN),
            "traced": Variant(bench.library, TRACEPROF_MAX_OVERHEAD=bound, **SPIN)},
            [program, 2, count, int(length * 1000 / per_step)])
        said = "" if bound == "5" else ", no bound"
        bench.keep(f"short regions {length} us{said}", runs)
        times = {name: [one.numbers[0] for one in found]
                 for name, found in runs.items()}
        bench.add(f"regions of {length} us, two threads, spinning{said}", "x",
                  ratio(times["plain"], times["traced"]), target=target)
