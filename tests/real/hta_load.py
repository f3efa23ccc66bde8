#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loads trace files with Holistic Trace Analysis.

    tests/real/hta_load.py FILE|FOLDER...

The files of a folder are the ranks of one run.  Each file must load without an error or a warning, give the rank that it
states, keep every complete event and pass HTA's own validation.  A file with
GPU activity goes through HTA's analyses as well; they refuse one that has
none, by design.  A file without slices, of the heap alone, is not for HTA.  Exit status: 0 good, 1 a fault, 77 HTA is not installed.
"""

import logging
import math
import os
import re
import shutil
import sys
import tempfile
import warnings

import traces

SKIPPED = 77
# What HTA says, as warnings, of every good file.
USUAL = re.compile(
    r"Parsed .* (time = |backend=)"
    r"|Overall parsing of "
    r"|leaving parse_(traces|multiple_ranks) duration"
    r"|Rounding down ns resolution"
    r"|ProfilerStep not found in the trace"
    r"|There is only one iteration in the trace"
    # It rounds starts and lengths down to microseconds, each for itself.
    r"|Ignoring negative weight of -1 for CPEdge"
    # It counts queues by four launch calls; graphs and cudaMemcpy are not among.
    r"|No edge was added - queue length is")


def gpu_analyses(analysis, report, events):
    """Each of HTA's analyses on a file with kernels and launches."""
    steps = sorted({event["name"] for event in events
                    if event["name"].startswith("ProfilerStep#")})
    results = {
        "temporal breakdown": lambda: analysis.get_temporal_breakdown(visualize=False),
        "kernel breakdown": lambda: analysis.get_gpu_kernel_breakdown(visualize=False)[0],
        "queue length": analysis.get_queue_length_summary,
        "launch statistics": lambda: analysis.get_cuda_kernel_launch_stats(visualize=False),
        "idle time": lambda: analysis.get_idle_time_breakdown(visualize=False)[0],
        "memory bandwidth": analysis.get_memory_bw_summary,
    }
    for name, function in results.items():
        result = function()
        if isinstance(result, dict):
            result = next(iter(result.values()), None)
        report.expect(result is not None and len(result) > 0, f"no {name}")
    if steps:
        _, found = analysis.critical_path_analysis(
            rank=analysis.t.get_ranks()[0], annotation="ProfilerStep", instance_id=0)
        report.expect(found, "no critical path")


def rows_wanted(events):
    """What HTA's parser keeps: slices with a category, but for spans."""
    return [event for event in events
            if event["ph"] == "X" and event["cat"] != "Trace"]


def rows_after_cut(rows):
    """Of a file without a GPU; the last of several steps falls away, by design."""
    starts = {event["name"]: math.ceil(event["ts"]) for event in rows
              if event["name"].startswith("ProfilerStep#")}
    if len(starts) < 2:
        return rows
    return [event for event in rows
            if math.ceil(event["ts"]) < max(starts.values())]


def load(path, report):
    from hta.common import trace_parser
    from hta.configs.parser_config import ParserConfig
    from hta.trace_analysis import TraceAnalysis
    from hta.utils.validate_trace import validate_trace_format

    top = traces.load(path)
    events = top["traceEvents"]
    rows = rows_wanted(events)
    if not rows:                # HTA fails on such a file, whoever wrote it
        return 0, False
    _, frame, _ = trace_parser.parse_trace_dataframe(
        path, ParserConfig.get_default_cfg())
    report.equal("rows kept by the parser", len(frame), len(rows))
    good, errors = validate_trace_format(path, level="complete")
    report.expect(good, f"validate_trace_format: {errors}")

    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, folder)
        analysis = TraceAnalysis(trace_dir=folder)
        report.equal("ranks", list(analysis.t.get_ranks()),
                     [top["distributedInfo"]["rank"]])
        kept = len(analysis.t.get_trace(analysis.t.get_ranks()[0]))
        gpu = any("stream" in event.get("args", {}) for event in events)
        if gpu:
            report.expect(kept > 0, "no row was loaded")
            gpu_analyses(analysis, report, events)
        else:
            report.equal("rows loaded", kept, len(rows_after_cut(rows)))
    return kept, gpu


def load_folder(path, report):
    """The ranks of one run, together."""
    from hta.trace_analysis import TraceAnalysis

    files = [os.path.join(path, name) for name in sorted(os.listdir(path))]
    ranks = sorted(traces.load(name)["distributedInfo"]["rank"] for name in files)
    analysis = TraceAnalysis(trace_dir=path)
    report.equal("ranks", sorted(analysis.t.get_ranks()), ranks)
    return sum(len(analysis.t.get_trace(rank)) for rank in analysis.t.get_ranks()), False


def check(path):
    report = traces.Report(path)
    listener = traces.Listener(lambda record, text:
                               record.levelno <= logging.WARNING
                               and USUAL.search(text))
    logging.getLogger("hta").propagate = False
    logging.getLogger("hta").handlers = [listener]
    kept, gpu = 0, False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            loader = load_folder if os.path.isdir(path) else load
            kept, gpu = loader(os.path.abspath(path), report)
        except Exception as fault:
            report.expect(False, f"{type(fault).__name__}: {fault}")
    for warning in caught:      # what pandas thinks of HTA's style is no fault
        report.expect(issubclass(warning.category,
                                 (DeprecationWarning, FutureWarning)),
                      f"{warning.category.__name__}: {warning.message}")
    for text in listener.said:
        report.expect(False, text)
    return report.end(f"HTA has {kept} rows" + ("" if gpu else ", none of a GPU"))


if __name__ == "__main__":
    try:
        import hta
    except ImportError:
        print("HTA is not here: pip install HolisticTraceAnalysis")
        sys.exit(SKIPPED)
    sys.exit(traces.main(check, __doc__))
