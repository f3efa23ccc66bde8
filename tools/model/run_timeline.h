/* SPDX-License-Identifier: MIT */
/*
 * run_timeline.h - what happened when: the slices of a trace, lane by lane, the
 * work of its GPUs and its steps, kept until the whole file was read.
 *
 * A step's slice may come after what lies in it and a call's after what it
 * holds, so neither nesting nor steps are known before the end.  16 bytes a
 * slice are kept, 24 for a piece of a GPU's work and 32 more for the call that
 * asked for it; TIMELINE_SLICES_MAX of them at most: what comes later is
 * counted in `left_out` and known to nobody here.
 */
#ifndef TOOLS_TIMELINE_H
#define TOOLS_TIMELINE_H

#include "tools/model/called_lines.h"
#include "tools/model/wait_place.h"
#include "tools/trace/heap_total.h"
#include "tools/trace/trace_reader.h"

#define TIMELINE_SLICES_MAX	(12u << 20)
#define TIMELINE_NONE		UINT32_MAX
/* Lanes whose launches are searched one after the other. */
#define TIMELINE_LANES_SEARCHED 4u

/* Slices of team members and waits of OpenMP have categories of their own. */
#define TIMELINE_MEMBERS	"openmp members"
#define TIMELINE_WAITS		"openmp waits"

/* What a thread does while a slice of a name is the innermost one. */
enum host_kind {
	HOST_PLAIN, /* its own code, an operator, a scope */
	HOST_OMP,
	HOST_OMP_TEAM, /* of a region what is before its first member's share */
	HOST_OMP_WAIT,
	HOST_OMP_LOCK, /* critical, ordered, atomic */
	HOST_LAUNCH,   /* a call of CUDA that returns at once */
	HOST_COPY,     /* one that copies */
	HOST_SYNC,
	HOST_ALLOC,
	HOST_COMM,
	HOST_DATA,	   /* a data loader, a file */
	HOST_OFF,	   /* off the processor */
	HOST_SAMPLE,	   /* a function of samples, on a lane of their own */
	HOST_SAMPLE_ALLOC, /* one that gets or frees memory */
	HOST_STEP,	   /* no content: ProfilerStep#N */
	HOST_KINDS
};

/* What a GPU does. */
enum gpu_kind { GPU_KERNEL, GPU_COMM, GPU_COPY, GPU_FILL, GPU_KINDS };

struct span {
	int64_t start_ns;
	uint32_t dur; /* in ns; UINT32_MAX: see timeline_dur_ns() */
	uint32_t name;
};

/* A call that put work on a GPU. */
struct launch {
	int64_t start_ns;
	int64_t gpu_ns; /* of all that it launched */
	uint32_t dur;	/* in ns; UINT32_MAX: see timeline_launch_ns() */
	uint32_t correlation;
	uint32_t name, op; /* op: what encloses it */
};

struct gpu_work {
	int64_t start_ns;
	uint32_t dur; /* in ns; UINT32_MAX: see timeline_work_ns() */
	uint32_t correlation;
	uint32_t bytes; /* UINT32_MAX: as many or more */
	uint32_t row;	/* of timeline.work_rows */
};

/* What all work of one name on one stream has in common. */
struct gpu_row {
	uint32_t name;
	uint32_t stream; /* a number of timeline.streams */
	enum gpu_kind kind;
};

/* A name of one category: the row of timeline.names, whose key is category,
 * NUL, name; of calls of CUDA with a stack NUL and its innermost frame, too. */
struct timeline_name {
	const char *text; /* in its key */
	enum host_kind host;
	enum gpu_kind gpu;
	bool is_gpu, is_open_ended;
	bool is_lock;	 /* a wait for one */
	bool is_python;	 /* of samples: the interpreter's own code */
	bool is_runtime; /* of samples: of libraries of C, C++ and OpenMP */
	bool is_spin;	 /* of samples: turns round until there is work */
	int64_t calls, sum_ns, self_ns;
	int64_t longest_ns, longest_at_ns;
	uint32_t longest_lane;
	int64_t gpu_ns, gpu_self_ns; /* of what was launched in it */
	int64_t bytes;
	int64_t nested_team; /* the most that a member of a team began */
	double idle_ns;	     /* kernels: time weighted by what the SMs lack */
	char *site;	     /* innermost frame of the first stack, NULL none */
};

static inline bool timeline_is_sample(enum host_kind kind)
{
	return kind == HOST_SAMPLE || kind == HOST_SAMPLE_ALLOC;
}

/* Of a function that samples met. */
struct self_time_of {
	int64_t start_ns;
	int64_t self_ns; /* the processor time that it stands for */
};

struct timeline_lane {
	struct span *spans;
	size_t count, capacity;
	struct self_time_of *selves; /* by start; of a lane of samples */
	size_t self_count, self_capacity;
	struct launch *launches; /* by start */
	size_t launch_count, launch_capacity;
	bool is_indexed; /* its launches are in timeline.places */
	int64_t work_ns; /* as a member of OpenMP's teams */
	int64_t parts;	 /* how often */
	char *label;	 /* its name, NULL none */
};

struct timeline_step {
	int64_t number, start_ns, dur_ns;
	uint32_t lane;
	int64_t live_bytes; /* of the heap at its end; -1 not known */
	bool is_cut;	    /* by the end of the recording */
};

/* The heap's size now and then. */
struct heap_sample {
	int64_t ns, bytes;
};

struct timeline {
	struct key_table names; /* struct timeline_name */
	struct trace_lanes lanes;
	struct key_table streams;   /* by device and stream */
	struct key_table work_rows; /* struct gpu_row, by name and stream */
	struct gpu_work *work;
	uint32_t searched[TIMELINE_LANES_SEARCHED];
	unsigned int searched_count; /* lanes with launches in order */
	struct launch_place *places; /* others' launches, by correlation */
	struct timeline_step *steps;
	struct heap_total heap_total;
	struct heap_sample *heap;
	struct called_lines called;
	struct wait_places waits;
	struct key_table long_durs; /* int64_t, by lane, start and name */
	struct key_table blocks;    /* live large ones, by address */
	struct text_buffer key;
	size_t work_count, work_capacity;
	size_t launch_count, place_count;
	uint32_t first_launch; /* the least correlation of them */
	size_t step_count, step_capacity;
	size_t heap_count, heap_stride, heap_seen;
	size_t slices, left_out;
	int64_t start_ns, end_ns;
	int64_t began_ns, recorded_ns; /* of the recording; 0 not known */
	int64_t from_ns; /* of a file's last part, which begins there */
	int64_t large_blocks, large_bytes; /* freed soon after */
	int64_t large_at_ns;
	int64_t throttled_ns;
	int64_t team_max;
	char throttling[80], schedule[24];
};

void timeline_begin(struct timeline *timeline);

/* Nothing before its from_ns is known. */
static inline bool timeline_is_part(const struct timeline *timeline)
{
	return timeline->from_ns > INT64_MIN;
}

void timeline_event(struct timeline *timeline, const struct trace_event *event);

/* Sorts all that was kept, and finds self times, the operators of launches, the
 * GPU's time by operator and the heap's size by step. */
void timeline_finish(struct timeline *timeline);
void timeline_free(struct timeline *timeline);

struct timeline_lane *timeline_lane(const struct timeline *timeline,
				    uint32_t lane);
static inline struct timeline_name *
timeline_name(const struct timeline *timeline, uint32_t name)
{
	return key_table_row(&timeline->names, name);
}

static inline const char *timeline_name_text(const struct timeline *timeline,
					     uint32_t name)
{
	return timeline_name(timeline, name)->text;
}

const char *timeline_category(const struct timeline *timeline, uint32_t name);

/* The row of a name that is there, or NULL. */
const struct timeline_name *timeline_find(const struct timeline *timeline,
					  const char *category,
					  const char *name);
int64_t timeline_dur_ns(const struct timeline *timeline, uint32_t lane,
			const struct span *span);

int64_t timeline_launch_ns(const struct timeline *timeline, uint32_t lane,
			   const struct launch *launch);

const struct gpu_row *timeline_row(const struct timeline *timeline,
				   const struct gpu_work *work);
int64_t timeline_work_ns(const struct timeline *timeline,
			 const struct gpu_work *work);

/* Is it no content of the program, or a twin of what is? */
bool timeline_is_beside(const char *category);

/* Is that a wait for a lock? */
bool timeline_is_lock(const char *name);

/* The launch of a piece of work, NULL not in the file; *lane: where. */
struct launch *timeline_launch_of(const struct timeline *timeline,
				  uint32_t correlation, uint32_t *lane);

/* Was it launched before the first launch that is in the file?  Asked of a file
 * that something was before; where it has no launch all work was. */
bool timeline_is_earlier(const struct timeline *timeline,
			 const struct gpu_work *work);

/* The number of the last step that began by then; -1 none. */
long timeline_step_at(const struct timeline *timeline, int64_t ns);

/*
 * Walks the slices of a lane, sorted, in the order of their starts.  Between
 * two calls of piece() nothing begins or ends: `name` is the innermost slice of
 * [start, end), TIMELINE_NONE outside of all; kind is what it stands for, given
 * what encloses it.
 */
typedef void timeline_piece(void *arg, int64_t start_ns, int64_t end_ns,
			    enum host_kind kind, uint32_t name);
void timeline_walk(struct timeline *timeline, uint32_t lane,
		   timeline_piece *piece, void *arg);

/* run_timeline_kinds.c: by category and name. */

/* Is it a library of C's, C++'s or OpenMP's runtime, or a function of one? */
bool timeline_is_runtime(const char *name);

/* Is it a library's loop in which a thread does nothing but wait for work? */
bool timeline_is_spin(const char *name);

/* Of an OpenMP wait's name: for what one thread at a time may have. */
bool timeline_is_team_lock(const char *wait);

/* Waits for locks on a lane. */
size_t timeline_lock_waits(const struct timeline *timeline, uint32_t lane);
enum host_kind timeline_host_kind(const struct trace_event *event,
				  const char *category);
bool timeline_gpu_kind(const struct trace_event *event, const char *category,
		       enum gpu_kind *kind);
bool timeline_is_memory_bound(const char *kernel);
bool timeline_is_layout(const char *kernel);
bool timeline_is_full_precision(const char *kernel);

#endif
