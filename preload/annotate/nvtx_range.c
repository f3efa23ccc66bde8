/* SPDX-License-Identifier: MIT */
/*
 * nvtx_range.c - NVTX calls become events: pushed ranges are scopes, started
 * ones lie beside their thread, marks are instants.
 *
 * A started range lies in a small static table until it is ended.  Its number
 * says where.  With the table full it has a number and is not shown.
 */
#include "preload/annotate/nvtx_range.h"

#include "collector/steps/steps.h"
#include "preload/annotate/scope.h"
#include <errno.h>
#include <string.h>

#define RANGES_MAX 4096u
#define PROBES	   16u
#define NAMED_MAX  256u

struct nvtx_range {
	_Atomic uint64_t number; /* 0 free */
	uint64_t start_ticks;
	uint32_t name;
	struct scope_details details;
};

static struct nvtx_range ranges[RANGES_MAX];
static _Atomic uint64_t range_count;

/* Threads that were named before their first event. */
static struct named_thread {
	_Atomic uint32_t tid; /* stored last */
	char name[THREAD_NAME_BYTES];
} named[NAMED_MAX];
static _Atomic uint32_t named_count;

/* --- names and attributes ------------------------------------------------- */

/* One call on its way to an event. */
struct call {
	struct thread *thread;
	uint32_t gate;
	uint32_t name;
	uint32_t hidden; /* where it has none, since it isn't recorded */
	struct scope_details details;
};

/* The text without its domain; `room` holds one that was wide. */
static const char *message_of(const struct nvtx_event *event, char *room,
			      size_t bytes)
{
	const struct nvtx_string *registered = event->message.registered;

	switch (event->message_type) {
	case NVTX_ASCII:
		return event->message.ascii ? event->message.ascii : "";
	case NVTX_UNICODE:
		nvtx_text_narrow(event->message.unicode, room, bytes);
		return room;
	case NVTX_REGISTERED:
		return registered ? registered->text + registered->prefix : "";
	default: return "";
	}
}

static uint32_t name_of(const struct nvtx_string *domain, const char *message)
{
	char whole[NAME_BYTES_MAX + 1];

	if (!*message)
		message = "(unnamed)";
	if (!domain || !domain->len)
		return scope_intern(message);
	nvtx_text_compose(domain, message, whole, sizeof(whole));
	return scope_intern(whole);
}

static void details_of(const struct nvtx_string *domain,
		       const struct nvtx_event *event,
		       struct scope_details *details)
{
	const struct nvtx_string *category;

	*details = (struct scope_details){.category = event->category};
	if (event->colour_type == NVTX_ARGB)
		details->colour = event->colour;
	if (event->payload_type > 0) {
		details->payload_type = (uint32_t)event->payload_type;
		details->payload = event->payload;
	}
	category = event->category ? nvtx_text_category(domain, event->category)
				   : NULL;
	if (category)
		details->category_name = scope_intern(category->text);
}

COLD void nvtx_thread_entered(void)
{
	struct thread *thread = thread_self;
	const uint32_t count =
		(uint32_t)min_u64(load_relaxed(&named_count), NAMED_MAX);

	if (!thread_records(thread))
		return;
	for (uint32_t i = count; i--;) {
		/* ACQUIRE pairs with RELEASE in nvtx_name_thread(). */
		if (load_acquire(&named[i].tid) != thread->tid)
			continue;
		memcpy(thread->name, named[i].name, sizeof(thread->name));
		thread->is_named = 1;
		return;
	}
}

/* The gate, the record, the step that perhaps begins, then name and details.
 * False: nothing is to be done. */
static bool call_begin(struct call *call, const struct nvtx_string *domain,
		       const struct nvtx_event *event)
{
	char room[NAME_BYTES_MAX];
	const char *message;

	call->gate = scope_gate("NVTX range");
	if (!(call->gate & (GATE_SCOPE | GATE_SCOPE_MARK)))
		return false;
	call->thread = hook_thread();
	if (!call->thread)
		return false;
	if (!event || event->size < sizeof(*event))
		return true;
	message = message_of(event, room, sizeof(room));
	steps_scope(load_relaxed(&session_here), call->thread,
		    domain ? domain->text : NULL, message);
	call->gate = gate_bits();
	if (!(call->gate & GATE_SCOPE)) {
		if (unlikely(load_relaxed(&steps_ending)))
			call->hidden = name_of(domain, message);
		return true;
	}
	call->name = name_of(domain, message);
	details_of(domain, event, &call->details);
	return true;
}

/* --- the calls ------------------------------------------------------------ */

void nvtx_mark(const struct nvtx_string *domain, const struct nvtx_event *event)
{
	const int saved = errno;
	struct call call = {0};

	if (call_begin(&call, domain, event) && call.name)
		scope_record_now(call.thread, EVENT_MARK, call.name, 0,
				 &call.details);
	errno = saved;
}

/* The default domain's scopes must not be those of traceprof.h. */
static uint64_t owner_of(const struct nvtx_string *domain)
{
	return domain ? (uint64_t)(uintptr_t)domain
		      : (uint64_t)(uintptr_t)ranges;
}

int nvtx_push(const struct nvtx_string *domain, const struct nvtx_event *event)
{
	const int saved = errno;
	struct call call = {0};
	int level = NVTX_NO_TRACKING;

	if (call_begin(&call, domain, event)) {
		level = (int)scope_depth(call.thread, owner_of(domain));
		scope_push(call.thread, owner_of(domain), call.name,
			   call.name ? call.name : call.hidden, &call.details);
	}
	errno = saved;
	return level;
}

int nvtx_pop(const struct nvtx_string *domain)
{
	struct thread *thread = thread_self;
	const int saved = errno;
	int level = NVTX_NO_TRACKING;

	if (!thread_records(thread) || gate_bits() == GATE_UNDECIDED)
		return level;
	if (scope_pop(thread, owner_of(domain)))
		level = (int)scope_depth(thread, owner_of(domain));
	errno = saved;
	return level;
}

/* The place for a new number; NULL: full. */
static struct nvtx_range *take(uint64_t count)
{
	for (unsigned int i = 0; i < PROBES; i++) {
		struct nvtx_range *range = &ranges[(count + i) % RANGES_MAX];
		uint64_t free = 0;

		/* ACQUIRE pairs with RELEASE in nvtx_end(): it has been read.
		 * Whoever knows the number has it from us. */
		if (atomic_compare_exchange_strong_explicit(
			    &range->number, &free,
			    count << 16 | ((uint64_t)(range - ranges) + 1),
			    memory_order_acquire, memory_order_relaxed))
			return range;
	}
	return NULL;
}

static uint64_t start_range(const struct nvtx_string *domain,
			    const struct nvtx_event *event,
			    const struct scope_details *details)
{
	const uint64_t count = add_relaxed(&range_count, 1) + 1;
	const int saved = errno;
	struct nvtx_range *range = NULL;
	struct call call = {0};
	uint64_t number = count << 16;

	if (call_begin(&call, domain, event) && call.name)
		range = take(count);
	if (details)
		call.details = *details;
	if (range) {
		number = load_relaxed(&range->number);
		range->name = call.name;
		range->details = call.details;
		range->start_ticks = clock_ticks();
	}
	errno = saved;
	return number;
}

uint64_t nvtx_start(const struct nvtx_string *domain,
		    const struct nvtx_event *event)
{
	return start_range(domain, event, NULL);
}

uint64_t nvtx_start_operator(const char *name, uint32_t shapes)
{
	const struct nvtx_event event = {.size = sizeof(event),
					 .message_type = NVTX_ASCII,
					 .message.ascii = name};
	const struct scope_details details = {
		.is_operator = true,
		.category = OPERATOR_USER,
		.category_name = shapes,
	};

	return start_range(NULL, &event, &details);
}

void nvtx_end(uint64_t number)
{
	const uint64_t place = number & 0xffff;
	const int saved = errno;
	struct thread *thread;
	struct nvtx_range *range;
	struct nvtx_range ended;

	if (!place || place > RANGES_MAX)
		return;
	range = &ranges[place - 1];
	if (load_relaxed(&range->number) != number)
		return;
	ended.name = range->name;
	ended.start_ticks = range->start_ticks;
	ended.details = range->details;
	/* RELEASE pairs with ACQUIRE in take(): only who frees it has it. */
	if (!atomic_compare_exchange_strong_explicit(&range->number, &number, 0,
						     memory_order_release,
						     memory_order_relaxed))
		return;
	if (gate_bits() & (GATE_SCOPE | GATE_SCOPE_MARK)) {
		thread = hook_thread();
		if (thread)
			scope_record_now(thread, EVENT_RANGE, ended.name,
					 ended.start_ticks, &ended.details);
	}
	errno = saved;
}

void nvtx_finish(struct thread *thread)
{
	const uint64_t now = clock_ticks();
	struct event event;

	for (unsigned int i = 0; i < RANGES_MAX; i++) {
		if (!load_relaxed(&range_count) ||
		    !load_relaxed(&ranges[i].number))
			continue;
		event = (struct event){
			.kind = EVENT_RANGE,
			.flags = EVENT_UNFINISHED,
			.name = ranges[i].name,
			.start_ticks = ranges[i].start_ticks,
			.end_ticks = now,
		};
		thread_record(thread, &event);
	}
}

/* --- threads -------------------------------------------------------------- */

static void copy_name(char name[THREAD_NAME_BYTES], const char *from)
{
	const size_t len = strnlen(from, THREAD_NAME_BYTES - 1);

	memcpy(name, from, len);
	memset(name + len, 0, THREAD_NAME_BYTES - len);
}

/* False: nothing is recorded of it so far. */
static bool name_known(struct session *session, uint32_t tid, const char *name)
{
	struct thread *thread = NULL;
	bool is_known = false;

	while ((thread = thread_each(session, thread))) {
		if (thread->tid != tid ||
		    load_relaxed(&thread->state) != THREAD_LIVE)
			continue;
		thread->is_named = 1;
		copy_name(thread->name, name);
		is_known = true;
	}
	return is_known;
}

void nvtx_name_thread(uint32_t tid, const char *name)
{
	struct session *session = load_relaxed(&session_here);
	bool has_session;
	uint32_t at;

	if (!name || !tid || gate_bits() == GATE_CLOSED)
		return;
	has_session = session && gate_bits() != GATE_UNDECIDED;
	if (has_session && name_known(session, tid, name))
		return;
	at = add_relaxed(&named_count, 1);
	if (at < NAMED_MAX) {
		copy_name(named[at].name, name);
		/* RELEASE pairs with ACQUIRE in nvtx_thread_entered(). */
		store_release(&named[at].tid, tid);
	} else if (has_session) {
		session_note(session,
			     "more than %u threads were given a name before "
			     "their first event: those of the others are not "
			     "shown",
			     NAMED_MAX);
	}
	/* It may have begun meanwhile. */
	if (has_session)
		name_known(session, tid, name);
}
