# SPDX-License-Identifier: MIT
"""include/traceprof.h: in C and C++, with and without the library."""

import harness
from harness import compile_program, expect, expect_equal, plain, same, traced


def inside(inner, outer):
    return (inner["tid"] == outer["tid"] and inner["ts"] >= outer["ts"]
            and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 0.001)


def one(trace, name):
    found = trace.slices(name, cat="user_annotation")
    expect_equal(len(found), 1, f"slices named {name}")
    return found[0]


def test_nothing_without_the_library():
    for name in ("annotate_calls", "manual", "annotate_scopes", "unwinding"):
        run = plain(name)
        expect_equal((run.status, run.stderr), (0, ""), name)


def test_scopes_nest():
    trace = same("annotate_calls").trace
    expect(inside(one(trace, "inner"), one(trace, "outer")), "inner not in outer")
    expect(inside(one(trace, "scoped"), one(trace, "outer")), "scoped not in outer")
    expect(one(trace, "scoped")["dur"] >= 1000, "shorter than its sleep")
    expect(one(trace, "scoped_by_function"), "no scope of a function")


def test_names_are_copied():
    trace = same("annotate_calls").trace
    for number in range(3):
        one(trace, f"dynamic {number}")


def test_threads_have_their_own_scopes():
    trace = same("annotate_calls").trace
    expect(one(trace, "on a thread")["tid"] != one(trace, "outer")["tid"],
           "on the main thread")


def test_marks():
    trace = same("annotate_calls").trace
    found = [event for event in trace.events
             if event["ph"] == "i" and event["name"] == "a mark"]
    expect_equal(len(found), 1, "marks")


def test_counters():
    trace = same("annotate_calls").trace
    found = sorted(trace.counters("loss"), key=lambda event: event["ts"])
    expect_equal([list(event["args"].values()) for event in found],
                 [[2.5], [1.25]], "values")


def test_steps():
    trace = same("annotate_calls").trace
    expect_equal(trace.steps(), [0, 1, 2], "steps")


def test_what_is_nested_too_deep_is_counted():
    run = same("annotate_calls")
    found = len(run.trace.slices("deep", cat="user_annotation"))
    missing = run.trace.meta["events"]["unrecorded_calls"]
    expect(20 <= found < 100, f"{found} slices of 100 levels")
    expect_equal(found + missing, 100, f"levels, {missing} missing")
    expect(any(f"{missing} LOST" in line for line in run.own_lines), run.own_lines)


def test_values_that_are_no_numbers_are_counted():
    run = same("edges", "values", 100)
    events = run.trace.meta["events"]
    expect_equal((events["seen"], events["written"], events["unwritable"], events["cut"]),
                 (100, 50, 50, 50), "the books")
    said = harness.command("report", run.files[0]).stdout
    expect("50 events had no finite value" in said, said)


def test_careless_names():
    trace = same("annotate_calls").trace
    names = {event["name"] for event in trace.slices(cat="user_annotation")}
    expect(any(name.startswith("nnnn") and len(name) == 1023 for name in names),
           "long name not cut at 1023 bytes")
    expect('quote " backslash \\ tab \t newline \n' in names, "not escaped", names)
    expect(any(name.endswith(", gr\u00fc\u00df, \U0001F600") and "\ufffd" in name
               for name in names), "bytes that are no UTF-8", names)


def test_scope_left_open_ends_with_the_run():
    trace = same("annotate_calls").trace
    expect(one(trace, "never popped"), "lost")


def test_cpp_scopes_and_exceptions():
    trace = same("annotate_scopes").trace
    expect(inside(one(trace, "throws"), one(trace, "try")), "throws not in try")
    expect(one(trace, "after")["ts"] >= one(trace, "try")["ts"]
           + one(trace, "try")["dur"] - 0.001, "try was not closed by the throw")


def test_cpp_region_is_named_by_its_function():
    trace = same("annotate_scopes").trace
    names = [event["name"] for event in trace.slices(omp="parallel")]
    expect(any(name.startswith("net::Layer<double>::forward") for name in names),
           "not demangled", names)


def test_what_windows_have_no_place_is_recorded_with_the_rest():
    run = same("many_windows")
    found = sum(len(trace.slices("scope", cat="user_annotation"))
                for trace in run.traces)
    expect_equal(found, int(run.stdout), f"in {len(run.files)} files")


def test_every_language_level_compiles():
    for compiler, flags in (("gcc", "-std=c11"), ("clang", "-std=c11"),
                            ("gcc", "-std=gnu17")):
        compile_program("manual.c", flags, "-Wall", "-Wextra", "-Wpedantic",
                        "-Werror", compiler=compiler)
    for compiler in ("g++", "clang++"):
        compile_program("annotate_scopes.cpp", "-std=c++11", "-Wall", "-Wextra",
                        "-Werror", "-Wno-unknown-pragmas",
                        "-Wno-source-uses-openmp", compiler=compiler)


def test_windows_by_hand():
    """A run that is recorded as a whole unasked is cut there."""
    first, second = [trace for trace in same("manual").traces
                     if trace.meta["step"].get("name")]
    expect(first.slices("in first") and first.slices("still in first"), "first")
    expect(second.slices("in second") and not second.slices("between"), "second")
    names = sorted(one["name"] for trace in same("manual").traces
                   for one in trace.slices(cat="user_annotation"))
    expect_equal(names, ["before", "between", "in first", "in second", "still in first"],
                 "each once")
    expect_equal(len(same("manual", env={"TRACEPROF_STEP": "auto"}).files), 1,
                 "files of a whole run that was asked for")
    run = same("manual", env={"TRACEPROF_WAIT": "1000000", "TRACEPROF_ACTIVE": "1"})
    expect_equal(len(run.files), 2, f"files {run.files}")
    first, second = run.traces
    expect(first.slices("in first") and first.slices("still in first"), "first")
    expect(second.slices("in second"), "second")
    for trace in (first, second):
        expect(not trace.slices("before") and not trace.slices("between"),
               "recorded outside of a window")


def test_results_inside_the_program():
    run = traced("results")
    expect_equal(run.status, 0, "status")
    expect("enabled 1" in run.stdout, run.stdout)
    expect("total counted 5\n" in run.stdout, run.stdout)
    expect_equal(plain("results").stdout, "0 names, 0 calls\nenabled 0\n", "without")
    report = run.stderr
    line = [line for line in report.splitlines()
            if "counted" in line and not line.startswith("traceprof: ")]
    expect(len(line) == 1 and " 5 " in line[0].replace("\t", " ") + " ",
           "five calls in the first report alone", report)
    expect("after reset" in report, "nothing after the reset", report)


def test_results_are_of_what_takes_time():
    """Blocks were two rows of one name, of 0 ms each."""
    run = traced("results")
    expect("total counted 5\n" in run.stdout, run.stdout)
    expect("[memory]" not in run.stdout + run.stderr, run.stdout + run.stderr)
    expect("1 names, 5 calls\n" in run.stdout, run.stdout)


def test_regions_left_by_a_jump():
    """What was open in frames that are gone is not open any more."""
    trace = same("leaps").trace
    left = trace.regions("leap")
    expect_equal(len(left), 100, "regions that were left")
    expect(all(one["args"].get("finished") == "false" for one in left), left[0])
    expect_equal(len(trace.slices("between")), 100, "scopes between")
    for name in ("around", "between", "after"):
        expect(not any("finished" in one.get("args", {})
                       for one in trace.slices(name)), f"{name} was not closed")
    last = trace.slices("after")[0]["ts"]
    expect(all(one["ts"] + one["dur"] <= last for one in left),
           "a region that was left goes on")
    expect_equal(len(trace.regions("last_region")), 1, "the last region")


def test_control_that_leaves_by_other_roads():
    trace = same("unwinding").trace
    expect(one(trace, "cancelled"), "scope of a cancelled thread")
    expect(one(trace, "after the jump"), "scope after a long jump")



def test_aliases_are_the_same_calls():
    for compiler, language in (("gcc", "c"), ("g++", "c++")):
        run = same(compile_program("aliases.c", "-x", language, "-Wall", "-Werror",
                                   compiler=compiler, name=f"aliases-{language[:3]}"),
                   env={"TRACEPROF_STEP": "manual"})
        inner, outer = run.trace.slices("inside"), run.trace.slices("work")
        expect_equal((len(inner), len(outer)), (1, 1), compiler)


def test_steps_go_on_in_the_next_thread():
    """One for each epoch, say.  But while it lives they are one thread's, and that is
    said."""
    trace = same("steps_of_threads").trace
    expect_equal(trace.steps(), list(range(15)), "steps")
    expect(not any("left out" in note for note in trace.meta["notes"]), "notes")
    tids = {step["tid"] % 10000000 for step in trace.slices("ProfilerStep#*")}
    expect_equal(len(tids), 3, tids)
    trace = same("steps_of_threads", "others").trace
    expect_equal(trace.steps(), list(range(16)), "steps")
    expect(any("traceprof_step() of other threads" in note
               for note in trace.meta["notes"]), trace.meta["notes"])


if __name__ == "__main__":
    harness.main()
