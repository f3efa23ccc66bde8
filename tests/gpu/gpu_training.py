# SPDX-License-Identifier: MIT
"""PyTorch and JAX with and without the library, and beside torch.profiler."""

import json
import os
import statistics

import gpu_capture
import gpu_compare
import gpu_machine
import gpu_traces
from gpu_machine import HERE, Lacking

STEPS, WARM_UP = 40, 10
CLOSED = {"TRACEPROF_WAIT": "1000000", "TRACEPROF_ACTIVE": "1", "TRACEPROF_STEP": "api"}


class Training:
    """Runs of one program, and what each of them wrote down."""

    def __init__(self, m, name, script, *arguments):
        self.m = m
        self.name = name
        self.steps, self.warm_up = (6, 2) if m.fake else (STEPS, WARM_UP)
        self.script = os.path.join(HERE, script)
        self.arguments = [*arguments, "--steps", self.steps, "--warm-up", self.warm_up]
        if m.fake:
            self.arguments += ["--device", "cpu"]

    def run(self, way, *more, traced=False, env=None, limit=90):
        """(result, what it wrote or None)"""
        name = f"{self.name}-{way}"
        out = os.path.join(self.m.work, f"{name}.json")
        result = self.m.run(name, [self.m.python, self.script, *self.arguments,
                                   "--out", out, *more],
                            traced=traced, env=env, limit=limit)
        try:
            with open(out, encoding="utf-8") as file:
                return result, json.load(file)
        except (OSError, ValueError):
            return result, None

    def step_ms(self, told):
        return statistics.median(told["step_ms"][self.warm_up:])


def need(m, module):
    if m.run(f"import-{module}", [m.python, "-c", f"import {module}"],
             limit=60).status:
        raise Lacking(f"no {module} in {m.python}")


def losses_row(report, way, told, wanted):
    seen, right = told["losses"], wanted["losses"]
    first = next((i for i, pair in enumerate(zip(seen, right)) if pair[0] != pair[1]), None)
    report.expect(f"{way}: the same losses to the last bit", seen == right,
                  f"{len(seen)} of them" if seen == right else
                  f"differ from step {first} on: {seen[first or 0]}, not {right[first or 0]}")


def plain_run(training, report, limit):
    """Twice if need be: what differs by itself says nothing of us."""
    result, told = training.run("plain", limit=limit)
    if result.status == 77:
        raise Lacking(gpu_machine.last_words(result))
    if not report.expect("runs without us", result.status == 0 and told,
                         gpu_machine.last_words(result)):
        return None, None
    return result, told


def ratio_row(training, report, way, told, base):
    ours, without = training.step_ms(told), training.step_ms(base)
    report.tell(f"{way}: step time", f"{ours:.3f} ms, {ours / without:.3f} times "
                f"{without:.3f} ms")
    report.detail(way, {"step_ms": ours, "ratio": ours / without})


def traced_run(training, report, plain, base):
    result, told = training.run("traced", traced=True)
    trace = gpu_traces.look(training.m, report, "traced", plain, result,
                            alone=training.name != "compile")
    if told:
        losses_row(report, "traced", told, base)
        ratio_row(training, report, "window open", told, base)
    else:
        report.expect("traced: finishes", False, gpu_machine.last_words(result))
    return trace


def closed_run(training, report, base):
    result, told = training.run("closed", traced=True, env=CLOSED)
    if report.expect("window closed: finishes", result.status == 0 and told,
                     gpu_machine.last_words(result)):
        losses_row(report, "window closed", told, base)
        ratio_row(training, report, "window closed", told, base)


def profiler_run(training, report, base, way="torch"):
    """torch.profiler's own trace of the same steps, without us."""
    path = os.path.join(training.m.work, f"{training.name}.{way}.pt.trace.json.gz")
    result, told = training.run(f"{way}-profiler", "--profiler", path)
    if not report.expect("torch.profiler: finishes",
                         result.status == 0 and told and os.path.exists(path),
                         gpu_machine.last_words(result)):
        return None
    ratio_row(training, report, "torch.profiler", told, base)
    training.m.keep(path)
    return gpu_compare.Trace(path)


def marks_row(training, report, trace):
    """NVTX ranges of the program arrive, one for each step."""
    ranges = len(trace.named("nvtx_step"))
    if not training.m.fake:
        report.expect("NVTX ranges", ranges == training.steps, ranges)
    ours = len(trace.named("train_step"))
    report.expect("marked steps", ours == training.steps, ours)


def torch_part(m, report, mode, first_limit=90):
    need(m, "torch")
    if m.fake and mode == "graph":
        raise Lacking("no CUDA graphs on a processor")
    training = Training(m, mode, "torch_train.py", "--mode", mode)
    plain, base = plain_run(training, report, first_limit)
    if not base:
        return
    trace = traced_run(training, report, plain, base)
    theirs = profiler_run(training, report, base) if m.left() > 20 else None
    again = profiler_run(training, report, base, "again") \
        if theirs and m.left() > 40 else None
    if trace:
        marks_row(training, report, trace)
    if trace and theirs:
        count = training.steps - training.warm_up
        for row in gpu_compare.compare(trace, theirs, training.warm_up, count,
                                       again=again):
            if m.fake:          # there is no work of a GPU to compare
                report.tell(f"as torch.profiler: {row.check}", row.said)
            else:
                report.expect(f"as torch.profiler: {row.check}", row.passed, row.said)
    if m.left() > 20:
        closed_run(training, report, base)


# --- windows on a loop that never waits ---------------------------------------

WINDOWS, EACH, ASYNC_STEPS = 3, 2, 30


def windows(m, report):
    """Three windows of two steps each, while the GPU falls seconds behind: each
    has what torch.profiler has of as many steps, by name and count."""
    need(m, "torch")
    for mode in ("eager",) if m.fake else ("eager", "graph"):
        if m.left() > 25:
            windows_mode(m, report, mode)


def async_run(m, mode, way, *more, traced=False, env=None):
    out = os.path.join(m.work, f"async-{mode}-{way}.json")
    result = m.run(f"async-{mode}-{way}", [
        m.python, os.path.join(HERE, "gpu_async.py"), "--mode", mode, "--steps",
        ASYNC_STEPS, "--device", m.device, "--out", out, *more], traced=traced,
        env=env, limit=60)
    try:
        with open(out, encoding="utf-8") as file:
            return result, json.load(file)
    except (OSError, ValueError):
        return result, None


def windows_mode(m, report, mode):
    path = os.path.join(m.work, f"async-{mode}.torch.pt.trace.json.gz")
    theirs, told = async_run(m, mode, "torch", "--profiler", path)
    if not report.expect(f"{mode}: torch.profiler finishes", told and
                         os.path.exists(path), gpu_machine.last_words(theirs)):
        return
    profile = gpu_compare.Trace(path)
    steps = profile.named("train_step")
    report.expect(f"{mode}: torch.profiler's steps", len(steps) == ASYNC_STEPS,
                  len(steps))
    wanted = gpu_compare.by_name([
        event for event in profile.launched_in(steps[:EACH])
        if event["cat"] == "kernel"])
    # As many products as there: what takes so long elsewhere has others.
    more = ("--products", told["products"])
    result, told = async_run(m, mode, "traced", *more, traced=True, env={
        "TRACEPROF_STEP": "range:train_step", "TRACEPROF_SKIP_FIRST": "2",
        "TRACEPROF_WAIT": "2", "TRACEPROF_ACTIVE": str(EACH),
        "TRACEPROF_REPEAT": str(WINDOWS)})
    if not report.expect(f"{mode}: traced finishes", told and result.status == 0,
                         gpu_machine.last_words(result)):
        return
    report.tell(f"{mode}: the GPU is behind by", f"{told['behind_s']:.1f} s, "
                f"{told['products']} products a step")
    report.expect_of_gpu(f"{mode}: over three seconds", told["behind_s"] > 3,
                         f"{told['behind_s']:.1f} s")
    report.expect(f"{mode}: files", len(result.traces) == WINDOWS, len(result.traces))
    for number, file in enumerate(result.traces):
        trace = gpu_compare.Trace(file)
        title = f"{mode}, window {number}"
        gpu_traces.check(m, report, title, file)
        m.keep(file)
        found = gpu_compare.by_name(trace.kernels)
        for row in (gpu_compare.names_row(found, wanted),
                    gpu_compare.counts_row(found, wanted)):
            report.expect_of_gpu(f"{title}: {row.check}", row.passed, row.said)
        products = max((len(times) for times in found.values()), default=0)
        report.expect_of_gpu(f"{title}: each product",
                             products == EACH * told["products"],
                             gpu_machine.rate(products, EACH * told["products"]))
        report.tell(f"{title}: graphs of unknown size", trace.gpu.get("unsized_graphs"))
        missing = trace.gpu.get("missing_kernels")
        report.expect_of_gpu(f"{title}: none missing", missing == 0, gpu_machine.rate(
            missing or 0, trace.gpu.get("launched_kernels") or 0))


def eager(m, report):
    torch_part(m, report, "eager")


def graph(m, report):
    torch_part(m, report, "graph")


def compiled(m, report):
    torch_part(m, report, "compile", first_limit=150)
    if m.left() > 30 and not m.fake:    # now that everything is compiled
        gpu_capture.capture_training(m, report, "compile")


def jax(m, report):
    need(m, "jax")
    training = Training(m, "jax", "jax_train.py")
    plain, base = plain_run(training, report, 90)
    if not base:
        return
    trace = traced_run(training, report, plain, base)
    if trace:
        marks_row_of_jax(training, report, trace)
    if m.left() > 20:
        closed_run(training, report, base)


def marks_row_of_jax(training, report, trace):
    steps = trace.named("train_step")
    report.expect("marked steps", len(steps) == training.steps, len(steps))
    if training.m.fake:
        return
    each = [len(trace.launched_in([step])) for step in steps[training.warm_up:]]
    report.expect("each step has the same work",
                  each and min(each) == max(each) > 0, sorted(set(each)))
