# SPDX-License-Identifier: MIT
"""The parts of tests/gpu/run, in the order of their worth."""

import argparse
import os
import platform
import shutil
import sys
import traceback

import gpu_build
import gpu_capture
import gpu_checklist
import gpu_experiments
import gpu_kinds
import gpu_machine
import gpu_strangers
import gpu_training
import gpu_versions

# Name, the command it belongs to ("" both), function, seconds below which it is
# not begun, and those that it may take.
PARTS = (
    ("machine", "", gpu_build.machine, 1, 20),
    ("build", "", gpu_build.build, 10, 170),
    ("trainer", "first", gpu_build.trainer, 10, 60),
    ("windows", "first", gpu_training.windows, 30, 120),
    ("kinds", "first", gpu_kinds.kinds, 10, 60),
    ("capture", "first", gpu_capture.capture, 10, 40),
    ("zeros", "first", gpu_experiments.zeros, 10, 60),
    ("second", "first", gpu_experiments.second, 15, 90),
    ("ends_c", "first", gpu_experiments.ends_c, 10, 60),
    ("cost", "first", gpu_experiments.windows_cost, 10, 40),
    ("withheld", "first", gpu_experiments.withheld, 10, 40),
    ("devices", "first", gpu_experiments.devices, 5, 20),
    ("events", "first", gpu_experiments.events, 5, 40),
    ("switching", "first", gpu_experiments.switching, 5, 30),
    ("late_clock", "first", gpu_experiments.late_clock, 5, 40),
    ("turns", "first", gpu_experiments.turns, 10, 60),
    ("captures", "first", gpu_capture.captures, 15, 60),
    ("ends", "first", gpu_checklist.ends, 30, 90),
    ("scale", "first", gpu_experiments.scale, 20, 100),
    ("told", "second", gpu_checklist.told, 30, 120),
    ("eager", "second", gpu_training.eager, 40, 150),
    ("graph", "second", gpu_training.graph, 40, 150),
    ("launches", "second", gpu_build.launches, 10, 60),
    ("jax", "second", gpu_training.jax, 30, 120),
    ("compile", "second", gpu_training.compiled, 60, 200),
    ("profilers", "second", gpu_checklist.profilers, 25, 90),
    ("inner", "second", gpu_experiments.inner_calls, 20, 60),
    ("triton", "second", gpu_experiments.triton, 20, 60),
    ("workers", "second", gpu_checklist.workers, 20, 60),
    ("long", "second", gpu_checklist.long_graph, 15, 80),
    ("torchrun", "second", gpu_checklist.torchrun, 20, 60),
    ("libraries", "second", gpu_checklist.libraries, 3, 40),
    ("killed", "third", gpu_strangers.killed, 15, 60),
    ("tools", "third", gpu_strangers.neighbours, 15, 120),
    ("versions", "third", gpu_versions.versions, 15, 200),
    ("strangers", "third", gpu_strangers.strangers, 60, 400),
)

# Together less than the quarter of an hour for which a GPU is lent, its start and
# the way there and back among them.
SECONDS = {"first": 440, "second": 330, "third": 440, None: 540}


def arguments():
    parser = argparse.ArgumentParser(prog="tests/gpu/run",
                                     description="See the head of tests/gpu/run.")
    parser.add_argument("command", nargs="?", choices=["first", "second", "third"],
                        help="a share of the parts; without it, all of them")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--only", default="", metavar="PART,...",
                        help=", ".join(name for name, *_ in PARTS))
    parser.add_argument("--build", default=os.environ.get("TRACEPROF_BUILD"))
    parser.add_argument("--fake", action="store_true")
    options = parser.parse_args()
    if options.seconds is None:
        options.seconds = SECONDS[options.command]
    known = {name for name, *_ in PARTS}
    half = {name for name, command, *_ in PARTS
            if not options.command or command == options.command}
    options.wanted = set(filter(None, options.only.split(","))) or half
    if options.wanted - known:
        parser.error(f"no part {', '.join(sorted(options.wanted - known))}")
    # The others stand on these two.
    options.wanted |= {"machine", "build"}
    return options


def run_part(report, machine, name, function, least, most):
    report.part = name
    machine.part_ends = float("inf")
    if machine.left() < least:
        report.add("not begun", "skip", f"{machine.left():.0f} s are left")
        return
    before = machine.left()
    machine.begin_part(most)
    try:
        function(machine, report)
    except gpu_machine.Lacking as lacking:
        report.add("left out", "skip", lacking)
    except Exception as fault:      # whatever it is, the other parts go on
        report.add("the part itself", "FAIL", f"{type(fault).__name__}: {fault}")
        machine.log.write(traceback.format_exc())
    machine.part_ends = float("inf")
    report.detail("seconds", round(before - machine.left(), 1))
    report.save()
    try:
        machine.pack()
    except OSError as fault:
        report.add("packing", "FAIL", fault)


def main():
    options = arguments()
    out = os.environ.get("OUT") or os.path.join(gpu_machine.ROOT, "build", "gpu-run")
    machine = gpu_machine.Machine(out, options.seconds, options.fake, options.build)
    machine.wanted = options.wanted
    report = gpu_machine.Report(out, {"host": platform.node(), "fake": options.fake})
    for name, _, function, least, most in PARTS:
        if name in options.wanted:
            run_part(report, machine, name, function, least, most)
    report.part = "end"
    report.tell("took", f"{machine.seconds - machine.left():.0f} s")
    print(report.save())
    shutil.rmtree(machine.work, ignore_errors=True)
    return 1 if report.failed() else 0


if __name__ == "__main__":
    sys.exit(main())
