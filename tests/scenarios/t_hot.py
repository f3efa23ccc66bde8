# SPDX-License-Identifier: MIT
"""What had the processor while what was going on, and what pprof reads of it."""

import collections
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time

import harness
import protobuf
from harness import Skip, expect, expect_equal, same
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


def test_each_sample_of_a_long_function_has_its_line():
    """On more places than one slice has room for."""
    done = same("many_places", 400, env=SAMPLED)
    places = [one["args"].get("at", "") for one in done.trace.events
              if one.get("cat") == "cpu_sample" and one["name"] == "long_one"]
    samples = sum(one["args"]["samples"] for one in done.trace.events
                  if one.get("cat") == "cpu_sample" and one["name"] == "long_one")
    found = re.findall(r" (0x[0-9a-f]+):(\d+)", " ".join(places))
    expect(len({address for address, _ in found}) > 16, found)
    expect_equal(sum(int(count) for _, count in found), samples, "samples with a place")
    rows = json.loads(harness.command("report", "--hot", "--lines", "--json",
                                      done.files[0]).stdout)["functions"]
    without = [row for row in rows if row["name"] == "long_one"]
    expect(not any(row["self_ns"] for row in without), without)


def test_threads_shorter_than_a_period_count_in_full():
    """What each ran after its last sample, or without one, is put together: all that
    the function worked, by its own account, and no more than the process had."""
    for milliseconds, batches in ((3, 100), (1, 300)):
        told = os.path.join(harness.folder(), "worked")
        done = same("batch_threads", 4, batches, milliseconds, told,
                    env={"TRACEPROF_SAMPLE": "499"})
        with open(told, encoding="ascii") as file:
            worked = 1000 * int(file.read())
        hot = json.loads(harness.command("report", "--hot", "--json",
                                         done.files[0]).stdout)
        work = {row["name"]: row for row in hot["functions"]}["its_share"]
        ran, = (1000 * task["ran_us"] for task in done.trace.meta["tasks"]
                if not task["tid"])
        expect(0.95 * worked < work["total_ns"] <= ran, worked, work, ran)


def test_threads_without_a_sample_are_where_their_like_were_found():
    """All threads of std::async() begin in one function of libstdc++'s.  Most of these
    end before the kernel looks, and what they ran is no time of that function."""
    done = same("async_shares", 600, env={"TRACEPROF_SAMPLE": "997"})
    hot = json.loads(harness.command("report", "--hot", "--json", done.files[0]).stdout)
    total = {row["name"]: row["total_ns"] / hot["cpu_ns"] for row in hot["functions"]}
    expect(0.4 < total.get("two_thirds", 0) < 0.9, total)
    expect(0.1 < total.get("one_third", 0) < 0.6, total)


NATIVE = """import ctypes, sys, threading, time
spin = ctypes.CDLL(sys.argv[1]).spin
spin.argtypes = [ctypes.c_ulong]


def outer(turns):
    inner(turns)


def inner(turns):
    spin(turns)


def on_thread(turns):
    inner(turns)


begun = time.process_time()
turns = 1000
while time.process_time() - begun < 0.4:
    outer(turns)
    turns *= 2
one = threading.Thread(target=on_thread, args=(turns,))
one.start()
one.join()
"""


def test_python_below_code_that_cannot_be_walked():
    """MKL's and OpenBLAS' kernels say nothing of their frames: the lines of Python that
    called them are known all the same."""
    if platform.machine() != "x86_64":
        raise Skip("its assembly is x86-64's")
    if not (3, 10) <= sys.version_info < (3, 15):
        raise Skip("no functions of this Python's")
    library = harness.compile_program("lib/no_frames.S", "-shared", "-fPIC",
                                      name="libno_frames.so")
    script = os.path.join(harness.folder(), "native.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(NATIVE)
    done = harness.traced(sys.executable, script, library, env=SAMPLED)
    expect_equal(done.status, 0, done.stderr)
    folded = harness.command("report", "--folded", done.files[0]).stdout
    sums = collections.Counter()
    for line in folded.splitlines():
        path, number = line.rsplit(" ", 1)
        names = [re.sub(r" .*", "", name) for name in path.split(";")]
        if names[-1] == "spin":
            sums["all"] += int(number)
            for name in ("outer", "on_thread"):
                sums[name] += name in names and "inner" in names and int(number)
    expect(sums["all"] > 400000, sums, folded[-500:])
    expect(sums["outer"] > 100000 and sums["on_thread"] > 100000, sums)
    expect(sums["outer"] + sums["on_thread"] > 0.98 * sums["all"], sums)


def test_who_calls_code_that_tells_nothing_of_its_frame():
    """Assembly without tables and code made at run time, called by functions that keep a
    frame pointer and by such that don't: by what the code does up to its return.  By the
    frame pointer one had no caller, or its caller's, or what old calls left."""
    if platform.machine() != "x86_64":
        raise Skip("its assembly is x86-64's")
    for flag in ("-fomit-frame-pointer", "-fno-omit-frame-pointer"):
        program = harness.compile_program("bare_kernels.c", "-O2", flag,
                                          name="bare" + flag)
        done = same(program, env=SAMPLED)
        folded = harness.command("report", "--folded", done.trace.path).stdout
        sums = collections.Counter()
        for line in folded.splitlines():
            path, number = line.rsplit(" ", 1)
            names = path.split(";")
            if names[-1] in ("leaf", "aligned", "pushes", "keeps", "[no module]"):
                kernel = "made" if names[-1] == "[no module]" else names[-1]
                sums[kernel] += int(number)
                wanted = ["main", "outer", f"calls_{kernel}", names[-1]]
                sums["wrong"] += names[-4:] != wanted and int(number)
        expect_equal(sums["wrong"], 0, folded[-2000:])
        for kernel in ("leaf", "aligned", "pushes", "keeps", "made"):
            expect(sums[kernel] > sum(sums.values()) / 15, kernel, sums)


def test_functions_of_a_template_with_long_arguments_are_told_apart():
    done = same("long_names", env=SAMPLED)
    hot = json.loads(harness.command("report", "--hot", "--json", done.files[0]).stdout)
    ran = {row["name"]: row["total_ns"] for row in hot["functions"]
           if row["name"].startswith("work<")}
    expect_equal(sorted(ran), ["work<>::most", "work<>::rest"], "names")
    expect(abs(ran["work<>::most"] / sum(ran.values()) - 0.75) < 0.05, ran)
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


def test_fewer_samples_than_were_asked_for_are_said():
    """With what they are good for: 50 of 4 ms are as many; of 40 with 1 ms and 10 with
    36 ms it is as if they were 12."""
    for slices, hz, points in (
            ([(200000, 50)], 997, 7.1), ([(40000, 40), (360000, 10)], 997, 14.3),
            ([(200000, 50)], 300, None), ([(36000, 9)], 997, None)):
        start, events = 0, []
        for self_us, samples in slices:
            events.append(slice_("busy", start, self_us, SAMPLES + 700, "cpu_sample",
                                 self_us=self_us, samples=samples))
            start += self_us
        path = made(threads_(700) + events,
                    {"options": {"SAMPLE": str(hz)}, "sampling": {"kernel_hz": 250}})
        said = harness.command("report", "--hot", path).stdout
        rate = 1e6 * sum(one[1] for one in slices) / start
        line = (f"{rate:.0f} a second of it, of {hz} asked for (this kernel can send 250): "
                f"a share of a half is known to {points} points\n")
        expect_equal((line in said, " asked for" in said), (bool(points),) * 2, said)


def test_the_rate_that_the_kernel_can_send_is_in_the_file():
    done = same("phases", 1, 20, env={"TRACEPROF_SAMPLE": "10000"})
    tick = time.clock_getres(6)         # CLOCK_MONOTONIC_COARSE
    expect_equal(done.trace.meta["sampling"]["kernel_hz"],
                 int(1e9) // round(1e9 * tick))


def test_phases_of_openmp_by_the_call_path():
    """Where regions are too short to be drawn or for a sample each, too; of some kernels
    there are 250 samples a second at most, and in a fast run few."""
    for settings in ({}, {"TRACEPROF_MAX_OVERHEAD": "1"}):
        done = same("parts_of_regions", 12000, env={**SAMPLED, "OMP_NUM_THREADS": "2",
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


def test_forms_that_there_are_none_of_are_refused():
    """Not answered by text that no program can read."""
    path = made(threads_(700) + [slice_("busy", 0, 1000, SAMPLES + 700, "cpu_sample",
                                        self_us=1000, samples=1)])
    for options, word in ((("--verdict", "--json"), "--json alone has the step's parts"),
                          (("--last=50", "--csv"), "--verdict and --last are text"),
                          (("--hot", "--csv"), "--hot --json has functions"),
                          (("--io", "--json"), "--io has no --json")):
        said = harness.command("report", *options, path)
        expect_equal((said.status, said.stdout), (2, ""), options)
        expect(word in said.stderr, options, said.stderr)


def test_a_flame_graph_has_no_more_boxes_than_a_browser_draws():
    """Of more the narrowest are left out, and that is said."""
    for outer, said in ((5500, True), (4000, False)):
        events, start = [], 0
        for number in range(outer):
            wide = 20 + number % 2
            for name in (f"outer{number}", f"inner{number}"):
                events.append({"ph": "X", "cat": "cpu_sample", "name": name, "pid": 7,
                               "tid": 8, "ts": start, "dur": wide,
                               "args": {"samples": 1, "self_us": wide / 2}})
            start += wide
        place = harness.folder()
        trace, out = (os.path.join(place, name) for name in ("t.json", "many.svg"))
        with open(trace, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events}, file)
        expect_equal(harness.command("report", "--flame", out, trace).status, 0)
        with open(out, encoding="utf-8") as file:
            text = file.read()
        boxes = text.count('<g class="f"')
        expect_equal(", without what has less than" in text, said, boxes)
        expect(boxes < 10000 if said else boxes == 8001, boxes)


ZOOM = """
const box = (a) => ({style: {}, at: a, getAttribute(k) { return this.at[k]; },
                     setAttribute(k, v) { this.at[k] = String(v); }, textContent: ''});
const groups = BOXES.map(b => { const g = box({'data-n': b[0]}), r = box({x: b[1], width: b[2],
    y: b[3]}), t = box({x: b[1]}); g.querySelector = k => k === 'rect' ? r : t; g.r = r;
    return g; });
const document = {querySelectorAll: () => groups, addEventListener() {}};
const window = {addEventListener() {}};
SCRIPT
init();
zoom(groups.find(g => g.at['data-n'] === 'middle'));
console.log(groups.filter(g => g.style.display !== 'none').map(
    g => g.at['data-n'] + ' ' + (+g.r.at.width).toFixed() + ' ' + g.style.opacity).join(', '));
"""


def test_zoom_shows_what_a_function_calls():
    """With those that called it pale above it."""
    if not shutil.which("node"):
        raise Skip("node is not on this machine")
    events = [{"ph": "M", "name": "process_name", "pid": 7, "tid": 7, "args": {}}]
    for name, start, took in (("outer", 0, 400), ("middle", 100, 200), ("inner", 150, 50),
                              ("beside", 300, 100)):
        events.append({"ph": "X", "cat": "cpu_sample", "name": name, "pid": 7, "tid": 7,
                       "ts": start, "dur": took,
                       "args": {"samples": 1, "self_us": took / 2}})
    place = harness.folder()
    trace, out = (os.path.join(place, name) for name in ("t.json", "zoom.svg"))
    with open(trace, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)
    said = harness.command("report", "--flame", out, trace)
    expect_equal(said.status, 0, said.stderr)
    with open(out, encoding="utf-8") as file:
        text = file.read()
    boxes = re.findall(r'data-n="([^"]*)".*?<rect x="([^"]*)" y="([^"]*)" width="([^"]*)"',
                       text, re.S)
    script = re.search(r"<script><!\[CDATA\[(.*?)\]\]>", text, re.S).group(1)
    rows = [[name, float(x), float(wide), float(y)] for name, x, y, wide in boxes]
    done = subprocess.run(
        ["node", "-e", ZOOM.replace("BOXES", json.dumps(rows)).replace("SCRIPT", script)],
        capture_output=True, text=True)
    expect_equal(done.stderr, "", "node")
    shown = done.stdout.strip().split(", ")
    expect("outer 1200 0.5" in shown and "middle 1200 1" in shown, shown)
    expect(any(re.fullmatch(r"inner \d+ 1", one) for one in shown), shown)
    expect(not any(one.startswith("beside") for one in shown), shown)


def test_a_plugin_where_another_was():
    """The loader puts it at the same place: what ran there has the name of its own time."""
    first, second = (harness.program(f"lib/libturn_{name}.so") for name in ("first", "second"))
    run = harness.traced("turns", 0.5, first, second, first, second, env=SAMPLED)
    expect("elsewhere" not in run.stdout, run.stdout)
    for lines in ([], ["--lines"]):
        rows = json.loads(harness.command("report", "--hot", "--json", *lines,
                                          run.files[0]).stdout)
        text = json.dumps(rows)
        for name in ("works_first", "works_second"):
            expect(name in text, f"{name}, {lines}", text)
    slices = run.trace.slices(cat="cpu_sample")
    ran = {name: sum(one["dur"] for one in slices if one["name"] == name)
           for name in ("works_first", "works_second")}
    expect(0.3 < ran["works_first"] / sum(ran.values()) < 0.7, ran)
    notes = str(run.trace.meta.get("notes"))
    expect("libturn_second.so was loaded where" in notes, notes)


if __name__ == "__main__":
    harness.main()
