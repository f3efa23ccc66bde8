# SPDX-License-Identifier: MIT
"""OpenMP regions of libgomp: one test per entry point or property."""

import re

import harness
from harness import command, expect, expect_equal, same

CANCEL = {"OMP_CANCELLATION": "true"}


def region(construct, threads=2, env=None):
    """Runs one construct both ways and returns its trace."""
    return same("region", construct, threads, env=env).trace


def check_team(trace, found, threads=2):
    """Each member has a slice of its own, inside the region's, on its thread."""
    team = trace.team(found)
    expect_equal(sorted(one["args"]["thread"] for one in team),
                 list(range(threads)), f"team of {found['name']}")
    expect_equal(len({one["tid"] for one in team}), threads, "threads of the team")
    expect("Ev Idx" in found["args"], "a region is an operator", found)
    for one in team:
        expect_equal(one["args"]["team"], threads, "team size")
        expect("Ev Idx" not in one["args"], "its parts are none", one)
        expect(one["ts"] >= found["ts"] - 0.001, "member began before the region",
               one, found)
        expect(one["ts"] + one["dur"] <= found["ts"] + found["dur"] + 0.001,
               "member ended after the region", one, found)
    master = [one for one in team if one["args"]["thread"] == 0]
    expect_equal(master[0]["tid"], found["tid"], "the master's thread")


def check_region(construct, schedule=None, env=None):
    trace = region(construct, env=env)
    found = trace.regions(construct)
    expect_equal(len(found), 1, f"regions of {construct}")
    expect_equal(found[0]["cat"], "cpu_op", "category")
    expect(re.fullmatch(construct + r" \[omp parallel #\d\]", found[0]["name"]),
           found[0]["name"])
    if schedule:
        expect_equal(found[0]["args"].get("schedule"), schedule, "schedule")
    check_team(trace, found[0])
    return trace


def check_wait(construct, word, least=1, env=None, threads=2):
    """The construct makes its threads wait, and the trace names for what."""
    trace = region(construct, threads, env=env)
    found = trace.waits(word)
    expect(len(found) >= least, f"{len(found)} waits for {word}",
           sorted({one["name"] for one in trace.slices()}))
    return trace, found


def test_results_stay_the_same():
    same("region", "all", 2, env=CANCEL)
    same("region", "all", 5, env=CANCEL)
    same("gomp", "all")


def test_parallel():
    check_region("plain_parallel")


def test_loop_static():
    check_region("loop_static")


def test_loop_dynamic():
    check_region("loop_dynamic", "dynamic")


def test_loop_monotonic_dynamic():
    check_region("loop_monotonic_dynamic", "dynamic")


def test_loop_guided():
    check_region("loop_guided", "guided")


def test_loop_monotonic_guided():
    check_region("loop_monotonic_guided", "guided")


def test_loop_runtime():
    check_region("loop_runtime", "runtime")


def test_loop_nonmonotonic_runtime():
    check_region("loop_nonmonotonic_runtime", "runtime")


def test_loop_monotonic_runtime():
    check_region("loop_monotonic_runtime", "runtime")


def test_parallel_sections():
    check_region("sections", "sections")


def test_parallel_reductions():
    check_region("reductions")


def test_doacross():
    """Its waits are not looked at, and none of them is changed."""
    for construct in ("doacross", "doacross_dynamic"):
        check_region(construct)
        expect_equal(same("region", construct, 4).stdout, f"{construct} 43680\n")


def test_loop_static_entry():
    trace = same("gomp", "loop_static_called").trace
    found = trace.regions("loop_static_called")
    expect_equal(len(found), 1, "regions")
    expect_equal(found[0]["args"].get("schedule"), "static", "schedule")
    check_team(trace, found[0])


def test_start_and_end_of_old_compilers():
    for construct in ("old_parallel", "old_loop_static", "old_loop_dynamic",
                      "old_loop_guided", "old_loop_runtime", "old_sections"):
        trace = same("gomp", construct).trace
        found = trace.regions(construct)
        expect_equal(len(found), 1, f"regions of {construct}")
        check_team(trace, found[0])


def test_two_regions_have_ordinals():
    found = region("two_regions").regions("two_regions")
    expect_equal([one["name"] for one in found],
                 ["two_regions [omp parallel #1]", "two_regions [omp parallel #2]"],
                 "names")
    expect(found[0]["args"]["region"] != found[1]["args"]["region"], "same id")


def test_one_event_for_each_member():
    """The master's holds the region, its share and its wait; drawn are all."""
    for threads in (2, 5):
        trace = region("two_regions", threads)
        kinds = trace.meta["written_by_kind"]
        expect_equal((kinds["omp_region"], kinds["omp_task"]), (2, 2 * (threads - 1)),
                     kinds)
        expect("omp_wait" not in kinds, kinds)
        for found in trace.regions("two_regions"):
            check_team(trace, found, threads)
            waits = trace.slices(omp="wait", region=found["args"]["region"])
            expect_equal(len({wait["tid"] for wait in waits}), threads, "waits")


def test_teams_of_other_sizes():
    for threads in (3, 8):
        trace = region("plain_parallel", threads)
        check_team(trace, trace.regions("plain_parallel")[0], threads)


def test_serial_region():
    """A team of one: the region itself is all there is to show."""
    for construct, threads in (("serial", 2), ("plain_parallel", 1)):
        trace = region(construct, threads)
        found = trace.regions(construct)
        expect_equal([one["args"]["team"] for one in found], [1], construct)
        expect(len(trace.team(found[0])) <= 1, "several members of one")


def test_large_team():
    trace = region("large_team", 64)
    check_team(trace, trace.regions("large_team")[0], 64)


def test_nested_regions():
    trace = region("nested")
    found = trace.regions("nested")
    expect_equal(len(found), 3, "regions")      # one outer, two inner
    expect_equal(len({one["args"]["region"] for one in found}), 3, "ids")
    for one in found:
        check_team(trace, one)


def test_recursive_regions():
    trace = region("recursive")
    found = trace.regions("recurs*")
    expect_equal(len(found), 7, "regions")
    for one in found:
        check_team(trace, one)


def test_teams():
    trace = region("teams")
    expect(trace.slices("teams [[]omp*"), "no slice for the teams",
           {one["name"] for one in trace.slices()})


def test_teams_of_teams():
    """Teams run in turn; none waits for the others at their end."""
    trace = region("teams_of_teams")
    outer = trace.regions("teams_of_teams")[0]["args"]["region"]
    expect_equal(len(trace.team(trace.regions("teams_of_teams")[0])), 3, "teams")
    for wait in trace.waits("region end"):
        expect(wait["args"]["region"] != outer, "a team waits", wait)


def test_region_end_wait_is_joined():
    """A worker never returns to us, yet its wait ends with the region."""
    trace = region("plain_parallel")
    found = trace.regions("plain_parallel")[0]
    for wait in trace.waits("region end"):
        expect_equal(wait["args"]["region"], found["args"]["region"], "region")
        expect(wait["ts"] + wait["dur"] <= found["ts"] + found["dur"] + 0.001,
               "waits beyond the region", wait, found)
    expect(trace.waits("region end"), "nobody waits at the end")


def test_barrier():
    _, found = check_wait("barrier", "barrier", 2)
    expect_equal(len({one["tid"] for one in found}), 2, "threads at the barrier")


def test_loop_end_barrier():
    check_wait("loop_end", "loop end", 2)


def test_sections_end_barrier():
    check_wait("sections_end", "sections end", 2)


def check_held(construct, sync, count, env=None):
    """Each time a lock or a turn is waited for, it is then held."""
    trace = region(construct, env=env)
    waits, held = trace.waits(sync), trace.held(sync)
    expect_equal((len(waits), len(held)), (count, count), f"{sync}: waits, held")
    for wait, hold in zip(sorted(waits, key=by_thread), sorted(held, key=by_thread)):
        expect_equal(wait["tid"], hold["tid"], "thread")
        expect(round(hold["ts"] * 1000)
               >= round((wait["ts"] + wait["dur"]) * 1000) - 1,
               "held before the wait was over", wait, hold)
    return trace


def by_thread(event):
    return event["tid"], event["ts"]


def test_single_copyprivate():
    """One runs the block and hands over; who comes second waits for that."""
    trace = region("single_copyprivate")
    expect_equal(len(trace.held("single copyprivate")), 1, "who ran the block")
    owner = trace.held("single copyprivate")[0]["tid"]
    both = {event["tid"] for event in trace.waits("single copyprivate")}
    expect_equal(len(both), 2, "threads that waited")
    after = [event for event in trace.waits("single copyprivate")
             if event["tid"] == owner]
    expect_equal(len(after), 2, "waits of the owner: to begin, to hand over")


def test_single():
    trace = region("single")
    check_team(trace, trace.regions("single")[0])
    expect_equal(len(trace.held("single")), 1, "who ran the block")


def test_critical():
    check_held("critical", "critical", 20)


def test_critical_named():
    check_held("critical_named", "critical", 20)


def test_atomic():
    check_held("atomic", "atomic", 2)


def test_ordered():
    check_held("ordered", "ordered", 8)


def test_cancellation():
    trace = region("cancellation", env=CANCEL)
    check_team(trace, trace.regions("cancellation")[0])
    trace = region("cancel_parallel", env=CANCEL)
    check_team(trace, trace.regions("cancel_parallel")[0])


def test_cancellable_barriers():
    """Where a cancel may come, barriers, loops and sections end in their own way."""
    for sync in ("barrier", "loop end", "sections end"):
        check_wait("cancellable", sync, 2)


def test_openmp_can_be_left_out():
    run = same("region", "all", 2,
               env=CANCEL | {"TRACEPROF_OPENMP": "0", "TRACEPROF_MALLOC": "all"})
    expect(not run.trace.slices("*[[]omp*"), "regions in spite of OPENMP=0")


def test_names_of_inlined_functions():
    trace = same("inlined").trace
    names = {one["name"] for one in trace.slices(cat="cpu_op") if "parallel" in one["name"]}
    expect_equal(names, {"scale [omp parallel #1]", "shift [omp parallel #1]"},
                 "names")


def test_step_of_an_inlined_function():
    run = same("inlined", env={"TRACEPROF_STEP": "omp:shift",
                               "TRACEPROF_WAIT": "2", "TRACEPROF_ACTIVE": "2",
                               "TRACEPROF_REPEAT": "1"})
    expect_equal(run.trace.steps(), [2, 3], "steps")


def test_each_member_s_wait_is_there_however_much_comes_at_once():
    """A schedule's search keeps more regions than the table of their ends holds."""
    turns = 45000
    done = same("short_regions", turns, 1, 2,
                env={"TRACEPROF_WAIT": "3", "TRACEPROF_ACTIVE": "1000000",
                     "TRACEPROF_MAX_OVERHEAD": "0", "TRACEPROF_EXIT_MS": "60000",
                     "OMP_WAIT_POLICY": "passive"})
    waits = done.trace.meta["waits"]
    expect(waits["begun"] > 2 * turns - 100, waits)
    expect_equal((waits["drawn"], waits["lost"]), (waits["begun"], 0), done.stderr)
    expect("none lost" in done.stderr, done.stderr)


def test_names_of_templates_are_folded():
    """In lanes and totals; all of it in the region's args, and in the report on demand."""
    done = same("folded", 20)
    outer = [one for one in done.trace.slices(cat="cpu_op") if "parallel" in one["name"]]
    name = "of_many<>::operator<< [omp parallel #%d]"
    expect_equal({one["name"] for one in outer}, {name % 1, name % 2, name % 3}, "names")
    longest, = {one["args"]["function"] for one in outer if one["name"] == name % 3}
    expect_equal(len(longest), 399, "the longest is cut")
    whole, = {one["args"]["function"] for one in outer if one["name"] == name % 1}
    expect(whole.startswith("of_many<std::map<std::__cxx11::basic_string<char"), whole)
    expect("function" not in done.trace.slices(cat="openmp")[0]["args"], "shares")
    for option, shown in (("--top=9", "of_many<>::operator<< ["), ("--long", whole + " [")):
        text = command("report", option, done.files[0]).stdout
        expect(shown in text, option, text)


def test_cythons_names_are_folded_and_set_the_step():
    run = same("cython_names", 20, env={"TRACEPROF_STEP": "omp:Model.fit_one"})
    names = {one["name"]: one["args"]["function"] for one in run.trace.slices(cat="cpu_op")
             if "parallel" in one["name"]}
    expect_equal(names, {"Model.fit_one [omp parallel #1]": "__pyx_pf_4mine_5Model_4fit_one"},
                 "regions")
    expect_equal(run.trace.meta["step"]["seen"], 20, "steps")


if __name__ == "__main__":
    harness.main()
