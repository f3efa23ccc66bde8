# SPDX-License-Identifier: MIT
"""What lanes are called and where they stand."""

import harness
from harness import expect, expect_equal, traced
from t_cuda import on_gpu


def lanes(trace):
    """{tid: (name, sort index)} of the program's, the last of each."""
    names, places = {}, {}
    for event in trace.events:
        if event["ph"] == "M" and event.get("tid"):
            if event["name"] == "thread_name":
                names[event["tid"]] = event["args"]["name"]
            elif event["name"] == "thread_sort_index":
                places[event["tid"]] = event["args"]["sort_index"]
    return {tid: (name, places[tid]) for tid, name in names.items()}


def test_threads_are_called_by_what_they_do():
    trace = traced("train", "-e", "2", env={"OMP_NUM_THREADS": "3"}).trace
    seen = lanes(trace)
    for region in trace.regions():
        for share in trace.team(region):
            name, _ = seen[share["tid"]]
            number = share["args"]["thread"]
            wanted = (f"OpenMP worker {number} (thread {share['tid']})" if number else
                      f"main thread {share['tid']} (train)")
            expect_equal(name, wanted)


def written_for_long(**settings):
    """Of steps, and of so many events that a pass of the writer takes the millisecond
    from which on it is drawn, unless a busy machine leaves all of them for later."""
    return traced("churn", 400000, env={"TRACEPROF_STEP": "time:20",
                                        "TRACEPROF_MALLOC": "all", **settings}).trace


def expect_last_if_drawn(order):
    ours = [name.startswith("traceprof writer") for name in order]
    expect(not any(ours[:-1]), order)


def test_steps_come_first_and_our_cost_last():
    lane_of = lanes(written_for_long())
    order = [name for name, _ in sorted(lane_of.values(), key=lambda lane: lane[1])]
    expect(order[0].endswith(" steps"), order)
    expect_last_if_drawn(order)


def test_our_cost_is_last_where_a_viewer_goes_by_tids_too():
    """As Perfetto does with JSON; beside the wide lanes of other things."""
    trace = written_for_long(TRACEPROF_SAMPLE="200")
    order = [name for _, (name, _) in sorted(lanes(trace).items())]
    expect(order[0].startswith("main thread"), order)
    expect_last_if_drawn(order)


def test_no_lane_is_without_a_name_and_none_is_empty():
    trace = traced("train", "-e", "2", env={"OMP_NUM_THREADS": "3"}).trace
    used = {event["tid"] for event in trace.events
            if event["ph"] in "Xi" and isinstance(event["tid"], int)}
    expect_equal(set(lanes(trace)), used)


def recorded():
    """(kind, trace) of each kind of recording."""
    sampled = {"OMP_NUM_THREADS": "2", "TRACEPROF_SAMPLE": "200"}
    yield "samples", traced("train", "-e", "2", env=sampled).trace
    yield "waits", traced("waits", 20, env={**sampled, "TRACEPROF_IO": "1"}).trace
    yield "heap", traced("alloc_sites", "clean", 200, env={
        "TRACEPROF_MALLOC": "all", "TRACEPROF_STACK": "heap"}).trace
    yield "ranges", traced("annotate_calls").trace
    yield "time", written_for_long()
    yield "GPU", on_gpu("4", "2", program="cuda_train").trace
    for part in ("pools", "graphs"):
        yield part, on_gpu(part, program="cuda_kinds").trace


def test_of_each_kind_no_lane_is_without_a_name_or_empty():
    """By (pid, tid), of GPUs too; counters and marks of a whole process, as of a
    GPU's pools, have the process's name."""
    for kind, trace in recorded():
        named, processes, used, places = {}, set(), set(), {}
        for event in trace.events:
            at = (event["pid"], event["tid"])
            if not isinstance(event["tid"], int):
                continue                            # the window's own lane
            if event["ph"] == "M" and event["name"] == "thread_name":
                named[at] = event["args"]["name"]
            elif event["ph"] == "M" and event["name"] == "thread_sort_index":
                places[at] = event["args"]["sort_index"]
            elif event["ph"] == "M" and event["name"] == "process_name":
                processes.add(event["pid"])
            elif event["ph"] == "X" or (event["ph"] == "i" and
                                          event.get("s", "t") == "t"):
                used.add(at)
            elif isinstance(event["pid"], int):     # a counter, a mark, an arrow
                expect(event["pid"] in processes, kind, "of no process", event)
        expect(used, kind, "nothing recorded")
        expect_equal(set(named), used, f"{kind}: names, and what is on them")
        expect_equal(set(places), used, f"{kind}: places")
        expect(all(name.strip() for name in named.values()), kind, named)
        for pid in processes:
            order = [named[at] for at in sorted(places, key=places.get) if at[0] == pid]
            for words, place in ((" steps", 0), ("traceprof writer", -1)):
                if any(words in name for name in order):
                    expect(words in order[place], kind, order)


def test_colours_tell_waits_and_our_cost_from_work():
    trace = traced("train", "-e", "2", env={"OMP_NUM_THREADS": "3"}).trace
    for event in trace.slices():
        wanted = ("bad" if event.get("args", {}).get("omp") == "wait" else
                  "grey" if event["cat"] == "overhead" else None)
        expect_equal(event.get("cname"), wanted, event)


def test_a_name_of_its_own_stays():
    """One that the thread gave itself, though it is a worker."""
    trace = traced("named_worker").trace
    seen = {share["args"]["thread"]: lanes(trace)[share["tid"]][0]
            for share in trace.slices(omp="task")}
    expect(seen[1].startswith("thread ") and seen[1].endswith(" (shuffler)"), seen)
    expect(seen[2].startswith("OpenMP worker 2 (thread "), seen)


def test_each_lane_with_something_on_it_has_a_name():
    trace = traced("train", "-e", "2", env={"OMP_NUM_THREADS": "2",
                                            "TRACEPROF_MALLOC": "all"}).trace
    named = lanes(trace)
    for event in trace.events:
        if event["ph"] in "Xi" and isinstance(event["tid"], int):
            expect(event["tid"] in named, "no name", event)
        if event["ph"] == "i":
            expect_equal(event.get("s", "t"), "t", "a mark of no lane: Perfetto has no name for it")
    used = {event["tid"] for event in trace.events if event["ph"] in "Xi"}
    expect_equal(set(named) - used, set(), "empty lanes")


def test_a_region_is_drawn_once_on_its_master():
    """Its share lies in it; members have theirs as slices."""
    trace = traced("region", "two_regions", "2").trace
    regions = trace.regions()
    expect(regions, "no region")
    for region in regions:
        same = [one for one in trace.events if one["ph"] == "X" and
                one["name"] == region["name"] and one["tid"] == region["tid"] and
                one["args"]["region"] == region["args"]["region"]]
        expect_equal(len(same), 1, same)
        args = region["args"]
        expect(0 <= args["share_after_us"] and
               args["share_after_us"] + args["share_us"] <= region["dur"] + 0.001, region)
        expect_equal(len(trace.team(region)), 2, region)


if __name__ == "__main__":
    harness.main()
