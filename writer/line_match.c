/* SPDX-License-Identifier: MIT */
/* line_match.c - what each line repeats of earlier ones; see line_match.h. */
#include "writer/line_match.h"

#include "writer/line_window.h"
#include "writer/processor.h"

#define TEMPLATE_BITS 10
#define VALUE_BITS    12
/* Of a line, at most so many bytes tell its template. */
#define KEY_BYTES     192u
/* Kept away from the farthest distance, for a line that grows. */
#define TEMPLATE_FAR  (LINE_MATCH_DISTANCE - 4096)
#define STRING_MAX    1024u
/* A value's match must save more than it costs. */
#define VALUE_ALONE   5u
#define VALUE_WITH    3u
#define VALUE_LEAST   2u
#define VALUE_STAY    4u
/* A value is known by eight bytes, so many of them behind it. */
#define VALUE_BEHIND  3u

/* Where it stands.  The hot loop has a copy of its own, in registers. */
struct line_cursor {
	uint32_t at;	   /* next byte of the line */
	uint32_t old;	   /* its partner in the earlier line; 0 none */
	uint32_t begin;	   /* where the present match began */
	uint32_t literals; /* where what isn't matched yet began */
	bool is_fresh;	   /* at the start of a line */
	struct line_sequence *next;
};

struct line_match {
	void (*read)(struct line_match *lines);

	/* Positions count through all texts, so that nothing need be cleared:
	 * what lies before `base` is not of this text. */
	uint32_t base;
	uint32_t end;
	uintptr_t origin; /* where position 0 would be */

	struct line_cursor cursor;
	uint32_t last_line; /* 0 none */
	uint32_t last_slot; /* of its template */
	struct line_sequence *limit;

	uint32_t template[1u << TEMPLATE_BITS]; /* start of its last line */
	uint32_t value[1u << VALUE_BITS];	/* see value_hash() */
};

size_t line_match_bytes(void)
{
	return sizeof(struct line_match);
}

static inline const char *at(const struct line_match *lines, uint32_t position)
{
	return (const char *)(lines->origin + position);
}

static inline uint64_t eight(const char *text)
{
	uint64_t bytes;

	memcpy(&bytes, text, sizeof(bytes));
	return bytes;
}

static inline uint32_t value_hash(uint64_t bytes)
{
	return (uint32_t)(bytes * UINT64_C(0x9e3779b97f4a7c15) >>
			  (64 - VALUE_BITS));
}

/* Is an earlier position one that a match may reach from here? */
static inline bool is_near(const struct line_match *lines, uint32_t earlier,
			   uint32_t here, uint32_t most)
{
	return earlier >= lines->base && here - earlier - 1 < most;
}

static inline void push(struct line_cursor *cursor, uint32_t begin,
			uint32_t end, uint32_t distance)
{
	*cursor->next++ = (struct line_sequence){
		.literals = begin - cursor->literals,
		.match = end - begin,
		.distance = distance,
	};
	cursor->literals = end;
}

/* The present match ends here. */
static inline void close_match(struct line_cursor *cursor)
{
	if (cursor->at - cursor->begin >= LINE_MATCH_MIN &&
	    cursor->at - cursor->old <= LINE_MATCH_DISTANCE)
		push(cursor, cursor->begin, cursor->at,
		     cursor->at - cursor->old);
	cursor->begin = cursor->at;
}

/* A window at a place with less than 64 bytes left: what lies beyond differs.
 */
static __attribute__((noinline)) struct line_window
look_at_end(const struct line_match *lines, line_window_look look,
	    uint32_t here, uint32_t old)
{
	const uint32_t left = lines->end - here;
	char a[LINE_WINDOW] = {0}, b[LINE_WINDOW] = {0};
	struct line_window window;

	memcpy(a, at(lines, here), left);
	memcpy(b, at(lines, old), left);
	window = look(a, b);
	window.differs |= ~UINT64_C(0) << left;
	return window;
}

static inline struct line_window look_at(const struct line_match *lines,
					 line_window_look look, uint32_t here,
					 uint32_t old)
{
	if (unlikely(lines->end - here < LINE_WINDOW))
		return look_at_end(lines, look, here, old);
	return look(at(lines, here), at(lines, old));
}

/* Of a window of a line: the first number that is a value; 64 none. */
static inline uint32_t first_value(const char *text, uint64_t number)
{
	uint64_t begins = number & ~(number << 1);

	for (; begins; begins &= begins - 1) {
		const uint32_t begin = (uint32_t)__builtin_ctzll(begins);

		if (begin && text[begin - 1] == ':')
			return begin;
	}
	return LINE_WINDOW;
}

/* Has this line the template of the last one?  Then the bytes that are the same
 * at its beginning, else 0. */
static inline uint32_t as_last(const struct line_match *lines,
			       line_window_look look, uint32_t line)
{
	const uint32_t last = lines->last_line;

	if (!is_near(lines, last, line, TEMPLATE_FAR))
		return 0;
	for (uint32_t from = 0; from < KEY_BYTES; from += LINE_WINDOW) {
		struct line_window window;
		uint32_t value;

		if (lines->end - line < from + LINE_WINDOW)
			return 0;
		window = look(at(lines, line + from), at(lines, last + from));
		value = first_value(at(lines, line + from), window.number);
		if (value < LINE_WINDOW)
			return window.differs << (LINE_WINDOW - value)
				       ? 0
				       : from + value;
		if (window.differs)
			return 0;
	}
	return KEY_BYTES;
}

/* A line's template: everything in front of its first number that is a value.
 */
static inline uint32_t template_slot(const struct line_match *lines,
				     line_window_look look, uint32_t line)
{
	const char *text = at(lines, line);
	uint64_t hash = 0, factor = UINT64_C(0x9e3779b97f4a7c15);
	uint32_t len = 0;

	while (len < KEY_BYTES && lines->end - line >= len + LINE_WINDOW) {
		const struct line_window window = look(text + len, text + len);
		const uint32_t value = first_value(text + len, window.number);

		len += value;
		if (value < LINE_WINDOW)
			break;
	}
	for (uint32_t i = 0; i + 8 <= len; i += 8) {
		hash += (eight(text + i) ^ factor) * factor;
		hash ^= hash >> 32;
		factor += 2 * UINT64_C(0xff51afd7ed558ccd);
	}
	if (len >= 8)
		hash += (eight(text + len - 8) ^ factor) * factor;
	hash *= UINT64_C(0xff51afd7ed558ccd);
	return (uint32_t)(hash >> (64 - TEMPLATE_BITS));
}

/* The partner of the line that begins here. */
static inline void begin_line(struct line_match *lines,
			      struct line_cursor *cursor, line_window_look look)
{
	const uint32_t here = cursor->at;
	const uint32_t known = as_last(lines, look, here);
	uint32_t partner = lines->last_line;

	cursor->is_fresh = false;
	if (!known) {
		lines->last_slot = template_slot(lines, look, here);
		partner = lines->template[lines->last_slot];
		if (!is_near(lines, partner, here, TEMPLATE_FAR))
			partner = lines->last_line;
		if (!is_near(lines, partner, here, TEMPLATE_FAR))
			partner = 0;
	}
	lines->template[lines->last_slot] = here;
	lines->last_line = here;
	if (partner != cursor->old) {
		if (cursor->old)
			close_match(cursor);
		cursor->old = partner;
		cursor->begin = here;
	}
	cursor->at += known;
	cursor->old += known;
}

/* How many bytes are the same at both places, at most LINE_WINDOW. */
static inline uint32_t same(const struct line_match *lines,
			    line_window_look look, uint32_t here, uint32_t old)
{
	const struct line_window window = look_at(lines, look, here, old);
	const uint64_t stops = window.differs | window.newline;

	return stops ? (uint32_t)__builtin_ctzll(stops) : LINE_WINDOW;
}

/* A field that differs ended here.  Did its last bytes, with those that say
 * what comes next, stand somewhere before? */
static inline bool take_value(struct line_match *lines,
			      struct line_cursor *cursor, line_window_look look)
{
	const uint32_t end = cursor->at, literals = cursor->literals;
	uint32_t begin, distance, slot, behind, home;
	uint64_t bytes;

	if (end - literals < VALUE_LEAST ||
	    end + VALUE_BEHIND - 8 < lines->base ||
	    lines->end - end < VALUE_BEHIND)
		return false;
	begin = end + VALUE_BEHIND - 8;
	bytes = eight(at(lines, begin));
	slot = value_hash(bytes);
	distance = begin - lines->value[slot];
	lines->value[slot] = begin;
	if (begin - distance < lines->base ||
	    distance - 1 >= LINE_MATCH_DISTANCE ||
	    eight(at(lines, begin - distance)) != bytes)
		return false;
	begin = (uint32_t)max_u64(begin, literals);
	while (begin > literals && begin - distance > lines->base &&
	       *at(lines, begin - 1) == *at(lines, begin - 1 - distance))
		begin--;
	behind = same(lines, look, end, end - distance);
	home = same(lines, look, end, cursor->old);
	if (behind > home + VALUE_STAY) {
		/* That line is the better partner from here on. */
		cursor->begin = begin;
		cursor->old = end - distance;
		return true;
	}
	if (end - begin < (behind >= home ? VALUE_WITH : VALUE_ALONE))
		return false;
	push(cursor, begin, end + behind, distance);
	cursor->at += behind;
	cursor->old += behind;
	cursor->begin = cursor->at;
	return true;
}

/* Where the string that `from` lies in ends, 0 if not on this line. */
static uint32_t string_end(const struct line_match *lines, uint32_t from)
{
	const uint32_t most = (uint32_t)min_u64(lines->end - from, STRING_MAX);

	for (uint32_t i = from; i < from + most; i++) {
		if (*at(lines, i) == '"')
			return i;
		if (*at(lines, i) == '\n')
			return 0;
	}
	return 0;
}

/* The lines are not of one make: looks for bytes that stood somewhere before,
 * at most to the end of the line. */
static __attribute__((noinline)) void find_partner(struct line_match *lines)
{
	struct line_cursor *cursor = &lines->cursor;
	uint32_t here = cursor->at;

	cursor->old = 0;
	while (!cursor->old && !cursor->is_fresh && here + 8 <= lines->end) {
		const uint64_t bytes = eight(at(lines, here));
		const uint32_t slot = value_hash(bytes);
		const uint32_t earlier = lines->value[slot];

		lines->value[slot] = here;
		if (is_near(lines, earlier, here, TEMPLATE_FAR) &&
		    eight(at(lines, earlier)) == bytes)
			cursor->old = earlier;
		else
			cursor->is_fresh = *at(lines, here++) == '\n';
	}
	if (!cursor->old && !cursor->is_fresh)
		here = lines->end;
	cursor->at = here;
	cursor->begin = here;
}

/* Neither is in a number. */
static __attribute__((noinline)) void pass_string(struct line_match *lines)
{
	struct line_cursor *cursor = &lines->cursor;
	const uint32_t here = string_end(lines, cursor->at);
	const uint32_t old = string_end(lines, cursor->old);

	if (!here || !old || old >= cursor->at) {
		find_partner(lines);
		return;
	}
	cursor->at = here;
	cursor->old = old;
	cursor->begin = here;
}

static inline uint32_t run_length(uint64_t bits)
{
	return ~bits ? (uint32_t)__builtin_ctzll(~bits) : LINE_WINDOW;
}

/* How a window was left. */
enum line_next {
	LINE_ON,      /* with the next one */
	LINE_STRING,  /* the two differ, and not in a number */
	LINE_PARTNER, /* they are not side by side any more */
};

/* Reads 64 bytes, or up to where the two texts are no longer side by side. */
static inline enum line_next read_window(struct line_match *lines,
					 struct line_cursor *cursor,
					 line_window_look look)
{
	const struct line_window window =
		look_at(lines, look, cursor->at, cursor->old);
	uint64_t stops = window.differs | window.newline;
	uint32_t done = 0; /* of the window, as of cursor->at */

	while (stops) {
		const uint32_t stop = (uint32_t)__builtin_ctzll(stops);
		uint32_t here, old;

		cursor->at += stop - done;
		cursor->old += stop - done;
		done = stop;
		if (!(window.differs >> stop & 1)) {
			cursor->at++;
			cursor->old++;
			cursor->is_fresh = true;
			return LINE_ON;
		}
		if (cursor->at == lines->end)
			return LINE_ON;
		close_match(cursor);
		here = run_length(window.number >> stop);
		old = run_length(window.old_number >> stop);
		if (unlikely(!(here | old)))
			return LINE_STRING;
		if (unlikely(stop + max_u64(here, old) >= LINE_WINDOW && stop))
			return LINE_ON; /* its end is not seen here */
		done += here;
		cursor->at += here;
		cursor->old += old;
		cursor->begin = cursor->at;
		if (unlikely(cursor->old >= cursor->at))
			return LINE_PARTNER;
		if (take_value(lines, cursor, look) || here != old ||
		    done == LINE_WINDOW)
			return LINE_ON;
		stops &= ~UINT64_C(0) << done;
	}
	cursor->at += LINE_WINDOW - done;
	cursor->old += LINE_WINDOW - done;
	return LINE_ON;
}

static inline __attribute__((always_inline)) void read(struct line_match *lines,
						       line_window_look look)
{
	struct line_cursor cursor = lines->cursor;

	while (cursor.at < lines->end && cursor.next < lines->limit) {
		enum line_next next = LINE_PARTNER;

		if (cursor.is_fresh)
			begin_line(lines, &cursor, look);
		if (likely(cursor.old))
			next = read_window(lines, &cursor, look);
		if (likely(next == LINE_ON))
			continue;
		lines->cursor = cursor;
		if (next == LINE_STRING)
			pass_string(lines);
		else
			find_partner(lines);
		cursor = lines->cursor;
	}
	lines->cursor = cursor;
}

static void read_eights(struct line_match *lines)
{
	read(lines, line_window_eights);
}

#ifdef __x86_64__

static void read_sse2(struct line_match *lines)
{
	read(lines, line_window_sse2);
}

LINE_TARGET_AVX2 static void read_avx2(struct line_match *lines)
{
	read(lines, line_window_avx2);
}

LINE_TARGET_AVX512 static void read_avx512(struct line_match *lines)
{
	read(lines, line_window_avx512);
}

void line_match_start(struct line_match *lines, int level)
{
	lines->base = 1;
	lines->read = read_eights;
	if (level > 0)
		lines->read = read_sse2;
	if (level > 1 && processor_has_avx2())
		lines->read = read_avx2;
	if (level > 2 && processor_has_avx512())
		lines->read = read_avx512;
}

#else

void line_match_start(struct line_match *lines, int level)
{
	(void)level;
	lines->base = 1;
	lines->read = read_eights;
}

#endif

void line_match_begin(struct line_match *lines, const char *text, size_t len)
{
	lines->base = lines->end + 1;
	if (lines->base > UINT32_MAX - 2 * LINE_MATCH_TEXT) {
		memset(lines->template, 0, sizeof(lines->template));
		memset(lines->value, 0, sizeof(lines->value));
		lines->base = 1;
	}
	lines->end = lines->base + (uint32_t)len;
	lines->origin = (uintptr_t)text - lines->base;
	lines->last_line = 0;
	lines->cursor = (struct line_cursor){
		.at = lines->base,
		.begin = lines->base,
		.literals = lines->base,
		.is_fresh = true,
	};
}

size_t line_match_next(struct line_match *lines, struct line_sequence *out,
		       size_t room)
{
	struct line_cursor *cursor = &lines->cursor;

	cursor->next = out;
	lines->limit = out + room - LINE_MATCH_ROOM;
	lines->read(lines);
	if (cursor->at == lines->end && cursor->literals != lines->end) {
		if (cursor->old)
			close_match(cursor);
		if (cursor->literals != lines->end)
			push(cursor, lines->end, lines->end, 0);
	}
	return (size_t)(cursor->next - out);
}
