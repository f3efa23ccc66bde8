# SPDX-License-Identifier: MIT
"""`diff`, `html`, `export` and `merge` against totals that trace_sums.py computes
from the same files."""

import collections
import csv
import json
import os
import re
import sqlite3

import t_sums
import trace_sums
from harness import Skip, command, expect, expect_equal, folder, main
from t_sums import by_name, differences, kept, sums_of, traces
from trace_sums import rows


def exported(form, path):
    output = os.path.join(folder(), "out")
    done = command("export", "--" + form, path, "-o", output)
    if "libsqlite3-dev" in done.stderr:
        raise Skip("built without SQLite: apt-get install libsqlite3-dev")
    expect_equal(done.status, 0, done.stderr)
    return output


def in_file(sums):
    """Slices as the file has them: categories of the events, no shares."""
    return [event for event in sums.events if event["ph"] == "X"]


def test_rows_for_spreadsheets():
    for path in traces():
        sums = sums_of(path)
        with open(exported("csv", path), encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        expect_equal(collections.Counter(line["ph"] for line in lines),
                     collections.Counter(event["ph"] for event in sums.events), path)
        said = collections.Counter()
        for line in lines:
            if line["ph"] == "X":
                said[line["pid"], line["tid"], line["cat"], line["name"]] += int(line["dur_ns"])
        wanted = collections.Counter()
        for event in in_file(sums):
            wanted[str(event["pid"]), str(event["tid"]), event.get("cat", ""),
                   event["name"]] += trace_sums.ns(event["dur"])
        expect_equal(said, wanted, path)


def test_the_database():
    for path in traces():
        sums = sums_of(path)
        database = sqlite3.connect(exported("sqlite", path))
        wanted = collections.defaultdict(list)
        for event in in_file(sums):
            wanted[event.get("cat", ""), event["name"]].append(trace_sums.ns(event["dur"]))
        said = {(category, name): rest for category, name, *rest in database.execute(
            "SELECT category, name, count(*), sum(dur), min(dur), max(dur) FROM event "
            "GROUP BY category, name")}
        expect_equal(said, {key: [len(durs), sum(durs), min(durs), max(durs)]
                            for key, durs in wanted.items()}, path)
        expect_equal(database.execute("SELECT number, dur FROM step ORDER BY start").fetchall(),
                     [(int(step.name[13:]), step.dur) for step in sums.steps], path)
        for view, category in (("KERNEL", "kernel"), ("MEMCPY", "gpu_memcpy"),
                               ("MEMSET", "gpu_memset")):
            expect_equal(database.execute(
                'SELECT count(*), coalesce(sum("end" - start), 0) '
                f"FROM CUPTI_ACTIVITY_KIND_{view}").fetchone(),
                (len([one for one in sums.content if one.category == category]),
                 sum(one.dur for one in sums.content if one.category == category)), path)
        database.close()


def test_stacks():
    """Of all lines together, what is in any slice, lane by lane; and of each
    innermost frame its own time."""
    for path in traces():
        sums = sums_of(path)
        plain = [one for one in sums.content if not one.is_work
                 and one.category not in trace_sums.BESIDE]
        said = collections.Counter()
        with open(exported("folded", path), encoding="utf-8") as file:
            for line in file:
                stack, _, ns = line.rstrip("\n").rpartition(" ")
                said[stack.rpartition(";")[2]] += int(ns)
        wanted = collections.Counter()
        names = collections.defaultdict(set)
        for one in plain:
            wanted[one.name.replace(";", ":")] += one.dur - one.inside
            names[one.name].add(one.category)
        besides = {one.name for one in sums.content if one not in plain}
        for name, ns in wanted.items():
            if name not in besides:
                expect_equal(said[name], ns, f"{path}: {name}")


def test_two_files_as_one():
    paths = [kept(t_sums.openmp), kept(t_sums.gpu_scopes)]
    output = os.path.join(folder(), "job.1.pt.trace.json.gz")
    done = command("merge", *paths, "-o", output)
    expect_equal(done.status, 0, done.stderr)
    both = sum((sums_of(path).content for path in paths), [])
    merged = trace_sums.Sums(output).content
    expect_equal({name: (row.calls, row.sum) for name, row in rows(merged, by_name).items()},
                 {name: (row.calls, row.sum) for name, row in rows(both, by_name).items()})


def test_the_page():
    for path in traces():
        output = os.path.join(folder(), "page.html")
        done = command("html", path, "-o", output)
        expect_equal(done.status, 0, done.stderr)
        with open(output, encoding="utf-8") as file:
            (data,) = json.loads(re.search(r'id="data">(.*?)</script>', file.read(),
                                           re.S).group(1))
        sums = sums_of(path)
        said = t_sums.tables(data["report"])
        wanted = rows(sums.content, by_name)
        expect_equal(sorted(said), sorted(wanted), path)
        for name, row in wanted.items():
            wrong = differences(row, said[name])
            expect(not wrong, f"{path}: {name}: (said, in the file)", wrong)
        steps = data["time"]["steps"]
        expect_equal(steps["count"] if steps else 0, len(sums.steps), path)
        for point, step in zip((steps or {}).get("points", []), sums.steps):
            expect_equal(point[0], int(step.name[13:]), path)
            expect(all(abs(ms - step.dur / 1e6) < 1e-6 for ms in point[2:]), point, step.dur)


def in_steps(sums):
    """By category and name, the time in each step, on all threads."""
    found = collections.defaultdict(lambda: [0] * len(sums.steps))
    for one in sums.content:
        for at, step in enumerate(sums.steps):
            if step.start <= one.start < step.end:
                found[one.category, one.name][at] += one.dur
    return found


def test_what_differs():
    """The mean of each name's time in a step, of both sides; the step's medians."""
    for make in (t_sums.openmp, t_sums.gpu_scopes):
        paths = [kept(make), make().trace.path]
        done = command("diff", "--json", "--top", "0", *paths)
        expect_equal(done.status, 0, done.stderr)
        said = json.loads(done.stdout)
        sides = [sums_of(paths[0]), trace_sums.Sums(paths[1])]
        for side, sums in zip("ab", sides):
            expect_equal(said[side]["steps"], len(sums.steps), paths)
            durs = sorted(step.dur for step in sums.steps)
            half = len(durs) // 2
            median = durs[half] if len(durs) % 2 else (durs[half - 1] + durs[half]) / 2
            expect(abs(said["step"][f"median_{side}_ns"] - median) <= 1, said["step"], median)
            wanted = in_steps(sums)
            for row in said["names"]:
                times = wanted.get((row["category"], row["name"]), [0])
                mean = sum(times) / max(1, len(sums.steps))
                expect(abs(row[f"mean_{side}_ns"] - mean) <= 1e-6 * mean + 0.01, row, mean)


def test_many_short_calls_beside_a_long_one():
    """None of them is lost in a sum that is much larger."""
    events = []
    for step in range(4):
        start = step * 1100000
        events.append({"name": f"ProfilerStep#{step}", "cat": "user_annotation", "ts": start,
                       "dur": 1100000})
        events.append({"name": "f", "cat": "cpu_op", "ts": start, "dur": 1000000})
        events += [{"name": "f", "cat": "cpu_op", "ts": start + 1000001 + at, "dur": 0.02}
                   for at in range(20000)]
    path = os.path.join(folder(), "made_7.1.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": [{"ph": "X", "pid": 7, "tid": 7} | event
                                   for event in events]}, file)
    said = json.loads(command("diff", "--json", path, path).stdout)
    (row,) = said["names"]
    expect(abs(row["mean_a_ns"] - 1000400000) < 100, row["mean_a_ns"])


if __name__ == "__main__":
    main()
