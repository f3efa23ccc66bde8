# SPDX-License-Identifier: MIT
"""What a GPU does beside plain kernels and copies: one thing each, on a real one."""

import collections

import gpu_compare
import gpu_machine
import gpu_traces
from gpu_build import with_runtime
from gpu_machine import Lacking

TIMES = 20
# Words of tests/programs/cuda_kinds.cu, settings, and what each must leave:
# a condition on the trace, in words.
KINDS = (("pools", {}), ("managed", {"TRACEPROF_UNIFIED_MEMORY": "1"}),
         ("shapes", {"TRACEPROF_GPU_LATENCY": "1"}), ("failures", {}), ("names", {}),
         ("host", {}), ("graphs", {}), ("built", {}),
         ("pairs", {}), ("busy", {}))
GRAPHS = ("off", "empty", "fills", "captured", "updated", "child", "inside")


def instants(trace):
    return collections.Counter(event["name"] for event in trace.top["traceEvents"]
                               if event["ph"] == "i")


def counters(trace):
    return collections.Counter(event["name"] for event in trace.top["traceEvents"]
                               if event["ph"] == "C")


def all_of(trace, key):
    return [event["args"].get(key) for event in trace.kernels
            if event["args"].get(key) not in (None, 0)]


def named_rows(trace):
    return sorted(event["args"]["name"] for event in trace.top["traceEvents"]
                  if event["ph"] == "M" and event["name"] == "thread_name"
                  and "coder" in event["args"]["name"])


def memory(trace):
    return collections.Counter(
        (event["name"], (event["args"].get("Bytes") or 0) >> 20)
        for event in trace.top["traceEvents"] if event["name"].startswith("[memory]"))


def shown(name, trace):
    """What this kind is to leave, as the trace has it."""
    if name == "pools":
        return [dict(instants(trace)), [one for one in counters(trace) if "pool" in one],
                len([1 for event in trace.top["traceEvents"] if "pool" in event.get("args", {})])]
    if name == "managed":
        return collections.Counter(event["name"] for event in
                                   trace.of("unified_memory")).most_common(6)
    if name == "shapes":
        return [all_of(trace, key) for key in
                ("cluster", "cooperative", "priority", "queued", "queue latency ns")]
    if name == "failures":
        return collections.Counter(
            (event["name"], event["args"]["error"]) for event in trace.slices
            if "error" in event.get("args", {})).most_common(4)
    if name == "names":
        return [named_rows(trace), sorted(
            event["args"]["event_name"] for event in trace.slices
            if "event_name" in event.get("args", {}))]
    if name == "host":
        return [event["name"] for event in trace.of("cpu_op")]
    if name in ("graphs", "built", "pairs"):
        return memory(trace).most_common(8)
    return [[one for one in counters(trace).most_common(4)],
            collections.Counter(event["name"] for event in
                                trace.of("gpu_throttle")).most_common(4)]


def kinds(m, report):
    if "kinds" not in m.programs:
        raise Lacking("not built")
    for name, env in KINDS:
        command = [m.programs["kinds"], name]
        plain = m.run(f"kinds-{name}-plain", command, env=with_runtime(m), limit=20)
        ran = m.run(f"kinds-{name}", command, traced=True,
                    env=with_runtime(m) | env, limit=20)
        gpu_traces.same(report, name, plain, ran)
        trace = gpu_traces.load(m, report, name, ran)
        if not trace:
            continue
        gpu_traces.records(m, report, name, trace, work=False)
        report.tell(f"{name}: leaves", shown(name, trace))
    graphs(m, report)
    contexts(m, report)


def graphs(m, report, ways=GRAPHS, prefix="", env=None):
    """Are the kernels of a graph's launch those that ran?"""
    for way in ways:
        ran = m.run(f"{prefix}graphs-{way}", [m.programs["graphs"], way, TIMES],
                    traced=True, env=with_runtime(m) | (env or {}), limit=20)
        if m.fake and ran.status:
            report.add(f"graph {way}", "skip", "not of a simulated GPU")
            continue
        title = f"{prefix}graph {way}"
        trace = gpu_traces.load(m, report, title, ran)
        if not trace:
            continue
        words = ran.stdout.split()
        wanted = {word: int(count) for word, count in zip(words[::2], words[1::2])}
        found = {word: len(trace.of(word)) for word in wanted}
        report.expect_of_gpu(f"{title}: what it says that it ran", found == wanted,
                      f"{found}, wanted {wanted}; {trace.gpu.get('launched_kernels')} "
                      f"launched, {trace.gpu.get('missing_kernels')} missing")
        report.expect_of_gpu(f"{title}: none missing",
                      not trace.gpu.get("missing_kernels"),
                      trace.gpu.get("missing_kernels"))


def contexts(m, report):
    """Two contexts on one device that two threads use at once."""
    ran = m.run("contexts", [m.programs["contexts"], 10, 20], traced=True,
                env=with_runtime(m), limit=20)
    report.expect("contexts: finishes", ran.status == 0, gpu_machine.last_words(ran))
    trace = gpu_traces.load(m, report, "contexts", ran)
    if trace:
        gpu_traces.records(m, report, "contexts", trace)
        report.tell("contexts: rows", collections.Counter(
            (event["args"].get("context"), event["tid"])
            for event in trace.kernels).most_common(12))
