/* SPDX-License-Identifier: MIT */
/*
 * sim_buffers.c - activity buffers and the worker thread.
 *
 * A thread, or the whole process, fills one buffer at a time.  A record of the
 * GPU's work gets its place at the launch and its times when the work is done:
 * until then its buffer is withheld, full or not (WITHHOLD).  One that is full
 * and finished goes to the queue, from which the worker, the next flusher or
 * the thread that filled it (COMPLETE_ON) gives it back.  Two locks, as in
 * CUPTI: `fill` is
 * held while the client is asked for a buffer, `handover` while one is given
 * back and while dropped records are counted.  A client that takes a lock of
 * its own in its callbacks can deadlock on them, and on the real ones.
 */
#include "tests/fake_gpu/sim_buffers.h"

#include "tests/fake_gpu/sim_activity.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_record.h"
#include "tests/fake_gpu/sim_replay.h"
#include "tests/fake_gpu/sim_shared.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	WORKER_PERIOD_NS = 20000000,
	FIRST_VERSION_WITH_REFUSAL = 27,
	BUFFER_ALIGNMENT = 8,
};

/* A name in memory of "CUPTI's", of which nothing is left once the buffer that
 * points to it has been given back. */
struct lent_name {
	struct lent_name *next;
	char text[];
};

struct sim_buffer {
	struct sim_buffer *next;
	uint8_t *data;
	size_t size, used;
	size_t unfinished; /* records */
	int is_withheld;   /* on that list, not on a shelf */
	struct lent_name *names;
};

struct shelf {
	struct shelf *next;
	struct sim_buffer *current;
	int raced; /* a flush took the buffer that it was writing to */
};

static pthread_mutex_t fill = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t handover = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t queued = PTHREAD_COND_INITIALIZER;
static pthread_cond_t delivered = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

static CUpti_BuffersCallbackRequestFunc ask;
static CUpti_BuffersCallbackCompleteFunc give_back;
static struct shelf common = {.next = NULL};
static struct shelf *shelves = &common;
static __thread struct shelf *mine;
static struct sim_buffer *queue; /* oldest first */
static struct sim_buffer *withheld;
static int in_delivery, worker_runs;
static int per_thread = PER_THREAD_BY_CLIENT;
static int zeroed_by_client;
static size_t dropped;

int buffers_per_thread(void)
{
	const struct sim_knobs *knobs = sim_knobs();

	if (knobs->per_thread != PER_THREAD_BY_CLIENT)
		return knobs->per_thread;
	if (per_thread != PER_THREAD_BY_CLIENT)
		return per_thread;
	return knobs->version >= VERSION_LONG;
}

int buffers_set_per_thread(int on)
{
	if (sim_knobs()->per_thread == 0 && on)
		return 0;
	per_thread = on;
	return 1;
}

void buffers_set_zeroed(int by_client)
{
	zeroed_by_client = by_client;
}

void buffers_count_dropped(void)
{
	__atomic_add_fetch(&dropped, 1, __ATOMIC_RELAXED);
}

size_t buffers_dropped(void)
{
	pthread_mutex_lock(&handover);
	const size_t count = __atomic_exchange_n(&dropped, 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&handover);
	return count;
}

/* --- filling: `fill` is held ---------------------------------------------- */

static void enqueue(struct sim_buffer *buffer)
{
	struct sim_buffer **last = &queue;

	while (*last)
		last = &(*last)->next;
	buffer->next = NULL;
	*last = buffer;
	pthread_cond_broadcast(&queued);
}

/* No more is written into it, but for times. */
static void end_filling(struct sim_buffer *buffer)
{
	if (!buffer->unfinished) {
		enqueue(buffer);
		return;
	}
	buffer->is_withheld = 1;
	buffer->next = withheld;
	withheld = buffer;
}

static void finished_one(struct sim_buffer *buffer)
{
	if (--buffer->unfinished || !buffer->is_withheld)
		return;
	for (struct sim_buffer **b = &withheld; *b; b = &(*b)->next)
		if (*b == buffer) {
			*b = buffer->next;
			break;
		}
	enqueue(buffer);
}

static void check_list(const struct sim_buffer *buffer, const uint8_t *data)
{
	for (; buffer; buffer = buffer->next)
		if (buffer->data == data)
			sim_fault("activity buffer %p is out twice",
				  (void *)data);
}

static void check_buffer(const uint8_t *data, size_t size)
{
	if ((uintptr_t)data % BUFFER_ALIGNMENT)
		sim_fault("activity buffer %p is not aligned", (void *)data);
	if (size < LONGEST_RECORD)
		sim_fault("activity buffer of %zu bytes", size);
	for (const struct shelf *s = shelves; s; s = s->next)
		if (s->current && s->current->data == data)
			sim_fault("activity buffer %p is out twice",
				  (void *)data);
	check_list(queue, data);
	check_list(withheld, data);
	for (size_t i = 0; zeroed_by_client && i < size; i++)
		if (data[i])
			sim_fault("activity buffer %p is not zeroed",
				  (void *)data);
}

static struct sim_buffer *request(void)
{
	uint8_t *data = NULL;
	size_t size = 0, most = 0;

	if (!ask)
		return NULL;
	ask(&data, &size, &most);
	if (!data) {
		if (sim_knobs()->version < FIRST_VERSION_WITH_REFUSAL &&
		    !sim_knobs()->null_ok)
			sim_fault("no activity buffer: this version of CUPTI "
				  "would have crashed");
		return NULL;
	}
	check_buffer(data, size);
	if (!zeroed_by_client)
		memset(data, 0, size);

	struct sim_buffer *buffer = calloc(1, sizeof(*buffer));
	buffer->data = data;
	buffer->size = size;
	return buffer;
}

static void leave(void *shelf)
{
	struct shelf *old = shelf;

	pthread_mutex_lock(&fill);
	for (struct shelf **s = &shelves; *s; s = &(*s)->next)
		if (*s == old) {
			*s = old->next;
			break;
		}
	if (old->current)
		end_filling(old->current);
	pthread_mutex_unlock(&fill);
	mine = NULL;
	free(old);
}

static void make_key(void)
{
	pthread_key_create(&key, leave);
}

static struct shelf *shelf(void)
{
	if (!buffers_per_thread())
		return &common;
	if (!mine) {
		pthread_once(&once, make_key);
		mine = calloc(1, sizeof(*mine));
		mine->next = shelves;
		shelves = mine;
		pthread_setspecific(key, mine);
	}
	return mine;
}

static const char *lend_name(struct sim_buffer *buffer, const char *name)
{
	struct lent_name *lent = malloc(sizeof(*lent) + strlen(name) + 1);

	strcpy(lent->text, name);
	lent->next = buffer->names;
	buffer->names = lent;
	return lent->text;
}

/* They go with their module. */
static int names_are_reused(void)
{
	const struct sim_knobs *knobs = sim_knobs();

	return knobs->name_reuse == BY_VERSION ? knobs->version < VERSION_13_4_1
					       : knobs->name_reuse;
}

static int is_kernel(const CUpti_ActivityKernel10 *record)
{
	return record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
	       record->kind == CUPTI_ACTIVITY_KIND_KERNEL;
}

static void append(struct sim_buffer *buffer, const void *record, size_t size)
{
	CUpti_ActivityKernel10 *kernel =
		(CUpti_ActivityKernel10 *)(buffer->data + buffer->used);

	memcpy(kernel, record, size);
	buffer->used += size;
	if (names_are_reused() && is_kernel(kernel))
		kernel->name = lend_name(buffer, kernel->name);
}

/* --- giving back --------------------------------------------------------- */

static void take_names_back(struct sim_buffer *buffer)
{
	for (struct lent_name *name; (name = buffer->names) != NULL;) {
		buffer->names = name->next;
		for (char *c = name->text; *c; c++)
			*c = '?';
	}
}

static struct sim_buffer *take_from_queue(void)
{
	struct sim_buffer **place = &queue;
	struct sim_buffer *buffer;

	pthread_mutex_lock(&fill);
	while (sim_knobs()->out_of_order && *place && (*place)->next)
		place = &(*place)->next;
	buffer = *place;
	if (buffer) {
		*place = buffer->next;
		in_delivery++;
	}
	pthread_mutex_unlock(&fill);
	return buffer;
}

static void deliver_queue(void)
{
	struct sim_buffer *buffer;

	while ((buffer = take_from_queue()) != NULL) {
		pthread_mutex_lock(&handover);
		if (give_back)
			give_back(NULL, 0, buffer->data, buffer->size,
				  buffer->used);
		take_names_back(buffer);
		pthread_mutex_unlock(&handover);
		free(buffer);
		pthread_mutex_lock(&fill);
		in_delivery--;
		pthread_cond_broadcast(&delivered);
		pthread_mutex_unlock(&fill);
	}
}

/* `fill` is held: a buffer of this thread's with so much room, or NULL. */
static struct sim_buffer *room_for(size_t size)
{
	struct shelf *s = shelf();

	if (s->raced) {
		s->raced = 0;
		return NULL;
	}
	if (s->current && s->current->used + size > s->current->size) {
		end_filling(s->current);
		s->current = NULL;
	}
	if (!s->current)
		s->current = request();
	if (!s->current)
		buffers_count_dropped();
	return s->current;
}

static void deliver_of_app(void)
{
	if (sim_knobs()->complete_on == COMPLETE_ON_APP && queue)
		deliver_queue();
}

void buffers_put(const void *record, size_t size)
{
	struct sim_buffer *buffer;

	if (!replay_lets_through())
		return;
	pthread_mutex_lock(&fill);
	buffer = room_for(size);
	if (buffer)
		append(buffer, record, size);
	pthread_mutex_unlock(&fill);
	deliver_of_app();
}

struct sim_place buffers_reserve(const void *record, size_t size)
{
	struct sim_place place = {NULL, NULL};

	if (!replay_lets_through())
		return place;
	pthread_mutex_lock(&fill);
	place.buffer = room_for(size);
	if (place.buffer) {
		place.record = place.buffer->data + place.buffer->used;
		append(place.buffer, record, size);
		place.buffer->unfinished++;
	}
	pthread_mutex_unlock(&fill);
	deliver_of_app();
	return place;
}

void buffers_finish(struct sim_place place, const void *record, size_t size)
{
	CUpti_ActivityKernel10 *kernel = (void *)place.record;
	const char *const lent = is_kernel(kernel) ? kernel->name : NULL;

	pthread_mutex_lock(&fill);
	memcpy(place.record, record, size);
	if (lent)
		kernel->name = lent;
	finished_one(place.buffer);
	pthread_mutex_unlock(&fill);
}

static void *work(void *unused)
{
	(void)unused;
	for (;;) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += WORKER_PERIOD_NS;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		pthread_mutex_lock(&fill);
		/* What is another's to give back stays in the queue. */
		if (!queue || sim_knobs()->complete_on != COMPLETE_ON_WORKER)
			pthread_cond_timedwait(&queued, &fill, &until);
		pthread_mutex_unlock(&fill);
		activity_collect(0);
		if (sim_knobs()->complete_on == COMPLETE_ON_WORKER)
			deliver_queue();
	}
	return NULL;
}

static void start_worker(void)
{
	sigset_t all, before;
	pthread_t worker;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (pthread_create(&worker, NULL, work, NULL) == 0) {
		pthread_setname_np(worker, "simgpu-cupti");
		pthread_detach(worker);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void buffers_register(CUpti_BuffersCallbackRequestFunc request_callback,
		      CUpti_BuffersCallbackCompleteFunc complete_callback)
{
	pthread_mutex_lock(&fill);
	ask = request_callback;
	give_back = complete_callback;
	const int start = !worker_runs;
	worker_runs = 1;
	pthread_mutex_unlock(&fill);
	if (start)
		start_worker();
}

void buffers_flush(int forced)
{
	const struct sim_knobs *knobs = sim_knobs();
	const enum hang_flush hang = knobs->hang_flush;
	const int races = knobs->thread_race == BY_VERSION
				  ? knobs->version < VERSION_12_6_2
				  : knobs->thread_race;

	while (hang == HANG_ALWAYS || (hang == HANG_FORCED && forced))
		pause();
	activity_collect(forced);
	pthread_mutex_lock(&fill);
	for (struct shelf *s = shelves; s; s = s->next) {
		if (s->current && s->current->used && !s->current->unfinished) {
			enqueue(s->current);
			s->current = NULL;
			s->raced = races && s != &common && s != mine;
		}
	}
	if (sim_knobs()->complete_on == COMPLETE_ON_WORKER)
		while (queue || in_delivery)
			pthread_cond_wait(&delivered, &fill);
	pthread_mutex_unlock(&fill);
	deliver_queue();
	shared_flush();
}
