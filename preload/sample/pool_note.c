/* SPDX-License-Identifier: MIT */
/* pool_note.c - adds up /proc/self/task; see pool_note.h. */
#include "preload/sample/pool_note.h"

#include "collector/session/thread.h"
#include "collector/system/clock.h"
#include "collector/system/folder.h"
#include "collector/system/futex.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "collector/system/proc.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TASKS_MAX    512u
#define SAID_MAX     4u
#define NAME_BYTES   16u
#define LOOK_NS	     UINT64_C(250000000)
#define LOOK_MOST_NS UINT64_C(2000000000)
#define SHARE	     100u /* of a processor, at most one part for looks */
#define LEAST_NS     UINT64_C(100000000)
#define MS_NS	     1000000u

/* A thread as it was last seen; it may have ended since. */
struct task {
	uint32_t tid;
	char name[NAME_BYTES];
	uint64_t ran_ns;
	uint64_t before_ns; /* of threads of this number that have ended */
	uint64_t wanted_ns; /* it ran, or could have */
	uint64_t seen_ns;   /* when */
	uint64_t idle_ns;   /* between looks it wanted no processor */
};

struct sum {
	char name[THREAD_NAME_BYTES];
	uint32_t count;
	uint64_t ran_ns, idle_ns;
};

/* Each may have a name of its own. */
struct sums {
	struct sum sum[TASKS_MAX];
	uint32_t count;
};

/* The writer's, but for the end. */
static struct {
	_Atomic uint32_t is_busy;
	uint64_t next_ns;
	bool is_full; /* there are others */
	uint32_t count;
	struct task task[TASKS_MAX];
	struct sums sums; /* at the end */
} pool;

static bool enter(void)
{
	return !atomic_exchange(&pool.is_busy, 1);
}

static void leave(void)
{
	futex_change(&pool.is_busy, 0);
}

static struct task *task_of(uint32_t tid)
{
	uint32_t at = 0;

	while (at < pool.count && pool.task[at].tid != tid)
		at++;
	if (at == TASKS_MAX) {
		pool.is_full = true;
		return NULL;
	}
	if (at == pool.count)
		pool.task[pool.count++] = (struct task){.tid = tid};
	return &pool.task[at];
}

static void look_at(uint32_t tid)
{
	struct task *task = task_of(tid);
	uint64_t numbers[2], now, wanted;
	char path[64];

	log_format(path, sizeof(path), "/proc/self/task/%u/schedstat", tid);
	if (!task || proc_numbers_inside(path, numbers, 2) != 2)
		return;
	now = clock_monotonic_ns();
	wanted = numbers[0] + numbers[1];
	if (numbers[0] < task->ran_ns)
		task->before_ns += task->ran_ns;
	else if (task->seen_ns && wanted >= task->wanted_ns)
		task->idle_ns +=
			now - task->seen_ns -
			min_u64(now - task->seen_ns, wanted - task->wanted_ns);
	task->ran_ns = numbers[0];
	task->wanted_ns = wanted;
	task->seen_ns = now;
	proc_thread_name_inside(tid, task->name, sizeof(task->name));
}

/* As the program calls it by NVTX or ITT, else as the kernel does. */
static const char *name_of(struct session *session, const struct task *task)
{
	struct thread *thread = NULL;

	while ((thread = thread_each(session, thread))) {
		if (thread->tid == task->tid && thread->is_named &&
		    thread->name[0])
			return thread->name;
	}
	return task->name;
}

static void add(const struct task *task, const char *name)
{
	struct sums *sums = &pool.sums;
	struct sum *sum;
	uint32_t at = 0;

	while (at < sums->count && strcmp(sums->sum[at].name, name) != 0)
		at++;
	if (!strncmp(name, "traceprof", 9))
		return;
	sum = &sums->sum[at];
	if (at == sums->count) {
		*sum = (struct sum){.count = 0};
		log_format(sum->name, sizeof(sum->name), "%s", name);
		sums->count++;
	}
	sum->count++;
	sum->ran_ns += task->ran_ns + task->before_ns;
	sum->idle_ns += task->idle_ns;
}

static bool look_at_name(const char *tid, void *arg)
{
	(void)arg;
	look_at((uint32_t)atoi(tid));
	return true;
}

static void look(void)
{
	const bool keeps_forks_out = loader_enter_soon();
	const int fd =
		open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	folder_read(fd, look_at_name, NULL);
	if (fd >= 0)
		close(fd);
	if (keeps_forks_out)
		loader_leave();
}

void pool_note_poll(void)
{
	const uint64_t now = clock_monotonic_ns();
	uint64_t cpu_ns;

	if (now < pool.next_ns || !proc_is_aside() || !enter())
		return;
	cpu_ns = clock_thread_ns();
	look();
	pool.next_ns =
		now + max_u64(LOOK_NS, SHARE * clock_thread_since(cpu_ns));
	leave();
}

/* A child's threads are others. */
void pool_note_forget(void)
{
	pool.is_full = false;
	pool.count = 0;
	pool.next_ns = 0;
	leave();
}

static struct sum *largest(void)
{
	struct sum *most = &pool.sums.sum[0];

	for (uint32_t i = 1; i < pool.sums.count; i++) {
		if (pool.sums.sum[i].ran_ns > most->ran_ns)
			most = &pool.sums.sum[i];
	}
	return most;
}

void pool_note(struct session *session)
{
	const uint32_t main_tid = (uint32_t)getpid();
	char text[256] = "", first[THREAD_NAME_BYTES] = "";
	bool is_worth = false;
	size_t len = 0;

	/* The writer may be at it, which takes long of many threads. */
	futex_wait_while(&pool.is_busy, 1, LOOK_MOST_NS);
	if (!enter()) {
		session_note(session, "the processor time of threads is not "
				      "told: a look at them took too long");
		return;
	}
	look();
	pool.sums.count = 0;
	for (uint32_t i = 0; i < pool.count; i++) {
		const char *name = name_of(session, &pool.task[i]);

		add(&pool.task[i], name);
		if (pool.task[i].tid == main_tid)
			log_format(first, sizeof(first), "%s", name);
	}
	for (uint32_t i = 0; i < pool.sums.count; i++)
		is_worth |= pool.sums.sum[i].ran_ns >= LEAST_NS &&
			    strcmp(pool.sums.sum[i].name, first) != 0;
	for (uint32_t i = 0; is_worth && i < min_u32(pool.sums.count, SAID_MAX);
	     i++) {
		struct sum *most = largest();

		if (most->ran_ns < LEAST_NS)
			break;
		len += log_format(text + len, sizeof(text) - len,
				  "%s%s (%u thread%s) %lu ms (idle %lu ms)",
				  len ? ", " : "", most->name, most->count,
				  most->count == 1 ? "" : "s",
				  most->ran_ns / MS_NS, most->idle_ns / MS_NS);
		most->ran_ns = 0;
	}
	leave();
	if (len)
		session_note(session, "processor time of threads: %s%s", text,
			     pool.is_full ? "; of more than 512 threads the "
					    "others are left out"
					  : "");
}
