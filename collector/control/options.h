/* SPDX-License-Identifier: MIT */
/*
 * options.h - every setting, once.
 *
 * One row makes the parser, `traceprof record --help`, `traceprof options`, the
 * check of the man page and the metadata dump.  A row is
 *
 *	X(type, field, NAME, low, high, default, values, argument, help)
 *
 * where type is one of
 *
 *	INT	a whole number in [low, high]; `values`, if any, are the word
 *		for 0 and what the long option means alone
 *	SIZE	bytes, with an optional suffix K, M or G
 *	FLAG	0 or 1 (also off/on, no/yes, false/true)
 *	CHOICE	one of the words in `values`, separated by |; the field holds
 *		the word's index
 *	TEXT	free text
 *
 * The environment variable is TRACEPROF_ and NAME; the long option of
 * `traceprof record` is NAME in lower case with dashes.  options_is_set() tells
 * whether a variable was given at all.
 */
#ifndef COLLECTOR_OPTIONS_H
#define COLLECTOR_OPTIONS_H

#include "collector/system/base.h"

#define OPTION_TEXT_BYTES 256

/* clang-format off */
#define OPTIONS(X)							\
	X(TEXT,   dir,        "DIR", 0, 0, "./traceprof", "", "FOLDER",	\
	  "folder for the traces; made if it is missing")		\
	X(CHOICE, malloc,     "MALLOC", 0, 0, "large",			\
	  "off|counters|large|all|sampled|sites", "MODE",		\
	  "heap: off, counters only, large blocks as events, every call, " \
	  "a sample of all bytes with call stacks, or exact sums by call " \
	  "stack")							\
	X(SIZE,   malloc_min, "MALLOC_MIN", 1, INT64_MAX, "64K", "", "BYTES", \
	  "smallest block that MALLOC=large writes as an event")	\
	X(SIZE,   malloc_sample, "MALLOC_SAMPLE", 1024, INT64_MAX >> 8, "512K", \
	  "", "BYTES",							\
	  "with MALLOC=sampled, the mean distance between two samples")	\
	X(FLAG,   malloc_duration, "MALLOC_DURATION", 0, 1, "0", "", "0|1", \
	  "with MALLOC=all, time each call too (a second clock read)")	\
	X(TEXT,   stack,      "STACK", 0, 0, "off", "", "WHAT",		\
	  "call stacks of events: off, all, or heap, cuda, omp and blas with " \
	  "commas between; :DEPTH frames of each, 16 unless it says so")	\
	X(FLAG,   mmap,       "MMAP", 0, 1, "0", "", "0|1",		\
	  "record mmap, munmap, mremap and brk, and the stacks of threads") \
	X(INT,    sample,     "SAMPLE", 0, 10000, "0", "off|499", "HZ",	\
	  "sample what each thread does, with call stacks, so many times in a " \
	  "second of its processor time; off")				\
	X(FLAG,   waits,      "WAITS", 0, 1, "0", "", "0|1",		\
	  "record calls of the C library that wait (poll, read, ...); on with " \
	  "SAMPLE")							\
	X(INT,    wait_min,   "WAIT_MIN", 0, 1000000000, "50", "", "US",	\
	  "the shortest wait of a call that is drawn, in microseconds")	\
	X(FLAG,   io,         "IO", 0, 1, "0", "", "0|1",		\
	  "record what is read from and written to files, by path")	\
	X(FLAG,   shapes,     "SHAPES", 0, 1, "0", "", "0|1",		\
	  "record calls of BLAS, LAPACK, cuBLAS and oneDNN with the sizes of their " \
	  "matrices, FLOPs and bytes, and PyTorch's operators with the shapes " \
	  "and types that they were given")				\
	X(FLAG,   openmp,     "OPENMP", 0, 1, "1", "", "0|1",		\
	  "record OpenMP regions, tasks and waits")			\
	X(CHOICE, cuda,       "CUDA", 0, 0, "auto", "auto|off", "MODE",	\
	  "record the GPU through CUPTI, or else CUDA's host side; off: neither") \
	X(CHOICE, graphs,     "GRAPHS", 0, 0, "node", "node|graph", "MODE", \
	  "CUDA graphs: each of their kernels, or each launch as one")	\
	X(TEXT,   cupti,      "CUPTI", 0, 0, "auto", "", "PATH",	\
	  "the libcupti to load; auto looks for it")			\
	X(CHOICE, cupti_share, "CUPTI_SHARE", 0, 0, "auto", "auto|on|off", \
	  "MODE", "record beside other subscribers of CUPTI, from 13.3 on: auto " \
	  "where JAX is and PyTorch isn't")				\
	X(FLAG,   gpu_latency, "GPU_LATENCY", 0, 1, "0", "", "0|1",	\
	  "tell when each kernel was queued and submitted; launches cost more") \
	X(FLAG,   unified_memory, "UNIFIED_MEMORY", 0, 1, "0", "", "0|1", \
	  "record page faults and migrations of managed memory, which slows " \
	  "them")							\
	X(FLAG,   nvml,       "NVML", 0, 1, "1", "", "0|1",		\
	  "sample load, memory, power, clock and throttling of each GPU ten " \
	  "times a second")						\
	X(INT,    gpu_wait_ms, "GPU_WAIT_MS", 0, 3600000, "30000", "", "MS", \
	  "longest that a window waits for the GPU to finish its work")	\
	X(CHOICE, torch,      "TORCH", 0, 0, "auto", "auto|off", "MODE", \
	  "record PyTorch's operators in windows, through its own observers") \
	X(FLAG,   python,     "PYTHON", 0, 1, "0", "", "0|1",		\
	  "record calls of Python in windows, with builtins, imports, garbage " \
	  "collections and waits for the GIL")				\
	X(TEXT,   step,       "STEP", 0, 0, "auto", "", "SOURCE",	\
	  "what begins a step: auto, api, time:MS, omp:GLOB, range:GLOB, " \
	  "kernel:GLOB or cuda:GLOB, each with /N (every Nth), or @FILE; " \
	  "manual: only traceprof_start() records")			\
	X(INT,    skip_first, "SKIP_FIRST", 0, INT32_MAX, "0", "", "N",	\
	  "steps to pass over once, before the schedule begins")	\
	X(INT,    skip_first_wait, "SKIP_FIRST_WAIT", 0, 1, "0", "", "0|1", \
	  "1 leaves out the first cycle's wait")			\
	X(INT,    wait,       "WAIT", 0, INT32_MAX, "0", "", "N",	\
	  "steps to wait in each cycle")				\
	X(INT,    warmup,     "WARMUP", 0, INT32_MAX, "0", "", "N",	\
	  "steps to warm up in each cycle; not recorded")		\
	X(INT,    active,     "ACTIVE", 1, INT32_MAX, "0", "", "N",	\
	  "steps to record in each cycle; unset: to the end of the run") \
	X(INT,    repeat,     "REPEAT", 0, INT32_MAX, "0", "", "N",	\
	  "cycles, one file each; 0: for ever")				\
	X(TEXT,   signal,     "SIGNAL", 0, 0, "none", "", "NAME",		\
	  "a signal that starts and stops a window: USR1, USR2 or RTMIN to " \
	  "RTMAX")							\
	X(TEXT,   flight,     "FLIGHT", 0, 0, "off", "", "LENGTH",	\
	  "flight recorder: keep the last 10s, 500ms or 20steps in memory, " \
	  "write them when something triggers")				\
	X(TEXT,   trigger,    "TRIGGER", 0, 0, "none", "", "LIST",	\
	  "what writes the flight recorder: slow:1.5 (a step above so many " \
	  "medians), slow:2s, stall:30s, cuda-error, signal, with commas " \
	  "between")							\
	X(INT,    flight_dumps, "FLIGHT_DUMPS", 0, 100000, "10", "", "N", \
	  "files that triggers of the flight recorder write; 0: no limit") \
	X(INT,    buffer_mb,  "BUFFER_MB", 4, 4096, "128", "", "MIB",	\
	  "ceiling of the memory that holds events not yet written")	\
	X(CHOICE, on_full,    "ON_FULL", 0, 0, "drop", "drop|wait", "WHAT", \
	  "full buffers: drop and count the event, or wait for the writer") \
	X(INT,    max_overhead, "MAX_OVERHEAD", 0, 100, "5", "", "PERCENT", \
	  "what recording OpenMP, or every call of malloc, may take of a " \
	  "thread's time: beyond it every Nth region or small block is " \
	  "drawn, no short wait or task, and calls of Python end; 0: no " \
	  "bound") \
	X(INT,    max_mb,     "MAX_MB", 0, 1 << 20, "400", "", "MIB",	\
	  "text of one trace past which only totals go on; 0: no limit") \
	X(INT,    max_parts,  "MAX_PARTS", 1, 64, "4", "", "N",		\
	  "files of MAX_MB that a recording without a schedule goes on in") \
	X(CHOICE, parts_keep, "PARTS_KEEP", 0, 0, "first", "first|last", "WHICH", \
	  "beyond MAX_PARTS: only totals go on, or the oldest part but the " \
	  "first is deleted for the newest")				\
	X(TEXT,   gzip,       "GZIP", 0, 0, "auto", "", "CODER",	\
	  "auto, fast, zlib:1 to zlib:9, or off for plain JSON")		\
	X(CHOICE, encode,     "ENCODE", 0, 0, "auto", "auto|live|late", "WHEN", \
	  "write events down while a core is free for it and else afterwards, " \
	  "at once, or afterwards")					\
	X(CHOICE, clock,      "CLOCK", 0, 0, "auto", "auto|monotonic", "CLOCK", \
	  "auto takes the processor's counter where it can be trusted")	\
	X(CHOICE, children,   "CHILDREN", 0, 0, "auto", "auto|all|none", "WHICH", \
	  "child processes that may write a trace of their own")	\
	X(INT,    exit_ms,    "EXIT_MS", 0, 600000, "5000", "", "MS",	\
	  "longest wait for the writer when the program ends")		\
	X(FLAG,   recover,    "RECOVER", 0, 1, "1", "", "0|1",		\
	  "finish traces of crashed runs found in the folder")		\
	X(FLAG,   verbose,    "VERBOSE", 0, 1, "0", "", "0|1",		\
	  "say what of CUPTI is known to be wrong, and what is done about it") \
	X(CHOICE, verdict,    "VERDICT", 0, 0, "1", "0|1|wait", "WHEN",	\
	  "say at the end what took the time, and what to change, unless that " \
	  "takes too long; wait: however long it takes a busy machine")	\
	X(FLAG,   quiet,      "QUIET", 0, 1, "0", "", "0|1",		\
	  "print nothing unless something is wrong")
/* clang-format on */

enum option_type {
	OPTION_INT,
	OPTION_SIZE,
	OPTION_FLAG,
	OPTION_CHOICE,
	OPTION_TEXT
};

enum option_malloc {
	MALLOC_OFF,
	MALLOC_COUNTERS,
	MALLOC_LARGE,
	MALLOC_ALL,
	MALLOC_SAMPLED,
	MALLOC_SITES
};

enum option_cuda { CUDA_AUTO, CUDA_OFF };
enum option_torch { TORCH_AUTO, TORCH_OFF };
enum cupti_share { CUPTI_SHARE_AUTO, CUPTI_SHARE_ON, CUPTI_SHARE_OFF };
enum option_graphs { GRAPHS_NODE, GRAPHS_GRAPH };
enum option_on_full { ON_FULL_DROP, ON_FULL_WAIT };
enum option_encode { ENCODE_AUTO, ENCODE_LIVE, ENCODE_LATE };
enum option_verdict { VERDICT_OFF, VERDICT_SOON, VERDICT_WAIT };
enum option_parts_keep { PARTS_KEEP_FIRST, PARTS_KEEP_LAST };
enum option_clock { CLOCK_AUTO, CLOCK_MONOTONIC_ONLY };
enum option_children { CHILDREN_AUTO, CHILDREN_ALL, CHILDREN_NONE };

/* A TEXT option is an array, all others a number. */
struct options {
#define OPTION_FIELD_INT(field)	   int64_t field;
#define OPTION_FIELD_SIZE(field)   int64_t field;
#define OPTION_FIELD_FLAG(field)   int64_t field;
#define OPTION_FIELD_CHOICE(field) int64_t field;
#define OPTION_FIELD_TEXT(field)   char field[OPTION_TEXT_BYTES];
#define X(type, field, name, low, high, def, values, argument, help)           \
	OPTION_FIELD_##type(field)
	OPTIONS(X)
#undef X
	uint64_t set; /* bit i: row i was given and valid */
};

/* One row, for those that walk the list.  The texts lie in it: pointers would
 * be relocated in each process. */
struct option_row {
	enum option_type type;
	unsigned int offset; /* of the field in struct options */
	int64_t low, high;
	char name[16];	   /* without TRACEPROF_ */
	char fallback[16]; /* the default's text */
	char values[40];
	char argument[8];
	char help[192];
};

extern const struct option_row option_rows[];
extern const unsigned int option_row_count;

/* The index of a field's row, for options_is_set(). */
enum option_index {
#define X(type, field, name, low, high, def, values, argument, help)           \
	OPTION_AT_##field,
	OPTIONS(X)
#undef X
};

static inline bool options_is_set(const struct options *options,
				  enum option_index index)
{
	return options->set >> index & 1;
}

/* Fills in every default. */
void options_default(struct options *options);

/* Sets one option from text.  0; -ENOENT no such name; -EINVAL bad value
 * (the field keeps what it had); in both cases `why` gets one line that says
 * what is wrong and what is right.  Calls neither malloc nor stdio. */
int options_set(struct options *options, const char *name, const char *value,
		char *why, size_t why_bytes);

/* The signal that TRACEPROF_SIGNAL names: the number of "USR2", "SIGUSR2", "12"
 * or "RTMIN+3"; 0 of "none".  -EINVAL with one line in `why`: no signal, or one
 * with a meaning of its own, which the kernel sends for an error, a child, a
 * terminal or a limit, or which ends, stops or continues a program. */
int signal_name_parse(const char *text, char *why, size_t why_bytes);

/* Reads all TRACEPROF_* of an environment; for each that is unknown or
 * malformed calls complain(line).  What `record` and a parent process hand on
 * (`internal_names` in options.c) are no options.  Never allocates. */
void options_read(struct options *options, char *const *environment,
		  void (*complain)(const char *line));

/* The text of one option's present value, for metadata and messages. */
void options_text(const struct options *options, unsigned int row, char *text,
		  size_t bytes);

/* Edits (insert, delete, replace) that make one short word the other. */
unsigned int options_distance(const char *a, const char *b);

/* The known name nearest to `name` by edit distance. */
const char *options_nearest(const char *name);

/* True if any of the schedule's variables was given. */
bool options_have_schedule(const struct options *options);

#endif
