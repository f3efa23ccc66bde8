# SPDX-License-Identifier: MIT
"""tests/gpu/run, as far as the simulated GPU can carry it: it must work at the
first try where there is a real one."""

import json
import os
import shutil
import subprocess
import tarfile

import harness
from harness import BUILD, ROOT, Skip, expect, expect_equal, folder

RUN = os.path.join(ROOT, "tests", "gpu", "run")
ON_THE_DOUBLE = "trainer,launches,long,capture"


def gpu_run(*arguments, **env):
    out = folder()
    done = subprocess.run([RUN, *arguments], capture_output=True, text=True,
                          timeout=200, stdin=subprocess.DEVNULL,
                          env=harness.clean_environment() | {"OUT": out} | env)
    return done, out


def need_double():
    if not os.path.exists(os.path.join(BUILD, "fake-gpu", "libcupti.so.13")):
        raise Skip("the double is not built: no CUDA headers on this machine")


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


def test_rehearsal():
    if not shutil.which("nvcc") and not os.path.exists("/usr/local/cuda/bin/nvcc"):
        raise Skip("no nvcc on this machine")
    done, out = rehearse("--only", ON_THE_DOUBLE)
    expect_equal(done.returncode, 0, done.stdout[-6000:] + done.stderr[-2000:])
    seen = {row["part"] for row in rows(out) if row["verdict"] == "ok"}
    expect_equal(seen, {"build", *ON_THE_DOUBLE.split(",")}, done.stdout)
    expect_equal(sorted(os.listdir(out)), ["buffers.tar.gz", "log.txt", "results.json",
                                           "table.txt", "traces.tar.gz"])
    for name, least in (("buffers.tar.gz", 2), ("traces.tar.gz", 2)):
        with tarfile.open(os.path.join(out, name)) as archive:
            expect(len(archive.getnames()) >= least, f"{name}: {archive.getnames()}")


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


def test_what_there_is_no_time_for_is_said():
    done, out = rehearse("--only", "trainer", "--seconds", "0.5")
    expect(any(row["verdict"] == "skip" and row["check"] == "not begun"
               for row in rows(out)), done.stdout)


if __name__ == "__main__":
    harness.main()
