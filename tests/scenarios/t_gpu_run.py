# SPDX-License-Identifier: MIT
"""tests/gpu/run, as far as the simulated GPU can carry it: it must work at the
first try where there is a real one."""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import types

import harness
from harness import BUILD, ROOT, Skip, expect, expect_equal, folder
from t_cuda import FAKE, on_gpu

RUN = os.path.join(ROOT, "tests", "gpu", "run")
sys.path.insert(0, os.path.dirname(RUN))
ON_THE_DOUBLE = {
    "first": "trainer,second,turns,zeros,ends_c,cost,withheld,devices,events,switching,"
             "late_clock,scale,capture",
    "second": "launches,long",
    "third": "strangers",
}
STRANGERS = "bodies pipeline team"      # the others want more than the double has


def gpu_run(*arguments, **env):
    out = folder()
    done = subprocess.run([RUN, *arguments], capture_output=True, text=True,
                          timeout=200, stdin=subprocess.DEVNULL,
                          env=harness.clean_environment() | {"OUT": out} | env)
    return done, out


def need_double():
    if not os.path.exists(os.path.join(BUILD, "fake-gpu", "libcupti.so.13")):
        raise Skip(harness.not_built("the double", "CUDA headers"))


def rehearse(*arguments, **env):
    need_double()
    return gpu_run("--fake", "--build", BUILD, *arguments, **env)


def rows(out):
    with open(os.path.join(out, "results.json"), encoding="utf-8") as file:
        return json.load(file)["rows"]


def test_says_that_there_is_no_gpu():
    if os.path.exists("/dev/nvidiactl"):
        raise Skip("there is a GPU here")
    done, out = gpu_run()
    expect_equal((done.returncode, done.stdout), (77, "skip: no NVIDIA GPU here\n"),
                 done.stderr)
    expect_equal(os.listdir(out), [], "files")


def rehearsal(command, files):
    """All that the double can carry of one of the two commands."""
    if not shutil.which("nvcc") and not os.path.exists("/usr/local/cuda/bin/nvcc"):
        raise Skip("no nvcc on this machine")
    parts = ON_THE_DOUBLE[command]
    done, out = rehearse(command, "--only", parts, GPU_STRANGERS=STRANGERS)
    expect_equal(done.returncode, 0, done.stdout[-6000:] + done.stderr[-2000:])
    seen = {row["part"] for row in rows(out) if row["verdict"] == "ok"}
    expect_equal(seen, {"build", *parts.split(",")}, done.stdout)
    expect_equal(sorted(set(os.listdir(out)) - {"strangers.txt"}),
                 ["buffers.tar.gz", "log.txt", "results.json", "table.txt",
                  "traces.tar.gz"])
    for name, least in files:
        with tarfile.open(os.path.join(out, name)) as archive:
            expect(len(archive.getnames()) >= least, f"{name}: {archive.getnames()}")
    return out


def test_rehearsal_of_the_first():
    out = rehearsal("first", (("buffers.tar.gz", 2), ("traces.tar.gz", 1)))
    said = {row["check"]: row["said"] for row in rows(out)}
    expect_equal(said["clock own"], "0 of 20000", "without a callback")
    expect("(5.0e-02)" in said["clock callback"], said["clock callback"])
    expect_equal(said["devices"], "devices enabled_late 0 dumped 1")
    expect_equal(said["attached inside cuInit"], "1 DEVICE, 1 CONTEXT records")
    expect("clock callback" in said["events timed 2000"], said)
    expect("calls are withheld too" in said["attribute 9 at 1"], said)
    expect(" after; moved" in said["new, after: ours"], said["new, after: ours"])
    expect("us after the launch" in said["late: times are ours"], said)
    expect("before the end" in said["unseen: noticed"], said["unseen: noticed"])


def test_rehearsal_of_the_second():
    rehearsal("second", (("traces.tar.gz", 1),))


def test_rehearsal_of_the_third():
    out = rehearsal("third", (("traces.tar.gz", len(STRANGERS.split())),))
    with open(os.path.join(out, "strangers.txt"), encoding="utf-8") as file:
        said = file.read()
    expect("=== bodies" in said and "--- report" in said, said[:2000])


def test_the_commands_are_all_parts():
    """Each part is in one of them, but the two that all stand on."""
    import gpu_main
    halves = [name for name, command, *_ in gpu_main.PARTS if command]
    expect_equal(sorted(name for name, command, *_ in gpu_main.PARTS
                        if command not in ON_THE_DOUBLE), ["build", "machine"])
    expect_equal(len(halves), len(set(halves)), "twice")
    for command in ON_THE_DOUBLE:
        expect(set(ON_THE_DOUBLE[command].split(",")) <= {
            name for name, mine, *_ in gpu_main.PARTS if mine == command}, command)


def test_a_part_that_hangs_is_ended_and_the_rest_goes_on():
    """Each has its time, and what is left of that ends its programs."""
    import gpu_machine
    machine = gpu_machine.Machine(folder(), 60, False, BUILD)
    machine.begin_part(1)
    result = machine.run("hangs", ["sleep", "30"], limit=60)
    expect(result.late and result.seconds < 20, result)
    machine.begin_part(30)
    expect_equal(machine.run("goes-on", ["true"]).status, 0)
    shutil.rmtree(machine.work)


def test_a_rehearsal_waits_longer_for_each_part():
    """Its processor may have more to do; the whole has the time that it was given."""
    import gpu_machine
    for fake, most in ((False, 100), (True, 1000)):
        machine = gpu_machine.Machine(folder(), 2000, fake, BUILD)
        machine.begin_part(100)
        expect(most / 2 < machine.left() <= most, fake, machine.left())
        machine.begin_part(5000)
        expect(machine.left() <= 2000, fake, machine.left())
        shutil.rmtree(machine.work)


def test_without_nvcc_each_part_says_what_it_lacks():
    import gpu_machine
    import gpu_main
    need_double()
    machine = gpu_machine.Machine(folder(), 60, True, BUILD)
    machine.cuda = machine.nvcc = None
    machine.wanted = {name for name, *_ in gpu_main.PARTS}
    report = gpu_machine.Report(folder(), {"fake": True})
    with contextlib.redirect_stdout(io.StringIO()):
        for name, command, function, least, most in gpu_main.PARTS:
            # These are compiled by gcc; Python's need no compiler.
            if not command or name in ("trainer", "zeros", "ends_c", "cost",
                                       "withheld", "devices", "events", "switching",
                                       "late_clock", "capture", "launches", "long"):
                gpu_main.run_part(report, machine, name, function, least, most)
    shutil.rmtree(machine.work)
    expect_equal(report.failed(), [], "rows")
    lacking = {row["part"] for row in report.rows if row["verdict"] == "skip"}
    expect(lacking >= {"build", "trainer", "zeros", "devices", "long"}, report.rows)


def test_captures_use_the_libcupti_that_the_library_found():
    """By its path, also where the loader knew it by its name alone."""
    import gpu_capture
    for env in ({}, {"TRACEPROF_CUPTI": "libcupti.so.13"}):
        run = on_gpu(2, 1, **env)
        expect_equal(gpu_capture.cupti_of(types.SimpleNamespace(kept=run.files)),
                     os.path.join(FAKE, "libcupti.so.13"), env)


def test_a_library_that_does_not_load():
    need_double()
    broken = folder()
    with open(os.path.join(broken, "libtraceprof.so"), "w", encoding="utf-8") as file:
        file.write("no library")
    done, out = gpu_run("--fake", "--build", broken, "--only", "trainer")
    expect_equal(done.returncode, 1, done.stdout)
    expect(any(row["check"] == "a library" and row["verdict"] == "FAIL"
               for row in rows(out)), done.stdout)


def test_records_that_are_lost_fail_and_the_rest_goes_on():
    done, out = rehearse("--only", "trainer", SIMGPU_DROP="3")
    expect_equal(done.returncode, 1, done.stdout)
    failed = {row["check"] for row in rows(out) if row["verdict"] == "FAIL"}
    expect_equal(failed, {"shared: nothing lost or unknown", "shared: its kernels",
                          "shared: pinned and pageable copies",
                          "shared: kernels of the graph"})
    expect(any(row["check"] == "shared: both host threads launch"
               and row["verdict"] == "ok" for row in rows(out)), done.stdout)


def test_what_is_cut_off_is_saved():
    """Killed in a part, with all that it runs: each row until then is there, and what
    the parts before it keep."""
    need_double()
    out = folder()
    process = subprocess.Popen(
        [RUN, "first", "--fake", "--build", BUILD, "--only", "turns,scale"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, start_new_session=True,
        env=harness.clean_environment() | {"OUT": out, "TMPDIR": folder()})
    try:
        for line in process.stdout:
            if "threads" in line:       # the first row of the second
                break
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    checks = [(row["part"], row["check"]) for row in rows(out)]
    expect(("turns", "turns: windows") in checks, checks)
    expect(("scale", "threads") in checks, checks)
    expect_equal(process.returncode, -signal.SIGKILL, "it had gone on to the end")
    with open(os.path.join(out, "table.txt"), encoding="utf-8") as file:
        expect("turns: windows" in file.read(), "the table")
    for name in ("traces.tar.gz", "buffers.tar.gz"):
        with tarfile.open(os.path.join(out, name)) as archive:
            archive.getnames()


def test_two_commands_fit_into_the_time_for_which_a_gpu_is_lent():
    """A quarter of an hour, of which its start takes minutes."""
    import gpu_main
    expect(gpu_main.SECONDS["first"] + gpu_main.SECONDS["second"] <= 780)
    for seconds in gpu_main.SECONDS.values():
        expect(seconds < 600, seconds)


def test_words_that_are_none():
    for words in (("fourth",), ("--only", "nothing"), ("--seconds", "x"), ("--what",)):
        done, _ = gpu_run("--fake", *words)
        expect_equal((done.returncode, done.stdout), (2, ""), (words, done.stderr))
        expect("usage: tests/gpu/run" in done.stderr, done.stderr)


def test_what_there_is_no_time_for_is_said():
    done, out = rehearse("--only", "trainer", "--seconds", "0.5")
    expect(any(row["verdict"] == "skip" and row["check"] == "not begun"
               for row in rows(out)), done.stdout)


if __name__ == "__main__":
    harness.main()
