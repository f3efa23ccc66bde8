/* SPDX-License-Identifier: MIT */
/* trace_last.c - where the last part of a trace begins; see trace_last.h. */
#include "tools/trace/trace_last.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"

/* So much of the part tells what is whole behind it: an eighth, and as many
 * events as the writer drains at once, but not more than half. */
#define SETTLES_OF   8u
#define SETTLES_MOST 2u
#define SLICE_EVENTS 20000u
#define READ_BYTES   65536u
/* The library's blocks are smaller, and no longer is looked for one. */
#define SEARCH_BYTES (1u << 20)
#define TEXT_BYTES   (4u << 20)
#define RAW_DEFLATE  (-15)
#define HEADER_BYTES 12u
#define FLAG_EXTRA   4u

static const char events_begin[] = "\"traceEvents\":[";
static const char next_event[] = ",\n{";
/* Steps may be found, and written, when all else of the run is there. */
static const char step[] = "\"name\":\"ProfilerStep#";
/* What a piece ends with: a stored block without content. */
static const char piece_end[4] = {0, 0, (char)0xff, (char)0xff};

/* Pieces of a file from some place on: of deflate, or of plain lines. */
struct pieces {
	int fd;
	bool is_plain;
	bool is_open;
	uint64_t at; /* of the file, behind the last piece */
	z_stream stream;
	struct text_buffer text; /* of it */
	unsigned char bytes[READ_BYTES];
};

static long read_at(int fd, void *bytes, size_t len, uint64_t at)
{
	ssize_t got;

	do
		got = pread(fd, bytes, len, (off_t)at);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* --- pieces --------------------------------------------------------------- */

static int pieces_begin(struct pieces *pieces, uint64_t at)
{
	pieces->at = at;
	text_buffer_cut(&pieces->text, 0);
	if (pieces->is_plain)
		return 0;
	if (pieces->is_open)
		return inflateReset(&pieces->stream) == Z_OK ? 0 : -EIO;
	memset(&pieces->stream, 0, sizeof(pieces->stream));
	if (inflateInit2(&pieces->stream, RAW_DEFLATE) != Z_OK)
		return -ENOMEM;
	pieces->is_open = true;
	return 0;
}

/* Between two blocks and two bytes (zlib.h, inflate), behind an empty one. */
static bool is_at_end(const z_stream *stream, const char last[4])
{
	return (stream->data_type & 0xff) == 128 &&
	       !memcmp(last, piece_end, sizeof(piece_end));
}

/* The last bytes that were inflated: some of them may be of the read before. */
static void note_last(char last[4], const unsigned char *bytes, size_t len)
{
	const size_t kept = len < 4 ? 4 - len : 0;

	memmove(last, last + 4 - kept, kept);
	memcpy(last + kept, bytes + len - (4 - kept), 4 - kept);
}

/* Inflates what was read, as far as the piece's end.  1 there; 0 more is to be
 * read; -EBADMSG. */
static int inflate_some(struct pieces *pieces, char last[4])
{
	z_stream *stream = &pieces->stream;
	struct text_buffer *text = &pieces->text;

	for (;;) {
		const unsigned char *before = stream->next_in;
		int status;

		text_buffer_reserve(text, READ_BYTES);
		stream->next_out = (unsigned char *)text->data + text->len;
		stream->avail_out = READ_BYTES;
		status = inflate(stream, Z_BLOCK);
		text_buffer_cut(text,
				text->len + READ_BYTES - stream->avail_out);
		note_last(last, before, (size_t)(stream->next_in - before));
		if ((status != Z_OK && status != Z_BUF_ERROR) ||
		    text->len > TEXT_BYTES)
			return -EBADMSG;
		if (is_at_end(stream, last))
			return 1;
		if (!stream->avail_in && stream->avail_out)
			return 0;
	}
}

static int next_piece_of_gzip(struct pieces *pieces)
{
	z_stream *stream = &pieces->stream;
	char last[4] = {1, 1, 1, 1};
	int found = 0;

	text_buffer_cut(&pieces->text, 0);
	while (!found) {
		const long got = read_at(pieces->fd, pieces->bytes, READ_BYTES,
					 pieces->at);

		if (got <= 0)
			return got ? (int)got : -EBADMSG;
		stream->next_in = pieces->bytes;
		stream->avail_in = (unsigned int)got;
		found = inflate_some(pieces, last);
		pieces->at += (uint64_t)(got - stream->avail_in);
	}
	return found < 0 ? found : 0;
}

/* Lines up to the last one in so many bytes that an event follows. */
static int next_piece_of_text(struct pieces *pieces)
{
	const char *at, *behind, *end = NULL;
	long got;

	text_buffer_cut(&pieces->text, 0);
	got = read_at(pieces->fd, pieces->bytes, READ_BYTES, pieces->at);
	if (got <= 0)
		return got ? (int)got : -EBADMSG;
	text_buffer_add(&pieces->text, (char *)pieces->bytes, (size_t)got);
	at = pieces->text.data + 1;
	behind = pieces->text.data + pieces->text.len;
	while ((at = memmem(at, (size_t)(behind - at), next_event, 3)))
		end = at++;
	if (!end)
		return -EBADMSG;
	text_buffer_cut(&pieces->text, (size_t)(end - pieces->text.data));
	pieces->at += pieces->text.len;
	return 0;
}

/* 0; -EBADMSG it has no end, or this is none; other -errno. */
static int next_piece(struct pieces *pieces)
{
	return pieces->is_plain ? next_piece_of_text(pieces)
				: next_piece_of_gzip(pieces);
}

/* --- the parts of a file -------------------------------------------------- */

/* The text before the second event, which is a piece by itself. */
static int read_head(struct pieces *pieces, struct trace_last *last)
{
	const char *events, *end;
	int rc = next_piece(pieces);

	if (rc)
		return rc;
	events = strstr(pieces->text.data, events_begin);
	if (!events)
		return -ENOENT;
	end = strstr(events, next_event);
	text_buffer_add(&last->head, pieces->text.data,
			end ? (size_t)(end - pieces->text.data)
			    : pieces->text.len);
	return pieces->is_plain && !end ? -ENOENT : 0;
}

static bool begins_with_event(const struct text_buffer *text)
{
	return text->len && !strncmp(text->data, next_event, 3);
}

/* Does a piece of events begin at that place?  Fill may lie before it. */
static bool is_piece(struct pieces *pieces, uint64_t at)
{
	if (pieces_begin(pieces, at))
		return false;
	do
		if (next_piece(pieces))
			return false;
	while (!pieces->text.len);
	return begins_with_event(&pieces->text);
}

/* The first piece from `at` on; the reader stands behind it.  -ENODATA: there
 * is none. */
static int find_piece(struct pieces *pieces, uint64_t at)
{
	const char *mark = pieces->is_plain ? next_event : piece_end;
	const size_t marks = pieces->is_plain ? 0 : sizeof(piece_end);
	const size_t len = pieces->is_plain ? 3 : sizeof(piece_end);
	char *bytes = memory_zeroed(1, SEARCH_BYTES);
	const long got = read_at(pieces->fd, bytes, SEARCH_BYTES, at);
	const char *found = bytes;
	int rc = got < 0 ? (int)got : -ENODATA;

	while (got > 0 && rc) {
		found = memmem(found, (size_t)(bytes + got - found), mark, len);
		if (!found)
			break;
		if (is_piece(pieces, at + (uint64_t)(found - bytes) + marks))
			rc = 0;
		found++;
	}
	free(bytes);
	return rc;
}

/* Does the number of that field stand in the line? */
static bool field_ns(const char *line, size_t len, const char *key, int64_t *ns)
{
	const char *at = memmem(line, len, key, strlen(key));
	const char *number = at ? at + strlen(key) : NULL, *end = number;

	while (end && end < line + len && memchr("0123456789.-", *end, 12))
		end++;
	return number && decimal_to_ns(number, (size_t)(end - number), ns) >= 0;
}

/* What a text of events tells of the part's begin. */
struct settled {
	int64_t latest_ns; /* the last end of a slice that is no step */
	size_t events;
	bool has_gpu, has_host; /* by what CUPTI tells, and by threads */
};

static void note_source(struct settled *settled, const char *line, size_t len)
{
	static const char category[] = "\"cat\":\"";
	const char *at = memmem(line, len, category, sizeof(category) - 1);
	const size_t left = at ? (size_t)(line + len - at) : 0;

	if (left < sizeof(category) + 6)
		return;
	at += sizeof(category) - 1;
	if (trace_last_is_gpu(at))
		settled->has_gpu = true;
	else
		settled->has_host = true;
}

/* A GPU's events are written behind all that threads had at that time: where
 * the part begins among them, what these did next may be before it. */
static bool is_settled(const struct settled *settled, uint64_t read,
		       uint64_t bytes)
{
	if (!settled->events)
		return false;
	return read >= bytes / SETTLES_MOST ||
	       (read >= bytes / SETTLES_OF && settled->events >= SLICE_EVENTS &&
		(settled->has_host || !settled->has_gpu));
}

static void look(struct settled *settled, const struct text_buffer *text)
{
	const char *line = text->data, *end;

	for (; line; line = end ? end + 1 : NULL) {
		int64_t start_ns, dur_ns;
		size_t len = (size_t)(text->data + text->len - line);

		end = memchr(line, '\n', len);
		len = end ? (size_t)(end - line) : len;
		/* No text in quotes holds such a key: it has a backslash. */
		if (!field_ns(line, len, ",\"ts\":", &start_ns) ||
		    !field_ns(line, len, ",\"dur\":", &dur_ns) ||
		    memmem(line, len, step, sizeof(step) - 1))
			continue;
		settled->events++;
		note_source(settled, line, len);
		if (saturate_add(start_ns, dur_ns) > settled->latest_ns)
			settled->latest_ns = saturate_add(start_ns, dur_ns);
	}
}

/* Reads on until it is known from when on all is there.  -ENODATA: nothing but
 * steps is. */
static int settle(struct pieces *pieces, uint64_t from, uint64_t bytes,
		  struct trace_last *last)
{
	struct settled settled = {.latest_ns = INT64_MIN};
	int rc = 0;

	while (!rc) {
		const uint64_t read = pieces->at - from;

		look(&settled, &pieces->text);
		if (is_settled(&settled, read, bytes))
			break;
		rc = next_piece(pieces);
	}
	last->from_ns = settled.latest_ns;
	last->at = pieces->at;
	return rc == -EBADMSG ? -ENODATA : rc;
}

/* Where its first piece begins.  -ENOENT: the library makes no such file. */
static int begin_file(struct pieces *pieces, struct trace_last *last,
		      uint64_t *at)
{
	unsigned char header[HEADER_BYTES];

	if (read_at(pieces->fd, header, sizeof(header), 0) != sizeof(header))
		return -ENOENT;
	*at = 0;
	last->is_plain = pieces->is_plain = header[0] == '{';
	if (pieces->is_plain)
		return 0;
	if (header[0] != 0x1f || header[1] != 0x8b || header[3] != FLAG_EXTRA)
		return -ENOENT;
	*at = HEADER_BYTES + header[10] + 256u * header[11];
	return 0;
}

static int find(struct pieces *pieces, uint64_t size, uint64_t bytes,
		struct trace_last *last)
{
	uint64_t at;
	int rc = begin_file(pieces, last, &at);

	if (!rc)
		rc = pieces_begin(pieces, at);
	if (!rc)
		rc = read_head(pieces, last);
	if (rc)
		return rc == -EBADMSG ? -ENOENT : rc;
	rc = find_piece(pieces, size - bytes);
	if (!rc)
		rc = settle(pieces, size - bytes, bytes, last);
	return rc;
}

int trace_last_find(const char *path, uint64_t bytes, struct trace_last *last)
{
	struct pieces *pieces = memory_zeroed(1, sizeof(*pieces));
	struct stat status;
	int rc = 0;

	memset(last, 0, sizeof(*last));
	pieces->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (pieces->fd < 0 || fstat(pieces->fd, &status))
		rc = -errno;
	else if (!S_ISREG(status.st_mode) ||
		 (uint64_t)status.st_size <= bytes + SEARCH_BYTES / 16)
		rc = -ENOENT;
	if (!rc)
		rc = find(pieces, (uint64_t)status.st_size, bytes, last);
	if (pieces->is_open)
		inflateEnd(&pieces->stream);
	if (pieces->fd >= 0)
		close(pieces->fd);
	text_buffer_free(&pieces->text);
	free(pieces);
	return rc;
}

bool trace_last_is_gpu(const char *category)
{
	return !strncmp(category, "cuda_", 5) ||
	       !strncmp(category, "gpu_", 4) || !strncmp(category, "kernel", 6);
}

void trace_last_free(struct trace_last *last)
{
	text_buffer_free(&last->head);
}
