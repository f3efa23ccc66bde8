/* SPDX-License-Identifier: MIT */
/*
 * torch_double.c - stands for libtorch_cpu: what observers of operators use of
 * it, under the real names and with the real calling convention.
 *
 * Records lie as in 2.15.  TORCH_DOUBLE=moved has the sequence number where no
 * version has it, `slow` adds the second callback when the end is over.  Not
 * thread-safe as the real one is.
 */
#include "torch_double.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A minute at most for the program's end. */
#define WAIT_US	  10000
#define WAITS_MAX 6000

struct callback {
	void *(*start)(void **context, const void *record);
	void (*end)(const void *record, void *context);
	double probability;
	bool scopes[10];
	bool needs_inputs, needs_outputs, needs_ids;
};

struct view {
	size_t len;
	const char *text;
	unsigned char which;
};

struct record {
	void *table;
	uint64_t callbacks[11];
	uint64_t thread; /* StepCallbacks */
	uint8_t scope;
	bool needs[3];
	uint64_t called;
	uint64_t contexts[6];
	uint64_t variant[4]; /* of names */
	uint64_t which;
	int64_t sequence;
	const void *inputs;
	uint64_t input_count;
	uint64_t map[7];
	uint64_t outputs[3];
	uint64_t forward;
	uint64_t handle;
	bool is_async;
	int64_t debug, moved;
	struct callback observed[3];
	void *context[3];
	unsigned int count;
	char name[96];
};

static struct slot {
	struct callback callback;
	bool is_used, is_enabled;
} globals[2];
static __thread struct slot local;
static unsigned long calls;
static _Atomic uint64_t threads, handles;
static __thread uint64_t own_thread;

unsigned long torch_double_calls(void)
{
	return calls;
}

bool torch_double_is_half_observed(void)
{
	return globals[0].is_used;
}

bool torch_double_is_observed(void)
{
	return globals[1].is_used;
}

uint64_t _ZN2at14RecordFunction15currentThreadIdEv(void)
{
	if (!own_thread)
		own_thread = ++threads;
	return own_thread;
}

/* What holds the callbacks is made with the first of them, and is gone before
 * any library's destructor runs. */
static _Atomic bool is_gone;

static void go(void)
{
	is_gone = true;
}

/* Who adds a callback is slower than the program's whole end. */
static void wait_for_end(void)
{
	for (int i = 0; i < WAITS_MAX && !is_gone; i++)
		usleep(WAIT_US);
}

static struct slot *slot_of(uint64_t handle)
{
	if (handle < 3 && is_gone)
		fputs("Requested callback is not found\n", stderr);
	return handle < 3 ? &globals[handle - 1] : &local;
}

uint64_t
_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE(struct callback c)
{
	const unsigned int at = globals[0].is_used;

	const char *knob = getenv("TORCH_DOUBLE");

	if (!at)
		atexit(go);
	else if (knob && !strcmp(knob, "slow"))
		wait_for_end();
	globals[at] = (struct slot){c, true, true};
	return at + 1;
}

uint64_t
_ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE(struct callback c)
{
	local = (struct slot){c, true, true};
	return 3;
}

void _ZN2at14removeCallbackEm(uint64_t handle)
{
	slot_of(handle)->is_used = false;
}

void _ZN2at16reenableCallbackEm(uint64_t handle)
{
	slot_of(handle)->is_enabled = true;
}

void _ZN2at15disableCallbackEm(uint64_t handle)
{
	slot_of(handle)->is_enabled = false;
}

const char *_ZNK2at14RecordFunction4nameEv(const struct record *record)
{
	return record->name;
}

bool _ZNK2at14RecordFunction7isAsyncEv(const struct record *record)
{
	return record->is_async;
}

static void observe(struct record *record, const struct slot *slot)
{
	if (!slot->is_used || !slot->is_enabled ||
	    !slot->callback.scopes[record->scope])
		return;
	record->observed[record->count++] = slot->callback;
	record->needs[2] |= slot->callback.needs_ids;
	if (slot->callback.needs_ids)
		record->handle = ++handles;
}

void _ZN2at14RecordFunctionC1ENS_11RecordScopeE(struct record *record,
						uint8_t scope)
{
	memset(record, 0, sizeof(*record));
	record->scope = scope;
	record->thread = _ZN2at14RecordFunction15currentThreadIdEv();
	record->sequence = -1;
	record->map[0] = (uint64_t)(uintptr_t)&record->map[6];
	record->map[1] = 1;
	observe(record, &globals[0]);
	observe(record, &globals[1]);
	observe(record, &local);
}

static void begin(struct record *record, const char *name, size_t len,
		  int64_t sequence)
{
	const char *knob = getenv("TORCH_DOUBLE");

	memcpy(record->name, name,
	       len < sizeof(record->name) ? len : sizeof(record->name) - 1);
	if (knob && !strcmp(knob, "moved"))
		record->moved = sequence;
	else
		record->sequence = sequence;
	for (unsigned int i = 0; i < record->count; i++) {
		calls++;
		record->observed[i].start(&record->context[i], record);
	}
}

void before(struct record *record, struct view name, int64_t sequence) __asm__(
	"_ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_"
	"viewIcSt11char_traitsIcEESt17reference_wrapperIKN3c1014Function"
	"SchemaEEEEl");

void before(struct record *record, struct view name, int64_t sequence)
{
	if (!name.which)
		begin(record, name.text, name.len, sequence);
}

/* As a unique_ptr to a class with a virtual destructor is let go. */
static void let_go(void *context)
{
	if (context)
		(*(void (***)(void *))context)[1](context);
}

void _ZN2at14RecordFunctionD1Ev(struct record *record)
{
	for (unsigned int i = 0; i < record->count; i++) {
		record->observed[i].end(record, record->context[i]);
		let_go(record->context[i]);
	}
	record->count = 0;
}

void *torch_double_begin(const char *name, const struct torch_operator *what)
{
	struct record *record = malloc(sizeof(*record));

	_ZN2at14RecordFunctionC1ENS_11RecordScopeE(record, what->scope);
	record->forward = what->forward;
	record->is_async = what->is_async;
	record->input_count = what->inputs;
	begin(record, name, strlen(name), what->sequence);
	return record;
}

void torch_double_end(void *record)
{
	_ZN2at14RecordFunctionD1Ev(record);
	free(record);
}

/* --- shapes: vectors of C++, returned through a pointer ------------------- */

struct vector {
	char *begin, *end, *room;
};

struct string {
	char *text;
	size_t len;
	char small[16];
};

/* torch_messages.cpp counts what it takes. */
__attribute__((weak)) long torch_double_held;

void _ZdlPv(void *memory)
{
	torch_double_held -= memory != NULL;
	free(memory);
}

static struct vector room_for(size_t bytes)
{
	struct vector vector = {malloc(bytes ? bytes : 1), NULL, NULL};

	vector.end = vector.room = vector.begin + bytes;
	return vector;
}

/* Which operators have lists for their first inputs: so many of tensors, of one
 * length, and perhaps one of numbers behind. */
static const struct lists {
	const char *name, *overload;
	uint64_t tensors, length, numbers;
} lists[] = {
	{"c10d::allreduce_", "", 1, 2, 0},
	{"aten::_foreach_lerp_", "List", 2, 2, 0},
	{"aten::_foreach_addcdiv_", "ScalarList", 2, 3, 1},
	{"aten::_fused_adam_", "", 2, 2, 0},
	{"", "", 0, 1, 0},
};

static const struct lists *lists_of(const struct record *record)
{
	const struct lists *one = lists;

	while (*one->name && strcmp(one->name, record->name) != 0)
		one++;
	return one;
}

const char *
_ZNK2at14RecordFunction13overload_nameEv(const struct record *record)
{
	return lists_of(record)->overload;
}

/* Size number i is 2 by i, the last one a number's.  A list has no size, or in
 * a row those of what it holds. */
void *_ZN5torch8profiler4impl10inputSizesERKN2at14RecordFunctionEb(
	struct vector *result, const struct record *record, bool flat)
{
	const struct lists *has = lists_of(record);
	const uint64_t listed = has->tensors * (flat ? has->length : 1);
	const uint64_t total = record->input_count - has->tensors + listed;

	*result = room_for(total * sizeof(struct vector));
	for (uint64_t i = 0; i < total; i++) {
		struct vector *one = (struct vector *)(void *)result->begin + i;
		const int64_t sizes[2] = {2, (int64_t)i};

		*one = (struct vector){0};
		if (i + 1 == total || (!flat && i < listed) ||
		    (i >= listed && i < listed + has->numbers))
			continue;
		*one = room_for(sizeof(sizes));
		memcpy(one->begin, sizes, sizeof(sizes));
	}
	return result;
}

void *_ZN5torch8profiler4impl10inputTypesB5cxx11ERKN2at14RecordFunctionE(
	struct vector *result, const struct record *record)
{
	static const char *const types[] = {"float", "a type with a long name"};
	const struct lists *has = lists_of(record);

	*result = room_for(record->input_count * sizeof(struct string));
	for (uint64_t i = 0; i < record->input_count; i++) {
		struct string *one = (struct string *)(void *)result->begin + i;
		const char *type = i + 1 == record->input_count ? "Int"
				   : i < has->tensors + has->numbers
					   ? "GenericList"
					   : types[i % 2];

		one->len = strlen(type);
		one->text = one->len < 16 ? one->small : malloc(one->len + 1);
		strcpy(one->text, type);
	}
	return result;
}
