# SPDX-License-Identifier: MIT
"""TRACEPROF_MAX_OVERHEAD: what is thinned, and what stays exact.

The program's regions are a few hundred nanoseconds long, so that 1 % is too
little for them on any machine; elsewhere in the tests nothing is thinned.
"""

import json
import os
import re
import signal
import subprocess

import harness
from harness import command, expect, expect_equal, expect_thinned, same

TURNS, LAYERS = 3000, 8
THIN = {"TRACEPROF_MAX_OVERHEAD": "1"}


def thinned(threads=1, **env):
    run = same("short_regions", TURNS, LAYERS, threads, env=THIN | env)
    return run, run.trace


def rows(trace):
    return {row["name"]: row for row in trace.meta["sampled"]}


def each_call_is_in_the_sums(**env):
    run, trace = thinned(**env)
    events = trace.meta["events"]
    expect_thinned(trace, TURNS)
    for layer in rows(trace).values():
        drawn = [one for one in trace.slices(omp="parallel")
                 if one["name"] == layer["name"]]
        expect_equal(layer["seen"], layer["drawn"] + layer["thinned"], "seen")
        expect_equal(len(drawn), layer["drawn"], "slices")
        total = sum(one["dur"] for one in drawn)
        expect(layer["total_us"] > total, layer, total)
        expect(0 < layer["min_us"] <= min(one["dur"] for one in drawn) + 0.01, layer)
        expect(layer["max_us"] >= max(one["dur"] for one in drawn) - 0.01, layer)
    calls = {row["name"]: row["calls"] for row in trace.meta["totals"]}
    for name in ("work", "begin_turn"):
        expect_equal(sum(count for label, count in calls.items()
                         if label.startswith(name + " [omp parallel")),
                     TURNS * LAYERS if name == "work" else TURNS, name)
    said = [line for line in run.own_lines if "thinned" in line]
    expect(len(said) == 1 and str(events["thinned"]) in said[0], run.stderr)
    expect(any("MAX_OVERHEAD" in note for note in trace.meta["notes"]), "note")


def test_every_call_is_in_the_sums():
    """A mark for each, as long as the step is searched for."""
    each_call_is_in_the_sums()


def test_every_call_is_in_the_sums_that_its_thread_keeps():
    each_call_is_in_the_sums(TRACEPROF_STEP="api")


def test_sums_of_windows():
    """Each file has the calls of its own steps."""
    run = harness.traced("short_regions", 3 * 1100 + 100, LAYERS, 1, env=THIN | {
        "TRACEPROF_STEP": "omp:begin_turn", "TRACEPROF_WAIT": "100",
        "TRACEPROF_ACTIVE": "1000", "TRACEPROF_REPEAT": "3"})
    expect_equal(len(run.traces), 3, "files")
    for trace in run.traces:
        calls = sum(row["calls"] for row in trace.meta["totals"]
                    if row["name"].startswith("work [omp parallel"))
        expect_equal(calls, 1000 * LAYERS, "work")
    row = next(row for name, row in rows(run.traces[-1]).items()
               if name.startswith("work "))
    expect_equal(row["seen"], 1000 * LAYERS, "work")
    expect_equal(len(run.traces[-1].regions("work")), row["drawn"], "drawn")


def test_the_step_is_found_nevertheless():
    run, trace = thinned()
    expect_thinned(trace, TURNS)
    # What is written after the program's end is told by the file alone.
    expect(any('step = omp region "begin_turn"' in line
               for line in run.own_lines + trace.meta["notes"]), run.stderr)
    expect_equal(trace.steps(), list(range(TURNS)), "steps")


def test_steps_marked_by_hand_are_all_there():
    _, trace = thinned(TRACEPROF_STEP="omp:begin_turn")
    expect_thinned(trace, TURNS)
    expect_equal(trace.steps(), list(range(TURNS)), "steps")


def test_a_thinned_regions_team_does_nothing():
    _, trace = thinned(threads=2)
    drawn = trace.slices(omp="parallel")
    for region in drawn[::max(97, len(drawn) // 20)]:
        expect_equal(len(trace.team(region)), 2, "team")
    expect_equal(len(trace.slices(omp="task")), 2 * len(drawn), "shares")


def test_waits_go_first():
    """A barrier in each of a thread's regions, drawn by none."""
    run = same("short_regions", TURNS, LAYERS, 1, "barrier", env=THIN)
    row = rows(run.trace)["barrier wait"]
    expect_equal(row["sampled"], "none", "barriers")
    expect_equal(row["seen"], TURNS * LAYERS, "barriers")


def test_without_a_bound_everything_is_drawn():
    run = same("short_regions", TURNS, LAYERS, 1,
               env={"TRACEPROF_MAX_OVERHEAD": "0"})
    expect_equal(len(run.trace.regions("work")), TURNS * LAYERS, "regions")
    expect("sampled" not in run.trace.meta, "sampled")


def test_the_report_scales_and_says_so():
    _, trace = thinned()
    said = json.loads(command("report", "--json", trace.path).stdout)[0]
    found = [row for row in said["regions"] if row["name"].startswith("work")]
    expect_equal(found[0]["calls"], TURNS * LAYERS, "calls")
    expect(found[0]["estimated"], found)
    text = command("report", trace.path).stdout
    expect("~" in text and "not drawn (TRACEPROF_MAX_OVERHEAD)" in text, text)


def test_a_file_that_adds_up_wrong_is_found():
    _, trace = thinned()
    broken = os.path.join(harness.folder(), "broken.1.pt.trace.json")
    whole = subprocess.run(["zcat", trace.path], capture_output=True, text=True,
                           check=True).stdout
    row = list(rows(trace).values())[0]
    for key in ("seen", "drawn", "thinned"):
        with open(broken, "w", encoding="utf-8") as file:
            head, tail = whole.split('"sampled":[', 1)
            file.write(head + '"sampled":[' + tail.replace(
                f'"{key}":{row[key]}', f'"{key}":{row[key] + 1}', 1))
        done = command("check", broken)
        expect("[rule 20]" in done.stdout and done.status, key, done.stdout)


def a_killed_run_adds_up(**env):
    run = harness.traced("short_regions", TURNS, LAYERS, 1, "kill",
                         env=THIN | env, check=False)
    expect_equal(run.status, -signal.SIGKILL, "status")
    command("recover", run.folder)
    events = run.trace.meta["events"]
    expect_thinned(run.trace, TURNS)
    expect_equal(events["thinned"] + run.trace.meta["written_by_kind"]["omp_region"],
                 TURNS * (LAYERS + 1), "regions")
    expect(command("check", run.trace.path).status == 0, "check")


def test_a_killed_run_adds_up():
    """Recovered: what was thinned is counted, to the last mark."""
    a_killed_run_adds_up()


def test_a_killed_run_has_the_sums_that_were_not_told():
    a_killed_run_adds_up(TRACEPROF_STEP="api")


TURNS_OF_BLOCKS = 1000000


def blocks(*how, check=True, encode="live"):
    """In one file, however many come before they are thinned: the cheaper they are
    here, the more."""
    return harness.traced("many_blocks", TURNS_OF_BLOCKS, *how, check=check,
                          env=THIN | {"TRACEPROF_MALLOC": "all",
                                      "TRACEPROF_MAX_MB": "0",
                                      "TRACEPROF_ENCODE": encode})


def test_small_blocks_are_counted_and_some_of_them_drawn():
    run = blocks()
    trace = run.trace
    meta, events = trace.meta, trace.meta["events"]
    expect_thinned(trace, TURNS_OF_BLOCKS / 10)
    found = {row["heap"]: row for row in meta["sampled"]}
    for kind, key in (("alloc", "calls"), ("free", "frees")):
        row = found[kind]
        expect_equal(row["seen"], row["drawn"] + row["thinned"], kind)
        expect_equal(row["seen"], meta["heap"][key], kind)
    mask, below = meta["heap"]["thinned_mask"], meta["heap"]["thinned_below"]
    expect_equal(found["alloc"]["sampled"], f"1/{mask + 1}", "share")
    large = [one for one in trace.events if one["name"] == "[memory]"
             and one["args"]["Bytes"] >= below]
    expect_equal(len(large), TURNS_OF_BLOCKS // 10000 + 1, "large blocks")
    said = [line for line in run.own_lines if "thinned" in line]
    expect(len(said) == 1 and str(events["thinned"]) in said[0], run.stderr)
    expect(any("not every block" in note for note in meta["notes"]), meta["notes"])

    report = command("report", trace.path).stdout
    expect(f"of small blocks 1/{mask + 1} (TRACEPROF_MAX_OVERHEAD)" in report, report)
    memory = command("memory", trace.path).stdout
    expect("amounts are estimates" in memory, memory)
    # A block that was drawn, and whose free is not, is none that was kept.
    live = int(re.search(r"at the end .* in (\d+) blocks?", memory).group(1))
    expect(live < 1001 + 12 * (1000 * (mask + 1)) ** 0.5, "kept", live, mask)

    broken = os.path.join(harness.folder(), "broken.1.pt.trace.json")
    whole = subprocess.run(["zcat", trace.path], capture_output=True, text=True,
                           check=True).stdout
    head, tail = whole.split('"sampled":[', 1)
    for key in ("drawn", "thinned"):
        with open(broken, "w", encoding="utf-8") as file:
            number = found["free"][key]
            file.write(head + '"sampled":[' + tail.replace(
                f'"{key}":{number}', f'"{key}":{number + 1}', 1))
        done = command("check", broken)
        expect("[rule 20]" in done.stdout and done.status, key, done.stdout)


def test_blocks_are_all_drawn_again_when_few_come():
    run = blocks("calm")
    trace = run.trace
    expect_thinned(trace, TURNS_OF_BLOCKS / 5)
    row = {row["heap"]: row for row in trace.meta["sampled"]}["alloc"]
    expect(row["thinned"] > TURNS_OF_BLOCKS / 10, "thinned", row)
    last = [one for one in trace.events if one["name"] == "[memory]"
            and abs(one["args"]["Bytes"]) == 504]
    expect_equal(len(last), 2000, "the last thousand, and their frees")
    # What was chosen at the worst is what was drawn all the time.
    mask = trace.meta["heap"]["thinned_mask"]
    expect_equal(row["sampled"], f"1/{mask + 1}", "share")
    memory = command("memory", trace.path).stdout
    live = int(re.search(r"at the end .* in (\d+) blocks?", memory).group(1))
    expect(live < 1001 + 12 * (1000 * (mask + 1)) ** 0.5, "kept", live, mask)


def test_blocks_of_a_killed_run_add_up():
    run = blocks("kill", check=False)
    expect_equal(run.status, -signal.SIGKILL, "status")
    command("recover", run.folder)
    expect_thinned(run.trace, 0)
    meta = run.trace.meta
    kinds = meta["written_by_kind"]
    expect_equal(meta["events"]["thinned"] + kinds["alloc"] + kinds["free"],
                 meta["heap"]["calls"] + meta["heap"]["frees"], "calls")


def test_what_is_written_later_is_told_of_too():
    run = blocks(encode="late")
    expect_thinned(run.trace, 0)
    said = [line for line in run.own_lines if "thinned" in line]
    expect(len(said) == 1, run.stderr)
    expect(f'{run.trace.meta["events"]["thinned"]} calls' in said[0], said)


def test_without_a_bound_each_block_is_drawn():
    run = same("many_blocks", 100000,
               env={"TRACEPROF_MALLOC": "all", "TRACEPROF_MAX_OVERHEAD": "0"})
    expect("thinned" not in run.trace.meta["events"], run.trace.meta["events"])
    expect("thinned_mask" not in run.trace.meta["heap"], run.trace.meta["heap"])


if __name__ == "__main__":
    harness.main()
