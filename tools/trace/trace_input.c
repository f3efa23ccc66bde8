/* SPDX-License-Identifier: MIT */
/*
 * trace_input.c - reads and inflates a trace file.
 */
#include "tools/trace/trace_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "tools/trace/trace_last.h"
#include "tools/util/memory.h"

#define PIECE_BYTES  (64u << 10)
#define TAIL_BYTES   (1u << 20) /* of text, in which the writer's mark lies */

#define BAR_FIRST_NS INT64_C(500000000)
#define BAR_EACH_NS  INT64_C(100000000)
#define BAR_CELLS    40

struct trace_input {
	int fd;
	bool at_end;			/* of the file */
	bool in_member;			/* of a gzip file */
	bool past_gzip;			/* what follows is trailing bytes */
	const struct text_buffer *head; /* text that comes first; NULL none */
	size_t head_read;
	struct trace_input_facts facts;
	const char *name; /* of the file, for the bar */
	int64_t size;	  /* 0: no bar */
	int64_t bar_ns;	  /* when to draw it next */
	bool bar_drawn;
	z_stream inflater;
	unsigned char piece[PIECE_BYTES]; /* inflater.next_in points here */
	char error[128];
};

static long fail(struct trace_input *input, int error, const char *what)
{
	snprintf(input->error, sizeof(input->error), "%s", what);
	return -error;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void draw_bar(struct trace_input *input)
{
	static const char full[] = "########################################";
	double share = 1;

	if (!input->size || now_ns() < input->bar_ns)
		return;
	if (input->facts.file_bytes < (uint64_t)input->size)
		share = (double)input->facts.file_bytes / (double)input->size;
	input->bar_ns = now_ns() + BAR_EACH_NS;
	input->bar_drawn = true;
	fprintf(stderr, "\r%s [%-*.*s] %3.0f %%", input->name, BAR_CELLS,
		(int)(share * BAR_CELLS), full, 100 * share);
	fflush(stderr);
}

/* Bytes of the file: how many, 0 at its end, or what fail() returns. */
static long read_file(struct trace_input *input, void *bytes, size_t len)
{
	ssize_t got;

	do {
		got = read(input->fd, bytes, len);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return fail(input, errno, strerror(errno));
	if (!got)
		input->at_end = true;
	input->facts.file_bytes += (uint64_t)got;
	draw_bar(input);
	return got;
}

/* Tops the piece up to at least two bytes, or to the end of the file. */
static int fill(struct trace_input *input)
{
	z_stream *in = &input->inflater;

	if (in->avail_in && in->next_in != input->piece)
		memmove(input->piece, in->next_in, in->avail_in);
	in->next_in = input->piece;
	while (!input->at_end && in->avail_in < 2) {
		const long got = read_file(input, input->piece + in->avail_in,
					   PIECE_BYTES - in->avail_in);

		if (got < 0)
			return (int)got;
		in->avail_in += (unsigned int)got;
	}
	return 0;
}

static bool begins_gzip(const struct trace_input *input)
{
	const z_stream *in = &input->inflater;

	return in->avail_in >= 2 && in->next_in[0] == 0x1f &&
	       in->next_in[1] == 0x8b;
}

int trace_input_open(const char *path, struct trace_input **opened)
{
	struct trace_input *input;
	const char *name = strrchr(path, '/');
	struct stat status = {.st_size = 0};
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
		close(fd);
		return -EISDIR;
	}
	input = memory_zeroed(1, sizeof(*input));
	input->fd = fd;
	input->name = name ? name + 1 : path;
	input->size = isatty(STDERR_FILENO) ? status.st_size : 0;
	input->bar_ns = now_ns() + BAR_FIRST_NS;
	error = fill(input);
	if (!error && begins_gzip(input)) {
		input->facts.compressed = true;
		if (inflateInit2(&input->inflater, 15 + 16) != Z_OK)
			error = -ENOMEM;
	}
	if (error) {
		close(fd);
		free(input);
		return error;
	}
	*opened = input;
	return 0;
}

int trace_input_open_last(const char *path, const struct trace_last *last,
			  struct trace_input **opened)
{
	struct trace_input *input;
	int error = trace_input_open(path, &input);
	z_stream *in;

	if (error)
		return error;
	in = &input->inflater;
	in->avail_in = 0;
	if (lseek(input->fd, (off_t)last->at, SEEK_SET) < 0)
		error = -errno;
	else if (!last->is_plain && inflateReset2(in, -MAX_WBITS) != Z_OK)
		error = -EINVAL;
	if (error) {
		trace_input_close(input);
		return error;
	}
	input->at_end = false;
	input->head = &last->head;
	input->facts.members = input->in_member = !last->is_plain;
	input->past_gzip = true; /* what follows is the member's trailer */
	*opened = input;
	return 0;
}

static long read_head(struct trace_input *input, char *text, size_t len)
{
	const size_t left = input->head->len - input->head_read;
	const size_t count = left < len ? left : len;

	memcpy(text, input->head->data + input->head_read, count);
	input->head_read += count;
	return (long)count;
}

static long read_plain(struct trace_input *input, char *text, size_t len)
{
	z_stream *in = &input->inflater;
	const size_t count = in->avail_in < len ? in->avail_in : len;

	/* What was read to know the file's kind comes first. */
	if (!count)
		return input->at_end ? 0 : read_file(input, text, len);
	memcpy(text, in->next_in, count);
	in->next_in += count;
	in->avail_in -= (unsigned int)count;
	return (long)count;
}

/* Between members: begins the next one, or swallows what is no member. */
static int next_member(struct trace_input *input)
{
	z_stream *in = &input->inflater;

	for (;;) {
		const int error = fill(input);

		if (error)
			return error;
		if (!input->past_gzip && begins_gzip(input)) {
			if (input->facts.members && inflateReset(in) != Z_OK)
				return (int)fail(input, EINVAL, "zlib failed");
			input->facts.members++;
			input->in_member = true;
			return 0;
		}
		input->past_gzip = true;
		input->facts.trailing_bytes += in->avail_in;
		in->avail_in = 0;
		if (input->at_end)
			return 0;
	}
}

static long read_gzip(struct trace_input *input, char *text, size_t len)
{
	z_stream *in = &input->inflater;
	int status, error;

	in->next_out = (unsigned char *)text;
	in->avail_out = (unsigned int)len;
	while (in->avail_out == len) {
		if (!input->in_member) {
			error = next_member(input);
			if (error || !input->in_member)
				return error;
		}
		error = in->avail_in ? 0 : fill(input);
		if (error)
			return error;
		if (!in->avail_in)
			return fail(input, EBADMSG,
				    "the gzip stream is cut short: no end, no "
				    "checksum");
		status = inflate(in, Z_NO_FLUSH);
		if (status == Z_STREAM_END) {
			input->in_member = false;
			input->facts.empty_members +=
				!in->total_out && input->facts.members > 1;
		} else if (status != Z_OK && status != Z_BUF_ERROR) {
			return fail(input, EBADMSG,
				    in->msg ? in->msg : "damaged gzip stream");
		}
	}
	return (long)(len - in->avail_out);
}

long trace_input_read(struct trace_input *input, char *text, size_t len)
{
	long got;

	if (input->head && input->head_read < input->head->len)
		got = read_head(input, text, len);
	else
		got = input->facts.compressed ? read_gzip(input, text, len)
					      : read_plain(input, text, len);
	if (got > 0)
		input->facts.text_bytes += (uint64_t)got;
	return got;
}

const char *trace_input_error(const struct trace_input *input)
{
	return input->error;
}

const struct trace_input_facts *
trace_input_facts(const struct trace_input *input)
{
	return &input->facts;
}

void trace_input_close(struct trace_input *input)
{
	if (input->facts.compressed)
		inflateEnd(&input->inflater);
	if (input->bar_drawn)
		fprintf(stderr, "\r%*s\r",
			(int)strlen(input->name) + BAR_CELLS + 9, "");
	close(input->fd);
	free(input);
}

char *trace_input_tail(const char *path)
{
	struct trace_input *input;
	struct trace_last last;
	char *text;
	size_t kept = 0;
	long got;
	int error = trace_last_find(path, TAIL_BYTES, &last);

	error = error ? trace_input_open(path, &input)
		      : trace_input_open_last(path, &last, &input);
	if (error) {
		trace_last_free(&last);
		return NULL;
	}
	input->size = 0;
	text = memory_zeroed(2, TAIL_BYTES);
	/* The last two halves of the buffer are enough for any tail. */
	while ((got = trace_input_read(input, text + kept, TAIL_BYTES - 1)) >
	       0) {
		kept += (size_t)got;
		if (kept > TAIL_BYTES) {
			memmove(text, text + kept - TAIL_BYTES, TAIL_BYTES);
			kept = TAIL_BYTES;
		}
	}
	trace_input_close(input);
	trace_last_free(&last);
	/* What comes behind a zero is no text of ours. */
	text[kept] = '\0';
	if (got < 0) {
		free(text);
		return NULL;
	}
	return text;
}

bool trace_input_ends_with(const char *path, const char *mark)
{
	char *tail = trace_input_tail(path);
	const bool found = tail && strstr(tail, mark);

	free(tail);
	return found;
}
