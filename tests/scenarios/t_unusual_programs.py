# SPDX-License-Identifier: MIT
"""Unusual programs run unchanged: plug-ins, own allocators, signals, other runtimes."""

import os
import shutil
import subprocess
import sys

import harness
from harness import (Skip, compile_program, expect, expect_equal, folder, plain,
                     program, same, traced)
from t_verdict import judged


def plugin(name="libplugin.so"):
    return program(os.path.join("lib", name))


def system_libgomp():
    done = subprocess.run(["gcc", "-print-file-name=libgomp.so.1"],
                          capture_output=True, text=True)
    path = os.path.realpath(done.stdout.strip())
    if not os.path.exists(path):
        raise Skip("no libgomp.so.1")
    return path


def plugin_with_own_libgomp():
    """A plug-in and, beside it, a copy of libgomp under another name."""
    place = folder()
    shutil.copy(system_libgomp(), os.path.join(place, "libgomp-private.so.1"))
    source = os.path.join(harness.ROOT, "tests", "programs", "lib", "plugin.c")
    built = os.path.join(place, "libplugin.so")
    # The copy keeps its soname; the plug-in must name the file.
    patched = os.path.join(place, "libgomp-private.so.1")
    data = open(patched, "rb").read()
    expect(data.count(b"libgomp.so.1\0") >= 1, "libgomp without a soname")
    with open(patched, "wb") as file:
        file.write(data.replace(b"libgomp.so.1\0", b"libgomq.so.1\0"))
    os.rename(patched, os.path.join(place, "libgomq.so.1"))
    done = subprocess.run(["gcc", "-O1", "-g", "-fPIC", "-shared", "-fopenmp",
                           "-nostdlib", source, "-o", built, "-L", place,
                           "-l:libgomq.so.1", "-lc", f"-Wl,-rpath,{place}"],
                          capture_output=True, text=True)
    expect_equal(done.returncode, 0, done.stderr)
    return built


def test_memcheck_finds_no_fault_of_ours():
    """Where it finds one a program may end with another status.  Its output comes once,
    though memcheck and massif write at the end of each copy of it what its stdout
    still holds."""
    if not shutil.which("valgrind"):
        raise Skip("valgrind is not on this machine")
    check = ("valgrind", "-q", "--error-exitcode=99", program("step_loop"), "20")
    out = os.path.join(folder(), "massif")
    massif = ("valgrind", "-q", "--tool=massif", "--massif-out-file=" + out, *check[3:])
    verdict = {"TRACEPROF_VERDICT": "1", "TRACEPROF_STEP": "api"}
    for words, env in ((check, {}), (massif, {}), (check, {"SAMPLE": "997"}),
                       (check, {"MALLOC": "all", "STACK": "all", "WAITS": "1", "IO": "1",
                                 "MMAP": "1"})):
        run = traced(*words, env=verdict | {"TRACEPROF_" + key: value
                                            for key, value in env.items()})
        expect_equal((run.status, run.stdout, run.foreign_stderr), (0, "20 steps, 120\n", ""), env)
        expect_equal(any(" memcheck would take" in line for line in run.own_lines),
                     "SAMPLE" in env or "STACK" in env, run.stderr)


GO = """package main
/*
#cgo CFLAGS: -O1 -fopenmp
#cgo LDFLAGS: -fopenmp
static __attribute__((noinline)) int go_region(void)
{
	int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
	return sum;
}
static int loop(int count)
{
	int sum = 0;
	while (count--)
		sum += go_region();
	return sum;
}
*/
import "C"
import ("fmt"; "os")
func main() { fmt.Println(C.loop(1000)); os.Exit(3) }
"""


def test_go_with_cgo():
    """Its runtime ends the process by a bare system call: `record` adds what the
    file lacks, and says so."""
    place = folder()
    with open(os.path.join(place, "main.go"), "w", encoding="utf-8") as file:
        file.write(GO)
    if not shutil.which("go"):
        raise Skip("go is not on this machine")
    done = subprocess.run(["go", "build", "-o", "loop", "main.go"], cwd=place,
                          env=os.environ | {"GOCACHE": place + "/cache", "GO111MODULE": "off",
                                            "GOFLAGS": ""},
                          capture_output=True, text=True)
    if done.returncode:
        raise Skip("go cannot build with cgo here: " + done.stderr[:200])
    target = os.path.join(place, "out")
    done = harness.command("record", "--", os.path.join(place, "loop"),
                           env={"TRACEPROF_DIR": target})
    expect_equal((done.status, done.stdout), (3, "2000\n"), done.stderr)
    expect("recovered" in done.stderr, done.stderr)
    run = harness.Run([], 0, "", done.stderr, target)
    harness.check_files(run)
    harness.expect_no_session(run)
    expect_equal(len(run.trace.regions("go_region")), 1000, "regions")


def test_plugin_that_brings_libgomp():
    trace = same("plugin_host", plugin()).trace
    expect_equal(len(trace.regions("plugin_run")), 4, "regions")


def test_plugin_that_is_closed_and_loaded_again():
    same("plugin_host", "-c", plugin())


def test_two_libgomps_in_one_process():
    own = plugin_with_own_libgomp()
    run = same("plugin_host", plugin(), own)
    found = run.trace.regions("plugin_run")
    expect_equal(len(found), 8, "regions of both")
    same("plugin_host", own, plugin())


def test_one_plugin_at_the_address_of_another():
    """What was found for the first must not be used for the second."""
    own = plugin_with_own_libgomp()
    trace = same("plugin_host", "-s", plugin(), own).trace
    expect_equal(len(trace.slices(omp="parallel")), 6, "regions")


def test_deepbind():
    same("plugin_host", "-d", plugin())


def test_late_load():
    trace = same("late_load", plugin()).trace
    expect(trace.regions("plugin_run"), "the late region is lost")


def test_a_thread_that_loading_waits_for():
    same("loads_late", plugin("libstarts_thread.so"), env={"TRACEPROF": "off"})
    same("loads_late", plugin("libstarts_thread.so"))


def test_blas_by_an_address_in_code():
    source = os.path.join(folder(), "in_code.c")
    with open(source, "w") as file:
        file.write('__asm__(".weak cblas_sgemm\\n.text\\n.balign 8\\n"\n'
                   '        ".globl in_code\\nin_code: .quad cblas_sgemm\\n");\n')
    built = harness.compile_program(source, "-shared", "-fPIC", "-w",
                                    "-Wl,-z,notext", name="libin_code.so")
    same("loads_late", preload=f"{harness.LIBRARY}:{built}")
    same("loads_late", env={"TRACEPROF": "0"},
         preload=f"{harness.LIBRARY}:{built}")


def test_constructor_before_ours_and_destructor_after():
    trace = same("eager_host").trace
    found = trace.regions("early_region")
    expect(found, "the region of a constructor before ours is lost")


def test_early_memory_is_counted():
    same("eager_host", env={"TRACEPROF_MALLOC": "all"})


def test_program_with_its_own_allocator():
    run = same("own_malloc")
    expect(run.trace.regions("own_region"), "the region is lost")
    notes = " ".join(run.trace.meta.get("notes", []))
    expect("alloc" in notes, "the file does not say that the heap is not seen",
           run.trace.meta)
    said = " ".join(harness.command("memory", run.trace.path).stdout.split())
    expect("no memory events in this trace: heap not recorded: " in said, said)


def test_an_allocator_that_bears_nothing_before_main():
    """As GCL's, in Maxima: a constructor before ours gets memory by it from sbrk(),
    which we had not found yet, and it can't free what the loader says of a name
    that isn't there."""
    library = harness.compile_program("early_break.c", "-DLIBRARY", "-shared", "-fPIC",
                                      name="libearly.so")
    built = harness.compile_program("early_break.c", "-Wl,--no-as-needed", library,
                                    name="early")
    for env in ({}, {"TRACEPROF_MMAP": "1"}, {"TRACEPROF": "0"}, {"TRACEPROF_MALLOC": "all"}):
        run = same(built, env=env)
        expect_equal(run.stdout, "1\n0\n1\n", env)


def test_stacks_of_an_allocator_that_bears_nothing_before_main():
    """The loader frees by it as it loads libunwind."""
    built = harness.compile_program("early_break.c", name="early_alone")
    for env in ({"TRACEPROF_STACK": "all"}, {"TRACEPROF_SAMPLE": "499"}):
        run = same(built, env=env)
        expect_equal((run.stdout, run.foreign_stderr), ("0\n0\n1\n", ""), env)
    notes = run.trace.meta["notes"]
    expect(any("own allocator fails" in note for note in notes), "why no stacks", notes)


def expect_sizes(run, count, asked):
    """What an allocator rounds up to is no more than a quarter."""
    sizes = [abs(event["args"]["Bytes"]) for event in run.trace.memory()]
    expect(sum(asked <= size <= asked * 1.25 for size in sizes) >= 2 * count and
           max(sizes) <= 4 << 20, "sizes", sorted(sizes)[-5:])


def check_allocator(name):
    """Before us it is what the program calls; behind us, what we call."""
    path = f"/usr/lib/x86_64-linux-gnu/{name}"
    if not os.path.exists(path):
        raise Skip(f"no {name}")
    wanted = plain("heap_calls", "malloc", 1000, 98765,
                   env={"LD_PRELOAD": path})
    for preload, is_seen in ((f"{harness.LIBRARY} {path}", True),
                             (f"{path} {harness.LIBRARY}", False)):
        run = traced("heap_calls", "malloc", 1000, 98765, preload=preload,
                     env={"TRACEPROF_MALLOC": "all"})
        expect_equal((run.status, run.stdout, run.foreign_stderr),
                     (wanted.status, wanted.stdout, ""), preload)
        expect_equal(bool(run.files), is_seen, f"a trace with {preload}")
        expect(not is_seen or len(run.trace.memory()) >= 2000, "events are lost")
        if is_seen:
            expect_sizes(run, 1000, 98765)
        run = traced("region", "plain_parallel", preload=preload)
        expect_equal(run.status, 0, run.stderr)
        expect(run.trace.regions("plain_parallel"), f"no region with {preload}")


def test_jemalloc():
    check_allocator("libjemalloc.so.2")


def test_tcmalloc():
    check_allocator("libtcmalloc_minimal.so.4")


def test_mimalloc():
    check_allocator("libmimalloc.so.2")


def test_a_chroot_without_proc():
    """The program's own functions have names all the same."""
    if os.geteuid():
        raise Skip("not root")
    root, ours = folder(), "/libtraceprof.so"
    pairs = [(program("region"), "/region"), (harness.LIBRARY, ours)]
    for path in (program("region"), harness.LIBRARY):
        listed = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
        pairs += [(word, word) for word in listed.split() if word[0] == "/"]
    for path, place in pairs:
        os.makedirs(root + os.path.dirname(place), exist_ok=True)
        shutil.copy(path, root + place)

    def enter():
        os.chroot(root)
        os.chdir("/")

    done = subprocess.run(["/region", "plain_parallel"], preexec_fn=enter,
                          env={"LD_PRELOAD": ours}, capture_output=True, text=True)
    expect_equal(done.returncode, 0, done.stderr)
    name, = os.listdir(root + "/traceprof")
    trace = harness.Trace(f"{root}/traceprof/{name}")
    expect(trace.regions("plain_parallel"), "no region of that name", done.stderr)


def test_hot_path_stays_out_of_the_kernel():
    expected = "150 rounds, errno 77, 0 calls\n"
    for mode in ("off", "counters", "large", "all"):
        run = traced("hot_path", env={"TRACEPROF_MALLOC": mode}, check=False)
        expect_equal((run.status, run.stdout), (0, expected), mode)
        harness.command("recover", run.folder)
        harness.check_files(run)


def test_hot_path_does_not_allocate():
    path = compile_program("hot_path.c", "-fopenmp", "-DOWN_MALLOC")
    run = traced(path, check=False)
    expect_equal((run.status, run.stdout),
                 (0, "150 rounds, errno 77, 0 calls\n"), run.stderr)
    harness.command("recover", run.folder)


def test_small_stacks():
    same("small_stack", env={"TRACEPROF_MALLOC": "all"})


def test_handlers_that_allocate():
    trace = same("signals", "storm", env={"TRACEPROF_MALLOC": "all"}).trace
    expect(len(trace.regions("short_region")) >= 2000, "regions are lost")


def test_signals_that_somebody_waits_for():
    same("signals", "wait")


def test_handler_on_a_small_stack():
    same("signals", "altstack", env={"TRACEPROF_MALLOC": "all"})


def test_ends_on_a_small_stack():
    """In a handler on 8 KiB, with signals meanwhile whose handlers have the same stack."""
    for how in ("_exit", "exit", "quick_exit", "exec", "raise"):
        run = traced("tight_stack", "end", how)
        expect_equal(run.status, -15 if how == "raise" else 3, f"{how}: {run.stderr}")
        expect_equal(len(run.trace.regions("regions")), 50)
    run = traced("tight_stack", "leave")
    expect_equal(run.status, 3, run.stderr)
    expect_equal(len(run.trace.regions("regions")), 50)


def test_begins_on_a_small_stack():
    run = traced("tight_stack", "region")
    expect_equal(run.status, 0, run.stderr)
    expect_equal(len(run.trace.regions("regions")), 50)
    expect_equal(traced("tight_stack", "heap").status, 0)


def test_arithmetic_is_left_as_it_was():
    """Traps for inexact results, which are on in a Fortran program that looks for them."""
    for settings in ({}, {"TRACEPROF_MALLOC": "all", "TRACEPROF_SAMPLE": "1",
                          "TRACEPROF_STACK": "heap:8", "TRACEPROF_CHILDREN": "all"}):
        for what in ("traps", "flags"):
            same("arithmetic", what, env=settings)


def test_locks_on_files_that_we_read():
    """A process gives up its locks on a file by closing any descriptor of it: that of its
    own code, which has the names, and of the one that the messages go to."""
    messages = os.path.join(harness.folder(), "messages")
    run = traced("own_lock", messages, env={"TRACEPROF_NONSENSE": "1"})
    expect(run.stdout.endswith("locks held: 1 1\n"), run.stdout)
    expect(run.trace.regions("work"), "no name for a region")
    with open(messages, encoding="utf-8") as file:
        expect("traceprof: unknown setting TRACEPROF_NONSENSE" in file.read(), messages)


def test_descriptors_closed_under_us():
    place = folder()
    without, within = os.path.join(place, "without"), os.path.join(place, "within")
    plain("close_all", without)
    run = traced("close_all", within)
    expect_equal(run.status, 0, run.stderr)
    expect_equal(open(within, "rb").read(), open(without, "rb").read(),
                 "the program's own file")
    expect_equal(len(run.trace.regions("some_regions")), 30, "regions")


def test_user_namespace_of_a_quiet_program():
    same("namespaces")


def check_rights(way):
    """As another user it may make its file here, but not remove the session."""
    place = folder()
    os.chmod(place, 0o777)
    run = traced("drops_rights", way, env={"TRACEPROF_WAITS": "1", "TRACEPROF_DIR": place},
                 check=False)
    without = plain("drops_rights", way)
    expect_equal((run.status, run.stdout), (without.status, without.stdout), run.stderr)
    harness.command("recover", place)
    run.folder = place
    return run


def test_a_daemon_that_keeps_some_rights():
    """setgroups() is refused to none of its threads or to all, or it aborts."""
    if os.geteuid():
        raise Skip("it begins as root")
    for way in ("capset", "syscall", "securebits", "number"):
        expect_equal(len(check_rights(way).trace.slices("wait: nanosleep")), 2,
                     "waits of " + way)


def test_threads_that_come_and_go():
    run = same("threads", 64, 10000, env={"TRACEPROF_MALLOC": "large"})
    events = run.trace.meta["events"]
    born = [one for one in run.trace.memory() if 66000 <= one["args"]["Bytes"] < 67000]
    # A thread that finds no room for a record makes two calls or more.
    missing = events["dropped"] + events["unrecorded_calls"]
    expect(len(born) + missing >= 10000, f"only {len(born)} threads",
           run.trace.meta)


def test_libomp_behind_the_same_names():
    """gcc's code on LLVM's runtime: results first, and no region twice."""
    libomp = "/usr/lib/llvm-14/lib/libomp.so.5"
    found = [path for path in (libomp, "/usr/lib/x86_64-linux-gnu/libomp.so.5")
             if os.path.exists(path)]
    if not found:
        raise Skip("no libomp")
    place = folder()
    os.symlink(found[0], os.path.join(place, "libgomp.so.1"))
    run = same("region", "plain_parallel", 2, env={"LD_LIBRARY_PATH": place})
    expect(len(run.files) <= 1, "more than one file")


def test_clang_program():
    path = compile_program("endless.c", "-fopenmp", compiler="clang")
    same(path, 300)


def test_valgrind_and_other_tools_do_not_crash_on_us():
    tool = program("valgrind")
    run = traced(tool, "--tool=none", "-q", program("region"), "plain_parallel",
                 check=False)
    expect_equal((run.status, run.stdout), (0, "plain_parallel 3\n"), run.stderr)


def test_address_sanitizer():
    """gcc's runtime wants to be first, and says so of any library; told not to mind,
    or where it is first, both must work."""
    path = compile_program("heap_calls.c", "-fsanitize=address", "-pthread")
    run = traced(path, "malloc", 10, 98765, check=False)
    expect(run.status == 1 and "ASan runtime does not come first" in run.stderr,
           run.status, run.stderr)
    runtime = subprocess.run(["gcc", "-print-file-name=libasan.so"], text=True,
                             capture_output=True, check=True).stdout.strip()
    for order, preload in ((0, harness.LIBRARY), (1, f"{runtime}:{harness.LIBRARY}")):
        settings = {"ASAN_OPTIONS": f"verify_asan_link_order={order}:detect_leaks=0"}
        run = traced(path, "malloc", 10, 98765, env=settings, preload=preload)
        expect_equal(run.status, 0, run.stderr)


def test_what_is_no_point_of_cancellation_stays_none():
    """What we ask of the kernel on the way would end the thread there."""
    for env in ({}, {"TRACEPROF_STACK": "heap"}, {"TRACEPROF_SAMPLE": "997"},
                {"TRACEPROF_STACK": "all", "TRACEPROF_MALLOC": "all"},
                {"TRACEPROF_STEP": "omp:none"}):
        run = same("cancels", 20, env=env)
        expect("cut" not in run.stdout, run.stdout)


def test_an_interpreter_counts_its_own_threads_alone():
    """CPython warns at os.fork() where it finds several; with -W error it is an
    exception.  Anybody else reads the kernel's own file."""
    for flags, counted in (("-rdynamic", 1), ("-no-pie", 2)):
        for bits in ("-D_FILE_OFFSET_BITS=64", "-D_FILE_OFFSET_BITS=32"):
            path = compile_program("counts_threads.c", flags, bits)
            expect_equal(plain(path).stdout, "1 threads\n")
            run = traced(path, "wait", env={"TRACEPROF_MALLOC": "all"})
            expect_equal(run.stdout, f"{counted} threads\n", flags)


def test_a_team_that_its_program_bound_to_one_processor():
    """Its threads wait for each other, whatever else the machine does, of which there
    may be findings before this one: with as many processors as it was started with the
    verdict would blame others alone."""
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("there is one processor")
    for arguments in [[]] + 10 * [["binds"]]:
        run = same("binds_team", *arguments)
        tail = run.trace.meta
        ours = tail["scheduled"]
        # A run that is over within a tick of the kernel's, too.
        expect(ours.get("program_ns", ours["ran_ns"]) > ours["ran_ns"] / 2, ours)
        expect_equal((tail["bound_cpus"], tail["bound_threads"]),
                     (1 if arguments else tail["cpus"], 2), tail)
        said = [finding["figure"] for finding in judged(run.trace.path)["findings"]]
        expect_equal("2 threads on 1 processor, to which the program bound them" in said,
                     bool(arguments), said)


def test_a_bound_team_whose_processor_others_have():
    """One of it sleeps while the other finds none: what both wanted counts."""
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("there is one processor")
    first = str(min(os.sched_getaffinity(0)))
    busy = [subprocess.Popen(["taskset", "-c", first, sys.executable, "-c",
                              "while True: pass"]) for _ in range(8)]
    try:
        run = same("binds_team", "binds")
    finally:
        for one in busy:
            one.kill()
            one.wait()
    tail = run.trace.meta
    expect(tail["threads_waited_ns"] > tail["scheduled"]["waited_ns"] > 0, tail)
    expect(tail["threads_ran_ns"] > tail["scheduled"]["ran_ns"] / 2, tail)
    said = [finding["figure"] for finding in judged(run.trace.path)["findings"]]
    expect("2 threads on 1 processor, to which the program bound them" in said, said)


def test_another_clock_is_the_programs_alone():
    """libfaketime's, ten times as fast, or one that stands still: a profile is of the
    time that it took, and its end comes."""
    for times in ("10", "0"):
        run = traced("step_loop", 20, 20, preload=f"{plugin('libfast_clock.so')}:{harness.LIBRARY}",
                     env={"TRACEPROF_STEP": "api", "FAST_CLOCK": times})
        expect_equal(run.status, 0, run.stderr)
        times_us = sorted(step["dur"] for step in run.trace.slices(cat="user_annotation"))
        expect_equal(len(times_us), 20)
        expect(20000 <= times_us[1], times, times_us)
        expect(times_us[10] < 100000, times, times_us)


if __name__ == "__main__":
    harness.main()
