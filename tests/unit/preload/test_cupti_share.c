/* SPDX-License-Identifier: MIT */
/*
 * test_cupti_share.c - CUPTI beside other subscribers: when it is asked for,
 * and that from then on each of its functions is called with our handle.
 *
 * CUPTI is played here: all of its second versions note what they were given;
 * and so is what else is loaded (--wrap).
 */
#include "tests/unit/cmocka_base.h"

#ifdef HAVE_CUPTI
#include "preload/cuda/cupti_library.h"
#include "preload/cuda/cupti_share.h"
#include <link.h>
#include <string.h>

struct cupti_functions cupti;

static int handle_itself;
#define HANDLE ((CUpti_SubscriberHandle)(void *)&handle_itself)

static const char *called, *missing;
static CUptiResult thread_ids_answer, subscribe_answer;
static unsigned int unsubscribed;
static uint32_t attribute_set;
static uint8_t value_set;

static CUptiResult note(CUpti_SubscriberHandle handle, const char *name)
{
	assert_ptr_equal(handle, HANDLE);
	called = name;
	return CUPTI_SUCCESS;
}

/* As CUPTI has it since 13.3. */
struct parameters {
	size_t bytes;
	const char *name;
	char *holder;
	size_t holder_bytes;
	uint8_t allows_others;
};

static CUptiResult subscribe(CUpti_SubscriberHandle *handle,
			     CUpti_CallbackFunc callback, void *argument,
			     struct parameters *parameters)
{
	(void)callback, (void)argument;
	assert_string_equal(parameters->name, "traceprof");
	assert_int_equal(parameters->allows_others, 1);
	*handle = HANDLE;
	return subscribe_answer;
}

static CUptiResult unsubscribe(CUpti_SubscriberHandle handle)
{
	unsubscribed++;
	return note(handle, "unsubscribe");
}

static CUptiResult set_attribute(CUpti_SubscriberHandle handle,
				 CUpti_ActivityAttribute attribute,
				 size_t *bytes, const void *value)
{
	attribute_set = (uint32_t)attribute;
	memcpy(&value_set, value, 1);
	assert_true(*bytes == 1 || *bytes == 4);
	note(handle, "cuptiActivitySetAttribute_v2");
	return attribute == 21 ? thread_ids_answer : CUPTI_SUCCESS;
}

/* clang-format off */
#define PLAYED(name, parameters, unused)				\
	static CUptiResult name parameters				\
	{								\
		unused;							\
		return note(handle, #name);				\
	}

/* Of their parameters only the first is looked at. */
PLAYED(cuptiActivityRegisterCallbacks_v2,
       (CUpti_SubscriberHandle handle, void *a, void *b), (void)a; (void)b)
PLAYED(cuptiActivityEnable_v2,
       (CUpti_SubscriberHandle handle, int a, void *b), (void)a; (void)b)
PLAYED(cuptiActivityDisable_v2,
       (CUpti_SubscriberHandle handle, int a, void *b), (void)a; (void)b)
PLAYED(cuptiActivityEnableAndDump_v2,
       (CUpti_SubscriberHandle handle, int a, void *b), (void)a; (void)b)
PLAYED(cuptiActivityGetNextRecord_v2,
       (CUpti_SubscriberHandle handle, void *a, size_t b, void *c),
       (void)a; (void)b; (void)c)
PLAYED(cuptiActivityGetNumDroppedRecords_v2,
       (CUpti_SubscriberHandle handle, void *a, uint32_t b, void *c),
       (void)a; (void)b; (void)c)
PLAYED(cuptiActivityGetAttribute_v2,
       (CUpti_SubscriberHandle handle, int a, void *b, void *c),
       (void)a; (void)b; (void)c)
PLAYED(cuptiActivityEnableRuntimeApi_v2,
       (CUpti_SubscriberHandle handle, uint32_t a, uint8_t b), (void)a; (void)b)
PLAYED(cuptiActivityEnableDriverApi_v2,
       (CUpti_SubscriberHandle handle, uint32_t a, uint8_t b), (void)a; (void)b)
PLAYED(cuptiGetTimestamp_v2,
       (CUpti_SubscriberHandle handle, void *a), (void)a)
/* clang-format on */

void *cupti_library_symbol(const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} known[] = {
#define ROW(name) {#name, (void *)name}
		ROW(cuptiActivityRegisterCallbacks_v2),
		ROW(cuptiActivityEnable_v2),
		ROW(cuptiActivityDisable_v2),
		ROW(cuptiActivityEnableAndDump_v2),
		ROW(cuptiActivityGetNextRecord_v2),
		ROW(cuptiActivityGetNumDroppedRecords_v2),
		ROW(cuptiActivityGetAttribute_v2),
		ROW(cuptiActivityEnableRuntimeApi_v2),
		ROW(cuptiActivityEnableDriverApi_v2),
		ROW(cuptiGetTimestamp_v2),
		{"cuptiSubscribe_v2", (void *)subscribe},
		{"cuptiActivitySetAttribute_v2", (void *)set_attribute},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(name, known[i].name) &&
		    (!missing || strcmp(name, missing) != 0))
			return known[i].function;
	}
	return NULL;
}

/* What is loaded besides. */
static const char *neighbours[2];

int __wrap_dl_iterate_phdr(int (*look)(struct dl_phdr_info *, size_t, void *),
			   void *argument);

int __wrap_dl_iterate_phdr(int (*look)(struct dl_phdr_info *, size_t, void *),
			   void *argument)
{
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		struct dl_phdr_info info = {
			.dlpi_name = neighbours[i] ? neighbours[i] : ""};

		rc = look(&info, sizeof(info), argument);
	}
	return rc;
}

static bool subscribes(enum cupti_share wish, uint32_t version)
{
	CUpti_SubscriberHandle handle = NULL;
	const bool rc = cupti_share_subscribe(wish, version, &handle, NULL);

	assert_ptr_equal(handle, rc ? HANDLE : NULL);
	assert_int_equal(cupti_share_is_on(), rc);
	return rc;
}

/* Each way in which it can't be had leaves all as it was. */
static void what_stands_against_it(void **state)
{
	static const char *const needed[] = {"cuptiSubscribe_v2",
					     "cuptiActivityGetAttribute_v2",
					     "cuptiGetTimestamp_v2"};

	(void)state;
	cupti.cuptiUnsubscribe = unsubscribe;
	assert_false(subscribes(CUPTI_SHARE_OFF, 130300));
	/* Neither JAX's plug-in nor PyTorch is here. */
	assert_false(subscribes(CUPTI_SHARE_AUTO, 130300));
	assert_false(subscribes(CUPTI_SHARE_ON, 130299));
	for (int i = 0; i < 3; i++) {
		missing = needed[i];
		assert_false(subscribes(CUPTI_SHARE_ON, 130300));
	}
	missing = NULL;
	subscribe_answer = CUPTI_ERROR_NOT_SUPPORTED;
	assert_false(subscribes(CUPTI_SHARE_ON, 130300));
	subscribe_answer = CUPTI_SUCCESS;
	assert_int_equal(unsubscribed, 0);
	/* Then threads could not be told apart. */
	thread_ids_answer = CUPTI_ERROR_NOT_SUPPORTED;
	assert_false(subscribes(CUPTI_SHARE_ON, 130300));
	assert_int_equal(unsubscribed, 1);
	thread_ids_answer = CUPTI_SUCCESS;
	assert_null(cupti.cuptiActivityEnable);
}

#define LEADS_TO(name, ...)                                                    \
	do {                                                                   \
		called = "";                                                   \
		assert_int_equal(cupti.name(__VA_ARGS__), CUPTI_SUCCESS);      \
		assert_string_equal(called, #name "_v2");                      \
	} while (0)

#define SETS(name, number, value)                                              \
	do {                                                                   \
		attribute_set = 0;                                             \
		assert_int_equal(cupti.name(value), CUPTI_SUCCESS);            \
		assert_int_equal(attribute_set, number);                       \
		assert_int_equal(value_set, value);                            \
	} while (0)

/* Unasked, it is shared with JAX's plug-in, unless PyTorch is there, too. */
static void who_is_there_decides(void **state)
{
	static const char plugin[] = "/usr/lib/jax/xla_cuda_plugin.so";
	static const char *const torch[] = {"/usr/lib/torch/libtorch_cpu.so",
					    "libtorch_cuda.so"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		neighbours[0] = torch[i];
		assert_false(subscribes(CUPTI_SHARE_AUTO, 130300));
		neighbours[1] = plugin;
		assert_false(subscribes(CUPTI_SHARE_AUTO, 130300));
		neighbours[1] = NULL;
	}
	neighbours[0] = "/usr/lib/xla_cuda_plugin/libother.so";
	assert_false(subscribes(CUPTI_SHARE_AUTO, 130300));
	neighbours[1] = plugin;
	assert_false(subscribes(CUPTI_SHARE_AUTO, 130299));
	assert_false(subscribes(CUPTI_SHARE_OFF, 130300));
	assert_true(subscribes(CUPTI_SHARE_AUTO, 130300));
	neighbours[0] = neighbours[1] = NULL;
}

static void each_function_has_our_handle(void **state)
{
	CUpti_ActivityAttribute attribute =
		CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER;
	uint8_t byte = 1;
	size_t bytes = 1;

	(void)state;
	/* A client has no clock of its own there. */
	cupti.cuptiActivityRegisterTimestampCallback =
		(CUptiResult(*)(CUpti_TimestampCallbackFunc))(void *)subscribe;
	assert_true(subscribes(CUPTI_SHARE_ON, 130300));
	assert_null(cupti.cuptiActivityRegisterTimestampCallback);
	assert_int_equal(attribute_set, 21);
	LEADS_TO(cuptiActivityRegisterCallbacks, NULL, NULL);
	LEADS_TO(cuptiActivityEnable, CUPTI_ACTIVITY_KIND_MEMCPY);
	LEADS_TO(cuptiActivityDisable, CUPTI_ACTIVITY_KIND_MEMCPY);
	LEADS_TO(cuptiActivityEnableAndDump, CUPTI_ACTIVITY_KIND_DEVICE);
	LEADS_TO(cuptiActivityGetNextRecord, NULL, 0, NULL);
	LEADS_TO(cuptiActivityGetNumDroppedRecords, NULL, 0, NULL);
	LEADS_TO(cuptiActivitySetAttribute, attribute, &bytes, &byte);
	LEADS_TO(cuptiActivityGetAttribute, attribute, &bytes, &byte);
	LEADS_TO(cuptiActivityEnableRuntimeApi, 1, 0);
	LEADS_TO(cuptiActivityEnableDriverApi, 1, 0);
	LEADS_TO(cuptiGetTimestamp, NULL);
	SETS(cuptiActivityEnableLatencyTimestamps, 15, 1);
	SETS(cuptiActivityEnableAllSyncRecords, 16, 0);
	SETS(cuptiActivityEnableCudaEventDeviceTimestamps, 17, 1);
	SETS(cuptiSetThreadIdType, 21, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stands_against_it),
		cmocka_unit_test(who_is_there_decides),
		cmocka_unit_test(each_function_has_our_handle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no CUPTI without CUDA's headers");
}

#endif
