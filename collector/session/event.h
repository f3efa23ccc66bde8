/* SPDX-License-Identifier: MIT */
/*
 * event.h - what one hook saw: one cache line, filled in place in a ring.
 *
 * An event is written by the thread that it happened on and read by the
 * writer, possibly in another process after this one is dead.  So it holds no
 * pointer that must be followed: names are ids of interned strings, code is an
 * address that the module list explains.
 *
 * Most kinds fit one slot.  A kind that needs more takes a second slot directly
 * after the first (EVENT_TWO_SLOTS in flags); both are published by one
 * commit, and a reader that sees the first sees the second.
 *
 * Times are raw clock ticks (collector/system/clock.h); writer/state/timeline.c
 * alone turns them into nanoseconds.
 */
#ifndef COLLECTOR_EVENT_H
#define COLLECTOR_EVENT_H

#include "collector/system/base.h"

/* Kind, and the word for it in metadata and reports. */
/* clang-format off */
#define EVENT_KINDS(X)							\
	X(NONE,         "none")						\
	X(HEAP_ALLOC,   "alloc")	/* payload heap */		\
	X(HEAP_FREE,    "free")		/* payload heap */		\
	X(OMP_REGION,   "omp_region")	/* payload omp, on the master */ \
	X(OMP_IMPLICIT, "omp_task")	/* payload omp, on each member */ \
	X(OMP_EXPLICIT, "omp_explicit")	/* payload omp: a task's run */	\
	X(OMP_TASKS,    "omp_tasks")	/* payload omp: tasks in a row, as one \
					   (thin_tasks.h) */		\
	X(OMP_CREATE,   "omp_create")	/* payload omp: task creation */ \
	X(OMP_WAIT,     "omp_wait")	/* payload omp: what was awaited */ \
	X(OMP_WAITS,    "omp_waits")	/* payload omp: short ones, as one */ \
	X(OMP_ACQUIRED, "omp_held")	/* payload omp: lock or turn held */ \
	X(SCOPE,        "scope")	/* name; payload scope */	\
	X(RANGE,        "range")	/* name; may cross: side lane */ \
	X(MARK,         "mark")		/* name; an instant */		\
	X(COUNTER,      "counter")	/* name; payload counter */	\
	X(STEP,         "step")		/* payload step; extra: its tid */ \
	X(LOSS,         "loss")		/* payload loss */		\
	X(CALL,         "call")		/* name; payload call: CUDA host side */ \
	X(GPU_API,      "cuda_api")	/* name; payload api; extra: tid */ \
	X(GPU_KERNEL,   "kernel")	/* name; payload gpu, then gpu_kernel */ \
	X(GPU_COPY,     "gpu_copy")	/* payload gpu, then gpu_copy */ \
	X(GPU_FILL,     "gpu_fill")	/* payload gpu; extra: memory kind */ \
	X(GPU_SYNC,     "gpu_sync")	/* payload gpu; extra: enum gpu_sync */ \
	X(GPU_GRAPH,    "gpu_graph")	/* payload gpu: a whole graph's run */ \
	X(GPU_OVERHEAD, "gpu_overhead")	/* name; extra: tid, 0 unknown */ \
	X(GPU_MEMORY,   "gpu_memory")	/* payload memory; extra: kind */ \
	X(GPU_EVENT,    "cuda_event")	/* payload gpu; extra: 1 timed by GPU */ \
	X(GPU_JIT,      "jit")		/* name; payload jit; extra: tid */ \
	X(GPU_HOST,     "gpu_host")	/* payload gpu: a host function; extra: tid */ \
	X(GPU_UNIFIED,  "unified")	/* payload unified; extra: as CUPTI counts */ \
	X(GPU_POOL,     "memory_pool")	/* payload memory, then gpu_pool */ \
	X(GPU_SAMPLE,   "gpu_sample")	/* payload sample: since the one before */ \
	X(OMP_THINNED,  "omp_thinned")	/* name: number of calls; extra: the \
					   first one's; payload words: marks, \
					   or with IN_SUMS their sums */ \
	X(BLAS,         "blas")		/* name; payload blas */	\
	X(MAP,          "map")		/* payload map */		\
	X(CPU_SAMPLE,   "cpu_sample")	/* payload cpu; stack */	\
	X(HOST_WAIT,    "host_wait")	/* name: of the call that waited */ \
	X(TASK_COUNTS,  "task_counts")	/* payload task; extra: tid, 0 all */ \
	X(FILE_IO,      "file_io")	/* name: the path; payload file */ \
	X(ALLOCATOR,    "allocator")	/* payload allocator; device */	\
	X(PYTHON,       "python")	/* name; payload python */
/* clang-format on */

enum event_kind {
#define X(name, word) EVENT_##name,
	EVENT_KINDS(X)
#undef X
		EVENT_KIND_COUNT
};

enum event_flag {
	EVENT_TWO_SLOTS = 1,   /* the next slot belongs to this event */
	EVENT_UNFINISHED = 2,  /* closed by us: the call had not returned */
	EVENT_REALLOC = 4,     /* this alloc or free is half of a realloc */
	EVENT_SERIAL = 8,      /* region with a team of one */
	EVENT_WITH_SHARE = 16, /* OMP_REGION: the master's share and its wait
				  at the end are in it, see event_share() */
	EVENT_MOVED = 32,      /* was put again at the ring's end */
	EVENT_SCANNED = 64,    /* the scan ahead of the drain has been here */
	EVENT_INNER = 128,     /* BLAS: inside another call of it */
	EVENT_OPERATOR = 256,  /* SCOPE: one of PyTorch's; extra: its shapes */
	EVENT_IN_SUMS = 512,   /* OMP_THINNED: calls of one site, which is in
				  outlined_offset; see event_sum */
	/* SCOPE: a part of another that was looked into; no hook counts it. */
	EVENT_LOOKED_UP = 1024,
};

/* What an OMP_WAIT waited for or an OMP_ACQUIRED holds; word for names. */
/* clang-format off */
#define OMP_SYNCS(X)							\
	X(BARRIER,        "barrier")					\
	X(REGION_END,     "region end")					\
	X(LOOP_END,       "loop end")					\
	X(SECTIONS_END,   "sections end")				\
	X(SINGLE_COPY,    "single copyprivate")				\
	X(CRITICAL,       "critical")					\
	X(ATOMIC,         "atomic")					\
	X(ORDERED,        "ordered")					\
	X(TASKWAIT,       "taskwait")					\
	X(TASKGROUP,      "taskgroup")					\
	X(TASKLOOP,       "taskloop")					\
	X(SINGLE,         "single")					\
	X(LOCK,           "lock")
/* clang-format on */

enum omp_sync {
#define X(name, word) OMP_SYNC_##name,
	OMP_SYNCS(X)
#undef X
		OMP_SYNC_COUNT
};

/* How a region's work is shared out, where the entry point tells it. */
/* clang-format off */
#define OMP_SCHEDULES(X)						\
	X(NONE,     "")							\
	X(STATIC,   "static")						\
	X(DYNAMIC,  "dynamic")						\
	X(GUIDED,   "guided")						\
	X(RUNTIME,  "runtime")						\
	X(SECTIONS, "sections")						\
	X(TEAMS,    "teams")
/* clang-format on */

enum omp_schedule {
#define X(name, word) OMP_SCHEDULE_##name,
	OMP_SCHEDULES(X)
#undef X
		OMP_SCHEDULE_COUNT
};

/* What a piece of address space is. */
/* clang-format off */
#define MAP_KINDS(X)							\
	X(GONE,      "")						\
	X(ANONYMOUS, "anonymous")					\
	X(RESERVED,  "reserved")	/* nobody may touch it yet */	\
	X(FILE,      "file")						\
	X(STACK,     "stack")						\
	X(BREAK,     "break")
/* clang-format on */

enum map_kind {
#define X(name, word) MAP_KIND_##name,
	MAP_KINDS(X)
#undef X
		MAP_KIND_COUNT
};

/* Who else has to do with a wait. */
enum wait_how {
	WAIT_ALONE,
	WAIT_HELD_BY,	  /* held the lock when the wait began */
	WAIT_WOKEN_BY,	  /* the one who signalled meanwhile */
	WAIT_SIGNALLED_BY /* ... the last of several signals */
};

/* What was done with a file; word for names. */
/* clang-format off */
#define FILE_VERBS(X)							\
	X(READ,  "read")						\
	X(WRITE, "write")						\
	X(MAP,   "map")
/* clang-format on */

enum file_verb {
#define X(name, word) FILE_VERB_##name,
	FILE_VERBS(X)
#undef X
		FILE_VERB_COUNT
};

/* Of an OPERATOR's line, beside the number of its name: packages lie between
 * that line, which is the program's, and the call. */
#define SCOPE_LINE_BELOW UINT32_C(0x80000000)

/* Types of a scope's payload, as NVTX numbers them. */
enum event_payload {
	EVENT_PAYLOAD_NONE,
	EVENT_PAYLOAD_U64,
	EVENT_PAYLOAD_I64,
	EVENT_PAYLOAD_F64,
	EVENT_PAYLOAD_U32,
	EVENT_PAYLOAD_I32,
	EVENT_PAYLOAD_F32
};

struct event {
	uint16_t kind;	/* enum event_kind */
	uint16_t flags; /* enum event_flag */
	uint32_t name;	/* interned string, 0 none */
	union {
		uint32_t outlined_offset; /* OpenMP: from code to the function
			   that the compiler outlined, 0 unknown; heap: calls of
			   its kind that were passed over (thin.h) */
		uint32_t shapes; /* BLAS_PRIMITIVE: a name, of JSON, 0 none */
		uint32_t device; /* ALLOCATOR: its type, and << 8 its number */
		uint32_t caller; /* GPU_API, GPU_MEMORY: its stack */
		uint32_t place;	 /* SCOPE: of its call in Python, 0 unknown */
	};
	union {
		uint32_t extra; /* OpenMP: from code to what names it; scope:
				   its category's name; step: its thread */
		uint32_t stack; /* heap, map, call, BLAS: who called
				   (stacks.h), 0 none; sample: what ran */
	};
	uint64_t start_ticks;
	uint64_t end_ticks; /* equals start_ticks for an instant */
	union {
		struct {
			uint64_t address;
			uint64_t size_bytes;  /* usable size of the block */
			int64_t thread_live;  /* this thread's allocated minus
						 freed bytes after the event */
			uint64_t spare_bytes; /* beyond what was asked for; of
						 calls that are timed, see
						 event_timed() */
		} heap;
		struct {
			uint64_t region; /* unique in the process, 0 none */
			uint64_t code;	 /* return address of the call that
					       names it */
			union {
				struct {
					uint32_t team; /* size, 0 unknown */
					union {
						/* number in the team */
						uint32_t thread;
						/* WITH_SHARE: ticks from the
						 * start to the share's */
						uint32_t until_share;
					};
				};
				/* OMP_WAIT: of the tasks run in it */
				uint64_t tasks_ticks;
			};
			uint16_t sync;	   /* enum omp_sync */
			uint16_t schedule; /* enum omp_schedule */
			union {
				uint32_t task;	 /* explicit tasks: creation
						  number; regions: the call
						  stack, 0 none */
				uint32_t waited; /* WITH_SHARE: ticks from the
						    share's end to the end */
				uint32_t from;	 /* OMP_WAIT: for the team: the
						    call's address, lower half;
						    0 unknown */
			};
		} omp;
		struct {
			uint32_t colour;   /* 0xAARRGGBB, 0 none; OPERATOR: a
					      message's number and one */
			uint32_t category; /* OPERATOR: enum operator_scope */
			uint32_t domain;   /* OPERATOR: its thread */
			uint32_t payload_type; /* OPERATOR: the line that calls
				it, see SCOPE_LINE_BELOW; 0 not asked for */
			uint64_t payload;      /* OPERATOR: its sequence number
						  and one, 0 none */
			uint64_t range; /* OPERATOR: the thread that ran it
					     forward, 0 it runs forward; of
					     a message its id, 0 none */
		} scope;
		struct {
			double value;
		} counter;
		struct {
			int64_t number;
			uint64_t outer_at_start; /* start ticks of the slice */
			uint64_t outer_at_end;	 /* around each end, 0 none */
			uint64_t work_ticks; /* UNFINISHED: its last call that
				put work on a GPU is over, 0 unknown */
		} step;
		struct {
			uint64_t count; /* events refused in a row */
		} loss;
		struct {
			uint64_t bytes;
			uint64_t stream;
			uint64_t detail;
			uint64_t result;
		} call;
		struct {
			uint64_t correlation; /* joins the call with its work */
			uint32_t cbid;	      /* number in CUPTI's list */
			uint32_t result;
			uint32_t is_driver; /* cu..., not cuda... */
			uint32_t is_launch; /* enum gpu_launch_kind */
			uint32_t lacks_caller;
			uint32_t place; /* search_loops_of(), 0 unknown */
		} api;
		struct {
			uint64_t correlation;
			uint32_t device;
			uint32_t context;
			uint32_t stream;
			uint32_t graph; /* 0 not in a graph */
			union {
				uint64_t bytes;		/* copy, fill */
				uint64_t graph_node;	/* kernel */
				struct {		/* sync, CUDA event */
					uint32_t event; /* its id */
					uint32_t recording; /* which of its
							       recordings, 0
							       unknown */
				};
			};
		} gpu;
		struct {
			uint64_t correlation;
			uint64_t address;
			uint64_t size_bytes; /* 0 of a free: unknown */
			uint32_t device;     /* of pinned memory of the host
						the thread, 0 unknown */
			uint32_t is_free;
		} memory;
		struct {
			uint64_t correlation;
			uint64_t size_bytes; /* of the code in the cache */
			uint32_t device;
			uint32_t path; /* its file there, interned */
			uint64_t pad;
		} jit;
		struct {
			uint64_t value; /* bytes, or page faults */
			uint64_t address;
			uint32_t source, destination; /* UINT32_MAX: the host */
			uint32_t why; /* of a migration, or the access */
			uint32_t device;
		} unified;
		struct {
			uint64_t memory_bytes; /* in use */
			uint32_t device;
			uint32_t milliwatts;
			uint32_t clock_mhz;
			uint16_t reasons; /* that hold the clock down */
			uint16_t celsius;
			uint16_t utilization; /* per cent */
			uint16_t known;	      /* enum gpu_sample_known */
			uint32_t memory_mhz;  /* 0: not known */
		} sample;
		struct {
			uint64_t took_ns; /* of the thread's processor time
					     since the sample before */
			uint64_t code;	  /* one past what ran, or a name as in
					     a stack; `stack` has its callers */
		} cpu;
		struct { /* migrations: outlined_offset */
			uint64_t ran_ns;
			uint64_t queued_ns; /* ready, and no core free */
			uint32_t minor_faults, major_faults;
			uint32_t voluntary, involuntary; /* switches */
		} task;
		struct {
			union {
				struct { /* as enum blas_op says */
					uint32_t m, n, k, batch;
				};
				struct { /* BLAS_PRIMITIVE */
					uint64_t flops, bytes;
				};
			};
			uint64_t code; /* return address of the call */
			uint8_t op;    /* enum blas_op */
			uint8_t type;  /* enum blas_type */
			char trans[2]; /* 'N', 'T', 'C' of A and B, 0 none */
			uint32_t pad;
		} blas;
		struct {
			uint64_t bytes;
			uint64_t verb; /* enum file_verb */
		} file;
		struct {
			uint64_t object; /* waited on, 0 not known */
			uint32_t tid;	 /* of the other, 0 not known */
			uint32_t how;	 /* enum wait_how */
			uint32_t signals;
			uint32_t pad[3];
		} wait;
		struct {
			uint64_t address;
			uint64_t size_bytes;
			uint64_t kind; /* enum map_kind */
			uint64_t pad;
		} map;
		struct {
			uint64_t number; /* of the call, from 1 */
			uint64_t parent; /* the call that it is in, 0 none */
		} python;
		struct {
			uint64_t address;
			int64_t bytes;		      /* negative: taken back */
			uint64_t allocated, reserved; /* on the device, after */
		} allocator;
		uint64_t words[4];
	};
};

/* The second slot of a GPU_KERNEL. */
struct gpu_kernel {
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t static_bytes; /* shared memory of a block */
	uint32_t dynamic_bytes;
	uint32_t registers; /* of a thread */
	uint32_t channel;
	uint8_t channel_type;
	uint8_t launch;		  /* as CUPTI counts: 1, 2 cooperative */
	uint16_t cluster[3];	  /* 0 none */
	uint64_t queued_ticks;	  /* 0 not measured */
	uint64_t submitted_ticks; /* likewise */
};

/* The second slot of a GPU_COPY. */
struct gpu_copy {
	uint32_t kind;	 /* as CUPTI counts: 1 HtoD, 2 DtoH, ... */
	uint32_t source; /* memory kinds: 1 pageable, 2 pinned, ... */
	uint32_t destination;
	uint32_t is_peer;
	uint32_t source_device, source_context;
	uint32_t destination_device, destination_context;
	uint64_t graph_node;
	uint64_t spare[3];
};

/* The second slot of a GPU_POOL, and of a GPU_MEMORY from one. */
struct gpu_pool {
	uint64_t address;
	uint64_t size_bytes;
	uint64_t used_bytes;
	uint64_t threshold_bytes; /* kept when freed; all ones: everything */
	uint32_t operation;	  /* 1 created, 2 destroyed, 3 trimmed */
	uint32_t pad;
	uint64_t spare[3];
};

enum gpu_sample_known {
	GPU_KNOWS_LOAD = 1,
	GPU_KNOWS_MEMORY = 2,
	GPU_KNOWS_POWER = 4,
	GPU_KNOWS_CLOCK = 8,
	GPU_KNOWS_HEAT = 16,
};

_Static_assert(sizeof(struct gpu_pool) == sizeof(struct event), "one slot");
_Static_assert(sizeof(struct gpu_kernel) == sizeof(struct event), "one slot");
_Static_assert(sizeof(struct gpu_copy) == sizeof(struct event), "one slot");

/* What a GPU_API puts on a GPU. */
enum gpu_launch_kind {
	GPU_LAUNCH_NONE,
	GPU_LAUNCH_COPY,
	GPU_LAUNCH_KERNEL,
	GPU_LAUNCH_GRAPH,
	GPU_LAUNCH_CAPTURED, /* nothing runs: a new node, an empty graph */
};

/* What a GPU_SYNC waited for, as CUPTI counts. */
enum gpu_sync {
	GPU_SYNC_UNKNOWN,
	GPU_SYNC_EVENT,
	GPU_SYNC_STREAM_WAIT,
	GPU_SYNC_STREAM,
	GPU_SYNC_CONTEXT,
	GPU_SYNC_COUNT
};

/* Those that wait for a CUDA event. */
static inline bool gpu_sync_has_event(uint32_t sync)
{
	return sync == GPU_SYNC_EVENT || sync == GPU_SYNC_STREAM_WAIT;
}

/* Each member of a team comes to such a wait as often as the others. */
static inline bool omp_sync_is_of_team(unsigned int sync)
{
	return sync == OMP_SYNC_BARRIER || sync == OMP_SYNC_LOOP_END ||
	       sync == OMP_SYNC_SECTIONS_END;
}

/* Part of an OpenMP region rather than a call of the program's own. */
static inline bool event_is_omp_part(unsigned int kind)
{
	return kind == EVENT_OMP_IMPLICIT || kind == EVENT_OMP_WAIT ||
	       kind == EVENT_OMP_WAITS || kind == EVENT_OMP_ACQUIRED;
}

/* An OPERATOR's scope, as PyTorch counts; others are operators like 0.  Ours
 * are of XLA's annotations, where the program's main thread makes them itself.
 */
enum operator_scope {
	OPERATOR_BACKWARD = 1,
	OPERATOR_USER = 7,
	OPERATOR_CALL = 64, /* a function of jax.jit is called, */
	OPERATOR_AROUND,    /* ... or called within it */
	OPERATOR_STEP	    /* likewise, and it says that it is a step */
};

/* It is a torch operator, no annotation of the program's. */
static inline bool event_is_operator(const struct event *event)
{
	return event->flags & EVENT_OPERATOR &&
	       event->scope.category != OPERATOR_USER;
}

/* XLA's, and made by the program: a search for the step may look at it. */
static inline bool event_is_of_program(const struct event *event)
{
	return event->flags & EVENT_OPERATOR &&
	       event->scope.category >= OPERATOR_CALL;
}

/* With TRACEPROF_MALLOC_DURATION the ticks of the real call are in the word,
 * too: of each as much as fits, 256 MiB, and at 3 GHz 20 s. */
#define EVENT_SPARE_BITS 28
#define EVENT_SPARE_MAX	 ((UINT64_C(1) << EVENT_SPARE_BITS) - 1)
#define EVENT_DUR_MAX	 (UINT64_MAX >> EVENT_SPARE_BITS)

static inline uint64_t event_timed(uint64_t spare, uint64_t dur_ticks)
{
	return (spare < EVENT_SPARE_MAX ? spare : EVENT_SPARE_MAX) |
	       (dur_ticks < EVENT_DUR_MAX ? dur_ticks : EVENT_DUR_MAX)
		       << EVENT_SPARE_BITS;
}

static inline uint64_t event_spare(const struct event *event, bool is_timed)
{
	return is_timed ? event->heap.spare_bytes & EVENT_SPARE_MAX
			: event->heap.spare_bytes;
}

static inline uint64_t event_dur(const struct event *event, bool is_timed)
{
	return is_timed ? event->heap.spare_bytes >> EVENT_SPARE_BITS : 0;
}

/* No stream, or none that is known. */
#define GPU_STREAM_NONE 0xffffffffu

/* Lies as a slice on its thread's own lane. */
static inline bool event_is_on_lane(unsigned int kind)
{
	return (kind >= EVENT_OMP_REGION && kind <= EVENT_SCOPE) ||
	       kind == EVENT_CALL || kind == EVENT_BLAS ||
	       kind == EVENT_HOST_WAIT || kind == EVENT_FILE_IO ||
	       kind == EVENT_PYTHON;
}

/* Memory that is taken or given back: no time, and one name for both. */
static inline bool event_is_block(unsigned int kind)
{
	return kind == EVENT_HEAP_ALLOC || kind == EVENT_HEAP_FREE ||
	       kind == EVENT_MAP || kind == EVENT_ALLOCATOR;
}

/* Comes from CUPTI, through a ring of the writer's own; or a sample. */
static inline bool event_is_gpu(unsigned int kind)
{
	return kind >= EVENT_GPU_API && kind <= EVENT_GPU_SAMPLE;
}

_Static_assert(sizeof(struct event) == CACHE_LINE, "one event, one line");

static inline bool event_has_share(const struct event *event)
{
	return event->kind == EVENT_OMP_REGION &&
	       event->flags & EVENT_WITH_SHARE;
}

/* What a region's event holds beside the region, as two events: the master's
 * share and its wait at the end.  Clears the flag of the first. */
static inline void event_share(struct event *region, struct event *share,
			       struct event *wait)
{
	const uint64_t start = region->start_ticks + region->omp.until_share;
	uint64_t end = region->end_ticks - region->omp.waited;

	if (end < start)
		end = start;
	region->flags &= (uint16_t)~EVENT_WITH_SHARE;
	*share = *region;
	share->kind = EVENT_OMP_IMPLICIT;
	share->start_ticks = start;
	share->end_ticks = end;
	share->omp.thread = 0;
	share->omp.task = 0;
	region->omp.thread = 0;
	region->omp.task = 0;
	*wait = (struct event){.kind = EVENT_OMP_WAIT,
			       .start_ticks = end,
			       .end_ticks = region->end_ticks,
			       .omp = {.region = region->omp.region,
				       .code = region->omp.code,
				       .sync = OMP_SYNC_REGION_END}};
}

/* What is left of a call of a site that is thinned (collector/session/thin.h):
 * the site's place in its thread's table, how long after the event's start it
 * ended, and how long it took.  Calls lie in each other, and come as they end.
 */
#define EVENT_MARKS	     4u
#define EVENT_MARK_AFTER_MAX 0xffffffu

static inline uint64_t event_mark(uint32_t site, uint64_t after, uint64_t took)
{
	return (uint64_t)site << 56 | after << 32 | took;
}

static inline uint32_t event_mark_site(uint64_t mark)
{
	return (uint32_t)(mark >> 56);
}

static inline uint64_t event_mark_start(const struct event *event,
					unsigned int at)
{
	return event->start_ticks +
	       (event->words[at] >> 32 & EVENT_MARK_AFTER_MAX) -
	       (uint32_t)event->words[at];
}

static inline uint64_t event_mark_took(uint64_t mark)
{
	return (uint32_t)mark;
}

/* Of EVENT_IN_SUMS: the payload's words, in ticks. */
enum event_sum { EVENT_SUM_ALL, EVENT_SUM_LEAST, EVENT_SUM_MOST };

/* The word for a kind; "unknown" for a number out of range. */
const char *event_kind_word(unsigned int kind);
const char *file_verb_word(unsigned int verb);
const char *omp_sync_word(unsigned int sync);
const char *omp_schedule_word(unsigned int schedule);

#endif
