/* SPDX-License-Identifier: MIT */
/*
 * room.h - is there a core for the writer, or would it take one from the
 * program?
 *
 * Threads that spin at barriers keep every core busy, and for what the writer
 * takes from one of them all the others wait. So events are written down while
 * the program leaves a core, and else only moved out of the way (pack.h).
 *
 * There is none when the program's threads use more than all of our cores but
 * half of one, when we waited for one ourselves, or when more threads than the
 * machine has cores want to run.  Whatever it says, the trace is the same.
 *
 * A hundredth of one core is the writer's all the same: so a run that has few
 * events has its file when it ends, and its verdict.
 */
#ifndef WRITER_ROOM_H
#define WRITER_ROOM_H

#include "collector/system/base.h"

struct room {
	bool is_known; /* there was an interval to look at */
	bool is_there;
	unsigned int cores; /* that we may run on */
	uint64_t looked_ns;
	uint64_t process_ns; /* processor time of all threads, then */
	uint64_t own_ns;
	uint64_t waited_ns; /* of ours, for a core */
	int64_t credit_ns;  /* of the hundredth; below 0 when overdrawn */
	uint64_t credit_at_ns, credit_own_ns;
};

/* Looks again, if the last look is some milliseconds old.  On the writer's
 * thread.  Until there is something to go by, there is no room. */
bool room_look(struct room *room);

#endif
