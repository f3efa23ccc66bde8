/* SPDX-License-Identifier: MIT */
/*
 * test_cupti_calls.c - which calls CUPTI is to call back for, by its own names
 * of them, and what is made of those that record an event with a name.
 */
#include "tests/unit/session_fixture.h"

#include "collector/session/names.h"
#include "preload/cuda/cupti_record.h"
#include "preload/cuda/cupti_side.h"
#include "preload/cuda/cupti_source.h"
#include <string.h>

#ifdef HAVE_CUPTI
#include "preload/cuda/cupti_graph_memory.h"
#include "preload/cuda/cupti_pinned.h"

static unsigned int enabled;

static CUptiResult CUPTIAPI enable(uint32_t on, CUpti_SubscriberHandle who,
				   CUpti_CallbackDomain domain,
				   CUpti_CallbackId number)
{
	(void)who, (void)domain, (void)number;
	enabled += on;
	return CUPTI_SUCCESS;
}

static struct session *begin(void)
{
	struct session *session = fixture_begin(4);
	char path[256];

	cupti_record_forget();
	cupti_events_forget();
	memset(cupti_memory_calls, 0, sizeof(cupti_memory_calls));
	enabled = 0;
	if (cupti_library_open("auto", path, sizeof(path)))
		skip();
	cupti.cuptiEnableCallback = enable;
	return session;
}

static bool begins_with(const char *name, const char *word)
{
	return !strncmp(name, word, strlen(word));
}

/* By what it does, however it is spelled: streams of a thread, versions. */
static enum cupti_memory_call call_named(const char *name)
{
	static const struct {
		char word[32];
		enum cupti_memory_call call;
	} rows[] = {
		{"HostRegister", CUPTI_PINS},
		{"MemHostRegister", CUPTI_PINS},
		{"HostUnregister", CUPTI_UNPINS},
		{"MemHostUnregister", CUPTI_UNPINS},
		{"EventRecord", CUPTI_EVENT_RECORDED},
		{"EventDestroy", CUPTI_EVENT_DESTROYED},
		{"MallocAsync", CUPTI_ALLOC},
		{"MallocFromPoolAsync", CUPTI_ALLOC},
		{"MemAllocAsync", CUPTI_ALLOC},
		{"MemAllocFromPoolAsync", CUPTI_ALLOC},
		{"FreeAsync", CUPTI_FREE},
		{"MemFreeAsync", CUPTI_FREE},
		{"GraphAddMemAllocNode", CUPTI_ALLOC_NODE},
		{"GraphAddMemFreeNode", CUPTI_FREE_NODE},
		{"GraphAddNode_v12030", CUPTI_ANY_NODE_2},
		{"GraphAddNode_v2", CUPTI_ANY_NODE_2},
		{"GraphAddNode", CUPTI_ANY_NODE},
		{"GraphNodeSetEnabled", CUPTI_NODE_SWITCHED},
		{"ModuleUnload", CUPTI_UNLOADED},
		{"LibraryUnload", CUPTI_UNLOADED},
	};
	const char *rest = name + (begins_with(name, "cuda") ? 4 : 2);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (begins_with(rest, rows[i].word))
			return rows[i].call;
	}
	return CUPTI_NO_MEMORY_CALL;
}

static void check_domain(CUpti_CallbackDomain domain)
{
	for (uint32_t number = 1; number < CUPTI_CALLS_MAX; number++) {
		const char *name = NULL;

		if (cupti.cuptiGetCallbackName(domain, number, &name) !=
			    CUPTI_SUCCESS ||
		    !name)
			continue;
		if (cupti_memory_call_of(domain, number) != call_named(name))
			fail_msg("%s is %d", name,
				 cupti_memory_call_of(domain, number));
	}
}

static void each_call_that_tells_what_no_record_does(void **state)
{
	struct session *session = begin();

	(void)state;
	cupti_pinned_start(NULL);
	cupti_graph_memory_start(NULL);
	cupti_graphs_start(NULL);
	cupti_launch_names_start(NULL);
	cupti_side_name_event(&enabled, "named");
	cupti_events_start(NULL);
	check_domain(CUPTI_CB_DOMAIN_RUNTIME_API);
	check_domain(CUPTI_CB_DOMAIN_DRIVER_API);
	assert_int_equal(cupti_memory_call_of(CUPTI_CB_DOMAIN_DRIVER_API,
					      CUPTI_CALLS_MAX),
			 CUPTI_NO_MEMORY_CALL);
	fixture_end(session);
}

/* Nobody pays for names that aren't given. */
static void without_a_name_no_event_is_called_back_for(void **state)
{
	struct session *session = begin();

	(void)state;
	cupti_side_name_event(NULL, "of nothing");
	cupti_side_name_event(&enabled, NULL);
	cupti_events_start(NULL);
	assert_int_equal(enabled, 0);
	cupti_side_name_event(&enabled, "named");
	cupti_events_start(NULL);
	assert_int_equal(enabled, 11);
	fixture_end(session);
}

static void call(enum cupti_memory_call what, CUpti_ApiCallbackSite site,
		 const void *handle, uint32_t number)
{
	const void *parameters[] = {handle};
	const CUpti_CallbackData data = {.callbackSite = site,
					 .functionParams = parameters,
					 .correlationId = number};

	cupti_events_call(what, &data);
}

/* The name of the event that the call of that number recorded. */
static const char *named(struct session *session, uint32_t number)
{
	const CUpti_ActivityCudaEvent2 record = {
		.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT,
		.correlationId = number};
	struct cupti_event made;

	assert_int_equal(cupti_record_decode(session,
					     (const CUpti_Activity *)&record,
					     sizeof(record), &made),
			 CUPTI_RECORD_EVENT);
	return made.event.name ? names_text(session, made.event.name, NULL)
			       : "";
}

static void an_event_has_its_name_till_it_is_gone(void **state)
{
	struct session *session = begin();
	const void *one = &enabled, *another = &session;

	(void)state;
	gate_set(GATE_RECORD_BITS);
	cupti_side_name_event(one, "loaded");
	call(CUPTI_EVENT_RECORDED, CUPTI_API_ENTER, one, 1);
	call(CUPTI_EVENT_RECORDED, CUPTI_API_ENTER, another, 2);
	call(CUPTI_EVENT_RECORDED, CUPTI_API_ENTER, NULL, 3);
	assert_string_equal(named(session, 1), "loaded");
	assert_string_equal(named(session, 2), "");
	assert_string_equal(named(session, 3), "");
	/* When that is over another thread's may have the handle. */
	call(CUPTI_EVENT_DESTROYED, CUPTI_API_EXIT, one, 4);
	call(CUPTI_EVENT_RECORDED, CUPTI_API_ENTER, one, 5);
	assert_string_equal(named(session, 5), "loaded");
	call(CUPTI_EVENT_DESTROYED, CUPTI_API_ENTER, one, 6);
	call(CUPTI_EVENT_RECORDED, CUPTI_API_ENTER, one, 7);
	assert_string_equal(named(session, 7), "");
	/* Its record is still to come, and has this one's place. */
	cupti_side_name_event(one, "read");
	call(CUPTI_EVENT_RECORDED, CUPTI_API_ENTER, one, 8);
	gate_set(GATE_CLOSED);
	call(CUPTI_EVENT_RECORDED, CUPTI_API_ENTER, one, 8 + 16384);
	assert_string_equal(named(session, 8), "read");
	gate_set(GATE_UNDECIDED);
	cupti_events_forget();
	fixture_end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_that_tells_what_no_record_does),
		cmocka_unit_test(without_a_name_no_event_is_called_back_for),
		cmocka_unit_test(an_event_has_its_name_till_it_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no CUPTI without CUDA's headers");
}

#endif
