# SPDX-License-Identifier: MIT
"""TRACEPROF_SHAPES: BLAS, LAPACK and cuBLAS, by libraries that only look at what
they are called with."""

import json
import os
import re
import subprocess

import harness
from harness import Skip, command, expect, expect_equal, plain, same, traced
from t_instructions import each

SHAPES = {"TRACEPROF_SHAPES": "1"}
LIST = """
#include "preload/blas/blas_wrapped.h"
#define X(name, how, op, type, words) row name how op type words
BLAS_WRAPPED_FUNCTIONS(X)
"""


def rows():
    """(name, how, places, type, words) of each hook."""
    text = subprocess.run(["gcc", "-E", "-P", "-x", "c", f"-I{harness.ROOT}", "-"],
                          input=LIST, capture_output=True, text=True).stdout
    found = re.findall(r"row (\w+) (\w+) (\w+) (\w+) (\d+)", text)
    return [(*row[:4], int(row[4])) for row in found]


def build(place, name, source, *flags):
    path = os.path.join(place, name + ".c")
    with open(path, "w", encoding="ascii") as file:
        file.write(source)
    done = subprocess.run(["gcc", "-g", "-O0", "-w", "-fno-builtin", "-o",
                           os.path.join(place, name), path, *flags],
                          capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr[-2000:])
    return os.path.join(place, name)


def parameters(words):
    return ", ".join(["double x0", "double x1"] + [f"long a{i}" for i in range(words)])


def library(place, functions, name="libsim.so", *flags):
    """Each function says whether it got what the program gave, and leaves errno."""
    source = ["#include <errno.h>", "#include <stdio.h>", "long expected[26];",
              "static void look(const char *name, double x0, double x1, long *a, int n)",
              "{ int bad = x0 != 1.5 || x1 != -2.25;",
              "for (int i = 0; i < n; i++) bad |= a[i] != expected[i];",
              'printf("%s %s\\n", name, bad ? "bad" : "good"); errno = 77; }']
    for function, _, _, _, words in functions:
        listed = ", ".join(f"a{i}" for i in range(words))
        source.append(f"long {function}({parameters(words)}) {{ long a[] = {{{listed}}}; "
                      f'look("{function}", x0, x1, a, {words}); return 4711; }}')
    return build(place, name, "\n".join(source), "-shared", "-fPIC",
                 f"-Wl,-soname,{name}", *flags)


# Where the number of groups stands.
GROUPS = {"GEMM_BATCH": 13, "CUDA_GROUPS_EX": 16}


# Sizes 11, 12, ...; 'T' where a letter may stand.
def arguments(how, places, words):
    if places in GROUPS:            # arrays, of two groups that are alike
        first = 0 if how[0] == "F" else 1
        made = [101] * first + ["letters"] * 2 + ["rows", "columns", "inner"]
        made += ["0"] * (GROUPS[places] - 5) + ["&groups" if how[0] == "F" else "2", "sizes"]
        return [str(one) for one in made] + ["1"] * (words - len(made))
    if how[0] == "F":
        return [f"(long)&slot[{i}]" for i in range(words)]
    return [str(101 if i == 0 else (112 if how[0] == "C" else 1) if i < 3 and
                places != "EIGEN" else 8 + i) for i in range(words)]


def caller(place, functions, *flags):
    lines = ["#include <errno.h>", "#include <stdio.h>", "extern long expected[];",
             "static long slot[26], letters_[1] = {84};", "int main(void) {",
             "for (int i = 0; i < 26; i++) slot[i] = i < 2 ? 84 : 8 + i;"]
    for function, how, places, _, words in functions:
        kind = "int" if how.endswith("32") else "long"
        letter = "char" if how[0] == "F" else "int"
        code = "'N'" if how[0] == "F" else "111"
        given = arguments(how, places, words)
        lines += [f"{{ extern long {function}({parameters(words)});",
                  f"static {letter} letters[] = {{{code}, {code}}};",
                  f"static {kind} rows[] = {{11, 11}}, columns[] = {{12, 12}}, "
                  "inner[] = {13, 13}, sizes[] = {5, 6}, groups = 2;",
                  *(f"expected[{i}] = (long){one};" for i, one in enumerate(given)),
                  f"errno = 5; long got = {function}(1.5, -2.25, "
                  + ", ".join(f"(long){one}" for one in given) + ");",
                  'if (got != 4711 || errno != 77) puts("wrong answer"); }']
    return build(place, "caller", "\n".join([*lines, "return 0; }"]),
                 "-L" + place, "-l:libsim.so", "-Wl,-rpath,$ORIGIN", *flags)


def test_each_function_is_handed_on_as_it_came():
    functions = [row for row in rows() if row[1] not in ("ONEDNN", "LT")]
    expect(len(functions) > 300, len(functions))
    place = harness.folder()
    library(place, functions)
    program = caller(place, functions)
    for shapes in ("1", "0"):
        run = same(program, env={"TRACEPROF_SHAPES": shapes})
        expect_equal(run.stdout.split()[::2], [row[0] for row in functions], shapes)
        expect_equal(set(run.stdout.split()[1::2]), {"good"}, shapes)
        if shapes == "1":
            seen = run.trace.slices(cat="cpu_op")
            expect_equal([one["name"] for one in seen], [row[0] for row in functions])
        else:
            expect_equal(run.files, [], "nothing else would be recorded")
    for one, (name, how, places, kind, _) in zip(seen, functions):
        args = one["args"]
        expect("Input Dims" in args and args["Call site"] == "main", one)
        if places == "GEMM" and how[0] == "F":
            expect_equal((args["Input Dims"], args["trans"]), ([[10, 12], [12, 11]], "TT"))
        if places == "GEMM" and how[0] in "CG":
            expect_equal((args["Input Dims"], args["trans"]), ([[11, 13], [13, 12]], "TT"))
        if places in GROUPS:
            expect_equal(args["Input Dims"], [[11, 11, 13], [11, 13, 12]], name)
            flops = 2 * 11 * 12 * 13 * 11 * (4 if kind in "CZ" else 1)
            expect_equal(args["flops"], flops, name)
        if places in ("GEMM_STRIDED", "CUDA_STRIDED", "CUDA_BATCHED"):
            last = dict((row[0], row[4]) for row in functions)[name] - 1
            expect_equal(args["Input Dims"][0], [8 + last, 11, 13], name)
        expect_equal(len(args["Input type"]), len(args["Input Dims"]), name)


CALLS = """
extern void dgemm_(), sgemm_(), dgemv_(), dsyrk_(), zherk_(), dtrsm_(), dsymm_();
extern void dgetrf_(), dpotrf_(), dgeqrf_(), dgesv_(), dgesdd_(), zgemm_();
extern void dgetri_(), dpotri_(), dorgqr_(), dormqr_(), dsyevr_(), dgesvd_(), dsyev_();
static int m = 30, n = 20, k = 7, one = 1, ask = -1;
static double x = 1, a[4096];
int main(void)
{
	dgemm_("N", "t", &m, &n, &k, &x, a, &m, a, &n, &x, a, &m, 1L, 1L);
	zgemm_("N", "C", &m, &n, &k, &x, a, &m, a, &n, &x, a, &m, 1L, 1L);
	dgemv_("N", &m, &n, &x, a, &m, a, &one, &x, a, &one, 1L);
	dsyrk_("U", "N", &n, &k, &x, a, &n, &x, a, &n, 1L, 1L);
	dtrsm_("L", "U", "N", "N", &m, &n, &x, a, &m, a, &m, 1L, 1L, 1L, 1L);
	dtrsm_("R", "U", "N", "N", &m, &n, &x, a, &m, a, &m, 1L, 1L, 1L, 1L);
	dsymm_("L", "U", &m, &n, &x, a, &m, a, &m, &x, a, &m, 1L, 1L);
	dgetrf_(&m, &n, a, &m, a, &one);
	dpotrf_("U", &n, a, &n, &one, 1L);
	dgeqrf_(&m, &n, a, &m, a, a, &one, &one);
	dgesv_(&n, &k, a, &n, a, a, &n, &one);
	dgesdd_("N", &m, &n, a, &m, a, a, &m, a, &n, a, &one, a, &one, 1L);
	dgetri_(&n, a, &n, a, a, &one, &one);
	dpotri_("U", &n, a, &n, &one, 1L);
	dorgqr_(&m, &n, &k, a, &m, a, a, &one, &one);
	dormqr_("L", "T", &m, &n, &k, a, &m, a, a, &m, a, &one, &one, 1L, 1L);
	dormqr_("R", "N", &m, &n, &k, a, &m, a, a, &m, a, &one, &one, 1L, 1L);
	dsyevr_("V", "A", "U", &n, a, &n, &x, &x, &one, &one, &x, &one, a, a, &n, a, a, &one, a,
		&one, &one, 1L, 1L, 1L);
	dgesvd_("N", "N", &m, &n, a, &m, a, a, &m, a, &n, a, &one, &one, 1L, 1L);
	dsyev_("V", "U", &n, a, &n, a, a, &one, &one, 1L, 1L);
	dgeqrf_(&m, &n, a, &m, a, a, &ask, &one);
	dormqr_("R", "N", &m, &n, &k, a, &m, a, a, &m, a, &ask, &one, 1L, 1L);
	return 0;
}
"""


def quiet_library(place, names, name="libsim.so", body="", *flags):
    return build(place, name, "\n".join(f"void {one}() {{ {body} }}" for one in names),
                 "-shared", "-fPIC", f"-Wl,-soname,{name}", *flags)


def test_flops_and_bytes():
    place = harness.folder()
    quiet_library(place, sorted(set(re.findall(r"(\w+_)\(", CALLS))))
    program = build(place, "calls", CALLS, "-L" + place, "-l:libsim.so",
                    "-Wl,-rpath,$ORIGIN")
    m, n, k = 30, 20, 7
    lu = 2 * (m * n * n - (m + n) * n * n / 2 + n ** 3 / 3)
    wanted = [
        ("dgemm_", [[m, k], [k, n]], 2 * m * n * k, 8 * (m * k + k * n + 2 * m * n)),
        ("zgemm_", [[m, k], [k, n]], 8 * m * n * k, 16 * (m * k + k * n + 2 * m * n)),
        ("dgemv_", [[m, n], [n]], 2 * m * n, 8 * (m * n + n + 2 * m)),
        ("dsyrk_", [[n, k]], n * (n + 1) * k, 8 * (n * k + n * (n + 1))),
        ("dtrsm_", [[m, m], [m, n]], m * m * n, 8 * (m * (m + 1) // 2 + 2 * m * n)),
        ("dtrsm_", [[n, n], [m, n]], m * n * n, 8 * (n * (n + 1) // 2 + 2 * m * n)),
        ("dsymm_", [[m, m], [m, n]], 2 * m * m * n, 8 * (m * (m + 1) // 2 + 3 * m * n)),
        ("dgetrf_", [[m, n]], int(lu), 8 * 2 * m * n),
        ("dpotrf_", [[n, n]], n ** 3 // 3, 8 * n * (n + 1)),
        ("dgeqrf_", [[m, n]], int(2 * lu), 8 * 2 * m * n),
        ("dgesv_", [[n, n], [n, k]], int(2 * n ** 3 / 3 + 2 * n * n * k),
         8 * (2 * n * n + 2 * n * k)),
        ("dgesdd_", [[m, n]], None, None),
        ("dgetri_", [[n, n]], 4 * n ** 3 // 3, 8 * 2 * n * n),
        ("dpotri_", [[n, n]], 2 * n ** 3 // 3, 8 * n * (n + 1)),
        ("dorgqr_", [[m, n]], int(4 * m * n * k - 2 * (m + n) * k * k + 4 * k ** 3 / 3),
         8 * 2 * m * n),
        ("dormqr_", [[m, n]], 4 * m * n * k - 2 * n * k * k, 8 * (m * k + 2 * m * n)),
        ("dormqr_", [[m, n]], 4 * m * n * k - 2 * m * k * k, 8 * (n * k + 2 * m * n)),
        ("dsyevr_", [[n, n]], None, None),
        ("dgesvd_", [[m, n]], None, None),
        ("dsyev_", [[n, n]], None, None),
        ("dgeqrf_", [[m, n]], None, None),
        ("dormqr_", [[m, n]], None, None),
    ]
    run = same(program, env=SHAPES)
    seen = [(one["name"], one["args"]["Input Dims"], one["args"].get("flops"),
             one["args"].get("bytes")) for one in run.trace.slices(cat="cpu_op")]
    expect_equal(seen, wanted)
    expect_equal(run.trace.slices("dgemm_")[0]["args"]["trans"], "NT")
    expect_equal([one["args"].get("query") for one in run.trace.slices("dgeqrf_")],
                 [None, True], "one that only asks for the size of its work space")
    rows = json.loads(command("report", "--json", run.trace.path).stdout)[0]["blas"]
    expect_equal({row["name"]: row["calls"] for row in rows
                  if row["name"] in ("dgeqrf_", "dormqr_")}, {"dgeqrf_": 1, "dormqr_": 2})
    stacked = traced(program, env=SHAPES | {"TRACEPROF_STACK": "blas"}).trace
    first = stacked.slices("dgemm_")[0]["args"]
    expect(first["Call stack"].split(";")[0].endswith(": main"), first)


def test_inner_calls_are_marked():
    place = harness.folder()
    build(place, "libsim.so", "void dgemm_() {} void cblas_dgemm() { "
          'static int n = 4; dgemm_("N", "N", &n, &n, &n); }',
          "-shared", "-fPIC", "-Wl,-soname,libsim.so")
    program = build(place, "calls", "extern void cblas_dgemm(), dgemm_();"
                    'int main(void) { static int n = 4; for (int i = 0; i < 3; i++) '
                    'cblas_dgemm(101, 111, 111, n, n, n); dgemm_("N", "N", &n, &n, &n); }',
                    "-L" + place, "-l:libsim.so", "-Wl,-rpath,$ORIGIN")
    run = same(program, env=SHAPES)
    seen = [(one["name"], one["args"].get("inner", False))
            for one in run.trace.slices(cat="cpu_op")]
    expect_equal(seen, [("cblas_dgemm", False), ("dgemm_", True)] * 3
                 + [("dgemm_", False)])


LEAVER = """
#include <setjmp.h>
#include <stdio.h>
extern void dgemm_();
jmp_buf home;
static int n = 4;
static __attribute__((noinline)) void deep(int left)
{
	volatile char room[256] = {0};

	if (left)
		deep(left - 1);
	else
		dgemm_("N", "N", &n, &n, &n);
	room[0] = 1;
}
int main(void)
{
	for (int i = 0; i < 3; i++)
		if (!setjmp(home))
			deep(5);
	n = 5;
	if (!setjmp(home))
		deep(2);
	puts("left");
}
"""


def test_a_call_that_is_left_by_longjmp():
    place = harness.folder()
    build(place, "libsim.so", "#include <setjmp.h>\nextern jmp_buf home;"
          "void dgemm_() { longjmp(home, 1); }",
          "-shared", "-fPIC", "-Wl,-soname,libsim.so")
    program = build(place, "calls", LEAVER, "-L" + place, "-l:libsim.so",
                    "-rdynamic", "-Wl,-rpath,$ORIGIN")
    run = same(program, env=SHAPES)
    seen = run.trace.slices("dgemm_")
    expect_equal([one["args"].get("finished") for one in seen], ["false"] * 4)
    expect(not any("inner" in one["args"] for one in seen), seen)


MODULE = "extern int dgemm_(); int run(void) { int n = 1; " \
         'return dgemm_("N", "N", &n, &n, &n); }'
HOST = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int keeps = argv[i][0] == '+';
		void *module = dlopen(argv[i] + 1, RTLD_NOW);

		if (!module)
			return puts(dlerror());
		for (int twice = 0; twice < 2; twice++)
			printf("%d\\n", ((int (*)(void))dlsym(module, "run"))());
		if (!keeps)
			dlclose(module);
	}
	return 0;
}
"""


def test_each_module_has_its_own_blas():
    """Two of one name, as two wheels bring them; kept, and closed one after the
    other, so that they come to lie in the same place."""
    place = harness.folder()
    modules = []
    for number in (1, 2, 3):
        build(place, f"libsim{number}.so", f"int dgemm_() {{ return {number}; }}",
              "-shared", "-fPIC", f"-Wl,-soname,libsim{number}.so")
        modules.append(build(place, f"module{number}.so", MODULE, "-shared", "-fPIC",
                             "-L" + place, f"-l:libsim{number}.so",
                             "-Wl,-rpath,$ORIGIN"))
    host = build(place, "host", HOST)
    one, two, three = modules
    for listed in ((f"+{one}", f"+{two}", f"+{three}", f"+{one}"),
                   (f"-{one}", f"-{two}", f"-{three}", f"-{one}", f"+{two}"),
                   (f"+{three}", f"-{one}", f"-{two}", f"+{three}")):
        for shapes in ("0", "1"):
            run = traced(host, *listed, env={"TRACEPROF_SHAPES": shapes})
            expect_equal(run.stdout, plain(host, *listed).stdout, (listed, shapes))
            expect_equal(run.status, 0)


ASKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
extern int dgemm_() __attribute__((weak));
extern int cblas_dgemm() __attribute__((weak));
int (*volatile kept)() = dgemm_;
static int n = 4;
int main(int argc, char **argv)
{
	int (*found)() = (int (*)())dlsym(RTLD_DEFAULT, "dgemm_");
	Dl_info info = {0};
	void *later;

	printf("%d %d %d\\n", dgemm_ ? dgemm_("N", "N", &n, &n, &n) : -1,
	       cblas_dgemm ? 1 : -1, kept ? kept("N", "N", &n, &n, &n) : -1);
	printf("%d %d\\n", found ? found("N", "N", &n, &n, &n) : -1,
	       dlsym(dlopen(NULL, RTLD_NOW), "cublasSgemm_v2") ? 1 : -1);
	printf("%s\\n", dlerror() ? "error" : "none");
	later = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	found = (int (*)())dlsym(RTLD_DEFAULT, "sgemm_");
	if (!later || !found || !dladdr((void *)found, &info))
		return puts("not found");
	printf("%d %s\\n", found("N", "N", &n, &n, &n),
	       strrchr(info.dli_fname, '/'));
	return 0;
}
"""
BINDINGS = (["-fPIC"], ["-fPIC", "-Wl,-z,now"], ["-fPIC", "-Wl,-z,lazy"],
            ["-fno-pic", "-no-pie"])


def asking(place, *flags):
    build(place, "liblater.so", "int sgemm_() { return 5; }", "-shared", "-fPIC")
    return build(place, "asks", ASKS, *flags, "-Wl,-rpath,$ORIGIN")


def test_who_asks_whether_there_is_a_blas_finds_what_there_is():
    place = harness.folder()
    later = os.path.join(place, "liblater.so")
    build(place, "libsim.so", "int dgemm_() { return 7; }", "-shared", "-fPIC",
          "-Wl,-soname,libsim.so")
    for flags in BINDINGS:
        for there in ([], ["-L" + place, "-Wl,--no-as-needed", "-l:libsim.so"]):
            program = asking(place, *flags, *there)
            wanted = plain(program, later)
            expect("/liblater.so" in wanted.stdout, wanted.stdout)
            expect_equal(wanted.stdout.split()[0], "7" if there else "-1")
            for settings in ({}, {"TRACEPROF": "0"}, {"TRACEPROF_CHILDREN": "none"}):
                run = traced(program, later, env=settings)
                expect_equal((run.status, run.stdout, run.stderr),
                             (0, wanted.stdout, ""), (flags, settings))


def test_with_shapes_a_weak_symbol_is_nobodys():
    """dlsym() alone finds ours then: a call does nothing, and says so."""
    place = harness.folder()
    later = os.path.join(place, "liblater.so")
    for flags in BINDINGS:
        run = traced(asking(place, *flags), later, env=SHAPES)
        expect_equal(run.stdout.splitlines()[:2], ["-1 -1 -1", "0 1"], flags)
        expect_equal(run.stdout.splitlines()[3].split()[0], "5", flags)
        expect("no library has" in run.stderr, run.stderr)


LOOP = """
#include <stdlib.h>
extern void dgemm_();
__attribute__((noinline)) static void pair(int turns)
{
	static int n = 1;

	for (int i = 0; i < turns; i++)
		dgemm_("N", "N", &n, &n, &n);
}
int main(int argc, char **argv) { pair(atoi(argv[1])); }
"""


def test_off_is_a_jump():
    if subprocess.run(["which", "valgrind"], capture_output=True).returncode:
        raise Skip("valgrind is not on this machine")
    place = harness.folder()
    quiet_library(place, ["dgemm_"])
    program = build(place, "loop", LOOP, "-L" + place, "-l:libsim.so",
                    "-Wl,-rpath,$ORIGIN", "-Wl,-z,now")
    without = each([program, "{}"], within="pair")
    within = each([program, "{}"], {"TRACEPROF_MALLOC": "off"}, harness.LIBRARY, "pair")
    expect(within - without <= 14, f"{within - without} instructions")


PEAK = """processor Some Processor
cores 4
float_flops 2000000000000
double_flops 1000000000000
memory_bytes 50000000000
core_float_flops 1
core_double_flops 1
core_memory_bytes 1
"""


def kept_peak(host, text=PEAK):
    cache = harness.folder()
    os.makedirs(os.path.join(cache, "traceprof"))
    with open(os.path.join(cache, "traceprof", f"peak-{host}"), "w",
              encoding="ascii") as file:
        file.write(text)
    return {"XDG_CACHE_HOME": cache}


def test_report_says_how_far_from_the_roof():
    place = harness.folder()
    quiet_library(place, sorted(set(re.findall(r"(\w+_)\(", CALLS))))
    program = build(place, "calls", CALLS, "-L" + place, "-l:libsim.so",
                    "-Wl,-rpath,$ORIGIN")
    run = same(program, env=SHAPES)
    host = run.trace.top["host_name"]
    path = run.files[0]
    done = command("report", "--json", "--top", "0", path, env=kept_peak(host))
    found = {row["name"]: row for row in json.loads(done.stdout)[0]["blas"]}
    expect_equal(set(found), {one["name"] for one in run.trace.slices(cat="cpu_op")})
    # What the events say, added up by name.
    for name, row in found.items():
        calls = [one for one in run.trace.slices(name, cat="cpu_op")
                 if "query" not in one["args"]]
        expect_equal((row["site"], row["calls"]), ("main", len(calls)), name)
        expect_equal(row["flops"], sum(one["args"].get("flops", 0) for one in calls))
        expect_equal(row["bytes"], sum(one["args"].get("bytes", 0) for one in calls))
        if not row["flops"]:
            expect_equal((row["uncounted"], "roof" in row), (1, False), name)
            continue
        roof = min(1e12, row["flops"] / row["bytes"] * 50e9)
        expect(abs(row["roof"] / roof - 1) < 1e-6, row)
        expect_equal(row["bound"], "memory" if roof < 1e12 else "compute", name)
    expect(found["zgemm_"]["bound"] == "memory", found["zgemm_"])
    said = command("report", path, env=kept_peak(host)).stdout
    expect(re.search(r"% of 100+0?|% of \d[\d.]*, memory +dgemv_ < main", said), said)
    expect("50 GB/s of memory" in said, said)
    for cache in (kept_peak("another"), kept_peak(host, "processor x\ncores 4\n")):
        said = command("report", path, env=cache).stdout
        expect(f"run traceprof peak on {host}" in said, said)
        found = json.loads(
            command("report", "--json", path, env=cache).stdout)[0]["blas"]
        expect(not any("roof" in row for row in found), found)


def test_inner_calls_are_added_to_nothing():
    place = harness.folder()
    build(place, "libsim.so", "void dgemm_() {} void cblas_dgemm() { "
          'static int n = 4; dgemm_("N", "N", &n, &n, &n); }',
          "-shared", "-fPIC", "-Wl,-soname,libsim.so")
    program = build(place, "calls", "extern void cblas_dgemm();"
                    "int main(void) { cblas_dgemm(101, 111, 111, 4, 4, 4); }",
                    "-L" + place, "-l:libsim.so", "-Wl,-rpath,$ORIGIN")
    path = same(program, env=SHAPES).files[0]
    found = json.loads(command("report", "--json", path).stdout)[0]["blas"]
    expect_equal([(row["name"], row["flops"]) for row in found], [("cblas_dgemm", 128)])


def test_peak_is_measured_once_and_kept():
    cache = {"XDG_CACHE_HOME": os.path.join(harness.folder(), "new")}
    first = command("peak", env=cache)
    expect_equal((first.status, first.stderr), (0, ""))
    numbers = re.findall(r"([\d.]+) G(?:FLOP|B)/s", first.stdout)
    expect(len(numbers) == 6 and all(float(one) > 0 for one in numbers), first.stdout)
    again = command("peak", env=cache)
    expect_equal(again.stdout, first.stdout, "kept")
    path = os.path.join(cache["XDG_CACHE_HOME"], "traceprof")
    name = os.listdir(path)
    expect_equal(len(name), 1)
    with open(os.path.join(path, name[0]), encoding="ascii") as file:
        other = file.read().replace("cores ", "cores 7")
    with open(os.path.join(path, name[0]), "w", encoding="ascii") as file:
        file.write(re.sub(r"float_flops \d+", "float_flops 1", other))
    expect("float 0.0 G" not in command("peak", env=cache).stdout, "another machine's")
    nowhere = command("peak", env={"XDG_CACHE_HOME": "/proc/self/none"})
    expect_equal((nowhere.status, "/proc/self/none" in nowhere.stderr), (1, True))
    expect_equal(command("peak", "--what").status, 2)


if __name__ == "__main__":
    harness.main()
