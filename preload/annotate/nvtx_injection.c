/* SPDX-License-Identifier: MIT */
/*
 * nvtx_injection.c - fills the tables of each copy of NVTX in the process.
 *
 * Each library that was built with NVTX has a copy, so this runs once for each,
 * on any thread.  It must not call NVTX itself, which would wait for ever.
 *
 * A child that inherited the variable without being preloaded loads us late,
 * behind its malloc and with its threads running: there we say no, and NVTX
 * stays off as if nothing were named.
 */
#include "preload/annotate/nvtx_injection.h"

#include "collector/session/gate.h"
#include "collector/system/log.h"
#include "preload/annotate/injection.h"
#include "preload/process/life.h"
#include "preload/annotate/nvtx_range.h"
#include "preload/process/process.h"
#include "preload/process/quiet.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "NVTX_INJECTION64_PATH"

/* What was there before us, cut to what a message can hold. */
static char other[256];

void nvtx_injection_announce(void)
{
	const char *there = getenv(VARIABLE);

	if (there && strcmp(there, process_own_path()) != 0)
		strncpy(other, there, sizeof(other) - 1);
	injection_announce(VARIABLE);
}

void nvtx_injection_say(struct session *session)
{
	if (!other[0])
		return;
	session_note(session, "NVTX ranges went to another tool: %s", other);
	log_say("NVTX ranges are left to %s (NVTX_INJECTION64_PATH)", other);
}

/* --- the default domain's short forms ------------------------------------- */

static struct nvtx_event ascii(const char *message)
{
	return (struct nvtx_event){.size = sizeof(struct nvtx_event),
				   .message_type = NVTX_ASCII,
				   .message.ascii = message};
}

static struct nvtx_event wide(const wchar_t *message)
{
	return (struct nvtx_event){.size = sizeof(struct nvtx_event),
				   .message_type = NVTX_UNICODE,
				   .message.unicode = message};
}

static void mark_ex(const struct nvtx_event *event)
{
	nvtx_mark(NULL, event);
}

static void mark_a(const char *message)
{
	const struct nvtx_event event = ascii(message);

	nvtx_mark(NULL, &event);
}

static void mark_w(const wchar_t *message)
{
	const struct nvtx_event event = wide(message);

	nvtx_mark(NULL, &event);
}

static uint64_t start_ex(const struct nvtx_event *event)
{
	return nvtx_start(NULL, event);
}

static uint64_t start_a(const char *message)
{
	const struct nvtx_event event = ascii(message);

	return nvtx_start(NULL, &event);
}

static uint64_t start_w(const wchar_t *message)
{
	const struct nvtx_event event = wide(message);

	return nvtx_start(NULL, &event);
}

static int push_ex(const struct nvtx_event *event)
{
	return nvtx_push(NULL, event);
}

static int push_a(const char *message)
{
	const struct nvtx_event event = ascii(message);

	return nvtx_push(NULL, &event);
}

static int push_w(const wchar_t *message)
{
	const struct nvtx_event event = wide(message);

	return nvtx_push(NULL, &event);
}

static int pop(void)
{
	return nvtx_pop(NULL);
}

static void thread_w(uint32_t tid, const wchar_t *name)
{
	char text[NAME_BYTES_MAX];

	nvtx_text_narrow(name, text, sizeof(text));
	nvtx_name_thread(tid, text);
}

/* --- CUDA's streams and events -------------------------------------------- */

typedef void nvtx_tell(const void *handle, const char *name);

static nvtx_tell *_Atomic tell_stream;
static nvtx_tell *_Atomic tell_event;

void nvtx_on_names(nvtx_tell *stream, nvtx_tell *event)
{
	store_relaxed(&tell_stream, stream);
	store_relaxed(&tell_event, event);
}

static void name_handle(nvtx_tell *tell, const void *handle, const char *name)
{
	struct quiet quiet;

	if (!tell || !name)
		return;
	quiet = quiet_begin();
	tell(handle, name);
	quiet_end(&quiet);
}

static void stream_a(const void *stream, const char *name)
{
	name_handle(load_relaxed(&tell_stream), stream, name);
}

static void stream_w(const void *stream, const wchar_t *name)
{
	char text[NAME_BYTES_MAX];

	nvtx_text_narrow(name, text, sizeof(text));
	stream_a(stream, text);
}

static void event_a(const void *event, const char *name)
{
	name_handle(load_relaxed(&tell_event), event, name);
}

static void event_w(const void *event, const wchar_t *name)
{
	char text[NAME_BYTES_MAX];

	nvtx_text_narrow(name, text, sizeof(text));
	event_a(event, text);
}

/* --- domains, strings, categories ----------------------------------------- */

static void domain_end(const struct nvtx_string *domain, uint64_t number)
{
	(void)domain;
	nvtx_end(number);
}

static void category_a(const struct nvtx_string *domain, uint32_t category,
		       const char *name)
{
	nvtx_text_register(NVTX_KIND_CATEGORY, domain, category, name);
}

static void category_w(const struct nvtx_string *domain, uint32_t category,
		       const wchar_t *name)
{
	char text[NAME_BYTES_MAX];

	nvtx_text_narrow(name, text, sizeof(text));
	category_a(domain, category, text);
}

static void default_category_a(uint32_t category, const char *name)
{
	category_a(NULL, category, name);
}

static void default_category_w(uint32_t category, const wchar_t *name)
{
	category_w(NULL, category, name);
}

static const struct nvtx_string *register_a(const struct nvtx_string *domain,
					    const char *text)
{
	return nvtx_text_register(NVTX_KIND_STRING, domain, 0, text);
}

static const struct nvtx_string *register_w(const struct nvtx_string *domain,
					    const wchar_t *wide_text)
{
	char text[NAME_BYTES_MAX];

	nvtx_text_narrow(wide_text, text, sizeof(text));
	return register_a(domain, text);
}

static const struct nvtx_string *create_a(const char *name)
{
	return nvtx_text_register(NVTX_KIND_DOMAIN, NULL, 0, name);
}

static const struct nvtx_string *create_w(const wchar_t *name)
{
	char text[NAME_BYTES_MAX];

	nvtx_text_narrow(name, text, sizeof(text));
	return create_a(text);
}

/* --- the tables ----------------------------------------------------------- */

struct entry {
	unsigned int number;
	nvtx_function *function;
};

#define ENTRY(number, function)                                                \
	{                                                                      \
		number, (nvtx_function *)function                              \
	}

/* Resources, destruction and initialisation need nothing: an empty slot. */
static const struct entry core[] = {
	ENTRY(NVTX_MARK_EX, mark_ex),
	ENTRY(NVTX_MARK_A, mark_a),
	ENTRY(NVTX_MARK_W, mark_w),
	ENTRY(NVTX_RANGE_START_EX, start_ex),
	ENTRY(NVTX_RANGE_START_A, start_a),
	ENTRY(NVTX_RANGE_START_W, start_w),
	ENTRY(NVTX_RANGE_END, nvtx_end),
	ENTRY(NVTX_RANGE_PUSH_EX, push_ex),
	ENTRY(NVTX_RANGE_PUSH_A, push_a),
	ENTRY(NVTX_RANGE_PUSH_W, push_w),
	ENTRY(NVTX_RANGE_POP, pop),
	ENTRY(NVTX_NAME_CATEGORY_A, default_category_a),
	ENTRY(NVTX_NAME_CATEGORY_W, default_category_w),
	ENTRY(NVTX_NAME_THREAD_A, nvtx_name_thread),
	ENTRY(NVTX_NAME_THREAD_W, thread_w),
};

static const struct entry core2[] = {
	ENTRY(NVTX_DOMAIN_MARK_EX, nvtx_mark),
	ENTRY(NVTX_DOMAIN_RANGE_START_EX, nvtx_start),
	ENTRY(NVTX_DOMAIN_RANGE_END, domain_end),
	ENTRY(NVTX_DOMAIN_RANGE_PUSH_EX, nvtx_push),
	ENTRY(NVTX_DOMAIN_RANGE_POP, nvtx_pop),
	ENTRY(NVTX_DOMAIN_NAME_CATEGORY_A, category_a),
	ENTRY(NVTX_DOMAIN_NAME_CATEGORY_W, category_w),
	ENTRY(NVTX_DOMAIN_REGISTER_A, register_a),
	ENTRY(NVTX_DOMAIN_REGISTER_W, register_w),
	ENTRY(NVTX_DOMAIN_CREATE_A, create_a),
	ENTRY(NVTX_DOMAIN_CREATE_W, create_w),
};

static const struct entry cuda[] = {
	ENTRY(NVTX_NAME_STREAM_A, stream_a),
	ENTRY(NVTX_NAME_STREAM_W, stream_w),
	ENTRY(NVTX_NAME_EVENT_A, event_a),
	ENTRY(NVTX_NAME_EVENT_W, event_w),
};

static const struct entry cuda_runtime[] = {
	ENTRY(NVTX_NAME_RUNTIME_STREAM_A, stream_a),
	ENTRY(NVTX_NAME_RUNTIME_STREAM_W, stream_w),
	ENTRY(NVTX_NAME_RUNTIME_EVENT_A, event_a),
	ENTRY(NVTX_NAME_RUNTIME_EVENT_W, event_w),
};

static void fill(const struct nvtx_callbacks *callbacks, unsigned int module,
		 const struct entry *entries, size_t count)
{
	nvtx_function ***slots = NULL;
	unsigned int size = 0;

	if (!callbacks->module_functions(module, &slots, &size) || !slots)
		return;
	for (size_t i = 0; i < count; i++) {
		if (entries[i].number < size && slots[entries[i].number])
			*slots[entries[i].number] = entries[i].function;
	}
}

int InitializeInjectionNvtx2(nvtx_export *get);

EXPORT int InitializeInjectionNvtx2(nvtx_export *get)
{
	const struct nvtx_callbacks *callbacks;
	const int saved = errno;
	uint32_t bits = gate_bits();

	if (!get || !injection_is_preloaded())
		return 0;
	if (bits == GATE_UNDECIDED)
		bits = life_decide();
	errno = saved;
	callbacks = get(NVTX_EXPORT_CALLBACKS);
	if (bits == GATE_CLOSED || !callbacks ||
	    callbacks->bytes < sizeof(*callbacks))
		return 0;
	fill(callbacks, NVTX_CORE, core, sizeof(core) / sizeof(*core));
	fill(callbacks, NVTX_CUDA, cuda, sizeof(cuda) / sizeof(*cuda));
	fill(callbacks, NVTX_CUDA_RUNTIME, cuda_runtime,
	     sizeof(cuda_runtime) / sizeof(*cuda_runtime));
	fill(callbacks, NVTX_CORE2, core2, sizeof(core2) / sizeof(*core2));
	return 1;
}
