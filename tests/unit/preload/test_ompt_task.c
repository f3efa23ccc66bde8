/* SPDX-License-Identifier: MIT */
/*
 * test_ompt_task.c - explicit tasks in each order in which OpenMP's runtimes
 * may tell of them; the runtime is played here.
 *
 * libomp gives a thread back to the task around the one that ends before it
 * begins another.  The specification lets a runtime go on to the next one at
 * once, with the status of the one that has ended.
 */
#include "tests/unit/session_fixture.h"

#include "preload/ompt/ompt_slice.h"

#define IMPLICIT                                                               \
	{                                                                      \
		.value = OMPT_IMPLICIT                                         \
	}

static struct session *begin(void)
{
	struct session *session = fixture_begin(4);

	gate_set(GATE_CLOSED | GATE_OMP);
	assert_non_null(thread_here());
	return session;
}

static void end(struct session *session)
{
	assert_int_equal(load_relaxed(&thread_self->depth), 0);
	gate_set(GATE_UNDECIDED);
	fixture_end(session);
}

static union ompt_word created(void)
{
	union ompt_word task;

	ompt_task_create(NULL, NULL, &task, OMPT_TASK_EXPLICIT, 0, begin);
	return task;
}

/* The numbers of the tasks that have run, in the order of their ends, as one
 * number: 21 is the second, then the first.  `start`: when the first began. */
static unsigned int ran(struct session *session, uint64_t *start)
{
	struct ring_walk walk = {0};
	const struct event *event;
	unsigned int first = 0, numbers = 0;

	while ((event = ring_walk_next(&walk, session, &thread_self->ring))) {
		if (event->kind == EVENT_OMP_CREATE && !first)
			first = event->omp.task;
		if (event->kind != EVENT_OMP_EXPLICIT)
			continue;
		numbers = 10 * numbers + event->omp.task - first + 1;
		if (event->omp.task == first)
			*start = event->start_ticks;
	}
	return numbers;
}

static void one_after_the_other(void **state)
{
	struct session *session = begin();
	union ompt_word around = IMPLICIT;
	union ompt_word first = created(), second = created();
	uint64_t start;

	(void)state;
	ompt_task_schedule(&around, OMPT_TASK_SWITCH, &first);
	ompt_task_schedule(&first, OMPT_TASK_COMPLETE, &around);
	ompt_task_schedule(&around, OMPT_TASK_SWITCH, &second);
	ompt_task_schedule(&second, OMPT_TASK_COMPLETE, &around);
	assert_int_equal(ran(session, &start), 12);
	end(session);
}

/* However the first one comes to be left. */
static void the_next_one_at_once(void **state)
{
	static const int ends[] = {OMPT_TASK_COMPLETE, OMPT_TASK_CANCEL,
				   OMPT_TASK_DETACH};
	uint64_t start;

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct session *session = begin();
		union ompt_word around = IMPLICIT;
		union ompt_word first = created(), second = created();

		ompt_task_schedule(&around, OMPT_TASK_SWITCH, &first);
		ompt_task_schedule(&first, ends[i], &second);
		ompt_task_schedule(&second, OMPT_TASK_COMPLETE, &around);
		assert_int_equal(ran(session, &start), 12);
		end(session);
	}
}

/* The outer one waits for it, goes on afterwards, and is one slice. */
static void one_inside_the_other(void **state)
{
	struct session *session = begin();
	union ompt_word around = IMPLICIT;
	union ompt_word outer = created(), inner = created();
	uint64_t start, waits;

	(void)state;
	ompt_task_schedule(&around, OMPT_TASK_SWITCH, &outer);
	waits = clock_ticks();
	thread_open(thread_self, EVENT_OMP_WAIT, waits, 0, 0, 0,
		    OMP_SYNC_TASKWAIT);
	ompt_task_schedule(&outer, OMPT_TASK_SWITCH, &inner);
	assert_int_equal(load_relaxed(&thread_self->depth), 3);
	ompt_task_schedule(&inner, OMPT_TASK_COMPLETE, &outer);
	assert_int_equal(load_relaxed(&thread_self->depth), 2);
	thread_shut(thread_self);
	ompt_task_schedule(&outer, OMPT_TASK_COMPLETE, &around);
	assert_int_equal(ran(session, &start), 21);
	assert_true(start <= waits);
	end(session);
}

/* Parts of two untied tasks in turn: the event is the last one. */
static void parts_in_turn(void **state)
{
	static const int turns[] = {OMPT_TASK_YIELD, OMPT_TASK_SWITCH};
	uint64_t start, last;

	(void)state;
	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		struct session *session = begin();
		union ompt_word around = IMPLICIT;
		union ompt_word first = created(), second = created();

		ompt_task_schedule(&around, OMPT_TASK_SWITCH, &first);
		ompt_task_schedule(&around, turns[i], &second);
		last = clock_ticks();
		ompt_task_schedule(&around, turns[i], &first);
		assert_int_equal(load_relaxed(&thread_self->depth), 1);
		ompt_task_schedule(&first, OMPT_TASK_COMPLETE, &around);
		ompt_task_schedule(&around, turns[i], &second);
		ompt_task_schedule(&second, OMPT_TASK_COMPLETE, &around);
		assert_int_equal(ran(session, &start), 12);
		assert_true(start >= last);
		end(session);
	}
}

static void parts_with_nothing_between(void **state)
{
	struct session *session = begin();
	union ompt_word around = IMPLICIT, task = created();
	uint64_t start, second;

	(void)state;
	ompt_task_schedule(&around, OMPT_TASK_SWITCH, &task);
	second = clock_ticks();
	ompt_task_schedule(&around, OMPT_TASK_YIELD, &task);
	ompt_task_schedule(&task, OMPT_TASK_COMPLETE, &around);
	assert_int_equal(ran(session, &start), 1);
	assert_true(start <= second);
	end(session);
}

/* A signal's handler that interrupts the library: what it does is counted. */
static void inside_of_the_library(void **state)
{
	struct session *session = begin();
	struct thread *was = thread_busy();

	(void)state;
	for (int i = 0; i < 7; i++)
		created();
	thread_unbusy(was);
	assert_int_equal(load_relaxed(&session->head->missed_calls), 7);
	created();
	assert_int_equal(load_relaxed(&session->head->missed_calls), 7);
	end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_after_the_other),
		cmocka_unit_test(the_next_one_at_once),
		cmocka_unit_test(one_inside_the_other),
		cmocka_unit_test(parts_in_turn),
		cmocka_unit_test(parts_with_nothing_between),
		cmocka_unit_test(inside_of_the_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
