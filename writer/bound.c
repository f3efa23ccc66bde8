/* SPDX-License-Identifier: MIT */
/* bound.c - on which processors threads may run, and did; see bound.h. */
#include "writer/bound.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/system/log.h"
#include "collector/system/proc.h"

#define COUNTED_MOST 256 /* threads; 10 us each */

struct bound {
	cpu_set_t any;
	unsigned int threads;
	uint64_t ran_ns, ready_ns;
};

/* Not another process's, which has the number of one that is over. */
static bool is_ours(uint32_t tid)
{
	return !syscall(SYS_tgkill, getpid(), (int)tid, 0);
}

/* What the kernel counts of one since it began. */
static void count(uint32_t tid, uint64_t *ran_ns, uint64_t *ready_ns)
{
	uint64_t numbers[2];
	char path[64];

	log_format(path, sizeof(path), "/proc/self/task/%u/schedstat", tid);
	if (proc_numbers(path, numbers, 2) != 2)
		return;
	*ran_ns += numbers[0];
	*ready_ns += numbers[1];
}

static void look(struct writer_state *state, struct bound *bound)
{
	const bool counts = proc_is_aside();
	uint64_t ran_ns = 0, ready_ns = 0;
	unsigned int threads = 0;
	cpu_set_t set;

	for (struct ring_reader *t = state->readers; t; t = t->older) {
		const uint32_t tid = t->thread->tid;

		if (!tid || !is_ours(tid) ||
		    sched_getaffinity((pid_t)tid, sizeof(set), &set))
			continue;
		CPU_OR(&bound->any, &bound->any, &set);
		if (counts && threads < COUNTED_MOST)
			count(tid, &ran_ns, &ready_ns);
		threads++;
	}
	if (threads > bound->threads)
		bound->threads = threads;
	if (ran_ns) {
		bound->ran_ns = ran_ns;
		bound->ready_ns = ready_ns;
	}
}

void bound_write(struct writer_state *state, struct json *json)
{
	if (!state->bound)
		state->bound = arena_alloc(&state->arena, sizeof(struct bound));
	if (!state->bound)
		return;
	if (state->is_live)
		look(state, state->bound);
	if (!state->bound->threads)
		return;
	json_pair_u64(json, "bound_cpus",
		      (uint64_t)CPU_COUNT(&state->bound->any));
	json_pair_u64(json, "bound_threads", state->bound->threads);
	if (!state->bound->ran_ns)
		return;
	json_pair_u64(json, "threads_ran_ns", state->bound->ran_ns);
	json_pair_u64(json, "threads_waited_ns", state->bound->ready_ns);
}
