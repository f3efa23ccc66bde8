/* SPDX-License-Identifier: MIT */
/*
 * test_callers.c - of how many frames the loader is asked: those of one stack
 * don't drive each other's rules out, wherever they happen to lie.  And of
 * which barriers the loops are known.
 */
#include "preload/stack/callers.h"
#include "collector/control/search.h"
#include "tests/unit/session_fixture.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#define CHAINS 400u
#define LINKS  6u
#define AGAIN  8u

static struct thread thread;
static unsigned int asked;

#pragma GCC visibility push(default)
int _dl_find_object(void *code, struct dl_find_object *found); /* NOLINT */
#pragma GCC visibility pop

/* In front of the loader's. */
int _dl_find_object(void *code, struct dl_find_object *found) /* NOLINT */
{
	int (*next)(void *, struct dl_find_object *);

	*(void **)&next = dlsym(RTLD_NEXT, "_dl_find_object");
	asked++;
	return next(code, found);
}

/* Functions that call each other in any order, and the last one us. */
static void (*chain[LINKS + 1])(void);
static unsigned int depth;

#define LINK(n)                                                                \
	__attribute__((noinline)) static void link_##n(void)                   \
	{                                                                      \
		chain[++depth]();                                              \
		depth--;                                                       \
		__asm__ volatile("");                                          \
	}
#define FOUR(with, n) with(n##0) with(n##1) with(n##2) with(n##3)
#define SIXTEEN(with, n)                                                       \
	FOUR(with, n##0) FOUR(with, n##1) FOUR(with, n##2) FOUR(with, n##3)
#define MANY(with)                                                             \
	SIXTEEN(with, 1)                                                       \
	SIXTEEN(with, 2)                                                       \
	SIXTEEN(with, 3)                                                       \
	SIXTEEN(with, 4)                                                       \
	SIXTEEN(with, 5) SIXTEEN(with, 6) SIXTEEN(with, 7) SIXTEEN(with, 8)
MANY(LINK)
#define ADDRESS(n) link_##n,
static void (*const links[])(void) = {MANY(ADDRESS)};

static void launch(void)
{
	callers_number_of_call(&thread, 1);
}

static void each_frame_is_asked_for_once(void **state)
{
	struct session *session = fixture_begin(4);
	unsigned int seed = 1, again = 0;

	(void)state;
	thread.tid = (uint32_t)getpid();
	callers_prepare();
	if (!callers_start())
		skip();
	launch();
	assert_true(asked > 0);
	for (unsigned int i = 0; i < CHAINS; i++) {
		for (unsigned int k = 0; k < LINKS; k++)
			chain[k] = links[(unsigned int)rand_r(&seed) %
					 (sizeof(links) / sizeof(links[0]))];
		chain[LINKS] = launch;
		for (unsigned int k = 0; k < AGAIN; k++) {
			const unsigned int before = asked;

			depth = 0;
			chain[0]();
			again += k >= AGAIN / 2 ? asked - before : 0;
		}
	}
	assert_int_equal(again, 0);
	fixture_end(session);
}

/* --- barriers ------------------------------------------------------------- */

#define ONE_PLACE  0x100u
#define TWO_PLACES 0x200u
#define SHORT	   0x300u
#define LATER	   0x400u

static uint64_t waited_site, waited_region;

static void wait_at(uint64_t site, uint64_t region)
{
	callers_barrier(&thread, site, region, 0);
}

static int called_back(const void *one, const void *other)
{
	(void)one;
	(void)other;
	wait_at(waited_site, waited_region);
	return 0;
}

/* Our own frames are passed over; those of the C library aren't. */
static void wait_elsewhere(uint64_t site, uint64_t region)
{
	waited_site = site;
	waited_region = region;
	qsort((char[]){1, 1}, 2, 1, called_back);
}

static bool is_known(const struct session *session, uint64_t site)
{
	return search_loops_of(&session->head->search, site,
			       SEARCH_BARRIER_PLACE)
		       .id != 0;
}

static struct session *begin_walks(void)
{
	struct session *session = fixture_begin(4);

	thread.tid = (uint32_t)getpid();
	callers_prepare();
	if (!callers_start())
		skip();
	return session;
}

static void a_barrier_is_looked_at_where_it_turns(void **state)
{
	struct session *session = begin_walks();

	(void)state;
	for (unsigned int i = 0; i < 15; i++)
		wait_at(ONE_PLACE, 1);
	assert_false(is_known(session, ONE_PLACE));
	wait_at(ONE_PLACE, 1);
	assert_true(is_known(session, ONE_PLACE));
	/* As often, but never as often in one region. */
	for (unsigned int i = 0; i < 60; i++)
		wait_at(SHORT, i / 15);
	assert_false(is_known(session, SHORT));
	/* From two places in turn: a loop that a compiler unrolled. */
	for (unsigned int i = 0; i < 60; i++) {
		wait_at(TWO_PLACES, 9);
		wait_elsewhere(TWO_PLACES, 9);
	}
	assert_false(is_known(session, TWO_PLACES));
	fixture_end(session);
}

/* Another loop goes on with it. */
static void a_barrier_from_another_place_later_is_not_known(void **state)
{
	struct session *session = begin_walks();

	(void)state;
	for (unsigned int i = 0; i < 40; i++)
		wait_at(LATER, 5);
	assert_true(is_known(session, LATER));
	for (unsigned int i = 0; i < 40; i++)
		wait_elsewhere(LATER, 5);
	assert_false(is_known(session, LATER));
	fixture_end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_frame_is_asked_for_once),
		cmocka_unit_test(a_barrier_is_looked_at_where_it_turns),
		cmocka_unit_test(
			a_barrier_from_another_place_later_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
