# SPDX-License-Identifier: MIT
"""Steps of training: with every core in spinning barriers, and PyTorch's."""

import os
import statistics

from bench_rounds import Variant, rounds, ratio

HERE = os.path.dirname(os.path.abspath(__file__))
SPIN = {"OMP_WAIT_POLICY": "active", "GOMP_SPINCOUNT": "infinite"}


def spinning(bench):
    """Two threads for each two cores: the writer takes its time from them."""
    threads = max(os.cpu_count() or 2, 2)
    program = bench.program("bench_region")
    probe = bench.plain.run([program, 1, 200, 200000]).numbers[0] / 200000
    # Slices for each region: its own, one for each member, the master's wait.
    events = threads + 2
    for rate, target in ((50000, 1.02), (150000, 1.02)):
        region_ns = 1e9 * events / rate
        count = bench.many(rate / events * (2 if bench.full else 0.45))
        runs = rounds(bench.rounds,
                      {"plain": Variant(**SPIN),
                       "traced": Variant(bench.library, **SPIN)},
                      [program, threads, count, int(region_ns / probe)])
        bench.keep(f"spinning {rate}", runs)
        times = {name: [one.numbers[0] for one in found]
                 for name, found in runs.items()}
        seconds = statistics.median(times["traced"]) * count / 1e9
        seen = statistics.median(one.events for one in runs["traced"])
        lost = max(one.lost for one in runs["traced"])
        bench.add(f"step, spinning barriers, {rate // 1000},000 slices/s", "x",
                  ratio(times["plain"], times["traced"]), target=target,
                  note=f"{seen / seconds:,.0f} events/s on {threads} threads, "
                  + (f"{lost:,} lost" if lost else "none lost"))


def torch(bench):
    """A training step on the processor, default settings."""
    python = os.environ.get("BENCH_PYTHON")
    if not python:
        print("PyTorch's step: left out, BENCH_PYTHON names no python that has it")
        return
    command = [python, "-B", os.path.join(HERE, "bench_torch.py"),
               str(max(int((100 if bench.full else 30) * bench.scale), 5))]
    # Starting takes longer than the steps: every run counts.
    runs = rounds(15 if bench.full else 3,
                  {"plain": bench.plain, "traced": bench.ours().telling()}, command)
    bench.keep("torch", runs)
    cost = statistics.median(one.hooks_s + one.writer_s for one in runs["traced"])
    for column, name, target in ((1, "processor time", 1.01), (0, "wall time", None)):
        times = {key: [one.numbers[column] for one in found]
                 for key, found in runs.items()}
        found = ratio(times["plain"], times["traced"])
        note = f"on {statistics.median(times['plain']):.2f} ms"
        if target:
            note += f"; all of a run's recording took {cost:.2f} s"
        else:
            note += "; met" if found[1] <= 1 <= found[2] else "; **missed**"
            note += ": 1 shall lie in the interval"
        bench.add(f"PyTorch training step, default settings, {name}", "x",
                  found, target=target, note=note)
