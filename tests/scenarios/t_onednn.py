# SPDX-License-Identifier: MIT
"""TRACEPROF_SHAPES: primitives of oneDNN, of a library that only answers what it is
asked, and of Debian's."""

import os

import harness
from harness import Skip, expect, expect_equal, plain, same, traced
from t_shapes import SHAPES, build

# A primitive is its kind; a memory its description. Version 2 shows that as a struct
# of its own, version 3 is asked for each part.
LIBRARY = """
#include <errno.h>
#include <stdint.h>
struct memory { int32_t rank; int64_t dims[12]; int32_t type; };
static const char *const kinds[] = {"?", "reorder", "convolution", "deconvolution",
                                    "matmul", "inner_product", "rnn"};
int dnnl_primitive_execute(const int *kind, void *stream, int count, void *list)
{ errno = 77; return kind ? *kind : -1; }
int dnnl_primitive_get_primitive_desc(const int *kind, const void **found)
{ *found = kind; return 0; }
int dnnl_primitive_desc_query(const int *kind, int what, int index, void *found)
{ if (what != 2) return 1; *(int *)found = *kind; return 0; }
int dnnl_memory_get_memory_desc(const void *memory, const void **found)
{ *found = memory; return 0; }
unsigned long dnnl_memory_desc_get_size(const void *memory) { return 1000; }
const char *dnnl_prim_kind2str(int kind) { return kinds[kind]; }
const char *dnnl_dt2str(int type) { return "f8"; }
#ifdef THREE
int dnnl_memory_desc_query(const struct memory *memory, int what, void *found)
{
	if (what == 256) *(int32_t *)found = memory->rank;
	else if (what == 257) *(const int64_t **)found = memory->dims;
	else if (what == 258) *(int32_t *)found = memory->type;
	else return 1;
	return 0;
}
#endif
"""
CALLS = """
#include <stdint.h>
#include <stdio.h>
#include <errno.h>
struct memory { int32_t rank; int64_t dims[12]; int32_t type; };
struct given { int32_t operand; const void *memory; };
extern int dnnl_primitive_execute();
static struct memory image = {4, {2, 8, 12, 12}, 3}, out = {4, {2, 16, 10, 10}, 3};
static struct memory weights = {5, {4, 4, 2, 3, 3}, 3}, bias = {1, {16}, 3};
static struct memory a = {3, {5, 6, 7}, 2}, b = {3, {5, 7, 8}, 2}, c = {3, {5, 6, 8}, 2};
static struct memory wide = {4, {2, 16, 12, 12}, 1}, flat = {2, {2, 30}, 9};
static struct memory fields = {4, {30, 8, 12, 12}, 3};
/* Times, batch, channels; layers, directions, channels, gates, channels of the state. */
static struct memory times = {3, {5, 3, 8}, 3}, states = {3, {5, 3, 16}, 3};
static struct memory by_layer = {5, {1, 1, 8, 4, 16}, 3}, by_time = {5, {1, 1, 16, 4, 16}, 3};
static struct memory peepholes = {4, {1, 1, 3, 16}, 3};
static int kind[] = {0, 1, 2, 3, 4, 5, 6};
static void run(int k, int count, struct given *list)
{
	errno = 5;
	if (dnnl_primitive_execute(&kind[k], 0, count, list) != k || errno != 77)
		puts("wrong answer");
}
#define RUN(k, ...) run(k, sizeof((struct given[]){__VA_ARGS__}) / sizeof(struct given), \\
			(struct given[]){__VA_ARGS__})
int main(void)
{
	RUN(2, {1, &image}, {33, &weights}, {41, &bias}, {17, &out}, {80, &out});
	RUN(2, {145, &out}, {33, &weights}, {129, &image});
	RUN(2, {1, &image}, {145, &out}, {161, &weights});
	RUN(3, {1, &image}, {33, &weights}, {17, &wide});
	RUN(4, {1, &a}, {33, &b}, {17, &c}, {4097, &bias});
	RUN(5, {1, &image}, {33, &fields}, {17, &flat});
	RUN(1, {1, &flat}, {17, &flat});
	RUN(4, {1, 0}, {33, &b});
	RUN(6, {1, &times}, {33, &by_layer}, {34, &by_time}, {35, &peepholes}, {41, &bias},
	    {17, &states});
	RUN(6, {1, &times}, {33, &by_layer}, {34, &by_time}, {17, &states}, {129, &times},
	    {161, &by_layer}, {162, &by_time}, {145, &states});
	run(1, 0, 0);
	return dnnl_primitive_execute(0, 0, 0, 0) != -1;
}
"""
F32 = "float"
CONVOLUTION = 2 * (2 * 16 * 10 * 10) * (2 * 3 * 3)
WEIGHTS = (8 + 16) * 4 * 16
WANTED = [
    ("onednn_convolution", [[2, 8, 12, 12], [4, 4, 2, 3, 3], [16]], [F32] * 3, CONVOLUTION,
     4000),
    ("onednn_convolution", [[2, 16, 10, 10], [4, 4, 2, 3, 3]], [F32] * 2, CONVOLUTION, 3000),
    ("onednn_convolution", [[2, 8, 12, 12], [2, 16, 10, 10]], [F32] * 2, CONVOLUTION, 3000),
    ("onednn_deconvolution", [[2, 8, 12, 12], [4, 4, 2, 3, 3]], [F32] * 2,
     2 * (2 * 8 * 12 * 12) * (4 * 4 * 2 * 9 // 8), 3000),
    ("onednn_matmul", [[5, 6, 7], [5, 7, 8]], ["c10::BFloat16"] * 2, 2 * 5 * 6 * 8 * 7, 4000),
    ("onednn_inner_product", [[2, 8, 12, 12], [30, 8, 12, 12]], [F32] * 2,
     2 * 2 * 30 * 8 * 144, 3000),
    ("onednn_reorder", [[2, 30]], ["f8"], None, 2000),
    ("onednn_matmul", [[5, 7, 8]], ["c10::BFloat16"], None, 1000),
    ("onednn_rnn", [[5, 3, 8], [1, 1, 8, 4, 16], [1, 1, 16, 4, 16], [1, 1, 3, 16], [16]],
     [F32] * 5, 2 * 5 * 3 * (WEIGHTS + 3 * 16), 6000),
    ("onednn_rnn", [[5, 3, 8], [1, 1, 8, 4, 16], [1, 1, 16, 4, 16], [5, 3, 16]],
     [F32] * 4, 2 * 2 * 5 * 3 * WEIGHTS, 8000),
]


def made(place, *flags):
    build(place, "libdnnl.so", LIBRARY, "-shared", "-fPIC", "-Wl,-soname,libdnnl.so",
          *flags)
    return build(place, "calls", CALLS, "-L" + place, "-l:libdnnl.so",
                 "-Wl,-rpath,$ORIGIN")


def test_shapes_and_work_of_each_kind():
    for flags in ((), ("-DTHREE",)):
        run = same(made(harness.folder(), *flags), env=SHAPES)
        seen = run.trace.slices(cat="cpu_op")
        rows = [(one["name"], *(one["args"].get(what) for what in (
            "Input Dims", "Input type", "flops", "bytes"))) for one in seen]
        expect_equal(rows[:len(WANTED)], WANTED, flags)
        expect_equal([row[0] for row in rows[len(WANTED):]], ["dnnl_primitive_execute"] * 2,
                     "a list or a primitive that there is not")
        expect_equal({one["args"].get("Call site") for one in seen[:len(WANTED)]}, {"run"})


def test_a_library_that_cannot_be_asked():
    place = harness.folder()
    build(place, "libdnnl.so", "#include <errno.h>\nint dnnl_primitive_execute(int *kind) "
          "{ errno = 77; return kind ? *kind : -1; }", "-shared", "-fPIC",
          "-Wl,-soname,libdnnl.so")
    program = build(place, "calls", CALLS, "-L" + place, "-l:libdnnl.so",
                    "-Wl,-rpath,$ORIGIN")
    run = same(program, env=SHAPES)
    expect_equal({one["name"] for one in run.trace.slices(cat="cpu_op")},
                 {"dnnl_primitive_execute"})


HOST = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *module = dlopen(argv[i], RTLD_NOW);

		if (!module)
			return puts(dlerror());
		printf("%d\\n", ((int (*)(void))dlsym(module, "main_of"))());
		dlclose(module);
	}
	return 0;
}
"""


def test_libraries_that_are_closed_again():
    """More than there are places for: what isn't known is left out, and nothing else."""
    place = harness.folder()
    modules = []
    for number in range(6):
        three = ("-DTHREE",) if number % 2 else ()
        build(place, f"libdnnl{number}.so", LIBRARY + f"int pad[{1 + 5000 * number}];\n",
              "-shared", "-fPIC", f"-Wl,-soname,libdnnl{number}.so", *three)
        modules.append(build(place, f"module{number}.so",
                             CALLS.replace("int main(void)", "int main_of(void)"),
                             "-shared", "-fPIC", "-L" + place, f"-l:libdnnl{number}.so",
                             "-Wl,-rpath,$ORIGIN"))
    host = build(place, "host", HOST)
    for listed in (modules, modules[:2] * 6):
        run = traced(host, *listed, env=SHAPES)
        expect_equal((run.status, run.stdout), (0, plain(host, *listed).stdout))
        names = [one["name"] for one in run.trace.slices(cat="cpu_op")]
        expect_equal(len(names), (len(WANTED) + 2) * len(listed))
        expect("onednn_convolution" in names, names)
        for one in run.trace.slices("onednn_matmul")[::2]:
            expect_equal(one["args"]["flops"], 2 * 5 * 6 * 8 * 7)


START = """
#include <dnnl.h>
#include <stdio.h>
#define OK(x) do { if (x) { printf("failed: %s\\n", #x); return 1; } } while (0)
#if DNNL_VERSION_MAJOR >= 3
#define MEMORY(md, rank, dims, tag) dnnl_memory_desc_create_with_tag(&md, rank, dims, dnnl_f32, tag)
#define AT(md) md
#else
#define MEMORY(md, rank, dims, tag) dnnl_memory_desc_init_by_tag(&md, rank, dims, dnnl_f32, tag)
#define AT(md) &md
#endif
static dnnl_engine_t engine;
static dnnl_stream_t stream;
static int begin(void)
{
	OK(dnnl_engine_create(&engine, dnnl_cpu, 0));
	OK(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
	return 0;
}
static int run(dnnl_primitive_desc_t pd, int count, const dnnl_exec_arg_t *list)
{
	dnnl_primitive_t p;

	OK(dnnl_primitive_create(&p, pd));
	for (int i = 0; i < 3; i++)
		OK(dnnl_primitive_execute(p, stream, count, list));
	OK(dnnl_stream_wait(stream));
	return puts("done") < 0;
}
"""
CONVOLVES = START + """
int main(void)
{
	dnnl_dims_t s = {2, 8, 12, 12}, w = {16, 8, 3, 3}, d = {2, 16, 10, 10}, b = {16};
	dnnl_dims_t strides = {1, 1}, pad = {0, 0};
	dnnl_memory_desc_t sm, wm, dm, bm;
	dnnl_primitive_desc_t pd;
	dnnl_memory_t m[4];

	OK(begin());
	OK(MEMORY(sm, 4, s, dnnl_nchw)); OK(MEMORY(wm, 4, w, dnnl_oihw));
	OK(MEMORY(dm, 4, d, dnnl_nchw)); OK(MEMORY(bm, 1, b, dnnl_x));
#if DNNL_VERSION_MAJOR >= 3
	OK(dnnl_convolution_forward_primitive_desc_create(&pd, engine,
		dnnl_forward_inference, dnnl_convolution_direct, sm, wm, bm, dm,
		strides, pad, pad, pad, NULL));
#else
	dnnl_convolution_desc_t cd;
	OK(dnnl_convolution_forward_desc_init(&cd, dnnl_forward_inference,
		dnnl_convolution_direct, &sm, &wm, &bm, &dm, strides, pad, pad));
	OK(dnnl_primitive_desc_create(&pd, &cd, NULL, engine, NULL));
#endif
	OK(dnnl_memory_create(&m[0], AT(sm), engine, DNNL_MEMORY_ALLOCATE));
	OK(dnnl_memory_create(&m[1], AT(wm), engine, DNNL_MEMORY_ALLOCATE));
	OK(dnnl_memory_create(&m[2], AT(bm), engine, DNNL_MEMORY_ALLOCATE));
	OK(dnnl_memory_create(&m[3], AT(dm), engine, DNNL_MEMORY_ALLOCATE));
	dnnl_exec_arg_t list[] = {{DNNL_ARG_SRC, m[0]}, {DNNL_ARG_WEIGHTS, m[1]},
				  {DNNL_ARG_BIAS, m[2]}, {DNNL_ARG_DST, m[3]}};
	return run(pd, 4, list);
}
"""


def test_debians_library():
    if not os.path.exists("/usr/include/dnnl.h"):
        raise Skip("libdnnl-dev is not on this machine")
    program = build(harness.folder(), "real", CONVOLVES, "-ldnnl")
    run = same(program, env=SHAPES | {"OMP_NUM_THREADS": "2"})
    seen = run.trace.slices("onednn_convolution")
    expect_equal(len(seen), 3)
    for one in seen:
        args = one["args"]
        expect_equal((args["Input Dims"], args["flops"], args["bytes"], args["Call site"]),
                     ([[2, 8, 12, 12], [16, 8, 3, 3], [16]], 2 * 3200 * 72,
                      4 * (2304 + 1152 + 16 + 3200), "run"))
    expect("onednn_convolution" in harness.command("report", run.files[0]).stdout)


RECURRENT = START + """
int main(void)
{
	dnnl_dims_t x = {5, 3, 8}, w = {1, 1, 8, 4, 16}, u = {1, 1, 16, 4, 16}, y = {5, 3, 16};
	dnnl_dims_t b = {1, 1, 4, 16};
	dnnl_memory_desc_t xm, wm, um, ym, bm;
	dnnl_primitive_desc_t pd;
	dnnl_memory_t m[5];

	OK(begin());
	OK(MEMORY(xm, 3, x, dnnl_tnc)); OK(MEMORY(wm, 5, w, dnnl_ldigo));
	OK(MEMORY(um, 5, u, dnnl_ldigo)); OK(MEMORY(ym, 3, y, dnnl_tnc));
	OK(MEMORY(bm, 4, b, dnnl_ldgo));
#if DNNL_VERSION_MAJOR >= 3
	OK(dnnl_lstm_forward_primitive_desc_create(&pd, engine, dnnl_forward_inference,
		dnnl_unidirectional_left2right, xm, NULL, NULL, wm, um, NULL, NULL, bm,
		ym, NULL, NULL, 0, NULL));
#else
	dnnl_memory_desc_t none = {0};
	dnnl_rnn_desc_t rd;
	OK(dnnl_lstm_forward_desc_init(&rd, dnnl_forward_inference,
		dnnl_unidirectional_left2right, &xm, &none, &none, &wm, &um, &bm,
		&ym, &none, &none, 0));
	OK(dnnl_primitive_desc_create(&pd, &rd, NULL, engine, NULL));
#endif
	OK(dnnl_memory_create(&m[0], AT(xm), engine, DNNL_MEMORY_ALLOCATE));
	OK(dnnl_memory_create(&m[1], AT(wm), engine, DNNL_MEMORY_ALLOCATE));
	OK(dnnl_memory_create(&m[2], AT(um), engine, DNNL_MEMORY_ALLOCATE));
	OK(dnnl_memory_create(&m[3], AT(ym), engine, DNNL_MEMORY_ALLOCATE));
	OK(dnnl_memory_create(&m[4], AT(bm), engine, DNNL_MEMORY_ALLOCATE));
	dnnl_exec_arg_t list[] = {{DNNL_ARG_SRC_LAYER, m[0]}, {DNNL_ARG_WEIGHTS_LAYER, m[1]},
				  {DNNL_ARG_WEIGHTS_ITER, m[2]}, {DNNL_ARG_DST_LAYER, m[3]},
				  {DNNL_ARG_BIAS, m[4]}};
	return run(pd, 5, list);
}
"""


def test_recurrent_networks_of_debians_library():
    if not os.path.exists("/usr/include/dnnl.h"):
        raise Skip("libdnnl-dev is not on this machine")
    program = build(harness.folder(), "recurrent", RECURRENT, "-ldnnl")
    run = same(program, env=SHAPES | {"OMP_NUM_THREADS": "2"})
    seen = run.trace.slices("onednn_rnn")
    expect_equal(len(seen), 3)
    for one in seen:
        expect_equal((one["args"]["Input Dims"], one["args"]["flops"]),
                     ([[5, 3, 8], [1, 1, 8, 4, 16], [1, 1, 16, 4, 16], [1, 1, 4, 16]],
                      2 * 5 * 3 * WEIGHTS))


def test_nothing_where_nobody_asks():
    program = made(harness.folder())
    expect_equal(same(program).files, [])


if __name__ == "__main__":
    harness.main()
