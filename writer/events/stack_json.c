/* SPDX-License-Identifier: MIT */
/* stack_json.c - call stacks in a file; see stack_json.h. */
#include "writer/events/stack_json.h"

#include "collector/session/modules.h"
#include "collector/session/stacks.h"
#include "collector/system/log.h"
#include "writer/text/schema.h"
#include <string.h>

#define LINE_END_MAX 16u

struct drawn_stack {
	uint32_t id;
	uint64_t file_index; /* of the file that it stands in */
};

static bool same_stack(const void *item, const void *key)
{
	return ((const struct drawn_stack *)item)->id == *(const uint32_t *)key;
}

static struct drawn_stack *drawn(struct writer_state *state, uint32_t id)
{
	struct drawn_stack *stack =
		hash_index_find(&state->stacks, hash_u64(id), same_stack, &id);

	if (stack)
		return stack;
	stack = arena_alloc(&state->arena, sizeof(*stack));
	if (!stack)
		return NULL;
	stack->id = id;
	hash_index_add(&state->stacks, hash_u64(id), stack);
	return stack;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* An interpreter's, which comes with its name. */
static void put_named(struct writer_state *state, uint64_t frame)
{
	char bytes[STACK_NAME_BYTES];
	size_t len = stacks_name(state->session, frame, bytes);
	const char *text = bytes;

	/* A ";" would part it. */
	for (; len; len--, text++) {
		size_t part = 0;

		while (part < len && text[part] != ';')
			part++;
		json_text(&state->json, text, part);
		if (part == len)
			return;
		json_char(&state->json, ',');
		text += part;
		len -= part;
	}
}

static void put_code(struct writer_state *state, uint64_t code)
{
	const struct frame_name name =
		naming_frame(naming_find(&state->naming, code, code, 0));
	/* The call's own instruction ends where its return address is. */
	const struct module *module = modules_find(state->session, code - 1);
	struct json *json = &state->json;
	char text[96];

	if (module) {
		const char *file = last_part(module->path);

		json_text(json, file, strlen(file));
		log_format(text, sizeof(text),
			   "(0x%lx): ", code - 1 - module->bias);
	} else {
		log_format(text, sizeof(text), "[unknown](0x%lx): ", code - 1);
	}
	json_text(json, text, strlen(text));
	json_text(json, name.text, name.len);
}

static void put_frames(struct writer_state *state, const struct stack *stack)
{
	struct json *json = &state->json;

	json_raw(json, ",\"" SCHEMA_CALL_STACK "\":\"");
	for (uint32_t i = 0; i < stack->count; i++) {
		if (i)
			json_char(json, ';');
		if (stack->frame[i] & STACK_NAMED)
			put_named(state, stack->frame[i]);
		else
			put_code(state, stack->frame[i]);
	}
	json_char(json, '"');
}

void stack_json(struct writer_state *state, uint32_t id)
{
	const struct stack *stack = stacks_find(state->session, id);
	struct drawn_stack *known = stack ? drawn(state, id) : NULL;

	if (!stack)
		return;
	json_pair_u64(&state->json, SCHEMA_STACK, id);
	if (known && known->file_index == state->file.file_index)
		return;
	put_frames(state, stack);
	/* With room for the end of the line: it is not taken back. */
	if (known && json_fits(&state->json, LINE_END_MAX) &&
	    !state->json.failed)
		known->file_index = state->file.file_index;
}

static void put_module(struct json *json, const struct module *module)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * BUILD_ID_BYTES];

	for (uint32_t i = 0; i < module->id_len; i++) {
		text[2 * i] = digits[module->build_id[i] >> 4];
		text[2 * i + 1] = digits[module->build_id[i] & 15];
	}
	json_raw(json, "\n{\"path\":");
	json_string(json, module->path, module->path_len);
	json_pair_text(json, "build_id", text, 2 * module->id_len);
	json_char(json, '}');
}

void stack_json_modules(const struct writer_state *state, struct json *json)
{
	struct stack_table *table = &state->session->head->stacks;
	const struct module *module = NULL;
	bool any = false;

	if (!table->slots)
		return;
	json_raw(json, ",\n\"stacks\":{\"distinct\":");
	json_u64(json, load_relaxed(&table->count));
	json_pair_u64(json, "refused", load_relaxed(&table->refused));
	json_pair_u64(json, "shortened", load_relaxed(&table->shortened));
	json_pair_u64(json, "untaken", load_relaxed(&table->untaken));
	json_raw(json, "},\n\"" SCHEMA_MODULES "\":[");
	while ((module = modules_each(state->session, module))) {
		if (any)
			json_char(json, ',');
		any = true;
		put_module(json, module);
	}
	json_char(json, ']');
}
