# SPDX-License-Identifier: MIT
"""Samples of code that uses the stack pointer for something else; and
what a program's own threads took."""

import json
import os
import re
import shutil
import subprocess

import harness
from harness import ROOT, command, compile_program, expect, expect_equal, same


def test_what_lies_below_the_stack_pointer_stays():
    program = compile_program("stack_pointer.c", "-O1", "-pthread", name="stack_pointer")
    run = same(program, env={"TRACEPROF_SAMPLE": "997"})
    expect_equal(run.stdout.splitlines(), ["0 bytes changed"] * 2, "on both threads")
    expect(run.trace.meta["written_by_kind"]["cpu_sample"] > 20, "samples")


def test_it_stays_where_the_heap_began_the_recording():
    """A library allocates before our constructor, and we record from there on."""
    program = compile_program("stack_pointer.c", "-O1", "-pthread", "-DAT_ONCE",
                              "-Wl,--no-as-needed", "-lstdc++", name="at_once")
    run = same(program, env={"TRACEPROF_SAMPLE": "997", "TRACEPROF_MALLOC": "all"})
    expect("first allocation" in run.trace.top["traceprof_reason"], "what began it")
    expect_equal(run.stdout.splitlines(), ["0 bytes changed"] * 2, "on both threads")
    expect(run.trace.meta["written_by_kind"]["cpu_sample"] > 20, "samples")


def test_a_childs_threads_have_rooms_of_their_own():
    program = compile_program("fork_rooms.c", "-pthread", name="fork_rooms")
    run = same(program, env={"TRACEPROF_SAMPLE": "997"})
    expect_equal(run.stdout.splitlines(), ["0 shared"] * 2, "parent and child")


def test_a_program_is_told_of_its_own_stacks_alone():
    """On the first thread and on others, before and after it has one of its own,
    in its handler, and in a child; a handler has as much room as it had."""
    program = compile_program("alt_stacks.c", "-pthread", name="alt_stacks")
    run = same(program, env={"TRACEPROF_SAMPLE": "997"})
    expect_equal(run.stdout.count("none, own, own in use, none\n"), 4, run.stdout)
    expect(run.trace.meta["written_by_kind"]["cpu_sample"] > 10, "samples")


def test_no_sample_comes_where_its_frame_has_no_room():
    """The kernel would end the program; the thread works for 0.4 s on such a stack."""
    run = same("small_room", env={"TRACEPROF_SAMPLE": "997",
                                  "TRACEPROF_MALLOC": "counters"})
    expect_equal(run.stdout, "200 signals\n", "all were handled")
    expect([note for note in run.trace.meta["notes"]
            if "stack for signals has no room for two" in note], "it is said")


def test_threads_with_a_small_stack_for_signals_are_sampled():
    """All of Rust's have one: the handler leaves it for one of ours, and walks from
    what it interrupted.  In a handler of the program's it walks nothing."""
    for words in ((), ("handlers",)):
        run = same("thread_stacks", *words, env={"TRACEPROF_SAMPLE": "499"})
        expect_equal(run.stdout, "19900 19900 19900\n", "all worked")
        expect_equal([note for note in run.trace.meta["notes"] if "no samples" in note], [],
                     "notes")
        hot = command("report", "--hot", "--json", run.trace.path)
        rows = {row["name"]: row for row in json.loads(hot.stdout)["functions"]}
        took = rows["work_hard"]["self_ns"]
        expect(took > 3 * 0.2e9, rows)          # of 0.4 s each
        expect(words or rows["train"]["total_ns"] > 0.9 * took, rows)


def test_a_handlers_full_stack_is_not_passed():
    """By samples that come in it, on many threads; with less and with more left than
    it takes to leave it."""
    for left in (600, 1500, 5000):
        run = same("full_room", left, env={"TRACEPROF_SAMPLE": "997"})
        expect_equal(run.stdout, "0 bytes changed below the stacks\n", str(left))
        sampling = run.trace.meta["sampling"]
        taken = run.trace.meta["written_by_kind"].get("cpu_sample", 0)
        expect(taken > 5 if left > 600 else sampling["in_own_code"] > 5,
               left, taken, sampling)


def test_no_second_sample_comes_into_the_handler_of_the_first():
    """libunwind blocks signals around its locks but not that one, and a second one would
    find the stack free that the handler has left."""
    run = same("signals_meanwhile", env={"TRACEPROF_SAMPLE": "997"})
    expect(run.trace.meta["written_by_kind"]["cpu_sample"] > 50, "samples")


def test_a_pool_that_names_its_threads_is_named():
    program = compile_program("named_pool.c", "-O1", "-D_GNU_SOURCE", "-I", ROOT,
                              "-pthread", name="named_pool")
    note, = [note for note in same(program).trace.meta["notes"]
             if note.startswith("processor time of threads: ")]
    expect(re.search(r": crunch \(2 threads\) [3-9]\d\d ms", note), note)
    idle = re.search(r"crunch .*? ms \(idle (\d+) ms\)", note).group(1)
    note, = [note for note in same(program, "waits").trace.meta["notes"]
             if note.startswith("processor time of threads: ")]
    longer = int(re.search(r"crunch .*? ms \(idle (\d+) ms\)", note).group(1))
    expect(longer > int(idle) + 500, "two threads wait for two seconds", idle, note)
    note, = [note for note in same(program, "names").trace.meta["notes"]
             if note.startswith("processor time of threads: ")]
    expect("crunch (2 threads)" in note, note)
    for note in same(program, "plain").trace.meta["notes"]:
        expect(not note.startswith("processor time"), note)


def test_threads_that_are_not_counted_are_said():
    program = compile_program("named_pool.c", "-O1", "-D_GNU_SOURCE", "-I", ROOT,
                              "-pthread", name="named_pool")
    note, = [note for note in same(program, "many").trace.meta["notes"]
             if note.startswith("processor time of threads: ")]
    expect("crunch (2 threads)" in note, note)
    expect(note.endswith("; of more than 512 threads the others are left out"), note)


def test_the_loader_makes_no_room_in_a_samples_handler():
    """It does so by malloc(), which the sample may have interrupted."""
    place = harness.folder()
    source = os.path.join(place, "one.c")
    with open(source, "w", encoding="ascii") as file:
        file.write("_Thread_local char of_thread[64];\n"
                   "char *first(void) { return of_thread; }\n")
    first = os.path.join(place, "0.so")
    made = subprocess.run(["gcc", "-shared", "-fPIC", "-o", first, source],
                          capture_output=True, text=True)
    expect_equal(made.returncode, 0, made.stderr)
    files = [first]
    for number in range(1, 60):
        files.append(os.path.join(place, f"{number}.so"))
        shutil.copy(first, files[-1])
    same("loads_many", *files, env={"TRACEPROF_SAMPLE": "997"})


if __name__ == "__main__":
    harness.main()
