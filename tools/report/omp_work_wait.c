/* SPDX-License-Identifier: MIT */
/*
 * omp_work_wait.c - tells work from waiting where each may lie in the other.
 */
#include "tools/report/omp_work_wait.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"

/* A slice that nothing has enclosed yet, with what it has enclosed. */
struct member_loose {
	int64_t start_ns;
	int64_t task_ns; /* as a task: its whole time; as a wait: 0 */
	int64_t wait_ns; /* net waits in it */
	int64_t work_ns; /* counted as work behind the part already */
};

/* Takes off what lies inside a slice that begins at start_ns. */
static struct member_loose enclose(struct omp_work_wait *member,
				   int64_t start_ns)
{
	struct member_loose sum = {.start_ns = start_ns};

	while (member->count &&
	       member->loose[member->count - 1].start_ns >= start_ns) {
		const struct member_loose *last =
			&member->loose[--member->count];

		saturate_into(&sum.task_ns, last->task_ns);
		saturate_into(&sum.wait_ns, last->wait_ns);
		saturate_into(&sum.work_ns, last->work_ns);
	}
	return sum;
}

static void keep(struct omp_work_wait *member, struct member_loose slice)
{
	if (member->count == MEMBER_LOOSE_MAX) {
		member->count /= 2;
		memmove(member->loose, member->loose + member->count,
			member->count * sizeof(*member->loose));
	}
	member->loose = memory_grow(member->loose, member->count,
				    &member->capacity, sizeof(*member->loose));
	member->loose[member->count++] = slice;
}

void omp_work_wait_task(struct omp_work_wait *member, int64_t start_ns,
			int64_t dur_ns)
{
	struct member_loose slice = enclose(member, start_ns);

	slice.task_ns = dur_ns;
	keep(member, slice);
}

int64_t omp_work_wait_wait(struct omp_work_wait *member, bool may_lie_in_task,
			   int64_t start_ns, int64_t dur_ns)
{
	struct member_loose slice = enclose(member, start_ns);
	const int64_t net = saturate_subtract(dur_ns, slice.task_ns);
	int64_t work;

	if (member->is_done) {
		work = saturate_subtract(slice.task_ns, slice.wait_ns);
		work = saturate_subtract(work, slice.work_ns);
		saturate_into(&member->work_ns, work);
		saturate_into(&slice.work_ns, work);
	} else {
		saturate_into(&member->inside_ns, net);
	}
	slice.task_ns = 0;
	saturate_into(&slice.wait_ns, net);
	if (may_lie_in_task)
		keep(member, slice);
	return net > 0 ? net : 0;
}

void omp_work_wait_part(struct omp_work_wait *member, int64_t dur_ns)
{
	saturate_into(&member->work_ns,
		      saturate_subtract(dur_ns, member->inside_ns));
	member->inside_ns = 0;
	member->is_done = true;
	member->count = 0;
}

void omp_work_wait_free(struct omp_work_wait *member)
{
	free(member->loose);
	memset(member, 0, sizeof(*member));
}
