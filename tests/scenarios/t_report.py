# SPDX-License-Identifier: MIT
"""`traceprof report` on a trace whose numbers are known, word by word.

When it changes on purpose: UPDATE_GOLDEN=1 python3 tests/scenarios/t_report.py,
and read the difference before it is committed.
"""

import json
import os
import re

import harness
from harness import ROOT, command, expect, expect_equal, golden

STREAMS = os.path.join("tests", "fixtures",
                       "streams_4242.1791057570000000000.pt.trace.json")


def report(*options):
    done = command("report", *options, os.path.join(ROOT, STREAMS))
    expect_equal(done.status, 0, done.stderr)
    return done.stdout.replace(ROOT + os.sep, "")


def test_gpus():
    golden("report_streams.txt", report().splitlines())


def test_a_verdict_of_nothing_is_said():
    path = os.path.join(harness.folder(), "none.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": []}, file)
    done = command("report", "--verdict", path)
    expect_equal((done.status, done.stdout.strip()),
                 (0, "Verdict: none, there is no slice in this file"))


def test_gpus_for_programs():
    found = json.loads(report("--json"))[0]
    expect_equal([(row["device"], row["stream"]) for row in found["streams"]],
                 [(0, 7), (0, 13), (1, 7)])
    expect_equal(found["streams"][1], {
        "device": 0, "stream": 13, "busy_ns": 840000, "kernels": 6, "copies": 0,
        "memsets": 3, "kernel_ns": 930000, "copy_ns": 0, "memset_ns": 30000,
        "bytes": 3000000})
    peer = found["devices"][1]
    expect_equal((peer["busy_ns"], peer["copy_ns"]), (120000, 120000))


ABOVE = ("above 100 % of the wall: what is done at the same time, by several threads say,"
         " adds up\n")

# --- small traces, made here ------------------------------------------------

def slice_(name, start_us, dur_us, tid=700, cat="cpu_op", pid=700, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
            "ts": start_us, "dur": dur_us, "args": args}


def part(omp, region, start_us, dur_us, tid, team=2, name="sum [omp parallel #1]"):
    return slice_(name, start_us, dur_us, tid, omp=omp, region=region, team=team)


def whole_region(region, start_us, works, waits, name="sum [omp parallel #1]"):
    """A region whose members work and wait so long at its end."""
    events = []
    for thread, (work, wait) in enumerate(zip(works, waits)):
        events += [part("task", region, start_us, work, 700 + thread, len(works), name),
                   part("wait", region, start_us + work, wait, 700 + thread,
                        len(works), "barrier")]
    return events + [part("parallel", region, start_us, max(map(sum, zip(works, waits))),
                          700, len(works), name)]


def made(events, ours=None):
    path = os.path.join(harness.folder(), "made_700.1.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": events,
                   "traceprof": ours or {}}, file)
    return path


def text_of(events, ours=None, *options):
    done = command("report", *options, made(events, ours))
    expect_equal(done.status, 0, done.stderr)
    return done.stdout


def numbers_of(events, ours=None):
    return json.loads(text_of(events, ours, "--json"))[0]


def test_a_kernel_of_many_seconds():
    """A duration is kept in 32 bits, a long one beside; and calls whose numbers don't
    go up with time are found as well."""
    events = []
    for number, (start, dur) in enumerate(((1000, 6e6), (7e6, 5e6), (2e7, 10))):
        correlation = (9, 4, 7)[number]
        events += [slice_(f"aten::mm{number}", start, 20),
                   slice_("cudaLaunchKernel", start + 1, 5, cat="cuda_runtime",
                          correlation=correlation),
                   slice_("sgemm", start + 30, dur, 7, "kernel", 0, device=0, stream=7,
                          correlation=correlation)]
    rows = {row["name"]: row.get("gpu_ns") for category in numbers_of(events)["categories"]
            for row in category["names"]}
    expect_equal([rows[f"aten::mm{number}"] for number in range(3)],
                 [6000000000, 5000000000, 10000], "the GPU's time of each operator")


def test_a_region_that_is_cut_is_not_judged():
    """One member worked 100 us and the other waited; the region's own slice, and
    how long the other worked, are not in the file."""
    cut = [part("task", 1, 0, 100, 700), part("wait", 1, 100, 400, 700, name="barrier"),
           part("task", 1, 0, 0.001, 701), part("wait", 1, 0, 400, 701, name="barrier")]
    text = text_of(cut)
    expect("OpenMP:" not in text, text)
    row = next(line for line in text.splitlines() if line.endswith("sum [omp parallel #1]"))
    expect_equal(row.split()[:2] + row.split()[-5:-4], ["-", "2", "-"], row)

    # Beside a whole one that one alone counts.
    both = cut + whole_region(2, 1000, (300, 100), (1, 201), "other [omp parallel #1]")
    regions = {row["name"]: row for row in numbers_of(both)["regions"]}
    expect_equal(regions["other [omp parallel #1]"]["max_over_mean"], 1.5)
    expect_equal(regions["sum [omp parallel #1]"]["max_over_mean"], 0)


def test_regions_of_several_threads_are_kept_apart():
    """Each thread counts its own, from 1; their events come mixed."""
    threads = [whole_region(first + 1, first, (100, 60), (1, 41), f"{thread} [omp parallel #1]")
               for thread, first in enumerate(range(0, 4 << 32, 1 << 32))]
    mixed = [event for events in zip(*threads) for event in events]
    for row in numbers_of(mixed)["regions"]:
        expect_equal((row["calls"], row["work_ns"], row["wait_ns"], row["max_over_mean"]),
                     (1, 160000, 42000, 1.25), row["name"])


def test_a_member_that_is_missing_is_no_balance():
    events = whole_region(1, 0, (100, 100, 100), (1, 1, 1))
    events = [event for event in events if event["tid"] != 702]
    expect_equal(numbers_of(events)["regions"][0]["max_over_mean"], 0)


def test_each_thing_is_said_once():
    """What a table has, no sentence at the end repeats."""
    text = text_of(whole_region(1, 0, (10, 0), (90, 100)))
    expect(text.endswith("barrier\n" + ABOVE), text)


def test_what_threads_do_at_the_same_time_is_more_than_the_wall():
    """The line is there where a row is that needs it, and for the table that has it."""
    alone = [slice_("load", 0, 100), slice_("wait", 0, 90, cat="wait")]
    expect("above 100" not in text_of(alone), text_of(alone))
    text = text_of(alone + [slice_("wait", 5, 90, tid, cat="wait") for tid in (701, 702)])
    expect_equal(text.count(ABOVE), 1, text)
    expect(text.endswith(" 270.0 % wait\n" + ABOVE), text)
    expect("above 100" not in text_of(alone + [slice_("a", 0, 99, 701), slice_(
        "other", 0, 100, 701)], None, "--top=1"), "rows that aren't shown")


def test_a_team_of_one_works():
    region = numbers_of([part("parallel", 1, 0, 500, 700, team=1),
                         part("wait", 1, 100, 50, 700, team=1, name="critical")])["regions"][0]
    expect_equal((region["work_ns"], region["wait_ns"]), (450000, 50000))


def test_recursion_is_counted_once():
    """fib(3), as OpenMP tasks and as scopes; inner ones are written first, in a
    trace of torch.profiler outer ones."""
    nest = [("fib", 30, 10), ("fib", 20, 40), ("leaf", 65, 5), ("fib", 60, 30),
            ("other", 5, 90), ("fib", 0, 100)]
    for events in (nest, nest[::-1]):
        names = {row["name"]: row for row in numbers_of(
            [slice_(name, start, dur) for name, start, dur in events]
            + [slice_("fib", 20, 10, tid=701)])["categories"][0]["names"]}
        expect_equal(names["fib"]["total_ns"], 110000)
        expect_equal((names["fib"]["calls"], names["fib"]["avg_ns"]), (5, 38000))
        expect_equal(names["leaf"]["total_ns"], 5000)


def test_a_range_that_outlasts_what_opens_it():
    """As torch.profiler writes record_function, with_stack; the 1 us by which older
    ones round an operator out of its caller makes none of them."""
    names = {row["name"]: row for row in numbers_of([
        slice_("enter", 0, 10, cat="python_function"), slice_("step", 5, 1000),
        slice_("aten::mm", 20, 600), slice_("aten::add", 630, 100),
        slice_("aten::fill_", 700, 31)])["categories"][0]["names"]}
    expect_equal([names[name]["self_ns"] // 1000
                  for name in ("step", "aten::mm", "aten::add", "aten::fill_")],
                 [300, 600, 70, 31])


def test_recursion_has_its_gpus_time_once():
    """A kernel that is launched in a call inside of another of the same name."""
    names = {row["name"]: row for category in numbers_of([
        slice_("fib", 0, 100), slice_("fib", 10, 50),
        slice_("cudaLaunchKernel", 20, 5, cat="cuda_runtime", correlation=3),
        slice_("sgemm", 200, 40, 7, "kernel", 0, device=0, stream=7, correlation=3)])
        ["categories"] for row in category["names"]}
    expect_equal(names["fib"]["gpu_ns"], 40000)


def test_the_gpus_time_by_operator():
    """What an operator's own calls launched apart from what it launched in all."""
    events = [
        slice_("aten::linear", 0, 100), slice_("aten::addmm", 10, 50),
        slice_("cudaLaunchKernel", 20, 5, cat="cuda_runtime", correlation=3),
        slice_("cudaLaunchKernel", 70, 5, cat="cuda_runtime", correlation=4),
        slice_("sgemm", 200, 40, 7, "kernel", 0, device=0, stream=7, correlation=3),
        slice_("fill", 250, 2, 7, "kernel", 0, device=0, stream=7, correlation=4)]
    rows = {row["name"]: (row.get("gpu_ns"), row.get("gpu_self_ns"))
            for category in numbers_of(events)["categories"] for row in category["names"]}
    expect_equal(rows["aten::linear"], (42000, 2000))
    expect_equal(rows["aten::addmm"], (40000, 40000))
    text = text_of(events, None, "--cat", "cpu_op", "--sort", "gpu-self")
    expect("GPU self" in text, text)
    lines = [line for line in text.splitlines() if "%" in line and "aten::" in line]
    expect(lines[0].endswith("aten::addmm"), text)
    alone = text_of([row for row in events if row["name"] != "aten::linear"])
    expect("GPU" in alone and "GPU self" not in alone, alone)


def test_recursion_deeper_and_wider_than_what_is_kept():
    """Each call holds a thousand of the same name, which hold two."""
    events = []
    for outer in range(3):
        for inner in range(1000):
            at = outer * 10000 + inner * 10
            events += [slice_("f", at, 2), slice_("f", at + 5, 2), slice_("f", at, 9)]
        events.append(slice_("f", outer * 10000, 10000))
    expect_equal(numbers_of(events)["categories"][0]["names"][0]["total_ns"], 30000000)


def test_names_whose_ends_alone_differ():
    """As those of C++ templates do."""
    long = "at::native::" + "vectorized<" * 30
    events = [slice_(long + end, start, 10, **{"Input Dims": [[4]], "Call stack": long + at})
              for start, end, at in ((0, "a", "f"), (20, "b", "f"), (40, "a", "g"))]
    for kind, count in (("name", 2), ("shape", 2), ("site", 3)):
        (table,) = json.loads(text_of(events, None, "--json", "--by", kind))[0]["categories"]
        expect_equal(len(table["names"]), count, kind)


def test_time_is_that_of_the_run():
    """A program without regions: what the file has is the writer's own passes,
    which are no content of it, and the span of the recording."""
    ours = [slice_("traceprof writer", start, 2000, tid=999, cat="overhead")
            for start in (1000, 500000)]
    span = slice_("PyTorch Profiler (0)", 0, 14700000, tid="PyTorch Profiler",
                  pid="Spans", cat="Trace")
    text = text_of(ours + [span])
    expect(re.search(r"^\d+ events, 14\.70 s$", text, re.M), text)
    expect("traceprof writer" not in text, text)
    expect("traceprof writer" not in text_of(ours + [span], None, "--tree"))

    # Not even where the file has no span, as in one that is not finished.
    expect_equal(numbers_of(ours + [slice_("work", 2000, 100)])["wall_ns"], 100000)


def test_a_region_is_one_scope_of_its_master():
    """Its share counts as the region; what lies in the share lies in the region."""
    region = {"ph": "X", "name": "f [omp parallel #1]", "pid": 1, "tid": 1, "ts": 10}
    events = [{**region, "cat": "cpu_op", "dur": 80, "args": {"omp": "parallel"}},
              {**region, "cat": "openmp", "dur": 60, "args": {"omp": "task"}},
              {**region, "cat": "openmp", "tid": 2, "dur": 70, "args": {"omp": "task"}},
              {**region, "cat": "cpu_op", "name": "inner", "ts": 20, "dur": 30},
              {**region, "cat": "cpu_op", "name": "inner", "ts": 21, "dur": 20}]
    rows = [line.split() for line in text_of(events, None, "--tree").splitlines()]
    said = [(row[0], row[1], row[3], " ".join(row[7:])) for row in rows
            if len(row) > 7 and row[6] == "%"]
    expect_equal(said, [("1", "80.00", "50.00", "f [omp parallel #1]"),
                        ("1", "30.00", "10.00", "inner"), ("1", "20.00", "20.00", "inner"),
                        ("1", "70.00", "70.00", "f [omp parallel #1]")])


def test_where_the_detail_ends():
    """The time is counted from the file's start, not from the machine's."""
    ours = {"detail_ended": 4454497000100.5,
            "totals": [{"name": "work", "cat": "cpu_op", "calls": 9, "total_us": 90,
                        "min_us": 10, "max_us": 10}]}
    text = text_of([slice_("work", 4454495000100.5, 100)], ours)
    expect("The events end 2.000 s after the start" in text, text)
    text = text_of([slice_("work", 4454495000100.5, 100)],
                   {"python": {"ended": 4454497000100.5}})
    expect("Calls of Python end 2.000 s after the start" in text, text)
    text = text_of([slice_("work", 4454495000100.5, 100)],
                   {"python": {"ended": 4454495000100.5}})
    expect("No calls of Python are in this file" in text, text)


def test_losses_are_said():
    """Each that is counted, with its number, and no other."""
    said = {"dropped": "of 900 events 7 were dropped and 0 came past TRACEPROF_MAX_MB",
            "past_max": "of 900 events 0 were dropped and 7 came past TRACEPROF_MAX_MB",
            "outside": "Not recorded: 7 events lay outside the windows",
            "unwritable": "7 events had no finite value, or no memory was left",
            "unnamed": "7 events lost their names",
            "unrecorded_calls": "7 calls left no event",
            "held_up_calls": "7 calls came while the start of the recording was held up",
            "names_refused": "7 times there was no room for one more name",
            "missed_calls": "7 calls that came inside of others, of signal handlers",
            "lost": "7 of 50 waits at the ends of regions are not drawn"}
    for counter in (None, *said):
        events = {name: 7 * (name == counter) for name in said if name != "lost"}
        if counter == "held_up_calls":
            events["unrecorded_calls"] = 7
        text = " ".join(text_of([slice_("work", 0, 100)], {
            "events": {"seen": 900, "written": 893, "cut": 0} | events,
            "waits": {"begun": 50, "lost": 7 * (counter == "lost")}}).split())
        expect_equal([name for name, words in said.items() if words in text],
                     [counter] if counter else [], text)


def test_losses_of_a_gpu_are_said():
    """Each that is counted, with its number, and no other."""
    said = {"missing_kernels": "of 50 launches of kernels 7 have no kernel in this trace",
            "partial_graphs": "of 7 launches of graphs some kernels are not in this trace",
            "unsized_graphs": "whether all kernels are here of 7 launches of graphs",
            "unsettled_ns": "of the last 7 ns, and of what came after, records of the GPU",
            "dropped_records": "CUPTI had no room for 7 records of the GPU",
            "lost_buffers": "7 buffers with records of the GPU",
            "without_time": "7 records of the GPU had no time and are left out",
            "unfinished": "of 7 of these the work was not done when it had been waited for",
            "unpaired_calls": "whether 7 calls of CUDA's driver were made by calls",
            "unknown_captures": "whether 7 launches went into a graph",
            "cut_annotations": "of 7 ranges the GPU's part is missing or too short",
            "calls_without_operation": "of 7 calls of CUDA it is not known in which range",
            "waits_without_recording": "for which stream 7 waits for an event of CUDA's",
            "crossing_slices": "7 slices of the GPU: too many overlap for rows",
            "unknown_records": "7 records of CUPTI's were of unknown kinds"}
    for counter in (None, *said):
        gpu = {"launched_kernels": 50} | {name: 7 * (name == counter) for name in said}
        if counter == "partial_graphs":
            gpu["missing_kernels"] = 7
        text = " ".join(text_of([slice_("work", 0, 100)], {"gpu": gpu}).split())
        expect_equal([name for name, words in said.items() if words in text],
                     [counter] if counter else [], text)
    text = text_of([slice_("work", 0, 100)],
                   {"gpu": {"launched_kernels": 7, "missing_kernels": 7}})
    expect("Error: none of the kernels of 7 launches" in text, text)


def test_a_schedule_without_a_step_is_said_first():
    def first_line(step, **options):
        ours = {"final": True, "step": step, "options": {"WAIT": "0", "ACTIVE": "0"} | options}
        return text_of([slice_("work", 0, 100)], ours).splitlines()[0]

    none = {"source": "auto", "seen": 0, "window": 0, "missed_windows": 0}
    expect_equal(first_line(none, ACTIVE="3"),
                 "No step was found, so the schedule did nothing: this is the whole run.")
    expect_equal(first_line(none | {"seen": 2}, WAIT="3"),
                 "The run had 2 steps, too few for the schedule: this is the whole run.")
    expect_equal(first_line(none | {"first": 3, "last": 4, "missed_windows": 2}, WAIT="3"),
                 "The schedule missed 2 of its windows: writing was too slow.")
    for quiet in (first_line(none), first_line(none | {"first": 3, "last": 4}, WAIT="3"),
                  first_line(none | {"name": "by hand"}, WAIT="3")):
        expect(quiet.startswith("Verdict: "), quiet)


def test_odd_names_stay_on_their_line():
    """Control characters and what turns a line's direction are escaped, once, as
    the verdict above does; nothing is wider than the terminal, no name is no blank."""
    names = ["", "red\x1b[31m\x07", "two\nlines", "x" * 4096, "turn\u202eed", "C1\x85",
             "caf\u00e9", "back\\slash"]
    path = made([slice_(name, 100 * at, 90) for at, name in enumerate(names)])
    for options in ((), ("--tree",)):
        for locale, accent in (("C.UTF-8", "caf\u00e9"), ("C", "caf")):
            shown = command("report", *options, path,
                            env={"COLUMNS": "80", "LC_ALL": locale}).stdout
            for wanted in ("(no name)", "red\\x1b[31m\\x07", "two\\x0alines",
                           "turn\\xe2\\x80\\xaeed", "C1\\xc2\\x85", accent,
                           "back\\slash"):
                expect(wanted in shown, wanted, shown)
            expect("x5c" not in shown and "\\X" not in shown, shown)
            wide = [line for line in shown.splitlines()
                    if len(line) > 80 and line != path]
            expect(not wide, *wide)
            odd = [char for char in shown if not char.isprintable() and char != "\n"]
            expect(not odd, str(odd), shown)



def test_work_of_seconds_counts_as_that_long():
    """32 bits of nanoseconds end at 4.29 s."""
    events = [slice_("train", 0, 100),
              slice_("cudaLaunchKernel", 10, 5, cat="cuda_runtime", correlation=7),
              slice_("long", 20, 6000000, tid=7, cat="kernel", pid=0, correlation=7,
                     device=0, stream=7)]
    rows = {row["name"]: row for category in numbers_of(events)["categories"]
            for row in category["names"]}
    expect_equal(rows["train"].get("gpu_ns"), 6000000000, rows)


def test_calls_that_come_newest_first_are_counted_once():
    """Ranges on a GPU do, some thousand at a time; each tenth holds one of its
    name, and may come before or behind it."""
    pairs = []
    for at in range(3000):
        outer = slice_("outer", at * 100, 50)
        inner = [slice_("outer", at * 100 + 10, 20)] if at % 10 == 0 else []
        pairs.append([outer] + inner if at % 20 else inner + [outer])
    for size in (1, 1000, 3000):
        order = [call for first in range(0, 3000, size)
                 for pair in pairs[first:first + size][::-1] for call in pair]
        row, = numbers_of(order)["categories"][0]["names"]
        wanted = 3000 * 50000
        expect(abs(row["total_ns"] - wanted) <= 0.01 * wanted, size, row["total_ns"])


if __name__ == "__main__":
    harness.main()
