/* SPDX-License-Identifier: MIT */
/* line_match.c - what each line repeats of earlier ones; see line_match.h. */
#include "writer/line_match.h"

#include "writer/line_window.h"

#define TEMPLATE_BITS 10
#define VALUE_BITS    12
/* Of a line, at most so many bytes tell its template. */
#define KEY_BYTES     192u
/* Kept away from the farthest distance, for a line that grows. */
#define TEMPLATE_FAR  (LINE_MATCH_DISTANCE - 4096)
#define STRING_MAX    1024u
/* A value's match must save more than it costs. */
#define VALUE_ALONE   6u
#define VALUE_WITH  4u
/* How many bytes are the same behind a number, as long as nobody has looked. */
#define HOME_LIKELY 12u

struct line_match {
	void (*read)(struct line_match *lines);

	/* Positions count through all texts, so that nothing need be cleared:
	 * what lies before `base` is not of this text. */
	uint32_t base;
	uint32_t end;
	const char *origin; /* where position 0 would be */

	uint32_t at;	   /* next byte of the line */
	uint32_t old;	   /* its partner in the earlier line; 0 none */
	uint32_t begin;	   /* where the present match began */
	uint32_t literals; /* where what isn't matched yet began */
	uint32_t last_line;
	bool is_fresh;	   /* at the start of a line */
	struct line_sequence *next;
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
	return lines->origin + position;
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

static inline void push(struct line_match *lines, uint32_t begin, uint32_t end,
			uint32_t distance)
{
	*lines->next++ = (struct line_sequence){
		.literals = begin - lines->literals,
		.match = end - begin,
		.distance = distance,
	};
	lines->literals = end;
}

/* The present match ends in front of `end`, whose partner is old_end. */
static inline void close_match(struct line_match *lines, uint32_t end,
			       uint32_t old_end)
{
	if (end - lines->begin >= LINE_MATCH_MIN &&
	    end - old_end <= LINE_MATCH_DISTANCE)
		push(lines, lines->begin, end, end - old_end);
}

/* A window at a place with less than 64 bytes left: what lies beyond differs.
 */
static COLD struct line_window look_at_end(const struct line_match *lines,
					   line_window_look look, uint32_t here,
					   uint32_t old)
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

/* A line's template: everything in front of its first number that is a value.
 */
static inline uint32_t template_hash(const struct line_match *lines,
				     line_window_look look, uint32_t line)
{
	const char *text = at(lines, line);
	uint64_t hash = 0;
	uint32_t len = 0;

	for (uint32_t from = 0; !len && from < KEY_BYTES; from += LINE_WINDOW) {
		struct line_window window;
		uint64_t begins;

		if (lines->end - line < from + LINE_WINDOW)
			break;
		window = look(text + from, text + from);
		begins = window.number & ~(window.number << 1);
		for (; begins; begins &= begins - 1) {
			len = from + (uint32_t)__builtin_ctzll(begins);
			if (len && text[len - 1] == ':')
				break;
			len = 0;
		}
	}
	for (uint32_t i = 0; i + 8 <= len; i += 8) {
		hash = (hash ^ eight(text + i)) * UINT64_C(0xff51afd7ed558ccd);
		hash ^= hash >> 32;
	}
	if (len >= 8)
		hash = (hash ^ eight(text + len - 8)) *
		       UINT64_C(0xff51afd7ed558ccd);
	return (uint32_t)(hash >> (64 - TEMPLATE_BITS));
}

/* The partner of the line that begins at lines->at. */
static inline void begin_line(struct line_match *lines, line_window_look look)
{
	const uint32_t here = lines->at;
	const uint32_t slot = template_hash(lines, look, here);
	uint32_t partner = lines->template[slot];

	lines->template[slot] = here;
	if (!is_near(lines, partner, here, TEMPLATE_FAR))
		partner = lines->last_line;
	lines->last_line = here;
	if (!is_near(lines, partner, here, TEMPLATE_FAR))
		partner = 0;
	if (partner == lines->old)
		return; /* the match goes on */
	if (lines->old)
		close_match(lines, here, lines->old);
	lines->old = partner;
	lines->begin = here;
}

/* A field that differs ended at lines->at.  Did its last eight bytes stand
 * somewhere before?  `home` bytes behind it are as in the partner. */
static inline bool take_value(struct line_match *lines, line_window_look look,
			      uint32_t home)
{
	const uint32_t end = lines->at;
	uint32_t begin, earlier, slot, behind;
	struct line_window window;
	uint64_t stops;
	uint64_t bytes;

	if (end - lines->literals < VALUE_WITH || end - lines->base < 8)
		return false;
	bytes = eight(at(lines, end) - 8);
	slot = value_hash(bytes);
	earlier = lines->value[slot];
	lines->value[slot] = end;
	if (!is_near(lines, earlier, end, LINE_MATCH_DISTANCE) ||
	    eight(at(lines, earlier) - 8) != bytes)
		return false;
	begin = max_u64(end - 8, lines->literals);
	while (begin > lines->literals &&
	       begin - (end - earlier) > lines->base &&
	       *at(lines, begin - 1) == *at(lines, begin - 1 - (end - earlier)))
		begin--;
	window = look_at(lines, look, end, earlier);
	stops = window.differs | window.newline;
	behind = stops ? (uint32_t)__builtin_ctzll(stops) : LINE_WINDOW;
	if (behind > home) {
		/* That line is the better partner from here on. */
		lines->begin = begin;
		lines->old = earlier;
		return true;
	}
	if (end - begin < VALUE_ALONE)
		return false;
	push(lines, begin, end + behind, end - earlier);
	lines->at += behind;
	lines->old += behind;
	lines->begin = lines->at;
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
static COLD void find_partner(struct line_match *lines)
{
	uint32_t here = lines->at;

	lines->old = 0;
	while (here + 8 <= lines->end) {
		const uint64_t bytes = eight(at(lines, here));
		const uint32_t slot = value_hash(bytes);
		const uint32_t earlier = lines->value[slot];

		lines->value[slot] = here + 8;
		if (is_near(lines, earlier, here + 8, TEMPLATE_FAR) &&
		    earlier - lines->base >= 8 &&
		    eight(at(lines, earlier) - 8) == bytes) {
			lines->old = earlier - 8;
			break;
		}
		here++;
		lines->is_fresh = *at(lines, here - 1) == '\n';
		if (lines->is_fresh)
			break;
	}
	if (!lines->old && here + 8 > lines->end)
		here = lines->end;
	lines->at = here;
	lines->begin = here;
}

/* Neither is in a number. */
static COLD void pass_string(struct line_match *lines)
{
	const uint32_t here = string_end(lines, lines->at);
	const uint32_t old = string_end(lines, lines->old);

	if (!here || !old || old >= lines->at) {
		find_partner(lines);
		return;
	}
	lines->at = here;
	lines->old = old;
	lines->begin = here;
}

/* The field at lines->at differs; it takes `here` bytes, in the partner `old`.
 * Then `home` bytes are equal again. */
static inline bool pass_number(struct line_match *lines, line_window_look look,
			       uint32_t here, uint32_t old, uint32_t home)
{
	lines->at += here;
	lines->old += old;
	lines->begin = lines->at;
	if (unlikely(lines->old >= lines->at)) {
		find_partner(lines);
		return true;
	}
	return take_value(lines, look, home);
}

static inline uint32_t run_length(uint64_t bits)
{
	return ~bits ? (uint32_t)__builtin_ctzll(~bits) : LINE_WINDOW;
}

/* Reads 64 bytes, or up to where the two texts are no longer side by side. */
static inline void read_window(struct line_match *lines, line_window_look look)
{
	struct line_window window =
		look_at(lines, look, lines->at, lines->old);
	uint64_t stops = window.differs | window.newline;
	uint32_t done = 0; /* of the window, as of lines->at */

	while (stops) {
		const uint32_t stop = (uint32_t)__builtin_ctzll(stops);
		uint32_t here, old, home;

		lines->at += stop - done;
		lines->old += stop - done;
		done = stop;
		if (!(window.differs >> stop & 1)) {
			lines->at++;
			lines->old++;
			lines->is_fresh = true;
			return;
		}
		if (lines->at == lines->end)
			return;
		close_match(lines, lines->at, lines->old);
		lines->begin = lines->at;
		here = run_length(window.number >> stop);
		old = run_length(window.old_number >> stop);
		if (unlikely(!(here | old))) {
			pass_string(lines);
			return;
		}
		if (unlikely(stop + max_u64(here, old) == LINE_WINDOW && stop))
			return; /* how long the number is, is not seen here */
		if (here != old) {
			pass_number(lines, look, here, old, HOME_LIKELY);
			return;
		}
		done += here;
		if (done == LINE_WINDOW) {
			pass_number(lines, look, here, old, 0);
			return;
		}
		stops &= ~UINT64_C(0) << done;
		home = (stops ? (uint32_t)__builtin_ctzll(stops) : LINE_WINDOW) -
		       done;
		if (pass_number(lines, look, here, old, home))
			return;
	}
	lines->at += LINE_WINDOW - done;
	lines->old += LINE_WINDOW - done;
}

static inline __attribute__((always_inline)) void read(struct line_match *lines,
						       line_window_look look)
{
	while (lines->at < lines->end && lines->next < lines->limit) {
		if (lines->is_fresh) {
			begin_line(lines, look);
			lines->is_fresh = false;
		}
		if (likely(lines->old))
			read_window(lines, look);
		else
			find_partner(lines);
	}
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
	if (level > 1 && __builtin_cpu_supports("avx2") &&
	    __builtin_cpu_supports("bmi2"))
		lines->read = read_avx2;
	if (level > 2 && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vl"))
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
	lines->origin = text - lines->base;
	lines->at = lines->base;
	lines->old = 0;
	lines->begin = lines->at;
	lines->literals = lines->at;
	lines->last_line = 0;
	lines->is_fresh = true;
}

size_t line_match_next(struct line_match *lines, struct line_sequence *out,
		       size_t room)
{
	lines->next = out;
	lines->limit = out + room - LINE_MATCH_ROOM;
	lines->read(lines);
	if (lines->at == lines->end && lines->literals != lines->end) {
		if (lines->old)
			close_match(lines, lines->end, lines->old);
		if (lines->literals != lines->end)
			push(lines, lines->end, lines->end, 0);
	}
	return (size_t)(lines->next - out);
}
