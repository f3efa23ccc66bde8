# SPDX-License-Identifier: MIT
"""What a sample costs a program whose own data fill the caches.

    TRACEPROF_SAMPLE=499 LD_PRELOAD=build/libtraceprof.so \\
        python3 tests/bench/sample_in_busy_python.py DEPTH ROUNDS [none|HZ|-HZ]

The kernel sends 250 to 1000 a second, too few to be told from noise: so a child sends
the timer's signal 2000 times a second, in turns with nothing, while the same work is
done.  "none": signals that the handler hands on, which is what delivery costs alone.
HZ: instead of the child a timer of real time on the processor that does the work
sends them, so often, which no kernel's tick limits; -HZ: and they are handed on.
"""

import ctypes
import json
import mmap
import os
import random
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time

OFF, ON, END = range(3)  # the first word that is shared; the second counts signals
SENDER = r"""
import ctypes, mmap, os, re, sys, time
pid, path, is_ours = int(sys.argv[1]), sys.argv[2], sys.argv[3] != "none"
word = (ctypes.c_uint64 * 2).from_buffer(mmap.mmap(os.open(path, os.O_RDWR), 4096))
call = ctypes.CDLL(None).syscall
def slot():
    while True:
        with open(f"/proc/{pid}/timers") as file:
            found = re.findall(r"signal: 33/([0-9a-f]+)\nnotify: signal/tid.%d\n" % pid,
                               file.read())
        if found:
            return int(found[0], 16)
        time.sleep(0.01)
place = slot() if is_ours else 0
info = (ctypes.c_uint64 * 16)()
print("ready", flush=True)
while word[0] != 2:
    if word[0]:
        info[0], info[1], info[2], info[3] = 33, 0xfffffffe, 0, place  # SI_TIMER
        word[1] += not call(297, pid, pid, 33, ctypes.byref(info))
        time.sleep(0.0002)
    else:
        time.sleep(0.0005)
"""


class Timer:
    """Sends the signal of samples so often to the main thread, which is never idle."""

    def __init__(self, hertz, is_ours):
        event = (ctypes.c_uint64 * 8)(slot() if is_ours else 0, 33 | 4 << 32, os.getpid())
        number = ctypes.c_int()
        self.call = ctypes.CDLL(None).syscall
        self.period = 1000000000 // hertz
        if self.call(222, 1, ctypes.byref(event), ctypes.byref(number)):
            raise OSError("no timer")
        self.number = number.value

    def turn(self, on):
        each = self.period if on else 0
        self.call(223, self.number, 0, (ctypes.c_uint64 * 4)(0, each, 0, each), None)


def slot():
    while True:
        with open("/proc/self/timers", encoding="utf-8") as file:
            found = re.findall(r"signal: 33/([0-9a-f]+)\nnotify: signal/tid.%d\n"
                               % os.getpid(), file.read())
        if found:
            return int(found[0], 16)
        time.sleep(0.01)


def work(rows, text):
    start = random.randrange(50000)
    some = rows[start:start + 3000]
    by_name = {}
    for row in some:
        by_name.setdefault(row["name"][-2:], []).append(sum(row["v"]))
    json.loads(text)
    some.sort(key=lambda row: row["name"])
    return len(re.findall(r"n\d+7", text)) + len(by_name)


def measure(shared, rounds, timer=None):
    """[(seconds more, signals)]"""
    rows = [{"id": i, "name": f"n{i * 7919 % 100003}",
             "v": [random.random() for _ in range(6)]} for i in range(60000)]
    text = json.dumps(rows[:300])
    found = []
    for number in range(rounds):
        took, sent = [0, 0], 0
        before = struct.unpack_from("Q", shared, 8)[0]
        for state in ((OFF, ON), (ON, OFF))[number % 2]:
            random.seed(number)
            struct.pack_into("Q", shared, 0, state)
            time.sleep(0.001)
            if timer:
                timer.turn(state == ON)
            begun, start = time.monotonic_ns(), time.thread_time()
            for _ in range(8):
                work(rows, text)
            took[state] = time.thread_time() - start
            sent = (time.monotonic_ns() - begun) // timer.period if timer and state else sent
        struct.pack_into("Q", shared, 0, OFF)
        time.sleep(0.002)
        sent += struct.unpack_from("Q", shared, 8)[0] - before
        found.append((took[ON] - took[OFF], sent, took[OFF]))
        if timer:
            timer.turn(False)
    return found


def below(functions, *call):
    return below(functions - 1, *call) if functions > 0 else measure(*call)


def main():
    deep, rounds, mode = int(sys.argv[1]), int(sys.argv[2]), (sys.argv + ["timer"])[3]
    env = {name: value for name, value in os.environ.items()
           if name != "LD_PRELOAD" and not name.startswith("TRACEPROF")}
    if mode.lstrip("-").isdigit():
        found = below(deep - 4, bytearray(4096), rounds, Timer(abs(int(mode)), int(mode) > 0))
    else:
        with tempfile.NamedTemporaryFile() as file:
            file.truncate(4096)
            shared = mmap.mmap(file.fileno(), 4096)
            with subprocess.Popen([sys.executable, "-c", SENDER, str(os.getpid()),
                                   file.name, mode], env=env,
                                  stdout=subprocess.PIPE, text=True) as sender:
                sender.stdout.readline()
                found = below(deep - 4, shared, rounds)
                struct.pack_into("Q", shared, 0, END)
    each = [1e6 * more / count for more, count, _ in found if count]
    again = sorted(statistics.median(random.choices(each, k=len(each))) for _ in range(400))
    print(f"{statistics.median(each):.1f} us each ({again[10]:.1f} to {again[389]:.1f}), "
          f"{sum(count for _, count, _ in found)} signals; "
          f"{100 * statistics.median(more / plain for more, _, plain in found):.2f} % "
          "more of the thread's time")


main()
