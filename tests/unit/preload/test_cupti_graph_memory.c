/* SPDX-License-Identifier: MIT */
/*
 * test_cupti_graph_memory.c - the table of graphs' memory when it is full:
 * graphs go and come while launches of those that are gone are still read.
 */
#include "tests/unit/cmocka_base.h"

#ifdef HAVE_CUPTI
#include "preload/cuda/cupti_graph_memory.h"
#include "preload/cuda/cupti_source.h"
#include "tests/unit/session_fixture.h"
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

/* As the table has them. */
enum { PLACES = 4096, GRAPHS = 1024, EACH = 4, ROUNDS = 200 };

/* Nobody is called back. */
void cupti_memory_call_on(void *subscriber, CUpti_CallbackDomain domain,
			  uint32_t number, enum cupti_memory_call call)
{
	(void)subscriber, (void)domain, (void)number, (void)call;
}

static _Atomic bool is_over;
static _Atomic uint32_t newest;

static uint64_t bytes_at(uint64_t address)
{
	return address * 3 + 1;
}

static CUgraph handle_of(uintptr_t number)
{
	return (CUgraph)number;
}

/* As CUPTI calls back in a call that gives a graph an allocation. */
static void call_begins(CUgraph graph)
{
	cupti_graph_memory_node(graph, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
}

static void call_at(CUpti_ApiCallbackSite site, CUdeviceptr address,
		    uint32_t number)
{
	int result = 0;
	cuMemAllocAsync_params params = {.dptr = &address,
					 .bytesize = bytes_at(address)};

	cupti_graph_memory_call(
		CUPTI_ALLOC,
		&(CUpti_CallbackData){.callbackSite = site,
				      .functionParams = &params,
				      .functionReturnValue = &result,
				      .correlationId = number});
}

static void call_ends(CUdeviceptr address)
{
	call_at(CUPTI_API_EXIT, address, 0);
}

/* A thread makes a graph with so many blocks, makes it executable and destroys
 * the one that it was made of. */
static void graph_comes(uint32_t id, unsigned int blocks)
{
	CUgraph handle = handle_of(0x1000);

	cupti_graph_memory_begins(handle);
	for (unsigned int i = 0; i < blocks; i++) {
		call_begins(handle);
		call_ends((CUdeviceptr)id * 1000 + i);
	}
	cupti_graph_memory_tell(handle, id);
	cupti_graph_memory_begins(handle);
}

/* How many blocks a launch of it allocates; each must be as it was made. */
static unsigned int launch(uint32_t id, uint64_t correlation)
{
	struct event work = {.kind = EVENT_GPU_KERNEL,
			     .start_ticks = correlation * 10,
			     .end_ticks = correlation * 10 + 5,
			     .gpu = {.correlation = correlation, .graph = id}};
	unsigned int count = 0;
	struct event made;

	cupti_graph_memory_work(&work, true);
	while (cupti_graph_memory_next(&made)) {
		assert_int_equal(made.memory.size_bytes,
				 bytes_at(made.memory.address));
		if (made.memory.is_free)
			continue;
		assert_int_equal(made.memory.address / 1000, id);
		count++;
	}
	return count;
}

static bool is_said(const struct session *session)
{
	for (uint32_t i = 0; i < load_relaxed(&session->head->note_count); i++)
		if (strstr(session->head->notes[i], "memory of CUDA graphs"))
			return true;
	return false;
}

static struct session *begin(void)
{
	cupti_graph_memory_forget();
	return fixture_begin(4);
}

/* All places are those of graphs that are gone; one more comes. */
static void a_place_that_is_taken_again_is_said(void **state)
{
	struct session *session = begin();
	unsigned int found = 0;

	(void)state;
	for (uint32_t id = 1; id < GRAPHS; id++) {
		graph_comes(id, EACH);
		cupti_graph_memory_ends(id);
	}
	for (uint32_t id = 1; id < GRAPHS; id++)
		found += launch(id, id);
	assert_int_equal(found, (GRAPHS - 1) * EACH);
	assert_false(is_said(session));

	graph_comes(GRAPHS, EACH);
	assert_int_equal(launch(GRAPHS, GRAPHS + 1), EACH);
	assert_false(is_said(session));
	for (uint32_t id = found = 1; id < GRAPHS; id++)
		found += launch(id, GRAPHS + 1 + id);
	assert_true(found - 1 < (GRAPHS - 1) * EACH);
	assert_true(is_said(session));
	fixture_end(session);
}

/* Two that are there share a place by their ids. */
static void too_many_graphs_are_said(void **state)
{
	struct session *session = begin();

	(void)state;
	graph_comes(1, 1);
	cupti_graph_memory_ends(1);
	graph_comes(1 + GRAPHS, 1);
	assert_false(is_said(session));
	graph_comes(1 + 2 * GRAPHS, 1);
	assert_true(is_said(session));
	fixture_end(session);
}

static void *graphs_come_and_go(void *unused)
{
	uint32_t id = 0;

	while (!load_relaxed(&is_over)) {
		graph_comes(++id, 16);
		cupti_graph_memory_ends(id);
		store_relaxed(&newest, id);
	}
	return unused;
}

/* What is read of a place while it is taken again is nobody's. */
static void no_block_is_half_of_another(void **state)
{
	struct session *session = begin();
	uint64_t correlation = 0;
	pthread_t maker;

	(void)state;
	store_relaxed(&is_over, false);
	store_relaxed(&newest, 0);
	pthread_create(&maker, NULL, graphs_come_and_go, NULL);
	while (load_relaxed(&newest) < PLACES / 16)
		continue;
	for (int i = 0; i < ROUNDS; i++) {
		/* The next ones whose places are taken. */
		const uint32_t last = load_relaxed(&newest);

		for (uint32_t id = last - PLACES / 16; id < last; id += 32)
			launch(id, ++correlation);
	}
	store_relaxed(&is_over, true);
	pthread_join(maker, NULL);
	fixture_end(session);
}

static void *another_call(void *like)
{
	*(bool *)like = gettid() % GRAPHS == getpid() % GRAPHS;
	if (*(bool *)like) {
		call_begins(handle_of(0x2000));
		call_ends(2000);
	}
	return NULL;
}

/* In the middle of a call another thread makes one of its own, whichever number
 * the kernel has given it. */
static void two_calls_at_once(void **state)
{
	struct session *session = begin();
	bool is_like = false;

	(void)state;
	call_begins(handle_of(0x1000));
	while (!is_like) {
		pthread_t other;

		pthread_create(&other, NULL, another_call, &is_like);
		pthread_join(other, NULL);
	}
	call_ends(1000);
	for (uint32_t id = 1; id <= 2; id++) {
		cupti_graph_memory_tell(handle_of(id * 0x1000), id);
		assert_int_equal(launch(id, id), 1);
	}
	assert_false(is_said(session));
	fixture_end(session);
}

enum { CALL = 7, ITS_ADDRESS = 3000 };

static void *a_call_that_takes_long(void *entered)
{
	call_at(CUPTI_API_ENTER, ITS_ADDRESS, CALL);
	call_begins(handle_of(0x1000));
	sem_post(entered);
	usleep(50000);
	call_at(CUPTI_API_EXIT, ITS_ADDRESS, CALL);
	return NULL;
}

/* Whoever reads must not take it for an allocation. */
static void a_record_before_its_call_returns(void **state)
{
	struct session *session = begin();
	const struct event record = {
		.kind = EVENT_GPU_MEMORY,
		.memory = {.correlation = CALL, .address = ITS_ADDRESS}};
	pthread_t maker;
	sem_t entered;

	(void)state;
	assert_true(cupti_graph_memory_counts(&record));
	sem_init(&entered, 0, 0);
	pthread_create(&maker, NULL, a_call_that_takes_long, &entered);
	sem_wait(&entered);
	assert_false(cupti_graph_memory_counts(&record));
	pthread_join(maker, NULL);
	sem_destroy(&entered);
	fixture_end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_before_its_call_returns),
		cmocka_unit_test(a_place_that_is_taken_again_is_said),
		cmocka_unit_test(too_many_graphs_are_said),
		cmocka_unit_test(no_block_is_half_of_another),
		cmocka_unit_test(two_calls_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no CUPTI without CUDA's headers");
}

#endif
