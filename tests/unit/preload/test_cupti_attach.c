/* SPDX-License-Identifier: MIT */
/*
 * test_cupti_attach.c - what CUPTI is set to when it becomes ours, by version.
 *
 * CUPTI is played here; it takes the attributes and refuses our buffers, which
 * come next.
 */
#include "tests/unit/session_fixture.h"

#ifdef HAVE_CUPTI
#include "collector/system/cupti_versions.h"
#include "preload/cuda/cupti_library.h"
#include "preload/cuda/cupti_source.h"

enum { NOT_ASKED = -1 };

static int per_thread; /* what was set */
static CUptiResult answer;

static CUptiResult CUPTIAPI set_attribute(CUpti_ActivityAttribute attribute,
					  size_t *bytes, void *value)
{
	assert_int_equal(attribute,
			 CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
	assert_int_equal(*bytes, 1);
	per_thread = *(const uint8_t *)value;
	return answer;
}

static CUptiResult CUPTIAPI set_thread_ids(CUpti_ActivityThreadIdType type)
{
	assert_int_equal(type, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI set_clock(CUpti_TimestampCallbackFunc now)
{
	(void)now;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI
set_buffers(CUpti_BuffersCallbackRequestFunc request,
	    CUpti_BuffersCallbackCompleteFunc complete)
{
	(void)request, (void)complete;
	return CUPTI_ERROR_UNKNOWN;
}

static CUptiResult CUPTIAPI result_name(CUptiResult result, const char **text)
{
	(void)result, (void)text;
	return CUPTI_SUCCESS;
}

/* Whether each thread has buffers of its own. */
static bool thread_buffers(uint32_t version)
{
	struct session *session = fixture_begin(4);
	bool has;

	cupti = (struct cupti_functions){
		.cuptiActivitySetAttribute = set_attribute,
		.cuptiSetThreadIdType = set_thread_ids,
		.cuptiActivityRegisterTimestampCallback = set_clock,
		.cuptiActivityRegisterCallbacks = set_buffers,
		.cuptiGetResultString = result_name,
	};
	session->head->gpu.cupti_version = version;
	cupti_versions_start(version);
	per_thread = NOT_ASKED;
	assert_false(cupti_attach_again());
	has = cupti_attach_has_thread_buffers();
	fixture_end(session);
	return has;
}

/* 12.3 has them first; there and up to 12.6 Update 1 they race with a flush:
 * they are switched off, and nobody may take it that they are there. */
static void threads_have_buffers_where_these_are_sound(void **state)
{
	(void)state;
	assert_false(thread_buffers(20));
	assert_int_equal(per_thread, NOT_ASKED);
	for (uint32_t version = 21; version <= 24; version++) {
		assert_false(thread_buffers(version));
		assert_int_equal(per_thread, 0);
	}
	assert_true(thread_buffers(25));
	assert_int_equal(per_thread, 1);
	assert_true(thread_buffers(130001));
	assert_int_equal(per_thread, 1);
	answer = CUPTI_ERROR_INVALID_PARAMETER;
	assert_false(thread_buffers(130001));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_have_buffers_where_these_are_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no CUPTI without CUDA's headers");
}

#endif
