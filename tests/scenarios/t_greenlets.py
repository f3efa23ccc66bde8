# SPDX-License-Identifier: MIT
"""TRACEPROF_PYTHON where greenlets take turns on a thread, in every CPython of
this machine that has them."""

import subprocess

import harness
from harness import expect_equal
from t_python_calls import READY, calls, check_parents, counts, every, record

GREENLETS = '''\
from greenlet import getcurrent, greenlet


def leaf(name):
    main.switch(name)
    return len(name)


def left():
    for _ in range(3):
        leaf("left")


def right():
    for _ in range(3):
        leaf("right")


def turn(one):
    return one.switch()


def main_loop():
    for _ in range(4):
        print(turn(both[0]), turn(both[1]))


main = getcurrent()
both = greenlet(left), greenlet(right)
main_loop()
'''


def with_greenlets():
    found = [(version, path) for version, path in every()
             if not subprocess.run([path, "-c", "import greenlet"], check=False,
                                   stderr=subprocess.DEVNULL).returncode]
    if not found:
        raise harness.Skip("no CPython here has greenlet")
    return found


def test_greenlets_call_what_they_call():
    """Each function is drawn whenever its greenlet goes on, among its own callers."""
    for version, path in with_greenlets():
        for text in (GREENLETS, "import greenlet\n" + READY + GREENLETS):
            run = record(path, text)
            expect_equal(run.stdout, "left right\n" * 3 + "None None\n", run.stderr)
            check_parents(run.trace, version)
            known = {one["args"]["Python id"]: one["name"].partition(": ")[2]
                     for one in calls(run.trace)}
            callers = {(known[one["args"]["Python id"]],
                        known.get(one["args"]["Python parent id"]))
                       for one in calls(run.trace) if one["name"].startswith("script.py(")}
            expect_equal(callers - {("is_told", "<module>"), ("<module>", None)},
                         {("main_loop", "<module>"), ("turn", "main_loop"),
                          ("left", None), ("right", None),
                          ("leaf", "left"), ("leaf", "right")}, version)
            seen = counts(run.trace)
            expect_equal((seen["left"], seen["leaf"], seen["turn"]), (4, 12, 16), version)


if __name__ == "__main__":
    harness.main()
