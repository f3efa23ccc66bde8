# SPDX-License-Identifier: MIT
"""Without CUPTI: what stands in front of the CUDA runtime, function by function."""

import collections
import itertools
import os
import re
import shutil
import subprocess

import harness
from harness import LIBRARY, compile_program, expect, expect_equal, plain, traced
from gpu_records import OVERHEAD, Dump
from t_cuda import FAKE, need


def test_each_call_is_recorded_and_changes_no_answer():
    need("runtime_calls")
    run = harness.same("runtime_calls", env={
        "LD_LIBRARY_PATH": FAKE, "SIMGPU_SUBSCRIBER_TAKEN": "1"})
    first, *called = [line.split()[0] for line in run.stdout.splitlines()]
    expect(first == "cudaEventCreate" and len(called) > 30, run.stdout)
    expect_equal(collections.Counter(call["name"] for call
                                     in run.trace.slices(cat="cuda_runtime")),
                 collections.Counter(re.sub(r"^__|_pt(sz|ds)$", "", name)
                                     for name in called), "calls")


RUNTIME = """
int cudaMalloc(void **p, unsigned long n) { *p = (void *)(VERSION + n); return 0; }
int cudaLaunchKernel(long kernel) { return kernel == VERSION ? 0 : 98; }
"""
# An extension module, whose functions are bound when it is loaded.
MODULE = """
int cudaMalloc(void **, unsigned long);
int cudaLaunchKernel(long);
int run(void)
{
	void *p = 0;

	return cudaLaunchKernel(VERSION) || cudaMalloc(&p, 1) ? -1 : (int)(long)p;
}
"""
# Nothing of the function is left where the calls return to.  A kernel is known by a
# function of its file.
JUMPS = """
int cudaMalloc(void **, unsigned long);
int cudaLaunchKernel(const void *);
int entry(void) { return VERSION; }
int launch(void) { return cudaLaunchKernel(entry); }
int grab(void **p) { return cudaMalloc(p, 1); }
"""
OF_ENTRIES = """
int cudaMalloc(void **p, unsigned long n) { *p = (void *)(VERSION + n); return 0; }
int cudaLaunchKernel(int (*kernel)(void)) { return kernel() == VERSION ? 0 : 98; }
"""
JUMPED = """
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *module = dlopen(argv[i], RTLD_NOW), *p = 0;
		int (*launch)(void) = (int (*)(void))dlsym(module, "launch");
		int (*grab)(void **) = (int (*)(void **))dlsym(module, "grab");

		for (int j = 0; j < 3; j++)
			printf("%d %d\\n", launch(), grab(&p));
	}
	return 0;
}
"""
HOST = """
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		void *module = dlopen(argv[i], RTLD_NOW | (argv[1][0] == 'g' ? RTLD_GLOBAL : 0));

		if (!module)
			return puts(dlerror());
		printf("%d\\n", ((int (*)(void))dlsym(module, "run"))());
	}
	return 0;
}
"""


# Many modules; of the last two each runs on a thread of its own.
MANY = """
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static int (*of[2])(void);
static void *run(void *arg)
{
	int (*module)(void) = arg;
	const int first = module();

	for (int i = 0; i < 3000; i++)
		if (module() != first)
			return "another's";
	return "its own";
}

int main(int argc, char **argv)
{
	pthread_t thread[2];
	void *said;

	for (int i = 2; i < argc; i++) {
		void *module = dlopen(argv[i], RTLD_NOW);

		if (!module)
			return puts(dlerror());
		of[i % 2] = (int (*)(void))dlsym(module, "run");
		of[i % 2]();
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], 0, run, (void *)of[i]);
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], &said);
		puts(said);
	}
	return 0;
}
"""


def build_two_runtimes(source=HOST, module=MODULE, runtime=RUNTIME, level="-O1"):
    """A host, and two modules with a runtime each, as two wheels bring them."""
    place = harness.folder()

    def build(name, source, *flags):
        with open(os.path.join(place, name + ".c"), "w", encoding="ascii") as file:
            file.write(source)
        done = subprocess.run(
            ["gcc", level, "-w", "-fno-builtin", "-o", os.path.join(place, name),
             os.path.join(place, name + ".c"), *flags],
            capture_output=True, text=True)
        expect(done.returncode == 0, done.stderr)
        return os.path.join(place, name)

    modules = []
    for version in (12, 13):
        soname = f"libcudart.so.{version}"
        script = os.path.join(place, f"{version}.map")
        with open(script, "w", encoding="ascii") as file:
            file.write(f"{soname} {{ global: *; }};\n")
        shared = ["-shared", "-fPIC", f"-DVERSION={version}"]
        library = build(soname, runtime, *shared, f"-Wl,-soname,{soname}",
                        f"-Wl,--version-script={script}")
        modules.append(build(f"module{version}.so", module, *shared, library,
                             "-Wl,-rpath,$ORIGIN", "-Wl,-z,now"))
    return build("host", source, "-ldl", "-pthread"), modules


def test_more_modules_than_are_remembered():
    """Two threads call from files past the 256th: each finds its own runtime."""
    host, modules = build_two_runtimes(MANY)
    copies = []
    for i in range(300):
        copies.append(os.path.join(os.path.dirname(host), f"copy{i}.so"))
        shutil.copy(modules[i % 2], copies[-1])
    run = traced(host, "many", *copies)
    expect_equal((run.status, run.stdout), (0, "its own\nits own\n"), run.stderr)


def test_each_module_has_the_runtime_that_it_was_linked_with():
    host, modules = build_two_runtimes()
    for scope, order, cuda in itertools.product(
            ("local", "global"), (modules, modules[::-1]), ("auto", "off")):
        wanted = plain(host, scope, *order)
        expect_equal(sorted(wanted.stdout.split()), ["13", "14"], "without us")
        run = traced(host, scope, *order, env={"TRACEPROF_CUDA": cuda}, check=False)
        expect_equal((run.status, run.stdout), (0, wanted.stdout),
                     f"{scope} {cuda} {run.stderr}")


def test_modules_that_are_bound_at_the_start():
    """Before any setting is read."""
    host, modules = build_two_runtimes()
    for order, cuda in itertools.product((modules, modules[::-1]), ("auto", "off")):
        run = traced(host, "local", *order, env={"TRACEPROF_CUDA": cuda}, check=False,
                     preload=":".join((LIBRARY, *order)))
        expect_equal((run.status, sorted(run.stdout.split())), (0, ["13", "14"]),
                     f"{cuda} {run.stderr}")


def test_a_call_that_is_a_jump_launches_its_own_kernel():
    host, modules = build_two_runtimes(JUMPED, JUMPS, OF_ENTRIES, "-O2")
    for order, cuda in itertools.product((modules, modules[::-1]), ("auto", "off")):
        run = traced(host, *order, env={"TRACEPROF_CUDA": cuda}, check=False)
        expect_equal((run.status, run.stdout), (0, 6 * "0 0\n"), f"{cuda} {run.stderr}")


def test_off_is_found_by_nobody():
    """A program that asks by a weak name whether there is CUDA gets the answer that it
    gets without us; with dlsym() too, if CUDA's calls aren't wanted."""
    names = compile_program("cuda_names.c", "-O1", name="cuda_names")
    needed = compile_program("cuda_names.c", "-O1", "-Wl,-z,now,--no-as-needed",
                             os.path.join(FAKE, "libcudart.so.13"), name="cuda_names_now")
    there = os.path.join(FAKE, "libcudart.so.13")
    for command in [names], [names, there], [needed]:
        env = {"LD_LIBRARY_PATH": FAKE, "TRACEPROF_CUDA": "off"}
        wanted = plain(*command, env=env)
        expect_equal((wanted.status, wanted.stdout.count("libcudart")),
                     (0, {1: 0, 2: 1}.get(len(command), 0) + 2 * (command == [needed])),
                     wanted.stdout)
        expect_equal(traced(*command, env=env).stdout, wanted.stdout, command)
        seen = traced(*command, env={"LD_LIBRARY_PATH": FAKE}).stdout.split()
        if command == [names]:
            expect_equal(seen[:2], ["nobody", "nobody"], "by weak names")


def test_off_forwards_and_does_nothing_else():
    """Each function answers as it does without us, and another client of CUPTI
    gets the same records."""
    need("runtime_calls")
    seen = []
    for run in (plain, traced):
        out = os.path.join(harness.folder(), "spy")
        env = {"LD_LIBRARY_PATH": FAKE, "TRACEPROF_CUDA": "off", "SPY_OUT": out,
               "CUDA_INJECTION64_PATH": os.path.join(FAKE, "libspy.so")}
        done = run("runtime_calls", env=env)
        expect_equal((done.status, done.own_lines, done.files), (0, [], []), done.stderr)
        counts = collections.Counter(record.kind for record in Dump(out, 130001).records
                                     if record.kind != OVERHEAD)
        seen.append((done.stdout, counts))
    expect_equal(seen[1], seen[0], "answers and records")
    expect(sum(seen[0][1].values()) > 30, seen[0])


if __name__ == "__main__":
    harness.main()
