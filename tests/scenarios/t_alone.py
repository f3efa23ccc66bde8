# SPDX-License-Identifier: MIT
"""What the kernel allows a process of one thread only: with our writer, too."""

import tempfile

import harness
from harness import Skip, command, expect, expect_equal, plain, same, traced

WAITS = {"TRACEPROF_WAITS": "1"}


def alone(way, *more, waits, env=None):
    """All that the program waited for is recorded, whatever happened meanwhile."""
    run = same("alone", way, *more, env=WAITS | (env or {}))
    expect_equal(len(run.trace.slices("wait: nanosleep")), waits, "waits in " + way)
    return run


def needs_namespaces():
    if plain("alone", "user").stdout.startswith("unshare: Operation"):
        raise Skip("no user namespaces here")


def test_a_user_namespace():
    needs_namespaces()
    run = alone("user", waits=9)
    expect_equal(run.stdout, "unshare: done\nby number: Operation not permitted\n",
                 "what the kernel says")
    run = same("alone", "user", 1, env=WAITS)
    expect(run.stdout.startswith("unshare: Invalid"), "with a thread of its own", run.stdout)


def test_it_asks_whether_it_is_alone():
    alone("thread", waits=9)
    run = alone("many", waits=106, env={"TRACEPROF_MALLOC": "all"})
    expect_equal(run.stdout, "0 refused\n", "a hundred times")
    run = alone("clones", waits=6)
    expect_equal(run.stdout, "0 refused\n", "children that change their group")
    # At the interpreter's start there is a thread of ours that waits for it.
    same("python3", "-c", "import ctypes, os; print(os.path.exists('/proc/self/task') and"
         " ctypes.CDLL(None, use_errno=True).unshare(0x10000), ctypes.get_errno())",
         env={"TRACEPROF_SAMPLE": "499", "TRACEPROF_PYTHON": "1"})


def test_who_changes_rights_often():
    """As servers of files do, for each request: in a program with threads it took
    minutes where each call waited whether one of ours is to end, or for one that isn't
    there."""
    alone("rights", waits=6)
    alone("rights", 1, waits=6)
    needs_namespaces()
    alone("apart", waits=6)


def test_processes_of_a_new_namespace():
    """After it there can be no threads: the program's end writes the file."""
    needs_namespaces()
    run = alone("pid", waits=9)
    expect(any("no thread for the writer" in line for line in run.own_lines), run.stderr)
    expect("no thread for the writer" in str(run.trace.meta.get("notes")),
           "the file says nothing", run.trace.meta.get("notes"))
    alone("handler", waits=6)


def test_what_begins_where_there_can_be_no_thread():
    needs_namespaces()
    run = same("alone", "late")
    expect_equal(len(run.trace.slices("late")), 3, "ranges")
    expect(any("no thread for the writer" in line for line in run.own_lines), run.stderr)


def test_namespaces_of_another_process():
    needs_namespaces()
    for way in ("join", "joins"):
        run = alone(way, waits=9)
        expect_equal(run.stdout, "user: done\nmount: done\n", way)


def test_descriptors_of_its_own():
    """Our thread would hold the end of a pipe that the program closes."""
    for way in ("files", "range"):
        run = alone(way, waits=6)
        expect(run.stdout.endswith("read: done\n"), way, run.stdout)
    same("alone", "files", 1, env=WAITS)


def test_nothing_is_made_in_a_sandbox():
    """The output folder isn't there, and memory keeps what was recorded."""
    needs_namespaces()
    place = tempfile.gettempdir()
    if not place.startswith("/tmp"):
        raise Skip("it hides /tmp alone")
    run = traced("alone", "hides", check=False, env={
        "TRACEPROF_STEP": "api", "TRACEPROF_WAIT": "1", "TRACEPROF_ACTIVE": "1"})
    expect_equal(run.stdout, plain("alone", "hides").stdout, run.stderr)
    expect(any("can't make " in line for line in run.own_lines), run.stderr)
    command("recover", run.folder)
    expect(run.files, "nothing was recovered", run.stderr)
    harness.expect_no_session(run)


def test_calls_that_fail():
    alone("bad", waits=6)


if __name__ == "__main__":
    harness.main()
