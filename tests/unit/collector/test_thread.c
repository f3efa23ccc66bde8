/* SPDX-License-Identifier: MIT */
/*
 * test_thread.c - thread records: taken, reused, walked, summed, and a list
 * that somebody has damaged.
 */
#include "tests/unit/session_fixture.h"

#include "collector/session/gate.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 8
#define ROUNDS	300

static struct session *session;

static int set_up(void **state)
{
	(void)state;
	session = fixture_begin(32);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fixture_end(session);
	return 0;
}

static unsigned int list_length(void)
{
	unsigned int count = 0;

	for (struct thread *t = thread_each(session, NULL); t;
	     t = thread_each(session, t))
		count++;
	return count;
}

static void test_the_first_event_enters(void **state)
{
	struct thread *thread;

	(void)state;
	errno = ERANGE;
	thread = thread_here();
	assert_int_equal(errno, ERANGE);
	assert_non_null(thread);
	assert_ptr_equal(thread_self, thread);
	assert_ptr_equal(thread_here(), thread);
	assert_int_equal(thread->tid, syscall(SYS_gettid));
	assert_int_equal(thread->generation, 1);
	assert_int_equal(load_relaxed(&thread->state), THREAD_LIVE);
	assert_int_equal(thread->ring.at, session_offset(session, thread));
}

static void test_inside_the_profiler_there_is_no_record(void **state)
{
	struct thread *thread = thread_here();
	struct thread *was = thread_busy();

	(void)state;
	assert_ptr_equal(was, thread);
	assert_null(thread_here());
	assert_false(thread_records(thread_self));
	thread_unbusy(was);
	assert_ptr_equal(thread_here(), thread);
}

/* Of a signal handler inside a hook, and of a thread's last moments. */
static void test_what_cant_be_recorded_is_counted(void **state)
{
	struct thread *thread = thread_here();
	struct thread *was = thread_fill();

	(void)state;
	assert_ptr_equal(was, thread);
	assert_false(thread_records(thread_self));
	assert_null(thread_here());
	assert_null(thread_here());
	thread_unbusy(was);
	assert_int_equal(load_relaxed(&session->head->missed_calls), 2);
	assert_ptr_equal(thread_here(), thread);
	thread_busy(); /* work of ours: nobody's calls */
	assert_null(thread_here());
	thread_unbusy(was);
	assert_int_equal(load_relaxed(&session->head->missed_calls), 2);
	thread_leave();
	assert_false(thread_records(thread_self));
	assert_null(thread_here());
	assert_int_equal(load_relaxed(&session->head->missed_calls), 3);
	assert_int_equal(load_relaxed(&session->head->unrecorded_calls), 0);
}

/* By a long jump, say: the region, and the scope that was open in it. */
static void test_what_was_left_is_recorded(void **state)
{
	struct thread *thread = thread_here();
	struct ring_walk reader = {0};
	const struct event *event;
	char frames[4096];

	(void)state;
	thread_open(thread, EVENT_SCOPE, 10, 5, 0, 0, 0);
	thread_open(thread, EVENT_OMP_REGION, 20, 6, 0x1000, 7, 0);
	thread_open_in(thread, frames);
	thread_open(thread, EVENT_NONE, 0, 0, 0, 0, 0);
	thread_open(thread, EVENT_SCOPE, 30, 8, 0, 0, 0);
	thread_drop_left(thread, frames + 1024);
	assert_int_equal(load_relaxed(&thread->depth), 1);
	event = ring_walk_next(&reader, session, &thread->ring);
	assert_non_null(event);
	assert_int_equal(event->kind, EVENT_SCOPE);
	assert_int_equal(event->name, 8);
	assert_int_equal(event->start_ticks, 30);
	assert_int_equal(event->flags, EVENT_UNFINISHED);
	event = ring_walk_next(&reader, session, &thread->ring);
	assert_non_null(event);
	assert_int_equal(event->kind, EVENT_OMP_REGION);
	assert_int_equal(event->omp.region, 7);
	assert_int_equal(event->extra, 6);
	assert_null(ring_walk_next(&reader, session, &thread->ring));
}

/* The master had done its share and waited for its team. */
static void test_a_share_ended_where_its_wait_began(void **state)
{
	struct thread *thread = thread_here();
	struct ring_walk reader = {0};
	const struct event *event;
	char frames[4096];

	(void)state;
	thread_open(thread, EVENT_OMP_REGION, 20, 6, 0x1000, 7, 0);
	thread_open_in(thread, frames);
	thread_open(thread, EVENT_OMP_IMPLICIT, 30, 6, 0x1000, 7, 0);
	thread_open(thread, EVENT_OMP_WAIT, 50, 0, 0x1000, 7,
		    OMP_SYNC_REGION_END);
	thread_drop_left(thread, frames + 1024);
	event = ring_walk_next(&reader, session, &thread->ring);
	assert_non_null(event);
	assert_int_equal(event->kind, EVENT_OMP_IMPLICIT);
	assert_int_equal(event->end_ticks, 50);
	assert_int_equal(event->flags, 0);
	event = ring_walk_next(&reader, session, &thread->ring);
	assert_non_null(event);
	assert_int_equal(event->kind, EVENT_OMP_WAIT);
	assert_int_equal(event->start_ticks, 50);
	assert_int_equal(event->flags, EVENT_UNFINISHED);
	event = ring_walk_next(&reader, session, &thread->ring);
	assert_non_null(event);
	assert_int_equal(event->kind, EVENT_OMP_REGION);
	assert_null(ring_walk_next(&reader, session, &thread->ring));
}

static void test_a_drained_record_is_reused(void **state)
{
	struct thread *first = thread_here();

	(void)state;
	first->ring.committed = 5;
	first->ring.heap_allocs = 3;
	thread_open(first, EVENT_SCOPE, 1, 0, 0, 0, 0);
	thread_leave();
	assert_null(thread_here()); /* hooks of a dying thread */
	assert_int_equal(load_relaxed(&first->state), THREAD_RETIRED);
	assert_int_equal(load_relaxed(&first->depth), 0);
	thread_self = NULL;
	assert_ptr_not_equal(thread_here(), first);
	thread_leave();
	store_release(&first->state, THREAD_FREE); /* as the writer does */
	thread_self = NULL;
	assert_ptr_equal(thread_here(), first);
	assert_int_equal(first->generation, 2);
	assert_int_equal(first->ring.committed, 5);
	assert_int_equal(first->ring.heap_allocs, 3);
	assert_int_equal(list_length(), 2);
	assert_int_equal(load_relaxed(&session->head->thread_count), 2);
}

static void test_what_a_thread_leaves_open_is_recorded(void **state)
{
	struct thread *thread = thread_here();
	const struct event *event;

	(void)state;
	gate_set(GATE_CLOSED | GATE_SCOPE);
	thread_open(thread, EVENT_SCOPE, 1, 7, 0, 0, 0);
	thread_open(thread, EVENT_NONE, 0, 0, 0, 0, 1); /* a hidden one */
	thread_open(thread, EVENT_OMP_WAIT, 3, 0, 8, 9, OMP_SYNC_TASKWAIT);
	thread_leave();
	gate_set(GATE_CLOSED);
	assert_int_equal(thread->ring.committed, 2);
	event = ring_slot(&thread->ring, thread->ring.next) - 2;
	assert_int_equal(event[0].kind, EVENT_OMP_WAIT);
	assert_int_equal(event[0].omp.sync, OMP_SYNC_TASKWAIT);
	assert_int_equal(event[0].omp.region, 9);
	assert_int_equal(event[1].kind, EVENT_SCOPE);
	assert_int_equal(event[1].name, 7);
	assert_int_equal(event[1].flags, EVENT_UNFINISHED);
}

static void test_without_room_a_thread_stays_unrecorded(void **state)
{
	(void)state;
	while (session_alloc(session, CACHE_LINE))
		;
	assert_null(thread_here());
	assert_null(thread_self);
	assert_null(thread_enter(NULL));
}

static void test_open_slices_beyond_the_array_are_counted(void **state)
{
	struct thread *thread = thread_here();
	const uint32_t last = OPEN_SLICES_MAX - 1;

	(void)state;
	assert_int_equal(thread_outer(thread), 0);
	for (uint32_t i = 0; i < OPEN_SLICES_MAX + 5; i++)
		thread_open(thread, EVENT_OMP_WAIT, 100 + i, i, 7, 8,
			    OMP_SYNC_BARRIER);
	assert_int_equal(load_relaxed(&thread->depth), OPEN_SLICES_MAX + 5);
	assert_int_equal(thread_outer(thread), 1); /* not known any more */
	assert_int_equal(thread->open[last].start_ticks, 100 + last);
	assert_int_equal(thread->open[last].sync, OMP_SYNC_BARRIER);
	for (int i = 0; i < 5; i++)
		thread_shut(thread);
	assert_int_equal(thread_outer(thread), 100 + last);
	for (int i = 0; i < 100; i++)
		thread_shut(thread);
	assert_int_equal(load_relaxed(&thread->depth), 0);
}

/* All at once, each time with a new record, since none is ever freed. */
static pthread_barrier_t barrier;

static void *enter_often(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&barrier);
		thread_self = NULL;
		if (!thread_here())
			return (void *)1;
	}
	return NULL;
}

static void test_threads_that_start_together_are_all_found(void **state)
{
	pthread_t ids[THREADS];
	void *failed;

	(void)state;
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, enter_often, NULL);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(ids[i], &failed);
		assert_null(failed);
	}
	pthread_barrier_destroy(&barrier);
	assert_int_equal(load_relaxed(&session->head->thread_count),
			 THREADS * ROUNDS);
	assert_int_equal(list_length(), THREADS * ROUNDS);
}

/* As if the newest had taken its space first and been pushed last. */
static void test_the_newest_record_may_lie_first(void **state)
{
	const uint64_t early = session_alloc(session, sizeof(struct thread));
	struct session_header *head = session->head;
	struct thread *thread;
	struct thread *copy = session_at(session, early);

	(void)state;
	thread_here();
	thread_self = NULL;
	thread = thread_here();
	/* Move the newest record to the lower place. */
	memcpy(copy, thread, sizeof(*copy));
	copy->ring.at = early;
	store_relaxed(&head->threads, early);
	assert_int_equal(list_length(), 2);
}

static void test_a_hostile_list_ends(void **state)
{
	struct session_header *head = session->head;
	struct thread *records[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		thread_self = NULL;
		records[i] = thread_here();
	}
	assert_int_equal(list_length(), 3);
	/* To itself, to the newest, past the end, into the header, odd. */
	const uint64_t newest = session_offset(session, records[2]);
	const uint64_t hostile[] = {session_offset(session, records[0]),
				    newest,
				    session->bytes - 64,
				    UINT64_MAX,
				    64,
				    newest + 3};

	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		store_relaxed(&records[0]->next, hostile[i]);
		assert_in_range(list_length(), 1, 4);
	}
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		store_relaxed(&head->threads, hostile[i]);
		assert_in_range(list_length(), 0, 4);
	}
	store_relaxed(&head->threads, newest + 8); /* inside, but not aligned */
	assert_int_equal(list_length(), 0);
}

static void test_a_list_of_noise_ends(void **state)
{
	(void)state;
	for (uint64_t at = sizeof(*session->head); at + 8 < session->bytes / 4;
	     at += 8) {
		const uint64_t noise =
			(at * UINT64_C(0x9e3779b97f4a7c15) >> 20) %
			session->bytes;

		*(uint64_t *)session_at(session, at) = noise & ~UINT64_C(63);
	}
	for (uint64_t at = 0; at < 4000; at++) {
		store_relaxed(&session->head->threads,
			      align_up(sizeof(*session->head), CACHE_LINE) +
				      CACHE_LINE * at);
		assert_in_range(list_length(), 0, 1000000);
	}
}

static void test_sums_over_all_records(void **state)
{
	struct thread_sums sums;

	(void)state;
	for (uint64_t i = 1; i <= 3; i++) {
		thread_self = NULL;
		struct ring *ring = &thread_here()->ring;

		ring->committed = i;
		ring->dropped[EVENT_MARK] = 10 * i;
		ring->dropped[EVENT_STEP] = 100 * i;
		ring->heap_allocs = i;
		ring->heap_frees = 2 * i;
		ring->heap_alloc_bytes = 3 * i;
		ring->heap_free_bytes = 4 * i;
	}
	thread_sum(session, &sums);
	assert_int_equal(sums.committed, 6);
	assert_int_equal(sums.dropped, 660);
	assert_int_equal(sums.dropped_by_kind[EVENT_MARK], 60);
	assert_int_equal(sums.dropped_by_kind[EVENT_STEP], 600);
	assert_int_equal(sums.heap_allocs, 6);
	assert_int_equal(sums.heap_frees, 12);
	assert_int_equal(sums.heap_alloc_bytes, 18);
	assert_int_equal(sums.heap_free_bytes, 24);
}

static _Atomic bool is_over;

static void *lose_on_and_on(void *ring)
{
	for (unsigned int i = 0; !load_relaxed(&is_over); i++)
		((struct ring *)ring)
			->dropped[i % 2 ? EVENT_MARK : EVENT_STEP]++;
	return NULL;
}

/* Whose they are and of which kind is told of the same ones, whatever the
 * threads lose meanwhile. */
static void test_losses_add_up_while_more_come(void **state)
{
	struct thread_loss losses[4];
	struct thread_sums sums;
	pthread_t loser;

	(void)state;
	thread_self = NULL;
	thread_here()->ring.dropped[EVENT_MARK] = 3;
	thread_self->tid = 1;
	thread_self = NULL;
	thread_here()->ring.dropped[EVENT_MARK] = 5;
	thread_self->tid = 2;
	store_relaxed(&is_over, false);
	assert_int_equal(pthread_create(&loser, NULL, lose_on_and_on,
					&thread_self->ring),
			 0);
	for (int i = 0; i < 20000; i++) {
		assert_int_equal(thread_sum_losses(session, &sums, losses, 4),
				 2);
		assert_int_equal(losses[0].dropped + losses[1].dropped,
				 sums.dropped);
		assert_int_equal(sums.dropped_by_kind[EVENT_MARK] +
					 sums.dropped_by_kind[EVENT_STEP],
				 sums.dropped);
	}
	store_relaxed(&is_over, true);
	pthread_join(loser, NULL);
	/* Of more threads than there is room for, the first. */
	assert_int_equal(thread_sum_losses(session, &sums, losses, 1), 1);
	assert_int_equal(losses[0].tid, 2);
	assert_true(losses[0].dropped < sums.dropped);
}

static void test_regions_have_numbers_of_their_own(void **state)
{
	struct thread *first = thread_here();
	struct thread *second;
	uint64_t last;

	(void)state;
	assert_int_equal(thread_region(first), 1);
	assert_int_equal(thread_region(first), 2);
	thread_self = NULL;
	second = thread_here();
	assert_ptr_not_equal(second, first);
	last = thread_region(second);
	assert_int_not_equal(last >> 32, thread_region(first) >> 32);
	/* Whoever has the record next goes on from there. */
	thread_leave();
	store_release(&second->state, THREAD_FREE);
	thread_self = NULL;
	assert_ptr_equal(thread_here(), second);
	assert_int_equal(thread_region(second), last + 1);
}

#define THREAD_TEST(name)                                                      \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		THREAD_TEST(test_the_first_event_enters),
		THREAD_TEST(test_inside_the_profiler_there_is_no_record),
		THREAD_TEST(test_what_cant_be_recorded_is_counted),
		THREAD_TEST(test_what_was_left_is_recorded),
		THREAD_TEST(test_a_drained_record_is_reused),
		THREAD_TEST(test_a_share_ended_where_its_wait_began),
		THREAD_TEST(test_what_a_thread_leaves_open_is_recorded),
		THREAD_TEST(test_without_room_a_thread_stays_unrecorded),
		THREAD_TEST(test_open_slices_beyond_the_array_are_counted),
		THREAD_TEST(test_threads_that_start_together_are_all_found),
		THREAD_TEST(test_the_newest_record_may_lie_first),
		THREAD_TEST(test_a_hostile_list_ends),
		THREAD_TEST(test_a_list_of_noise_ends),
		THREAD_TEST(test_sums_over_all_records),
		THREAD_TEST(test_losses_add_up_while_more_come),
		THREAD_TEST(test_regions_have_numbers_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
