#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loads trace files with TensorBoard and its plug-in torch-tb-profiler.

    tests/real/tensorboard_load.py FILE...

Each file goes through the plug-in's own parser and generators, where every
warning is a fault, and then some at a time through a TensorBoard server on
127.0.0.1, whose pages for each view must come, filled.
Exit status: 0 good, 1 a fault, 77 TensorBoard or its plug-in is not here.
"""

import gzip
import json
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import traces

SKIPPED = 77
# The plug-in loads all traces of a server at once, each in a process of its own: some
# sixty of them left its pages no processor for half a minute.
AT_ONCE = 6
SECONDS = 900                   # for each such load; more would be a hang
PLUGIN = "/data/plugin/pytorch_profiler"
# What ranks say to each other before the first step and behind the last is in none.
OUTSIDE = r"Found (a )?communication ops? not belong to any step"
# It takes the last step away where fewer kernels fall into it than into the one before:
# of two threads that launch the other one may be late with its own.
TAIL = r"Remove the last 1 steps from overview"


def launchers(events):
    return {event["tid"] for event in events
            if event.get("cat") == "cuda_runtime" and "Launch" in event["name"]}


def wanted_views(events):
    views = ["Overview", "Operator", "Trace"]
    if any(event.get("cat") == "kernel" for event in events):
        views.append("Kernel")
    if any(event["name"] == "[memory]" for event in events):
        views.append("Memory")
    return sorted(views)


def operators(events):
    return {event["name"] for event in events
            if event["ph"] == "X" and event["cat"] == "cpu_op"}


def steps_wanted(events):
    """Numbers of the steps, or the one that the plug-in makes up."""
    found = {event["name"].partition("#")[2] for event in events
             if event["ph"] == "X" and event["name"].startswith("ProfilerStep#")}
    return sorted(found) or ["0"]


def parse(path, folder, report):
    """The plug-in's classes, in this process, so that nothing is unheard."""
    from torch_tb_profiler import consts
    from torch_tb_profiler.profiler import trace
    from torch_tb_profiler.profiler.data import RunProfileData
    from torch_tb_profiler.profiler.run_generator import RunGenerator

    # As in the plug-in's last sources.  The last one on PyPI lacks this row, so
    # that it gives the operators of no trace, torch's own included, device time.
    trace.EventTypeMap.setdefault("cuda_runtime", trace.EventTypes.RUNTIME)

    match = consts.WORKER_PATTERN.match(os.path.basename(path))
    report.expect(match, "the plug-in does not take this for a trace by its name")
    events = traces.load(path)["traceEvents"]
    worker = match.group(1) if match else "worker"
    data = RunProfileData.parse(worker, None, path, folder)
    profile = RunGenerator(worker, None, data).generate_run_profile()
    views = sorted(view.display_name for view in profile.views)
    report.equal("views", views, wanted_views(events))
    shown = {row[0] for row in profile.overview["steps"]["rows"]}
    steps = steps_wanted(events)
    if len(shown) == len(steps) - 1 and len(launchers(events)) > 1:
        steps.remove(max(steps, key=int))
    report.equal("steps", sorted(shown), steps)
    report.equal("trace that is shown", profile.trace_file_path, path)

    found = {row["name"] for row in profile.operation_table_by_name["data"]}
    missing = sorted(operators(events) - found)
    report.expect(not missing, f"operators missing: {missing[:5]}")
    if "Kernel" in views:
        gpu(profile, report, events)
    if "Memory" in views:
        memory(profile, report)
    return len(found), views


def gpu(profile, report, events):
    """Kernels by name, the device, and device time on the operators that
    launched."""
    kernels = [event for event in events if event.get("cat") == "kernel"]
    shown = {row[0] for row in profile.kernel_table["data"]["rows"]}
    report.equal("kernels", sorted(shown), sorted({event["name"] for event in kernels}))
    report.expect(profile.gpu_summary, "nothing of the GPU on the overview")
    ids = {event["args"]["External id"] for event in events
           if event["ph"] == "X" and event["cat"] == "cpu_op"}
    if any(event["args"].get("External id") in ids for event in kernels):
        report.expect(any(row["device_total_duration"] > 0
                          for row in profile.operation_table_by_name["data"]),
                      "no operator has device time")


def memory(profile, report):
    curve = profile.get_memory_curve(time_metric="ms", memory_metric="MB")
    devices = curve["metadata"]["devices"]
    report.expect("CPU" in devices or any(name.startswith("GPU") for name in devices),
                  f"memory of no device: {devices}")
    for name in devices:
        report.expect(any(row[1] > 0 for row in curve["rows"][name]),
                      f"the memory curve of {name} is flat")
    if "Kernel" in [view.display_name for view in profile.views]:
        report.expect("GPU0" in devices, f"memory of {devices}, of no GPU")
    profile.get_memory_stats(memory_metric="KB")
    profile.get_memory_events(None, None, time_metric="ms", memory_metric="KB")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fetch(port, page, **query):
    address = f"http://127.0.0.1:{port}{PLUGIN}/{page}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(address, timeout=SECONDS) as answer:
        data = answer.read()
        if answer.headers.get("Content-Encoding") == "gzip":
            data = gzip.decompress(data)
        return json.loads(data)


def wait_for_runs(port, server):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            answer = fetch(port, "runs")
            if answer["runs"] and not answer["loading"]:
                return answer["runs"]
        except OSError:         # it doesn't listen yet
            pass
        time.sleep(0.5)
    return []


def walk(port, run, report, files):
    """One request for each page of each file."""
    workers = fetch(port, "workers", run=run, view="Trace")
    report.equal("workers", len([name for name in workers if name != "All"]), files)
    for worker in workers:
        for span in fetch(port, "spans", run=run, worker=worker):
            key = {"run": run, "worker": worker, "span": span}
            pages = ["overview", "operation", "operation/table"]
            if fetch(port, "operation/table", **key)["data"]:
                pages.append("tree")    # the plug-in fails where there is none
            if worker in fetch(port, "workers", run=run, view="Memory"):
                pages += ["memory", "memory_curve", "memory_events"]
            for page in pages:
                report.expect(fetch(port, page, **key), f"page {page} is empty")
            shown = fetch(port, "trace", **key)
            report.expect(len(shown["traceEvents"]) > 0, "the trace view is empty")


def serve(paths):
    report = traces.Report("TensorBoard's server")
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            shutil.copy(path, folder)
        port = free_port()
        log = os.path.join(folder, "server.log")
        with open(log, "wb") as output:
            server = subprocess.Popen(
                [sys.executable, "-m", "tensorboard.main", "--logdir", folder,
                 "--host", "127.0.0.1", "--port", str(port), "--load_fast", "false"],
                stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        try:
            runs = wait_for_runs(port, server)
            report.equal("runs", len(runs), 1)
            for run in runs:
                walk(port, run, report, len(paths))
        except (OSError, KeyError, ValueError, TypeError) as fault:
            report.expect(False, f"{type(fault).__name__}: {fault}")
        finally:
            server.terminate()
            server.wait()
        with open(log, encoding="utf-8", errors="replace") as output:
            for line in output:
                if re.match(r"[WE]\d{4} |Traceback", line) and not re.search(
                        OUTSIDE + "|" + TAIL, line):
                    report.expect(False, line.strip()[:300])
    return report.end(f"{len(paths)} traces, each view filled")


def check(path):
    report = traces.Report(path)
    # Calls outside of operators, in annotations alone: they have no row.
    listener = traces.Listener(lambda record, text: re.match(
        r"\d+ Runtime with external id \S+ don't correlate|" + OUTSIDE, text)
        or (re.match(TAIL, text) and len(launchers(traces.load(path)["traceEvents"])) > 1))
    logging.getLogger("pytorch_profiler").addHandler(listener)
    count, views = 0, []
    try:
        with tempfile.TemporaryDirectory() as folder:
            count, views = parse(os.path.abspath(path), folder, report)
    except Exception as fault:
        report.expect(False, f"{type(fault).__name__}: {fault}")
    logging.getLogger("pytorch_profiler").removeHandler(listener)
    for text in listener.said:
        report.expect(False, text)
    return report.end(f"TensorBoard has {count} operators, views {', '.join(views)}")


if __name__ == "__main__":
    try:
        import tensorboard
        import torch_tb_profiler
    except ImportError as fault:
        print(f"{fault}: pip install tensorboard torch-tb-profiler")
        sys.exit(SKIPPED)
    STATUS = traces.main(check, __doc__)
    for at in range(1, len(sys.argv), AT_ONCE):
        if STATUS == 0 and not serve(sys.argv[at:at + AT_ONCE]):
            STATUS = 1
    sys.exit(STATUS)
