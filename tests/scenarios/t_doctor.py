# SPDX-License-Identifier: MIT
"""build/traceprof doctor: what would be recorded, what not, and why."""

import json
import os
import subprocess

import harness
from harness import (BUILD, Skip, command, compile_program, expect, expect_equal,
                     folder, program)


def doctor(*arguments, env=None, cwd=None):
    """What it says by subject, and how it ended."""
    done = command("doctor", "--json", *arguments, env=env, cwd=cwd)
    expect(done.stdout.startswith("{"), done.stdout, done.stderr)
    found = json.loads(done.stdout)
    subjects = {}
    for one in found["findings"]:
        subjects.setdefault(one["subject"], []).append(one)
    expect_equal(done.status, 0 if found["recordable"] else 1, done.stdout)
    return subjects, done.status


def one(subjects, subject):
    expect_equal(len(subjects.get(subject, [])), 1, f"{subject}: {subjects}")
    return subjects[subject][0]


def test_an_ordinary_openmp_program():
    subjects, status = doctor("--", program("gomp"), "any", "--argument")
    expect_equal(status, 0, subjects)
    for subject in ("library", "settings", "program", "heap", "OpenMP"):
        expect_equal(one(subjects, subject)["level"], "ok", subjects)
    expect("libgomp.so.1" in one(subjects, "OpenMP")["text"], subjects)


def test_a_folder_that_was_deleted():
    """Of which the file system still tells what is free."""
    gone = os.path.join(folder(), "gone")
    os.mkdir(gone)
    done = subprocess.run(
        ["sh", "-c", 'cd "$1" && rmdir "$1" && exec "$2" doctor', "sh", gone, harness.COMMAND],
        env=harness.clean_environment(), capture_output=True, text=True, check=False)
    expect_equal(done.returncode, 1, done.stdout)
    expect("this folder was deleted" in done.stdout, done.stdout, done.stderr)


def test_a_recording_in_a_folder_that_was_deleted():
    """Says so; the kernel's word is "Invalid argument"."""
    gone = os.path.join(folder(), "gone")
    os.mkdir(gone)
    env = harness.clean_environment() | {"LD_PRELOAD": harness.LIBRARY}
    done = subprocess.run(
        [program("mesh"), "3"], env=env, capture_output=True, text=True, check=False,
        cwd=gone, preexec_fn=lambda: os.rmdir(gone))
    expect_equal(done.returncode, 0, done.stderr)
    expect("the working directory was deleted" in done.stderr, done.stderr)


def test_the_page_for_people():
    done = command("doctor", "--", program("gomp"))
    expect_equal(done.status, 0, done.stderr)
    lines = done.stdout.splitlines()
    expect(lines[-1].endswith("would be recorded.")
           or lines[-1] == "It would be recorded; see the notes.", done.stdout)
    expect(all(line.split()[0] in ("ok", "note", "->") for line in lines[:-2]),
           done.stdout)


def test_a_static_program_can_not_be_recorded():
    static = compile_program("busy.c", "-static", "-fopenmp", name="static")
    subjects, status = doctor("--", static)
    expect_equal(status, 1, subjects)
    expect("statically linked" in one(subjects, "program")["text"], subjects)
    expect(one(subjects, "program")["advice"], subjects)


def test_a_loader_that_is_missing_is_named():
    """As of a program for musl, or of another machine; the kernel calls it "No
    such file"."""
    lost = compile_program("busy.c", "-fopenmp", "-Wl,--dynamic-linker=/lib/ld-nowhere.so.1",
                           name="lost")
    subjects, status = doctor("--", lost)
    expect_equal(status, 1, subjects)
    expect("needs /lib/ld-nowhere.so.1" in one(subjects, "program")["text"], subjects)
    done = command("record", "--", lost)
    expect_equal((done.status, "/lib/ld-nowhere.so.1" in done.stderr), (2, True), done.stderr)


def test_advice_is_for_the_program_that_is_refused():
    musl = compile_program("busy.c", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1",
                           "-fopenmp", name="musl")
    expect("glibc" in one(doctor("--", musl)[0], "program")["advice"], "musl")
    if os.getuid():
        raise Skip("a program of another user's needs root")
    foreign = compile_program("busy.c", "-fopenmp", name="foreign")
    os.chown(foreign, 12345, 12345)
    os.chmod(foreign, 0o4755)
    said = one(doctor("--", foreign)[0], "program")
    expect("setuid" in said["text"] and "copy" in said["advice"], said)


def test_no_such_program():
    subjects, status = doctor("--", "./not-there")
    expect_equal((status, one(subjects, "program")["level"]), (1, "no"), subjects)


def test_a_script_is_its_interpreter_s():
    path = os.path.join(folder(), "run.sh")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexec true\n")
    os.chmod(path, 0o755)
    subjects, status = doctor("--", path)
    expect_equal(status, 0, subjects)
    expect("/bin/sh" in one(subjects, "program")["text"], subjects)


def test_what_is_linked_in_is_not_seen():
    source = os.path.join(folder(), "own.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("""
            #include <stddef.h>
            void *malloc(size_t size) { (void)size; return NULL; }
            void GOMP_parallel(void (*f)(void *), void *d, unsigned n,
                               unsigned g) { (void)n; (void)g; f(d); }
            int main(void) { return 0; }
            """)
    subjects, status = doctor("--", compile_program(source, "-rdynamic", name="own"))
    expect_equal(status, 0, subjects)
    expect("own malloc" in one(subjects, "heap")["text"], subjects)
    expect("statically" in one(subjects, "OpenMP")["text"], subjects)


OWN_HEAP = """
    #include <stdlib.h>
    static char room[1 << 20];
    static size_t used;
    void *malloc(size_t size) {
        void *block = room + used;
        used += (size + 15) & ~15ul;
        return block;
    }
    void free(void *block) { (void)block; }
    void *calloc(size_t n, size_t size) { return malloc(n * size); }
    void *realloc(void *old, size_t size) { (void)old; return malloc(size); }
    int main(void) { for (int i = 0; i < 100; i++) free(malloc(1000)); return 0; }
    """


def test_what_it_says_is_what_is_recorded():
    """Of an OpenMP program, one without, and one with a heap of its own."""
    source = os.path.join(folder(), "own_heap.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(OWN_HEAP)
    for path, heap, regions in ((program("mesh"), True, True),
                                (program("many_blocks"), True, False),
                                (compile_program(source, "-rdynamic", name="own_heap"),
                                 False, False)):
        subjects, status = doctor("--", path)
        expect_equal(status, 0, subjects)
        expect_equal(one(subjects, "heap")["level"] == "ok", heap, subjects)
        expect_equal("no runtime is linked" not in one(subjects, "OpenMP")["text"],
                     regions, subjects)
        run = harness.traced(path, "3", env={"TRACEPROF_MALLOC": "all"})
        expect_equal(run.status, 0, run.stderr)
        expect_equal(any(trace.memory() for trace in run.traces), heap, path)
        expect_equal(any(trace.slices(omp="parallel") for trace in run.traces), regions,
                     path)


def test_settings_that_are_wrong():
    subjects, status = doctor(env={"TRACEPROF_WIAT": "3", "TRACEPROF_MAX_MB": "x"})
    texts = [found["text"] for found in subjects["settings"]]
    expect_equal((status, len(texts)), (0, 2), texts)
    expect(any("WAIT" in text for text in texts), texts)
    subjects, status = doctor(env={"TRACEPROF": "0"})
    expect_equal((status, one(subjects, "settings")["level"]), (1, "no"), subjects)


def test_a_place_for_traces_that_is_none():
    file = os.path.join(folder(), "file")
    with open(file, "w", encoding="utf-8"):
        pass
    subjects, status = doctor(env={"TRACEPROF_DIR": os.path.join(file, "traces")})
    expect_equal((status, one(subjects, "traces")["level"]), (1, "no"), subjects)


def test_other_tools_are_named():
    subjects, _ = doctor(env={"CUDA_INJECTION64_PATH": "/opt/nsys/libToolsInjection64.so"})
    expect("libToolsInjection64" in one(subjects, "other tools")["text"], subjects)


def test_driver_and_cupti():
    double = os.path.join(BUILD, "fake-gpu")
    if not os.path.exists(os.path.join(double, "libcupti.so.13")):
        raise Skip("no simulated GPU here: make fake-gpu")
    subjects, _ = doctor(env={"LD_LIBRARY_PATH": double})
    expect_equal(one(subjects, "GPU")["level"], "ok", subjects)
    for version, name, known in (("130000", "CUDA 13.0", 6), ("130401", "CUDA 13.4 U1", 2)):
        subjects, _ = doctor(env={"LD_LIBRARY_PATH": double, "SIMGPU_VERSION": version})
        texts = [finding["text"] for finding in subjects["CUPTI"]]
        expect(texts[0].startswith(double) and texts[0].endswith(name), texts)
        expect_equal(len([text for text in texts if "known of it:" in text]),
                     known, texts)
    subjects, _ = doctor(env={"LD_LIBRARY_PATH": double, "TRACEPROF_CUDA": "off"})
    expect("off" in one(subjects, "GPU")["text"], subjects)


def test_a_driver_that_crashes():
    """It is asked in a process of its own."""
    source = os.path.join(folder(), "driver.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("""
            int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
            int cuInit(unsigned flags) { (void)flags; __builtin_trap(); }
            """)
    library = compile_program(source, "-shared", "-fPIC", name="libcuda.so.1")
    subjects, status = doctor(env={"LD_LIBRARY_PATH": os.path.dirname(library)})
    expect_equal((status, one(subjects, "GPU")["level"]), (0, "note"), subjects)
    expect("crashed" in one(subjects, "GPU")["text"], subjects)


if __name__ == "__main__":
    harness.main()
