# SPDX-License-Identifier: MIT
"""Runs small programs under the library and looks at the traces they leave.

A scenario file t_NAME.py holds functions test_*() and ends with
`harness.main()`.  A test fails by an exception; expect() and its kin raise one
that says what was seen.  Every trace that a test produces goes through
`traceprof check` before the test sees it, and no test may leave other files.
"""

import fnmatch
import glob
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("TEST_BUILD", os.path.join(ROOT, "build")))
LIBRARY = os.environ.get("TEST_LIBRARY", os.path.join(BUILD, "libtraceprof.so"))
COMMAND = os.path.join(BUILD, "traceprof")
PROGRAMS = os.path.join(BUILD, "tests", "programs")
HANGS = 300     # seconds: for what never ends, not for what a busy machine makes slow

_folders = []                   # of the running test; removed after it
_processes = []                 # of the running test; killed after it


class Skip(Exception):
    """What the machine lacks, so that the test cannot run."""


def content(path):
    """A file's bytes as they lay there at one moment.  A program that runs goes on with
    its trace, and who reads it piece by piece has its end before and after that."""
    with open(path, "rb") as file:
        after = None
        while True:
            before = after or os.fstat(file.fileno())
            file.seek(0)
            data = file.read()
            after = os.fstat(file.fileno())
            if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
                return data


class Trace:
    """One trace file, parsed."""

    def __init__(self, path):
        self.path = path
        data = content(path)
        self.top = json.loads(gzip.decompress(data) if path.endswith(".gz") else data)
        self.events = self.top["traceEvents"]
        self.meta = self.top.get("traceprof", {})

    def slices(self, name="*", cat=None, **args):
        """Complete events by name pattern, category and args, in time order."""
        events = self.shares() + self.events if args.get("omp") == "task" else self.events
        fits = re.compile(fnmatch.translate(name)).match
        found = [event for event in events
                 if event["ph"] == "X" and (name == "*" or fits(event["name"]))
                 and (cat is None or event["cat"] == cat)
                 and all(event.get("args", {}).get(key) == value
                         for key, value in args.items())]
        return sorted(found, key=lambda event: (event["ts"], -event["dur"]))

    def shares(self):
        """The masters' shares of their regions, which lie in the regions' slices."""
        its_own = ("External id", "Record function id", "Ev Idx")
        return [event | {"cat": "openmp", "ts": event["ts"] + args["share_after_us"],
                         "dur": args["share_us"],
                         "args": {key: value for key, value in args.items()
                                  if key not in its_own} | {"omp": "task", "thread": 0}}
                for event in self.events for args in [event.get("args", {})]
                if "share_us" in args]

    def regions(self, function="*"):
        """OpenMP parallel slices whose name begins with the function's."""
        return self.slices(function + " [[]omp parallel*", omp="parallel")

    def team(self, region):
        """The members' slices of a parallel slice."""
        number = region["args"]["region"]
        return self.slices(omp="task", region=number)

    def waits(self, sync):
        """Slices of waiting for this, in time order."""
        return self.slices(omp="wait", sync=sync)

    def held(self, sync):
        """Slices of holding this, a lock or a turn."""
        return self.slices(omp="held", sync=sync)

    def explicit_tasks(self):
        """Executions of explicit tasks."""
        return self.slices(omp="explicit")

    def created_tasks(self):
        return self.slices(omp="create")

    def memory(self):
        """The [memory] instants, in time order."""
        return sorted((event for event in self.events
                       if event["name"] == "[memory]" and event["ph"] == "i"),
                      key=lambda event: event["ts"])

    def counters(self, name="*"):
        return [event for event in self.events
                if event["ph"] == "C" and fnmatch.fnmatchcase(event["name"], name)]

    def steps(self):
        """Numbers of the ProfilerStep#N slices, in time order."""
        return [int(event["name"].partition("#")[2])
                for event in self.slices("ProfilerStep#*")]

    @property
    def pid(self):
        """As the file name says, since a low pid is shifted inside."""
        return int(re.search(r"_(\d+)(_rank\d+)?(_flight\d+)?(\.part\d+)?\.\d+\.pt\.trace\.json",
                             self.path).group(1))


class Run:
    """What a program said, how it ended, and its traces, oldest first."""

    def __init__(self, command, status, stdout, stderr, folder, killed=False,
                 pid=None, began=0):
        self.command = command
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        self.folder = folder
        self.killed = killed
        self.pid = pid
        self.began = began          # time.time()
        self.finished = {}          # {path: (what file it was, Trace)}

    @property
    def files(self):
        """Without what a program that runs has beside its trace."""
        return sorted((path for path in self.left if not path.endswith(".spool")),
                      key=lambda path: (re.findall(r"\.(\d+)\.pt", path), path))

    @property
    def left(self):
        if not self.folder or not os.path.isdir(self.folder):
            return []
        return [entry.path for entry in os.scandir(self.folder)]

    def read(self, path):
        """Once, if it is finished and stays the file that it is."""
        status = os.stat(path)
        which = (status.st_ino, status.st_size, status.st_mtime_ns)
        known = self.finished.get(path)
        if known and known[0] == which:
            return known[1]
        trace = Trace(path)
        if trace.meta.get("final"):
            self.finished[path] = (which, trace)
        return trace

    @property
    def traces(self):
        return [self.read(path) for path in self.files]

    @property
    def trace(self):
        """The one trace; anything else is a failure."""
        expect(len(self.files) == 1, f"one trace expected, found {self.files}",
               self.stderr)
        return self.read(self.files[0])

    @property
    def own_lines(self):
        return [line for line in self.stderr.splitlines()
                if line.startswith("traceprof")]

    @property
    def foreign_stderr(self):
        return "\n".join(line for line in self.stderr.splitlines()
                         if not line.startswith("traceprof"))


def expect(condition, *said):
    if not condition:
        raise AssertionError("\n".join(str(part) for part in said))


def expect_equal(seen, wanted, what=""):
    expect(seen == wanted, f"{what}: seen {seen!r}, wanted {wanted!r}")


def folder():
    """A new folder that is removed after the test."""
    path = tempfile.mkdtemp(prefix="traceprof-test-")
    _folders.append(path)
    return path


def ends_with_test(process):
    """A program that runs beside the test, however that ends."""
    _processes.append(process)
    return process


def program(name):
    """A command for one of tests/programs, or anything on the PATH."""
    path = os.path.join(PROGRAMS, name)
    if os.path.exists(path):
        return path
    path = shutil.which(name)
    if not path:
        source = os.path.join(ROOT, "tests", "programs", name)
        if os.path.exists(source + ".cu"):
            raise Skip(not_built(name, "nvcc"))
        if name.startswith("lib/") or os.path.exists(source + ".c") \
                or os.path.exists(source + ".cpp"):
            raise Skip(f"{name} is not built")
        raise Skip(f"{name} is not on this machine")
    return path


def not_built(what, needs):
    """Why that is not there: for want of CUDA headers or nvcc, or of `make`."""
    with open(os.path.join(BUILD, "config.mk"), encoding="utf-8") as file:
        config = file.read()
    cuda = re.search(r"^CONFIG_FOR := .* (\S+)$", config, re.M).group(1)
    has = {"CUDA headers": "\nCUPTI := -" in config,
           "nvcc": os.path.exists(cuda + "/bin/nvcc") or shutil.which("nvcc")}[needs]
    return f"{what} is not built" + ("" if has else f": no {needs} on this machine")


def compile_program(source, *flags, compiler="gcc", name=None):
    """Builds a source of tests/programs in a way of the test's own."""
    if not shutil.which(compiler):
        raise Skip(f"{compiler} is not on this machine")
    output = os.path.join(folder(), name or os.path.splitext(source)[0])
    command = [compiler, "-g", "-O1", "-D_GNU_SOURCE", "-I", f"{ROOT}/include",
               os.path.join(ROOT, "tests", "programs", source), "-o", output,
               *flags]
    done = subprocess.run(command, capture_output=True, text=True)
    expect(done.returncode == 0, " ".join(command), done.stderr)
    return output


def clean_environment():
    """Threads that wait sleep: spinning on a busy machine takes minutes.  What
    is drawn is not to depend on how long things take (t_thin.py), nor whether
    the file is whole on when the writer gets a processor."""
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("TRACEPROF", "LD_", "OMP_", "GOMP_", "KMP_"))}
    return kept | {"OMP_WAIT_POLICY": "passive", "TRACEPROF_MAX_OVERHEAD": "0",
                   "TRACEPROF_EXIT_MS": "60000", "TRACEPROF_VERDICT": "0"}


def execute(command, env, timeout, cwd=None, target=None, stdin=None):
    """Runs in a session of its own, so that nothing outlives a timeout."""
    began = time.time()
    process = subprocess.Popen(command, env=env, cwd=cwd, text=True,
                               errors="replace",
                               stdin=stdin or subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        raise AssertionError(f"hung for {timeout} s: {' '.join(command)}\n"
                             f"{stdout[-2000:]}\n{stderr[-2000:]}")
    return Run(command, process.returncode, stdout, stderr, target,
               pid=process.pid, began=began)


def plain(*command, env=None, timeout=HANGS, cwd=None):
    """Runs without the library."""
    return execute([program(command[0]), *map(str, command[1:])],
                   clean_environment() | (env or {}), timeout, cwd)


def traced(*command, env=None, timeout=HANGS, cwd=None, preload=LIBRARY, check=True):
    """Runs under LD_PRELOAD; env adds to TRACEPROF_DIR, a new folder."""
    target = os.path.join(folder(), "out")
    settings = {"LD_PRELOAD": preload, "TRACEPROF_DIR": target}
    run = execute([program(command[0]), *map(str, command[1:])],
                  clean_environment() | settings | (env or {}), timeout, cwd,
                  target)
    wait_until_whole(run)
    if check:
        check_files(run)
        expect_no_session(run)
    return run


def wait_for_file(target, process):
    """Waits until the running program's trace has something."""
    while process.poll() is None and not any(
            map(os.path.getsize, glob.glob(os.path.join(target, "*.json*")))):
        time.sleep(0.01)


def wait_until_whole(run):
    """What the program left to be written down after its end is there.  Forked
    children say nothing of theirs."""
    lines = [line for line in run.own_lines if "after the program's end" in line]
    for _ in range(600 if lines or len(run.files) > 1 else 0):
        if not sessions_of(run):
            return
        time.sleep(0.1)


def expect_no_session(run):
    """No memory file of the program, or whose traces would go to this run's
    folder, is left."""
    left = sessions_of(run)
    expect(not left, f"left a session behind: {left}; status {run.status}",
           run.stderr[-1000:])


def sessions_of(run):
    """Memory files of the program, or whose traces go to this run's folder."""
    places = {"/dev/shm", os.environ.get("XDG_RUNTIME_DIR", "/dev/shm")}
    left = []
    for path in (path for place in places
                 for path in glob.glob(os.path.join(place, "traceprof-*"))):
        try:
            # An older one is of another process that had this number.
            if os.stat(path).st_mtime < run.began - 1:
                continue
            with open(path, "rb") as file:
                head = file.read(1 << 16)
            # Who was killed while it made one left it without its first word.
            if (f"-{run.pid}-" in path or run.folder.encode() in head) \
                    and head.startswith(b"traceprf"):
                left.append(path)
        except OSError:         # another test's, gone in the meantime
            pass
    return left


def check_files(run):
    """Only finished traces lie in the folder, and each keeps the contract."""
    for path in run.left:
        expect(path.endswith((".pt.trace.json.gz", ".pt.trace.json")),
               f"left a file: {path}")
    if run.files:
        done = subprocess.run([COMMAND, "check", *run.files],
                              capture_output=True, text=True)
        expect(done.returncode == 0, f"traceprof check: {done.returncode}",
               done.stdout[-4000:], done.stderr[-2000:])


def expect_thinned(trace, least):
    """More calls than that are not drawn.  A program that had to wait for a processor
    lived so long that the bound's share of its time has room for all: on a quiet machine
    what these programs do costs twice the share."""
    events, had = trace.meta["events"], trace.meta.get("scheduled")
    if had and events.get("thinned", 0) <= least:
        share = int(trace.meta["options"]["MAX_OVERHEAD"]) / 100
        cost = trace.meta["cost"]["hooks_ns"] / had["lived_ns"]
        if cost < 2 * share and had["waited_ns"] > had["ran_ns"]:
            raise Skip(f"all that was recorded cost {cost:.2%} of a run that waited for a "
                       "processor most of the time, so that little was thinned")
    expect(events.get("thinned", 0) > least, "thinned", events, had, trace.meta["cost"])


def same(*command, env=None, timeout=HANGS, **more):
    """Runs with and without the library, which must make no difference."""
    without = plain(*command, env={key: value for key, value in (env or {}).items()
                                   if not key.startswith("TRACEPROF")},
                    timeout=timeout)
    within = traced(*command, env=env, timeout=timeout, **more)
    expect_equal(within.status, without.status,
                 f"status of {command} ({within.stderr[-1500:]})")
    expect_equal(within.stdout, without.stdout, f"output of {command}")
    expect_equal(within.foreign_stderr, without.stderr.rstrip("\n"),
                 f"errors of {command}")
    expect(len(within.own_lines) <= 5, "more than five lines", within.stderr)
    return within


def command(*arguments, env=None, timeout=HANGS, cwd=None):
    """Runs build/traceprof."""
    return execute([COMMAND, *map(str, arguments)],
                   clean_environment() | (env or {}), timeout, cwd)


def masked(trace):
    """The trace as text without what differs from run to run: times, process
    and thread ids, addresses, running totals.  Each thread's events in order,
    threads in the order of their first event, nesting by indentation.  A master's
    share is a slice here whether it lies in its region's or, of a region of more
    than 2^32 ticks, beside it."""
    regions = {}
    threads = {}
    kept = [event for event in trace.shares() + trace.events
            if event["ph"] in "XiC" and isinstance(event.get("tid"), int)
            and event.get("cat") not in ("overhead", "Trace")
            and event["name"] != "[memory]" and event["ph"] != "C"]
    kept.sort(key=lambda event: (event["ts"], -event.get("dur", 0)))
    for event in kept:
        threads.setdefault(event["tid"], []).append(event)
        if "region" in event.get("args", {}):
            regions.setdefault(event["args"]["region"], len(regions) + 1)
    lines = []
    for number, events in enumerate(threads.values()):
        lines.append(f"thread {number}")
        open_ends = []
        for event in events:
            start_ns = round(event["ts"] * 1000)
            # A share's place is a sum, which is rounded.
            while open_ends and start_ns > open_ends[-1] - 3:
                open_ends.pop()
            args = dict(event.get("args", {}))
            for key in ("External id", "Record function id", "Ev Idx", "share_us",
                        "share_after_us", "tasks_us"):
                args.pop(key, None)
            if "region" in args:
                args["region"] = regions[args["region"]]
            name = event["name"] if len(event["name"]) < 60 else event["name"][:57] + "..."
            lines.append("  " * (len(open_ends) + 1) + json.dumps(
                [event["ph"], event.get("cat"), name, args], ensure_ascii=False))
            if event["ph"] == "X":
                open_ends.append(start_ns + round(event["dur"] * 1000))
    return lines


def golden(name, lines):
    """Compares with tests/scenarios/golden/NAME; UPDATE_GOLDEN=1 renews it."""
    path = os.path.join(ROOT, "tests", "scenarios", "golden", name)
    text = "\n".join(lines) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    with open(path, encoding="utf-8") as file:
        wanted = file.read()
    expect(text == wanted, f"differs from golden/{name}; seen:", text)


def main():
    """Runs the test_* functions of the calling file and prints TAP."""
    module = sys.modules["__main__"]
    tests = [(name, value) for name, value in vars(module).items()
             if name.startswith("test_") and callable(value)]
    wanted = sys.argv[1:]       # names of tests, or parts of names
    names = {name for name, _ in tests}
    left_out = os.environ.get("TEST_LEAVE_OUT", "").split(";")
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        if wanted and not any(name == part or part in name and part not in names
                              for part in wanted):
            continue
        title = name[5:].replace("_", " ")
        if title in left_out:
            continue
        try:
            test()
            print(f"ok {number} - {title}")
        except Skip as skip:
            print(f"ok {number} - {title} # SKIP {skip}")
        except Exception as error:
            failed = 1
            if not isinstance(error, (AssertionError, OSError)):
                traceback.print_exc(file=sys.stdout)
            place = traceback.extract_tb(error.__traceback__)[1]
            print(f"{os.path.basename(place.filename)}:{place.lineno}: {error}")
            print(f"not ok {number} - {title}")
        finally:
            while _processes:
                process = _processes.pop()
                if process.poll() is None:
                    process.kill()
                    process.wait()
            while _folders:
                shutil.rmtree(_folders.pop(), ignore_errors=True)
        sys.stdout.flush()
        if failed and os.environ.get("TEST_FIRST_FAILURE"):
            break
    sys.exit(failed)
