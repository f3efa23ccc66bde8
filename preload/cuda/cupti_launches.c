/* SPDX-License-Identifier: MIT */
/*
 * cupti_launches.c - launches whose work has not arrived yet, by correlation:
 * so that a window's file is not finished before the last of its kernels.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_source.h"

#include "collector/system/log.h"
#include "collector/system/cupti_versions.h"
#include <string.h>

#define LAUNCHES	     65536u
#define GRAPHS_KNOWN	     256u
/* A launch without work (an empty copy, say) is waited for so long, and so is
 * another node of a graph. */
#define PATIENCE_SECONDS     CUPTI_PATIENCE_SECONDS
/* So many launches of kernels without a record of one are a fault. */
#define KERNELS_MISSED	     1000u
#define KERNELS_MISSED_KNOWN 100u

enum launch_state {
	LAUNCH_NONE,
	LAUNCH_WORKED, /* the call is still to come */
	LAUNCH_CALLED, /* the work is */
	LAUNCH_GRAPH,  /* a part of the work may be */
	LAUNCH_LATE,   /* made while the program's end is held up */
};

struct launch {
	uint64_t correlation;
	uint64_t ticks;	     /* of the call */
	uint64_t last_ticks; /* when a record of work came */
	uint32_t graph;
	uint32_t nodes;	   /* records so far */
	uint32_t kernels;  /* of these */
	uint32_t timeless; /* of these, as long as the call is to come */
	uint8_t state;
	uint8_t kind;	  /* enum gpu_launch_kind */
	uint8_t is_whole; /* a record of the whole graph came */
};

struct graph_size {
	uint32_t graph;
	uint32_t nodes; /* 0 unknown */
};

/* The writer's thread alone. */
static struct {
	uint64_t launches;
	uint64_t kernels_launched;
	uint64_t without_kernel; /* of these: graphs of other work */
	uint64_t missed_ticks;	 /* when so many were, without a record */
	bool said_no_kernels;
	uint64_t lag_ticks; /* longest from a launch to its work's end */
	struct graph_size graph_size[GRAPHS_KNOWN];
	struct launch launch[LAUNCHES];
} known;

static struct launch *launch_of(uint64_t correlation)
{
	return &known.launch[correlation % LAUNCHES];
}

static uint64_t kernels_missed(void)
{
	return cupti_has(CUPTI_DEFECT_NO_KERNELS) ? KERNELS_MISSED_KNOWN
						  : KERNELS_MISSED;
}

/* Pieces of work in a graph, by its id; known once one launch was over. */
static uint32_t *size_of_graph(uint32_t graph)
{
	struct graph_size *size = &known.graph_size[graph % GRAPHS_KNOWN];

	if (size->graph != graph)
		*size = (struct graph_size){.graph = graph};
	return &size->nodes;
}

/* The same as CUPTI told it when the graph was made; 0 unknown. */
static uint32_t told_work(struct session *session, uint32_t graph)
{
	struct gpu_graph *told =
		&session->head->gpu.graph[graph % GPU_GRAPHS_MAX];

	return load_relaxed(&told->id) == graph ? load_relaxed(&told->work) : 0;
}

/* All of a graph's work is there. */
static bool is_complete(struct session *session, const struct launch *launch)
{
	return launch->is_whole ||
	       launch->nodes == *size_of_graph(launch->graph) ||
	       launch->nodes == told_work(session, launch->graph);
}

/* Other threads go on while the program's end is held up. */
static bool is_after_end(uint64_t ticks)
{
	const uint64_t end = cupti_flush_end_ticks();

	return end && ticks >= end;
}

/* False: what was launched then is in no file, whatever becomes of it. */
static bool is_in_a_window(struct session *session, uint64_t ticks)
{
	struct window_state *windows = &session->head->windows;
	/* ACQUIRE pairs with RELEASE in window_open(). */
	const uint64_t opened = load_acquire(&windows->opened);

	if (is_after_end(ticks))
		return false;
	/* It may be cut from what is kept. */
	if (search_is_on(&session->head->search) || opened > WINDOWS_MAX)
		return true;
	for (uint64_t i = 0; i < opened; i++) {
		const struct window *window = &windows->window[i];
		const uint64_t end = load_relaxed(&window->end_ticks);

		if (ticks >= window->start_ticks && (!end || ticks < end))
			return true;
	}
	return false;
}

static void count_timeless(struct session *session, uint64_t ticks,
			   uint32_t count)
{
	struct gpu_state *gpu = &session->head->gpu;

	if (!count || !is_in_a_window(session, ticks))
		return;
	gpu->without_time += count;
	if (ticks <= load_relaxed(&gpu->hurried_ticks))
		gpu->unfinished += count;
}

/* Nobody waits for the work of a launch that other threads make while the end
 * is held up; where it has its times already, it is recorded like any other. */
static bool is_left_out(struct launch *launch, const struct event *call)
{
	const bool has_worked = launch->correlation == call->api.correlation &&
				launch->state == LAUNCH_WORKED;

	if (!is_after_end(call->start_ticks) ||
	    (has_worked && launch->nodes > launch->timeless))
		return false;
	/* Those that are waited for keep their place. */
	if (launch->state != LAUNCH_CALLED && launch->state != LAUNCH_GRAPH)
		*launch = (struct launch){.correlation = call->api.correlation,
					  .state = LAUNCH_LATE};
	return true;
}

bool cupti_launches_call(struct session *session, const struct event *event)
{
	const uint32_t kind = event->api.is_launch;
	struct launch *launch = launch_of(event->api.correlation);
	const bool has_worked = launch->correlation == event->api.correlation &&
				launch->state == LAUNCH_WORKED;

	if (!kind)
		return true;
	if (is_left_out(launch, event))
		return false;
	known.launches++;
	if (kind == GPU_LAUNCH_CAPTURED)
		return true;
	if (kind != GPU_LAUNCH_COPY &&
	    ++known.kernels_launched == kernels_missed())
		known.missed_ticks = clock_ticks();
	if (!has_worked)
		*launch =
			(struct launch){.correlation = event->api.correlation};
	launch->ticks = event->start_ticks;
	launch->kind = kind;
	count_timeless(session, launch->ticks, launch->timeless);
	launch->timeless = 0;
	if (!has_worked)
		launch->state = LAUNCH_CALLED;
	else
		launch->state = kind == GPU_LAUNCH_GRAPH &&
						!is_complete(session, launch)
					? LAUNCH_GRAPH
					: LAUNCH_NONE;
	return true;
}

/* One piece of work has arrived, with times or without. */
bool cupti_launches_work(struct session *session, const struct event *event,
			 bool is_timeless)
{
	const uint64_t correlation = event->gpu.correlation;
	struct launch *launch = launch_of(correlation);
	uint32_t told;

	if (launch->correlation != correlation)
		*launch = (struct launch){.correlation = correlation,
					  .state = LAUNCH_WORKED};
	if (launch->state == LAUNCH_LATE)
		return false;
	if (is_timeless && launch->state == LAUNCH_WORKED)
		launch->timeless++;
	else if (is_timeless)
		count_timeless(session, launch->ticks, 1);
	launch->graph = event->gpu.graph;
	launch->nodes++;
	launch->kernels += event->kind == EVENT_GPU_KERNEL;
	launch->is_whole |= event->kind == EVENT_GPU_GRAPH;
	launch->last_ticks = clock_ticks();
	if (launch->state == LAUNCH_CALLED || launch->state == LAUNCH_GRAPH) {
		known.lag_ticks =
			max_u64(known.lag_ticks,
				event->end_ticks > launch->ticks
					? event->end_ticks - launch->ticks
					: 0);
		launch->state = launch->kind == GPU_LAUNCH_GRAPH ? LAUNCH_GRAPH
								 : LAUNCH_NONE;
	}
	if (launch->state == LAUNCH_GRAPH && is_complete(session, launch))
		launch->state = LAUNCH_NONE;
	told = told_work(session, launch->graph);
	known.without_kernel +=
		launch->nodes == 1 && told && event->kind != EVENT_GPU_GRAPH &&
		!gpu_state_kernels(&session->head->gpu, launch->graph);
	cupti_graph_memory_work(event, event->kind == EVENT_GPU_GRAPH ||
					       !told || launch->nodes == told);
	return true;
}

/* How long a launch's first record is waited for. */
static uint64_t patience_of(const struct session *session, uint32_t kind)
{
	const uint64_t second = clock_ticks_per_second(&session->head->clock);
	const uint64_t patience = PATIENCE_SECONDS * second;
	const uint64_t wait = session_gpu_wait_ticks(session);

	/* An empty copy has none, nor has any kernel with some CUPTIs. */
	if (known.said_no_kernels)
		return patience;
	return kind == GPU_LAUNCH_COPY
		       ? min_u64(wait, patience + known.lag_ticks)
		       : wait;
}

/* That counts from the end of the launch's window on; 0: it is open. */
static uint64_t awaited_from(const struct session *session, uint64_t ticks)
{
	struct window_state *windows = &session->head->windows;
	/* ACQUIRE pairs with RELEASE in window_open(). */
	const uint64_t opened = load_acquire(&windows->opened);

	for (uint64_t i = opened; i && i + WINDOWS_MAX > opened; i--) {
		struct window *window = &windows->window[(i - 1) % WINDOWS_MAX];
		const uint64_t end = load_relaxed(&window->end_ticks);

		if (ticks >= window->start_ticks)
			return end ? max_u64(ticks, end) : 0;
	}
	return ticks;
}

/* In an open window a launch may be given up and awaited again at its end. */
static bool is_awaited(const struct session *session, struct launch *launch)
{
	const uint64_t patience = patience_of(session, launch->kind);
	const uint64_t now = clock_ticks();
	uint64_t from = launch->ticks;

	if (from + patience > now)
		return true;
	if (launch->kind != GPU_LAUNCH_COPY)
		from = awaited_from(session, launch->ticks);
	if (from && from + patience <= now)
		launch->state = LAUNCH_NONE;
	return from && from + patience > now;
}

static bool lacks_kernels(const struct session *session,
			  const struct launch *launch)
{
	return launch->kernels <
	       gpu_state_kernels(&session->head->gpu, launch->graph);
}

static bool is_outstanding(const struct session *session, struct launch *launch,
			   uint64_t flushed)
{
	const uint64_t second = clock_ticks_per_second(&session->head->clock);

	switch (launch->state) {
	case LAUNCH_CALLED: return is_awaited(session, launch);
	case LAUNCH_GRAPH:
		/* Complete when nothing of it has come for a while, and all
		 * kernels of which CUPTI told are there. */
		if (launch->last_ticks + PATIENCE_SECONDS * second > flushed)
			return true;
		if (lacks_kernels(session, launch))
			return is_awaited(session, launch);
		*size_of_graph(launch->graph) = launch->nodes;
		launch->state = LAUNCH_NONE;
		return false;
	default: return false;
	}
}

/* When the oldest launch was made whose work is still to come. */
uint64_t cupti_launches_oldest(const struct session *session, uint64_t flushed)
{
	uint64_t oldest = UINT64_MAX;

	for (uint32_t i = 0; i < LAUNCHES; i++) {
		struct launch *launch = &known.launch[i];

		if (launch->state > LAUNCH_WORKED && launch->ticks < oldest &&
		    is_outstanding(session, launch, flushed))
			oldest = launch->ticks;
	}
	return oldest;
}

/* Kernels whose end is worth waiting for when the program ends. */
bool cupti_launches_are_under_way(const struct session *session, uint64_t end)
{
	for (uint32_t i = 0; i < LAUNCHES && !known.said_no_kernels; i++) {
		const struct launch *launch = &known.launch[i];

		if (launch->kind != GPU_LAUNCH_COPY && launch->ticks < end &&
		    launch->ticks + patience_of(session, launch->kind) >
			    clock_ticks() &&
		    (launch->state == LAUNCH_CALLED ||
		     (launch->state == LAUNCH_GRAPH &&
		      lacks_kernels(session, launch))))
			return true;
	}
	return false;
}

/* Some CUPTI versions trace no kernels in some setups.  Launches may also have
 * been captured into a graph that is still to run: they get their time. */
void cupti_launches_look(struct session *session, bool is_over)
{
	const uint64_t second = clock_ticks_per_second(&session->head->clock);

	/* Which was said. */
	known.said_no_kernels |= cupti_kinds_lack_kernels();
	if (known.said_no_kernels || !known.missed_ticks ||
	    session->head->gpu.kernels ||
	    known.kernels_launched < kernels_missed() + known.without_kernel ||
	    (!is_over &&
	     clock_ticks() - known.missed_ticks < PATIENCE_SECONDS * second))
		return;
	known.said_no_kernels = true;
	session_note(
		session,
		"the GPU is used (%lu {kernel|kernels} launched), but CUPTI %u "
		"gives no record of one",
		(unsigned long)known.kernels_launched,
		session->head->gpu.cupti_version);
	log_trouble("CUPTI %u gives no record of the kernels that are "
		    "launched: another version of it may",
		    session->head->gpu.cupti_version);
}

uint64_t cupti_launches_count(void)
{
	return known.launches;
}

void cupti_launches_forget(void)
{
	memset(&known, 0, sizeof(known));
}

#endif
