/* SPDX-License-Identifier: MIT */
/*
 * torch_collective.h - what a message between processes is made of: the
 * arguments of record_param_comms, which NCCL's groups begin at each message.
 *
 * torch.profiler's own helper makes them, from what the group left beside its
 * thread, so they read the same and cost nothing else.
 */
#ifndef PRELOAD_TORCH_COLLECTIVE_H
#define PRELOAD_TORCH_COLLECTIVE_H

#include "preload/torch/torch_library.h"

/* Is an operator of this name one, and can it be asked for its arguments? */
bool torch_collective_is(const struct torch_library *library, const char *name);

struct torch_message {
	uint32_t text;	   /* the id of `"Collective name":"allreduce",...` */
	uint32_t sequence; /* its number in its group and one, 0 none */
	uint64_t id;	   /* the same on all ranks, 0 none */
};

/* `text` comes as the id of a text to put in front, or 0, and stays that where
 * nothing is known. */
void torch_collective(const struct torch_library *library, const void *record,
		      struct torch_message *message);

#endif
