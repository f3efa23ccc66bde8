# SPDX-License-Identifier: MIT
"""Runs of programs under measurement, and what is said of their times.

Everything is compared inside interleaved rounds: each round runs every variant
once, one behind the other, so that a machine that slows down slows them all.
An interval is the middle 95 % of 2000 bootstrap samples of the rounds.
"""

import glob
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BOOTSTRAPS = 2000
# Also of a program that leaves something to be written after its end.
CLOSING = re.compile(r"(?:\(|recorded )(\d+) (?:recorded )?events, (none|\d+) (?:lost|LOST)")
COST = re.compile(rb'"cost":\{"hooks_ns":(\d+),"writer_ns":(\d+)')


class Run:
    """One finished program."""

    def __init__(self, stdout, wall, cpu, resident_kib, stderr):
        self.stdout = stdout
        self.numbers = last_numbers(stdout)
        self.wall = wall                # seconds
        self.cpu = cpu                  # seconds, all threads
        self.resident_kib = resident_kib
        self.stderr = stderr
        found = CLOSING.search(stderr)
        self.events = int(found.group(1)) if found else 0
        self.lost = int(found.group(2)) if found and found.group(2) != "none" else 0
        self.hooks_s = self.writer_s = 0.0

    def take_cost(self, folder):
        """What the trace in that folder says that recording it cost, when it is
        whole: what is left at the program's end is written down after it."""
        until = time.monotonic() + 120
        end = b""
        while b'"final":true' not in end and time.monotonic() < until:
            time.sleep(0.02)
            for path in glob.glob(folder + "/*.gz"):
                end = subprocess.run(["sh", "-c", 'zcat "$1" 2>&- | tail -c 300000', "sh",
                                      path], capture_output=True, check=True).stdout
        found = COST.search(end)
        if found:
            self.hooks_s, self.writer_s = (int(ns) / 1e9 for ns in found.groups())


class Variant:
    """A way to run the same program: preloaded library, settings, prefix."""

    def __init__(self, preload=None, prefix=(), keep=None, **settings):
        self.preload = preload
        self.prefix = list(prefix)
        self.keep = keep                # folder for the trace; None: removed
        self.settings = settings
        self.tells = False              # its cost is read from the trace

    def telling(self):
        """The same variant, whose runs know what they cost."""
        one = Variant(self.preload, self.prefix, self.keep, **self.settings)
        one.tells = True
        return one

    def run(self, command, **more):
        folder = self.keep or tempfile.mkdtemp(prefix="traceprof-bench-")
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("TRACEPROF", "LD_", "OMP_", "GOMP_"))}
        env |= {"LC_ALL": "C.UTF-8", "TRACEPROF_DIR": folder} | self.settings
        if self.preload:
            env["LD_PRELOAD"] = self.preload
        prefix = [part.replace("{}", folder) for part in self.prefix]
        try:
            one = run(prefix + [str(part) for part in command], env, **more)
            if self.tells:
                one.take_cost(folder)
            return one
        finally:
            rest(folder)
            if not self.keep:
                shutil.rmtree(folder, ignore_errors=True)


def rest(folder):
    """What is written down after the program's end is not to take time from the
    next one."""
    def is_left(path):
        try:
            with open(path, "rb") as file:
                return folder.encode() in file.read(1 << 16)
        except OSError:
            return False
    for _ in range(600):
        if not any(map(is_left, glob.glob("/dev/shm/traceprof-*"))):
            return
        time.sleep(0.1)


def run(command, env=None, stdin=None, timeout=600):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(command, env=env, stdout=out, stderr=err,
                                   stdin=stdin or subprocess.DEVNULL)
        status, usage = wait(process, start + timeout)
        wall = time.monotonic() - start
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    if status != 0:
        raise RuntimeError(f"{' '.join(command)}: status {status}\n"
                           f"{texts[0][-500:]}{texts[1][-500:]}")
    return Run(texts[0], wall, usage.ru_utime + usage.ru_stime,
               usage.ru_maxrss, texts[1])


def wait(process, until):
    """As Popen.wait(), with the resources that the process used."""
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage
        if time.monotonic() > until:
            process.kill()
        time.sleep(0.0005)


def last_numbers(text):
    """The last line that is nothing but numbers; peers talk around it."""
    for line in reversed(text.splitlines()):
        try:
            numbers = [float(word) for word in line.split()]
        except ValueError:
            continue
        if numbers:
            return numbers
    return []


def rounds(count, variants, command, **more):
    """{name: [Run]}, one per round."""
    runs = {name: [] for name in variants}
    for _ in range(count):
        for name, variant in variants.items():
            stdin = open(more["script"], "rb") if "script" in more else None
            runs[name].append(variant.run(command, stdin=stdin))
            if stdin:
                stdin.close()
        if sys.stderr.isatty():
            sys.stderr.write(".")
            sys.stderr.flush()
    return runs


def interval(statistic, *samples):
    """statistic(samples) with its bootstrap interval; rounds stay together."""
    length = len(samples[0])
    source = random.Random(1)
    values = []
    for _ in range(BOOTSTRAPS):
        chosen = [source.randrange(length) for _ in range(length)]
        values.append(statistic(*([sample[i] for i in chosen]
                                  for sample in samples)))
    values.sort()
    return (statistic(*samples), values[int(0.025 * BOOTSTRAPS)],
            values[int(0.975 * BOOTSTRAPS) - 1])


def median(samples):
    return interval(statistics.median, samples)


def ratio(base, samples):
    return interval(lambda a, b: statistics.median(b) / statistics.median(a),
                    base, samples)


def added(base, samples):
    return interval(lambda a, b: statistics.median(b) - statistics.median(a),
                    base, samples)


def added_ratio(base, ours, peer):
    """What we add as a share of what the peer adds."""
    middle = statistics.median
    return interval(lambda a, b, c: (middle(b) - middle(a))
                    / max(middle(c) - middle(a), 1e-9), base, ours, peer)


def spawn_us(variant, command, times=20):
    """Microseconds from start to end, the mean of so many starts."""
    folder = tempfile.mkdtemp(prefix="traceprof-bench-")
    env = {"PATH": os.environ["PATH"], "TRACEPROF_DIR": folder} | variant.settings
    if variant.preload:
        env["LD_PRELOAD"] = variant.preload
    start = time.perf_counter()
    for _ in range(times):
        pid = os.posix_spawn(command[0], command, env)
        os.waitpid(pid, 0)
    end = time.perf_counter()
    shutil.rmtree(folder, ignore_errors=True)
    return (end - start) * 1e6 / times
