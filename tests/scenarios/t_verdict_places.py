# SPDX-License-Identifier: MIT
"""Whose the time is: the program's own functions, and not those that serve it; and
what the machine or a library does is not said of the program."""

import re
import sys

import harness
from harness import command, compile_program, expect, expect_equal, traced
from t_verdict import judged, made, rules, sampled, slice_, step_, threads_
from t_verdict_limits import steps, team

OURS = {"cpus": 4, "options": {"SAMPLE": "9999"}}


def verdict(path):
    """As one line."""
    return " ".join(command("report", "--verdict", path).stdout.split())


def found(path, rule):
    return next(finding for finding in judged(path)["findings"] if finding["rule"] == rule)


# --- samples ------------------------------------------------------------------

def stack(tid, start_us, dur_us, *names):
    """Samples in the last one of these."""
    return [sampled(tid, start_us, dur_us, name) for name in names]


def test_what_a_language_brings_is_its_callers():
    """C++'s and Rust's libraries; not what they carry of the program."""
    for inner in ("std::__throw_invalid_argument", "__cxa_throw", "_Unwind_RaiseException",
                  "hashbrown::rustc_entry", "<core::hash::sip::Hasher<S>>::write",
                  "void std::__introsort_loop<int*>"):
        said = verdict(made(threads_(700) + stack(700, 0, 9000, "mine", inner), OURS))
        expect("by samples: mine 9.000 ms" in said, inner, said)
    for inner in ("std::_Function_handler<void (), mine::{lambda()#1}>::_M_invoke",
                  "std::thread::_State_impl<std::thread::_Invoker<mine> >::_M_run"):
        said = verdict(made(threads_(700) + stack(700, 0, 9000, "Pool::loop", inner), OURS))
        expect("by samples: Pool::loop" not in said, inner, said)


def test_what_turns_round_until_there_is_work_is_at_none():
    """The thread that sleeps is judged, and not OpenBLAS's beside it."""
    events = threads_(700, 701) + [slice_("wait: clock_nanosleep", 0, 9000, cat="wait")]
    events += stack(700, 9000, 1000, "mine")
    spins = events + stack(701, 0, 10000, "blas_thread_server")
    said = verdict(made(spins, OURS))
    expect("works most" not in said, said)
    expect("blas_thread_server 10.00 ms (turns round until there is work)" in said, said)
    expect_equal(rules(made(spins, OURS)), ["off-cpu"])
    said = verdict(made(events + stack(701, 0, 10000, "busy"), OURS))
    expect("thread 701 (works most)" in said, said)


def test_what_is_sampled_between_short_steps_is_named():
    """An environment that is slow lies in few steps, which are no typical ones; operators
    that take less than it aren't most of the work."""
    def said(long_us):
        lengths = ((1000,) * 9 + (long_us,)) * 4
        events, at = [], 0
        for number, length in enumerate(lengths):
            inner = "simulate" if length > 1000 else "update"
            events += [step_(number, at, length), slice_("aten::mm", at, 500),
                       sampled(700, at, length - 10, inner)]
            at += length
        return verdict(made(threads_(700) + events, OURS))

    text = said(100000)
    expect("in these steps, by samples: update" in text, text)
    expect("most processor time in all, by samples: simulate 400.0 ms, update" in text, text)
    expect("most work in all" not in text, text)
    # Of steps that are most of it their own functions are enough.
    expect(" in all, by samples" not in said(1000), said(1000))


def test_where_most_goes_is_where_to_begin():
    """Where no rule knows a cause."""
    said = verdict(made(threads_(700) + stack(700, 0, 8000, "mine")
                        + stack(700, 8000, 2000, "other"), OURS))
    lead = "Begin where the time goes: mine, 80 % of the processor time."
    expect("Nothing stands out. " + lead in said, said)
    # What recording costs is none of the program's causes.
    said = verdict(made(threads_(700) + stack(700, 0, 8000, "mine")
                        + stack(700, 8000, 2000, "other"), OURS | {"cost": {"hooks_ns": 10**6}}))
    expect("[own-cost;" in said and "Nothing else stands out. " + lead in said, said)
    for dur in (2000, 4000):              # each a fourth of it, or hardly ever at work
        said = verdict(made(threads_(700) + [sampled(700, 0, 1)] + sum(
            (stack(700, at * 2500, 2500, f"part{at}") for at in range(4)), [])
            if dur == 2000 else threads_(700) + stack(700, 0, dur, "mine")
            + [slice_("wait: pthread_cond_wait", dur, 10000 - dur, cat="wait")], OURS))
        expect("Begin where" not in said, dur, said)


def test_callers_that_are_missing_are_said():
    for cut, is_said in ((50, True), (9, False)):
        sampling = {"sampling": {"cut_stacks": cut, "timed": 10}}
        said = verdict(made(threads_(700) + stack(700, 0, 9000, "mine"), OURS | sampling))
        expect_equal(f"but {cut} samples lie too deep for their outermost callers" in said,
                     is_said, said)
    # Of a part of the run nobody knows.
    whole = [slice_("PyTorch Profiler (0)", 0, 10000, cat="Trace")] + threads_(700)
    path = made(whole + stack(700, 0, 9000, "mine"),
                OURS | {"sampling": {"cut_stacks": 50, "timed": 10}})
    for to, is_said in (("1s", True), ("5ms", False)):
        said = command("report", "--from", "0", "--to", to, path).stdout
        expect_equal("lie too deep" in said, is_said, said)
    # No name, so no line of it that took more.
    waits = stack(700, 0, 50, "mine") + [slice_("wait: recv", 50, 9950, cat="wait")]
    said = verdict(made(threads_(700) + waits, OURS | {
        "sampling": {"cut_stacks": 50, "timed": 10}}))
    expect("too deep" not in said and "most processor time" not in said, said)


def test_what_is_not_recorded_is_not_called_code():
    region = [slice_("f [omp parallel #1]", 0, 100, omp="parallel", region=1, team=1)]
    said = verdict(made(region + [slice_("f [omp parallel #1]", 9900, 100, omp="parallel",
                                         region=2, team=1)], {"options": {"SAMPLE": "0"}}))
    expect("98.0 % outside of what is recorded" in said, said)
    said = verdict(made([slice_("aten::add", 0, 3000), slice_("aten::mul", 9500, 500)],
                        {"options": {"SAMPLE": "0"}}))
    expect("65.0 % outside of what is recorded, 35.0 % host code" in said, said)


def test_what_comes_before_the_first_slice_is_not_judged():
    """What is imported and loaded, mostly; the verdict doesn't call the rest the whole."""
    trace = slice_("PyTorch Profiler (0)", 1000, 10000, cat="Trace")
    for start, wanted in ((4000, "on all since the first slice, 7.000 ms of 10.00 ms:"),
                          (1050, "on the whole recording, 9.950 ms:")):
        said = verdict(made([trace, slice_("aten::add", start, 5000)], OURS))
        expect(f"so {wanted}" in said, said)


def test_batches_that_come_in_bursts_are_typical():
    """Of two workers' batches one waits for both, and the next for neither: half of the
    steps are no outliers, and what they wait isn't left out."""
    events, at = threads_(700), 0
    for number, wait in enumerate([16000, 100, 17000, 100, 500, 16000] * 4):
        events += [step_(number, at, wait + 1000),
                   slice_("enumerate(DataLoader)#_Iter.__next__", at + 1, wait,
                          cat="user_annotation"),
                   slice_("aten::addmm", at + wait + 2, 900)]
        at += wait + 1000
    path = made(events, {"options": {"SAMPLE": "0"}})
    starved = found(path, "data-starved")
    expect(abs(starved["saved_ns"] / 24 / 8283000 - 1) < 0.02, starved)
    expect_equal(judged(path)["step"]["typical"], 24, "typical steps")


# --- waits --------------------------------------------------------------------

def test_a_sleep_is_as_long_as_the_program_wants_it():
    """Whoever else has the processors; but not while others work, or children."""
    events = threads_(700, 701) + [slice_("wait: nanosleep", 0, 9000, cat="wait"),
                                   sampled(700, 9000, 1000)]
    busy = {"processors_ns": 4 * 10**10, "others_ns": 39 * 10**9, "program_ns": 10**6}
    expect_equal(rules(made(events, OURS | {"scheduled": busy})), ["off-cpu"])
    expect_equal(rules(made(events + [sampled(701, 0, 9000)], OURS | {"scheduled": busy})), [])
    expect_equal(rules(made(events, OURS | {"scheduled": busy | {"program_ns": 10**7}})), [])


SLEEPS = """import time
def pause():
    time.sleep(0.002)
for i in range(300):
    pause()
"""


def test_where_a_program_waits_is_said():
    """By the stack of each wait, of Python the line."""
    run = traced(sys.executable, "-c", SLEEPS, env={"TRACEPROF_SAMPLE": "499"})
    said = verdict(run.files[0])
    expect(re.search(r"most of it \w+ in <string>\(3\): pause|"
                     r"waits most in \w+: \d[^,]*, in <string>\(3\): pause", said), said)
    source = f"{harness.folder()}/pauses.c"
    with open(source, "w", encoding="utf-8") as file:
        file.write("#include <unistd.h>\n__attribute__((noinline, noclone)) void pauses(void)"
                   "{ usleep(2000); __asm__ volatile(\"\"); }\n"
                   "int main(void) { for (int i = 0; i < 300; i++) pauses(); }\n")
    built = compile_program(source, "-O1", "-rdynamic", name="pauses")
    run = traced(built, env={"TRACEPROF_SAMPLE": "499"})
    expect(re.search(r"usleep in pauses\b|usleep: \d[^,]*, in pauses\b",
                     verdict(run.files[0])), verdict(run.files[0]))
    # Not asked for, no stack is taken.
    run = traced(built, env={"TRACEPROF_WAITS": "1", "TRACEPROF_MALLOC": "all"})
    expect(not any("stack" in event.get("args", {}) for event in run.trace.events), "stacks")


def wait(at, dur, number, frames=None, name="wait: recv", tid=700):
    args = {"stack": number} | ({"Call stack": frames} if frames else {})
    return slice_(name, at, dur, tid, "wait", **args)


def test_the_place_of_a_wait_is_the_programs():
    """A stack stands in the file once; frames of libraries are none of it."""
    for frames, place in (
            ("libc.so.6(0x10): recv;a.out(0x20): std::foo;a.out(0x30): ask;a.out(0x40): main",
             "ask"),
            ("libpython3.11.so(0x1): sock_recv;/usr/lib/python3.11/ssl.py(9): read;"
             "app.py(7): fetch;app.py(9): <module>", "app.py(7): fetch"),
            # Imports in imports, so deep that the program's line isn't in the stack.
            ("libpython3.11.so(0x1): _Py_read;<frozen importlib._bootstrap_external>(1): get;"
             "/usr/lib/python3/dist-packages/x.py(2): <module>", "Python's imports"),
            ("b.so(0x1): reads;<frozen importlib._bootstrap>(9): _load", "reads"),
            ("libc.so.6(0x10): recv", "")):
        events = threads_(700) + [sampled(700, 0, 100), wait(100, 5000, 5, frames),
                                  wait(5200, 4000, 5), wait(9300, 100, 6, "x(0x1): other")]
        said = found(made(events, OURS), "exposed-comm")
        if place:
            expect(f"most of it recv in {place}" in said["figure"], said)
        else:
            expect("most of it" not in said["figure"], said)


def test_waits_that_no_rule_blames_are_named():
    events = threads_(700, 701) + [
        slice_("wait: sem_wait", 0, 9000, 700, "wait", stack=1, **{
            "Call stack": "a.out(0x1): gather;a.out(0x2): main"}),
        sampled(700, 9000, 1000), sampled(701, 0, 1500)]
    busy = {"processors_ns": 4 * 10**10, "others_ns": 39 * 10**9, "program_ns": 2 * 10**6}
    path = made(events, OURS | {"scheduled": busy})
    expect_equal(rules(path), [])
    expect("waits most in sem_wait: 9.000 ms, in gather" in verdict(path), verdict(path))


def test_where_most_events_are_missing_that_comes_first():
    events = steps(lambda at, number: team(at, number + 1, 900, 900, 900, 900))
    for dropped, first in ((10, "oversubscribed"), (10**6, "losses")):
        lossy = {"cpus": 2, "events": {"seen": 2000, "written": 1000, "dropped": dropped}}
        expect_equal(rules(made(events, lossy))[0], first)


# --- teams --------------------------------------------------------------------

def tasks(*ready_us):
    """What the kernel tells of as many threads, of a run of 10 ms."""
    return {"tasks": [{"tid": 0, "name": "", "ran_us": 9000, "wall_us": 10000}] + [
        {"tid": 700 + at, "name": "", "ran_us": 10000 - ready, "ready_us": ready,
         "wall_us": 10000} for at, ready in enumerate(ready_us)]}


def test_who_finds_no_processor_has_not_more_to_do():
    events = steps(lambda at, number: team(at, number + 1, 900, 700))
    expect("imbalance" in rules(made(events)), "the program's")
    expect("imbalance" in rules(made(events, tasks(2000, 2000))), "both the same")
    expect("imbalance" not in rules(made(events, tasks(2000, 0))), "the machine's")
    expect("imbalance" in rules(made(events, tasks(2000, 2000) | {
        "tasks": tasks(2000, 2000)["tasks"] + [{
            "tid": 9, "name": "", "ran_us": 10, "ready_us": 0, "wall_us": 10000}]})), "idle")


def test_one_member_at_a_time_is_said():
    """Now this and then that one, as in a single block."""
    def turns(short):
        return made(steps(lambda at, number: team(
            at, number + 1, *((900, short) if number % 2 else (short, 900))),
            (1000,) * 20), {"scheduled": {"ran_ns": 99, "waited_ns": 1}})

    said = found(turns(20), "imbalance")
    expect("one member works while the others wait" in said["figure"]
           and "single" in said["next"], said)
    expect("imbalance" not in rules(turns(300)), "both work")
    hindered = made(steps(lambda at, number: team(
        at, number + 1, *((900, 20) if number % 2 else (20, 900))), (1000,) * 20),
        {"scheduled": {"ran_ns": 55 * 10**9, "waited_ns": 45 * 10**9}})
    expect("imbalance" not in rules(hindered), "it found no processor")


def test_teams_in_teams_are_counted():
    """Four threads begin four each."""
    def inside(at, number):
        return team(at, 2 * number + 1, 900, 900, 900, 900) + [
            slice_("g [omp parallel #2]", at + 10, 500, omp="parallel", region=2 * number + 2,
                   team=4, nested=True)]

    said = found(made(steps(inside), {"cpus": 2}), "oversubscribed")
    expect(said["figure"] == "16 threads on 2 processors: nested teams"
           and "OMP_MAX_ACTIVE_LEVELS=1" in said["next"], said)
    alone = found(made(steps(lambda at, number: team(at, number + 1, 900, 900, 900, 900)),
                       {"cpus": 2}), "oversubscribed")
    expect(alone["figure"] == "4 threads on 2 processors"
           and "OMP_NUM_THREADS=2" in alone["next"], alone)


def test_regions_beside_teams_in_teams_are_not_counted_with_them():
    """700 us of a team that fits, and 200 us of one whose members begin two each."""
    def inside(at, number):
        return team(at, 3 * number + 1, 700, 700) + team(at + 750, 3 * number + 2, 200, 200) + [
            slice_("g [omp parallel #2]", at + 760, 100, omp="parallel", region=3 * number + 3,
                   team=2, nested=True)]

    said = found(made(steps(inside), {"cpus": 2}), "oversubscribed")
    expect("4 threads on 2 processors: nested teams" in said["figure"], said)
    expect(0.09 < said["share"] < 0.12, said["share"])


def test_a_team_that_sleeps_shares_no_processor():
    """However many threads it has; half of what there is must have run, or wanted to."""
    def said(program_us, waited=0, threads=None):
        scheduled = {"ran_ns": (100 - waited) * 10**6, "waited_ns": waited * 10**6,
                     "processors_ns": 2 * 19 * 10**6, "others_ns": 0,
                     "program_ns": program_us * 1000}
        return rules(made(steps(lambda at, number: team(at, number + 1, 900, 900, 900, 900)),
                          {"cpus": 2, "scheduled": scheduled} | (threads or {})))

    whole_us = 900 * len([event for event in steps(lambda at, number: [])])
    expect("oversubscribed" not in said(100), "all of them sleep")
    expect("oversubscribed" in said(2 * whole_us), "they have all processors")
    expect("oversubscribed" in said(whole_us // 5, 90), "others have them")
    for waited_us, is_said in ((whole_us // 2, False), (9 * whole_us, True)):
        threads = {"threads_ran_ns": whole_us * 1000, "threads_waited_ns": waited_us * 1000}
        expect_equal("oversubscribed" in said(whole_us // 5, 0, threads), is_said,
                     "the first one sleeps till the others are done")
    for part, is_said in ((0.48, False), (0.52, True)):
        expect_equal("oversubscribed" in said(int(2 * part * whole_us)), is_said, part)


def test_the_teams_of_a_league_run_in_turn():
    """gcc's have one thread, however many they are; each begins a team of its own."""
    def league(at, number):
        events = [slice_("f [omp parallel #2]", at, 910, omp="parallel", region=2 * number + 1,
                         team=8, schedule="teams")]
        return events + team(at + 5, 2 * number + 2, 900, 900)

    expect("oversubscribed" not in rules(made(steps(league), {"cpus": 2})))


def test_who_begins_a_team_of_its_own_alone_is_no_more_threads():
    """MKL's loops: two threads by themselves, one within a team of PyTorch's."""
    def inside(at, number):
        return team(at, 2 * number + 1, 900, 900) + [
            slice_("g [omp parallel #2]", at + 10, 500, omp="parallel", region=2 * number + 2,
                   team=1, nested=True) if number % 2 else
            slice_("g [omp parallel #2]", at + 910, 50, omp="parallel", region=2 * number + 2,
                   team=2)]

    expect("oversubscribed" not in rules(made(steps(inside), {"cpus": 2})))


def test_thinned_regions_count_as_all_that_were_seen():
    """In the verdict alone as in the report with its tables."""
    events = [step_(0, 0, 100000)]
    for region in range(1, 201):
        events += team(region * 400, region, 3, 2, dur=10)
    path = made(events, {"sampled": [{
        "name": "f [omp parallel #1]", "omp": "parallel", "sampled": "1/16", "seen": 3200,
        "drawn": 200, "thinned": 3000, "total_us": 32000, "min_us": 10, "max_us": 10}]})
    expect("3200 calls of f [omp parallel #1] take 10.00 us each" in verdict(path),
           verdict(path))
    whole = " ".join(command("report", path).stdout.split())
    expect(verdict(path) in whole, verdict(path), whole)


def test_critical_sections_of_which_none_is_drawn_count():
    """Each of their waits was short; they are in the sums."""
    events = [step_(0, 0, 100000)]
    for region in range(1, 11):
        events += team(region * 8000, region, 7000, 2000, dur=7000)
    row = {"sampled": "none", "drawn": 0, "min_us": 0.1, "max_us": 0.9}
    path = made(events, {"sampled": [
        row | {"name": "critical wait", "omp": "wait", "seen": 90000, "thinned": 90000,
               "total_us": 20000},
        row | {"name": "critical", "omp": "held", "seen": 90000, "thinned": 90000,
               "total_us": 60000}]})
    said = verdict(path)
    expect("threads wait 20.00 ms for each other in critical wait (90000 times)" in said
           and "use reduction or atomic" in said, said)


if __name__ == "__main__":
    harness.main()
