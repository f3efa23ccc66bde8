# SPDX-License-Identifier: MIT
"""What had the processor while what was going on, and what pprof reads of it."""

import collections
import json
import os
import shutil
import subprocess

import harness
import protobuf
from harness import expect, expect_equal, same
from t_verdict import SAMPLES, made, slice_, threads_

SAMPLED = {"TRACEPROF_SAMPLE": "997"}


def test_pprof_reads_call_paths():
    done = same("phases", 1, 300, env=SAMPLED)
    file = done.files[0]
    profile = os.path.join(harness.folder(), "cpu.pb.gz")
    for options in ((), ("--lines",)):
        rows = json.loads(harness.command("report", "--hot", "--json", *options, file).stdout)
        with open(profile, "wb") as out:
            subprocess.run([harness.COMMAND, "report", "--pprof", *options, file],
                           stdout=out, check=True)
        kinds, samples = protobuf.profile(profile)
        expect_equal(kinds, ["samples", "cpu"])
        expect_equal(sum(values[1] for _, values in samples), rows["cpu_ns"])
        wanted = {row["name"]: row["self_ns"] for row in rows["functions"]}
        found = collections.Counter()
        for stack, values in samples:
            function, source, line = stack[0]
            found[f"{function} ({source}:{line})" if line else function] += values[1]
        for name in wanted:
            expect_equal(found[name], wanted[name], name)
        outer = [frame[0] for stack, _ in samples for frame in stack
                 if stack[0][0] == "half"]
        expect(outer and "work" in outer, outer)
        if shutil.which("go"):
            shown = subprocess.run(["go", "tool", "pprof", "-top", profile],
                                   capture_output=True, text=True)
            expect(shown.returncode == 0 and "half" in shown.stdout, shown)
    expect(any(line for stack, _ in samples for _, source, line in stack
               if source == "phases.c"), samples)


def test_threads_shorter_than_a_period_count_in_full():
    """What each ran after its last sample, or without one, is put together."""
    for milliseconds, batches in ((3, 100), (1, 300)):
        done = same("batch_threads", 4, batches, milliseconds,
                    env={"TRACEPROF_SAMPLE": "499"})
        hot = json.loads(harness.command("report", "--hot", "--json",
                                         done.files[0]).stdout)
        wanted = 4 * batches * milliseconds * 1e6
        work = {row["name"]: row for row in hot["functions"]}["its_share"]
        expect(0.95 * wanted < work["total_ns"] < 1.1 * wanted, wanted, work,
               hot["cpu_ns"])


def test_functions_of_a_template_with_long_arguments_are_told_apart():
    done = same("long_names", env=SAMPLED)
    hot = json.loads(harness.command("report", "--hot", "--json", done.files[0]).stdout)
    shares = {row["name"]: row["total_ns"] / hot["cpu_ns"] for row in hot["functions"]
              if row["name"].startswith("work<")}
    expect_equal(sorted(shares), ["work<>::most", "work<>::rest"], "names")
    expect(abs(shares["work<>::most"] - 0.75) < 0.05, shares)
    lines = harness.command("report", "--hot", "--lines", "--json", done.files[0]).stdout
    expect(any(row["name"].startswith("work<>::most (long_names.cpp:")
               for row in json.loads(lines)["functions"]) and "std::map" not in lines, lines)
    wholes = {one["args"]["function"] for one in done.trace.slices("work<>::*")}
    expect(wholes and all(len(whole) == 399 for whole in wholes), wholes)


def test_time_without_a_sample_is_said():
    for ran_us, is_said in ((200000, True), (110000, False), (100000, False)):
        tasks = [{"tid": 0, "name": "", "ran_us": ran_us},
                 {"tid": 700, "name": "main", "ran_us": 100000}]
        path = made(threads_(700) + [
            slice_("busy", 0, 100000, SAMPLES + 700, "cpu_sample", self_us=100000,
                   samples=50)], {"tasks": tasks})
        said = harness.command("report", "--hot", path).stdout
        expect_equal("the processes had 200.0 ms: the rest has no samples" in said,
                     is_said, said)


def test_phases_of_openmp_by_the_call_path():
    """Where regions are too short to be drawn or for a sample each, too."""
    for settings in ({}, {"TRACEPROF_MAX_OVERHEAD": "1"}):
        done = same("parts_of_regions", 4000, env={**SAMPLED, "OMP_NUM_THREADS": "2",
                                                   **settings})
        file = done.files[0]

        def hot(*options):
            found = json.loads(harness.command("report", "--hot", "--json", *options,
                                               file).stdout)
            return found["cpu_ns"], {row["name"]: row for row in found["functions"]}
        whole, rows = hot()
        expect_equal(rows["in_region"]["in_regions_ns"], rows["in_region"]["self_ns"])
        expect_equal(rows["between"]["in_regions_ns"], 0)
        parts = {}
        for phase, named, other in (("regions", "in_region", "between"),
                                    ("between", "between", "in_region")):
            parts[phase], only = hot("--phase", phase)
            expect_equal(only[named]["self_ns"], rows[named]["self_ns"], phase)
            expect_equal(only[other]["total_ns"], 0, phase)
        expect_equal(sum(parts.values()), whole, "both phases")
        text = harness.command("report", "--hot", file).stdout
        share = 100 * parts["regions"] / whole
        expect(f"in OpenMP regions {share:.1f} %" in text, text)
        said = harness.command("report", "--hot", "--phase", "gpu-idle", file)
        expect_equal((said.status, said.stdout), (3, ""))
        expect_equal(harness.command("report", "--hot", "--phase", "step", file).status, 2)


def test_what_ran_while_the_gpu_was_idle():
    """10 ms of samples; the GPU works in 1 to 3 and in 7 to 8."""
    def slice(name, start, end, self_us):
        return {"ph": "X", "cat": "cpu_sample", "name": name, "pid": 1, "tid": 7,
                "ts": start, "dur": end - start,
                "args": {"samples": 1, "self_us": self_us}}

    def kernel(start, end, stream):
        return {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": stream,
                "ts": start, "dur": end - start, "args": {"device": 0, "stream": stream}}
    path = os.path.join(harness.folder(), "idle.pt.trace.json")
    with open(path, "w", encoding="ascii") as file:
        json.dump({"traceEvents": [
            kernel(7000, 8000, 7), kernel(1000, 2500, 7), kernel(2000, 3000, 8),
            slice("inner", 2000, 6000, 4000), slice("main", 0, 10000, 6000)]}, file)
    found = json.loads(harness.command("report", "--hot", "--json", path).stdout)
    idle = {row["name"]: row["gpu_idle_ns"] for row in found["functions"]}
    # Of inner's 4 ms 3; of main's 6 from 0 to 2 and from 6 to 10 that from 6 to 7.
    expect_equal({name: round(ns, -1) for name, ns in idle.items()},
                 {"inner": 3000000, "main": 1000000})
    only = json.loads(harness.command("report", "--hot", "--json", "--phase", "gpu-idle",
                                      path).stdout)
    expect(abs(only["cpu_ns"] - 4000000) < 10, only)
    text = harness.command("report", "--hot", path).stdout
    expect("between its first work and its last, 40.0 %" in text and
           " 75.0  inner" in text, text)
    folded = harness.command("report", "--folded", "--phase", "gpu-idle", path).stdout
    expect_equal(sorted(folded.split("\n")), ["", "main 1000", "main;inner 3000"])


if __name__ == "__main__":
    harness.main()
