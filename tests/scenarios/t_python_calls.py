# SPDX-License-Identifier: MIT
"""TRACEPROF_PYTHON: calls of Python, in every CPython of this machine that is
known."""

import collections
import functools
import glob
import json
import os
import subprocess
import sys

import harness
from harness import command, compile_program, expect, expect_equal, plain, traced

KNOWN = ["3.%d" % minor for minor in range(6, 16)]
ENV = {"TRACEPROF_PYTHON": "1",
       "PYTHONPATH": os.path.join(harness.ROOT, "tools", "python"),
       "PYTHONDONTWRITEBYTECODE": "1"}

CALLS = '''\
import gc, threading


def leaf(number):
    return len(str(number)[1:])


def generate(count):
    for number in range(count):
        yield leaf(number)


def fail():
    raise ValueError("wanted")


class Guard:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True


def deep(number):
    return deep(number - 1) if number else 0


def other():
    for number in range(3):
        leaf(number)


def main():
    for _ in range(5):
        list(generate(3))
        with Guard():
            fail()
    deep(30)
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    gc.collect()
    import fractions
    print(fractions.Fraction(1, 3))


main()
'''


@functools.lru_cache(maxsize=None)
def every():
    """[(version, path)]"""
    found = []
    for path in [sys.executable, "/usr/bin/python3", *sorted(glob.glob(
            os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))]:
        if not os.path.exists(path):
            continue
        done = subprocess.run([path, "-c", "import sys; print('%d.%d' % "
                               "sys.version_info[:2])"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, encoding="utf-8")
        if done.stdout.strip() in KNOWN:
            found.append((done.stdout.strip(), os.path.realpath(path)))
    return found


def pythons():
    """{version: path}, this machine's first."""
    versions = dict.fromkeys(version for version, _ in every())
    return versions | dict(reversed(every()))


def some():
    """The oldest that the module runs on, this machine's, and the newest."""
    found = {version: path for version, path in pythons().items()
             if int(version[2:]) > 7}
    oldest = min(found, key=lambda version: int(version[2:]))
    newest = max(found, key=lambda version: int(version[2:]))
    return {version: found[version] for version in (oldest, next(iter(found)), newest)}


# A script of a few milliseconds may be over before it is told of at all.
READY = '''\
import sys, time


def is_told():
    if sys.version_info < (3, 12):
        return sys.getprofile() is not None
    return "traceprof" in [sys.monitoring.get_tool(tool) for tool in range(6)]


until = time.time() + 20
while not is_told() and time.time() < until:
    time.sleep(0.001)
'''


def write(text):
    script = os.path.join(harness.folder(), "script.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(text)
    return script


def record(path, text, status=0, **env):
    ready = "" if "TRACEPROF_STEP" in env else READY
    run = traced(path, write(ready + text), env=ENV | env)
    # First of all: who ends early has made no calls.
    expect_equal(run.status, status, f"{path}\n{run.stderr}")
    return run


def calls(trace):
    return trace.slices(cat="python_function")


def counts(trace):
    """Calls of the script's own functions, by name."""
    return collections.Counter(one["name"].partition(": ")[2] for one in calls(trace)
                               if one["name"].startswith("script.py("))


def check_parents(trace, said):
    known = {one["args"]["Python id"]: one for one in calls(trace)}
    expect_equal(len(known), len(calls(trace)), f"{said}: numbers are unique")
    for one in calls(trace):
        parent = known.get(one["args"]["Python parent id"])
        if parent is None:
            expect_equal(one["args"]["Python parent id"], None, said)
            continue
        # A parent in which a scope ended is drawn from there on.
        end = one["ts"] + one["dur"]
        expect(parent["tid"] == one["tid"]
               and end <= parent["ts"] + parent["dur"] + 0.001
               and (parent["ts"] <= one["ts"] or end <= parent["ts"]),
               said, one, parent)


def test_a_program_calls_what_is_told_of_collections():
    text = ("import gc, os, time\n"
            "while not gc.callbacks and 'LD_PRELOAD' in os.environ: time.sleep(0.001)\n"
            "for told in gc.callbacks:\n"
            "    told(), told('start'), told(1, 2), told('stop', {})\n"
            "print('done')\n")
    for version, path in some().items():
        run = record(path, text)
        expect_equal((run.status, run.stdout), (0, "done\n"), (version, run.stderr))


def test_calls_by_name_and_parent():
    for version, path in pythons().items():
        run = record(path, CALLS)
        expect_equal(run.stdout, "1/3\n", run.stderr)
        seen = counts(run.trace)
        wanted = {"main": 1, "leaf": 18, "generate": 20, "fail": 5, "__enter__": 5,
                  "__exit__": 5, "deep": 31, "other": 1}
        expect_equal({name: seen[name] for name in wanted}, wanted, version)
        names = collections.Counter(one["name"] for one in calls(run.trace))
        expect_equal((names["import fractions"], names["script.py(16): leaf"]),
                     (1, 18), version)
        expect(names["garbage collection (generation 2)"] >= 1, version)
        expect(names["<built-in function len>"] >= 18, version)
        check_parents(run.trace, version)


def test_waits_for_the_gil():
    text = ("import threading, time\n"
            "def work():\n"
            "    end = time.time() + 0.3\n"
            "    while time.time() < end: sum(range(1000))\n"
            "both = [threading.Thread(target=work) for _ in range(2)]\n"
            "[one.start() for one in both]\n"
            "[one.join() for one in both]\n")
    for version, path in some().items():
        trace = record(path, text).trace
        expect(trace.slices("wait: GIL"), f"{version}: no waits for the GIL")


def test_samples_alone_name_waits_for_the_gil():
    """And the verdict says who had it: most of the run is in the two threads, also
    where the interpreter's start takes long."""
    text = ("import threading\n"
            "def work():\n"
            "    for _ in range(250): sum([i % 7 for i in range(20000)])\n"
            "both = [threading.Thread(target=work) for _ in range(2)]\n"
            "[one.start() for one in both]\n"
            "[one.join() for one in both]\n")
    for version, path in some().items():
        run = traced(path, write(text), env={"TRACEPROF_SAMPLE": "499"})
        waits = run.trace.slices("wait: GIL")
        expect(len({one["tid"] for one in waits}) >= 2, f"{version}: {len(waits)} waits")
        if os.sched_getaffinity(0) == {min(os.sched_getaffinity(0))}:
            continue        # with one processor nobody is to blame
        said = json.loads(command("report", "--json", run.files[0]).stdout)[0]["findings"]
        found = [one["figure"] for one in said if one["rule"] == "gil"]
        # Its frames are known from 3.10 on.
        line = "script.py(3): " if int(version[2:]) >= 10 else ""
        expect(found and line in found[0], version, str(said))


def test_only_in_windows():
    text = ("import traceprof\n"
            "def inside(): pass\n"
            "def outside(): pass\n"
            "def loop():\n"
            "    for _ in range(3):\n"
            "        outside()\n"
            "        with traceprof.profile_trace(None, 'one'):\n"
            "            for _ in range(4): inside()\n"
            "        outside()\n"
            "loop()\n")
    for version, path in some().items():
        run = record(path, text, TRACEPROF_STEP="manual")
        expect_equal(len(run.files), 3, run.stderr)
        for trace in run.traces:
            seen = counts(trace)
            expect_equal((seen["inside"], seen["outside"]), (4, 0), version)
            outer = [one for one in calls(trace) if one["name"].endswith("): loop")]
            expect_equal([one["args"].get("finished") for one in outer], ["false"],
                         f"{version}: what was open at the end")
            check_parents(trace, version)


def last_end(events):
    return max(one["ts"] + one["dur"] for one in events)


def test_scopes_cross_no_calls():
    text = ("import traceprof\n"
            "def work():\n"
            "    with traceprof.scope('outer'):\n"
            "        with traceprof.scope('inner'): len('')\n"
            "for number in range(5):\n"
            "    traceprof.step()\n"
            "    work()\n")
    for version, path in some().items():
        trace = record(path, text).trace
        expect_equal(len(trace.slices("outer")), 5, version)
        lanes = {one["tid"] for one in trace.slices("inner") + calls(trace)}
        expect_equal(len(lanes), 1, f"{version}: on the thread's own lane")
        steps = trace.slices("ProfilerStep#*")
        expect_equal(len({one["tid"] for one in steps}), 1, f"{version}: lanes of steps")
        # Ends are moved by some ns, so that none cross.
        expect(last_end(steps) + 0.05 >= last_end(
            one for one in calls(trace) if one["name"].endswith(": work")),
               f"{version}: the last call goes beyond its step")


def test_a_scope_of_many_calls_begins_behind_the_one_that_opens_it():
    """However many lie in it: each trace is checked for slices that cross."""
    text = ("import traceprof\n"
            "def work(): pass\n"
            "with traceprof.scope('outer'):\n"
            "    for _ in range(200): work()\n")
    for version, path in some().items():
        trace = record(path, text).trace
        expect_equal(len(trace.slices("outer")), 1, version)
        expect_equal(counts(trace)["work"], 200, version)


COUNTS = '''\
import sys
seen = []


def work():
    return len("a")


def tell(frame, event, arg):
    if arg is not sys.setprofile:       # its own return, of a call before
        seen.append(event)


%s
for _ in range(10):
    work()
sys.setprofile(None)
print(len(seen))
'''


def test_the_programs_own_profile_function_gets_all():
    for version, path in some().items():
        text = COUNTS % "sys.setprofile(tell)"
        wanted = plain(path, write("import sys\n" + text))
        run = record(path, text)
        expect_equal(run.stdout, wanted.stdout, version)
        seen = counts(run.trace)
        expect_equal(seen["work"], 0 if int(version[2:]) < 12 else 10, version)
        expect_equal(sum("a profile function of its own" in line
                         for line in run.own_lines), int(version[2:]) < 12, run.stderr)
        check_parents(run.trace, version)


def test_one_that_was_there_first_is_left_alone():
    for version, path in some().items():
        if int(version[2:]) > 11:
            continue
        text = COUNTS % ("import traceprof; sys.setprofile(tell); "
                         "traceprof.capture_async('one')")
        run = record(path, text, TRACEPROF_STEP="manual")
        expect_equal(counts(run.trace)["work"], 0, version)
        expect(any("a profile function of the program's" in line
                   for line in run.own_lines), version, run.stderr)


def test_what_getprofile_gave_can_be_set_again():
    text = ("import sys\n"
            "def work(): pass\n"
            "was = sys.getprofile()\n"
            "sys.setprofile(None)\n"
            "work()\n"
            "sys.setprofile(was)\n"
            "for _ in range(5): work()\n"
            "print('done')\n")
    for version, path in some().items():
        run = record(path, text)
        expect_equal(run.stdout, "done\n", run.stderr)
        expect(counts(run.trace)["work"] >= 4, version, counts(run.trace))


def test_forks_and_sudden_ends():
    text = ("import os, sys\n"
            "def work(): len('')\n"
            "def end(): %s\n"
            "if os.fork() == 0:\n"
            "    for _ in range(5): work()\n"
            "    os._exit(0)\n"
            "os.wait()\n"
            "for _ in range(7): work()\n"
            "print('done', flush=True)\n"
            "end()\n")
    for version, path in some().items():
        for end in ("os._exit(3)", "sys.exit(3)"):
            run = record(path, text % end, status=3)
            expect_equal(run.stdout, "done\n", run.stderr)
            expect_equal(counts(run.trace)["work"], 7, version)


def test_windows_that_open_in_the_midst_of_imports():
    """Python's own locks of imports can't be taken again by their thread."""
    text = ("import _frozen_importlib, sys, threading, time, traceprof\n"
            "def steps():\n"
            "    for _ in range(200):\n"
            "        traceprof.step()\n"
            "        time.sleep(0.004)\n"
            "lock = _frozen_importlib._ModuleLock('some')\n"
            "thread = threading.Thread(target=steps)\n"
            "thread.start()\n"
            "while thread.is_alive():\n"
            "    sys.modules.pop('gc', None)\n"
            "    lock.acquire()\n"
            "    lock.release()\n"
            "print('done')\n")
    for path in some().values():
        # A hundred windows may keep the writer for long after the end.
        run = record(path, text, TRACEPROF_STEP="api", TRACEPROF_WAIT="1",
                     TRACEPROF_ACTIVE="1", TRACEPROF_REPEAT="0",
                     TRACEPROF_EXIT_MS="60000")
        expect_equal(run.stdout, "done\n", run.stderr)


def test_a_kill_leaves_the_calls_that_were_open():
    path = next(iter(pythons().values()))
    script = write(READY + "import os\n"
                   "def last(): os.kill(os.getpid(), 9)\n"
                   "def first(): last()\n"
                   "first()\n")
    target = os.path.join(harness.folder(), "out")
    done = subprocess.run([path, script], env=harness.clean_environment() | ENV | {
        "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target}, check=False)
    expect_equal(done.returncode, -9, "status")
    expect_equal(command("recover", target).status, 0, "recover")
    trace = harness.Run([path], 0, "", "", target).trace
    open_calls = {one["name"].partition(": ")[2] for one in calls(trace)
                  if one["args"].get("finished") == "false"}
    expect({"first", "last", "<module>"} <= open_calls, open_calls)


def test_deeper_than_there_is_room_for():
    text = ("import sys\n"
            "sys.setrecursionlimit(5000)\n"
            "def deep(number): return deep(number - 1) if number else 0\n"
            "deep(2000)\n"
            "def after(): pass\n"
            "after()\n")
    for version, path in some().items():
        run = record(path, text)
        seen = counts(run.trace)
        expect(1000 < seen["deep"] < 1024 and seen["after"] == 1, version, seen)
        expect(any("could not be followed" in line for line in run.own_lines),
               version, run.stderr)


def test_sub_interpreters_live_on():
    text = ("import sys\n"
            "try: import _xxsubinterpreters as sub\n"
            "except ImportError: import _interpreters as sub\n"
            "one = sub.create()\n"
            "for _ in range(3):\n"
            "    sub.run_string(one, 'def work(): len(str())\\n"
            "for _ in range(100): work()')\n"
            "sub.destroy(one)\n"
            "print('done')\n")
    for version, path in some().items():
        run = record(path, text)
        expect_equal(run.stdout, "done\n", run.stderr)


def test_sub_interpreters_are_left_out_and_said_to_be():
    """While one lives, threads that the first one begins are told of."""
    said = os.path.join(harness.folder(), "said")
    text = ("import sys, threading, time\n"
            f"said = open({said!r})\n"
            "try: import _xxsubinterpreters as sub\n"
            "except ImportError: import _interpreters as sub\n"
            "def own(): return len('a')\n"
            "def begin(*_):\n"
            "    for _ in range(5): own()\n"
            "one = sub.create()\n"
            "thread = threading.Thread(target=begin)\n"
            "thread.start()\n"
            "thread.join()\n"
            "end = time.monotonic() + 60\n"
            "while 'others' not in said.read() and time.monotonic() < end:\n"
            "    sub.run_string(one, 'def work(): return 1\\n"
            "for _ in range(9): work()')\n"
            "    time.sleep(0.01)\n"
            "sub.destroy(one)\n"
            "print('done')\n")
    for version, path in some().items():
        run = traced("sh", "-c", 'exec "$0" "$1" 2>"$2"', path, write(READY + text), said,
                     env=ENV)
        seen = counts(run.trace)
        expect_equal((run.stdout, seen["own"], seen["work"]), ("done\n", 5, 0), version)
        with open(said, encoding="utf-8") as file:
            expect_equal(file.read().count("first interpreter: others"), 1, version)


# Since calls are told some milliseconds after an interpreter has begun.
EMBEDDED = """
def work():
    return len("a")


for _ in range(5):
    work()
"""


def embedded(preloaded, times):
    """One interpreter after the other in a program of C."""
    found = sorted(glob.glob(os.path.expanduser(
        "~/.pyenv/versions/3.*/lib/libpython3.*.so.1.0"))
        + glob.glob("/usr/lib/*/libpython3.*.so.1.0"))
    if not found:
        raise harness.Skip("no libpython3.*.so.1.0")
    for path in found:
        home = os.path.dirname(os.path.dirname(path)) if "pyenv" in path else "/usr"
        run = traced("embeds_python", path, times,
                     (READY if preloaded else "") + EMBEDDED,
                     env=ENV | {"PYTHONHOME": home, "TRACEPROF_MALLOC": "all"},
                     preload=harness.LIBRARY + (":" + path if preloaded else ""))
        expect_equal((run.status, run.stdout), (0, "ran: 0\nended: 0\n" * times),
                     run.stderr)
        yield path, run


def test_interpreters_that_a_program_embeds():
    for path, run in embedded(True, 3):
        found = [one for one in calls(run.trace) if one["name"].endswith("): work")]
        expect_equal(len(found), 15, path)


def test_an_interpreter_that_comes_later_is_left_out_with_a_line():
    for path, run in embedded(False, 1):
        expect(not calls(run.trace), path)
        expect_equal(len([line for line in run.own_lines
                          if "loaded while the program ran" in line]), 1, run.stderr)


def test_unknown_interpreters_are_left_out_with_a_line():
    for version, why in (("3.99.0 (main)", "its version is unknown here"),
                         ("3.13.0 experimental free-threading build",
                          "it runs without the GIL"),
                         ("3.11.2 (main)", "it lacks functions that its version has")):
        program = compile_program("strange_python.c", "-rdynamic",
                                  f'-DVERSION="{version}"', name="strange")
        run = traced(program, env=ENV)
        expect_equal((run.status, run.stdout), (0, "done\n"), run.stderr)
        expect_equal(len([line for line in run.own_lines if why in line]), 1,
                     run.stderr)
        expect(any(why in note for note in run.trace.meta["notes"]),
               run.trace.meta["notes"])


def test_a_recording_that_another_library_s_constructor_begins():
    """It comes before ours, and knows of no interpreter yet; all calls are there from the
    first module on that this one reads, as busy as the machine may be."""
    early = compile_program("lib/early_block.c", "-fPIC", "-shared", name="libearly.so")
    for version, path in pythons().items():
        run = traced(path, write(CALLS), env=ENV | {"TRACEPROF_MALLOC": "all"},
                     preload=f"{harness.LIBRARY}:{early}")
        expect_equal(run.status, 0, run.stderr)
        expect(run.trace.slices("import site"), version)


def test_not_by_itself():
    path = next(iter(pythons().values()))
    trace = traced(path, write(CALLS), env=ENV | {
        "TRACEPROF_PYTHON": "0", "TRACEPROF_MALLOC": "all"}).trace
    expect(not calls(trace), "recorded without being asked")


def test_what_an_audit_hook_refuses_is_said():
    text = ("import os, sys, time, traceprof\n"
            "told = []\n"
            "def refuse(event, args):\n"
            "    if event in ('sys.setprofile', 'sys.monitoring.register_callback'):\n"
            "        told.append(event)\n"
            "        raise RuntimeError('refused')\n"
            "def work(): pass\n"
            "sys.addaudithook(refuse)\n"
            "until = time.time() + 20\n"
            "with traceprof.profile_trace(None, 'one'):\n"
            "    while not told and time.time() < until: time.sleep(0.001)\n"
            "    work()\n"
            "print('done')\n")
    for version, path in some().items():
        run = record(path, text, TRACEPROF_STEP="manual")
        expect_equal(run.stdout, "done\n", run.stderr)
        expect_equal(counts(run.trace)["work"], 0, version)
        expect_equal(len([line for line in run.own_lines if "audit hook" in line]), 1,
                     (version, run.stderr))
        expect("Exception ignored" not in run.stderr, version, run.stderr)


# Calls that cost far more than 1 % of the time, under any load.
MANY = """\
def before(): pass
def after(): pass
def fib(number): return number if number < 2 else fib(number - 1) + fib(number - 2)
"""


def ends(run):
    """What tells where calls end: lines on the screen, notes, marks, and since when."""
    return (len([line for line in run.own_lines if "calls of Python end " in line]),
            len([note for note in run.trace.meta["notes"]
                 if "calls of Python end " in note]),
            len([one for one in run.trace.events
                 if one["name"].startswith("calls of Python end here")]),
            run.trace.meta["python"]["ended"])


def test_calls_that_cost_too_much_end_and_it_is_said():
    for version, path in pythons().items():
        run = record(path, MANY + "before()\nfib(26)\nafter()\n",
                     TRACEPROF_MAX_OVERHEAD="1")
        *said, ended = ends(run)
        expect_equal(said, [1, 1, 1], (version, run.stderr))
        # It is not the program that put ours out.
        expect(not [line for line in run.own_lines + run.trace.meta["notes"]
                    if "the program sets a profile" in line], version, run.stderr)
        seen = counts(run.trace)
        expect_equal((seen["before"], seen["after"]), (1, 0), version)
        # fib(26) calls itself 392,834 times.
        expect(1000 < seen["fib"] < 390000, version, seen)
        check_parents(run.trace, version)
        last = max(one["ts"] + one["dur"] for one in calls(run.trace))
        # 10 ms of calls at least: they may run ahead by a second's worth.
        expect(last <= ended and ended > run.trace.slices()[0]["ts"], version)
    report = command("report", run.trace.path)
    expect("Calls of Python end " in report.stdout, version, report.stdout)
    told = json.loads(command("report", "--json", run.trace.path).stdout)[0]
    expect(told["python_ended_ns"] > 0, version)


def test_calls_within_the_bound_are_all_there():
    text = MANY + ("import time\n"
                   "for _ in range(20):\n"
                   "    before()\n"
                   "    fib(10)\n")
    for version, path in some().items():
        # A second's worth is 50 ms: 3560 calls never take that.
        for share in ("5", "0"):
            run = record(path, text, TRACEPROF_MAX_OVERHEAD=share)
            expect_equal(ends(run), (0, 0, 0, None), (version, run.stderr))
            seen = counts(run.trace)
            expect_equal((seen["before"], seen["fib"]), (20, 3540), version)


def test_what_imports_call_leaves_the_program_its_part():
    """`import torch` alone calls more than a second's worth."""
    text = MANY + ("import os\n"
                   "with open(os.path.join(os.path.dirname(__file__), 'large.py'), 'w') as"
                   " file:\n"
                   "    file.write(open(__file__).read().partition('import os')[0]"
                   " + 'fib(26)')\n"
                   "import large\n"
                   "after()\n")
    for version, path in some().items():
        run = record(path, text, TRACEPROF_MAX_OVERHEAD="1")
        expect_equal(ends(run), (0, 0, 0, None), (version, run.stderr))
        expect_equal(counts(run.trace)["after"], 1, version)


def test_another_window_tries_again():
    text = MANY + ("import traceprof, time\n"
                   "def is_told():\n"
                   "    if sys.version_info < (3, 12):\n"
                   "        return sys.getprofile() is not None\n"
                   "    return 'traceprof' in [sys.monitoring.get_tool(tool)"
                   " for tool in range(6)]\n"
                   "for work in (lambda: fib(26), before):\n"
                   "    with traceprof.profile_trace(None, 'one'):\n"
                   "        until = time.time() + 20\n"
                   "        while not is_told() and time.time() < until: pass\n"
                   "        before()\n"
                   "        work()\n"
                   "        after()\n")
    for version, path in some().items():
        run = traced(path, write("import sys\n" + text), env=ENV | {
            "TRACEPROF_MAX_OVERHEAD": "1", "TRACEPROF_STEP": "manual"})
        first, second = run.traces
        expect_equal([counts(one)[name] for one in (first, second)
                      for name in ("before", "after")], [1, 0, 2, 1], version)
        expect(first.meta["python"]["ended"] is not None, version)
        expect_equal(second.meta["python"]["ended"], None, version)


def test_calls_that_other_threads_are_in_when_they_end():
    """From 3.12 on nobody tells when they are over; before, each thread is told
    once more."""
    text = MANY + ("import threading, traceprof\n"
                   "begun, done = threading.Event(), threading.Event()\n"
                   "def held():\n"
                   "    begun.set()\n"
                   "    done.wait()\n"
                   "def later(): fib(3)\n"
                   "def work():\n"
                   "    held()\n"
                   "    later()\n"
                   "other = threading.Thread(target=work)\n"
                   "other.start()\n"
                   "begun.wait()\n"
                   "fib(26)\n"
                   "done.set()\n"
                   "other.join()\n"
                   "traceprof.mark('joined')\n"
                   "after()\n"
                   "print('done')\n")
    for version, path in pythons().items():
        run = record(path, text, TRACEPROF_MAX_OVERHEAD="1")
        expect_equal(run.stdout, "done\n", (version, run.stderr))
        seen = counts(run.trace)
        is_forgotten = int(version[2:]) >= 12
        expect_equal((seen["held"], seen["later"], seen["after"]),
                     (not is_forgotten, 0, 0), version)
        expect_equal(any("that other threads were in" in note
                         for note in run.trace.meta["notes"]), is_forgotten, version)
        joined = next(one["ts"] for one in run.trace.events if one["name"] == "joined")
        expect(all(one["ts"] + one["dur"] <= joined for one in calls(run.trace)
                   if one["name"].endswith((": held", ": work"))), version)


def test_what_was_recorded_up_to_the_end_is_not_denied():
    """The interpreter ends before the window does."""
    for version, path in some().items():
        run = record(path, CALLS)
        expect(not [line for line in run.own_lines + run.trace.meta["notes"]
                    if "no calls of Python" in line], version, run.stderr)


if __name__ == "__main__":
    harness.main()
