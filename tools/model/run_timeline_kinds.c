/* SPDX-License-Identifier: MIT */
/*
 * run_timeline_kinds.c - what a slice stands for, by its category and name.
 */
#include "tools/model/communication.h"
#include "tools/model/run_timeline.h"

#include <strings.h>
#include <string.h>

static bool has(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(text, *words))
			return true;
	return false;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_loading(const char *name)
{
	static const char *const words[] = {"DataLoader", "dataloader",
					    "data_loader", NULL};

	return has(name, words);
}

static enum host_kind kind_of_cuda(const char *name)
{
	static const char *const allocating[] = {
		"Malloc",	"MemAlloc",	  "Free", "HostAlloc",
		"HostRegister", "HostUnregister", NULL};

	if (strstr(name, "Synchronize"))
		return HOST_SYNC;
	if (strstr(name, "Memcpy") || strstr(name, "Memset"))
		return HOST_COPY;
	if (has(name, allocating))
		return HOST_ALLOC;
	return HOST_LAUNCH;
}

/* What the C library calls within them has no names. */
static bool is_allocating(const char *function)
{
	static const char *const allocating[] = {
		"malloc",	 "calloc",	   "realloc",
		"free",		 "cfree",	   "_int_malloc",
		"_int_free",	 "_int_realloc",   "malloc_consolidate",
		"operator new",	 "operator new[]", "operator delete",
		"aligned_alloc", "posix_memalign"};

	for (size_t i = 0; i < sizeof(allocating) / sizeof(allocating[0]); i++)
		if (!strcmp(function, allocating[i]))
			return true;
	return false;
}

/* "wait: read", and what else keeps a thread off its processor. */
static enum host_kind kind_of_wait(const char *name)
{
	static const char *const files[] = {"read",	 "write", "fsync",
					    "fdatasync", "open",  NULL};
	static const char *const nets[] = {"recv", "send", NULL};

	/* "pthread_cond_wait" is no read, and a pipe no file. */
	if (begins(name, "pthread_") || strstr(name, "(pipe"))
		return HOST_OFF;
	if (has(name, files))
		return HOST_DATA;
	return has(name, nets) ? HOST_COMM : HOST_OFF;
}

bool timeline_is_lock(const char *name)
{
	static const char *const locks[] = {"mutex_lock", "rwlock_", "mtx_lock",
					    "GIL", NULL};

	return begins(name, "wait: ") && has(name, locks);
}

bool timeline_is_team_lock(const char *wait)
{
	static const char *const locks[] = {"critical", "ordered", "atomic",
					    "lock", NULL};

	return has(wait, locks);
}

static enum host_kind kind_of_omp(const struct trace_event *event,
				  const char *part)
{
	int64_t team = 0;

	/* Who is alone waits for nobody, and has no share of its own. */
	if (!strcmp(part, "parallel"))
		return trace_event_integer(event, "team", &team) && team == 1
			       ? HOST_OMP
			       : HOST_OMP_TEAM;
	if (strncmp(part, "wait", 4) != 0)
		return HOST_OMP;
	return timeline_is_team_lock(event->field[FIELD_NAME].text)
		       ? HOST_OMP_LOCK
		       : HOST_OMP_WAIT;
}

/* XLA's, where a thread waits for what others compute. */
static bool is_xla_wait(const char *name)
{
	return !strcmp(name, "np.asarray(jax.Array)") ||
	       strstr(name, "(wait for completion)");
}

enum host_kind timeline_host_kind(const struct trace_event *event,
				  const char *category)
{
	const char *name = event->field[FIELD_NAME].text;
	const struct trace_value part = trace_event_arg(event, "omp");

	if (part.type == TRACE_STRING)
		return kind_of_omp(event, part.text);
	if (!strcmp(category, "cpu_sample"))
		return is_allocating(name) ? HOST_SAMPLE_ALLOC : HOST_SAMPLE;
	if (begins(name, "ProfilerStep"))
		return HOST_STEP;
	if (!strcmp(category, "cuda_runtime") ||
	    !strcmp(category, "cuda_driver"))
		return kind_of_cuda(name);
	if (begins(name, "wait: "))
		return kind_of_wait(name + 6);
	if (!strcmp(category, "cpu_op") && is_xla_wait(name))
		return HOST_OFF;
	if (is_communication(category, name))
		return HOST_COMM;
	return is_loading(name) ? HOST_DATA : HOST_PLAIN;
}

bool timeline_gpu_kind(const struct trace_event *event, const char *category,
		       enum gpu_kind *kind)
{
	if (!strcmp(category, "kernel"))
		*kind = is_communication(category,
					 event->field[FIELD_NAME].text)
				? GPU_COMM
				: GPU_KERNEL;
	else if (!strcmp(category, "gpu_memcpy"))
		*kind = GPU_COPY;
	else if (!strcmp(category, "gpu_memset"))
		*kind = GPU_FILL;
	else
		return false;
	return true;
}

/* Kernels that do little to each element that they read and write. */
bool timeline_is_memory_bound(const char *kernel)
{
	static const char *const words[] = {
		"elementwise", "pointwise",   "reduce_kernel", "softmax",
		"layer_norm",  "LayerNorm",   "batch_norm",    "bn_fw",
		"bn_bw",       "CatArray",    "fill_",	       "dropout",
		"triton_poi_", "triton_red_", "triton_per_",   "index_select",
		"embedding",   NULL};

	return has(kernel, words);
}

/* Kernels that do nothing but move a tensor into another order. */
bool timeline_is_layout(const char *kernel)
{
	static const char *const words[] = {
		"nchwToNhwc", "nhwcToNchw", "nchw2nhwc", "nhwc2nchw",
		"transpose",  "permute",    NULL};

	return has(kernel, words);
}

bool timeline_is_full_precision(const char *kernel)
{
	static const char *const words[] = {"sgemm", "f32f32_f32f32", "_fp32_",
					    "scudnn", NULL};

	return has(kernel, words);
}

static bool is_of(const char *const *names, size_t count, const char *name,
		  bool is_whole)
{
	for (size_t i = 0; i < count; i++)
		if (is_whole ? !strcmp(name, names[i])
			     : !strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Of the library that comes with C++ or Rust.  Templates through which threads
 * and callbacks run have the program's own code in them. */
static bool is_of_language(const char *name)
{
	static const char *const begins[] = {
		"std::",  "void std::", "__gnu_cxx::", "__cxa_",
		"__gxx_", "_Unwind_",	"alloc::",     "<alloc::",
		"core::", "<core::",	"hashbrown::", "<hashbrown::",
		"<std::", "__rustc::"};
	static const char *const of_program[] = {"_Function_handler",
						 "_State_impl", "_Invoker",
						 "__invoke", "{closure"};

	for (size_t i = 0; i < sizeof(of_program) / sizeof(*of_program); i++)
		if (strstr(name, of_program[i]))
			return false;
	return is_of(begins, sizeof(begins) / sizeof(*begins), name, false);
}

/* What is called there was asked for by who calls.  A trace has the file of the
 * innermost functions alone: others are known by their names. */
bool timeline_is_runtime(const char *name)
{
	static const char *const begins[] = {
		"libc.so",	"libm.so",	  "libmvec.so", "libpthread",
		"ld-linux",	"linux-vdso",	  "libstdc++",	"libgcc_s",
		"libgomp",	"libomp.so",	  "libiomp5",	"__libc_",
		"start_thread", "_IO_",		  "GOMP_",	"gomp_",
		"operator new", "operator delete"};
	static const char *const whole[] = {
		"_start", "clone", "clone3", "malloc",	"calloc", "realloc",
		"free",	  "fread", "fwrite", "fseek",	"fopen",  "fclose",
		"fgets",  "fputs", "printf", "fprintf", "qsort",  "memcpy"};

	name += *name == '[';
	return is_of(begins, sizeof(begins) / sizeof(*begins), name, false) ||
	       is_of(whole, sizeof(whole) / sizeof(*whole), name, true) ||
	       is_of_language(name);
}

/* OpenBLAS, in NumPy and SciPy: its threads have the processor between two
 * products, too. */
bool timeline_is_spin(const char *name)
{
	return !strcmp(name, "blas_thread_server");
}

size_t timeline_lock_waits(const struct timeline *timeline, uint32_t lane)
{
	const struct timeline_lane *of = timeline_lane(timeline, lane);
	size_t count = 0;

	for (size_t at = 0; at < of->count; at++)
		count += timeline_name(timeline, of->spans[at].name)->is_lock;
	return count;
}
