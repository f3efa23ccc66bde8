# SPDX-License-Identifier: MIT
"""What a run of the tests shows while it goes on.

On a terminal one line is renewed in place: how far it is, since when, what is
running.  Elsewhere each program has one line when it is done.  Failures and
skips always have lines of their own.
"""

import shutil
import sys
import threading
import time


class Screen:
    def __init__(self, parts, verbose):
        self.total = len(parts)
        self.verbose = verbose
        self.terminal = sys.stdout.isatty()
        self.start = time.monotonic()
        self.lock = threading.Lock()
        self.running = []
        self.done = 0
        self.failed = 0
        self.closed = threading.Event()
        if self.terminal:
            threading.Thread(target=self.renew, daemon=True).start()

    def clear(self):
        if self.terminal:
            sys.stdout.write("\r\033[K")

    def draw(self):
        if not self.terminal or self.closed.is_set():
            return
        seconds = int(time.monotonic() - self.start)
        names = " ".join(name.rpartition("/")[2] for name in self.running)
        line = (f"{self.done}/{self.total}  {seconds // 60}:{seconds % 60:02}  "
                + (f"{self.failed} FAILED  " if self.failed else "") + names)
        sys.stdout.write("\r\033[K" + line[:shutil.get_terminal_size().columns - 1])
        sys.stdout.flush()

    def renew(self):
        while not self.closed.wait(1):
            with self.lock:
                self.draw()

    def begins(self, name):
        with self.lock:
            self.running.append(name)
            self.draw()

    def test(self, verdict, name, test, detail):
        if verdict == "ok" and not self.verbose:
            return
        with self.lock:
            self.clear()
            reason = f": {detail[0]}" if verdict == "skip" and detail else ""
            print(f"{verdict:4}  {name}: {test}{reason}")
            if verdict == "FAIL":
                self.failed += 1
                for line in detail[:60]:
                    print("        " + line)
            self.draw()
            sys.stdout.flush()

    def ends(self, part, results, seconds, used):
        """One program, or part of one, is done."""
        with self.lock:
            self.done += 1
            self.running.remove(part.name)
            passed = sum(verdict == "ok" for verdict, _, _ in results)
            if not self.terminal:
                print(f"      {part.name}: {passed} of {len(results)} passed, "
                      f"{seconds:.1f} s, {used:.1f} s of processor", flush=True)
            self.draw()

    def close(self):
        with self.lock:
            self.closed.set()
            self.clear()
            sys.stdout.flush()
