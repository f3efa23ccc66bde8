/* SPDX-License-Identifier: MIT */
/* pool_text.c - see pool_text.h. */
#include "tools/verdict/pool_text.h"

#include "tools/util/short_name.h"
#include "tools/util/text_wrap.h"
#include <stdlib.h>
#include <string.h>

#define NAMED	  4u
#define NAMED_MIN 0.005 /* of the time, else it is idle */

/* Those of one name, the process's wherever a thread was given none. */
struct pool {
	const char *name;
	unsigned int threads;
	double least, most; /* parts of the time on a core */
};

static double share(const struct trace_task *task)
{
	return task->wall_ns > 0 ? (double)task->ran_ns / (double)task->wall_ns
				 : 0;
}

/* Threads that work, and each of them for most of the time, and all of them
 * known: what one of them had of it says something. */
static bool are_there_to_stay(const struct trace_tasks *tasks)
{
	for (unsigned int at = 0; at < tasks->threads; at++)
		if (share(&tasks->thread[at]) >= NAMED_MIN &&
		    tasks->thread[at].wall_ns < tasks->process_ns / 2)
			return false;
	return tasks->there <= TRACE_TASKS_MAX;
}

static unsigned int find_pools(const struct trace_tasks *tasks,
			       struct pool *pools)
{
	unsigned int count = 0;

	for (unsigned int at = 0; at < tasks->threads; at++) {
		const struct trace_task *task = &tasks->thread[at];
		unsigned int i = 0;

		if (share(task) < NAMED_MIN)
			continue;
		while (i < count && strcmp(pools[i].name, task->name) != 0)
			i++;
		if (i == count)
			pools[count++] = (struct pool){.name = task->name,
						       .least = share(task)};
		pools[i].threads++;
		if (share(task) > pools[i].most)
			pools[i].most = share(task);
		if (share(task) < pools[i].least)
			pools[i].least = share(task);
	}
	return count;
}

static int by_work(const void *a, const void *b)
{
	const struct pool *x = a, *y = b;
	const double more = y->most * y->threads - x->most * x->threads;

	return (more > 0) - (more < 0);
}

static void add_pools(struct text_buffer *text, const struct trace_tasks *tasks)
{
	struct pool pools[TRACE_TASKS_MAX];
	const unsigned int count = find_pools(tasks, pools);

	qsort(pools, count, sizeof(pools[0]), by_work);
	for (unsigned int at = 0; at < count && at < NAMED; at++) {
		const struct pool *pool = &pools[at];

		text_buffer_format(text, "%s", at ? ", " : "on a core: ");
		short_name_add(text, pool->name);
		if (pool->threads > 1)
			text_buffer_format(text, " (%u threads)",
					   pool->threads);
		if (pool->most - pool->least >= 0.01)
			text_buffer_format(text, " %.0f to %.0f %%",
					   100 * pool->least, 100 * pool->most);
		else
			text_buffer_format(text, " %.0f %%", 100 * pool->most);
	}
	if (count)
		text_buffer_format(text, " of the time");
}

unsigned int pool_text_add(struct text_buffer *lines,
			   const struct verdict *verdict, unsigned int columns)
{
	const struct trace_metadata *metadata = verdict->facts.metadata;
	const struct trace_tasks *tasks = &metadata->tasks;
	struct text_buffer text = {0};
	unsigned int used;

	if (metadata->sample || tasks->there < 2 || tasks->process_ns <= 0)
		return 0;
	text_buffer_cut(&text, 0);
	if (are_there_to_stay(tasks))
		add_pools(&text, tasks);
	else
		text_buffer_format(
			&text,
			"on a core: %.1f threads at a time, of %u that were "
			"seen",
			(double)tasks->process_ran_ns /
				(double)tasks->process_ns,
			tasks->there);
	used = text.len ? text_wrap_add(lines, text.data, 2, columns) : 0;
	text_buffer_free(&text);
	return used;
}
