/* SPDX-License-Identifier: MIT */
/*
 * trace_reader.c - yajl's callbacks made into events.
 *
 * The parser stands in one of two places: inside traceEvents, where it gathers
 * one event at a time, or outside, where each value is handed on with its path.
 * The texts of an event stay where they are, in the piece of the file that the
 * parser has: the quote behind a string, and what follows a number, become its
 * NUL once the parser has passed them.  What it had to put together itself, and
 * what an event has that goes on in the next piece, is copied.
 */
#include "tools/trace/trace_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trace/trace_pieces.h"
#include "tools/util/numbers.h"
#include "tools/util/memory.h"
#include "tools/util/text_buffer.h"
#include "tools/util/text_stash.h"

#ifdef HAVE_YAJL

#include <yajl/yajl_parse.h>

#define EVENTS_DEPTH 2u /* containers open around an event */
#define PATH_KEY_MAX 256u

struct reader {
	const struct trace_sink *sink;
	struct trace_facts *facts;
	yajl_handle parser;
	struct trace_piece piece; /* that yajl has now */
	uint64_t piece_offset;
	size_t next_flaw; /* first one of the piece not yet given away */

	unsigned int depth;
	bool in_events, seen_events, ended;
	bool has_share;	     /* the event that is gathered */
	const char *refusal; /* why a callback stopped the parser */

	/* Inside an event. */
	struct trace_event event;
	struct text_stash texts;
	struct text_buffer quoted;
	char array[TRACE_ARRAY_MAX + 1]; /* and a comma */
	size_t array_len;
	char *number_end; /* where its NUL belongs, NULL none */
	bool is_cut;	  /* the array is too long, or holds an object */
	int field;	  /* of the key last seen, -1 one that we do not know */
	unsigned int fields_seen;
	struct trace_pair *pairs;
	size_t pair_count, pair_capacity;

	/* Outside. */
	struct text_buffer path;
	size_t path_len[TEXT_SCAN_DEPTH_MAX + 1]; /* of the container */
	uint64_t element[TEXT_SCAN_DEPTH_MAX + 1];
	bool is_array[TEXT_SCAN_DEPTH_MAX + 1];
};

/* The letters of a key of up to four, the first one lowest. */
#define LETTERS(a, b, c, d) ((uint32_t)((a) | (b) << 8 | (c) << 16 | (d) << 24))

/* 0: none of ours. */
static inline uint32_t letters_of(const char *key, size_t len)
{
	uint32_t letters = 0;

	if (!len || len > 4)
		return 0;
	for (size_t at = 0; at < len; at++)
		letters |= (uint32_t)(unsigned char)key[at] << 8 * at;
	/* "s" and a NUL, say, are not "s". */
	return key[len - 1] ? letters : 0;
}

/* -1: none that we know. */
static int field_of(const char *key, size_t len)
{
	switch (letters_of(key, len)) {
	case LETTERS('p', 'h', 0, 0): return FIELD_PH;
	case LETTERS('c', 'a', 't', 0): return FIELD_CAT;
	case LETTERS('n', 'a', 'm', 'e'): return FIELD_NAME;
	case LETTERS('p', 'i', 'd', 0): return FIELD_PID;
	case LETTERS('t', 'i', 'd', 0): return FIELD_TID;
	case LETTERS('t', 's', 0, 0): return FIELD_TS;
	case LETTERS('d', 'u', 'r', 0): return FIELD_DUR;
	case LETTERS('i', 'd', 0, 0): return FIELD_ID;
	case LETTERS('s', 0, 0, 0): return FIELD_SCOPE;
	case LETTERS('b', 'p', 0, 0): return FIELD_BIND;
	case LETTERS('a', 'r', 'g', 's'): return FIELD_ARGS;
	default: return -1;
	}
}

bool trace_reader_available(void)
{
	return true;
}

/* The flaws of the text that the parser has passed since the last call. */
static unsigned int take_flaws(struct reader *reader)
{
	const uint64_t here =
		reader->piece_offset + yajl_get_bytes_consumed(reader->parser);
	unsigned int flaws = 0;

	while (reader->next_flaw < reader->piece.flaw_count &&
	       reader->piece.flaws[reader->next_flaw].offset < here)
		flaws |= reader->piece.flaws[reader->next_flaw++].flaw;
	return flaws;
}

static enum trace_time read_time(const struct trace_value *value, int64_t *ns)
{
	int status;

	*ns = 0;
	if (value->type == TRACE_ABSENT)
		return TIME_ABSENT;
	if (value->type != TRACE_NUMBER)
		return TIME_BAD;
	status = decimal_to_ns(value->text, value->len, ns);
	if (status < 0)
		*ns = 0;
	return status < 0 ? TIME_BAD : status ? TIME_FINE : TIME_GOOD;
}

static bool is_in_piece(const struct reader *reader, const char *text)
{
	return (uintptr_t)text - (uintptr_t)reader->piece.text <
	       reader->piece.len;
}

/* The parser is beyond the number that was kept last. */
static inline void end_number(struct reader *reader)
{
	if (reader->number_end)
		*reader->number_end = '\0';
	reader->number_end = NULL;
}

static inline const char *keep(struct reader *reader, enum trace_type type,
			       const char *text, size_t len)
{
	char *end;

	if (!len)
		return "";
	if (!is_in_piece(reader, text))
		return text_stash_add(&reader->texts, text, len);
	end = reader->piece.text + (text - reader->piece.text) + len;
	if (type == TRACE_NUMBER)
		reader->number_end = end;
	else
		*end = '\0';
	return text;
}

static void keep_from_piece(struct reader *reader, const char **text,
			    size_t len)
{
	if (is_in_piece(reader, *text))
		*text = text_stash_add(&reader->texts, *text, len);
}

/* The event goes on in the next piece, which takes this one's place. */
static void leave_piece(struct reader *reader)
{
	for (unsigned int at = 0; at < FIELD_COUNT; at++)
		keep_from_piece(reader, &reader->event.field[at].text,
				reader->event.field[at].len);
	for (size_t at = 0; at < reader->pair_count; at++) {
		struct trace_pair *pair = &reader->pairs[at];

		keep_from_piece(reader, &pair->key, pair->key_len);
		keep_from_piece(reader, &pair->value.text, pair->value.len);
	}
	reader->number_end = NULL;
}

static void event_begin(struct reader *reader)
{
	static const struct trace_event blank = {
		.field = {[0 ... FIELD_COUNT - 1] = {.text = ""}}};

	reader->event = blank;
	text_stash_drop(&reader->texts);
	reader->number_end = NULL;
	reader->pair_count = 0;
	reader->fields_seen = 0;
	reader->field = -1;
	reader->has_share = false;
}

/* The master's share of the region that the event is. */
static void give_share(const struct reader *reader)
{
	struct trace_pair pairs[TRACE_SHARE_PAIRS];
	const struct trace_event share =
		trace_event_share(&reader->event, pairs);

	reader->sink->event(reader->sink->arg, &share);
}

static void event_end(struct reader *reader)
{
	struct trace_event *event = &reader->event;

	end_number(reader);
	event->pairs = reader->pairs;
	event->pair_count = reader->pair_count;
	event->index = reader->facts->events++;
	event->ts_state = read_time(&event->field[FIELD_TS], &event->ts_ns);
	event->dur_state = read_time(&event->field[FIELD_DUR], &event->dur_ns);
	event->flaws |= take_flaws(reader);
	if (reader->has_share && trace_event_is_slice(event))
		give_share(reader);
	reader->sink->event(reader->sink->arg, event);
}

/* The pair whose array is being read, NULL none. */
static struct trace_pair *array_of(const struct reader *reader)
{
	struct trace_pair *pair;

	if (reader->field != FIELD_ARGS || !reader->pair_count)
		return NULL;
	pair = &reader->pairs[reader->pair_count - 1];
	return pair->value.type == TRACE_ARRAY ? pair : NULL;
}

static void array_add(struct reader *reader, const char *text, size_t len)
{
	char *end = reader->array + reader->array_len;

	if (reader->is_cut || !array_of(reader))
		return;
	if (reader->array_len + len > TRACE_ARRAY_MAX) {
		reader->is_cut = true;
		return;
	}
	if (reader->array_len && end[-1] != '[' && *text != ']')
		*end++ = ',';
	memcpy(end, text, len);
	reader->array_len = (size_t)(end - reader->array) + len;
}

/* A value below the first level of args. */
static void in_array(struct reader *reader, enum trace_type type,
		     const char *text, size_t len)
{
	const struct trace_pair *pair = array_of(reader);

	if (type == TRACE_STRING && pair) {
		text_buffer_cut(&reader->quoted, 0);
		text_buffer_add_quoted(&reader->quoted, text, len);
		array_add(reader, reader->quoted.data, reader->quoted.len);
	} else if (type == TRACE_OBJECT && pair) {
		reader->is_cut = true;
	} else if (len) {
		array_add(reader, text, len);
	}
}

static void event_value(struct reader *reader, enum trace_type type,
			const char *text, size_t len)
{
	const unsigned int inside = reader->depth - EVENTS_DEPTH;
	struct trace_value *value;

	if (inside > 2) {
		in_array(reader, type, text, len);
		return;
	}
	if (inside == 0) {
		event_begin(reader);
		reader->event.flaws |= TRACE_FLAW_NOT_OBJECT;
		event_end(reader);
		return;
	}
	if (reader->field < 0)
		return;
	value = &reader->event.field[reader->field];
	if (inside == 2) {
		if (reader->field != FIELD_ARGS || !reader->pair_count ||
		    value->type != TRACE_OBJECT)
			return;
		value = &reader->pairs[reader->pair_count - 1].value;
	}
	value->type = type;
	value->len = len;
	value->text = keep(reader, type, text, len);
}

static void array_begin(struct reader *reader)
{
	if (reader->depth == EVENTS_DEPTH + 3) {
		reader->array_len = 0;
		reader->is_cut = false;
	}
	array_add(reader, "[", 1);
}

static void array_end(struct reader *reader)
{
	struct trace_pair *pair = array_of(reader);

	array_add(reader, "]", 1);
	if (!pair || reader->depth != EVENTS_DEPTH + 3 || reader->is_cut)
		return;
	pair->value.len = reader->array_len;
	pair->value.text = text_stash_add(&reader->texts, reader->array,
					  reader->array_len);
}

/* The path of a value that begins now, inside its container. */
static void path_enter(struct reader *reader)
{
	const unsigned int depth = reader->depth;

	if (!depth || !reader->is_array[depth])
		return;
	text_buffer_cut(&reader->path, reader->path_len[depth]);
	text_buffer_format(&reader->path, ".%llu",
			   (unsigned long long)reader->element[depth]++);
}

static void entry_value(struct reader *reader, enum trace_type type,
			const char *text, size_t len)
{
	struct trace_entry entry = {
		.depth = reader->depth,
		.value = {.type = type, .text = "", .len = len},
		.after_events = reader->seen_events,
	};

	path_enter(reader);
	text_stash_drop(&reader->texts);
	entry.path = reader->path.data;
	if (len)
		entry.value.text = text_stash_add(&reader->texts, text, len);
	entry.flaws = take_flaws(reader);
	trace_progress_take(&reader->facts->unfinished, entry.path,
			    entry.value.text);
	reader->sink->entry(reader->sink->arg, &entry);
}

static int value(struct reader *reader, enum trace_type type, const char *text,
		 size_t len)
{
	if (!reader->depth) {
		reader->refusal = "the file is one JSON value, not an object";
		return 0;
	}
	if (reader->in_events)
		event_value(reader, type, text, len);
	else
		entry_value(reader, type, text, len);
	return 1;
}

static int on_null(void *arg)
{
	return value(arg, TRACE_NULL, "null", 4);
}

static int on_boolean(void *arg, int is_true)
{
	return is_true ? value(arg, TRACE_BOOLEAN, "true", 4)
		       : value(arg, TRACE_BOOLEAN, "false", 5);
}

static int on_number(void *arg, const char *text, size_t len)
{
	return value(arg, TRACE_NUMBER, text, len);
}

static int on_string(void *arg, const unsigned char *text, size_t len)
{
	return value(arg, TRACE_STRING, (const char *)text, len);
}

static void event_key(struct reader *reader, const char *key, size_t len)
{
	const int field = field_of(key, len);

	reader->field = field;
	if (field < 0)
		return;
	if (reader->fields_seen & 1u << field)
		reader->event.flaws |= TRACE_FLAW_TWICE;
	reader->fields_seen |= 1u << field;
}

static void pair_key(struct reader *reader, const char *key, size_t len)
{
	struct trace_pair *pair;

	if (reader->pair_count == reader->pair_capacity)
		reader->pairs = memory_grow(reader->pairs, reader->pair_count,
					    &reader->pair_capacity,
					    sizeof(*reader->pairs));
	pair = &reader->pairs[reader->pair_count++];
	pair->key = keep(reader, TRACE_STRING, key, len);
	pair->key_len = len;
	pair->value = (struct trace_value){.text = ""};
	reader->event.letters |= trace_letter_bit(pair->key);
	reader->has_share |= len == 8 && !memcmp(key, "share_us", 8);
}

static int on_key(void *arg, const unsigned char *key, size_t len)
{
	struct reader *reader = arg;
	const char *text = (const char *)key;
	const unsigned int inside =
		reader->in_events ? reader->depth - EVENTS_DEPTH : 0;

	if (!reader->in_events) {
		text_buffer_cut(&reader->path, reader->path_len[reader->depth]);
		if (reader->depth > 1)
			text_buffer_add(&reader->path, ".", 1);
		text_buffer_add_printable(&reader->path, text, len,
					  PATH_KEY_MAX);
	} else if (inside == 1) {
		end_number(reader);
		event_key(reader, text, len);
	} else if (inside == 2 && reader->field == FIELD_ARGS) {
		end_number(reader);
		pair_key(reader, text, len);
	}
	return 1;
}

static int open_container(struct reader *reader, enum trace_type type)
{
	const bool is_events = !reader->in_events && reader->depth == 1 &&
			       type == TRACE_ARRAY &&
			       !strcmp(reader->path.data, "traceEvents");

	if (!reader->depth && type == TRACE_ARRAY) {
		reader->refusal = "a bare array of events, not an object with "
				  "traceEvents (rule 2)";
		return 0;
	}
	if (reader->in_events && reader->depth == EVENTS_DEPTH &&
	    type == TRACE_OBJECT)
		event_begin(reader);
	else if (reader->depth)
		value(reader, type, "", 0);
	reader->depth++;
	if (reader->in_events && type == TRACE_ARRAY &&
	    reader->depth > EVENTS_DEPTH + 2)
		array_begin(reader);
	if (is_events) {
		reader->in_events = true;
		reader->seen_events = true;
	} else if (!reader->in_events) {
		reader->path_len[reader->depth] = reader->path.len;
		reader->element[reader->depth] = 0;
		reader->is_array[reader->depth] = type == TRACE_ARRAY;
	}
	return 1;
}

static int on_start_map(void *arg)
{
	return open_container(arg, TRACE_OBJECT);
}

static int on_start_array(void *arg)
{
	return open_container(arg, TRACE_ARRAY);
}

static int close_container(struct reader *reader, enum trace_type type)
{
	if (reader->in_events && type == TRACE_ARRAY &&
	    reader->depth > EVENTS_DEPTH + 2)
		array_end(reader);
	reader->depth--;
	reader->ended = !reader->depth;
	if (!reader->in_events)
		return 1;
	if (reader->depth == EVENTS_DEPTH && type == TRACE_OBJECT)
		event_end(reader);
	if (reader->depth == EVENTS_DEPTH - 1)
		reader->in_events = false;
	return 1;
}

static int on_end_map(void *arg)
{
	return close_container(arg, TRACE_OBJECT);
}

static int on_end_array(void *arg)
{
	return close_container(arg, TRACE_ARRAY);
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_start_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end_map,
	.yajl_start_array = on_start_array,
	.yajl_end_array = on_end_array,
};

/* Says where the text stops being JSON, and why if it is a known trap. */
static void describe(struct reader *reader)
{
	const char *text = reader->piece.text;
	const size_t len = reader->piece.len;
	char *error = reader->facts->error;
	const size_t bytes = sizeof(reader->facts->error);
	size_t at = yajl_get_bytes_consumed(reader->parser);
	const char *trap = "";

	if (reader->refusal) {
		snprintf(error, bytes, "%s", reader->refusal);
		return;
	}
	if (at >= len)
		at = len ? len - 1 : 0;
	for (size_t near = at > 2 ? at - 2 : 0; near <= at && near < len;
	     near++)
		if (!strncmp(text + near, "NaN", len - near < 3 ? 1 : 3) ||
		    !strncmp(text + near, "Inf", len - near < 3 ? 1 : 3))
			trap = ": a bare NaN or Infinity (rule 7)";
	if (reader->ended)
		snprintf(error, bytes,
			 "text goes on at byte %llu, after the end of the "
			 "JSON object (rule 2)",
			 (unsigned long long)(reader->piece_offset + at));
	else if (reader->seen_events)
		snprintf(error, bytes,
			 "not JSON at byte %llu of the text, at event %llu%s",
			 (unsigned long long)(reader->piece_offset + at),
			 (unsigned long long)reader->facts->events, trap);
	else
		snprintf(error, bytes, "not JSON at byte %llu of the text%s",
			 (unsigned long long)(reader->piece_offset + at), trap);
}

/* 0 at the end; -errno, and the facts say why. */
static int parse_pieces(struct reader *reader, struct trace_pieces *pieces)
{
	struct trace_facts *facts = reader->facts;
	const char *refusal = NULL;
	int got;

	while ((got = trace_pieces_next(pieces, &reader->piece, &refusal)) >
	       0) {
		reader->next_flaw = 0;
		if (yajl_parse(reader->parser,
			       (unsigned char *)reader->piece.text,
			       reader->piece.len) != yajl_status_ok) {
			describe(reader);
			return -EBADMSG;
		}
		if (reader->in_events && reader->depth > EVENTS_DEPTH)
			leave_piece(reader);
		reader->piece_offset += reader->piece.len;
	}
	if (!refusal)
		return got;
	snprintf(facts->error, sizeof(facts->error), "%s", refusal);
	return -EBADMSG;
}

static int read_pieces(struct reader *reader, struct trace_input *input)
{
	struct trace_facts *facts = reader->facts;
	struct trace_pieces *pieces = trace_pieces_begin(input);
	const int error = parse_pieces(reader, pieces);

	trace_pieces_end(pieces);
	if (error && facts->error[0])
		return error;
	if (error) {
		snprintf(facts->error, sizeof(facts->error),
			 "%s after %llu "
			 "bytes of text, %llu events",
			 trace_input_error(input),
			 (unsigned long long)reader->piece_offset,
			 (unsigned long long)facts->events);
		return error;
	}
	if (reader->piece_offset &&
	    yajl_complete_parse(reader->parser) == yajl_status_ok)
		return 0;
	snprintf(facts->error, sizeof(facts->error),
		 reader->piece_offset
			 ? "the JSON text ends early, after %llu bytes"
			 : "the file is empty",
		 (unsigned long long)reader->piece_offset);
	return -EBADMSG;
}

static int read_opened(const struct trace_sink *sink, struct trace_facts *facts,
		       struct trace_input *input)
{
	struct reader *reader = memory_zeroed(1, sizeof(*reader));
	int error;

	reader->sink = sink;
	reader->facts = facts;
	text_buffer_cut(&reader->path, 0);
	reader->parser = yajl_alloc(&callbacks, NULL, reader);
	if (!reader->parser) {
		free(reader);
		return -ENOMEM;
	}
	yajl_config(reader->parser, yajl_dont_validate_strings, 1);
	error = read_pieces(reader, input);
	if (!error && !reader->seen_events) {
		snprintf(facts->error, sizeof(facts->error),
			 "JSON, but not a trace: it has no traceEvents array");
		error = -EBADMSG;
	}
	yajl_free(reader->parser);
	text_stash_free(&reader->texts);
	text_buffer_free(&reader->quoted);
	text_buffer_free(&reader->path);
	free(reader->pairs);
	free(reader);
	return error;
}

int trace_read_part(const char *path, const struct trace_last *last,
		    const struct trace_sink *sink, struct trace_facts *facts)
{
	struct trace_input *input;
	int error;

	memset(facts, 0, sizeof(*facts));
	error = last ? trace_input_open_last(path, last, &input)
		     : trace_input_open(path, &input);
	if (error) {
		snprintf(facts->error, sizeof(facts->error), "%s",
			 strerror(-error));
		return error;
	}
	error = read_opened(sink, facts, input);
	facts->input = *trace_input_facts(input);
	trace_input_close(input);
	return error;
}

#else

bool trace_reader_available(void)
{
	return false;
}

int trace_read_part(const char *path, const struct trace_last *last,
		    const struct trace_sink *sink, struct trace_facts *facts)
{
	(void)path;
	(void)last;
	(void)sink;
	memset(facts, 0, sizeof(*facts));
	snprintf(facts->error, sizeof(facts->error),
		 "reading traces needs yajl: install libyajl-dev and make "
		 "again");
	return -ENOSYS;
}

#endif

int trace_read_quietly(const char *path, const struct trace_sink *sink,
		       struct trace_facts *facts)
{
	return trace_read_part(path, NULL, sink, facts);
}

int trace_read(const char *path, const struct trace_sink *sink,
	       struct trace_facts *facts)
{
	const int error = trace_read_quietly(path, sink, facts);

	if (!error && facts->unfinished.is_so)
		trace_progress_say(&facts->unfinished, path);
	return error;
}
