# SPDX-License-Identifier: MIT
"""Locks of OpenMP's own, omp_set_lock(): what a thread waits for is no work of its
region's."""

import functools
import sys

import harness
from harness import expect, expect_equal, same
from t_ompt import build

HELD_US = 200000


def waits(trace):
    return [one for one in trace.slices(omp="wait") if one["name"] == "lock wait"]


def expect_one_wait(run):
    found = [one for one in waits(run.trace) if one["dur"] >= HELD_US]
    expect_equal(len(found), 1, f"waits: {waits(run.trace)}")
    region = run.trace.regions()[0]
    shares = run.trace.team(region)
    expect_equal(len(shares), 2, "shares")
    own = next(share for share in shares if share["tid"] == found[0]["tid"])
    expect(own["ts"] <= found[0]["ts"], "before its share", own, found)
    return found[0]


def test_a_lock_that_is_held():
    for way in ("c", "fortran"):
        run = same("omp_locks", way)
        expect_one_wait(run)
        expect_equal(len(waits(run.trace)), 1, "whoever finds it free doesn't wait")
        said = harness.command("report", run.files[0]).stdout
        expect("hold the lock for less" in said, said)


def test_locks_that_are_free_and_do_not_nest():
    run = same("omp_locks", "free", env={"TRACEPROF_MAX_OVERHEAD": "0"})
    expect_equal(waits(run.trace), [], "waits")
    expect_equal(run.stdout, "1000\n", "output")


def test_a_lock_of_a_plug_in_with_a_library_of_its_own():
    """Nobody but the plug-in finds that library."""
    plugin = harness.compile_program("omp_locks.c", "-fopenmp", "-shared", "-fPIC",
                                     name="omp_locks.so")
    script = ("import ctypes, sys\n"
              "words = (ctypes.c_char_p * 2)(b'omp_locks', b'c')\n"
              "ctypes.CDLL(sys.argv[1]).main(2, words)\n")
    expect_one_wait(same(sys.executable, "-c", script, plugin))


def test_a_runtime_that_is_not_known():
    """It is called by more files than there is room for, each with a look-up."""
    build_one = functools.partial(harness.compile_program, "lib/other_omp.c", "-shared",
                                  "-fPIC")
    runtime = build_one(name="libother_omp.so")
    callers = [build_one("-DCALLER", runtime, name=f"caller{number}.so")
               for number in range(20)]
    script = ("import ctypes, sys\n"
              "print(sum(ctypes.CDLL(path).takes_lock() for path in sys.argv[1:]))\n")
    expect_equal(same(sys.executable, "-c", script, *callers).stdout, "20\n", "held")


def test_one_of_another_library_behind_the_same_names():
    """libomp's own interface tells of it; of one that counts and is taken again it tells
    no end of the wait, so there is none of those."""
    program = build("clang", "omp_locks.c", "-fopenmp")
    expect_one_wait(same(program, "c"))
    for way in ("again", "nest"):
        expect_equal(waits(same(program, way).trace), [], way)


harness.main()
