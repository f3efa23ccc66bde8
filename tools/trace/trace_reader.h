/* SPDX-License-Identifier: MIT */
/*
 * trace_reader.h - a trace file, event by event.
 *
 * Streams: the file is inflated and parsed in pieces and each event is handed
 * to a callback as soon as its object closes, so memory does not grow with the
 * file.  Numbers stay text, times become nanoseconds without going through a
 * double.  Any input is taken; what is no trace ends with one line that says
 * why.
 */
#ifndef TOOLS_TRACE_READER_H
#define TOOLS_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tools/trace/text_scan.h"
#include "tools/trace/trace_input.h"
#include "tools/trace/trace_progress.h"
#include "tools/util/key_table.h"
#include "tools/util/text_buffer.h"

enum trace_type {
	TRACE_ABSENT,
	TRACE_NULL,
	TRACE_BOOLEAN,
	TRACE_NUMBER,
	TRACE_STRING,
	TRACE_ARRAY,
	TRACE_OBJECT,
};

/* text is NUL-terminated; empty for arrays and objects, but an array in an
 * event's args is there as it stands, without blanks; not if it holds an object
 * or has more than TRACE_ARRAY_MAX bytes. */
#define TRACE_ARRAY_MAX 65536u

struct trace_value {
	enum trace_type type;
	const char *text;
	size_t len;
};

/* A time field: absent, exact, with more than three decimals, or useless. */
enum trace_time { TIME_ABSENT, TIME_GOOD, TIME_FINE, TIME_BAD };

enum trace_field {
	FIELD_PH,
	FIELD_CAT,
	FIELD_NAME,
	FIELD_PID,
	FIELD_TID,
	FIELD_TS,
	FIELD_DUR,
	FIELD_ID,
	FIELD_SCOPE, /* "s" */
	FIELD_BIND,  /* "bp" */
	FIELD_ARGS,
	FIELD_COUNT
};

struct trace_pair {
	const char *key;
	size_t key_len;
	struct trace_value value;
};

/* Beyond enum text_flaw, in the same word. */
#define TRACE_FLAW_NOT_OBJECT (1u << 16) /* the element is no object */
#define TRACE_FLAW_TWICE      (1u << 17) /* a field that we know stands twice */

struct trace_event {
	uint64_t index; /* place in traceEvents, from 0 */
	struct trace_value field[FIELD_COUNT];
	enum trace_time ts_state, dur_state;
	int64_t ts_ns, dur_ns;
	const struct trace_pair *pairs; /* the first level of args */
	size_t pair_count;
	uint64_t letters; /* that keys of the pairs begin with, by their bits */
	unsigned int flaws;
	bool is_share; /* no event of the file: the master's share of an OpenMP
			  region, which comes next and has it in its args */
};

/* A value outside traceEvents.  Objects and arrays come before what they
 * hold. */
struct trace_entry {
	const char *path;   /* "distributedInfo.rank", "notes.0" */
	unsigned int depth; /* 1: a key of the file */
	struct trace_value value;
	unsigned int flaws;
	bool after_events;
};

struct trace_sink {
	void (*event)(void *arg, const struct trace_event *event);
	void (*entry)(void *arg, const struct trace_entry *entry);
	void *arg;
};

struct trace_facts {
	struct trace_input_facts input;
	struct trace_progress unfinished;
	uint64_t events;
	char error[256]; /* why trace_read() failed, one line */
};

/* Reads the whole file.  0; -errno with facts->error filled in.  That it isn't
 * finished is said on stderr, or left to the caller. */
int trace_read(const char *path, const struct trace_sink *sink,
	       struct trace_facts *facts);
int trace_read_quietly(const char *path, const struct trace_sink *sink,
		       struct trace_facts *facts);

struct trace_last;

/* The same of that part of the file; NULL all of it. */
int trace_read_part(const char *path, const struct trace_last *last,
		    const struct trace_sink *sink, struct trace_facts *facts);

/* The bit of a key in an event's letters. */
static inline uint64_t trace_letter_bit(const char *key)
{
	return UINT64_C(1) << (*key & 63);
}

/* The value of one of the event's args; type TRACE_ABSENT when it has none.
 * key: not empty. */
struct trace_value trace_event_find(const struct trace_event *event,
				    const char *key, size_t key_len);

static inline struct trace_value
trace_event_arg(const struct trace_event *event, const char *key)
{
	if (!(event->letters & trace_letter_bit(key)))
		return (struct trace_value){.type = TRACE_ABSENT, .text = ""};
	return trace_event_find(event, key, strlen(key));
}

/* The same as an integer.  False when absent or none. */
bool trace_event_find_integer(const struct trace_event *event, const char *key,
			      size_t key_len, int64_t *value);

static inline bool trace_event_integer(const struct trace_event *event,
				       const char *key, int64_t *value)
{
	return event->letters & trace_letter_bit(key) &&
	       trace_event_find_integer(event, key, strlen(key), value);
}

/* The master's share of an OpenMP region, that has it in its args: in its place
 * and with its name.  pairs: room for TRACE_SHARE_PAIRS. */
#define TRACE_SHARE_PAIRS 16u

struct trace_event trace_event_share(const struct trace_event *region,
				     struct trace_pair *pairs);

/* A span of time: an X event with a start and an end. */
bool trace_event_is_slice(const struct trace_event *event);

/* The lanes of a trace by number; a lane's key is "pid tid". */
#define TRACE_LANES_RECENT 8u

struct trace_lanes {
	struct key_table table;
	struct trace_lane {
		struct text_buffer text; /* pid and tid as they stand */
		uint32_t number;
	} recent[TRACE_LANES_RECENT];
};

uint32_t trace_lanes_number(struct trace_lanes *lanes,
			    const struct trace_event *event);
void trace_lanes_free(struct trace_lanes *lanes);

static inline bool trace_value_is(const struct trace_value *value,
				  const char *text)
{
	const size_t len = strlen(text);

	return value->type == TRACE_STRING && value->len == len &&
	       memcmp(value->text, text, len) == 0;
}

/* False without yajl: then trace_read() fails with -ENOSYS and says which
 * package is missing. */
bool trace_reader_available(void);

#endif
