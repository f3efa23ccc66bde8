# SPDX-License-Identifier: MIT
"""Figures that only a machine with a GPU can give, each a part of its own.

A part tells what it found; it fails only where that is wrong.
"""

import collections
import glob
import os
import re

import gpu_build
import gpu_capture
import gpu_compare
import gpu_machine
import gpu_traces
from gpu_build import with_runtime
from gpu_machine import HERE, ROOT, Lacking, rate
from gpu_training import need

MILLION = 1000000
LAST = "last_kernel"
# How a program in C may end: its status, and whether its last kernel must be in
# the trace.  Who is killed by a signal loses what CUPTI still held.
ENDS = (("return", 0, True), ("exit", 5, True), ("_exit", 6, True),
        ("throw", -6, False))


def program(m, name):
    if name not in m.programs:
        raise Lacking("not built")
    return m.programs[name]


def cupti_place(m):
    """Where a program finds libcupti by its name."""
    if m.fake:
        return m.double
    found = gpu_capture.cupti_of(m)
    places = [os.path.dirname(found)] if found else []
    for folder in (m.cuda or "", gpu_build.cuda_with_headers(m)):
        for place in ("extras/CUPTI/lib64", "lib64", "lib"):
            if glob.glob(os.path.join(folder, place, "libcupti.so.1[23]")):
                places.append(os.path.join(folder, place))
    return places[0] if places else ""


def paths(m):
    known = with_runtime(m).get("LD_LIBRARY_PATH") or \
        m.environment().get("LD_LIBRARY_PATH", "")
    return {"LD_LIBRARY_PATH": ":".join(filter(None, [known, cupti_place(m)]))}


def probe(m, report, *words, env=None, limit=60):
    """Its line as {word: what follows}, or {} after saying why not."""
    name = " ".join(map(str, words))
    ran = m.run("probe-" + name.replace(" ", "-"), [program(m, "probe"), *words],
                env=paths(m) | (env or {}), limit=limit)
    if not report.expect(f"{name}: finishes", ran.status == 0 and ran.stdout,
                         gpu_machine.last_words(ran)):
        return ""
    line = ran.stdout.strip().splitlines()[-1]
    report.tell(name, line)
    report.detail(name, line)
    return line


def numbers(line):
    return [float(text) for text in re.findall(r"-?\d+(?:\.\d+)?", line)]


def withheld(m, report):
    """Do records of calls wait in buffers that a long kernel keeps?"""
    ms = 500 if m.fake else 5000
    for attribute in (0, 1):
        line = probe(m, report, "withheld", attribute, ms,
                     env={"SIMGPU_KERNEL_NS": str(20 * MILLION)} if m.fake else {})
        found = re.search(r"calls_before (\d+) kernels_before (\d+) calls (\d+) "
                          r"kernels (\d+)", line)
        if found:
            before, small, calls, kernels = map(int, found.groups())
            report.tell(f"attribute 9 at {attribute}", (
                "calls are given back at once" if before >= calls / 2 else
                "calls are withheld too") + f": {rate(before, calls)}, "
                f"kernels {rate(small, kernels)}")
            report.expect(f"attribute 9 at {attribute}: all came in the end",
                          kernels == 101, kernels)


def zeros(m, report):
    """Records without time, with a clock of the client's and without."""
    count = 20000 if m.fake else MILLION
    for clock in ("own", "callback"):
        found = numbers(probe(m, report, "zeros", clock, count, limit=90))
        if len(found) == 2:
            report.tell(f"clock {clock}", rate(*found))
            report.expect(f"clock {clock}: a record for each", found[1] == count,
                          rate(found[1], count))


def devices(m, report):
    """DEVICE records inside of cuInit() and after it."""
    line = probe(m, report, "devices")
    if line and numbers(line)[-1] < 1:
        report.expect("EnableAndDump from a thread of its own", False, line)
    path = os.path.join(m.work, "devices.spy")
    ran = m.run("devices-inside", [program(m, "launches"), "launch", 500],
                env=paths(m) | {"CUDA_INJECTION64_PATH": gpu_capture.spy(m),
                                "SPY_OUT": path, "SPY_KINDS": "8,9,10"})
    if ran.status or not os.path.exists(path):
        report.expect("attached inside cuInit: finishes", False,
                      gpu_machine.last_words(ran))
        return
    with open(path, "rb") as file:
        data = file.read()
    lines = [part[gpu_capture.HEAD.size:].decode(errors="replace")
             for part, kind in gpu_capture.chunks(data)
             if kind == gpu_capture.gpu_records.TEXT]
    dump = gpu_capture.gpu_records.Dump(path, gpu_capture.sizes_for(
        gpu_capture.version_of(lines)))
    report.tell("attached inside cuInit", f"{len(dump.of(8))} DEVICE, "
                f"{len(dump.of(9))} CONTEXT records")


def events(m, report):
    """What recording a CUDA event costs, and by whose clock it is timed."""
    count = 2000 if m.fake else 100000
    for way in ("off", "untimed", "timed"):
        probe(m, report, "events", way, count)


def switching(m, report):
    """All kinds on and off, and launches before, between and after."""
    probe(m, report, "switching", 5)


def windows_cost(m, report):
    """A launch before the first window, in it, and after the last one."""
    count = 6000 if m.fake else 300000
    found = {}
    for way, traced in (("without us", False), ("traced", True)):
        ran = m.run(f"cost-{traced}", [program(m, "launches"), "windows", count],
                    traced=traced, env=with_runtime(m) | {
                        "TRACEPROF_STEP": "api", "TRACEPROF_WAIT": "2",
                        "TRACEPROF_ACTIVE": "2", "TRACEPROF_REPEAT": "1"})
        line = ran.stdout.strip()
        if not report.expect(f"{way}: finishes", ran.status == 0 and line,
                             gpu_machine.last_words(ran)):
            return
        found[way] = numbers(line)
        report.tell(way, "ns a launch, a round: " + " ".join(
            f"{one:.0f}" for one in found[way]))
    report.detail("ns", found)
    ours, plain = found["traced"], min(found["without us"])
    report.tell("more than without us", f"before {min(ours[:3]) - plain:.0f} ns, "
                f"within {min(ours[3:5]) - plain:.0f} ns, "
                f"after {min(ours[7:]) - plain:.0f} ns")


def ends_c(m, report):
    """Is the last kernel there, however a program in C ends?"""
    for way, status, whole in ENDS:
        ran = m.run(f"ends-c-{way}", [program(m, "launches"), "end", way],
                    traced=True, env=with_runtime(m), limit=40)
        report.expect(f"{way}: status", ran.status == status,
                      f"{ran.status}, {ran.seconds:.1f} s")
        if not ran.traces:
            report.add(f"{way}: a trace", "FAIL" if whole else "info",
                       gpu_machine.own_lines(ran)[-1:] or "none")
            continue
        last = [event for event in gpu_compare.Trace(ran.traces[0]).kernels
                if LAST in event["name"]]
        if whole:
            report.expect(f"{way}: the last kernel", last, len(last))
        else:
            report.tell(f"{way}: the last kernel", "there" if last else "lost")


def late_clock(m, report):
    """Attached late, since another library has the injection: are the times
    ours?"""
    other = next((path for pattern in ("/lib*/*/libm.so.6", "/lib64/libm.so.6")
                  for path in glob.glob(pattern)), None)
    if not other:
        raise Lacking("no library to inject")
    command = [program(m, "launches"), "launch", 2000]
    plain = m.run("late-plain", command, env=with_runtime(m))
    traced = m.run("late", command, traced=True,
                   env=with_runtime(m) | {"CUDA_INJECTION64_PATH": other})
    trace = gpu_traces.load(m, report, "late", traced)
    report.expect("late: ends as without us", plain.status == traced.status)
    if not trace:
        return
    gpu_traces.records(m, report, "late", trace)
    report.tell("late: notes", [note for note in trace.notes if "late" in note])
    report.expect("late: something", trace.work, len(trace.work))
    # By another's clock they lie far from their calls, or nowhere.
    gaps = trace.gaps()
    report.expect("late: times are ours", gaps and gaps[0] >= 0 and gaps[-1] < 1e6,
                  f"{gaps[0]:.2f} to {gaps[-1]:.2f} us after the launch" if gaps
                  else "no kernel with its call")
    report.tell("late: without time", rate(trace.gpu.get("without_time") or 0,
                                           trace.gpu.get("launches") or 0))


def second(m, report):
    """Another client in the process, in Kineto's order of calls."""
    output = os.path.join(m.work, "kineto_like.program")
    made = m.run("kineto-build", ["gcc", "-O1", "-D_GNU_SOURCE", "-o", output,
                                  os.path.join(ROOT, "tests", "programs",
                                               "kineto_like.c"), "-ldl"])
    if made.status:
        raise Lacking(gpu_machine.last_words(made))
    # The double spoils times as a real one of that version does: not always
    # the same ones.
    env = paths(m) | ({"SIMGPU_ZERO_TIMES": "0"} if m.fake else {})
    ways = (("new", "after"), ("old", "first"), ("new", "first"), ("old", "after"))
    for kind, order in ways[:2] if m.fake else ways:
        title = f"{kind}, {order}"
        plain = m.run(f"kineto-{kind}-{order}-plain", [output, kind, order, 1],
                      env=env, limit=40)
        traced = m.run(f"kineto-{kind}-{order}", [output, kind, order, 1],
                       traced=True, env=env, limit=40)
        report.expect(f"{title}: as without us", plain.status == traced.status == 0
                      and plain.stdout == traced.stdout,
                      traced.stdout.strip() or gpu_machine.last_words(traced))
        for path in traced.traces[:1]:
            trace = gpu_compare.Trace(path)
            names = [event["name"] for event in trace.kernels]
            report.tell(f"{title}: ours", f"{names.count('before')} before, "
                        f"{names.count('profiled')} of its own, "
                        f"{names.count('after')} after; "
                        f"moved {trace.gpu.get('moved_most_ns')} ns at most, "
                        f"{trace.gpu.get('without_time')} without time")
            report.expect(f"{title}: taken up again", names.count("after"),
                          "; ".join(trace.notes)[:160])
    unseen(m, report, output, env)


def unseen(m, report, output, env):
    """One that takes CUPTI without our seeing it; is it noticed, and when?"""
    traced = m.run("kineto-unseen", [output, "new", "after", 2], traced=True,
                   env=env | {"UNSEEN": "1"}, limit=40)
    report.expect("unseen: ends well", traced.status == 0, gpu_machine.last_words(traced))
    for path in traced.traces[:1]:
        trace = gpu_compare.Trace(path)
        known = [event for event in trace.slices
                 if event["name"] == "CUPTI is another profiler's"]
        loss = [event for event in trace.slices
                if event["name"] == "records of the GPU are missing"]
        report.tell("unseen: noticed", (
            f"{loss[0]['dur'] / 1e6:.1f} s after the oldest lost record, "
            f"{known[0]['dur'] / 1e6:.1f} s before the end") if known and loss else "no")
        names = [event["name"] for event in trace.kernels]
        report.tell("unseen: ours", f"{names.count('before')} before, lost buffers "
                    f"{trace.gpu.get('lost_buffers')}; {'; '.join(trace.notes)[:160]}")


def turns(m, report, title="turns", env=None):
    """Kernels of libraries that come and go, by two threads, in contexts that end:
    in windows of two steps, each with what the program says that it launched."""
    output = os.path.join(m.work, "library_turns.program")
    made = m.run(f"{title}-build", ["gcc", "-O1", "-D_GNU_SOURCE", "-I",
                                 os.path.join(ROOT, "include"), "-o", output,
                                 os.path.join(ROOT, "tests", "programs",
                                              "library_turns.c"), "-lpthread", "-ldl"])
    if made.status:
        raise Lacking(gpu_machine.last_words(made))
    command = [output, 30, 2, 1]
    plain = m.run(f"{title}-plain", command, limit=40)
    ran = m.run(title, command, traced=True, limit=60, env={
        "TRACEPROF_WAIT": "1", "TRACEPROF_ACTIVE": "2", "TRACEPROF_REPEAT": "0"}
                | (env or {}))
    gpu_traces.same(report, title, plain, ran)
    report.expect(f"{title}: windows", len(ran.traces) == 10, len(ran.traces))
    wrong = []
    for path in ran.traces:
        trace = gpu_compare.Trace(path)
        names = collections.Counter(
            event["name"] for event in trace.kernels
            if event["args"].get("correlation") in trace.calls)
        if len(names) != 4 or set(names.values()) != {3} \
                or trace.gpu.get("missing_kernels"):
            wrong.append((dict(names), trace.gpu.get("missing_kernels")))
            m.keep(path)
    report.expect(f"{title}: kernels by their library's name", not wrong, wrong[:2])


def inner_calls(m, report):
    """Calls of the driver in an eager step: those inside a runtime call that
    isn't recorded stand alone."""
    need(m, "torch")
    steps = 10
    ran = m.run("inner", [m.python, os.path.join(HERE, "torch_train.py"), "--steps",
                          steps, "--warm-up", 2, "--device", m.device, "--out",
                          os.path.join(m.work, "inner.json")], traced=True, limit=90)
    trace = gpu_traces.load(m, report, "eager", ran)
    if not trace:
        return
    spans = trace.named("train_step")[2:]
    inside = [event for event in trace.of("cuda_driver")
              if any(one["ts"] <= event["ts"] < one["ts"] + one["dur"]
                     for one in spans)]
    counts = {}
    for event in inside:
        counts[event["name"]] = counts.get(event["name"], 0) + 1
    report.tell("driver calls a step", f"{len(inside) / max(1, len(spans)):.1f}; "
                + ", ".join(f"{name} {count / len(spans):.1f}" for name, count in
                            sorted(counts.items(), key=lambda item: -item[1])[:8]))
    report.tell("left out inside runtime calls", trace.gpu.get("doubled_calls"))


def triton(m, report):
    """Modules unloaded and loaded again, with steps by a kernel's name."""
    need(m, "triton")
    count = 2 if m.fake else 50
    ran = m.run("triton", [m.python, os.path.join(HERE, "gpu_triton.py"), count,
                           m.device], traced=True, limit=90, env={
        "TRACEPROF_STEP": "kernel:*step_kernel*",
        "TRITON_INTERPRET": "1" if m.fake else "0"})
    report.expect("finishes", ran.stdout == f"sum {2 * count}.0\n",
                  ran.stdout.strip() or gpu_machine.last_words(ran))
    if m.fake:
        return
    trace = gpu_traces.load(m, report, "triton", ran)
    if trace:
        steps = [event for event in trace.slices
                 if event["name"].startswith("ProfilerStep#")]
        report.expect("a step for each launch", len(steps) in (2 * count, 2 * count - 1),
                      f"{len(steps)} of {2 * count}")


def scale(m, report):
    """Sixteen threads, as far as there are processors."""
    output = os.path.join(m.work, "scale.program")
    made = m.run("scale-build", ["gcc", "-O2", "-fopenmp", "-D_GNU_SOURCE", "-o",
                                 output, os.path.join(HERE, "gpu_scale.c")])
    if made.status:
        raise Lacking(gpu_machine.last_words(made))
    threads = min(16, os.cpu_count() or 1)
    report.tell("threads", threads)
    few = m.fake
    runs = [(f"regions of {us} us", ("regions", us, threads,
                                     200 if few else 400000 // us), {})
            for us in (5, 20, 100)]
    runs += [("heap, counters", ("heap", threads, 20000 if few else 5000000), {}),
             ("heap, every call", ("heap", threads, 5000 if few else 200000),
              {"TRACEPROF_MALLOC": "all"}),
             ("regions and heap", ("both", 20, threads, 200 if few else 20000),
              {"TRACEPROF_MALLOC": "all"})]
    for title, words, env in runs:
        scale_run(m, report, title, [output, *words], env)


def scale_run(m, report, title, command, env):
    name = "scale-" + title.replace(" ", "-").replace(",", "")
    times = {True: [], False: []}
    for turn in range(1 if m.fake else 3):      # in turn, so that both drift alike
        for traced in (False, True):
            # A rehearsal has fewer processors than threads.
            ran = m.run(f"{name}-{turn}-{traced}", command, traced=traced, limit=30,
                        env=env | ({"OMP_WAIT_POLICY": "passive"} if m.fake else {}))
            found = re.search(r"ns ([0-9.]+)", ran.stdout)
            if not report.expect(f"{title}: finishes", found and ran.status == 0,
                                 gpu_machine.last_words(ran)):
                return
            times[traced].append(float(found.group(1)))
    plain, ours = min(times[False]), min(times[True])
    report.tell(title, f"{plain:.0f} ns, {ours:.0f} ns with us, "
                f"{ours - plain:+.0f} ns ({ours / plain - 1:+.1%})")
    report.detail(title, {"plain": times[False], "traced": times[True]})
    for path in ran.traces[:1]:
        top = gpu_compare.Trace(path).top.get("traceprof", {})
        events = top.get("events", {})
        dropped, seen = events.get("dropped", 0), events.get("seen", 0)
        report.tell(f"{title}: not kept", rate(dropped, dropped + seen))
        report.tell(f"{title}: the writer", top.get("writer", ""))
