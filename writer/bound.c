/* SPDX-License-Identifier: MIT */
/* bound.c - on which processors threads may run; see bound.h. */
#include "writer/bound.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

struct bound {
	cpu_set_t any;
	unsigned int threads;
};

/* Not another process's, which has the number of one that is over. */
static bool is_ours(uint32_t tid)
{
	return !syscall(SYS_tgkill, getpid(), (int)tid, 0);
}

static void look(struct writer_state *state, struct bound *bound)
{
	unsigned int threads = 0;
	cpu_set_t set;

	for (struct ring_reader *t = state->readers; t; t = t->older) {
		const uint32_t tid = t->thread->tid;

		if (!tid || !is_ours(tid) ||
		    sched_getaffinity((pid_t)tid, sizeof(set), &set))
			continue;
		CPU_OR(&bound->any, &bound->any, &set);
		threads++;
	}
	if (threads > bound->threads)
		bound->threads = threads;
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
}
