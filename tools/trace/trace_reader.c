/* SPDX-License-Identifier: MIT */
/*
 * trace_reader.c - yajl's callbacks made into events.
 *
 * The parser stands in one of two places: inside traceEvents, where it gathers
 * one event at a time, or outside, where each value is handed on with its path.
 * While an event is gathered its texts lie in one buffer and are known by their
 * offset there, since the buffer may move; they become pointers when the event
 * is whole.
 */
#include "tools/trace/trace_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/numbers.h"
#include "tools/util/memory.h"
#include "tools/util/text_buffer.h"

#ifdef HAVE_YAJL

#include <yajl/yajl_parse.h>

#define PIECE_BYTES  (64u << 10)
#define EVENTS_DEPTH 2u /* containers open around an event */
#define PATH_KEY_MAX 256u

/* While the event grows: key and text as offsets in the buffer. */
struct loose_pair {
	size_t key;
	enum trace_type type;
	size_t text, len;
	bool is_cut; /* an array that is too long, or holds an object */
};

struct reader {
	const struct trace_sink *sink;
	struct trace_facts *facts;
	yajl_handle parser;
	struct text_scan scan;
	uint64_t piece_offset; /* of the piece that yajl has now */
	size_t next_flaw;      /* first one of the piece not yet given away */

	unsigned int depth;
	bool in_events, seen_events, ended;
	bool has_share;	     /* the event that is gathered */
	const char *refusal; /* why a callback stopped the parser */

	/* Inside an event. */
	struct trace_event event;
	struct text_buffer texts, quoted;
	size_t field_text[FIELD_COUNT];
	int field; /* of the key last seen, -1 one that we do not know */
	unsigned int fields_seen;
	struct loose_pair *loose;
	size_t loose_count, loose_capacity;
	struct trace_pair *pairs;
	size_t pair_capacity;

	/* Outside. */
	struct text_buffer path;
	size_t path_len[TEXT_SCAN_DEPTH_MAX + 1]; /* of the container */
	uint64_t element[TEXT_SCAN_DEPTH_MAX + 1];
	bool is_array[TEXT_SCAN_DEPTH_MAX + 1];
};

/* The letters of a key of up to four, the first one lowest. */
#define LETTERS(a, b, c, d) ((uint32_t)((a) | (b) << 8 | (c) << 16 | (d) << 24))

/* -1: none that we know. */
static int field_of(const char *key, size_t len)
{
	uint32_t letters = 0;

	if (!len || len > 4)
		return -1;
	for (size_t at = 0; at < len; at++) {
		if (!key[at])
			return -1;
		letters |= (uint32_t)(unsigned char)key[at] << 8 * at;
	}
	switch (letters) {
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

	while (reader->next_flaw < reader->scan.flaw_count &&
	       reader->scan.flaws[reader->next_flaw].offset < here)
		flaws |= reader->scan.flaws[reader->next_flaw++].flaw;
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

static void event_begin(struct reader *reader)
{
	memset(&reader->event, 0, sizeof(reader->event));
	text_buffer_cut(&reader->texts, 0);
	reader->loose_count = 0;
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
	const char *texts = reader->texts.data;

	for (unsigned int at = 0; at < FIELD_COUNT; at++)
		event->field[at].text = event->field[at].len
						? texts + reader->field_text[at]
						: "";
	while (reader->pair_capacity < reader->loose_count)
		reader->pairs = memory_grow(
			reader->pairs, reader->pair_capacity,
			&reader->pair_capacity, sizeof(*reader->pairs));
	for (size_t at = 0; at < reader->loose_count; at++) {
		const struct loose_pair *loose = &reader->loose[at];

		reader->pairs[at].key = texts + loose->key;
		event->letters |= trace_letter_bit(texts + loose->key);
		reader->pairs[at].value.type = loose->type;
		reader->pairs[at].value.text =
			loose->len && !loose->is_cut ? texts + loose->text : "";
		reader->pairs[at].value.len = loose->is_cut ? 0 : loose->len;
	}
	event->pairs = reader->pairs;
	event->pair_count = reader->loose_count;
	event->index = reader->facts->events++;
	event->ts_state = read_time(&event->field[FIELD_TS], &event->ts_ns);
	event->dur_state = read_time(&event->field[FIELD_DUR], &event->dur_ns);
	event->flaws |= take_flaws(reader);
	if (reader->has_share && trace_event_is_slice(event))
		give_share(reader);
	reader->sink->event(reader->sink->arg, event);
}

/* The pair whose array is being read, NULL none. */
static struct loose_pair *array_of(const struct reader *reader)
{
	struct loose_pair *pair;

	if (reader->field != FIELD_ARGS || !reader->loose_count)
		return NULL;
	pair = &reader->loose[reader->loose_count - 1];
	return pair->type == TRACE_ARRAY ? pair : NULL;
}

/* What is in an array of args lies behind what was gathered before. */
static void array_add(struct reader *reader, const char *text, size_t len)
{
	struct loose_pair *pair = array_of(reader);
	struct text_buffer *texts = &reader->texts;
	bool between;

	if (!pair)
		return;
	if (pair->len + len > TRACE_ARRAY_MAX) {
		pair->is_cut = true;
		return;
	}
	between =
		pair->len && texts->data[texts->len - 1] != '[' && *text != ']';
	if (between)
		text_buffer_add(texts, ",", 1);
	text_buffer_add(texts, text, len);
	pair->len += len + between;
}

/* A value below the first level of args. */
static void in_array(struct reader *reader, enum trace_type type,
		     const char *text, size_t len)
{
	struct loose_pair *pair = array_of(reader);

	if (type == TRACE_STRING && pair) {
		text_buffer_cut(&reader->quoted, 0);
		text_buffer_add_quoted(&reader->quoted, text, len);
		array_add(reader, reader->quoted.data, reader->quoted.len);
	} else if (type == TRACE_OBJECT && pair) {
		pair->is_cut = true;
	} else if (len) {
		array_add(reader, text, len);
	}
}

static void event_value(struct reader *reader, enum trace_type type,
			const char *text, size_t len)
{
	const unsigned int inside = reader->depth - EVENTS_DEPTH;

	if (inside > 2) {
		in_array(reader, type, text, len);
		return;
	}
	if (inside == 0) {
		event_begin(reader);
		reader->event.flaws |= TRACE_FLAW_NOT_OBJECT;
		event_end(reader);
	} else if (inside == 1 && reader->field >= 0) {
		reader->event.field[reader->field].type = type;
		reader->event.field[reader->field].len = len;
		reader->field_text[reader->field] =
			text_buffer_keep(&reader->texts, text, len);
	} else if (inside == 2 && reader->field == FIELD_ARGS &&
		   reader->event.field[FIELD_ARGS].type == TRACE_OBJECT &&
		   reader->loose_count) {
		struct loose_pair *pair =
			&reader->loose[reader->loose_count - 1];

		pair->type = type;
		pair->len = len;
		pair->text = text_buffer_keep(&reader->texts, text, len);
	}
}

static void array_begin(struct reader *reader)
{
	struct loose_pair *pair = array_of(reader);

	if (pair && reader->depth == EVENTS_DEPTH + 3) {
		pair->text = reader->texts.len;
		pair->len = 0;
	}
	array_add(reader, "[", 1);
}

static void array_end(struct reader *reader)
{
	array_add(reader, "]", 1);
	if (array_of(reader) && reader->depth == EVENTS_DEPTH + 3)
		text_buffer_add(&reader->texts, "", 1);
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
	event_begin(reader);
	entry.path = reader->path.data;
	if (len) { /* the buffer was empty */
		text_buffer_keep(&reader->texts, text, len);
		entry.value.text = reader->texts.data;
	}
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
		event_key(reader, text, len);
	} else if (inside == 2 && reader->field == FIELD_ARGS) {
		reader->has_share |= len == 8 && !memcmp(text, "share_us", 8);
		reader->loose = memory_grow(reader->loose, reader->loose_count,
					    &reader->loose_capacity,
					    sizeof(*reader->loose));
		reader->loose[reader->loose_count++] = (struct loose_pair){
			.key = text_buffer_keep(&reader->texts, text, len)};
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
static void describe(struct reader *reader, const char *text, size_t len)
{
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

static int read_pieces(struct reader *reader, struct trace_input *input)
{
	struct trace_facts *facts = reader->facts;
	static char piece[PIECE_BYTES];
	long got;

	while ((got = trace_input_read(input, piece, sizeof(piece))) > 0) {
		const size_t len = (size_t)got;

		reader->next_flaw = 0;
		if (text_scan_piece(&reader->scan, piece, len) < 0) {
			snprintf(facts->error, sizeof(facts->error), "%s",
				 reader->scan.error);
			return -EBADMSG;
		}
		if (yajl_parse(reader->parser, (unsigned char *)piece, len) !=
		    yajl_status_ok) {
			describe(reader, piece, len);
			return -EBADMSG;
		}
		reader->piece_offset += len;
	}
	if (got < 0) {
		snprintf(facts->error, sizeof(facts->error),
			 "%s after %llu "
			 "bytes of text, %llu events",
			 trace_input_error(input),
			 (unsigned long long)reader->piece_offset,
			 (unsigned long long)facts->events);
		return (int)got;
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
	text_scan_free(&reader->scan);
	text_buffer_free(&reader->texts);
	text_buffer_free(&reader->quoted);
	text_buffer_free(&reader->path);
	free(reader->loose);
	free(reader->pairs);
	free(reader);
	return error;
}

int trace_read_quietly(const char *path, const struct trace_sink *sink,
		       struct trace_facts *facts)
{
	struct trace_input *input;
	int error;

	memset(facts, 0, sizeof(*facts));
	error = trace_input_open(path, &input);
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

int trace_read_quietly(const char *path, const struct trace_sink *sink,
		       struct trace_facts *facts)
{
	(void)path;
	(void)sink;
	memset(facts, 0, sizeof(*facts));
	snprintf(facts->error, sizeof(facts->error),
		 "reading traces needs yajl: install libyajl-dev and make "
		 "again");
	return -ENOSYS;
}

#endif

/* Once, of a file that is read twice. */
static void say_unfinished(const char *path, const struct trace_facts *facts)
{
	static char said[4096]; /* the caller's text may be gone */
	struct text_buffer text;

	if (!strcmp(said, path))
		return;
	snprintf(said, sizeof(said), "%s", path);
	text = trace_progress_text(&facts->unfinished, path);
	fprintf(stderr, "%s: %s\n", path, text.data);
	text_buffer_free(&text);
}

int trace_read(const char *path, const struct trace_sink *sink,
	       struct trace_facts *facts)
{
	const int error = trace_read_quietly(path, sink, facts);

	if (!error && facts->unfinished.is_so)
		say_unfinished(path, facts);
	return error;
}
