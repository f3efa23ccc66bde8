# SPDX-License-Identifier: MIT
"""What every check of a trace file needs: its text, its events, a verdict."""

import gzip
import json
import logging
import sys


def load(path):
    """The whole file as Python's own reader sees it."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        return json.loads(file.read().decode("utf-8"))


def nanoseconds(value):
    """A ts or dur, exactly as the text's three decimals mean it."""
    return round(value * 1000)


class Report:
    """Collects faults of one file and prints the verdict."""

    def __init__(self, path):
        self.path = path
        self.faults = []

    def expect(self, condition, fault):
        if not condition:
            self.faults.append(fault)

    def equal(self, what, found, wanted):
        self.expect(found == wanted, f"{what}: {found}, not {wanted}")

    def end(self, summary):
        """Prints; True if the file is good."""
        for fault in self.faults[:6]:
            print(f"{self.path}: {fault}")
        if len(self.faults) > 6:
            print(f"{self.path}: and {len(self.faults) - 6} more")
        if not self.faults:
            print(f"{self.path}: {summary}")
        return not self.faults


class Listener(logging.Handler):
    """Keeps what is said at the level of a warning or above; what is as it
    should be is not, by its record and text."""

    def __init__(self, is_usual):
        super().__init__(logging.WARNING)
        self.is_usual = is_usual
        self.said = []

    def emit(self, record):
        text = record.getMessage().strip()
        if not self.is_usual(record, text):
            self.said.append(f"{record.levelname.lower()}: {text[:300]}")


def main(check, usage):
    """Runs check(path) on each argument; the exit status."""
    paths = sys.argv[1:]
    if not paths or paths[0].startswith("-"):
        print(usage.strip(), file=sys.stderr)
        return 2
    good = True
    for path in paths:
        good = check(path) and good
    return 0 if good else 1
