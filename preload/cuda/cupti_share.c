/* SPDX-License-Identifier: MIT */
/*
 * cupti_share.c - CUPTI beside other subscribers; see cupti_share.h.
 *
 * From 13.3 on each activity function has a second version, which takes the
 * subscriber.  The headers that this is built with may not know them, so that
 * they are looked up, and their types are ours.  Once we share, struct
 * cupti_functions leads to them, so that nobody else need know.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_share.h"

#include "preload/cuda/cupti_library.h"
#include <link.h>
#include <string.h>

#define SHARES_FROM 130300u

/* Of CUpti_SubscriberParams. */
struct parameters {
	size_t bytes;
	const char *name;
	char *holder;
	size_t holder_bytes;
	uint8_t allows_others;
	uint8_t pad[7];
};

/* Of CUpti_ActivityAttribute. */
enum {
	KERNEL_LATENCY = 15,
	ALL_SYNC = 16,
	EVENT_TIMES = 17,
	THREAD_ID_TYPE = 21,
};

typedef CUpti_SubscriberHandle handle_type;
typedef void request_function(uint8_t **buffer, size_t *size, size_t *most,
			      void *info);
typedef void complete_function(uint8_t *buffer, size_t size, size_t valid,
			       void *info);

/* clang-format off */
#define SHARED_FUNCTIONS(X)						\
	X(cuptiSubscribe_v2, (handle_type *, CUpti_CallbackFunc, void *, \
			      struct parameters *))			\
	X(cuptiActivityRegisterCallbacks_v2,				\
	  (handle_type, request_function *, complete_function *))	\
	X(cuptiActivityEnable_v2, (handle_type, CUpti_ActivityKind, void *)) \
	X(cuptiActivityDisable_v2, (handle_type, CUpti_ActivityKind, void *)) \
	X(cuptiActivityEnableAndDump_v2,				\
	  (handle_type, CUpti_ActivityKind, void *))			\
	X(cuptiActivityGetNextRecord_v2,				\
	  (handle_type, uint8_t *, size_t, CUpti_Activity **))		\
	X(cuptiActivityGetNumDroppedRecords_v2,				\
	  (handle_type, CUcontext, uint32_t, size_t *))			\
	X(cuptiActivityGetAttribute_v2,					\
	  (handle_type, CUpti_ActivityAttribute, size_t *, void *))	\
	X(cuptiActivitySetAttribute_v2,					\
	  (handle_type, CUpti_ActivityAttribute, size_t *, void *))	\
	X(cuptiActivityEnableRuntimeApi_v2,				\
	  (handle_type, CUpti_CallbackId, uint8_t))			\
	X(cuptiActivityEnableDriverApi_v2,				\
	  (handle_type, CUpti_CallbackId, uint8_t))			\
	X(cuptiGetTimestamp_v2, (handle_type, uint64_t *))
/* clang-format on */

static struct {
	handle_type handle;
	bool is_on;
#define X(name, parameters) CUptiResult(*name) parameters;
	SHARED_FUNCTIONS(X)
#undef X
	CUpti_BuffersCallbackRequestFunc request;
	CUpti_BuffersCallbackCompleteFunc complete;
} share;

bool cupti_share_is_on(void)
{
	return share.is_on;
}

/* --- whether -------------------------------------------------------------- */

/* JAX's plug-in shares; torch.profiler doesn't, and is refused beside one that
 * does. */
static int look_for_clients(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *base = slash ? slash + 1 : info->dlpi_name;
	bool *found = arg; /* one that shares, one that doesn't */

	(void)bytes;
	found[0] |= !strncmp(base, "xla_cuda_plugin", 15);
	found[1] |= !strncmp(base, "libtorch_c", 10);
	return 0;
}

static bool is_wanted(enum cupti_share wish)
{
	bool found[2] = {false, false};

	if (wish != CUPTI_SHARE_AUTO)
		return wish == CUPTI_SHARE_ON;
	dl_iterate_phdr(look_for_clients, found);
	return found[0] && !found[1];
}

static bool find_functions(void)
{
	bool all = true;

#define X(name, parameters)                                                    \
	*(void **)(void *)&share.name = cupti_library_symbol(#name);           \
	all &= share.name != NULL;
	SHARED_FUNCTIONS(X)
#undef X
	return all;
}

/* --- the functions -------------------------------------------------------- */

static CUptiResult enable(CUpti_ActivityKind kind)
{
	return share.cuptiActivityEnable_v2(share.handle, kind, NULL);
}

static CUptiResult disable(CUpti_ActivityKind kind)
{
	return share.cuptiActivityDisable_v2(share.handle, kind, NULL);
}

static CUptiResult enable_and_dump(CUpti_ActivityKind kind)
{
	return share.cuptiActivityEnableAndDump_v2(share.handle, kind, NULL);
}

static CUptiResult set(CUpti_ActivityAttribute attribute, size_t *bytes,
		       void *value)
{
	return share.cuptiActivitySetAttribute_v2(share.handle, attribute,
						  bytes, value);
}

static CUptiResult get(CUpti_ActivityAttribute attribute, size_t *bytes,
		       void *value)
{
	return share.cuptiActivityGetAttribute_v2(share.handle, attribute,
						  bytes, value);
}

static CUptiResult set_flag(uint32_t attribute, uint8_t on)
{
	size_t bytes = sizeof(on);

	return set((CUpti_ActivityAttribute)attribute, &bytes, &on);
}

static CUptiResult enable_latency(uint8_t on)
{
	return set_flag(KERNEL_LATENCY, on);
}

static CUptiResult enable_all_sync(uint8_t on)
{
	return set_flag(ALL_SYNC, on);
}

static CUptiResult enable_event_times(uint8_t on)
{
	return set_flag(EVENT_TIMES, on);
}

static CUptiResult set_thread_id(CUpti_ActivityThreadIdType type)
{
	size_t bytes = sizeof(type);

	return set((CUpti_ActivityAttribute)THREAD_ID_TYPE, &bytes, &type);
}

static CUptiResult next_record(uint8_t *buffer, size_t valid,
			       CUpti_Activity **record)
{
	return share.cuptiActivityGetNextRecord_v2(share.handle, buffer, valid,
						   record);
}

static CUptiResult count_dropped(CUcontext context, uint32_t stream,
				 size_t *dropped)
{
	return share.cuptiActivityGetNumDroppedRecords_v2(share.handle, context,
							  stream, dropped);
}

static CUptiResult enable_runtime(CUpti_CallbackId number, uint8_t on)
{
	return share.cuptiActivityEnableRuntimeApi_v2(share.handle, number, on);
}

static CUptiResult enable_driver(CUpti_CallbackId number, uint8_t on)
{
	return share.cuptiActivityEnableDriverApi_v2(share.handle, number, on);
}

static CUptiResult timestamp(uint64_t *now)
{
	return share.cuptiGetTimestamp_v2(share.handle, now);
}

static void request(uint8_t **buffer, size_t *size, size_t *most, void *info)
{
	(void)info;
	share.request(buffer, size, most);
}

static void complete(uint8_t *buffer, size_t size, size_t valid, void *info)
{
	(void)info;
	share.complete(NULL, 0, buffer, size, valid);
}

static CUptiResult register_callbacks(CUpti_BuffersCallbackRequestFunc ask,
				      CUpti_BuffersCallbackCompleteFunc give)
{
	share.request = ask;
	share.complete = give;
	return share.cuptiActivityRegisterCallbacks_v2(share.handle, request,
						       complete);
}

static void lead_there(void)
{
	cupti.cuptiActivityEnable = enable;
	cupti.cuptiActivityDisable = disable;
	cupti.cuptiActivityEnableAndDump = enable_and_dump;
	cupti.cuptiActivitySetAttribute = set;
	cupti.cuptiActivityGetAttribute = get;
	cupti.cuptiActivityEnableLatencyTimestamps = enable_latency;
	cupti.cuptiActivityEnableAllSyncRecords = enable_all_sync;
	cupti.cuptiActivityEnableCudaEventDeviceTimestamps = enable_event_times;
	cupti.cuptiSetThreadIdType = set_thread_id;
	cupti.cuptiActivityGetNextRecord = next_record;
	cupti.cuptiActivityGetNumDroppedRecords = count_dropped;
	cupti.cuptiActivityEnableRuntimeApi = enable_runtime;
	cupti.cuptiActivityEnableDriverApi = enable_driver;
	cupti.cuptiGetTimestamp = timestamp;
	cupti.cuptiActivityRegisterCallbacks = register_callbacks;
	/* One for all of them. */
	cupti.cuptiActivityRegisterTimestampCallback = NULL;
	share.is_on = true;
}

/* -------------------------------------------------------------------------- */

bool cupti_share_subscribe(enum cupti_share wish, uint32_t version,
			   CUpti_SubscriberHandle *handle,
			   CUpti_CallbackFunc callback)
{
	struct parameters parameters = {
		.bytes = sizeof(parameters),
		.name = "traceprof",
		.allows_others = 1,
	};

	if (version < SHARES_FROM || !is_wanted(wish) || !find_functions() ||
	    share.cuptiSubscribe_v2(&share.handle, callback, NULL,
				    &parameters) != CUPTI_SUCCESS)
		return false;
	/* Without it calls could not be told apart by their threads. */
	if (set_thread_id(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) !=
	    CUPTI_SUCCESS) {
		if (cupti.cuptiUnsubscribe)
			cupti.cuptiUnsubscribe(share.handle);
		return false;
	}
	lead_there();
	*handle = share.handle;
	return true;
}

#endif
