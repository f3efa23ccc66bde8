# SPDX-License-Identifier: MIT
"""What call stacks cost: beside libunwind alone, and beside heaptrack."""

import glob
import os
import shutil
import statistics
import time

import bench_peers
from bench_rounds import Variant, added, added_ratio, median, ratio, rounds

STACKS = {"TRACEPROF_MALLOC": "all", "TRACEPROF_STACK": "heap",
          "TRACEPROF_MAX_OVERHEAD": "0"}
SITES = {"TRACEPROF_MALLOC": "sites", "TRACEPROF_GZIP": "zlib:6"}


class Kept(Variant):
    """Adds up what each run left on disk."""

    def __init__(self, place, *arguments, **settings):
        super().__init__(*arguments, keep=place, **settings)
        self.bytes = []

    def run(self, command, **more):
        os.makedirs(self.keep)
        try:
            one = super().run(command, **more)
            self.bytes.append(self.when_it_rests())
            return one
        finally:
            shutil.rmtree(self.keep)

    def when_it_rests(self):
        """Of a file that heaptrack's other processes write on after the program's end;
        ours is whole by then."""
        seen = [-1] if self.prefix else 6 * [self.written()]
        while len(seen) < 6 or seen[-1] != seen[-5]:
            time.sleep(0.2)
            seen.append(self.written())
        return seen[-1]

    def written(self):
        return sum(map(os.path.getsize, glob.glob(self.keep + "/*")))


def instructions(bench):
    import t_instructions
    try:
        alone, event = t_instructions.event_with_stack()
    except t_instructions.Skip as skip:
        print("instructions:", skip)
        return
    bench.add("event with 16 frames / unw_backtrace alone, instructions", "x",
              event / alone, target=1.3, note=f"{event:.0f} and {alone:.0f}")


def sqlite(bench, script):
    def kept(name, *arguments, **settings):
        return Kept(os.path.join(bench.folder, "stacks-" + name), *arguments, **settings)

    variants = {"plain": Variant(), "all": kept("all", bench.library, **STACKS),
                "sites": kept("sites", bench.library, **SITES),
                "sampled": kept("sampled", bench.library, TRACEPROF_MALLOC="sampled")}
    if "heaptrack" in bench_peers.heap_variants():
        variants["heaptrack"] = kept("heaptrack", prefix=("heaptrack", "-o", "{}/heap"))
    runs = rounds(bench.rounds if bench.full else 3, variants, ["sqlite3", ":memory:"], script=script)
    bench.keep("stacks", runs)
    wall, cpu, kib = ({name: [getattr(one, what) for one in found]
                       for name, found in runs.items()}
                      for what in ("wall", "cpu", "resident_kib"))
    middle = statistics.median
    bench.add("sqlite3 script, sampled with stacks", "x",
              ratio(wall["plain"], wall["sampled"]), target=1.03,
              note=f"CPU {ratio(cpu['plain'], cpu['sampled'])[0]:.3f}, file "
              f"{middle(variants['sampled'].bytes) / 1e6:.2f} MB")
    bench.add("sqlite3 script, all with stacks", "x", ratio(wall["plain"], wall["all"]),
              note=f"CPU {ratio(cpu['plain'], cpu['all'])[0]:.2f}, "
              f"{middle(one.lost for one in runs['all']):,.0f} events lost")
    for name, what in (("all", "each event in it"), ("sites", "sums by stack, zlib:6")):
        if "heaptrack" not in variants:
            break
        bench.add(f"sqlite3 script, {name} with stacks / heaptrack, added", "x",
                  added_ratio(wall["plain"], wall[name], wall["heaptrack"]), target=0.5,
                  note=f"CPU {added_ratio(cpu['plain'], cpu[name], cpu['heaptrack'])[0]:.2f}, "
                  f"{middle(one.lost for one in runs[name]):,.0f} events lost")
        bench.add("the same, file / heaptrack's", "x",
                  median([a / b for a, b in zip(variants[name].bytes,
                                                variants["heaptrack"].bytes)]), target=1,
                  note=f"{middle(variants[name].bytes) / 1e6:.2f} MB, {what}, "
                  f"and {middle(variants['heaptrack'].bytes) / 1e6:.2f} MB")
    bench.add("resident memory added, all with stacks", "MiB",
              added(*([one / 1024 for one in kib[name]] for name in ("plain", "all"))),
              target=128 + 8, note="budget 128 MiB")
