# SPDX-License-Identifier: MIT
"""Runs programs with and without the library, and keeps what they showed.

Machine holds where everything is and starts processes; Report holds the table.
A process that runs past its limit is killed with all that it started, and
nothing of it may keep the next one from starting.
"""

import collections
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
OURS = ("TRACEPROF", "LD_PRELOAD", "LD_LIBRARY_PATH", "OMP_", "SPY_",
        "CUDA_INJECTION", "NVTX_INJECTION")
ARCHIVE_BYTES = 14 << 20        # of traces that go back, in each
TRACE_ARCHIVES = 2
OWN_LINES = 5

Result = collections.namedtuple("Result", "status stdout stderr seconds traces late")


class Lacking(Exception):
    """What this machine lacks for a part."""


class Report:
    """Rows of the table, written anew with each: a run may be cut off."""

    def __init__(self, folder, details):
        self.folder = folder
        self.details = details
        self.rows = []
        self.part = ""

    def add(self, check, verdict, said=""):
        """verdict: "ok", "FAIL", "skip", or "info" for what is only told."""
        row = {"part": self.part, "check": check, "verdict": verdict,
               "said": " ".join(words(said).split())}
        self.rows.append(row)
        self.save()
        print(self.line(row), flush=True)

    def expect(self, check, condition, said=""):
        self.add(check, "ok" if condition else "FAIL", said)
        return bool(condition)

    def expect_of_gpu(self, check, condition, said=""):
        """What a rehearsal, which has no GPU, can only tell."""
        if self.details["fake"]:
            self.tell(check, said)
        else:
            self.expect(check, condition, said)

    def tell(self, check, said):
        self.add(check, "info", said)

    def detail(self, key, value):
        self.details.setdefault(self.part, {})[key] = value

    @staticmethod
    def line(row):
        return "{verdict:4}  {part:10}  {check:38}  {said}".format(**row).rstrip()

    def failed(self):
        return [row for row in self.rows if row["verdict"] == "FAIL"]

    def save(self):
        count = collections.Counter(row["verdict"] for row in self.rows)
        last = (f"{count['ok']} passed, {count['FAIL']} failed, "
                f"{count['skip']} skipped, {count['info']} told")
        lines = [self.line(row) for row in self.rows] + [last]
        write(os.path.join(self.folder, "table.txt"), "\n".join(lines) + "\n")
        write(os.path.join(self.folder, "results.json"),
              json.dumps({"rows": self.rows, "details": self.details,
                          "failed": count["FAIL"]}, indent=1) + "\n")
        return last


def rate(part, whole):
    """How often; what must never be is said so when it is."""
    return f"{part:g} of {whole:g}" + (f" ({part / whole:.1e})"
                                       if part and whole and part != whole else "")


def words(said):
    """A sentence, or the parts of a list, without the folders of this machine."""
    if isinstance(said, (list, tuple)):
        said = ", ".join(str(part) for part in said)
    return re.sub(r"(?:/[\w.-]+){3,}/(?=[\w.-]+)", "", str(said))


def write(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


class Machine:
    def __init__(self, out, seconds, fake, build):
        self.start = time.monotonic()
        self.seconds = seconds
        self.part_ends = float("inf")
        self.fake = fake
        # No time is lent for a rehearsal, and a processor may have more to do.
        self.patience = 10 if fake else 1
        # A real driver is all that PyTorch, JAX and Triton know.
        self.device = "cpu" if fake else "cuda"
        self.carried = build    # a build folder from elsewhere, or None
        self.double = os.path.join(os.path.abspath(build) if build else
                                   os.path.join(ROOT, "build"), "fake-gpu")
        if not os.path.isdir(self.double):
            self.double = os.path.join(ROOT, "build", "fake-gpu")
        self.out = out
        self.work = tempfile.mkdtemp(prefix="traceprof-gpu-")
        os.makedirs(out, exist_ok=True)
        self.log = open(os.path.join(out, "log.txt"), "w", encoding="utf-8")
        self.python = sys.executable
        self.library = self.command = None
        self.cuda, self.nvcc = self.toolkit()
        self.programs = {}      # name: path of what nvcc built
        self.runtime_path = ""  # where the toolkit's shared runtime is
        self.kept = []          # traces that go back
        self.buffers = []       # captured buffers that go back
        self.packed = {}        # how many of each are in their archive

    def toolkit(self):
        """(folder, nvcc), either None"""
        for folder in (os.environ.get("CUDA", ""), os.environ.get("CUDA_HOME", ""),
                       "/usr/local/cuda", *sorted(glob.glob("/usr/local/cuda-1[23]*"))):
            if folder and os.path.exists(os.path.join(folder, "bin", "nvcc")):
                return folder, os.path.join(folder, "bin", "nvcc")
        nvcc = shutil.which("nvcc")
        if nvcc:
            return os.path.dirname(os.path.dirname(os.path.realpath(nvcc))), nvcc
        return None, None

    def left(self):
        """Of all parts together, and of this one."""
        now = time.monotonic()
        return min(self.seconds - (now - self.start), self.part_ends - now)

    def begin_part(self, seconds):
        self.part_ends = float("inf")
        self.part_ends = time.monotonic() + min(seconds * self.patience, self.left())

    def environment(self, program=None):
        kept = {key: value for key, value in os.environ.items()
                if not key.startswith(OURS)}
        paths = os.environ.get("LD_LIBRARY_PATH", "")
        # Wheels hold a real libcupti, which crashes on a simulated driver.
        if self.fake and program != self.python:
            paths = self.double
        if paths:
            kept["LD_LIBRARY_PATH"] = paths
        return kept

    def run(self, name, command, traced=False, env=None, limit=60):
        """Runs in a folder of its own; `traced` preloads the library."""
        folder = os.path.join(self.work, name)
        os.makedirs(folder, exist_ok=True)
        settings = self.environment(command[0]) | (env or {})
        if traced and not self.library:
            raise Lacking("no library to preload")
        if traced:
            settings["LD_PRELOAD"] = self.library
            settings["TRACEPROF_DIR"] = os.path.join(folder, "traces")
            settings.setdefault("TRACEPROF_VERDICT", "0")
        limit = max(1, min(limit * self.patience, self.left()))
        start = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], cwd=folder,
                                   env=settings, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, errors="replace",
                                   start_new_session=True)
        late = False
        try:
            stdout, stderr = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            late = True
            os.killpg(process.pid, signal.SIGKILL)
            try:
                stdout, stderr = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:   # somebody else has the pipe
                stdout = stderr = ""
                process.wait(10)
        seconds = time.monotonic() - start
        if traced and process.returncode < 0 and self.command:
            # What a signal ended leaves its session: it is finished here.
            subprocess.run([self.command, "recover", settings["TRACEPROF_DIR"]],
                           env=settings | {"LD_PRELOAD": ""}, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # What is written down after the program's end is waited for.
        while (traced and "after the program's end" in stderr
               and glob.glob(f"/dev/shm/traceprof-*-{process.pid}-*")
               and time.monotonic() - start < seconds + 60):
            time.sleep(0.1)
        traces = sorted(glob.glob(os.path.join(folder, "traces", "*.pt.trace.json*")))
        result = Result(process.returncode, stdout, stderr, seconds, traces, late)
        self.note(name, command, env, result)
        return result

    def note(self, name, command, env, result):
        tail = "\n".join(result.stderr.splitlines()[-25:])
        self.log.write(f"=== {name}: {' '.join(map(str, command))}\n"
                       f"    {env or {}} status {result.status}, "
                       f"{result.seconds:.1f} s{', killed' if result.late else ''}\n"
                       f"{result.stdout[-1500:]}\n{tail}\n")
        self.log.flush()

    def keep(self, path):
        if path and path not in self.kept:
            self.kept.append(path)

    def pack(self):
        """What goes back, the first ones first, as far as there is room; after each
        part that has more of it."""
        for name, paths, most in (("traces", self.kept, TRACE_ARCHIVES),
                                  ("buffers", self.buffers, 1)):
            if self.packed.get(name) == len(paths):
                continue
            self.packed[name] = len(paths)
            for number in range(most):
                paths = self.pack_some(name + (f"-{number + 1}" if number else ""), paths)
                if not paths:
                    break
            for path in paths:
                self.log.write(f"left out of {name}: {path}, "
                               f"{os.path.getsize(path)} bytes\n")

    def pack_some(self, name, paths):
        """One archive; what it has no room for."""
        output = os.path.join(self.out, name + ".tar.gz")
        room, others = ARCHIVE_BYTES, []
        with tarfile.open(output + ".new", "w:gz", compresslevel=1) as archive:
            for path in paths:
                size = os.path.getsize(path)
                if size > room:
                    others.append(path)
                    continue
                room -= size
                archive.add(path, os.path.relpath(path, self.work))
        os.replace(output + ".new", output)
        return others


def own_lines(result):
    return [line for line in result.stderr.splitlines()
            if line.startswith("traceprof: ")]


def foreign_lines(result):
    """What the program said, without what differs from run to run: times,
    process ids, addresses."""
    lines = [line for line in result.stderr.splitlines()
             if not line.startswith("traceprof: ")]
    return [re.sub(r"0x[0-9a-f]+|\d+", "#", line) for line in lines]


def last_words(result):
    """Why a run failed, as far as it said."""
    if result.late:
        return f"killed after {result.seconds:.0f} s"
    words = [line for line in foreign_lines(result) if line.strip()]
    return f"status {result.status}" + (f": {words[-1][:150]}" if words else "")
