/* SPDX-License-Identifier: MIT */
/* task_counts.c - reads /proc/self/task; see task_counts.h. */
#include "preload/sample/task_counts.h"

#include "collector/session/names.h"
#include "collector/session/thread.h"
#include "collector/system/folder.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "collector/system/proc.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUND_NS   UINT64_C(100000000)
/* A round takes one part in so many of the time to the next, of a processor:
 * on a busy machine it lasts for longer. */
#define SHARE	   100u
#define TEXT_BYTES 4096
#define NAMED_EACH 8u /* rounds */

struct counts {
	uint64_t ran_ns, queued_ns, turns;
	uint64_t minor, major, voluntary, involuntary, migrations;
};

/* A thread as of its last round. */
struct task {
	uint32_t tid; /* 0: nobody's */
	bool was_idle;
	struct counts counts;
	uint64_t ticks;
	char name[THREAD_NAME_BYTES];
	uint32_t word;	/* the name, of the session's; 0: nobody asked */
	uint32_t round; /* of the last look */
};

static struct {
	struct session *session;
	struct thread *thread; /* whose ring takes the events */
	uint32_t known;	       /* enum task_count */
	uint32_t round;
	bool was_open, is_first, is_probed;
	uint64_t ended_ns;
	uint64_t cpu_ns, took_ns;     /* as the round began; the last one */
	uint64_t ticks, ticks_before; /* of this round, and of the last */
	uint32_t used;		      /* of tasks, up to here */
	struct task process;
	struct task tasks[TASK_COUNTS_MAX];
} rounds;

static struct {
	uint32_t count;
	uint32_t tids[TASK_COUNTS_MAX];
} listed;

static uint64_t number_at(const char **at)
{
	uint64_t value = 0;

	while (**at == ' ' || **at == '\t' || **at == ':')
		(*at)++;
	while (**at >= '0' && **at <= '9')
		value = value * 10 + (uint64_t)(*(*at)++ - '0');
	return value;
}

static bool read_of(uint32_t tid, const char *file, char *text)
{
	char path[64];

	log_format(path, sizeof(path), "/proc/self/task/%u/%s", tid, file);
	return proc_read(path, text, TEXT_BYTES) > 0;
}

static bool read_times(uint32_t tid, struct counts *counts)
{
	char text[TEXT_BYTES];
	const char *at = text;

	if (!read_of(tid, "schedstat", text))
		return false;
	counts->ran_ns = number_at(&at);
	counts->queued_ns = number_at(&at);
	counts->turns = number_at(&at);
	return true;
}

/* Its name, in parentheses, may hold anything. */
static bool read_faults(uint32_t tid, struct counts *counts)
{
	char text[TEXT_BYTES];
	const char *at;

	if (!read_of(tid, "stat", text) || !(at = strrchr(text, ')')))
		return false;
	for (int blanks = 0; *at && blanks < 8; at++)
		blanks += *at == ' ';
	counts->minor = number_at(&at);
	number_at(&at);
	counts->major = number_at(&at);
	return true;
}

static bool number_of(const char *text, const char *key, uint64_t *value)
{
	const char *at = strstr(text, key);

	if (!at)
		return false;
	at += strlen(key);
	*value = number_at(&at);
	return true;
}

/* `sched` has all three, where the kernel was built so. */
static uint32_t read_switches(uint32_t tid, struct counts *counts)
{
	char text[TEXT_BYTES];

	if (rounds.known & TASK_MIGRATIONS || !rounds.is_probed) {
		if (read_of(tid, "sched", text) &&
		    number_of(text, "\nse.nr_migrations",
			      &counts->migrations) &&
		    number_of(text, "\nnr_voluntary_switches",
			      &counts->voluntary) &&
		    number_of(text, "\nnr_involuntary_switches",
			      &counts->involuntary))
			return TASK_SWITCHES | TASK_MIGRATIONS;
	}
	if (read_of(tid, "status", text) &&
	    number_of(text, "\nvoluntary_ctxt_switches", &counts->voluntary) &&
	    number_of(text, "\nnonvoluntary_ctxt_switches",
		      &counts->involuntary))
		return TASK_SWITCHES;
	return 0;
}

/* What this thread can read of itself it can of others. */
static void probe(void)
{
	static const char says[][64] = {
		"times on a core and ready for one (schedstat)",
		"page faults (stat)", "switches (status)",
		"migrations (sched)"};
	const uint32_t self = (uint32_t)syscall(SYS_gettid);
	struct counts counts = {0};

	rounds.known = read_switches(self, &counts);
	if (read_times(self, &counts))
		rounds.known |= TASK_TIMES;
	if (read_faults(self, &counts))
		rounds.known |= TASK_FAULTS;
	rounds.is_probed = true;
	store_relaxed(&rounds.session->head->sampling.known, rounds.known);
	for (int i = 0; i < 4; i++) {
		if (!(rounds.known & 1u << i))
			session_note(rounds.session,
				     "of threads there are no %s: "
				     "/proc/self/task doesn't have them",
				     says[i]);
	}
}

static uint32_t since(uint64_t now, uint64_t before)
{
	return (uint32_t)min_u64(now - min_u64(before, now), UINT32_MAX);
}

/* A thread that is idle for longer than one round has no events. */
static void leave(struct task *task, const struct counts *now)
{
	const struct counts *before = &task->counts;
	struct ring *ring = &rounds.thread->ring;
	const bool is_idle =
		now->turns == before->turns && now->ran_ns == before->ran_ns;
	struct event *slot;

	if (is_idle && task->was_idle && task->tid)
		return;
	slot = ring_reserve(ring, 1);
	if (!slot) {
		/* The next one has it. */
		ring_refuse(ring, EVENT_TASK_COUNTS, rounds.ticks);
		return;
	}
	*slot = (struct event){
		.kind = EVENT_TASK_COUNTS,
		.name = task->word,
		.extra = task->tid,
		.outlined_offset = since(now->migrations, before->migrations),
		.start_ticks = task->ticks,
		.end_ticks = rounds.ticks,
		.task = {.ran_ns = now->ran_ns -
				   min_u64(before->ran_ns, now->ran_ns),
			 .queued_ns =
				 now->queued_ns -
				 min_u64(before->queued_ns, now->queued_ns),
			 .minor_faults = since(now->minor, before->minor),
			 .major_faults = since(now->major, before->major),
			 .voluntary = since(now->voluntary, before->voluntary),
			 .involuntary =
				 since(now->involuntary, before->involuntary)}};
	ring_commit(ring, 1, 1);
	task->was_idle = is_idle;
	task->counts = *now;
	task->ticks = rounds.ticks;
}

void task_counts_look(uint32_t place, uint32_t tid)
{
	struct task *task = &rounds.tasks[place];
	struct counts now = task->counts;
	const bool is_new = task->tid != tid;

	if (!rounds.known)
		return;
	if (rounds.used <= place)
		rounds.used = place + 1;

	if (is_new) {
		/* It was born since the last round. */
		task->tid = tid;
		task->was_idle = false;
		task->counts = (struct counts){0};
		task->ticks = rounds.ticks_before;
		now = task->counts;
	}
	if (rounds.known & TASK_TIMES) {
		if (!read_times(tid, &now))
			return;
		/* Who didn't run has no faults either. */
		if (!is_new && !rounds.is_first &&
		    now.turns == task->counts.turns &&
		    now.ran_ns == task->counts.ran_ns) {
			leave(task, &now);
			return;
		}
	}
	if (rounds.known & TASK_FAULTS)
		read_faults(tid, &now);
	if (rounds.known & TASK_SWITCHES)
		read_switches(tid, &now);
	if (rounds.is_first) {
		task->counts = now;
		task->ticks = rounds.ticks;
		task->was_idle = false;
		return;
	}
	leave(task, &now);
}

static uint64_t of_time(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u +
	       (uint64_t)time.tv_usec * 1000u;
}

static void look_at_process(void)
{
	struct rusage usage;
	struct counts now = {0};

	if (getrusage(RUSAGE_SELF, &usage))
		return;
	now.ran_ns = of_time(usage.ru_utime) + of_time(usage.ru_stime);
	now.minor = (uint64_t)usage.ru_minflt;
	now.major = (uint64_t)usage.ru_majflt;
	now.voluntary = (uint64_t)usage.ru_nvcsw;
	now.involuntary = (uint64_t)usage.ru_nivcsw;
	if (!rounds.is_first) {
		leave(&rounds.process, &now);
		return;
	}
	rounds.process.counts = now;
	rounds.process.ticks = rounds.ticks;
}

bool task_counts_begin(struct session *session, bool is_open)
{
	const uint64_t now = clock_monotonic_ns();
	const bool has_changed = is_open != rounds.was_open;
	const uint64_t pause = max_u64(ROUND_NS, SHARE * rounds.took_ns);

	if (!has_changed && (!is_open || now - rounds.ended_ns < pause))
		return false;
	/* It isn't done now, but the last one must be. */
	if ((is_open || !rounds.was_open) && !proc_is_aside())
		return false;
	rounds.session = session;
	if (!rounds.thread) {
		rounds.thread = thread_enter(session);
		thread_busy();
		if (!rounds.thread)
			return false;
		rounds.thread->ring.never_waits = 1;
		probe();
	}
	rounds.is_first = is_open && has_changed;
	rounds.was_open = is_open;
	rounds.cpu_ns = clock_thread_ns();
	rounds.ticks_before = rounds.ticks;
	rounds.ticks = clock_ticks();
	rounds.round++;
	look_at_process();
	return true;
}

/* In the last round the caller may know no threads any more. */
void task_counts_end(void)
{
	for (uint32_t i = 0; !rounds.was_open && i < rounds.used; i++) {
		if (rounds.tasks[i].tid && rounds.tasks[i].ticks < rounds.ticks)
			task_counts_look(i, rounds.tasks[i].tid);
	}
	rounds.ended_ns = clock_monotonic_ns();
	rounds.took_ns = clock_thread_since(rounds.cpu_ns);
}

/* Who has ended leaves its place to others. */
static struct task *place_of(uint32_t tid)
{
	struct task *spare = NULL;

	for (uint32_t i = 0; i < rounds.used; i++) {
		struct task *task = &rounds.tasks[i];

		if (task->tid == tid)
			return task;
		if (!spare && task->round + 1 < rounds.round)
			spare = task;
	}
	if (!spare && rounds.used < TASK_COUNTS_MAX)
		spare = &rounds.tasks[rounds.used];
	return spare;
}

static bool list_name(const char *name, void *unused)
{
	(void)unused;
	listed.tids[listed.count++] = (uint32_t)atoi(name);
	return listed.count < TASK_COUNTS_MAX;
}

static void list_threads(void)
{
	const bool keeps_forks_out = loader_enter_soon();
	const int fd =
		open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	listed.count = 0;
	folder_read(fd, list_name, NULL);
	if (fd >= 0)
		close(fd);
	if (keeps_forks_out)
		loader_leave();
}

/* It may name itself at any time. */
static void name_task(struct task *task, uint32_t tid)
{
	char name[THREAD_NAME_BYTES] = "";

	if (task->word && rounds.round % NAMED_EACH)
		return;
	proc_thread_name(tid, name, sizeof(name));
	if (task->word && !strcmp(name, task->name))
		return;
	memcpy(task->name, name, sizeof(name));
	/* Threads that come and go may have a number each. */
	task->word = names_intern_spare(rounds.session, name, strlen(name));
}

void task_counts_round(struct session *session, bool is_open)
{
	const uint32_t self = (uint32_t)syscall(SYS_gettid);

	if (!task_counts_begin(session, is_open))
		return;
	list_threads();
	for (uint32_t i = 0; i < listed.count; i++) {
		const uint32_t tid = listed.tids[i];
		struct task *task = tid == self ? NULL : place_of(tid);

		if (!task)
			continue;
		if (task->tid != tid)
			*task = (struct task){0};
		name_task(task, tid);
		task_counts_look((uint32_t)(task - rounds.tasks), tid);
		task->round = rounds.round;
	}
	task_counts_end();
}

void task_counts_forget(void)
{
	memset(rounds.tasks, 0, rounds.used * sizeof(rounds.tasks[0]));
	rounds.used = 0;
	rounds.thread = NULL;
	rounds.was_open = rounds.is_probed = false;
	rounds.ended_ns = rounds.took_ns = 0;
}
