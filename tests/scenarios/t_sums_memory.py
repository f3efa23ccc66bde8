# SPDX-License-Identifier: MIT
"""`memory` and `steps` against totals that are computed here from the same file."""

import collections
import json
import re

import t_report
import t_sums
from harness import command, compile_program, expect, expect_equal, main, same
from t_sums import kept, sums_of
from trace_sums import load, ns

SPACES = {0: "host memory", 1: "GPU", 2: "pinned memory"}


def traces():
    return [kept(make) for make in (t_sums.openmp_with_stacks, t_sums.gpu)]


class Account:
    """What a list of blocks and frees comes to, in the order of their times."""

    def __init__(self, events):
        self.live, self.last = {}, {}
        self.sums = collections.Counter()
        self.sizes = collections.Counter()
        self.sites = collections.defaultdict(collections.Counter)
        self.peak_ns = 0
        for event in events:
            thread, args = (event["pid"], event["tid"]), event["args"]
            if args["Bytes"] >= 0:
                self.born(thread, args, ns(event["ts"]))
            else:
                self.freed(thread, args)
        self.live_bytes = sum(size for size, *_ in self.live.values())

    def born(self, thread, args, at):
        address, size = args["Addr"], args["Bytes"]
        self.live[address] = size, thread, args.get("stack")
        self.last[thread] = address
        self.sums.update(allocations=1, bytes=size)
        self.sites[args.get("stack")].update(calls=1, bytes=size)
        self.sizes[max(0, (size - 1).bit_length())] += 1
        held = sum(size for size, *_ in self.live.values())
        if held > self.sums["peak_bytes"]:
            self.sums["peak_bytes"], self.peak_ns = held, at
            self.at_peak = list(self.live.values())

    def freed(self, thread, args):
        self.sums["frees"] += 1
        if args["Addr"] not in self.live:
            self.sums["strange_frees"] += 1
            self.last[thread] = None
            return
        _, owner, stack = self.live.pop(args["Addr"])
        kinds = {"frees": 1, "foreign": owner != thread,
                 "temporary": owner == thread and self.last.get(thread) == args["Addr"]}
        self.last[thread] = None
        self.sites[stack].update(kinds)
        del kinds["frees"]
        self.sums.update(kinds)


def blocks_of(path):
    """By memory, the events of each."""
    found = collections.defaultdict(list)
    for event in load(path)["traceEvents"]:
        args = event.get("args", {})
        if event["name"] == "[memory]" and args.get("Bytes") != 0:
            found[args.get("Device Type", 0), args.get("Device Id", -1)].append(event)
    return found


def said_of(path):
    done = command("memory", "--json", "--top", "0", path)
    expect_equal(done.status, 0, done.stderr)
    (said,) = json.loads(done.stdout)
    return said


KEYS = ("allocations", "bytes", "frees", "temporary", "foreign", "strange_frees",
        "peak_bytes")


def check(path):
    said = {one["memory"].split(" ")[0]: one for one in said_of(path)["memories"]}
    for (kind, _), events in blocks_of(path).items():
        account = Account(sorted(events, key=lambda event: event["ts"]))
        one = said[SPACES[kind].split(" ")[0]]
        expect_equal({key: one[key] for key in KEYS},
                     {key: account.sums[key] for key in KEYS}, f"{path} {one['memory']}")
        expect_equal((one["live_bytes"], one["live_blocks"]),
                     (account.live_bytes, len(account.live)), path)
        places = one["places"]
        for key in ("calls", "bytes", "frees", "temporary", "foreign"):
            expect_equal(sum(place[key] for place in places),
                         sum(site[key] for site in account.sites.values()), key)
        expect_equal(sum(place["peak"] for place in places), account.sums["peak_bytes"])
        expect_equal(sum(place["peak_blocks"] for place in places), len(account.at_peak))
        expect_equal(sum(place["live"] for place in places), account.live_bytes)
    return said


def test_sums_of_blocks():
    for path in traces():
        expect(check(path), path)


def block(at_us, bytes_, address, thread=700, **more):
    return {"ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event",
            "pid": 700, "tid": thread, "ts": at_us,
            "args": {"Device Type": 0, "Device Id": -1, "Bytes": bytes_,
                     "Addr": address, "Total Allocated": 0} | more}


def test_an_address_that_comes_again():
    """Of another thread, of the same one, freed twice, and taken twice."""
    events = [block(1, 100, 16), block(2, -100, 16, 701), block(3, 200, 16, 701),
              block(4, -200, 16), block(5, 50, 32), block(6, -50, 32), block(7, 70, 32),
              block(8, -70, 32, 701), block(9, -70, 32), block(10, 1, 48),
              block(11, 30, 48, 701), block(12, -30, 48, 701), block(13, 5, 64),
              block(14, 6, 80), block(15, -5, 64), block(16, -6, 80)]
    path = t_report.made([t_report.slice_("work", 0, 100), *events])
    said = said_of(path)["memories"][0]
    # 200 bytes were another thread's: what 700 took last is gone.
    expect_equal(said["temporary"], 2, said)
    expect_equal(said["foreign"], 3, said)
    expect_equal((said["live_bytes"], said["peak_bytes"]), (0, 200), said)


def test_a_block_that_another_thread_got_is_not_temporary():
    """Where the writer adds up, and where the command does."""
    built = compile_program("handed_back.c", "-O1", "-pthread", name="handed_back")
    for mode in ("sites", "all"):
        done = same(built, env={"TRACEPROF_MALLOC": mode, "TRACEPROF_STACK": "heap"})
        expect_equal(done.stdout, "the same\n", "another allocator")
        (memory,) = [one for one in said_of(done.trace.path)["memories"]
                     if one["memory"] == "host memory"]
        expect(memory["foreign"] >= 200, mode, memory["foreign"])
        expect(memory["temporary"] < 20, mode, memory["temporary"])


LOOP = re.compile(r" *(\d+) +(step: )?(\d+) x (.*), ([\d.]+) (ns|us|ms|s), "
                  r"([\d.]+) % of the time, (\d+) marks? each")


def test_loops():
    """How often, how far apart, and how much of the recording."""
    seen = 0
    for make in (t_sums.openmp, t_sums.gpu_scopes):
        sums = sums_of(kept(make))
        marks = [one for one in sums.content if one.args.get("omp") == "parallel"
                 or one.category == "user_annotation" or one.is_work
                 or one.category.startswith("cuda_r")]
        least = max(one.start for one in marks) - min(one.start for one in marks)
        whole = max(one.end for one in sums.content) - min(
            one.start for one in sums.content)
        text = command("steps", kept(make)).stdout
        heads = [line for line in text.splitlines() if re.search(r" of \d+ \d+:$", line)]
        expect(heads, text)
        for line in text.splitlines():
            found = LOOP.match(line)
            if not found:
                continue
            name, turns = found.group(4), int(found.group(3))
            starts = sorted(one.start for one in sums.content if one.name == name
                            and one.category != "openmp members")
            if len(starts) != turns:    # an outer loop of it has its own line
                continue
            seen += 1
            apart = sorted(after - before for before, after in zip(starts, starts[1:]))
            middle = apart[len(apart) // 2]
            said = float(found.group(5)) * t_sums.UNITS[found.group(6)]
            expect(abs(said - middle) <= 0.0006 * middle + 1, line, middle)
            share = float(found.group(7)) / 100
            inside = [one for one in sums.content
                      if one.lane in {of.lane for of in sums.content if of.name == name}]
            most = max(one.end for one in inside) - min(one.start for one in inside)
            expect((starts[-1] - starts[0]) / whole - 0.01 <= share
                   <= most / least + 0.01, line, most, whole)
    expect(seen, "no loop to compare")


if __name__ == "__main__":
    main()
