# SPDX-License-Identifier: MIT
"""What a sample costs the thread that is sampled, its signal's delivery with it.

The kernel sends 250 to 1000 a second, too few to be measured one by one: so a
program of Python sends itself the timer's signal, as the kernel would, as often
as is asked for.
"""

import statistics
import sys

from bench_rounds import Variant, median

HZ = 499
SIGNALS = 4000
PROGRAM = """
import ctypes, os, re, sys, threading, time
deep, count = int(sys.argv[1]), int(sys.argv[2])
call = ctypes.CDLL(None, use_errno=True).syscall
def slot():
    while True:
        found = re.findall(r"signal: 33/([0-9a-f]+)\\nnotify: signal/tid.%d\\n"
                           % os.getpid(), open("/proc/self/timers").read())
        if found:
            return int(found[0], 16)
        time.sleep(0.01)
info = (ctypes.c_uint64 * 16)(33, 0xfffffffe, 0, 0)   # si_code SI_TIMER
place = slot()
def send(number):
    start = time.thread_time()
    for _ in range(count):
        info[0], info[1], info[2], info[3] = number, 0xfffffffe, 0, place
        call(297, os.getpid(), os.getpid(), number, ctypes.byref(info))
    return 1e6 * (time.thread_time() - start) / count
def measured(left):
    return measured(left - 1) if left else send(33) - send(0)
print(measured(deep))
"""


def rows(bench):
    """Of a Python stack of 16 functions, beside one of 2."""
    for deep in (16, 2):
        variant = Variant(bench.library, TRACEPROF_SAMPLE=str(HZ),
                          TRACEPROF_MAX_OVERHEAD="0")
        us = [variant.run([sys.executable, "-c", PROGRAM, deep - 2, SIGNALS]).numbers[0]
              for _ in range(bench.rounds)]
        bench.add(f"sampling at {HZ} Hz, {deep} functions of Python", "%",
                  median([one * HZ / 1e4 for one in us]), target=1,
                  note=f"{statistics.median(us):.1f} us each, of the thread's processor time")
