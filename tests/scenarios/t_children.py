# SPDX-License-Identifier: MIT
"""Forked children of a program that is sampled: their traces, or that they have none."""

import collections
import os
import sys

import harness
from harness import compile_program, expect, expect_equal, plain, same, traced

ALL = {"TRACEPROF_SAMPLE": "997", "TRACEPROF_CHILDREN": "all"}


def run(way, env=None, files=1):
    program = compile_program("fork_work.c", "-O1", "-D_GNU_SOURCE", name="fork_work")
    done = same(program, way, env=env or ALL)
    expect_equal(len(done.files), files, f"files of {way}: {done.stderr}")
    return done


def sampled_ms(trace):
    """{function: processor time}; 0 for one that only calls."""
    sums = collections.Counter()
    for one in trace.events:
        if one.get("cat") in ("cpu_sample", "python_function"):
            sums[one["name"].rsplit(" ", 1)[-1]] += one["args"]["self_us"] / 1000
    return sums


def check_child(done, function, least_ms, count=1):
    """The function is in so many files with so much time, none of them the parent's."""
    found = [trace for trace in done.traces if function in sampled_ms(trace)]
    expect_equal(len(found), count, f"traces with {function}")
    for trace in found:
        sums = sampled_ms(trace)
        expect(sum(sums.values()) > least_ms, sums)
        expect(trace.pid != done.pid, "the child's own file")
        expect("sampling" in trace.top["traceprof_reason"], trace.top)
        expect(trace.meta["sampling"]["without_callers"] <= 3, trace.meta["sampling"])
    return found


def lost(done):
    return [line for line in done.own_lines if "left no trace" in line]


def test_a_child_is_sampled_from_its_fork_on():
    """It works for 300 ms, of which a start and a last period may be missing."""
    for way in ("fork", "fork_exit", "forkpty"):
        done = run(way, files=2)
        check_child(done, "child_work", 200)
        expect(not lost(done) and
               any("1 forked child has a trace" in line for line in done.own_lines),
               done.stderr)


def test_a_childs_child_is_sampled():
    check_child(run("twice", files=3), "child_work", 200)


def test_a_daemon_is_sampled():
    """And the process that ends in daemon() has its trace, as the first one."""
    check_child(run("daemon", files=3), "child_work", 200)


def test_daemon_does_what_the_c_librarys_does():
    """To folder, streams and session; but what its parent has recorded is kept."""
    program = compile_program("turns_daemon.c", "-O1", "-fopenmp", name="turns_daemon")
    for folder in "01":
        for output in "01":
            done = same(program, folder, output)
            expect("leader 1" in done.stdout and "2 " in done.stdout, done.stdout)
            found = sorted(name for trace in done.traces
                           for name in ("work_before", "work_after")
                           if trace.regions(name))
            expect_equal(found, ["work_after", "work_before"], done.stderr)


def test_a_child_has_no_descriptor_of_ours():
    """The writer has files open for moments, for each thread that is sampled, and the
    trace all the time."""
    command = "fork_descriptors", "800", "40"
    wanted = plain(*command)
    done = traced(*command, env={"TRACEPROF_SAMPLE": "499"})
    expect_equal((done.status, done.stdout), (wanted.status, wanted.stdout), done.stderr)


def test_children_without_a_trace_are_said():
    only = {"TRACEPROF_SAMPLE": "997"}
    done = run("fork", env=only)
    line, = lost(done)
    expect("1 forked child left no trace" in line and "--children=all" in line, line)
    expect(any("left no trace" in note for note in done.trace.meta["notes"]), "a note")
    # Its child has the first for its parent, and both are the program's.
    expect("2 forked children left" in lost(run("twice", env=only))[0], "two")
    # Who asks for none has none, and needn't be told.
    expect(not lost(run("fork", env=only | {"TRACEPROF_CHILDREN": "none"})), "asked for")


def late(children, ms, files=1, **env):
    """Children of a program whose recording began with a region."""
    done = same("fork_late", children, ms, env=env)
    expect_equal(len(done.files), files, done.stderr)
    return done


def test_children_that_did_the_work_are_said_of_any_program():
    done = late(2, 600)
    line, = lost(done)
    expect("2 forked children left no trace" in line, line)
    expect("TRACEPROF_CHILDREN=all TRACEPROF_SAMPLE=499" in line, line)
    expect(any("left no trace" in note for note in done.trace.meta["notes"]), "a note")
    line, = lost(late(2, 600, TRACEPROF_CHILDREN="all"))
    expect("TRACEPROF_SAMPLE=499" in line and "--children" not in line, line)
    expect(not lost(late(2, 600, files=3, **ALL)), "what the line advises")


def test_children_that_did_little_are_not_said():
    expect(not lost(late(3, 20)), "little")
    expect(not lost(late(2, 600, TRACEPROF_CHILDREN="none")), "asked for")


def test_a_child_whose_parent_ends_meanwhile_is_not_said_to_be_lost():
    """It begins its recording at the end of fork(), when the parent has ended."""
    done = run("outlives", files=2)
    check_child(done, "child_work", 200)
    expect(not lost(done), done.stderr)


def test_what_writes_a_childs_rest_is_no_child():
    done = run("allocates", files=2, env=ALL | {
        "TRACEPROF_MALLOC": "all", "TRACEPROF_ENCODE": "late", "TRACEPROF_GZIP": "zlib:9"})
    expect(not lost(done) and
           any("1 forked child has a trace" in line for line in done.own_lines),
           done.stderr)


def test_a_child_that_was_killed_is_said():
    """A pool ends its workers by SIGTERM: what memory holds isn't in their files."""
    program = compile_program("fork_work.c", "-O1", "-D_GNU_SOURCE", name="fork_work")
    out = os.path.join(harness.folder(), "out")
    done = harness.execute(
        [program, "killed"], harness.clean_environment() | ALL | {
            "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": out}, harness.HANGS, None, out)
    line, = [line for line in done.own_lines if "1 forked child has a trace" in line]
    expect("1 was killed or goes on" in line and f"recover {out}" in line, line)
    child, = [path for path in done.files if f"_{done.pid}." not in path]
    expect("not finished" in harness.command("report", child).stdout, "not before")
    harness.command("recover", out)
    expect("not finished" not in harness.command("report", child).stdout, "finished")
    harness.expect_no_session(done)
    expect("killed" not in "".join(run("fork", files=2).own_lines), "who ends by itself")


def test_a_child_past_the_forks_handlers_is_said():
    """It may call nothing that takes a lock, so nothing is begun there."""
    line, = lost(run("_Fork"))
    expect("1 forked child left no trace" in line, line)


def test_a_child_that_becomes_another_program_decides_for_itself():
    for env in (ALL, {"TRACEPROF_SAMPLE": "997"}):
        done = run("exec", env=env, files=2 if env is ALL else 1)
        expect(not lost(done), done.stderr)


def test_what_else_records_from_the_start_records_children():
    for setting in ("TRACEPROF_WAITS", "TRACEPROF_IO"):
        run("fork", env={setting: "1", "TRACEPROF_CHILDREN": "all"}, files=2)


POOL = """
import multiprocessing, time
def work(milliseconds):
    end = time.process_time() + milliseconds / 1000
    while time.process_time() < end:
        sum(range(1000))
if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    pool = multiprocessing.Pool(2, initializer=work, initargs=(400,))
    pool.map(work, [1, 1])
    pool.close()
    pool.join()
    print("done")
"""

OS_FORK = """
import os, threading, time
def work():
    end = time.process_time() + 0.4
    while time.process_time() < end:
        sum(range(1000))
over = threading.Event()
thread = threading.Thread(target=over.wait)
thread.start()
EARLY
child = os.fork()
if not child:
    work()
    os._exit(7)
print(os.waitpid(child, 0)[1])
over.set()
"""

# Until the kernel has forgotten the thread, too.
ENDS_EARLY = """
over.set()
while os.path.exists(f"/proc/self/task/{thread.native_id}"):
    time.sleep(0.01)
"""


def python(text, files):
    script = os.path.join(harness.folder(), "script.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(text)
    done = same(sys.executable, script, env=ALL)
    expect_equal(len(done.files), files, done.stderr)
    return done


def test_a_pools_workers_are_sampled():
    for trace in check_child(python(POOL, 3), "work", 200, count=2):
        expect(any(one["name"].endswith("_bootstrap") for one in trace.events
                   if one.get("cat") == "python_function"), "its callers in Python")


def test_a_child_of_threads_has_pythons_stacks():
    """libunwind may be locked there for ever; CPython's frames are only read."""
    done = python(OS_FORK.replace("EARLY", ""), 2)
    child, = [trace for trace in done.traces if "work" in sampled_ms(trace)]
    sums = sampled_ms(child)
    expect(sum(sums.values()) > 200, sums)
    expect("<module>" in sums, "who called it")
    expect(any("but Python's: forked by" in note for note in child.meta["notes"]),
           child.meta["notes"])


def test_threads_that_have_ended_do_no_harm():
    check_child(python(OS_FORK.replace("EARLY", ENDS_EARLY), 2), "work", 200)


if __name__ == "__main__":
    harness.main()
