# SPDX-License-Identifier: MIT
"""Other versions of CUPTI than the toolkit's, on the driver that is there.

$GPU_CUPTIS is a folder with one for each version, VERSION/libcupti.so.N.  The
programs are the toolkit's: what differs is the library that records.
"""

import glob
import os

import gpu_build
import gpu_compare
import gpu_experiments
import gpu_kinds
import gpu_machine
import gpu_traces
from gpu_build import with_runtime
from gpu_machine import ROOT, Lacking, rate

ZEROS = 100000
GRAPHS = ("captured", "updated")


def by_number(path):
    return [int(word) for word in os.path.basename(os.path.dirname(path)).split(".")]


def versions(m, report):
    folder = os.environ.get("GPU_CUPTIS", "")
    places = sorted(glob.glob(os.path.join(folder, "*", "libcupti.so.*")), key=by_number,
                    reverse=True)
    if not folder or not places:
        raise Lacking("no $GPU_CUPTIS")
    for place in places:
        if m.left() > 10:
            one_version(m, report, place)


def one_version(m, report, place):
    name = os.path.basename(os.path.dirname(place))
    env = with_runtime(m) | {"TRACEPROF_CUPTI": place}
    command = [m.programs["shared"], gpu_build.STEPS, gpu_build.THREADS]
    plain = m.run(f"{name}-plain", command, env=with_runtime(m))
    traced = m.run(f"{name}-trainer", command, traced=True, env=env)
    gpu_traces.same(report, name, plain, traced)
    trace = gpu_traces.load(m, report, name, traced)
    if not trace:
        return
    report.tell(f"{name}: source", f"{trace.gpu.get('source')}, "
                f"{trace.top.get('cupti_version')}; {'; '.join(trace.notes)[:300]}; "
                f"{gpu_machine.own_lines(traced)[:2]}")
    if trace.gpu.get("source") != "cupti":
        return
    gpu_traces.records(m, report, name, trace)
    gpu_build.trainer_work(report, name, trace, False)
    gpu_kinds.graphs(m, report, GRAPHS, f"{name} ", env)
    windows(m, report, name, command, env)
    gpu_experiments.turns(m, report, f"{name} turns", env)
    zeros(m, report, name, place)
    if by_number(place) >= [13, 3]:
        shared(m, report, name, place)


def windows(m, report, name, command, env):
    """One launch of a graph a step: each window has as many as it has steps, and all
    kernels of it."""
    ran = m.run(f"{name}-windows", command, traced=True, env=env | {
        "TRACEPROF_STEP": "cuda:cudaGraphLaunch", "TRACEPROF_WAIT": "5",
        "TRACEPROF_ACTIVE": "5", "TRACEPROF_REPEAT": "0"})
    found = []
    for path in ran.traces:
        trace = gpu_compare.Trace(path)
        graphs = [call for call in trace.calls.values()
                  if call["name"] == "cudaGraphLaunch"]
        launched = {call["args"]["correlation"] for call in graphs}
        found.append((len(graphs), sum(kernel["args"]["correlation"] in launched
                                       for kernel in trace.kernels),
                      trace.gpu.get("missing_kernels")))
    # The last one ends with the program.
    good = len(found) >= 4 and all(one == (5, 15, 0) for one in found[:-1])
    if not report.expect(f"{name}: windows of five steps", good, found):
        for path in ran.traces:
            m.keep(path)


def zeros(m, report, name, place):
    for clock in ("own", "callback"):
        ran = m.run(f"{name}-zeros-{clock}", [m.programs["probe"], "zeros", clock, ZEROS],
                    env=with_runtime(m) | {"PROBE_CUPTI": place}, limit=20)
        found = gpu_experiments.numbers(ran.stdout)
        report.tell(f"{name}: without time, clock {clock}", rate(*found)
                    if len(found) == 2 else gpu_machine.last_words(ran))


def shared(m, report, name, place):
    """A profiler that asks for sharing, as JAX's does, and we who ask too."""
    output = os.path.join(m.work, "xla_like.program")
    made = m.run("xla-build", ["gcc", "-O1", "-D_GNU_SOURCE", "-o", output, os.path.join(
        ROOT, "tests", "programs", "xla_like.c"), "-ldl"])
    if made.status:
        raise Lacking(gpu_machine.last_words(made))
    env = {"LD_LIBRARY_PATH": os.path.dirname(place) + ":"
           + with_runtime(m).get("LD_LIBRARY_PATH", "")}
    for order in ("after", "first"):
        plain = m.run(f"{name}-xla-{order}-plain", [output, order], env=env, limit=20)
        traced = m.run(f"{name}-xla-{order}", [output, order], traced=True, limit=20,
                       env=env | {"TRACEPROF_CUPTI": place, "TRACEPROF_CUPTI_SHARE": "on"})
        report.tell(f"{name}: shared, {order}", f"{plain.stdout.strip()!r}, with us "
                    f"{traced.stdout.strip()!r}; {gpu_machine.own_lines(traced)[:2]}")
        for path in traced.traces[:1]:
            trace = gpu_compare.Trace(path)
            names = [event["name"] for event in trace.kernels]
            report.tell(f"{name}: shared, {order}: ours", ", ".join(
                f"{word} {names.count(word)}" for word in ("before", "profiled", "after"))
                        + f"; {'; '.join(trace.notes)[:200]}")
