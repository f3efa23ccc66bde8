# SPDX-License-Identifier: MIT
"""A busy program killed at random instants: nothing that it told of is lost.

    tests/chaos/kill_loop.py [--kills N] [--seconds N] [--seed N]

tests/programs/busy.c puts a thread's number and a scope's number into a pipe
once the scope is closed, so what came out of the pipe had been committed to a
ring.  After the kill the session is recovered and the trace checked; then each
thread's scopes must be in it from the first to the last that was told, each
once, in order (one more may have been closed and not yet told).  The last line
says how many were killed, how many events were told and how many of them are
not as they must be.

--seconds ends it early, at the kill after that time, so that a long tally can
be made of several runs, each with a seed of its own.
"""

import argparse
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "scenarios"))
import harness

# Written down at once, packed in memory, and mostly in a file.
WAYS = ({"encode": "live"}, {"encode": "late"}, {"encode": "late", "buffer_mb": 4},
        {})
NAME = re.compile(r"busy (\d+)\.(\d+)$")
NAMES = 4096                    # as in busy.c


class Reader(threading.Thread):
    """Takes what the program tells until it is gone."""

    def __init__(self, stream):
        super().__init__()
        self.stream = stream
        self.told = b""

    def run(self):
        parts = []
        while part := self.stream.read1(1 << 16):
            parts.append(part)
        self.told = b"".join(parts)

    def events(self):
        """{thread: scopes told}"""
        whole = len(self.told) // 8 * 8
        return {thread: number + 1 for thread, number
                in struct.iter_unpack("=II", self.told[:whole])}


def start(target, *arguments, prefix=(), **options):
    env = harness.clean_environment() | {
        "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target,
        "TRACEPROF_ON_FULL": "wait", "TRACEPROF_MALLOC": "all",
        "TRACEPROF_MAX_MB": "0"} | {
        "TRACEPROF_" + key.upper(): str(value) for key, value in options.items()}
    process = subprocess.Popen([*prefix, harness.program("busy"),
                                *map(str, arguments)],
                               env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    reader = Reader(process.stdout)
    reader.start()
    return process, reader


def recorded(target):
    """{thread: numbers of its finished scopes, in time order}"""
    found = {}
    for trace in harness.Run([], 0, "", "", target).traces:
        for event in trace.slices("busy *"):
            match = NAME.match(event["name"])
            if match and event.get("args", {}).get("finished") != "false":
                found.setdefault(int(match.group(1)), []).append(
                    int(match.group(2)))
    return found


def recover(target):
    """And waits for a process that goes on with the file without its program."""
    done = harness.command("recover", target)
    harness.expect_equal(done.status, 0, done.stdout + done.stderr)
    run = harness.Run([], 0, "", "", target)
    for _ in range(600):
        if not harness.sessions_of(run):
            return
        time.sleep(0.1)


def compare(target, told):
    """Checks the traces; returns how many events are not as they must be."""
    run = harness.Run([], 0, "", "", target)
    harness.check_files(run)
    harness.expect_no_session(run)
    harness.expect(len(run.files) <= 1, f"more than one trace: {run.files}")
    found = recorded(target)
    wrong = 0
    for thread in told.keys() | found.keys():
        numbers = found.get(thread, [])
        count = told.get(thread, 0)
        wrong += sum(number != place % NAMES
                     for place, number in enumerate(numbers))
        wrong += max(count - len(numbers), 0) + max(len(numbers) - count - 1, 0)
    return wrong


def kill_once(target, delay, **options):
    """(events told, of which wrong) of one kill after `delay` seconds."""
    process, reader = start(target, **options)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.wait()
    reader.join()
    process.stdout.close()
    process.stderr.close()
    told = reader.events()
    if told or os.path.exists(target):
        recover(target)
    else:                       # killed before there was anything, perhaps
        harness.command("recover", target)
    return sum(told.values()), compare(target, told)


def kill_many(kills, seed, say=print, seconds=None):
    """(kills, events told, of which wrong)"""
    chance = random.Random(seed)
    told = wrong = number = 0
    end = time.monotonic() + (seconds or 1e9)
    while number < kills and time.monotonic() < end:
        number += 1
        target = tempfile.mkdtemp(prefix="traceprof-kill-")
        # Most instants in the life before and about the first checkpoints.
        delay = chance.choice((0.005, 0.1, 0.4, 1.3)) * chance.uniform(0.2, 1.3)
        some, bad = kill_once(os.path.join(target, "out"), delay,
                              **WAYS[number % len(WAYS)])
        told += some
        wrong += bad
        if bad or number % 10 == 0:
            say(f"kill {number} after {delay * 1000:.0f} ms: {some} told, "
                f"{bad} wrong; {told} and {wrong} so far")
        if bad:
            say(f"kept: {target}")
        else:
            shutil.rmtree(target, ignore_errors=True)
    return number, told, wrong


def main():
    parser = argparse.ArgumentParser(description="kills at random instants")
    parser.add_argument("--kills", type=int,
                        default=int(os.environ.get("TRACEPROF_KILLS", "1000")))
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    kills, told, wrong = kill_many(options.kills, options.seed,
                                   lambda line: print(line, flush=True),
                                   options.seconds)
    print(f"{kills} kills, {told} events told before them, "
          f"{wrong} wrong in the traces")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
