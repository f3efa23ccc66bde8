/* SPDX-License-Identifier: MIT */
/*
 * torch_rank.c - asks the default process group; see torch_rank.h.
 *
 * torch.distributed.distributed_c10d._world._default_pg is read, and its
 * rank() and size() are called, if they are written in C: in a function of
 * Python an interrupt could be raised, which is the program's.
 */
#include "preload/torch/torch_rank.h"

#include "collector/system/log.h"
#include "preload/process/hook.h"
#include "preload/python/python_api.h"

#define NAME	"torch.distributed.distributed_c10d"
#define EACH_NS UINT64_C(100000000)

static struct {
	bool is_ready;
	_Atomic bool is_asked; /* a pending call is under way */
	uint64_t next_ns;      /* the writer's */
} rank;

static bool is_of_python(void *function)
{
	void *code = python_api.attribute(function, "__code__");

	python_api.error_clear();
	python_give(code);
	return code != NULL;
}

/* What a method of C's returns; -1: it is none, or no such number. */
static int32_t ask(void *group, const char *method)
{
	void *type = python_word(group, PYTHON_TYPE_AT);
	void *function = python_api.attribute(type, method);
	void *value = NULL;
	long found = -1;

	if (function && !is_of_python(function))
		value = python_api.method(group, method, NULL);
	if (value)
		found = python_api.number(value);
	python_give(value);
	python_give(function);
	python_api.error_clear();
	return found >= 0 && found <= INT32_MAX ? (int32_t)found : -1;
}

static void note(struct session *session, void *group)
{
	const int32_t number = ask(group, "rank"), size = ask(group, "size");

	if (number < 0 || size <= number)
		return;
	store_relaxed(&session->head->world_size, size);
	/* RELEASE pairs with ACQUIRE in trace_head_distributed(): with the
	 * size. */
	store_release(&session->head->rank, number);
	/* Of many ranks one speaks. */
	if (number)
		log_start(true);
}

/* The pending call. */
static int look(void *unused)
{
	struct session *session = load_relaxed(&session_here);
	void *type, *value, *trace, *modules, *module, *world, *group;

	(void)unused;
	python_api.error_fetch(&type, &value, &trace);
	modules = python_api.system("modules");
	module = modules ? python_api.item(modules, NAME) : NULL;
	world = module ? python_api.attribute(module, "_world") : NULL;
	group = world ? python_api.attribute(world, "_default_pg") : NULL;
	python_api.error_clear();
	if (group && group != python_api.none && session)
		note(session, group);
	python_give(group);
	python_give(world);
	python_give(module);
	python_api.error_restore(type, value, trace);
	store_relaxed(&rank.is_asked, false);
	return 0;
}

static bool is_wanted(void)
{
	const struct session *session = load_relaxed(&session_here);

	return rank.is_ready && session &&
	       load_relaxed(&session->head->rank_is_late) &&
	       load_relaxed(&session->head->rank) < 0;
}

void torch_rank_heard(void)
{
	bool is_asked = false;

	if (is_wanted() && atomic_compare_exchange_strong_explicit(
				   &rank.is_asked, &is_asked, true,
				   memory_order_relaxed, memory_order_relaxed))
		if (!python_api_ask(look))
			store_relaxed(&rank.is_asked, false);
}

/* A look costs the main thread about a microsecond. */
void torch_rank_poll(void)
{
	const uint64_t now = is_wanted() ? clock_monotonic_ns() : 0;

	if (now <= rank.next_ns)
		return;
	rank.next_ns = now + EACH_NS;
	torch_rank_heard();
}

void torch_rank_prepare(void)
{
	rank.is_ready = true;
}

void torch_rank_forget(void)
{
	store_relaxed(&rank.is_asked, false);
}
