/* SPDX-License-Identifier: MIT */
/* line_match.c - what each line repeats of earlier ones; see line_match.h. */
#include "writer/deflate/line_match.h"

#include "writer/deflate/line_window.h"
#include "writer/deflate/processor.h"

#define INLINE	    inline __attribute__((always_inline))
/* So many fields of a line are looked at; each makes two sequences at most. */
#define FIELDS_MAX  (LINE_MATCH_ROOM / 2 - 2)
#define VALUE_BITS  12
/* Kept away from the farthest distance, for a line that grows. */
#define LINE_FAR    (LINE_MATCH_DISTANCE - 4096)
/* A value's match alone must save more than it costs. */
#define VALUE_LEAST 3u
#define VALUE_ALONE 6u
#define VALUE_STAY  3u

/* Where it stands, between lines or in text that is searched. */
struct line_cursor {
	uint32_t at;	   /* next byte */
	uint32_t old;	   /* its partner in an earlier line */
	uint32_t begin;	   /* where the present match began */
	uint32_t literals; /* where what isn't matched yet began */
	uint32_t line;	   /* index of the next line's note */
	uint32_t until;	   /* up to here is searched */
	bool has_old;	   /* old and begin are known */
	struct line_sequence *next;
};

/* A line that was read. */
struct line_place {
	uint32_t at; /* line_match.base is added */
	uint32_t line;
};

struct line_match {
	void (*read)(struct line_match *lines);

	const char *text;
	uint32_t len;
	/* Tables hold offsets with this added: it grows from text to text, so
	 * that nothing need be cleared. */
	uint32_t base;
	struct fields fields;
	struct field_line end_note;

	struct line_cursor cursor;
	struct line_sequence *limit;

	struct line_place like[FIELD_LIKES];
	struct line_place kind[FIELD_KINDS];
	uint32_t value[1u << VALUE_BITS]; /* by the eight bytes there */
};

size_t line_match_bytes(void)
{
	return sizeof(struct line_match);
}

static inline uint64_t eight(const char *text)
{
	uint64_t bytes;

	memcpy(&bytes, text, sizeof(bytes));
	return bytes;
}

static inline uint32_t *value_slot(struct line_match *lines, uint64_t bytes)
{
	return &lines->value[bytes * UINT64_C(0x9e3779b97f4a7c15) >>
			     (64 - VALUE_BITS)];
}

static INLINE void push(struct line_cursor *cursor, uint32_t begin,
			uint32_t end, uint32_t distance)
{
	cursor->next->literals = begin - cursor->literals;
	cursor->next->match = end - begin;
	cursor->next->distance = distance;
	cursor->next++;
	cursor->literals = end;
}

/* The present match ends here. */
static INLINE void close_match(struct line_cursor *cursor)
{
	if (cursor->at - cursor->begin >= LINE_MATCH_MIN &&
	    likely(cursor->at - cursor->old <= LINE_MATCH_DISTANCE))
		push(cursor, cursor->begin, cursor->at,
		     cursor->at - cursor->old);
}

/* With less than a window left. */
static __attribute__((noinline)) uint32_t
same_at_end(const struct line_match *lines, uint32_t at, uint32_t old)
{
	uint32_t same = 0;

	while (at + same < lines->len &&
	       lines->text[at + same] == lines->text[old + same])
		same++;
	return same;
}

/* How many bytes are the same at both places, at most LINE_WINDOW. */
static INLINE uint32_t same(const struct line_match *lines,
			    line_window_look look, uint32_t at, uint32_t old)
{
	if (unlikely(lines->len - at < LINE_WINDOW))
		return same_at_end(lines, at, old);
	return look(lines->text + at, lines->text + old);
}

/* How many are the same before both places, at most `most`. */
static inline uint32_t same_before(const struct line_match *lines, uint32_t at,
				   uint32_t old, uint32_t most)
{
	uint32_t same = 0;
	uint64_t differs;

	most = (uint32_t)min_u64(most, old);
	while (same < most && old - same >= 8) {
		differs = eight(lines->text + at - same - 8) ^
			  eight(lines->text + old - same - 8);
		if (differs) {
			same += (uint32_t)__builtin_clzll(differs) >> 3;
			return (uint32_t)min_u64(same, most);
		}
		same += 8;
	}
	while (same < most &&
	       lines->text[at - same - 1] == lines->text[old - same - 1])
		same++;
	return (uint32_t)min_u64(same, most);
}

static inline bool is_near(const struct line_match *lines,
			   struct line_place place, uint32_t at)
{
	return place.at >= lines->base &&
	       lines->base + at - place.at - 1 < LINE_FAR;
}

/* The last line like this one that can be reached, or of its kind: the index
 * of its note; none: that of this line. */
static inline uint32_t find_old(struct line_match *lines,
				struct line_cursor *cursor,
				const struct field_line *line)
{
	struct line_place *like = &lines->like[line->like % FIELD_LIKES];
	struct line_place *kind = &lines->kind[line->kind % FIELD_KINDS];
	const struct line_place here = {lines->base + cursor->at, cursor->line};
	struct line_place place = *like;
	bool has_old;

	if (!is_near(lines, place, cursor->at))
		place = *kind;
	has_old = is_near(lines, place, cursor->at);
	*like = *kind = here;
	if (cursor->has_old && has_old &&
	    here.at - place.at == cursor->at - cursor->old)
		return place.line;
	if (cursor->has_old)
		close_match(cursor);
	cursor->has_old = has_old;
	cursor->begin = cursor->at;
	cursor->old = place.at - lines->base;
	return has_old ? place.line : cursor->line;
}

/* A field that differs ends here.  Did its last bytes, with those after it,
 * stand somewhere before?  cursor->old is where its partner ends. */
static INLINE void take_value(struct line_match *lines,
			      struct line_cursor *cursor, line_window_look look,
			      uint32_t limit)
{
	const uint32_t end = cursor->at;
	uint32_t *slot, before, back, after, home;

	if (end < 8)
		return;
	slot = value_slot(lines, eight(lines->text + end - 8));
	before = *slot - lines->base;
	*slot = lines->base + end;
	if (before >= end || end - before > LINE_MATCH_DISTANCE)
		return; /* in no text, or another */
	back = same_before(lines, end, before, end - cursor->literals);
	if (back < VALUE_LEAST)
		return;
	after = same(lines, look, end, before);
	home = same(lines, look, end, cursor->old);
	if (after + VALUE_STAY < home) {
		if (back < VALUE_ALONE)
			return;
		after = 0;
	}
	after = (uint32_t)min_u64(after, limit - end);
	push(cursor, end - back, end + after, end - before);
	cursor->at += after;
	cursor->old += after;
	cursor->begin = cursor->at;
}

/* Reads one line and an earlier one along together, from field to field. */
static INLINE void read_line(struct line_match *lines,
			     struct line_cursor *lasting, line_window_look look,
			     const struct field_line *line,
			     const struct field_line *old)
{
	struct line_cursor cursor = *lasting;
	const uint32_t *field = lines->fields.end + line->first;
	const uint32_t *old_field = lines->fields.end + old->first;
	const uint32_t *const last =
		field + min_u64(min_u64(line[1].first - line->first,
					old[1].first - old->first),
				FIELDS_MAX);
	const uint32_t limit = line[1].begin;
	uint32_t run;

	for (;;) {
		do {
			run = same(lines, look, cursor.at, cursor.old);
			cursor.at += run;
			cursor.old += run;
		} while (run == LINE_WINDOW && cursor.at < limit);
		if (cursor.at >= limit)
			break;
		close_match(&cursor);
		while (field < last && (*field & FIELD_END) <= cursor.at) {
			field++;
			old_field++;
		}
		if (unlikely(field == last)) {
			cursor.has_old = false;
			cursor.until = limit;
			*lasting = cursor;
			return;
		}
		cursor.at = *field & FIELD_END;
		cursor.old = *old_field++ & FIELD_END;
		cursor.begin = cursor.at;
		if (*field++ & FIELD_RECURS)
			take_value(lines, &cursor, look, limit);
	}
	cursor.old -= cursor.at - limit;
	cursor.at = limit;
	*lasting = cursor;
}

/* Without a partner: looks for bytes that stood somewhere before. */
static __attribute__((noinline)) void search(struct line_match *lines)
{
	struct line_cursor *cursor = &lines->cursor;
	const uint32_t end = cursor->until;

	while (cursor->at < end && cursor->next < lines->limit) {
		const uint32_t at = cursor->at, here = lines->base + at + 8;
		uint32_t *slot, distance, back, match = 8;
		bool is_known;

		if (lines->len - at < 8) {
			cursor->at = end;
			return;
		}
		slot = value_slot(lines, eight(lines->text + at));
		distance = here - *slot;
		is_known = *slot >= lines->base + 8 &&
			   distance - 1 < LINE_MATCH_DISTANCE &&
			   eight(lines->text + at - distance) ==
				   eight(lines->text + at);
		*slot = here;
		cursor->at++;
		if (!is_known)
			continue;
		while (at + match < end &&
		       lines->text[at + match] ==
			       lines->text[at + match - distance])
			match++;
		match = (uint32_t)min_u64(match, end - at);
		back = same_before(lines, at, at - distance,
				   at - cursor->literals);
		if (match + back >= LINE_MATCH_MIN)
			push(cursor, at - back, at + match, distance);
		cursor->at = at + match;
	}
}

/* The next line, or text without notes in front of it. */
static INLINE void read_next(struct line_match *lines,
			     struct line_cursor *cursor, line_window_look look)
{
	/* After the last note stands one of the text's end. */
	const struct field_line *line = &lines->fields.line[cursor->line];
	uint32_t old;

	if (unlikely(line->begin > cursor->at)) {
		if (cursor->has_old)
			close_match(cursor);
		cursor->has_old = false;
		cursor->until = line->begin;
		return;
	}
	old = find_old(lines, cursor, line);
	if (likely(old != cursor->line))
		read_line(lines, cursor, look, line, &lines->fields.line[old]);
	else
		cursor->until = line[1].begin;
	cursor->line++;
}

static INLINE void read(struct line_match *lines, line_window_look look)
{
	struct line_cursor cursor = lines->cursor;

	while (cursor.next < lines->limit && cursor.at < lines->len) {
		if (unlikely(cursor.at < cursor.until)) {
			lines->cursor = cursor;
			search(lines);
			cursor = lines->cursor;
			continue;
		}
		read_next(lines, &cursor, look);
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
	const unsigned int skills = processor_skills();

	lines->read = read_eights;
	if (level > 0)
		lines->read = read_sse2;
	if (level > 1 && skills & PROCESSOR_AVX2)
		lines->read = read_avx2;
	if (level > 2 && skills & PROCESSOR_AVX512)
		lines->read = read_avx512;
}

#else

void line_match_start(struct line_match *lines, int level)
{
	(void)level;
	lines->read = read_eights;
}

#endif

void line_match_begin(struct line_match *lines, const char *text, size_t len,
		      const struct fields *fields)
{
	/* An offset that a table holds is at most `len` above its base. */
	lines->base += lines->len + 1;
	if (lines->base > UINT32_MAX - 2 * LINE_MATCH_TEXT) {
		memset(lines->like, 0, sizeof(lines->like));
		memset(lines->kind, 0, sizeof(lines->kind));
		memset(lines->value, 0, sizeof(lines->value));
		lines->base = 1;
	}
	lines->text = text;
	lines->len = (uint32_t)len;
	lines->end_note = (struct field_line){.begin = (uint32_t)len};
	lines->fields = (struct fields){.line = &lines->end_note};
	if (fields) {
		lines->fields = *fields;
		lines->end_note.first = fields->ends;
		fields->line[fields->lines] = lines->end_note;
	}
	lines->cursor = (struct line_cursor){0};
}

size_t line_match_next(struct line_match *lines, struct line_sequence *out,
		       size_t room)
{
	struct line_cursor *cursor = &lines->cursor;

	cursor->next = out;
	lines->limit = out + room - LINE_MATCH_ROOM;
	lines->read(lines);
	if (cursor->at == lines->len) {
		if (cursor->has_old)
			close_match(cursor);
		cursor->has_old = false;
		if (cursor->literals != lines->len)
			push(cursor, lines->len, lines->len, 0);
	}
	return (size_t)(cursor->next - out);
}

size_t line_match_done(const struct line_match *lines)
{
	return lines->cursor.literals;
}
