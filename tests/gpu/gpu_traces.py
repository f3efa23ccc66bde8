# SPDX-License-Identifier: MIT
"""What every traced run on the GPU must have left."""

import os

import gpu_compare
import gpu_machine
from gpu_machine import ROOT

RULES = os.path.join(ROOT, "tests", "real", "perfetto_rules.py")
LARGEST = 12 << 20              # of a .gz for the check in Python


def check(m, report, title, path):
    """The file keeps the contract."""
    if m.command:
        command = [m.command, "check", path]
    elif os.path.getsize(path) > LARGEST:
        report.add(f"{title}: the file is good", "skip", "too large to check here")
        return
    else:
        command = [m.python, RULES, path]
    checked = m.run("check", command, limit=90)
    lines = checked.stdout.strip().splitlines()
    # The first fault, and how many.
    said = lines[-1:] if checked.status == 0 else lines[:1] + lines[1:][-1:]
    report.expect(f"{title}: the file is good", checked.status == 0,
                  said or gpu_machine.last_words(checked))


def same(report, title, plain, traced):
    """The program made no difference between the two."""
    report.expect(f"{title}: ends as without us", traced.status == plain.status,
                  gpu_machine.last_words(traced) if traced.status != plain.status else "")
    if plain.stdout != traced.stdout:
        report.expect(f"{title}: prints the same", False,
                      f"{traced.stdout.strip()[-80:]!r}, not {plain.stdout.strip()[-80:]!r}")
    lines = gpu_machine.own_lines(traced)
    report.expect(f"{title}: at most five lines of ours",
                  len(lines) <= gpu_machine.OWN_LINES, f"{len(lines)}")


def load(m, report, title, traced, alone=True):
    """The one trace, or None after saying so.  Not `alone`: processes that it
    starts may leave their own, and the largest is meant."""
    wanted = len(traced.traces) == 1 if alone else traced.traces
    if not report.expect(f"{title}: traces", wanted,
                         len(traced.traces) or gpu_machine.own_lines(traced)[-1:]):
        if not traced.traces:
            return None
    path = max(traced.traces, key=os.path.getsize)
    m.keep(path)
    check(m, report, title, path)
    return gpu_compare.Trace(path)


def records(m, report, title, trace, work=True):
    """CUPTI was there and everything of it arrived."""
    if m.fake and not trace.gpu:
        report.add(f"{title}: work of the GPU", "skip", "on the processor")
        return
    if not report.expect(f"{title}: source", trace.gpu.get("source") == "cupti",
                         f"{trace.gpu.get('source')}; {'; '.join(trace.notes)[:200]}"):
        return
    report.detail(f"{title} gpu", trace.gpu | {
        "cupti_version": trace.top.get("cupti_version"), "notes": trace.notes})
    launches = trace.gpu.get("launches", 0)
    lost = [f"{key} {gpu_machine.rate(trace.gpu[key], launches)}" for key in
            ("dropped_records", "lost_buffers", "unknown_records", "without_time",
             "unlinked", "missing_kernels") if trace.gpu.get(key)]
    report.expect(f"{title}: nothing lost or unknown", not lost, lost)
    if not work:
        return
    report.expect(f"{title}: work", trace.kernels,
                  f"{len(trace.kernels)} kernels, {len(trace.work)} in all")
    row = gpu_compare.arrows_row(trace)
    report.expect(f"{title}: arrows", row.passed, row.said)
    early = trace.before_launch()
    report.expect(f"{title}: none before its launch", not early,
                  f"{gpu_machine.rate(len(early), len(trace.work))}, by {early[:3]} ns"
                  if early else "")
    report.tell(f"{title}: moved to the launch",
                f"{trace.gpu.get('moved_to_launch')} pieces, at most "
                f"{trace.gpu.get('moved_most_ns')} ns")
    gaps = trace.gaps()
    if gaps:
        report.tell(f"{title}: launch to begin, us",
                    f"least {gaps[0]:.2f}, 1 in 100 {gaps[len(gaps) // 100]:.2f}, "
                    f"median {gaps[len(gaps) // 2]:.2f}")
    doubled = calls_with_arrows(trace)
    report.tell(f"{title}: launched by", ", ".join(
        f"{name} {cbid}: {count}" for (name, cbid), count in doubled[:6]))


def calls_with_arrows(trace):
    """[((name, cbid), how many launches)], the most frequent first."""
    counts = {}
    for number in {event["args"].get("correlation") for event in trace.work}:
        call = trace.calls.get(number)
        if call:
            key = call["name"], call["args"].get("cbid")
            counts[key] = counts.get(key, 0) + 1
    return sorted(counts.items(), key=lambda item: -item[1])


def look(m, report, title, plain, traced, alone=True):
    """All of it; the trace, or None."""
    same(report, title, plain, traced)
    trace = load(m, report, title, traced, alone)
    if trace:
        records(m, report, title, trace)
    return trace
