#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what recording costs, against targets and peers.

    bench.py [--build DIR] [--full] [--publish] [--only PART...]

Prints one table; leaves bench.json, bench.md and bench.svg in the build folder.
--only runs some of the parts and takes the others from there, as they were.
--full takes 31 rounds instead of 5, ten million events instead of one, and
installs the peers.  --publish also puts the table into docs/performance.md and
the plot into docs/images.  Times mean something only on a quiet machine.
"""

import argparse
import concurrent.futures
import datetime
import glob
import json
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import bench_cost
import bench_kernels
import bench_late
import bench_peers
import bench_plot
import bench_sample
import bench_stacks
import bench_steps
from bench_rounds import (Variant, added, added_ratio, median, ratio,
                          rounds, run, spawn_us)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "scenarios"))
# What one costs is measured on all of them.
EVERY_CALL = {"TRACEPROF_MALLOC": "all", "TRACEPROF_MAX_OVERHEAD": "0"}
# The file is whole when the program has ended.
TO_THE_END = {"TRACEPROF_ENCODE": "live", "TRACEPROF_EXIT_MS": "100000"}


class Row:
    """One line of the table.  `measured` is (figure, low, high)."""

    def __init__(self, name, unit, measured, target=None, at_least=False,
                 peer="", note="", part="", when=None):
        self.part = part
        self.when = when or moment()
        self.name, self.unit, self.target = name, unit, target
        self.figure, self.low, self.high = (measured if isinstance(measured, tuple)
                                            else (measured, None, None))
        self.at_least, self.peer, self.note = at_least, peer, note

    @classmethod
    def again(cls, kept):
        """A row as an earlier run kept it."""
        return cls(kept["name"], kept["unit"],
                   (kept["figure"], kept["low"], kept["high"]), kept["target"],
                   kept["at_least"], kept["peer"], kept["note"], kept["part"],
                   kept.get("when", "an earlier day"))

    @property
    def met(self):
        if not self.target:
            return True
        limit = self.target * (0.999 if self.at_least else 1.001)
        return self.figure >= limit if self.at_least else self.figure <= limit

    def text(self, value, unit=True):
        digits = 3 if self.unit == "x" else 0 if abs(value) >= 1000 else 2 \
            if abs(value) < 10 else 1
        shown = f"{value:,.{digits}f}"
        return shown + (f" {self.unit}" if unit and self.unit not in ("x", "") else "")

    def verdict(self):
        if not self.target:
            return ""
        if self.met:
            return "met"
        share = abs(self.figure / self.target - 1)
        return f"**missed**, {100 * share:.0f} % {'below' if self.at_least else 'above'}"

    def cells(self, begun):
        """`begun`: when this run began; a row of an earlier one says when that was."""
        target = ""
        older = f"of {self.when}" if self.when < begun or not self.when[0].isdigit() else ""
        if self.target:
            target = ("at least " if self.at_least else "at most ") + self.text(self.target)
        span = "" if self.low is None else \
            f"{self.text(self.low, False)} to {self.text(self.high, False)}"
        return [self.name, target, self.text(self.figure), span, self.peer,
                ". ".join(part for part in (self.verdict(), self.note, older) if part)]


class Bench:
    def __init__(self, options):
        self.full = options.full
        self.rounds = 31 if options.full else 5
        self.build = os.path.abspath(options.build)
        self.library = os.path.join(self.build, "libtraceprof.so")
        self.command = os.path.join(self.build, "traceprof")
        self.rows = []
        self.samples = {}
        self.part = ""
        # A slow machine is to be done in two minutes.
        self.scale = options.scale * (1 if options.full else 0.6)
        self.folder = tempfile.mkdtemp(prefix="traceprof-bench-")
        self.plain = Variant()
        self.closed = self.ours(TRACEPROF="0")
        self.default = self.ours(TRACEPROF_MALLOC="large")
        self.every = self.ours(**EVERY_CALL, TRACEPROF_MAX_MB="0")

    def ours(self, **settings):
        return Variant(self.library, **settings)

    def program(self, name):
        return os.path.join(self.build, "tests", "bench", name)

    def many(self, number):
        return max(int(number * self.scale), 1000)

    def add(self, *arguments, **more):
        self.rows.append(Row(*arguments, part=self.part, **more))

    def keep(self, name, runs):
        """All samples go into the JSON file."""
        self.samples[name] = {
            variant: {"numbers": [one.numbers for one in found],
                      "wall_s": [one.wall for one in found],
                      "cpu_s": [one.cpu for one in found],
                      "lost": [one.lost for one in found]}
            for variant, found in runs.items()}

    # --- parts --------------------------------------------------------------

    def instructions(self):
        import t_instructions
        try:
            program = t_instructions.build("bench_heap")
        except t_instructions.Skip as skip:
            print("instructions:", skip)
            return
        # Nothing is timed, so all processors may count.
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            added_by = dict(zip(t_instructions.HEAP, pool.map(
                lambda mode: t_instructions.added_to_heap_call(mode, program),
                t_instructions.HEAP)))
        for mode, (_, limit) in t_instructions.HEAP.items():
            self.add(f"instructions added per heap call, {mode}", "", added_by[mode],
                     target=limit,
                     peer="LTTng 954 (measured elsewhere)" if mode == "all" else "")

    def heap(self):
        ours = {"plain": self.plain, "closed": self.closed,
                "default": self.default, "all": self.every}
        full = self.ours(**EVERY_CALL, TRACEPROF_BUFFER_MB="4",
                         TRACEPROF_GZIP="zlib:9")
        # The program's thread waits for the writer: then the buffers are those
        # that it has used before, and its processor time is the hook's.
        again = self.ours(**EVERY_CALL, TRACEPROF_MAX_MB="0",
                          TRACEPROF_ON_FULL="wait", TRACEPROF_BUFFER_MB="4")
        with bench_peers.Lttng() as lttng:
            for pattern in ("pair", "mixed"):
                for threads in (1, 2):
                    variants = dict(ours)
                    if pattern == "mixed":
                        variants |= lttng.variants()
                        if threads == 1:
                            variants |= {"full": full, "again": again} \
                                | bench_peers.heap_variants()
                    runs = rounds(self.rounds, variants,
                                  [self.program("bench_heap"), pattern, threads,
                                   self.many(200000)])
                    self.keep(f"heap {pattern} {threads}", runs)
                    self.heap_rows(pattern, threads, runs)
                    lttng.empty()

    def heap_rows(self, pattern, threads, runs):
        times, cpu = ({name: [one.numbers[column] for one in found]
                       for name, found in runs.items()} for column in (0, 1))
        where = f"{pattern}, {threads} thread{'s' * (threads > 1)}"
        for mode in ("closed", "default", "all"):
            lost = max(one.lost for one in runs[mode])
            self.add(f"added per heap call, {where}, {mode}", "ns",
                     added(times["plain"], times[mode]),
                     peer=self.peers_added(times) if mode == "all" else "",
                     note=f"on {statistics.median(times['plain']):.1f} ns; "
                     f"thread CPU {added(cpu['plain'], cpu[mode])[0]:.1f} ns"
                     + (f"; {lost:,} lost in the worst round" if lost else ""))
        if "lttng" in times:
            self.add(f"all / LTTng, added, {where}", "x",
                     added_ratio(times["plain"], times["all"], times["lttng"]),
                     target=0.25 if threads == 1 else 1 / 3)
        if "again" in times:
            self.add(f"the same, {where}, all, buffers used before", "ns",
                     added(cpu["plain"], cpu["again"]), note="thread CPU")
            if "lttng" in times:
                self.add("all, buffers used before / LTTng, added", "x",
                         added_ratio(cpu["plain"], cpu["again"], cpu["lttng"]),
                         target=0.25, note="thread CPU")
        if "full" in times:
            lost = statistics.median(one.lost for one in runs["full"])
        if "full" in times and not lost:
            print("full ring / recording: no ring was full: left out")
        elif "full" in times:
            self.add("full ring / recording, added", "x",
                     added_ratio(times["plain"], times["full"], times["all"]),
                     target=1, note=f"{lost:,.0f} of "
                     f"{runs['full'][0].numbers[2]:,.0f} calls refused")

    @staticmethod
    def peers_added(times):
        names = {"lttng": "LTTng", "heaptrack": "heaptrack", "uftrace": "uftrace"}
        return ", ".join(f"{names[name]} {added(times['plain'], times[name])[0]:.0f} ns"
                         for name in names if name in times)

    def regions(self):
        variants = {"plain": self.plain, "closed": self.closed, "traced": self.ours()}
        program = self.program("bench_region")
        probe = self.plain.run([program, 1, 2000, 20000]).numbers[0] / 20000
        work = int(20000 / probe)
        for name, threads, count, steps in (
                ("one thread, empty", 1, 100000, 0),
                ("two threads, empty", 2, 40000, 0),
                ("one thread, 20 us", 1, 4000, work),
                ("two threads, 20 us", 2, 4000, work)):
            runs = rounds(self.rounds, variants,
                          [program, threads, self.many(count), steps])
            self.keep("region " + name, runs)
            times = {key: [one.numbers[0] for one in found]
                     for key, found in runs.items()}
            if steps:
                self.add(f"parallel region, {name}", "x",
                         ratio(times["plain"], times["traced"]), target=1.01)
                continue
            closed = added(times["plain"], times["closed"])[0]
            self.add(f"parallel region, {name}, added", "ns",
                     added(times["plain"], times["traced"]),
                     target=60 if threads == 1 else None,
                     note=f"on {statistics.median(times['plain']):.0f} ns; "
                          f"closed {closed:.0f} ns")

    def tasks(self):
        """Also where the bound thins them, by sites; and waits that are drawn."""
        for program, count, title, variants in (
                ("bench_tasks", 100000, "explicit task", {
                    "no bound": self.ours(TRACEPROF_MAX_OVERHEAD="0"), "": self.ours()}),
                ("bench_waits", 2000, "wait of 60 us", {
                    "": self.ours(TRACEPROF_WAITS="1"),
                    "with its stack": self.ours(TRACEPROF_SAMPLE="499")})):
            runs = rounds(self.rounds, {"plain": self.plain} | variants,
                          [self.program(program), self.many(count)])
            self.keep(title, runs)
            times = {key: [one.numbers[0] for one in found] for key, found in runs.items()}
            for name in variants:
                self.add(title + (f", {name}" if name else "") + ", added", "ns",
                         added(times["plain"], times[name]),
                         note=f"on {statistics.median(times['plain']):.0f} ns"
                         + ("; processor time" if program == "bench_waits" else ""))

    def sql_script(self):
        """None where there is no sqlite3."""
        if not shutil.which("sqlite3"):
            print("sqlite3 is not installed: left out")
            return None
        script = os.path.join(self.folder, "script.sql")
        with open(script, "w", encoding="ascii") as file:
            file.writelines(sql_lines(self.many(200000 if self.full else 100000)))
        return script

    def stacks(self):
        bench_stacks.instructions(self)
        bench_sample.rows(self)
        script = self.sql_script()
        if script:
            bench_stacks.sqlite(self, script)

    def sqlite(self):
        script = self.sql_script()
        if not script:
            return
        with bench_peers.Lttng() as lttng:
            runs = rounds(self.rounds, {"plain": self.plain, "default": self.default,
                                        "all": self.every} | lttng.variants(),
                          ["sqlite3", ":memory:"], script=script)
        self.keep("sqlite", runs)
        wall = {name: [one.wall for one in found] for name, found in runs.items()}
        cpu = {name: [one.cpu for one in found] for name, found in runs.items()}
        rate = (runs["all"][0].events + runs["all"][0].lost) / statistics.median(wall["plain"]) / 1e6
        lost = sorted(one.lost for one in runs["all"])
        peer = f"LTTng {ratio(wall['plain'], wall['lttng'])[0]:.2f}" \
            if "lttng" in wall else ""
        self.add("sqlite3 script, default mode", "x",
                 ratio(wall["plain"], wall["default"]), target=1.03,
                 note=f"CPU {ratio(cpu['plain'], cpu['default'])[0]:.2f}")
        self.add("sqlite3 script, all", "x", ratio(wall["plain"], wall["all"]),
                 target=1.10, peer=peer,
                 note=f"CPU with the writer's {ratio(cpu['plain'], cpu['all'])[0]:.2f}, "
                 f"{rate:.1f} M events/s, "
                 + (f"{statistics.median(lost):,.0f} lost of a median round, "
                    f"{lost[-1]:,} of the worst, buffer 128 MiB" if lost[-1]
                    else "none lost"))

    def start(self):
        """Both libraries as copied, like one that was installed: of a file that
        a linker wrote piece by piece the kernel maps smaller pieces."""
        paths = {name: os.path.join(self.folder, name + ".so")
                 for name in ("empty", "preloaded", "linked")}
        subprocess.run(["gcc", "-shared", "-o", paths["linked"], "-x", "c", "/dev/null"],
                       check=True)
        shutil.copyfile(paths["linked"], paths["empty"])
        shutil.copyfile(self.library, paths["preloaded"])
        variants = {"plain": self.plain, "preloaded": Variant(paths["preloaded"]),
                    "empty": Variant(paths["empty"])}
        times = {name: [] for name in variants}
        for _ in range(self.rounds):
            for name, variant in variants.items():
                times[name].append(spawn_us(variant, ["/bin/true"]))
        self.samples["start"] = times
        self.add("/bin/true", "x", ratio(times["plain"], times["preloaded"]),
                 target=1.10,
                 note=f"on {statistics.median(times['plain']):.0f} us; a library "
                 f"with nothing in it {ratio(times['plain'], times['empty'])[0]:.2f}")

    def memory(self):
        command = [self.program("bench_heap"), "mixed", 1, self.many(500000)]
        runs = rounds(3, {"plain": self.plain, "default": self.default,
                          "all": self.every}, command)
        kib = {name: [one.numbers[3] / 1024 for one in found]
               for name, found in runs.items()}
        for mode in ("default", "all"):
            self.add(f"resident memory added, {mode}", "MiB",
                     added(kib["plain"], kib[mode]), target=128 + 4,
                     note="budget 128 MiB")

    def drain(self):
        """Against the plainest writer there is, on the same machine: printf into
        zlib's fastest level."""
        for name, pattern, pairs in (("heap", "mixed", 6.5e6),
                                     ("mixed kinds", "omp", 5.5e6)):
            pairs = self.many(pairs * (6 if self.full else 0.3))
            by_hand = self.by_hand()
            one = self.ours(**EVERY_CALL, **TO_THE_END, TRACEPROF_MAX_MB="0",
                            TRACEPROF_ON_FULL="wait"
                            ).run([self.program("bench_heap"), pattern, 1, pairs])
            # Less the tenth of a second that the program waits at its start.
            seconds = one.wall - 0.1
            rate = one.events / seconds / 1e6
            self.add(f"drained without loss / printf and zlib's level 1, {name}", "x",
                     rate / by_hand, target=5, at_least=True,
                     note=f"{rate:.2f} M events/s, {by_hand:.2f} by hand; "
                     f"{one.events:,} events in {seconds:.1f} s, "
                     f"{one.lost:,} lost, ON_FULL=wait")

    def by_hand(self):
        """Millions of heap events a second of processor time."""
        got = run([self.program("bench_coder"), "by-hand", str(self.many(200000))]).stdout
        return float(got)

    def coders(self):
        for name, pattern in (("heap", "mixed"), ("mixed kinds", "omp")):
            folder = os.path.join(self.folder, pattern)
            one = self.ours(**EVERY_CALL, **TO_THE_END, TRACEPROF_MAX_MB="0",
                            TRACEPROF_GZIP="off", TRACEPROF_DIR=folder).run(
                [self.program("bench_heap"), pattern, 1, self.many(150000)])
            text = glob.glob(folder + "/*.json")[0]
            turns = 7 if self.full else 3
            got = os.popen(f"'{self.program('bench_coder')}' '{text}' "
                           + "fast zlib:1 off " * turns).read()
            found = {}
            for line in got.splitlines():
                coder, speed, size = line.split()
                found.setdefault(coder, []).append((float(speed), int(size)))
            for coder, values in found.items():
                speeds = [speed for speed, _ in values]
                self.add(f"coder {coder}, {name}", "MB/s", median(speeds),
                         note=f"text; {values[0][1] / one.events:.1f} bytes per event, "
                         f"{statistics.median(speeds) * 1e6 * one.events / os.path.getsize(text) / 1e6:.1f} "
                         "M events/s")

    def tools(self):
        sizes = [(1000000, 6, 300)] + ([(10000000, 60, 300)] if self.full else [])
        for events, seconds, mebibytes in sizes:
            folder = os.path.join(self.folder, str(events))
            self.ours(**EVERY_CALL, **TO_THE_END, TRACEPROF_MAX_MB="0",
                      TRACEPROF_ON_FULL="wait", TRACEPROF_DIR=folder).run(
                [self.program("bench_heap"), "mixed", 1, self.many(events / 2)])
            trace = glob.glob(folder + "/*.gz")[0]
            for word in ("check", "report"):
                runs = [run([self.command, word, trace]) for _ in range(1 if self.full else 3)]
                self.add(f"traceprof {word}, {events // 1000000} M events", "s",
                         statistics.median(one.wall for one in runs), target=seconds,
                         note=f"CPU {statistics.median(one.cpu for one in runs):.1f} s")
                self.add(f"traceprof {word}, {events // 1000000} M events, resident",
                         "MiB", max(one.resident_kib for one in runs) / 1024,
                         target=mebibytes)
        self.reader()

    def reader(self):
        """What the tools read events with, against the parser under it."""
        folder = os.path.join(self.folder, "reader")
        self.ours(**EVERY_CALL, **TO_THE_END, TRACEPROF_MAX_MB="0",
                  TRACEPROF_GZIP="off", TRACEPROF_ON_FULL="wait",
                  TRACEPROF_DIR=folder).run(
            [self.program("bench_heap"), "mixed", 1, self.many(150000)])
        text = glob.glob(folder + "/*.json")[0]
        speeds = {"parser": [], "reader": []}
        got = run([self.program("bench_reader"), text]
                  + ["parser", "reader"] * self.rounds).stdout
        for line in got.splitlines():
            way, speed = line.split()
            speeds[way].append(float(speed))
        self.samples["reader"] = speeds
        self.add("streaming reader / JSON parser alone, rate", "x",
                 ratio(speeds["parser"], speeds["reader"]), target=0.5,
                 at_least=True, note=f"yajl {statistics.median(speeds['parser']):.0f} MB/s "
                 "of processor time")

    def cost(self):
        bench_cost.told(self)

    def writer(self):
        bench_cost.writer(self)

    def steps(self):
        bench_steps.spinning(self)

    def kernels(self):
        bench_kernels.short_regions(self)
        bench_kernels.kernels(self)
        bench_kernels.crowded(self)
        bench_kernels.solvers(self)

    def late(self):
        bench_late.behind(self)

    def torch(self):
        bench_steps.torch(self)

    PARTS = ("instructions", "heap", "regions", "tasks", "steps", "kernels", "late", "sqlite", "stacks",
             "torch", "start", "memory", "writer", "cost", "drain", "coders", "tools")

    def merge(self, path, kind):
        """Takes from an earlier run of this kind the parts that this one left
        out."""
        try:
            with open(path, encoding="utf-8") as file:
                earlier = json.load(file)
        except (OSError, ValueError):
            return
        if earlier.get("kind") != kind or earlier.get("machine") != machine():
            return
        done = {row.part for row in self.rows}
        for kept in earlier["rows"]:
            if kept.get("part") and kept["part"] not in done:
                self.rows.append(Row.again(kept))
        self.rows.sort(key=lambda row: self.PARTS.index(row.part))
        self.samples = earlier["samples"] | self.samples

    def measure(self, only):
        """True: all of it.  Whoever ends it early keeps the parts that are done."""
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            for part in self.PARTS:
                if only and part not in only:
                    continue
                start = time.monotonic()
                self.part = part
                getattr(self, part)()
                print(f"{part}: {time.monotonic() - start:.0f} s", flush=True)
        except KeyboardInterrupt:
            print(f"ended in {self.part}: it and what follows is left out", flush=True)
            self.rows = [row for row in self.rows if row.part != self.part]
            return False
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        return True


def sql_lines(rows):
    """Create, insert, index, join, update, delete.  A quarter of the rows comes
    one statement at a time, the rest from one select: some 3.3 million heap
    events a second in all."""
    yield ("create table item(id integer primary key, name text, value real, bucket int);\n"
           "create table bucket(id integer primary key, title text);\nbegin;\n")
    for i in range(rows // 4):
        yield (f"insert into item values({i},'item {i * 7919 % 100003}',"
               f"{i * 37 % 1000 / 10},{i % 997});\n")
    yield (f"with recursive n(i) as (select {rows // 4} union all "
           f"select i + 1 from n where i < {rows - 1}) insert into item select "
           "i, 'item ' || (i * 7919 % 100003), i * 37 % 1000 / 10.0, i % 997 from n;\n")
    for i in range(997):
        yield f"insert into bucket values({i},'bucket {i}');\n"
    yield ("commit;\ncreate index by_name on item(name);\n"
           "create index by_bucket on item(bucket, value);\n"
           "select count(*), sum(value) from item join bucket "
           "on item.bucket = bucket.id where title like '%7';\n"
           "select count(*) from item a join item b on a.bucket = b.bucket "
           "and a.value < b.value where a.bucket < 500;\n"
           "select name, count(*) from item group by name order by 2 desc limit 5;\n"
           "update item set value = value + 1 where bucket % 3 = 0;\n"
           "delete from item where bucket % 5 = 0;\nselect count(*) from item;\n")


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"^model name\s*: (.*)$", file.read(), re.M)
    if found:
        model = found.group(1)
    return (f"{model}, {os.cpu_count()} processors, Linux {platform.release()}, "
            f"{' '.join(platform.libc_ver())}")


def moment():
    return time.strftime("%Y-%m-%d %H:%M")


def table(rows, begun):
    lines = ["| measured | target | figure | 95 % interval | peers | |",
             "|---|---|---|---|---|---|"]
    lines += ["| " + " | ".join(row.cells(begun)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def publish(text, picture):
    path = os.path.join(ROOT, "docs", "performance.md")
    with open(path, encoding="utf-8") as file:
        page = file.read()
    page = re.sub(r"(<!-- figures -->\n).*(<!-- end of figures -->)",
                  lambda found: found.group(1) + text + found.group(2), page, flags=re.S)
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
    with open(os.path.join(ROOT, "docs", "images", "performance.svg"), "w",
              encoding="utf-8") as file:
        file.write(picture)


def main():
    parser = argparse.ArgumentParser(description="measures what recording costs")
    parser.add_argument("--build", default="build")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--publish", action="store_true")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--only", nargs="*", choices=Bench.PARTS)
    options = parser.parse_args()
    if options.full:
        bench_peers.install()
    begun = moment()
    load = os.getloadavg()[0]
    if load > 1.5:
        print(f"the machine is not quiet (load {load:.1f}): times will be off")
    bench = Bench(options)
    is_whole = bench.measure(options.only)
    kind = "make bench" if options.full else "make bench-quick"
    if options.only or not is_whole:
        bench.merge(os.path.join(bench.build, "bench.json"), kind)
    today = datetime.date.today().isoformat()
    text = (f"`{kind}`, {today}, {bench.rounds} rounds, load {load:.1f} at the start, on\n"
            f"{machine()}.\n\n") + table(bench.rows, begun)
    picture = bench_plot.plot(bench.rows, f"{kind}, {today}, {machine()}")
    for name, content in (
            ("bench.md", text), ("bench.svg", picture),
            ("bench.json", json.dumps({
                "date": today, "machine": machine(), "kind": kind,
                "rounds": bench.rounds, "load": load,
                "rows": [vars(row) | {"met": row.met} for row in bench.rows],
                "samples": bench.samples}, indent=1))):
        with open(os.path.join(bench.build, name), "w", encoding="utf-8") as file:
            file.write(content)
    if options.publish:
        publish(text, picture)
    print("\n" + text)


if __name__ == "__main__":
    main()
