# SPDX-License-Identifier: MIT
"""build/traceprof html: a page that is right, and that a browser shows."""

import json
import os
import re
import sys

import harness
from harness import Skip, command, expect, expect_equal, folder, traced

sys.path.insert(0, os.path.join(harness.ROOT, "tests", "real"))
import browser

FIXTURES = os.path.join(harness.ROOT, "tests", "fixtures")
GPU = os.path.join(FIXTURES, "gpu_4242.1791057570000000000.pt.trace.json")
LIMIT = 2000000


def page_of(*traces):
    """The page's path and what it holds."""
    path = os.path.join(folder(), "page.html")
    done = command("html", *traces, "-o", path)
    expect_equal((done.status, done.stdout, done.stderr), (0, "", ""), done.stderr)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    expect(len(text.encode()) < LIMIT, f"{len(text)} bytes")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>',
                      text, re.S)
    return path, json.loads(found.group(1))


def slice_of(name, ts, dur, tid=7, cat="cpu_op", **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 77, "tid": tid,
            "ts": ts, "dur": dur, "args": args}


def trace_of(events):
    path = os.path.join(folder(), "made.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)
    return path


def opened(path, **size):
    """A browser with the page in it."""
    try:
        page = browser.Page(**size)
    except browser.Missing as missing:
        raise Skip(str(missing)) from missing
    page.open("file://" + path)
    ready = page.wait_for("document.querySelector('#settings')", 60)
    said, page.said = page.said, []
    if not ready or said:
        page.__exit__()
        raise AssertionError(f"the page is not built: {said}")
    return page


def lane(data, name):
    return next(one for one in data["time"]["lanes"] if one["name"] == name)


def test_messages_are_known_by_the_names_of_who_sends():
    """As the verdict knows them, and whatever words a program's own names have."""
    kinds = [("record_param_comms", "cpu_op"), ("c10d::allreduce_", "cpu_op"),
             ("MPI_Bcast", "user_annotation"), ("ncclDevKernel_Broadcast", "kernel"),
             ("to_nccl_layout", "cpu_op"), ("nccl_buffer_fill(float*)", "kernel")]
    _, (data,) = page_of(trace_of([slice_of(name, 100 * number, 90, tid=number, cat=cat)
                                   for number, (name, cat) in enumerate(kinds, 1)]))
    found = [sorted(lane(data, f"thread {number}")["shares"]) for number in range(1, 7)]
    expect_equal(found, 4 * [["COMM"]] + [["WORK"], ["KERNEL"]], "kinds")


def test_shares_of_nested_slices():
    """Work with a wait in its second half, children before their parents as our
    files have them and after them as torch's have them."""
    wait = slice_of("barrier wait", 500, 500, omp="wait", sync="barrier")
    work = slice_of("outer", 0, 1000, omp="task")
    rest = slice_of("nothing near it", 1999, 1, tid=8)
    for order in ([wait, work, rest], [work, wait, rest]):
        _, (data,) = page_of(trace_of(order))
        shares = lane(data, "thread 7")["shares"]
        bins = data["time"]["bins"]
        for kind, first, last in (("WORK", 0, bins // 4), ("WAIT", bins // 4, bins // 2)):
            expect_equal(shares[kind], [100 if first <= at < last else 0
                                        for at in range(bins)], kind)


def test_a_folder_is_its_traces():
    place = folder()
    for name in ("one", "two"):
        os.rename(trace_of([slice_of(name, 1000, 5)]),
                  os.path.join(place, name + ".pt.trace.json"))
    _, found = page_of(place)
    expect_equal(found, page_of(*sorted(os.path.join(place, name)
                                        for name in os.listdir(place)))[1])
    expect_equal(len(found), 2)
    done = command("html", folder(), "-o", os.path.join(place, "page.html"))
    expect_equal((done.status, "no trace in it" in done.stderr), (3, True), done.stderr)
    expect(not os.path.exists(os.path.join(place, "page.html")), "a page of nothing")


def test_the_verdict_is_in_it():
    """Where the step goes, summing to it, and each finding with what to do."""
    run = traced("train", "-e", "2", env={"OMP_NUM_THREADS": "3"})
    path, (data,) = page_of(run.trace.path)
    expect(abs(sum(part["share"] for part in data["time"]["split"]) - 1) < 0.001,
           data["time"]["split"])
    said = " ".join(command("report", run.trace.path).stdout.split())
    found = data["time"]["findings"]
    told = [finding for finding in found
            if finding["rule"] != "no-processor" or "Busy machine: " not in said]
    for finding in told:
        expect(" ".join(finding["next"].split()) in said, finding, said)
    expect_equal(len(re.findall(r"Next: ", said)), len(told), said)
    with opened(path) as page:
        shown = page.value("document.querySelector('#findings').innerText")
        for finding in found:
            expect(finding["next"] in shown, finding, shown)
            if finding["share"] > 0:
                share = f"up to {100 * finding['share']:.1f} %"
                expect(share in shown and (share in said or finding not in told), share,
                       said, shown)


def test_the_phases_of_a_step_are_told():
    """Forward, backward and what else PyTorch's operators tell."""
    events = [slice_of(f"ProfilerStep#{at}", at * 1000, 1000, cat="user_annotation")
              for at in range(5)]
    events += [slice_of(f"phase: {name}", at * 1000 + start, dur, cat="user_annotation",
                        tid=10000007)
               for at in range(5)
               for name, start, dur in (("forward", 0, 250), ("backward", 250, 600),
                                        ("optimizer", 990, 2))]
    path, _ = page_of(trace_of(events))
    with opened(path) as page:
        shown = page.value("document.querySelector('#split').innerText")
    expect("By phase: 60.0 % backward, 25.0 % forward" in shown and "optimizer" not in shown,
           shown)


def test_steps_and_peak():
    events = [slice_of(f"ProfilerStep#{at}", at * 1000, 100 + at,
                       cat="user_annotation") for at in range(3000)]
    events += [{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]",
                "pid": 77, "tid": 7, "ts": ts, "args": {"Device Type": 0, "Bytes": 1,
                                                        "Total Allocated": total}}
               for ts, total in ((1000, 10), (500000, 999), (500001, 20), (900000, 30))]
    _, (data,) = page_of(trace_of(events))
    steps = data["time"]["steps"]
    expect_equal((steps["count"], steps["group"], len(steps["points"])),
                 (3000, 3, 1000))
    expect_equal([round(steps[key] * 1000) for key in ("p5", "p50", "p95")],
                 [250, 1600, 2949], "as the report has them")
    expect_equal([round(value * 1000) for value in steps["points"][1][2:]],
                 [103, 104, 105], "shortest, median, longest of steps 3 to 5")
    (heap,) = data["time"]["series"]
    expect_equal((heap["peak"], heap["peak_ms"]), (999, 500), heap["name"])
    kept = [value for value in heap["last"] if value is not None]
    expect_equal(kept, [10, 20, 30])


def memory_event(ts, **args):
    return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 77,
            "tid": 7, "ts": ts, "args": {"Device Type": 0, **args}}


def test_blocks_that_say_no_total_are_added_up():
    """As most of ours don't: the heap between them is drawn all the same."""
    events = [memory_event(0, Bytes=100, **{"Total Allocated": 100}),
              memory_event(250000, Bytes=300), memory_event(500000, Bytes=-350),
              memory_event(999999, Bytes=-50), slice_of("work", 0, 1000000)]
    _, (data,) = page_of(trace_of(events))
    (heap,) = data["time"]["series"]
    expect_equal([value for value in heap["last"] if value is not None],
                 [100, 400, 50, 0])
    expect_equal(heap["peak"], 400)


def named(tid, name):
    return {"ph": "M", "name": "thread_name", "pid": 77, "tid": tid, "ts": 0,
            "args": {"name": name}}


def test_samples_are_use_of_their_thread_and_in_the_flame_graph():
    """Beside a range and a wait, which lies within no sample."""
    side = 190000007
    events = [named(7, "main thread 7"), named(side, "main thread 7 samples"),
              slice_of("epoch", 0, 1000, cat="user_annotation"),
              slice_of("wait: read", 500, 250, cat="wait"),
              slice_of("inner", 1, 498, tid=side, cat="cpu_sample", samples=3),
              slice_of("outer", 0, 500, tid=side, cat="cpu_sample", samples=0),
              slice_of("a.py(3): <module>", 1000, 1000, tid=side,
                       cat="python_function", samples=9)]
    path, (data,) = page_of(trace_of(events))
    (lane_,) = data["time"]["lanes"]
    bins = data["time"]["bins"]
    for kind, used in (("SAMPLED", ((0, 1), (2, 4))), ("WAIT", ((1, 1.5),)),
                       ("MARKED", ((1.5, 2),))):
        expect_equal(lane_["shares"][kind],
                     [100 if any(first * bins // 4 <= at < last * bins // 4
                                 for first, last in used) else 0
                      for at in range(bins)], kind)
    flame = [(depth, name) for depth, name, _ in data["time"]["flame"]]
    at = flame.index((0, "main thread 7 samples"))
    expect_equal(flame[at + 1:at + 4], [(1, "a.py(3): <module>"), (1, "outer"),
                                        (2, "inner")])
    with opened(path) as page:
        expect("a.py(3): <module>" in page.value(
            "document.querySelector('#names').textContent"), "folded as C++ is")


def core_time(ts, ran, ready, tid=8, name=" crunch"):
    return {"ph": "C", "name": f"core time {tid}{name}", "pid": 77, "tid": tid, "ts": ts,
            "args": {"running %": ran, "ready, no core %": ready}}


def test_what_the_kernel_counts_of_a_thread_is_in_its_lane():
    """Spread over its time, less what is recorded of the thread; a count holds up to the
    next one, the last as long as the one before it."""
    events = [slice_of("epoch", 0, 2000, cat="user_annotation"),
              core_time(0, 50, 25), core_time(1000, 0, 0), core_time(1500, 100, 0),
              core_time(0, 75, 25, tid=7, name=""), slice_of("work", 0, 500),
              core_time(1000, 25, 0, tid=7, name=""), slice_of("wait: read", 1000, 1000,
                                                             cat="wait"),
              core_time(0, 100, 0, tid=9, name=" x"),
              slice_of("f", 0, 1000, tid=190000009, cat="cpu_sample", samples=3)]
    path, (data,) = page_of(trace_of(events))
    bins = data["time"]["bins"]
    half, quarter = bins // 2, bins // 4
    shares = {one["name"]: one["shares"] for one in data["time"]["lanes"]}
    expect_equal(shares["crunch 8"], {
        "RUNNING": half * [50] + quarter * [0] + quarter * [100],
        "READY": half * [25] + half * [0]}, "with a name")
    expect_equal(shares["thread 7"]["WORK"], quarter * [100] + 3 * quarter * [0], "as before")
    expect_equal(shares["thread 7"]["RUNNING"],
                 quarter * [0] + quarter * [75] + half * [0], "what isn't work")
    expect_equal(shares["thread 7"]["READY"],
                 quarter * [0] + quarter * [25] + half * [0], "the rest of the range")
    expect_equal(set(shares["x 9"]), {"SAMPLED"}, "samples tell when")
    with opened(path) as page:
        expect("on a core, nothing else known" in
               page.value("document.querySelector('#use').innerText"), "in the legend")


def test_the_main_thread_comes_before_and_our_writer_behind():
    events = [named(5, "traceprof writer (thread 5)"), named(6, "thread 6"),
              slice_of("traceprof writer", 0, 1000, tid=5, cat="overhead"),
              slice_of("work", 0, 500, tid=6), slice_of("work", 0, 100, tid=7)]
    _, (data,) = page_of(trace_of(events))
    expect_equal([lane_["name"] for lane_ in data["time"]["lanes"]],
                 ["thread 6", "thread 7", "traceprof writer (thread 5)"])


def test_counters_are_left_out_with_a_word_and_memory_is_not():
    events = [{"ph": "C", "name": f"counter {at}", "pid": 77, "tid": 7, "ts": 10,
               "args": {"value": at}} for at in range(100)]
    events += [memory_event(20, Bytes=5, **{"Total Allocated": 5}),
               slice_of("work", 0, 100)]
    path, (data,) = page_of(trace_of(events))
    expect("heap" in [one["name"] for one in data["time"]["series"]], "no heap")
    with opened(path) as page:
        expect("Further counters are left out" in
               page.value("document.querySelector('#counters').textContent"))


def test_a_range_on_a_gpu_encloses_its_only_copy():
    """Both begin and end at the same time; the copy comes first in the file."""
    copy = slice_of("Memcpy HtoD", 0, 100, tid=14, cat="gpu_memcpy", stream=14)
    around = slice_of("load", 0, 100, tid=14, cat="gpu_user_annotation")
    _, (data,) = page_of(trace_of([copy, around]))
    expect_equal([(depth, name) for depth, name, _ in data["time"]["flame"]],
                 [(0, "77 14"), (1, "load"), (2, "Memcpy HtoD")])


def test_paper_is_light_and_says_what_it_leaves_out():
    path, _ = page_of(trace_of([slice_of(f"op {at}", at * 100, 10) for at in range(40)]))
    with opened(path) as page:
        page.value("document.documentElement.dataset.theme = 'dark'")
        ground = "getComputedStyle(document.body).backgroundColor"
        expect(page.value(ground) != "rgb(255, 255, 255)", "not dark")
        said = "document.querySelector('#names .filter').innerText"
        expect_equal(page.value(said), "40 rows")
        page.call("Emulation.setEmulatedMedia", media="print")
        expect_equal(page.value(ground), "rgb(255, 255, 255)")
        expect_equal(page.value(said), "40 rows; the first 30 are printed")
        expect_equal(page.value("[...document.querySelectorAll('#names tbody tr')]"
                                ".filter(row => row.offsetHeight).length"), 30)


def test_a_large_trace_makes_no_large_page():
    """Long names, many of everything."""
    events = [slice_of(f"step of lane {at}", at, 5, tid=at % 300 + 1)
              for at in range(3000)]
    events += [slice_of(f"{at} " + "very<long " * 200, at * 10, 9)
               for at in range(3000)]
    path, (data,) = page_of(trace_of(events))
    names = data["report"]["categories"][0]["names"]
    expect(100 <= len(names) < 3000, len(names))
    expect(data["time"]["lanes_left_out"], "nothing is said to be left out")
    with opened(path) as page:
        expect_equal(page.said, [])


def test_a_browser_shows_all_of_it():
    run = traced("train", "-e", "2", env={"OMP_NUM_THREADS": "3"})
    path, data = page_of(run.trace.path, GPU)
    with opened(path) as page:
        check_file(page, data[0])
        page.value("(() => { const s = document.querySelector('select'); s.value = 1;"
                   " s.dispatchEvent(new Event('change')); })()")
        check_file(page, data[1])
        expect_equal(page.value("performance.getEntriesByType('resource').length"), 0,
                     "fetched from somewhere")
        expect_equal(page.said, [])


def check_file(page, data):
    rows = page.value("[...document.querySelectorAll('table')].map(table => "
                      "[table.caption.textContent, table.tBodies[0].rows.length])")
    wanted = [len(category["names"]) for category in data["report"]["categories"]]
    for key in ("regions", "streams"):
        wanted += [len(data["report"][key])] if data["report"][key] else []
    wanted += [len(data["time"]["facts"])] if data["time"]["facts"] else []
    wanted += [len(memory["places"]) for memory in
               data.get("holders", {"memories": []})["memories"] if memory["places"]]
    wanted += [len(data["report"]["blas"])] if data["report"]["blas"] else []
    expect_equal(sorted(count for _, count in rows), sorted(wanted), rows)
    expect(all(count for _, count in rows), rows)
    text = page.value("document.body.innerText")
    for wrong in ("[object", "NaN", "undefined", "Infinity"):
        expect(wrong not in text, wrong, text)
    wrong = page.value("[...document.querySelectorAll('svg *')].filter(one => "
                       "[...one.attributes].some(a => /NaN|undefined|Infinity/"
                       ".test(a.value))).length")
    expect_equal(wrong, 0, "marks without a place")
    expect(page.value("[...document.querySelectorAll('svg')].every(one => "
                      "one.getAttribute('aria-label').length > 10)"), "a mute chart")


def test_tables_sort_and_filter_and_charts_are_walked_by_keys():
    events = [slice_of(f"op {at}", at * 100, 10 * (at + 1)) for at in range(12)]
    path, _ = page_of(trace_of(events))
    with opened(path) as page:
        first = ("document.querySelector('#names tbody tr th').textContent")
        expect_equal(page.value(first), "op 11")
        title = ("[...document.querySelectorAll('#names thead button')]"
                 ".find(one => one.textContent == '%s').click()")
        page.value(title % "name")
        expect_equal(page.value(first), "op 0")
        page.value(title % "max")
        expect_equal(page.value(first), "op 11")
        expect_equal(page.value("document.querySelectorAll('#names "
                                "th[aria-sort=descending]').length"), 1)
        page.value("(() => { const f = document.querySelector('#names input');"
                   " f.value = 'OP 3'; f.dispatchEvent(new Event('input')); })()")
        expect_equal(page.value("document.querySelectorAll('#names tbody tr').length"), 1)
        page.value("document.querySelector('#use svg').focus()")
        page.call("Input.dispatchKeyEvent", type="rawKeyDown", key="End", code="End",
                  windowsVirtualKeyCode=35)
        said = page.value("document.querySelector('#use figcaption').textContent")
        expect("thread 7 work" in said, said)
        expect_equal(page.said, [])


def press(page, key):
    page.call("Input.dispatchKeyEvent", type="rawKeyDown", key=key, code=key)


def test_the_flame_graph():
    """Callers above callees, as wide as their time; lanes of steps are not in it."""
    events = [slice_of("outer", 0, 1000), slice_of("inner", 0, 600),
              slice_of("leaf", 100, 200), slice_of("other", 600, 300),
              slice_of("barrier wait", 0, 500, tid=8),
              slice_of("ProfilerStep#1", 0, 1000, tid=180000077, cat="user_annotation")]
    path, (data,) = page_of(trace_of(events))
    expect_equal([(depth, name, round(ms * 1000)) for depth, name, ms
                  in data["time"]["flame"]],
                 [(0, "77 7", 1000), (1, "outer", 1000), (2, "inner", 600),
                  (3, "leaf", 200), (2, "other", 300), (0, "77 8", 500),
                  (1, "barrier wait", 500)])
    wide = ("[...document.querySelectorAll('.flame g')].map(box => [box.node.name, "
            "Math.round(box.querySelector('rect').width.baseVal.value)])")
    with opened(path) as page:
        shown = dict(page.value(wide))
        expect(abs(shown["outer"] - 733) <= 2 and abs(shown["inner"] - 440) <= 2, shown)
        expect_equal(page.value("document.querySelector('.flame .waits')"
                                ".parentNode.node.name"), "barrier wait")
        page.value("document.querySelector('.flame').focus()")
        for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
            press(page, key)
        said = page.value("document.querySelector('#flame figcaption').textContent")
        expect_equal(said, "inner: 600 \u00b5s, 60.0 % of outer")
        shown = dict(page.value(wide))
        expect("other" not in shown and shown["inner"] > 1090, shown)
        press(page, "Escape")
        expect("other" in dict(page.value(wide)), "it stays zoomed")
        expect_equal(page.said, [])


def test_findings_lead_to_their_place():
    events = []
    for number in range(10):
        at = number * 1000
        events += [slice_of(f"ProfilerStep#{number}", at, 1000, cat="user_annotation"),
                   slice_of("cudaLaunchKernel", at + 500, 5, cat="cuda_runtime",
                            correlation=number),
                   {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
                    "ts": at + 510, "dur": 400, "args": {
                        "device": 0, "stream": 7, "correlation": number}}]
    path, (data,) = page_of(trace_of(events))
    (found,) = data["time"]["findings"]
    with opened(path) as page:
        page.value("document.querySelector('#findings a[href=\"#steps\"]').click()")
        expect(page.wait_for("document.querySelector('#steps figcaption').textContent"
                             f".startsWith('step {found['step']}:')", 10), "no step")
        page.value("document.querySelector('#findings a[href=\"#use\"]').click()")
        expect(page.wait_for("document.querySelector('#use figcaption').textContent"
                             ".startsWith('at ')", 10), "no moment")
        expect_equal(page.said, [])


def test_who_holds_the_memory():
    run = traced("alloc_sites", "leak", "60", env={"TRACEPROF_STACK": "heap", "TRACEPROF_MALLOC": "all"})
    path, (data,) = page_of(run.trace.path)
    said = json.loads(command("memory", "--json", run.trace.path).stdout)[0]["memories"]
    for ours, theirs in zip(data["holders"]["memories"], said):
        expect_equal((ours["memory"], ours["peak_bytes"]),
                     (theirs["memory"], theirs["peak_bytes"]))
        expect_equal([place["at_peak_bytes"] for place in ours["places"]],
                     sorted((place["peak"] for place in theirs["places"]
                             if place["peak"]), reverse=True)[:20])
    with opened(path) as page:
        check_file(page, data)
        expect(data["holders"]["memories"][0]["places"][0]["name"] in
               page.value("document.querySelector('#memory').textContent"), "no names")


def test_the_roofline():
    """A call where memory is the limit, one where the processors are."""
    events = [slice_of(name, at * 1000, 100, **{"Call site": "a.c:1", "flops": flops,
                                                "bytes": 100000})
              for at, (name, flops) in enumerate((("dgemv_", 20000), ("dgemm_", 9000000)))]
    path, (data,) = page_of(trace_of(events))
    with opened(path) as page:
        check_file(page, data)
        dots = page.value("[...document.querySelectorAll('#roofline circle')].map("
                          "dot => [dot.textContent, dot.cx.baseVal.value])")
        expect_equal([text.split(" from")[0] for text, _ in sorted(dots, key=lambda dot:
                                                                   dot[1])],
                     ["dgemv_", "dgemm_"])
        expect(any("90.0 GFLOP/s" in text for text, _ in dots), dots)


def test_names_are_text():
    """A name is no part of the page."""
    name = "</script><script>document.title=1//<!--"
    path, _ = page_of(trace_of([slice_of(name, 0, 10)]))
    with opened(path) as page:
        expect(page.value("document.title").startswith("traceprof: "))
        expect(name in page.value("document.body.innerText"), "the name is missing")


def test_what_is_no_trace():
    path = os.path.join(folder(), "page.html")
    done = command("html", os.path.join(FIXTURES, "none"), "-o", path)
    expect_equal((done.status, done.stderr.count("\n"), os.path.exists(path)),
                 (3, 1, False), done.stderr)
    done = command("html", GPU, "-o", "/nowhere/page.html")
    expect_equal((done.status, done.stderr.count("\n")), (3, 1), done.stderr)
    expect_equal(command("html").status, 2)


if __name__ == "__main__":
    harness.main()
