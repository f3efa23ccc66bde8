/* SPDX-License-Identifier: MIT */
/*
 * itt.c - fills the tables of each copy of ittnotify; see itt.h.
 *
 * A copy asks once, at its first call, on any thread.  Functions that we have
 * no use for get what they have without a collector.
 *
 * OpenMP runtimes tell of their regions here too.  OMPT brings those.
 */
#include "preload/annotate/itt.h"

#include "collector/system/log.h"
#include "preload/annotate/injection.h"
#include "preload/annotate/itt_abi.h"
#include "preload/annotate/itt_names.h"
#include "preload/annotate/nvtx_range.h"
#include "preload/annotate/scope.h"
#include "preload/process/life.h"
#include "preload/process/process.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define VARIABLE     "INTEL_LIBITTNOTIFY64"
#define RANGES_MAX   1024u
#define COUNTERS_MAX 256u
#define PROBES	     16u

/* Who was named before us, cut to what a message can hold. */
static char other[256];

/* What is open by its id: frames and overlapped tasks. */
static struct {
	_Atomic uint64_t key; /* of domain and id, 0 free */
	_Atomic uint64_t number;
} ranges[RANGES_MAX];

static struct itt_counter {
	const struct nvtx_string *name; /* with its domain */
	const void *handle;		/* of one that has a string, or NULL */
	enum itt_type type;
	_Atomic int64_t value;
	_Atomic uint32_t is_made;
} counters[COUNTERS_MAX];
static _Atomic uint32_t counter_count;

/* An allocation may begin the recording before our constructor. */
static void look_for_other(void)
{
	const char *there = environ ? getenv(VARIABLE) : NULL;

	if (there && strcmp(there, process_own_path()) != 0)
		strncpy(other, there, sizeof(other) - 1);
}

void itt_announce(void)
{
	look_for_other();
	injection_announce(VARIABLE);
}

void itt_say(struct session *session)
{
	look_for_other();
	if (!other[0])
		return;
	session_note(session, "ITT tasks went to another collector: %s", other);
	log_say("ITT tasks are left to %s (" VARIABLE ")", other);
}

bool itt_is_ours(void)
{
	return !other[0];
}

/* --- domains and names ---------------------------------------------------- */

static const struct nvtx_string *domain_of(const struct itt_domain *domain)
{
	void *_Atomic *ours;
	const struct nvtx_string *text;

	if (!domain || !domain->name || !*domain->name)
		return NULL;
	ours = (void *_Atomic *)(uintptr_t)&domain->ours;
	text = load_relaxed(ours);
	if (likely(text))
		return text;
	text = nvtx_text_register(NVTX_KIND_DOMAIN, NULL, 0, domain->name);
	/* A text never changes, and who reads the address here has it from the
	 * same domain that we had it from. */
	store_relaxed(ours, (void *)(uintptr_t)text);
	return text;
}

static struct nvtx_event named(const struct itt_string *name)
{
	return (struct nvtx_event){
		.size = sizeof(struct nvtx_event),
		.message_type = NVTX_ASCII,
		.message.ascii = name && name->text ? name->text : "",
	};
}

/* --- tasks ---------------------------------------------------------------- */

static const struct itt_listener *_Atomic listener;

void itt_listen(const struct itt_listener *who)
{
	/* RELEASE pairs with ACQUIRE in listener_of(). */
	store_release(&listener, who);
}

/* Who takes this domain's tasks; NULL: they are scopes as all are. */
static const struct itt_listener *listener_of(const struct itt_domain *domain)
{
	/* ACQUIRE pairs with RELEASE in itt_listen(). */
	const struct itt_listener *who = load_acquire(&listener);

	return unlikely(who) && domain && domain->name &&
			       !strcmp(domain->name, who->domain)
		       ? who
		       : NULL;
}

static void task_begin(const struct itt_domain *domain, struct itt_id id,
		       struct itt_id parent, const struct itt_string *name)
{
	const struct itt_listener *who = listener_of(domain);
	const struct nvtx_event event = named(name);

	(void)id;
	(void)parent;
	if (who)
		who->begins(event.message.ascii);
	else
		nvtx_push(domain_of(domain), &event);
}

/* The function's address is all there is to name it by. */
static void task_begin_fn(const struct itt_domain *domain, struct itt_id id,
			  struct itt_id parent, void *function)
{
	const int saved = errno;
	Dl_info info;
	struct itt_string name = {.text = "(task)"};

	if (gate_bits() & GATE_SCOPE && function && dladdr(function, &info) &&
	    info.dli_sname)
		name.text = info.dli_sname;
	errno = saved;
	task_begin(domain, id, parent, &name);
}

static void task_end(const struct itt_domain *domain)
{
	const struct itt_listener *who = listener_of(domain);

	if (who)
		who->ends();
	else
		nvtx_pop(domain_of(domain));
}

static void marker(const struct itt_domain *domain, struct itt_id id,
		   const struct itt_string *name, int scope)
{
	const struct nvtx_event event = named(name);

	(void)id;
	(void)scope;
	nvtx_mark(domain_of(domain), &event);
}

/* --- what is known by its id ---------------------------------------------- */

static uint64_t key_of(const struct itt_domain *domain, const struct itt_id *id)
{
	uint64_t key = (uint64_t)(uintptr_t)domain * 0x9e3779b97f4a7c15u;

	key = (key ^ id->d1) * 0x9e3779b97f4a7c15u;
	key = (key ^ id->d2) * 0x9e3779b97f4a7c15u;
	key = (key ^ id->d3) * 0x9e3779b97f4a7c15u;
	return key | 1;
}

static void range_begin(const struct itt_domain *domain,
			const struct itt_id *id,
			const struct nvtx_string *prefix,
			const struct nvtx_event *event)
{
	const uint64_t number = nvtx_start(prefix, event);
	const uint64_t key = key_of(domain, id);
	const uint64_t first = key >> 40;

	if (!(number & 0xffff)) /* nothing is recorded */
		return;
	for (unsigned int i = 0; i < PROBES; i++) {
		uint64_t free = 0;

		/* ACQUIRE pairs with RELEASE in range_end(): it was read. */
		if (!atomic_compare_exchange_strong_explicit(
			    &ranges[(first + i) % RANGES_MAX].key, &free, key,
			    memory_order_acquire, memory_order_relaxed))
			continue;
		store_relaxed(&ranges[(first + i) % RANGES_MAX].number, number);
		return;
	}
	hook_unfollowed();
	nvtx_end(number);
}

static void range_end(const struct itt_domain *domain, const struct itt_id *id)
{
	const uint64_t key = key_of(domain, id);
	const uint64_t first = key >> 40;

	for (unsigned int i = 0; i < PROBES; i++) {
		const uint64_t at = (first + i) % RANGES_MAX;
		uint64_t number;

		if (load_relaxed(&ranges[at].key) != key)
			continue;
		number = load_relaxed(&ranges[at].number);
		/* RELEASE pairs with ACQUIRE in range_begin(). */
		store_release(&ranges[at].key, 0);
		nvtx_end(number);
		return;
	}
}

static void task_begin_overlapped(const struct itt_domain *domain,
				  struct itt_id id, struct itt_id parent,
				  const struct itt_string *name)
{
	const struct nvtx_event event = named(name);

	(void)parent;
	range_begin(domain, &id, domain_of(domain), &event);
}

static void task_end_overlapped(const struct itt_domain *domain,
				struct itt_id id)
{
	range_end(domain, &id);
}

/* TBB's flow graphs have regions by the hundred that have no name. */
static void region_begin(const struct itt_domain *domain, struct itt_id id,
			 struct itt_id parent, const struct itt_string *name)
{
	if (name)
		task_begin_overlapped(domain, id, parent, name);
}

/* A frame has its domain's name.  One without an id is its thread's. */
static struct itt_id frame_id(const struct itt_id *id)
{
	return id ? *id
		  : (struct itt_id){.d3 = (unsigned long long)pthread_self()};
}

static void frame_begin(const struct itt_domain *domain,
			const struct itt_id *id)
{
	const struct itt_string name = {.text = domain ? domain->name : NULL};
	const struct nvtx_event event = named(&name);
	const struct itt_id known = frame_id(id);

	range_begin(domain, &known, NULL, &event);
}

static void frame_end(const struct itt_domain *domain, const struct itt_id *id)
{
	const struct itt_id known = frame_id(id);

	range_end(domain, &known);
}

static uint64_t timestamp(void)
{
	return clock_ticks();
}

/* Both times are ours: timestamp() gave them.  No end: now. */
static void frame_submit(const struct itt_domain *domain,
			 const struct itt_id *id, uint64_t begin, uint64_t end)
{
	const int saved = errno;
	const uint64_t now = clock_ticks();
	struct thread *thread;

	(void)id;
	if (!(scope_gate("ITT frame") & GATE_SCOPE) || !domain ||
	    !domain->name || begin > now)
		return;
	thread = hook_thread();
	if (thread) {
		const struct event event = {
			.kind = EVENT_RANGE,
			.name = scope_intern(domain->name),
			.start_ticks = begin,
			.end_ticks = end > begin && end < now ? end : now,
		};

		thread_record(thread, &event);
	}
	errno = saved;
}

/* --- counters ------------------------------------------------------------- */

static struct itt_counter *make_counter(const struct nvtx_string *name,
					const void *handle, enum itt_type type)
{
	const uint32_t at = add_relaxed(&counter_count, 1);
	struct itt_counter *counter;

	if (at >= COUNTERS_MAX || !name) {
		hook_unfollowed();
		return NULL;
	}
	counter = &counters[at];
	counter->name = name;
	counter->handle = handle;
	counter->type = type;
	/* RELEASE pairs with ACQUIRE in counter_of(). */
	store_release(&counter->is_made, 1);
	return counter;
}

static void *counter_create_typed(const char *name, const char *domain,
				  int type)
{
	const struct nvtx_string *in =
		domain && *domain
			? nvtx_text_register(NVTX_KIND_DOMAIN, NULL, 0, domain)
			: NULL;

	return make_counter(nvtx_text_register(NVTX_KIND_STRING, in, 0, name),
			    NULL, (enum itt_type)type);
}

static void *counter_create(const char *name, const char *domain)
{
	return counter_create_typed(name, domain, ITT_TYPE_U64);
}

static void *counter_create_v3(const struct itt_domain *domain,
			       const char *name, int type)
{
	return counter_create_typed(name, domain ? domain->name : NULL, type);
}

/* One of a domain and a string, made at its first change. */
static struct itt_counter *counter_of(const struct itt_domain *domain,
				      const struct itt_string *name)
{
	const uint32_t count =
		(uint32_t)min_u64(load_relaxed(&counter_count), COUNTERS_MAX);

	if (!name || !name->text)
		return NULL;
	for (uint32_t i = 0; i < count; i++) {
		/* ACQUIRE pairs with RELEASE in make_counter(). */
		if (load_acquire(&counters[i].is_made) &&
		    counters[i].handle == name &&
		    counters[i].name->domain == domain_of(domain))
			return &counters[i];
	}
	return make_counter(nvtx_text_register(NVTX_KIND_STRING,
					       domain_of(domain), 0,
					       name->text),
			    name, ITT_TYPE_U64);
}

static void record_counter(const struct itt_counter *counter, double value)
{
	const int saved = errno;
	struct thread *thread;

	if (!(scope_gate("ITT counter") & GATE_SCOPE))
		return;
	thread = hook_thread();
	if (thread) {
		const uint64_t now = clock_ticks();
		const struct event event = {
			.kind = EVENT_COUNTER,
			.name = scope_intern(counter->name->text),
			.start_ticks = now,
			.end_ticks = now,
			.counter.value = value,
		};

		thread_record(thread, &event);
	}
	errno = saved;
}

static void change(struct itt_counter *counter, int64_t by)
{
	if (counter)
		record_counter(counter,
			       (double)(add_relaxed(&counter->value, by) + by));
}

static void counter_inc_delta(struct itt_counter *counter, uint64_t by)
{
	change(counter, (int64_t)by);
}

static void counter_inc(struct itt_counter *counter)
{
	change(counter, 1);
}

static void counter_dec_delta(struct itt_counter *counter, uint64_t by)
{
	change(counter, -(int64_t)by);
}

static void counter_dec(struct itt_counter *counter)
{
	change(counter, -1);
}

static void counter_inc_delta_v3(const struct itt_domain *domain,
				 const struct itt_string *name, uint64_t by)
{
	change(counter_of(domain, name), (int64_t)by);
}

static void counter_inc_v3(const struct itt_domain *domain,
			   const struct itt_string *name)
{
	change(counter_of(domain, name), 1);
}

static void counter_dec_delta_v3(const struct itt_domain *domain,
				 const struct itt_string *name, uint64_t by)
{
	change(counter_of(domain, name), -(int64_t)by);
}

static void counter_dec_v3(const struct itt_domain *domain,
			   const struct itt_string *name)
{
	change(counter_of(domain, name), -1);
}

static double value_of(enum itt_type type, const void *value)
{
	union {
		uint64_t u64;
		int64_t s64;
		uint32_t u32;
		int32_t s32;
		uint16_t u16;
		int16_t s16;
		float narrow;
		double wide;
	} at = {0};

	switch (type) {
	case ITT_TYPE_U32: memcpy(&at, value, 4); return at.u32;
	case ITT_TYPE_S32: memcpy(&at, value, 4); return at.s32;
	case ITT_TYPE_U16: memcpy(&at, value, 2); return at.u16;
	case ITT_TYPE_S16: memcpy(&at, value, 2); return at.s16;
	case ITT_TYPE_FLOAT: memcpy(&at, value, 4); return (double)at.narrow;
	case ITT_TYPE_DOUBLE: memcpy(&at, value, 8); return at.wide;
	case ITT_TYPE_S64: memcpy(&at, value, 8); return (double)at.s64;
	default: memcpy(&at, value, 8); return (double)at.u64;
	}
}

static void counter_set_value(struct itt_counter *counter, const void *value)
{
	double number;

	if (!counter || !value)
		return;
	number = value_of(counter->type, value);
	if (number >= -9e18 && number <= 9e18)
		store_relaxed(&counter->value, (int64_t)number);
	record_counter(counter, number);
}

/* --- threads and the table ------------------------------------------------ */

static void thread_set_name(const char *name)
{
	nvtx_name_thread((uint32_t)syscall(SYS_gettid), name);
}

/* OpenCV, which tells nothing to a collector that has none, warns on stderr, at
 * its end, of the calls inside of others that it left out for one that has: so
 * it has one where the program was asked to trace. */
static const char *api_version(void)
{
	return getenv("OPENCV_TRACE_ITT_ENABLE") ? "ITT-API-Version 3.0" : NULL;
}

/* clang-format off */
#define ENTRIES(X)							\
	X(domain_create, itt_domain_create)			\
	X(string_handle_create, itt_string_create)		\
	X(task_begin, task_begin)				\
	X(task_begin_fn, task_begin_fn)				\
	X(task_end, task_end)					\
	X(task_begin_overlapped, task_begin_overlapped)		\
	X(task_end_overlapped, task_end_overlapped)		\
	X(region_begin, region_begin)				\
	X(region_end, task_end_overlapped)			\
	X(marker, marker)					\
	X(frame_begin_v3, frame_begin)				\
	X(frame_end_v3, frame_end)				\
	X(frame_submit_v3, frame_submit)			\
	X(get_timestamp, timestamp)				\
	X(counter_create, counter_create)			\
	X(counter_create_typed, counter_create_typed)		\
	X(counter_create_v3, counter_create_v3)			\
	X(counter_inc, counter_inc)				\
	X(counter_inc_delta, counter_inc_delta)			\
	X(counter_dec, counter_dec)				\
	X(counter_dec_delta, counter_dec_delta)			\
	X(counter_inc_v3, counter_inc_v3)			\
	X(counter_inc_delta_v3, counter_inc_delta_v3)		\
	X(counter_dec_v3, counter_dec_v3)			\
	X(counter_dec_delta_v3, counter_dec_delta_v3)		\
	X(counter_set_value, counter_set_value)			\
	X(thread_set_name, thread_set_name)			\
	X(api_version, api_version)
/* clang-format on */

/* No table: its pointers would be relocated in each process, on a page of
 * their own. */
static void (*ours(const char *name))(void)
{
#define X(entry, function)                                                     \
	if (!strcmp(name, "__itt_" #entry))                                    \
		return (void (*)(void))function;
	ENTRIES(X)
#undef X
	return NULL;
}

/* What is left at its first function looks as if there were a collector for
 * it: libomp then trusts in what it returns. */
static void fill(const struct itt_function *functions, bool is_wanted)
{
	for (; functions->name; functions++) {
		void (*function)(void) = ours(functions->name);

		if (!functions->function)
			continue;
		if (is_wanted && function)
			*(void (**)(void))functions->function = function;
		else
			*functions->function = functions->none;
	}
}

static bool is_of_openmp(const struct itt_function *functions)
{
	const char *base;
	Dl_info info;

	if (!dladdr(functions, &info) || !info.dli_fname)
		return false;
	base = strrchr(info.dli_fname, '/');
	base = base ? base + 1 : info.dli_fname;
	return !strncmp(base, "libomp", 6) || !strncmp(base, "libiomp", 7);
}

void __itt_api_init(const struct itt_global *global, int groups);

EXPORT void __itt_api_init(const struct itt_global *global, int groups)
{
	static const unsigned char magic[8] = ITT_MAGIC;
	const int saved = errno;
	uint32_t bits = gate_bits();

	(void)groups;
	if (!global || memcmp(global->magic, magic, sizeof(magic)) != 0 ||
	    global->version_major != 3 || !global->functions ||
	    !injection_is_preloaded())
		return;
	if (bits == GATE_UNDECIDED)
		bits = life_decide();
	errno = saved;
	fill(global->functions,
	     bits != GATE_CLOSED && !is_of_openmp(global->functions));
}
