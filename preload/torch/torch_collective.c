/* SPDX-License-Identifier: MIT */
/*
 * torch_collective.c - a std::unordered_map of strings, read and freed; see
 * torch_collective.h.
 *
 * Numbers of messages grow, so they are no part of the text: each text is kept
 * once, forever.
 */
#include "preload/torch/torch_collective.h"

#include "collector/session/names.h"
#include "preload/process/hook.h"
#include <stdlib.h>
#include <string.h>

#define PAIRS_MAX 64u
#define VALUE_MAX 400u
#define TEXTS_MAX 8192u

/* As torch.profiler names them; the order is ours. */
static const char *const keys[] = {
	"Collective name",
	"In msg nelems",
	"Out msg nelems",
	"Group size",
	"dtype",
	"In split size",
	"Out split size",
	"Process Group Name",
	"Process Group Description",
	"Process Group Ranks",
	"Rank",
	"Src Rank",
	"Dst Rank",
	"Global rank start",
	"Global rank stride",
	"Is asynchronized op",
};

/* A pair of strings follows, by which rules is told by the library's symbol. */
struct node {
	struct node *next;
	union {
		struct torch_string string[2];
		char *old[2];
	};
};

struct map {
	void **buckets;
	size_t bucket_count;
	struct node *first;
	size_t count;
	float load;
	size_t resize_at;
	void *single;
};

_Static_assert(sizeof(struct map) == 56, "std::unordered_map");

/* SaveNcclMetaConfig: only what was left beside the thread, lists cut. */
struct config {
	bool cut, asks_thread, asks_inputs, asks_outputs;
	char room[12];
};

struct piece {
	const char *text;
	size_t len;
};

/* Before C++11's strings the length stands in front of the characters. */
static struct piece piece_of(const struct torch_library *library,
			     const struct node *node, unsigned int at)
{
	struct piece piece;

	if (library->collective)
		return (struct piece){node->string[at].text,
				      node->string[at].len};
	piece.text = node->old[at];
	memcpy(&piece.len, piece.text - 24, sizeof(piece.len));
	return piece;
}

static void free_piece(const struct torch_library *library, struct node *node,
		       unsigned int at)
{
	char *old = node->old[at];

	if (library->collective) {
		if (node->string[at].text != node->string[at].small)
			library->release(node->string[at].text);
	} else if (piece_of(library, node, at).len &&
		   *(int *)(void *)(old - 8) <= 0) {
		library->release(old - 24);
	}
}

static void free_map(const struct torch_library *library, struct map *map)
{
	struct node *next = map->first;

	while (next) {
		struct node *node = next;

		next = node->next;
		free_piece(library, node, 0);
		free_piece(library, node, 1);
		library->release(node);
	}
	if (map->buckets != &map->single)
		library->release(map->buckets);
}

/* A number, true, false, or a string in which nothing needs an escape. */
static bool is_json(struct piece value)
{
	const bool is_string = value.len >= 2 && value.text[0] == '"' &&
			       value.text[value.len - 1] == '"';

	if (!value.len || value.len > VALUE_MAX)
		return false;
	for (size_t i = is_string; i < value.len - is_string; i++) {
		const unsigned char c = (unsigned char)value.text[i];

		if (c < 0x20 || c > 0x7e || c == '"' || c == '\\')
			return false;
		if (!is_string && !strchr("-0123456789truefals", c))
			return false;
	}
	return true;
}

static struct piece value_of(const struct torch_library *library,
			     const struct map *map, const char *wanted)
{
	const size_t len = strlen(wanted);

	for (const struct node *node = map->first; node; node = node->next) {
		const struct piece key = piece_of(library, node, 0);
		const struct piece value = piece_of(library, node, 1);

		if (key.len == len && !memcmp(key.text, wanted, len) &&
		    is_json(value))
			return value;
	}
	return (struct piece){NULL, 0};
}

/* What has no room is left out. */
static size_t put_pair(char *text, size_t used, const char *key,
		       struct piece value)
{
	const size_t len = strlen(key);

	if (!value.len || used + len + value.len + 4 > NAME_BYTES_MAX)
		return used;
	if (used)
		text[used++] = ',';
	text[used++] = '"';
	memcpy(text + used, key, len);
	used += len;
	text[used++] = '"';
	text[used++] = ':';
	memcpy(text + used, value.text, value.len);
	return used + value.len;
}

/* Sizes that are others each time would fill the table of names. */
static bool is_room_for(const char *text, size_t len)
{
	static _Atomic uint64_t seen[TEXTS_MAX / 8];
	static _Atomic uint32_t count;
	uint64_t hash = 0xcbf29ce484222325u;
	uint64_t bit;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
	hash = (hash ^ hash >> 32) % (sizeof(seen) * 8);
	bit = UINT64_C(1) << hash % 64;
	if (load_relaxed(&seen[hash / 64]) & bit)
		return true;
	if (add_relaxed(&count, 1) >= TEXTS_MAX)
		return false;
	atomic_fetch_or_explicit(&seen[hash / 64], bit, memory_order_relaxed);
	return true;
}

static uint32_t intern(const struct torch_library *library,
		       const struct map *map, uint32_t shapes)
{
	struct session *session = load_relaxed(&session_here);
	char text[NAME_BYTES_MAX];
	size_t before = 0;
	size_t used;

	if (shapes && shapes != NAME_REFUSED) {
		const char *was = names_text(session, shapes, &before);

		before = before < NAME_BYTES_MAX / 2 ? before : 0;
		memcpy(text, was, before);
	}
	used = before;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		used = put_pair(text, used, keys[i],
				value_of(library, map, keys[i]));
	if (used == before)
		return shapes;
	if (!is_room_for(text, used)) {
		hook_unfollowed();
		return shapes;
	}
	return names_intern(session, text, used);
}

static uint64_t number_of(struct piece value)
{
	char digits[24];

	if (!value.len || value.len >= sizeof(digits) || *value.text == '-')
		return 0;
	memcpy(digits, value.text, value.len);
	digits[value.len] = '\0';
	return strtoull(digits, NULL, 10);
}

static void read_numbers(const struct torch_library *library,
			 const struct map *map, struct torch_message *message)
{
	const struct piece sequence = value_of(library, map, "Seq");
	const uint64_t number = number_of(sequence);

	if (!sequence.len || *sequence.text == '-' || number >= UINT32_MAX)
		return;
	message->sequence = (uint32_t)number + 1;
	message->id = number_of(value_of(library, map, "Comms Id"));
}

/* Whether it is such a map, before anything is believed or freed. */
static bool is_whole(const struct map *map)
{
	const struct node *node = map->first;
	size_t count = map->count;

	if (!map->buckets || !map->bucket_count || count > PAIRS_MAX)
		return false;
	for (; node && count; count--)
		node = node->next;
	return !node && !count;
}

bool torch_collective_is(const struct torch_library *library, const char *name)
{
	return *name == 'r' &&
	       (library->collective || library->old_collective) &&
	       library->release && !strcmp(name, "record_param_comms");
}

void torch_collective(const struct torch_library *library, const void *record,
		      struct torch_message *message)
{
	const struct config config = {.cut = true, .asks_thread = true};
	struct map map = {0};

	if (library->collective)
		library->collective(&map, record, &config);
	else
		library->old_collective(&map, record, &config);
	if (!is_whole(&map))
		return;
	read_numbers(library, &map, message);
	message->text = intern(library, &map, message->text);
	free_map(library, &map);
}
