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
import gpu_machine
import gpu_training

# Name, function, seconds below which it is not begun.
PARTS = (
    ("machine", gpu_build.machine, 1),
    ("build", gpu_build.build, 10),
    ("trainer", gpu_build.trainer, 10),
    ("eager", gpu_training.eager, 40),
    ("graph", gpu_training.graph, 40),
    ("launches", gpu_build.launches, 10),
    ("capture", gpu_capture.capture, 30),
    ("ends", gpu_checklist.ends, 30),
    ("jax", gpu_training.jax, 30),
    ("compile", gpu_training.compiled, 60),
    ("profilers", gpu_checklist.profilers, 25),
    ("workers", gpu_checklist.workers, 20),
    ("long", gpu_checklist.long_graph, 15),
    ("torchrun", gpu_checklist.torchrun, 20),
    ("libraries", gpu_checklist.libraries, 3),
)


def arguments():
    parser = argparse.ArgumentParser(prog="tests/gpu/run",
                                     description="See the head of tests/gpu/run.")
    parser.add_argument("--seconds", type=float, default=460)
    parser.add_argument("--only", default="", metavar="PART,...",
                        help=", ".join(name for name, _, _ in PARTS))
    parser.add_argument("--build", default=os.environ.get("TRACEPROF_BUILD"))
    parser.add_argument("--fake", action="store_true")
    options = parser.parse_args()
    known = {name for name, _, _ in PARTS}
    options.wanted = set(filter(None, options.only.split(","))) or known
    if options.wanted - known:
        parser.error(f"no part {', '.join(sorted(options.wanted - known))}")
    # The others stand on these two.
    options.wanted |= {"machine", "build"}
    return options


def run_part(report, machine, name, function, least):
    report.part = name
    if machine.left() < least:
        report.add("not begun", "skip", f"{machine.left():.0f} s are left")
        return
    before = machine.left()
    try:
        function(machine, report)
    except gpu_machine.Lacking as lacking:
        report.add("left out", "skip", lacking)
    except Exception as fault:      # whatever it is, the other parts go on
        report.add("the part itself", "FAIL", f"{type(fault).__name__}: {fault}")
        machine.log.write(traceback.format_exc())
    report.detail("seconds", round(before - machine.left(), 1))
    report.save()


def main():
    options = arguments()
    out = os.environ.get("OUT") or os.path.join(gpu_machine.ROOT, "build", "gpu-run")
    machine = gpu_machine.Machine(out, options.seconds, options.fake, options.build)
    machine.wanted = options.wanted
    report = gpu_machine.Report(out, {"host": platform.node(), "fake": options.fake})
    for name, function, least in PARTS:
        if name in options.wanted:
            run_part(report, machine, name, function, least)
    report.part = "end"
    try:
        machine.pack()
    except OSError as fault:
        report.add("packing", "FAIL", fault)
    report.tell("took", f"{machine.seconds - machine.left():.0f} s")
    print(report.save())
    shutil.rmtree(machine.work, ignore_errors=True)
    return 1 if report.failed() else 0


if __name__ == "__main__":
    sys.exit(main())
