# SPDX-License-Identifier: MIT
"""What only a real GPU, driver and framework can answer, item by item."""

import glob
import os
import re
import shutil

import gpu_compare
import gpu_machine
import gpu_traces
from gpu_build import with_runtime
from gpu_machine import HERE, Lacking
from gpu_training import Training, losses_row, need

NODES, LAUNCHES = 1000, 1000
# How a process may end: its status, and whether all that the GPU had done by
# then must be in the trace.  Who is killed loses what CUPTI still held.
ENDS = (("return", 0, True), ("exit", 4, True), ("thread", 0, True),
        ("os_exit", 6, True),
        ("exception", 1, True), ("sigterm", -15, False), ("abort", -6, False))
RSS_KIB = 256 * 1024


def end_run(m, way, traced=True, limit=40, env=None):
    name = f"ends-{way}" + ("" if traced else "-plain")
    return m.run(name, [m.python, os.path.join(HERE, "gpu_ends.py"), way,
                        m.device],
                 traced=traced, limit=limit, env=env)


def has_last_kernel(trace):
    return [event for event in trace.kernels if "cosh" in event["name"]]


def ends(m, report):
    need(m, "torch")
    for way, status, whole in ENDS:
        result = end_run(m, way)
        report.expect(f"{way}: status", result.status == status,
                      f"{result.status}, {result.seconds:.1f} s")
        if not result.traces:
            report.expect_of_gpu(f"{way}: a trace", False,
                                 gpu_machine.own_lines(result)[-1:])
            continue
        gpu_traces.check(m, report, way, result.traces[0])
        last = has_last_kernel(gpu_compare.Trace(result.traces[0]))
        if whole:
            report.expect_of_gpu(f"{way}: the last kernel", last, f"{len(last)}")
        else:
            report.tell(f"{way}: the last kernel", "there" if last else "lost")


def cupti_lines(result):
    return [line.strip()[:160] for line in result.stderr.splitlines()
            if re.search(r"cupti|CUPTI|profil", line) and "traceprof: w" not in line]


def profilers(m, report):
    """torch.profiler in the same process, after us and before us."""
    need(m, "torch")
    plain, result = end_run(m, "profiler", traced=False), end_run(m, "profiler")
    report.expect("second: the program ends well", result.status == 0,
                  gpu_machine.last_words(result))
    report.expect("second: it gets what it gets without us",
                  result.stdout == plain.stdout, result.stdout.strip())
    report.tell("second: said", cupti_lines(result)[:3])
    if result.traces:
        trace = gpu_compare.Trace(result.traces[0])
        report.expect_of_gpu("second: our kernels", has_last_kernel(trace),
                             f"{trace.gpu.get('source')}, {len(trace.kernels)} kernels")
    training = Training(m, "profiler-first", "torch_train.py", "--profiler-first",
                        "--profiler", os.path.join(m.work, "first.torch.json"))
    plain, base = training.run("plain")
    first, told = training.run("traced", traced=True)
    report.expect("first: the program ends well",
                  first.status == 0 and plain.status == 0 and told and base,
                  gpu_machine.last_words(first))
    if told and base:
        losses_row(report, "first", told, base)
    report.tell("first: said", cupti_lines(first)[:3])
    for path in first.traces[:1]:
        trace = gpu_compare.Trace(path)
        report.tell("first: our source", f"{trace.gpu.get('source')}, "
                    f"{len(trace.kernels)} kernels; {'; '.join(trace.notes)[:160]}")


def workers(m, report):
    """DataLoader with four forked workers and its thread that pins."""
    need(m, "torch")
    plain, traced = end_run(m, "workers", traced=False), end_run(m, "workers")
    gpu_traces.same(report, "workers", plain, traced)
    report.expect("workers: one file", len(traced.traces) == 1, len(traced.traces))
    more = len(gpu_machine.foreign_lines(traced)) - len(gpu_machine.foreign_lines(plain))
    report.expect("workers: no more warnings", more <= 0,
                  f"{len(gpu_machine.foreign_lines(plain))} without us, {more} more")


def torchrun(m, report):
    need(m, "torch")
    out = os.path.join(m.work, "torchrun.json")
    result = m.run("torchrun", [
        m.python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
        "1", os.path.join(HERE, "torch_train.py"), "--steps", "6", "--warm-up", "2",
        "--device", m.device, "--out", out], traced=True, limit=60)
    report.expect("finishes", result.status == 0 and os.path.exists(out),
                  gpu_machine.last_words(result))
    ranks = [path for path in result.traces if "_rank0." in path]
    report.expect("a trace of rank 0", len(ranks) == 1,
                  [os.path.basename(path) for path in result.traces])
    for path in ranks[:1]:
        trace = gpu_compare.Trace(path)
        report.expect_of_gpu("its kernels", trace.kernels, len(trace.kernels))


def long_graph(m, report):
    """A million kernels of a graph: memory, and records without time."""
    if "launches" not in m.programs:
        raise Lacking("not built")
    nodes, count = (100, 50) if m.fake else (NODES, LAUNCHES)
    command = [m.programs["launches"], "graph", nodes, count]
    grown = {}
    for way, traced in (("plain", False), ("traced", True)):
        result = m.run(f"long-{way}", command, traced=traced, limit=60,
                       env=with_runtime(m) | {"TRACEPROF_MAX_MB": "20"})
        found = re.search(r"host_kib (-?\d+) device_kib (-?\d+)", result.stdout)
        if not report.expect(f"{way}: finishes", found and result.status == 0,
                             gpu_machine.last_words(result)):
            return
        grown[way] = [int(number) for number in found.groups()]
        report.tell(f"{way}: growth, KiB", f"host {grown[way][0]}, device "
                    f"{grown[way][1]}, {result.seconds:.1f} s")
    report.detail("growth_kib", grown)
    report.expect("the host's memory stays", grown["traced"][0] < RSS_KIB,
                  f"{grown['traced'][0]} KiB")
    trace = gpu_traces.load(m, report, "traced", result)
    if not trace:
        return
    gpu_traces.records(m, report, "traced", trace, work=False)
    wanted = nodes * count
    calls = sum(entry["calls"] for name, entry in totals(trace).items()
                if "empty_kernel" in name)
    report.expect("each kernel counted", calls == wanted, f"{calls} of {wanted}")


def totals(trace):
    """{name: entry} of the metadata, which may be a list or an object."""
    found = trace.top.get("traceprof", {}).get("totals", {})
    if isinstance(found, dict):
        return found
    return {entry["name"]: entry for entry in found}


def libraries(m, report):
    """Where the frameworks' libraries are and which of our functions they call."""
    if not shutil.which("nm"):
        raise Lacking("no nm here")
    asked = m.run("torch-place", [m.python, "-c",
                                  "import torch; print(torch.__path__[0])"], limit=60)
    folder = os.path.join(asked.stdout.strip(), "lib")
    library = os.path.join(folder, "libtorch_cpu.so")
    if not os.path.exists(library):
        raise Lacking("no torch here")
    report.tell("libgomp", [os.path.basename(path) for path in
                            glob.glob(os.path.join(folder, "*gomp*"))
                            + glob.glob(os.path.join(folder, "..", "..",
                                                     "torch.libs", "*gomp*"))])
    symbols = m.run("nm", ["nm", "-D", "--undefined-only", library], limit=60).stdout
    for pattern in ("GOMP_", "cupti", "cblas_", "sgemm_", "nccl"):
        found = sorted(set(re.findall(rf"\b(\w*{pattern}\w*)", symbols)))
        report.tell(f"libtorch_cpu calls {pattern}", f"{len(found)}: {found[:4]}")


# --- what a stranger reads ------------------------------------------------------

# How the program is slow, and a word that must come early in what is said of it.
SLOW = (("none", "own", {}, None), ("none", "hf", {}, None),
        ("collate", "own", {}, "collate"), ("item", "own", {}, "item"),
        ("loop", "own", {"TRACEPROF_SAMPLE": "499"}, "clip"),
        ("batch", "own", {}, None), ("none", "lightning", {}, None),
        ("memory", "own", {"TRACEPROF_MALLOC": "sampled", "TRACEPROF_STACK": "all"},
         None))
EARLY = 12


def told(m, report):
    """A training as people write it, with the settings that nobody changes: is the
    output the same, and what do the closing words and the report say?"""
    need(m, "torch")
    wanted = os.environ.get("GPU_TOLD", "").split()     # "item:own", some of them
    for slow, model, env, word in SLOW:
        if m.left() > 15 and (not wanted or f"{slow}:{model}" in wanted):
            told_of(m, report, slow, model, env, word)


def told_of(m, report, slow, model, env, word):
    title = f"{slow}, {model}"
    command = [m.python, os.path.join(HERE, "gpu_gpt.py"), "--slow",
               "none" if slow == "memory" else slow, "--model", model, "--device",
               m.device, "--steps", 2 if m.fake else 60]
    name = f"told-{slow}-{model}"
    plain = m.run(f"{name}-plain", command, limit=60)
    if plain.status:
        report.add(title, "skip", gpu_machine.last_words(plain))
        return
    ran = m.run(name, command, traced=True, limit=60,
                env=env | {"TRACEPROF_VERDICT": "1"})
    report.expect(f"{title}: ends and prints as without us",
                  (ran.status, ran.stdout) == (plain.status, plain.stdout),
                  gpu_machine.last_words(ran))
    report.tell(f"{title}: seconds", f"{plain.seconds:.1f}, {ran.seconds:.1f} with us")
    trace = gpu_traces.load(m, report, title, ran, alone=False)
    if trace:
        gpu_traces.records(m, report, title, trace)
        steps = [event for event in trace.slices
                 if event["name"].startswith("ProfilerStep#")]
        report.tell(f"{title}: steps", len(steps))
    words = list(gpu_machine.own_lines(ran))
    if m.command and ran.traces:
        path = max(ran.traces, key=os.path.getsize)
        words += m.run("report", [m.command, "report", path], limit=60) \
            .stdout.splitlines()
        if slow == "memory":
            words += m.run("memory", [m.command, "memory", path], limit=60) \
                .stdout.splitlines()
    words = [line for line in words if ".pt.trace.json" not in line]
    with open(os.path.join(m.out, "told.txt"), "a", encoding="utf-8") as file:
        file.write(f"=== {title}\n{ran.stderr}\n" + "\n".join(words) + "\n\n")
    if word:
        early = [line for line in words[:EARLY] if word in line]
        report.expect_of_gpu(f"{title}: {word} is said early", early, early[:1])
