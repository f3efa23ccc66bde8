# SPDX-License-Identifier: MIT
"""`traceprof report`, with each of its options, against totals that trace_sums.py
computes from the same file.

TEST_TRACES=FILE:FILE compares on these files instead of recorded ones.
"""

import atexit
import csv
import fnmatch
import io
import json
import os
import re
import shutil
import tempfile

import t_torch
import trace_sums
from harness import command, expect, expect_equal, main, same, traced
from t_cuda import on_gpu
from trace_sums import rows, union

SORTS = {"total": lambda row: row["total_ns"], "self": lambda row: row.get("self_ns", -1),
         "calls": lambda row: row["calls"], "avg": lambda row: row["sum_ns"] / row["calls"],
         "median": lambda row: row["median_ns"], "p95": lambda row: row["p95_ns"],
         "p99": lambda row: row["p99_ns"], "min": lambda row: row["min_ns"],
         "max": lambda row: row["max_ns"], "stddev": lambda row: row["stddev_ns"],
         "gpu": lambda row: row.get("gpu_ns", 0)}
BESIDES = ("failed calls", "copies between GPUs")   # what other tables say, too

_kept = {}


def kept(make):
    """A trace's copy that all tests share."""
    if make not in _kept:
        if not _kept:
            _kept[None] = tempfile.mkdtemp(prefix="traceprof-test-")
            atexit.register(shutil.rmtree, _kept[None], True)
        made = make().trace.path
        _kept[make] = shutil.copy(made, os.path.join(_kept[None],
                                                     make.__name__ + "_" +
                                                     os.path.basename(made)))
    return _kept[make]


def openmp():
    return traced("mesh", 10)


def openmp_with_stacks():
    return traced("mesh", 5, env={"TRACEPROF_STACK": "all", "TRACEPROF_MALLOC": "all"})


def torch():
    return same(t_torch.program(), t_torch.library(), env={"TRACEPROF_SHAPES": "1"})


def gpu():
    return on_gpu(6, 2, TRACEPROF_STACK="all")


def gpu_scopes():
    return on_gpu(6, program="cuda_scopes")


def traces():
    if os.environ.get("TEST_TRACES"):
        return os.environ["TEST_TRACES"].split(":")
    return [kept(make) for make in (openmp, openmp_with_stacks, torch, gpu, gpu_scopes)]


_sums = {}


def sums_of(path):
    if path not in _sums:
        _sums[path] = trace_sums.Sums(path)
    return _sums[path]


def text_of(*options):
    done = command("report", *options)
    expect_equal(done.status, 0, done.stderr)
    return done.stdout


def report(path, *options):
    return json.loads(text_of("--json", "--top", "0", *options, path))[0]


def tables(found):
    return {(table["category"], row["name"]): row for table in found["categories"]
            if table["category"] not in BESIDES for row in table["names"]}


def by_name(one):
    return one.category, one.name


def differences(row, said):
    """What the command says of a row, and doesn't hold."""
    found = {key: (said.get(key), wanted) for key, wanted in {
        "calls": row.calls, "total_ns": row.total, "sum_ns": row.sum, "avg_ns": row.avg,
        "min_ns": row.min, "max_ns": row.max, "bytes": row.bytes or None,
        "self_ns": row.self,
        "gpu_ns": row.gpu or None}.items() if said.get(key) != wanted}
    for key, share in (("median_ns", 0.5), ("p95_ns", 0.95), ("p99_ns", 0.99)):
        wanted = row.quantile(share)
        if abs(said[key] - wanted) > 0.008 * wanted + 0.5:
            found[key] = said[key], wanted
    if abs(said["stddev_ns"] - row.stddev) > 1e-6 * row.stddev + 0.01:
        found["stddev_ns"] = said["stddev_ns"], row.stddev
    return found


def expect_rows(wanted, said, what):
    expect_equal(sorted(map(str, said)), sorted(map(str, wanted)), what)
    for name, row in wanted.items():
        wrong = differences(row, said[name])
        expect(not wrong, f"{what}: {name}: (said, in the file)", wrong)


# --- which slices are in a row ----------------------------------------------

def test_by_name():
    for path in traces():
        expect_rows(rows(sums_of(path).content, by_name), tables(report(path)), path)


def key_of(kind, sums):
    """What names a slice's row, None for none."""
    def step(one):
        for at in sums.steps:
            if at.start <= one.start < at.end:
                return f"step {int(at.name[13:]):6}"
        return None

    def first_frame(one):
        stack = one.args.get("Call stack") or stacks.get(one.args.get("stack"))
        return f"{one.name} at {stack.split(';')[0]}" if stack else None

    def shape(one):
        given = one.args.get("Input Dims", one.args.get("grid"))
        return None if given is None else without_spaces(
            one.name + json.dumps(given))

    stacks = {event["args"]["stack"]: event["args"]["Call stack"]
              for event in sums.events
              if "stack" in event.get("args", {}) and "Call stack" in event["args"]}
    return {
        "category": lambda one: one.category,
        "step": step,
        "thread": lambda one: None if one.is_work else "pid, tid " + " ".join(one.lane),
        "stream": lambda one: (f"GPU {one.device} stream {one.stream}" if one.is_work
                               else None),
        "device": lambda one: f"GPU {one.device}" if one.is_work else None,
        "shape": shape, "site": first_frame}[kind]


def without_spaces(text):
    """As arrays are compared."""
    return re.sub(r'[\s"]', "", text)


def test_by_each_kind():
    for path in traces():
        sums = sums_of(path)
        for kind in ("category", "step", "thread", "stream", "device", "shape", "site"):
            wanted = rows(sums.content, key_of(kind, sums))
            said = {name: row for (_, name), row in
                    tables(report(path, "--by", kind)).items()}
            if kind == "shape":
                said = {without_spaces(name): row for name, row in said.items()}
            expect_rows(wanted, said, f"{path} --by {kind}")


def test_names_and_categories_that_match():
    for path in traces():
        content = sums_of(path).content
        for options, holds in (
                (("--filter", "*a*"), lambda one: fnmatch.fnmatchcase(one.name, "*a*")),
                (("--filter", "cuda[ML]*"),
                 lambda one: one.name[:5] in ("cudaM", "cudaL")),
                (("--cat", "*_op"), lambda one: one.category.endswith("_op")),
                (("--cat", "openmp*", "--filter", "*wait"),
                 lambda one: one.category.startswith("openmp")
                 and one.name.endswith("wait"))):
            expect_rows(rows(filter(holds, content), by_name),
                        tables(report(path, *options)), f"{path} {options}")


def cut(sums, after, before):
    """The slices that begin in a time; what lies in which is found again."""
    part = trace_sums.Sums.__new__(trace_sums.Sums)
    part.__dict__.update(sums.__dict__)
    part.content = [one.alone() for one in sums.content if after <= one.start < before]
    part._nest()
    part._launches()
    return part


def test_a_part_of_the_steps():
    for path in traces():
        sums = sums_of(path)
        numbers = [int(step.name[13:]) for step in sums.steps]
        if len(numbers) < 4:
            continue
        for text, first, last in ((f"{numbers[1]}:{numbers[-2]}", 1, -2),
                                  (f"{numbers[2]}", 2, 2), (f":{numbers[1]}", 0, 1),
                                  (f"{numbers[-1]}:", -1, -1)):
            part = cut(sums, sums.steps[first].start, sums.steps[last].end)
            found = report(path, "--step", text)
            expect_rows(rows(part.content, by_name), tables(found),
                        f"{path} --step {text}")
            inside = [step for step in sums.steps
                      if sums.steps[first].start <= step.start < sums.steps[last].end]
            expect_equal((found["steps"]["count"], found["steps"]["total_ns"]),
                         (len(inside), sum(step.dur for step in inside)), text)


def test_a_part_of_the_time():
    for path in traces():
        sums = sums_of(path)
        length = max(one.end for one in sums.content) - sums.start
        for after, before in ((length // 4, length // 2), (0, length // 3),
                              (length // 3, length * 2)):
            part = cut(sums, sums.start + after, sums.start + before)
            found = report(path, "--from", f"{after / 1e3}us", "--to", f"{before / 1e9:.9f}")
            expect_rows(rows(part.content, by_name), tables(found),
                        f"{path} {after} {before}")


# --- how they are shown -----------------------------------------------------

def test_each_order():
    for path in traces():
        for key, value in SORTS.items():
            for table in report(path, "--sort", key)["categories"]:
                order = [(-value(row), -row["total_ns"], row["name"].encode())
                         for row in table["names"]]
                expect_equal(order, sorted(order), f"{path} --sort {key} {table['category']}")
        for table in report(path, "--sort", "name")["categories"]:
            names = [row["name"].encode() for row in table["names"]]
            expect_equal(names, sorted(names), f"{path} --sort name")


def test_the_first_of_each_table():
    for path in traces():
        whole = report(path)["categories"]
        for top in (1, 3):
            (few,) = json.loads(text_of("--json", "--top", top, path))
            expect_equal([table["names"][:top] for table in whole],
                         [table["names"] for table in few["categories"]], f"--top {top}")


def test_tables_for_spreadsheets():
    columns = {"self_ns": "self_ns", "average_ns": "avg_ns", "median_ns": "median_ns",
               "p95_ns": "p95_ns", "p99_ns": "p99_ns", "min_ns": "min_ns", "max_ns":
               "max_ns", "total_ns": "total_ns", "calls": "calls"}
    for path in traces():
        said = tables(report(path))
        lines = list(csv.DictReader(io.StringIO(text_of("--csv", "--top", "0", path))))
        expect_equal([(line["category"], line["name"]) for line in lines], list(said))
        for line in lines:
            row = said[line["category"], line["name"]]
            for column, key in columns.items():
                expect_equal(line[column], str(row.get(key, "")), f"{column} of {line}")
            expect_equal((int(line["gpu_ns"]), int(line["bytes"]), line["file"]),
                         (row.get("gpu_ns", 0), row.get("bytes", 0), path), line)


UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def cells(line, count):
    """The numbers of a row, times in nanoseconds, and its name."""
    values, rest = [], line
    for _ in range(count):
        found = re.match(r" *(~?)([\d.]+|-)( (ns|us|ms|s|%|B|[KMGT]iB|[kMGT]?B/s))?(?= )", rest)
        expect(found, "not a cell", rest, line)
        unit = found.group(4)
        values.append(None if found.group(2) == "-" else
                      float(found.group(2)) * UNITS.get(unit, 1))
        rest = rest[found.end():]
    return values, rest.strip()


def test_tables_for_people():
    """--wide and --long: all columns, names whole."""
    for path in traces():
        found = report(path)
        wall = found["wall_ns"]
        lines = iter(text_of("--wide", "--long", "--top", "0", path).splitlines())
        seen = 0
        for line in lines:
            if not re.match(" *calls +total .*%", line):
                continue
            category = re.search(r"% (?:wall|GPU)(?: +bytes +rate)? (.*)", line).group(1)
            if category in BESIDES:
                continue
            line = line.replace(" GPU self ", " own-GPU ")
            numbers = len(re.sub(r"% (wall|GPU).*", "%", line).split())
            with_bytes = " rate " in line
            table = [row for one in found["categories"] if one["category"] == category
                     for row in one["names"]]
            has_self, has_gpu = " self " in line, " GPU " in line.split(" avg ")[0]
            for row in table:
                values, name = cells(next(lines), numbers + 2 * with_bytes)
                wanted = [row["calls"], row["total_ns"]]
                wanted += [row.get("self_ns")] * has_self + [row.get("gpu_ns", 0)] * has_gpu
                wanted += [row.get("gpu_self_ns", 0)] * (" own-GPU " in line)
                wanted += [row["sum_ns"] / row["calls"]] + [
                    row[key] for key in ("median_ns", "p95_ns", "p99_ns", "min_ns",
                                         "max_ns", "stddev_ns")]
                expect_equal(name, row["name"], line)
                for at, number in enumerate(wanted):
                    expect((values[at] is None) == (number is None)
                           and (number is None or abs(values[at] - number)
                                <= 0.0006 * number + 0.51), line, at, number,
                           values, row)
                if "% wall" in line:
                    expect(abs(values[len(wanted)] - 100 * row["total_ns"] / wall) <= 0.051,
                           values, row, wall)
                seen += 1
        shown = [row for table in found["categories"] for row in table["names"]
                 if table["category"] not in BESIDES + ("openmp members", "cuda_event")]
        expect_equal(seen, len(shown), f"rows of {path}")


def scopes_of(slices):
    """Calls, total and self by lane and path of names."""
    found = {}
    for one in slices:
        path = tuple(reversed([one.name] + [outer.name for outer in
                                            trace_sums.enclosing(one)]))
        row = found.setdefault((one.lane,) + path, [0, 0, 0])
        row[0] += 1
        row[1] += one.dur
        row[2] += one.dur - one.inside
    return found


def test_the_tree():
    """Of lanes without a GPU's work and steps: trace_sums knows what lies in what."""
    for path in traces():
        sums = sums_of(path)
        said, lane, names = {}, None, []
        for node in report(path, "--tree")["scopes"]:
            if not node["depth"]:
                lane, names = tuple(node["name"].split(" ", 1)), []
                continue
            names[node["depth"] - 1:] = [node["name"]]
            said[(lane,) + tuple(names)] = [node["calls"], node["total_ns"], node["self_ns"]]
        plain = {one.lane for one in sums.slices} - {
            one.lane for one in sums.slices
            if one.is_step or one.is_work or one.category in trace_sums.BESIDE}
        # A master's share has its region's name and is one scope with that.
        wanted = {key: value for key, value in scopes_of(
            one for one in sums.content if one.lane in plain).items()
            if not any(a == b for a, b in zip(key, key[1:]))}
        expect(wanted or not plain, "no lane to compare", path)
        for key, value in wanted.items():
            one = said.get(key)
            expect(one and one[:2] == value[:2], f"{path}: {key}: {one}, {value}")


# --- what is no table of slices ---------------------------------------------

def test_steps():
    for path in traces():
        sums, found = sums_of(path), report(path)
        durs = [step.dur for step in sums.steps]
        expect_equal(found["steps"]["count"], len(durs))
        if not durs:
            continue
        steps = found["steps"]
        expect_equal((steps["total_ns"], steps["min_ns"], steps["max_ns"]),
                     (sum(durs), min(durs), max(durs)), path)
        expect_equal(steps["slowest"], int(max(sums.steps, key=lambda one: one.dur).name[13:]))
        step = found["step"]
        expect_equal(step["count"], len(durs))
        expect(min(durs) <= step["p5_ns"] <= step["median_ns"] <= step["p95_ns"]
               <= max(durs), step)
        parts = sum(step["split_ns"].values())
        expect(abs(parts - step["total_ns"]) <= len(durs) * len(step["split_ns"]), step)


def test_regions():
    for path in traces():
        sums, found = sums_of(path), report(path)
        regions = {}
        for one in sums.content:
            if one.args.get("omp") == "parallel" and one.category != "openmp members":
                regions.setdefault(one.name, []).append(one)
        expect_equal({row["name"]: (row["calls"], row["elapsed_ns"])
                      for row in found["regions"]},
                     {name: (len(calls), sum(one.dur for one in calls))
                      for name, calls in regions.items()}, path)
        for row in found["regions"]:
            whole = sum(one.dur * one.args["team"] for one in regions[row["name"]])
            expect(abs(row["work_ns"] + row["wait_ns"] - whole) <= 1e-4 * whole + 100
                   * row["calls"], whole, row)


def test_the_heap():
    for path in traces():
        heap = report(path)["heap"]
        blocks = [event["args"] for event in sums_of(path).events
                  if event["name"] == "[memory]" and not event["args"].get("Device Type")]
        got = [args["Bytes"] for args in blocks if args["Bytes"] >= 0]
        freed = [-args["Bytes"] for args in blocks if args["Bytes"] < 0]
        expect_equal((heap["event_allocs"], heap["event_alloc_bytes"], heap["event_frees"],
                      heap["event_free_bytes"], heap["event_peak_bytes"]),
                     (len(got), sum(got), len(freed), sum(freed),
                      max([args.get("Total Allocated", 0) for args in blocks], default=0)),
                     path)


def test_gpus():
    for path in traces():
        sums, found = sums_of(path), report(path)
        streams, devices = {}, {}
        for one in sums.content:
            if one.is_work:
                streams.setdefault((one.device, one.stream), []).append(one)
                devices.setdefault(one.device, []).append(one)
        expect_equal([(row["device"], row["stream"]) for row in found["streams"]],
                     sorted(streams), path)
        for row in found["streams"]:
            expect_equal(row | sums_of_work(streams[row["device"], row["stream"]]), row)
        for row in found["devices"]:
            work = sums_of_work(devices.get(row["device"], []))
            expect_equal({key: row[key] for key in work if key in row},
                         {key: work[key] for key in work if key in row}, path)


def sums_of_work(slices):
    kinds = {"kernel": ("kernels", "kernel_ns"), "gpu_memcpy": ("copies", "copy_ns"),
             "gpu_memset": ("memsets", "memset_ns")}
    found = {"busy_ns": union(slices),
             "bytes": sum(one.args.get("bytes", 0) for one in slices)}
    for category, (count, time) in kinds.items():
        of_kind = [one for one in slices if one.category == category]
        found |= {count: len(of_kind), time: sum(one.dur for one in of_kind)}
    return found


def test_files_and_folders_side_by_side():
    paths = traces()[:2]
    folder = tempfile.mkdtemp(dir=_kept.get(None))
    ranks = [shutil.copy(path, os.path.join(
        folder, f"job_7_rank{at}.1.pt.trace.json" + (".gz" if path.endswith(".gz") else "")))
        for at, path in enumerate(paths)]
    try:
        both = json.loads(text_of("--json", "--top", "0", ranks[0], ranks[1]))
        expect_equal(json.loads(text_of("--json", "--top", "0", folder)), both, "a folder")
        for one, path in zip(both, ranks):
            expect_equal(one, report(path), "one of two files")
        table = text_of("--top", "3", folder).split("side by side\n")[1].splitlines()
        totals = [rows(sums_of(path).content, by_name) for path in paths]
        most = sorted(set(totals[0]) | set(totals[1]), key=lambda name: -sum(
            of[name].total if name in of else 0 for of in totals))[:3]
        said = [cells(line, 2) for line in table if "%" not in line][1:4]
        for (category, name), (values, label) in zip(most, said):
            expect(label.split("[")[0].split("<")[0] in name, label, name, category)
            for value, of in zip(values, totals):
                wanted = of[category, name].total if (category, name) in of else 0
                expect(abs(value - wanted) <= 0.0006 * wanted, label, value, wanted)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
