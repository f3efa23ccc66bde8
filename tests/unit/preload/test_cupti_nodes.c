/* SPDX-License-Identifier: MIT */
/*
 * test_cupti_nodes.c - launches that run nothing: those that a capture turned
 * into nodes of graphs, and those of graphs without work.  CUPTI's callbacks
 * are played here.
 */
#include "tests/unit/session_fixture.h"

#include "preload/cuda/cupti_source.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_CUPTI
#include "preload/cuda/cupti_pinned.h"

#define NODES (1u << 22)
#define KEPT  65536u

static CUpti_CallbackFunc called_back;

static CUptiResult CUPTIAPI subscribe(CUpti_SubscriberHandle *handle,
				      CUpti_CallbackFunc callback, void *unused)
{
	(void)unused;
	*handle = NULL;
	called_back = callback;
	return CUPTI_SUCCESS;
}

static unsigned int enabled;

static CUptiResult CUPTIAPI enable(uint32_t on, CUpti_SubscriberHandle handle,
				   CUpti_CallbackDomain domain,
				   CUpti_CallbackId number)
{
	(void)on, (void)handle, (void)domain, (void)number;
	enabled++;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI exec_id(CUgraphExec executable, uint32_t *id)
{
	*id = (uint32_t)(uintptr_t)executable;
	return CUPTI_SUCCESS;
}

static struct session *begin(void)
{
	struct session *session = fixture_begin(4);
	char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];

	cupti.cuptiSubscribe_v2 = NULL;
	cupti.cuptiSubscribe = subscribe;
	cupti.cuptiEnableCallback = enable;
	cupti.cuptiGetGraphExecId = exec_id;
	cupti_callbacks_forget();
	cupti_nodes_start();
	assert_int_equal(cupti_callbacks_subscribe(holder, sizeof(holder)), 0);
	return session;
}

static void end(struct session *session)
{
	cupti_callbacks_forget();
	cupti_graphs_forget();
	fixture_end(session);
}

static void make_node(void)
{
	const CUpti_ResourceData node = {0};

	called_back(NULL, CUPTI_CB_DOMAIN_RESOURCE,
		    CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &node);
}

static void *make_nodes(void *count)
{
	for (uintptr_t i = 0; i < (uintptr_t)count; i++)
		make_node();
	return NULL;
}

/* A call that made the first of them is decoded after the last. */
static void nodes_that_are_forgotten_are_counted(void **state)
{
	struct session *session = begin();
	const uint32_t tid = (uint32_t)gettid();
	uint64_t start, first_end;

	(void)state;
	start = clock_ticks();
	make_node();
	first_end = clock_ticks();
	for (uint32_t i = 1; i < NODES; i++)
		make_node();
	assert_true(cupti_nodes_captured(tid, start, first_end));
	assert_false(cupti_nodes_captured(tid + 1, start, first_end));
	assert_int_equal(session->head->gpu.unknown_captures, 0);
	make_node();
	cupti_nodes_captured(tid + 1, start, first_end);
	assert_int_equal(session->head->gpu.unknown_captures, 1);
	assert_int_equal(load_relaxed(&session->head->note_count), 1);
	end(session);
}

/* In whatever order the calls are decoded, and where two threads make some. */
static void a_node_is_found_among_many(void **state)
{
	enum { MANY = 300000, LOOKED_AT = 1000 };
	static uint64_t starts[MANY], ends[MANY];
	struct session *session = begin();
	const uint32_t tid = (uint32_t)gettid();
	pthread_t other;

	(void)state;
	pthread_create(&other, NULL, make_nodes, (void *)(uintptr_t)MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		starts[i] = clock_ticks();
		make_node();
		ends[i] = clock_ticks();
	}
	pthread_join(other, NULL);
	for (uint32_t i = 0; i < MANY; i += MANY / LOOKED_AT) {
		const uint32_t at = (i * 7919u) % MANY;

		assert_true(cupti_nodes_captured(tid, starts[at], ends[at]));
		assert_false(
			cupti_nodes_captured(tid + 1, starts[at], ends[at]) &&
			cupti_nodes_captured(tid + 2, starts[at], ends[at]));
	}
	assert_int_equal(session->head->gpu.unknown_captures, 0);
	end(session);
}

/* What has been looked at is given back, but for the last. */
static void nodes_that_are_settled_take_no_memory(void **state)
{
	struct session *session = begin();
	const uint32_t tid = (uint32_t)gettid();
	uint64_t start, kept_end, kept_start, first_end;

	(void)state;
	start = clock_ticks();
	make_node();
	first_end = clock_ticks();
	for (uint32_t i = 0; i < 2 * KEPT; i++)
		make_node();
	kept_start = clock_ticks();
	make_node();
	kept_end = clock_ticks();
	/* As of the last one; then what was there by then has been looked at.
	 */
	cupti_nodes_settled(clock_ticks());
	assert_true(cupti_nodes_captured(tid, start, first_end));
	cupti_nodes_settled(clock_ticks());
	assert_false(cupti_nodes_captured(tid, start, first_end));
	assert_int_equal(session->head->gpu.unknown_captures, 1);
	assert_true(cupti_nodes_captured(tid, kept_start, kept_end));
	make_node();
	assert_false(cupti_nodes_captured(tid, kept_end, kept_end));
	assert_int_equal(session->head->gpu.unknown_captures, 1);
	end(session);
}

static void tell(uint32_t number, CUgraph graph, CUgraphExec executable,
		 CUgraphNodeType type)
{
	CUpti_GraphData data = {
		.graph = graph, .graphExec = executable, .nodeType = type};
	const CUpti_ResourceData about = {.resourceDescriptor = &data};

	called_back(NULL, CUPTI_CB_DOMAIN_RESOURCE, number, &about);
}

static void launch(CUgraphExec executable, uint32_t correlation)
{
	struct {
		CUgraphExec executable;
		void *stream;
	} params = {executable, NULL};
	const CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER,
					 .functionParams = &params,
					 .correlationId = correlation};

	cupti_graphs_call(CUPTI_GRAPH_LAUNCHED, &call);
}

/* Of events and host functions alone, which is nothing for the GPU. */
static void launches_of_empty_graphs_are_known(void **state)
{
	struct session *session = begin();
	CUgraph empty = (CUgraph)(uintptr_t)0x1000;
	CUgraph full = (CUgraph)(uintptr_t)0x2000;
	CUgraph strange = (CUgraph)(uintptr_t)0x3000;
	CUgraphExec executable[4] = {NULL, (CUgraphExec)(uintptr_t)1,
				     (CUgraphExec)(uintptr_t)2,
				     (CUgraphExec)(uintptr_t)3};

	(void)state;
	tell(CUPTI_CBID_RESOURCE_GRAPH_CREATED, full, NULL, 0);
	tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, full, NULL,
	     CU_GRAPH_NODE_TYPE_KERNEL);
	tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, full, executable[2], 0);
	tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, strange, executable[3], 0);
	enabled = 0;
	cupti_graphs_turn(NULL);
	assert_int_equal(enabled, 0); /* nobody pays for it yet */
	tell(CUPTI_CBID_RESOURCE_GRAPH_CREATED, empty, NULL, 0);
	tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, empty, NULL,
	     CU_GRAPH_NODE_TYPE_HOST);
	tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, empty, NULL,
	     CU_GRAPH_NODE_TYPE_EVENT_RECORD);
	tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, empty, executable[1], 0);
	cupti_graphs_turn(NULL);
	assert_int_equal(enabled, 4);
	cupti_graphs_turn(NULL);
	assert_int_equal(enabled, 4);
	for (uint32_t i = 1; i <= 3; i++) {
		launch(executable[i], 100 + i);
		assert_int_equal(cupti_graphs_ran_nothing(100 + i), i == 1);
	}
	/* CUPTI's numbers have 32 bits, and one may come again. */
	assert_true(cupti_graphs_ran_nothing((UINT64_C(7) << 32) + 101));
	assert_false(cupti_graphs_ran_nothing(101 + 16384));
	assert_false(cupti_graphs_ran_nothing(0));
	end(session);
	assert_false(cupti_graphs_ran_nothing(101));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_is_found_among_many),
		cmocka_unit_test(nodes_that_are_settled_take_no_memory),
		cmocka_unit_test(launches_of_empty_graphs_are_known),
		cmocka_unit_test(nodes_that_are_forgotten_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no callbacks without CUDA's headers");
}

#endif
