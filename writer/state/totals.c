/* SPDX-License-Identifier: MIT */
/* totals.c - labels and their sums; see totals.h. */
#include "writer/state/totals.h"

#include "collector/system/log.h"
#include "collector/session/names.h"
#include "writer/state/gpu_label.h"
#include "writer/text/schema.h"
#include <string.h>

/* A demangled kernel may be longer than its symbol. */
#define PLAIN_BYTES_MAX (2 * NAME_SYMBOL_MAX)

void totals_start(struct totals *totals, struct naming *naming)
{
	*totals = (struct totals){.naming = naming};
	totals->lost.text = "(no memory for names)";
	totals->lost.plain = totals->lost.text;
	totals->lost.text_len = strlen(totals->lost.text);
	totals->lost.category = SCHEMA_USER_ANNOTATION;
}

void totals_end(struct totals *totals)
{
	hash_index_free(&totals->labels);
	array_free(&totals->order);
	arena_free(&totals->arena);
}

static bool same_label(const void *item, const void *key)
{
	const struct label *a = item;
	const struct label *b = key;

	return a->code == b->code && a->name == b->name && a->kind == b->kind &&
	       a->sync == b->sync;
}

static bool is_omp(unsigned int kind)
{
	return kind >= EVENT_OMP_REGION && kind <= EVENT_OMP_ACQUIRED;
}

/* What tells labels apart, and nothing else. */
static struct label key_of(const struct event *event)
{
	struct label key = {.kind = event->kind};

	switch (event->kind) {
	case EVENT_OMP_IMPLICIT:
		key.kind = EVENT_OMP_IMPLICIT;
		/* fallthrough */
	case EVENT_OMP_REGION:
	case EVENT_OMP_EXPLICIT:
	case EVENT_OMP_TASKS:
	case EVENT_OMP_CREATE:
		key.code = event->omp.code;
		key.named = key.code + (uint64_t)(int64_t)(int32_t)event->extra;
		if (event->outlined_offset)
			key.outlined =
				key.code + (uint64_t)(int64_t)(int32_t)
						   event->outlined_offset;
		key.name = event->name;
		break;
	case EVENT_OMP_WAIT:
	case EVENT_OMP_ACQUIRED:
		key.sync = event->omp.sync;
		key.name = event->name;
		break;
	case EVENT_SCOPE:
		key.sync = event_is_operator(event);
		key.name = event->name;
		break;
	case EVENT_FILE_IO:
		key.sync = (uint16_t)event->file.verb;
		/* fallthrough */
	case EVENT_RANGE:
	case EVENT_MARK:
	case EVENT_COUNTER:
	case EVENT_HOST_WAIT:
	case EVENT_PYTHON:
	case EVENT_CALL:
	case EVENT_BLAS: key.name = event->name; break;
	default: gpu_label_key(event, &key); break;
	}
	return key;
}

static void plain_omp(struct totals *totals, const struct label *key,
		      char *text, size_t bytes)
{
	struct code_name *code;
	size_t len;
	const char *name = names_text(totals->naming->session, key->name, &len);

	if (key->kind == EVENT_OMP_WAIT || key->kind == EVENT_OMP_ACQUIRED) {
		const char *tail = key->kind == EVENT_OMP_WAIT ? " wait" : "";

		log_format(text, bytes, key->name ? "%s%s (%s)" : "%s%s",
			   omp_sync_word(key->sync), tail, name);
		return;
	}
	if (key->kind == EVENT_OMP_WAITS) {
		log_format(text, bytes, "short waits");
		return;
	}
	code = naming_find(totals->naming, key->code, key->named,
			   key->kind == EVENT_OMP_TASKS ? 0 : key->outlined);
	if (!key->name)
		name = code->shown;
	switch (key->kind) {
	case EVENT_OMP_EXPLICIT:
		log_format(text, bytes, "%s [omp task]", name);
		break;
	case EVENT_OMP_TASKS:
		log_format(text, bytes, "%s [omp tasks]",
			   key->code ? name : "several");
		break;
	case EVENT_OMP_CREATE:
		log_format(text, bytes, "%s [omp task create]", name);
		break;
	default:
		log_format(text, bytes, "%s [omp parallel #%u]", name,
			   naming_ordinal(totals->naming, code));
	}
}

static void plain_text(struct totals *totals, const struct label *key,
		       char *text, size_t bytes)
{
	size_t len;

	if (is_omp(key->kind)) {
		plain_omp(totals, key, text, bytes);
		return;
	}
	if (event_is_gpu(key->kind)) {
		gpu_label_text(totals->naming->session, key, text, bytes);
		return;
	}
	if (key->kind == EVENT_MAP)
		log_format(text, bytes, SCHEMA_MAPPED);
	else if (key->kind == EVENT_ALLOCATOR)
		log_format(text, bytes, SCHEMA_MEMORY " of an allocator");
	else if (key->kind == EVENT_HEAP_ALLOC || key->kind == EVENT_HEAP_FREE)
		log_format(text, bytes, SCHEMA_MEMORY);
	else if (key->kind == EVENT_STEP)
		log_format(text, bytes, SCHEMA_STEP_PREFIX);
	else if (key->kind == EVENT_LOSS)
		log_format(text, bytes, "lost events");
	else if (key->kind == EVENT_FILE_IO)
		log_format(
			text, bytes, "%s: %s", file_verb_word(key->sync),
			names_text(totals->naming->session, key->name, &len));
	else if (key->kind == EVENT_CPU_SAMPLE)
		log_format(text, bytes, "samples");
	else
		log_format(
			text, bytes, "%s",
			names_text(totals->naming->session, key->name, &len));
}

static const char *category_of(const struct label *key)
{
	const unsigned int kind = key->kind;

	if (event_is_gpu(kind))
		return gpu_label_category(key);
	switch (kind) {
	case EVENT_MAP:
	case EVENT_ALLOCATOR:
	case EVENT_HEAP_ALLOC:
	case EVENT_HEAP_FREE: return SCHEMA_CPU_INSTANT;
	case EVENT_LOSS: return SCHEMA_OVERHEAD;
	case EVENT_CALL: return "cuda_runtime";
	case EVENT_CPU_SAMPLE: return SCHEMA_CPU_SAMPLE;
	case EVENT_FILE_IO: return SCHEMA_FILE_IO;
	case EVENT_HOST_WAIT: return SCHEMA_WAIT;
	case EVENT_PYTHON: return SCHEMA_PYTHON;
	case EVENT_BLAS: return SCHEMA_CPU_OP;
	case EVENT_OMP_IMPLICIT:
	case EVENT_OMP_WAIT:
	case EVENT_OMP_WAITS:
	case EVENT_OMP_ACQUIRED: return SCHEMA_OPENMP;
	case EVENT_SCOPE:
		return key->sync ? SCHEMA_CPU_OP : SCHEMA_USER_ANNOTATION;
	default: return is_omp(kind) ? SCHEMA_CPU_OP : SCHEMA_USER_ANNOTATION;
	}
}

/* HTA takes any other name that begins so for a damaged step. */
static bool looks_like_step(const char *text)
{
	const size_t len = strlen(SCHEMA_STEP_PREFIX) - 1;

	return strncmp(text, SCHEMA_STEP_PREFIX, len) == 0;
}

/* Of a region whose name is folded the whole of it, as it stands in JSON; NULL:
 * the label says it, or there is no memory. */
static const char *whole_function(struct totals *totals,
				  const struct label *key, struct json *json)
{
	const struct code_name *code;

	if (key->kind != EVENT_OMP_REGION || key->name)
		return NULL;
	code = naming_find(totals->naming, key->code, key->named,
			   key->outlined);
	if (code->shown == code->function)
		return NULL;
	json->used = 0;
	json_text(json, code->function, code->len);
	return arena_text(&totals->arena, json->data, json->used);
}

/* Of a kernel of torch.compile's; as above. */
static const char *operators_of(struct totals *totals, const struct label *key,
				struct json *json)
{
	struct naming *naming = totals->naming;
	const char *name, *operators;
	size_t len;

	if (key->kind != EVENT_GPU_KERNEL)
		return NULL;
	name = names_text(naming->session, key->name, &len);
	operators = naming_operators(naming, name);
	if (!operators)
		return NULL;
	json->used = 0;
	json_text(json, operators, strlen(operators));
	return arena_text(&totals->arena, json->data, json->used);
}

static struct label *make_label(struct totals *totals, const struct label *key)
{
	struct label *label = arena_alloc(&totals->arena, sizeof(*label));
	char plain[PLAIN_BYTES_MAX];
	struct json json = {0};

	if (!label)
		return NULL;
	*label = *key;
	plain_text(totals, key, plain, sizeof(plain));
	if (json_open(&json, 6 * sizeof(plain)))
		return NULL;
	if (looks_like_step(plain) && key->kind != EVENT_STEP)
		json_raw(&json, "user ");
	json_text(&json, plain, strlen(plain));
	label->text = arena_text(&totals->arena, json.data, json.used);
	label->text_len = json.used;
	label->plain = arena_text(&totals->arena, plain, strlen(plain));
	label->category = category_of(key);
	label->function = whole_function(totals, key, &json);
	label->operators = operators_of(totals, key, &json);
	json_close(&json);
	return label->text && label->plain ? label : NULL;
}

/* One label for all events of the kind. */
static bool is_alike(unsigned int kind)
{
	return kind == EVENT_HEAP_ALLOC || kind == EVENT_HEAP_FREE ||
	       kind == EVENT_STEP || kind == EVENT_LOSS ||
	       kind == EVENT_CPU_SAMPLE;
}

/* Tasks in a row that have two codes, and two names. */
static bool are_several(struct totals *totals, const struct label *key)
{
	const struct code_name *one, *other;

	if (!key->outlined || !key->code)
		return false;
	one = naming_find(totals->naming, key->code, key->code, 0);
	other = naming_find(totals->naming, key->outlined, key->outlined, 0);
	return strcmp(one->shown, other->shown) != 0;
}

static struct label *find_label(struct totals *totals,
				const struct event *event)
{
	struct label key = key_of(event);
	uint64_t hash;
	struct label *label;

	if (event->kind == EVENT_OMP_TASKS && are_several(totals, &key))
		key.code = 0;
	hash = hash_u64(key.code ^ (uint64_t)key.name << 16 ^
			(uint64_t)key.kind << 52 ^ (uint64_t)key.sync << 58);
	label = hash_index_find(&totals->labels, hash, same_label, &key);
	if (likely(label))
		return label;
	label = make_label(totals, &key);
	if (!label || hash_index_add(&totals->labels, hash, label))
		return &totals->lost;
	return label;
}

struct label *totals_label(struct totals *totals, const struct event *event)
{
	struct label **known;

	if (!is_alike(event->kind))
		return find_label(totals, event);
	known = &totals->of_kind[event->kind];
	if (unlikely(!*known))
		*known = find_label(totals, event);
	return *known;
}

static uint64_t sum_of(const struct label *label, bool in_file)
{
	return in_file ? label->file.sum_ns : label->run.sum_ns;
}

static bool is_less(const void *a, const void *b, const void *arg)
{
	const bool in_file = *(const bool *)arg;

	return sum_of(*(struct label *const *)a, in_file) <
	       sum_of(*(struct label *const *)b, in_file);
}

size_t totals_sort(struct totals *totals, bool in_file,
		   struct label *const **sorted)
{
	struct label **order;
	struct label *label;
	size_t count = 0;
	size_t at = 0;

	*sorted = NULL;
	if (array_reserve(&totals->order,
			  (totals->labels.count + 1) * sizeof(*order)))
		return 0;
	order = totals->order.base;
	while ((label = hash_index_each(&totals->labels, &at))) {
		if (in_file ? label->file.calls : label->run.calls)
			order[count++] = label;
	}
	array_sort(order, count, sizeof(*order), is_less, &in_file);
	*sorted = order;
	return count;
}

void totals_reset_run(struct totals *totals)
{
	struct label *label;
	size_t at = 0;

	while ((label = hash_index_each(&totals->labels, &at)))
		label->run = (struct total){0};
}

void totals_reset_file(struct totals *totals)
{
	struct label *label;
	size_t at = 0;

	while ((label = hash_index_each(&totals->labels, &at)))
		label->file = (struct total){0};
}
