/* SPDX-License-Identifier: MIT */
/* gomp_thin.c - drawn, or added to a sum; see gomp_thin.h. */
#include "preload/gomp/gomp_thin.h"

COLD void gomp_thin_commit(const struct gomp_slice *slice, uint64_t end_ticks,
			   const struct gomp_detail *detail)
{
	gomp_commit(slice, end_ticks, detail);
}

struct gomp_detail gomp_with_tasks(struct thread *thread,
				   const struct thin_frame *around,
				   uint64_t took, uint64_t end_ticks)
{
	const uint64_t tasks = min_u64(thin_tasks_ticks(thread, around), took);

	if (unlikely(thread->thin.frame.bare > took / THIN_PART))
		thin_show(thread, 0, end_ticks);
	thin_leave(thread, around);
	return (struct gomp_detail){.team = (uint32_t)tasks,
				    .thread = (uint32_t)(tasks >> 32)};
}

/* It lies inside what is still open. */
COLD void gomp_thin_wait(struct gomp_slice *slice,
			 const struct thin_frame *around, uint32_t from,
			 uint64_t end_ticks)
{
	struct thread *thread = slice->thread;
	const struct open_slice *outer = gomp_innermost(thread);
	struct gomp_detail with = gomp_with_tasks(
		thread, around, end_ticks - slice->start_ticks, end_ticks);

	with.task = from;
	if (outer) {
		slice->region = outer->region;
		slice->code = outer->code;
	}
	if (gate_bits() & (GATE_OMP | GATE_SCOPE_MARK))
		gomp_commit(slice, end_ticks, &with);
}
