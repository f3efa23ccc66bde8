# SPDX-License-Identifier: MIT
"""PyTorch's operators, on a double of its library: names, nesting, shapes,
sequence numbers, windows, and libraries that are not what they seem."""

import glob
import json
import os
import subprocess
import sys
import time

import harness
from harness import (LIBRARY, ROOT, Skip, compile_program, expect, expect_equal, same,
                     traced)


def library(version="2.15.0+cpu", *more):
    """The double where PyTorch's library would lie."""
    made = compile_program("lib/torch_double.c", "-fPIC", "-shared", "-I", ROOT, *more,
                           name="libtorch_cpu.so")
    base = os.path.join(harness.folder(), "torch")
    os.makedirs(os.path.join(base, "lib"), exist_ok=True)
    path = os.path.join(base, "lib", "libtorch_cpu.so")
    os.replace(made, path)
    if version:
        with open(os.path.join(base, "version.py"), "w", encoding="utf-8") as file:
            file.write(f"__version__ = '{version}'\n")
    return path


def program():
    return compile_program("operators.c", "-I", ROOT, "-pthread", "-ldl",
                           name="operators")


def recorded(**env):
    return same(program(), library(), env=env)


def one(trace, name, cat="cpu_op"):
    found = trace.slices(name, cat=cat)
    expect_equal(len(found), 1, f"slices named {name}")
    return found[0]


def inside(inner, outer):
    return (inner["tid"] == outer["tid"] and outer["ts"] <= inner["ts"]
            and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 0.001)


def test_operators_nest_as_they_ran():
    trace = recorded().trace
    linear, addmm = one(trace, "aten::linear"), one(trace, "aten::addmm")
    expect(inside(addmm, linear), "not nested", addmm, linear)
    expect(inside(one(trace, "aten::copy_"), addmm), "not nested")
    expect(inside(one(trace, "AddmmBackward0"),
                  one(trace, "autograd::engine: Addmm")), "not nested")
    step = one(trace, "Optimizer.step#SGD.step", cat="user_annotation")
    expect(inside(one(trace, "aten::add_"), step), "not nested")


def test_sequence_numbers_and_arrows():
    trace = recorded().trace
    for name in ("aten::linear", "aten::addmm", "AddmmBackward0"):
        expect_equal(one(trace, name)["args"].get("Sequence number"), 0, name)
    # PyTorch tells none of this one, but torch.profiler gives it its node's.
    node, evaluation = one(trace, "AddmmBackward0"), one(trace, "autograd::engine: Addmm")
    for name in ("Sequence number", "Fwd thread id"):
        expect_equal(evaluation["args"].get(name), node["args"][name], name)
    expect("Sequence number" not in one(trace, "aten::copy_")["args"], "has none")
    expect(one(trace, "AddmmBackward0")["args"]["Fwd thread id"] > 0, "thread")
    ends = [event for event in trace.events if event.get("cat") == "fwdbwd"]
    expect_equal([event["ph"] for event in ends], ["s", "f"], "one arrow")
    expect_equal(ends[0]["ts"], one(trace, "aten::addmm")["ts"],
                 "from the operator that began last")
    expect_equal(ends[1]["ts"], one(trace, "AddmmBackward0")["ts"], "to the node")


def arrows_of(trace):
    return [(event["ph"], event["id"]) for event in trace.events
            if event.get("cat") == "fwdbwd"]


def killed_after(way, first, is_written, second):
    """Its trace, recovered: it was killed behind what it said second, and is_written
    of its file before that."""
    target = os.path.join(harness.folder(), "out")
    env = harness.clean_environment() | {
        "LD_PRELOAD": LIBRARY, "TRACEPROF_DIR": target, "TRACEPROF_ENCODE": "live"}
    with subprocess.Popen([program(), library(), way], env=env, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        harness.ends_with_test(process)
        expect_equal(process.stdout.readline(), f"{first}\n", "output")
        run = harness.Run([], 0, "", "", target)
        while not (run.files and is_written(run.trace)):
            expect(process.poll() is None, "it ended")
            time.sleep(0.05)
            run = harness.Run([], 0, "", "", target)
        process.stdin.write("\n")
        process.stdin.flush()
        expect_equal(process.stdout.readline(), f"{second}\n", "output")
        process.kill()
    expect_equal(harness.command("recover", target).status, 0, "recover")
    run = harness.Run([], 0, "", "", target)
    harness.check_files(run)
    return run.trace


def test_arrows_of_a_killed_program_go_on_counting():
    """The second one is in memory alone when the program is killed."""
    trace = killed_after("twice", "once", arrows_of, "twice")
    expect_equal(arrows_of(trace), [("s", 1), ("f", 1), ("s", 2), ("f", 2)], "arrows")


def test_an_arrow_of_a_killed_program_from_what_was_written_before():
    """The operator is in the file, and its backward in memory alone."""
    trace = killed_after("halves", "forward",
                         lambda seen: seen.slices("aten::linear"), "backward")
    expect_equal(arrows_of(trace), [("s", 1), ("f", 1)], "arrows")
    starts = [event["ts"] for event in trace.events if event.get("cat") == "fwdbwd"]
    expect_equal(starts, [one(trace, "aten::addmm")["ts"],
                          one(trace, "AddmmBackward0")["ts"]], "from and to")


def test_arrows_that_are_left_out_are_said():
    trace = same(program(), library(), "far", env={"TRACEPROF_MAX_OVERHEAD": "0"}).trace
    expect_equal(len(arrows_of(trace)), 2 * 16384, "arrows")
    expect(any("not joined where 16384 others lie between" in note
               for note in trace.meta["notes"]), trace.meta["notes"])


def test_one_that_ends_on_another_thread_and_one_that_never_does():
    trace = recorded().trace
    one(trace, "gloo:all_reduce", cat="user_annotation")
    expect_equal(one(trace, "aten::never")["args"].get("finished"), "false", "finished")


def test_outside_of_windows_the_library_calls_nobody():
    run = same(program(), library(), "steps", "3", env={"TRACEPROF_STEP": "manual"})
    expect_equal(len(run.traces), 3, "windows")
    for trace in run.traces:
        expect_equal(len(trace.slices("aten::*", cat="cpu_op")), 6, "operators")


# The end waits a tenth of it for the thread that looks at the library.
PATIENT = {"NO_OBSERVER": "1", "TRACEPROF_EXIT_MS": "600000"}


def left_out(run, why):
    expect(not run.trace.slices("aten::*"), "operators were recorded")
    expect_equal(len([line for line in run.own_lines if why in line]), 1, run.stderr)
    expect(any(why in note for note in run.trace.meta["notes"]), run.trace.meta["notes"])


def test_unknown_versions_are_left_out_with_a_line():
    for version in ("2.16.0", "1.13.1", "3.0", "two"):
        left_out(same(program(), library(version), env=PATIENT),
                 "its version is unknown here")


def test_a_program_that_ends_before_the_writer_came_by():
    """No thread of ours gets a processor while the program's runs, and to look takes
    its time."""
    alone = ["taskset", "-c", str(min(os.sched_getaffinity(0))),
             "chrt", "--reset-on-fork", "-f", "50"]
    if subprocess.run([*alone, "true"], capture_output=True).returncode:
        raise Skip("no real-time priority here")
    path = library(None)
    version = os.path.join(os.path.dirname(path), "../version.py")
    os.mkfifo(version)
    with subprocess.Popen(["sh", "-c", f"exec > {version}; sleep 0.05; "
                           "echo \"__version__ = '2.16.0'\""]) as late:
        run = traced(*alone, program(), path,
                     env=PATIENT | {"NO_TOTALS": "1"})
        late.kill()
    left_out(run, "its version is unknown here")


def test_a_program_that_ends_before_its_library_was_looked_at():
    """The thread that looks never comes to an end: its file has no writer."""
    path = library(None)
    os.mkfifo(os.path.join(os.path.dirname(path), "../version.py"))
    left_out(same(program(), path, env={"NO_OBSERVER": "1"}),
             "the program ended before they were looked at")


def test_no_version_beside_it():
    left_out(same(program(), library(None), env=PATIENT),
             "no version stands beside it")


def test_a_layout_that_is_not_its_versions():
    left_out(same(program(), library(), env=PATIENT | {"TORCH_DOUBLE": "moved"}),
             "its records don't lie as its version's do")


def test_a_library_without_its_functions():
    path = library()
    double = os.path.join(harness.folder(), "libdouble.so")
    os.replace(path, double)
    made = compile_program("lib/blocks.c", "-fPIC", "-shared", "-I", ROOT,
                           name="libtorch_cpu.so")
    os.replace(made, path)
    run = traced(program(), double, preload=f"{LIBRARY}:{path}", env=PATIENT)
    left_out(run, "it lacks functions that its version has")


def test_a_process_that_has_loaded_it_is_recorded_from_then_on():
    program = compile_program("loads_late.c", "-ldl", name="loads_late")
    path = library()
    expect_equal(same(program, path).trace.top["traceprof_reason"],
                 "PyTorch or JAX is loaded", "reason")
    for run in (traced(program), traced(program, path, env={"TRACEPROF_TORCH": "off"})):
        expect_equal((run.status, run.files), (0, []), "recorded for nothing")


COMPILES = '''\
import collections, ctypes, enum, os, sys, time, types

ctypes.CDLL(sys.argv[1], os.RTLD_GLOBAL)


class Handler:
    start_callbacks = start = []
    end_callbacks = end = []

    def register_start_callback(self, *_):
        raise KeyboardInterrupt     # as an interrupt that comes just then

    register_end_callback = register_start_callback


class Breaks(collections.Counter):
    most_common = Handler.register_start_callback


class Trigger(enum.Enum):
    DYNAMO, LAZY_BACKWARD = 1, 2
    __str__ = Handler.register_start_callback


class Told:
    def __init__(self, trigger):
        self.callback_trigger, self.compile_id = Trigger[trigger], "0/1"


def make(name, **members):
    sys.modules[name] = module = types.ModuleType(name)
    vars(module).update(members)


def _compile(code, call, dynamo_time_before_restart=0.0):
    call()


def before(*_):
    [one(Told("DYNAMO")) for one in Handler.start]


def after(*_):
    [one(Told("DYNAMO")) for one in Handler.end]


breaks = Breaks()
make("torch._dynamo.utils", counters={"graph_break": breaks})
make("torch._dynamo.callback", callback_handler=Handler())
until = time.time() + 20
while not Handler.end and "LD_PRELOAD" in os.environ and time.time() < until:
    time.sleep(0.001)
_compile(make.__code__, before)
time.sleep(0.1)
breaks["a print\\nand more"] += 1
_compile(make.__code__, after, 0.04)
_compile(before.__code__, before)
breaks["a branch"] += 1
_compile(before.__code__, after)
[one(Told("LAZY_BACKWARD")) for one in Handler.start]
[one(Told("LAZY_BACKWARD")) for one in Handler.end]
[one() for one in Handler.start + Handler.end]
print("done")
'''


def test_compilations_and_graph_breaks():
    script = os.path.join(harness.folder(), "compiles.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(COMPILES)
    trace = same(sys.executable, script, library(), env={"TRACEPROF_MALLOC": "all"}).trace
    ranges = [one["name"] for one in trace.slices("torch.compile*", cat="user_annotation")]
    expect_equal(ranges, ["torch.compile: compiles.py(30): make [0/1]",
                          "torch.compile: compiles.py(39): before [0/1]",
                          "torch.compile: backward [0/1]", "torch.compile"], "ranges")
    traced_again, at_once = trace.slices("graph break*", cat="user_annotation")
    whole = trace.slices("torch.compile: compiles.py*")
    expect_equal((traced_again["name"], at_once["name"]),
                 ("graph break: a print", "graph break: a branch"), "each once")
    expect(abs(traced_again["dur"] - 40000) < 1, "what was traced until it began again")
    expect_equal(at_once["dur"], 0, "it didn't begin again")
    expect(0 <= traced_again["ts"] - whole[0]["ts"] < whole[0]["dur"] - 40000 and
           0 <= at_once["ts"] - whole[1]["ts"] <= whole[1]["dur"], "in the compilations")
    said = harness.command("report", trace.path).stdout
    expect("Graph break in 1 compilation, 40.00 ms traced in vain: a print\n" in said and
           "Graph break in 1 compilation: a branch\n" in said, said)
    told = json.loads(harness.command("report", "--json", trace.path).stdout)[0]
    expect_equal([(one["reason"], one["compilations"], round(one["in_vain_ns"], -3))
                  for one in told["graph_breaks"]],
                 [("a print", 1, 40000000), ("a branch", 1, 0)], "the same")


FULL = """\
import ctypes, os, sys, time, types

ctypes.CDLL(sys.argv[1], os.RTLD_GLOBAL)
nothing = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p)
while not ctypes.pythonapi.Py_AtExit(nothing):
    pass
asked = []
handler = types.SimpleNamespace(start_callbacks=[], end_callbacks=[])


def __getattr__(name):
    asked.append(name)
    return handler


module = sys.modules["torch._dynamo.callback"] = types.ModuleType("callback")
module.__getattr__ = __getattr__
until = time.time() + 20
while not asked and "LD_PRELOAD" in os.environ and time.time() < until:
    time.sleep(0.001)
print(handler.start_callbacks, handler.end_callbacks)
"""


def test_compilations_where_the_interpreters_end_is_not_told():
    script = os.path.join(harness.folder(), "full.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(FULL)
    trace = same(sys.executable, script, library(), env={"TRACEPROF_MALLOC": "all"}).trace
    expect([note for note in trace.meta["notes"] if "end can't be followed" in note],
           trace.meta["notes"])


# Where the main thread does as PyTorch's modules do, and notes what was asked.
MODULES = '''\
import atexit, ctypes, os, sys, time, types

here = "LD_PRELOAD" in os.environ
torch = ctypes.CDLL(sys.argv[1], os.RTLD_GLOBAL)


def make(name, **members):
    sys.modules[name] = module = types.ModuleType(name)
    vars(module).update(members)
    return module


def wait_for(condition):
    until = time.time() + 20
    while here and not condition() and time.time() < until:
        time.sleep(0.001)
'''

# As torch/utils/data/dataloader.py has its iterators, and what they hold.
LOADER = '''\
class Fetcher:
    auto_collation = True

    def __init__(self, dataset, collate):
        self.dataset, self.collate_fn = dataset, collate

    def fetch(self, at):
        both = [at, at + 1]
        if hasattr(self.dataset, "__getitems__"):
            return self.collate_fn(self.dataset.__getitems__(both))
        return self.collate_fn([self.dataset[at] for at in both])


class Alone:
    def __init__(self, *parts):
        self._dataset_fetcher = Fetcher(*parts)
        self._at = 0

    def __next__(self):
        with self.scope(b"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
            return self._next_data()

    def _next_data(self):
        self._at += 1
        return self._dataset_fetcher.fetch(self._at)


class Workers(Alone):
    def __init__(self, queue, in_order=True):
        self._data_queue, self._in_order = queue, in_order
        self._send_idx, self._rcvd_idx, self._tasks_outstanding = 9, 4, 4

    def _next_data(self):
        return self._data_queue.get()
'''

# As torch/utils/data/dataset.py.
DATASET = '''\
class Subset:
    def __init__(self, dataset):
        self.dataset = dataset

    def __getitem__(self, at):
        return self.dataset[at]

    def __getitems__(self, ats):
        if hasattr(self.dataset, "__getitems__"):
            return self.dataset.__getitems__(ats)
        return [self.dataset[at] for at in ats]
'''

LOADS = MODULES + '''
import contextlib, functools, multiprocessing, queue
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from torch.utils.data import dataloader


class Operator(ctypes.Structure):
    _fields_ = [("sequence", ctypes.c_int64), ("forward", ctypes.c_uint64),
                ("inputs", ctypes.c_uint64), ("scope", ctypes.c_uint8),
                ("is_async", ctypes.c_bool)]


torch.torch_double_begin.restype = ctypes.c_void_p


@contextlib.contextmanager
def scope(self, name):
    record = torch.torch_double_begin(name, ctypes.byref(Operator(-1, 0, 3, 7)))
    try:
        yield
    finally:
        torch.torch_double_end(ctypes.c_void_p(record))


class Rows:
    def __getitem__(self, at):
        if at == 4:
            raise IndexError(at)
        return at


class Add:
    def __call__(self, rows, by):
        return sum(rows) + by

    def __getattr__(self, name):
        print("asked for", name)
        raise KeyboardInterrupt


dataloader.Alone.scope = scope
wait_for(torch.torch_double_is_observed)
alone = dataloader.Alone(Rows(), functools.partial(Add(), by=1))
print(next(alone), next(alone))
try:
    next(alone)
except IndexError as error:
    print("raised", error)
between = multiprocessing.get_context("fork").Queue()   # no process of its own
pinned = queue.Queue()
for one in (between, pinned):
    [one.put(number) for number in range(3)]
    loader = dataloader.Workers(one)
    print(next(loader), next(loader))
'''


def loads(more="", **env):
    base = harness.folder()
    os.makedirs(os.path.join(base, "torch", "utils", "data"))
    for path, text in (("loads.py", LOADS + more), ("torch/utils/data/dataloader.py", LOADER),
                       ("torch/utils/data/dataset.py", DATASET)):
        with open(os.path.join(base, path), "w", encoding="utf-8") as file:
            file.write(text)
    run = same(sys.executable, os.path.join(base, "loads.py"), library(),
               env={"TRACEPROF_MALLOC": "all", "PYTHONDONTWRITEBYTECODE": "1"} | env)
    return run.trace


def test_what_makes_a_batch_without_workers():
    trace = loads()
    batches = trace.slices("enumerate(DataLoader)*")
    expect_equal(len(batches), 7, "batches")
    collates = trace.slices("DataLoader collate: loads.py(*): __call__")
    fetches = trace.slices("DataLoader fetch: loads.py(*): __getitem__")
    expect_equal((len(collates), len(fetches)), (2, 2), "a slice for each batch")
    for collate, fetch, batch in zip(collates, fetches, batches):
        expect(inside(collate, batch) and inside(fetch, batch)
               and fetch["ts"] + fetch["dur"] <= collate["ts"] + 0.001,
               collate, fetch, batch)


def test_what_an_interpreter_that_is_not_known_does_is_said_to_be_missing():
    for version, why in (("3.13.0 experimental free-threading build", "it runs without the GIL"),
                         ("3.99.0 (main)", "its version is unknown here")):
        python = compile_program("strange_python.c", "-rdynamic", f'-DVERSION="{version}"')
        run = traced(python, env={"TRACEPROF_MALLOC": "all"}, preload=f"{LIBRARY}:{library()}")
        expect_equal((run.status, run.stdout), (0, "done\n"), run.stderr)
        said = [note for note in run.trace.meta["notes"] if "data loading" in note]
        expect_equal(len(said), 1, said)
        expect(said[0].endswith("data loading and compilations are left out: " + why)
               if "GIL" in why else
               said[0] == "data loading and compilations in Python are left out: " + why, said)


def test_without_the_gil_there_is_one_note():
    """However many find that they can't ask such an interpreter."""
    python = compile_program("strange_python.c", "-rdynamic",
                             '-DVERSION="3.13.0 experimental free-threading build"')
    run = traced(python, env={"TRACEPROF_MALLOC": "all", "TRACEPROF_PYTHON": "1",
                              "TRACEPROF_SAMPLE": "199"},
                 preload=f"{LIBRARY}:{library()}")
    expect_equal((run.status, run.stdout), (0, "done\n"), run.stderr)
    expect_equal(len([note for note in run.trace.meta["notes"] if "GIL" in note]), 1,
                 run.trace.meta["notes"])
    expect_equal(len([line for line in run.own_lines if "GIL" in line]), 1, run.stderr)


def test_what_waits_in_the_queue_of_workers():
    trace = loads()
    for name, wanted in (("ready", [4, 3, 4, 3]), ("in work", [1, 2, 1, 2])):
        expect_equal([event["args"]["value"] for event in
                      trace.counters("DataLoader: batches " + name)], wanted, name)


def test_batches_that_may_come_out_of_turn_are_handed_out_at_once():
    """So none that came wait beside the queue, whatever the numbers say."""
    trace = loads("""
one = queue.Queue()
[one.put(number) for number in range(3)]
loader = dataloader.Workers(one, in_order=False)
print(next(loader), next(loader))
""")
    for name, wanted in (("ready", [3, 2]), ("in work", [1, 2])):
        expect_equal([event["args"]["value"] for event in
                      trace.counters("DataLoader: batches " + name)][-2:], wanted, name)


def test_the_programs_own_data_set_is_named_behind_a_subset():
    """Which random_split() makes; and what reads a whole batch."""
    trace = loads("""
from torch.utils.data.dataset import Subset


class Whole:
    def __getitems__(self, ats):
        return ats

    def __getitem__(self, at):
        return at


for each in (Subset(Subset(Rows())), Subset(Whole()), Whole()):
    print(next(dataloader.Alone(each, sum)))
dataloader.Fetcher.auto_collation = False
dataloader.Fetcher.fetch = lambda self, at: self.collate_fn([self.dataset[at]])
print(next(dataloader.Alone(Whole(), sum)))
""")
    names = [event["name"].split(": ")[-1] for event in
             trace.slices("DataLoader fetch: loads.py(*): *")][-4:]
    expect_equal(names, ["__getitem__", "__getitems__", "__getitems__", "__getitem__"], "names")


# As if it came by chance: what the library alone asks for sends it.
INTERRUPTED = """
import signal


class Asked(type):
    def __getattribute__(cls, name):
        if name == "__getitem__":
            os.kill(os.getpid(), signal.SIGINT)
        return super().__getattribute__(name)


class Late(Rows, metaclass=Asked):
    pass


try:
    next(dataloader.Alone(Late(), sum))
    if not here:
        os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_during_the_look_is_the_programs():
    loads(INTERRUPTED)


# Each such call asks for itself again.
REFUSED = """
add = ctypes.pythonapi.Py_AddPendingCall
is_full = True


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
def again(_):
    if is_full:
        add(again, None)
    return 0


while not add(again, None):
    pass
print(next(dataloader.Alone(Rows(), sum)))
is_full = False
"""


def test_a_batch_that_the_interpreter_refuses_a_look_at_is_counted():
    events = loads(REFUSED).meta["events"]
    expect_equal(events.get("unfollowed_calls"), 1, events)


def test_calls_of_python_stand_for_the_parts_of_a_batch():
    trace = loads(TRACEPROF_PYTHON="1")
    expect(not trace.slices("DataLoader collate*"), "both")
    expect(trace.slices("loads.py(*): __call__", cat="python_function"), "none")


def test_an_end_that_takes_longer_than_the_interpreters():
    script = os.path.join(harness.folder(), "ends.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(MODULES + "ctypes.CDLL(sys.argv[2])\n"
                   "wait_for(torch.torch_double_is_observed)\nprint('done')\n")
    slow = compile_program("lib/slow_end.c", "-shared", "-fPIC", name="libslow_end.so")
    same(sys.executable, script, library(), slow, env={"TRACEPROF_MALLOC": "all"})


def test_who_ends_while_it_is_observed():
    """What holds callbacks goes in the program's handlers: who adds some is waited for
    there, and switches nothing afterwards."""
    script = os.path.join(harness.folder(), "brief.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(MODULES + "wait_for(torch.torch_double_is_half_observed)\n"
                   "print('done')\n")
    run = same(sys.executable, script, library(),
               env={"TRACEPROF_MALLOC": "all", "TORCH_DOUBLE": "slow"})
    expect("left out: the program ended before" in str(run.trace.meta["notes"]),
           run.trace.meta["notes"])


def test_switched_off():
    run = recorded(TRACEPROF_TORCH="off", NO_OBSERVER="1")
    expect(not run.trace.slices("aten::*"), "operators were recorded")


if __name__ == "__main__":
    harness.main()
