/* SPDX-License-Identifier: MIT */
/*
 * log.c - formats and writes single lines without stdio or malloc.
 *
 * A line is one write(2), so that lines of ranks and threads don't mix.  It
 * begins on a line of its own as far as that can be known: a file's last byte
 * says whether it does, a terminal is made to wrap, of a pipe nothing is known.
 */
#include "collector/system/log.h"

#include "collector/system/descriptor.h"
#include "collector/system/file_locks.h"
#include "collector/system/loader.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* How long a line may wait for its reader; it fits a pipe's smallest room. */
#define PATIENCE_NS  100000000
#define COLUMNS_MOST 512

static START_DATA bool log_quiet;
static START_DATA bool log_known; /* fd 2 was there at the start */
static START_DATA dev_t log_device;
static START_DATA ino_t log_inode;
static _Atomic int log_kept; /* a copy of fd 2 from the end's begin; 0 none */
static _Atomic unsigned int log_lines;
static _Atomic unsigned int log_reserved;

/* Where formatted text goes; `at` may pass `end`, nothing is stored there. */
struct log_sink {
	char *at;
	char *end;
	bool is_one; /* the number that was written last */
};

static void sink_char(struct log_sink *sink, char c)
{
	if (sink->at < sink->end)
		*sink->at++ = c;
}

static void sink_text(struct log_sink *sink, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sink_char(sink, text[i]);
}

static void sink_number(struct log_sink *sink, uint64_t value, unsigned base,
			int width, char pad, bool negative)
{
	char digits[24];
	int count = 0;

	sink->is_one = value == 1 && !negative;
	do {
		digits[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	if (negative && pad == '0')
		sink_char(sink, '-');
	for (int i = count + negative; i < width; i++)
		sink_char(sink, pad);
	if (negative && pad != '0')
		sink_char(sink, '-');
	while (count)
		sink_char(sink, digits[--count]);
}

static void sink_double(struct log_sink *sink, double value, int decimals)
{
	uint64_t scale = 1;

	if (value < 0) {
		sink_char(sink, '-');
		value = -value;
	}
	if (!(value < 9e15)) {
		sink_text(sink, "huge", 4);
		return;
	}
	for (int i = 0; i < decimals; i++)
		scale *= 10;
	const uint64_t whole = (uint64_t)value;
	uint64_t part =
		(uint64_t)((value - (double)whole) * (double)scale + 0.5);
	const uint64_t carry = part >= scale;

	sink_number(sink, whole + carry, 10, 0, ' ', false);
	if (!decimals)
		return;
	part -= carry ? scale : 0;
	sink_char(sink, '.');
	sink_number(sink, part, 10, decimals, '0', false);
}

/* One conversion, parsed. */
struct conversion {
	int width;
	int precision; /* -1 none */
	char pad;
	int longs;
};

static const char *parse_conversion(const char *format, va_list *args,
				    struct conversion *conversion)
{
	*conversion = (struct conversion){0, -1, ' ', 0};
	if (*format == '0') {
		conversion->pad = '0';
		format++;
	}
	while (*format >= '0' && *format <= '9')
		conversion->width = conversion->width * 10 + *format++ - '0';
	if (*format == '.') {
		format++;
		conversion->precision = 0;
		if (*format == '*') {
			conversion->precision = va_arg(*args, int);
			format++;
		}
		while (*format >= '0' && *format <= '9')
			conversion->precision =
				conversion->precision * 10 + *format++ - '0';
	}
	for (; *format == 'l' || *format == 'z'; format++)
		conversion->longs++;
	return format;
}

static void sink_string(struct log_sink *sink, const char *text, int precision)
{
	if (!text)
		text = "(none)";
	sink_text(sink, text,
		  precision < 0 ? strlen(text)
				: strnlen(text, (size_t)precision));
}

static void sink_conversion(struct log_sink *sink, char letter,
			    const struct conversion *c, va_list *args)
{
	switch (letter) {
	case 's':
		sink_string(sink, va_arg(*args, const char *), c->precision);
		break;
	case 'c': sink_char(sink, (char)va_arg(*args, int)); break;
	case 'd':
	case 'i': {
		const int64_t value =
			c->longs ? va_arg(*args, long) : va_arg(*args, int);

		sink_number(sink,
			    value < 0 ? -(uint64_t)value : (uint64_t)value, 10,
			    c->width, c->pad, value < 0);
		break;
	}
	case 'u':
	case 'x':
		sink_number(sink,
			    c->longs ? va_arg(*args, unsigned long)
				     : va_arg(*args, unsigned int),
			    letter == 'x' ? 16 : 10, c->width, c->pad, false);
		break;
	case 'f':
		sink_double(sink, va_arg(*args, double),
			    c->precision < 0 ? 6 : c->precision);
		break;
	default: sink_char(sink, letter); break;
	}
}

/* "{event was|events were}": the first of these after a number that is one, else
 * the second.  Returns its last character. */
static const char *sink_choice(struct log_sink *sink, const char *format)
{
	const char *bar = strchr(format, '|');
	const char *end = strchr(format, '}');

	if (!bar || !end || bar > end) {
		sink_char(sink, *format);
		return format;
	}
	if (sink->is_one)
		sink_text(sink, format + 1, (size_t)(bar - format - 1));
	else
		sink_text(sink, bar + 1, (size_t)(end - bar - 1));
	return end;
}

size_t log_format_list(char *text, size_t bytes, const char *format,
		       va_list list)
{
	struct log_sink sink = {text, text + bytes - 1, false};
	va_list args;

	va_copy(args, list);
	for (; *format; format++) {
		struct conversion conversion;

		if (*format == '{') {
			format = sink_choice(&sink, format);
			continue;
		}
		if (*format != '%') {
			sink_char(&sink, *format);
			continue;
		}
		format = parse_conversion(format + 1, &args, &conversion);
		if (!*format)
			break;
		sink_conversion(&sink, *format, &conversion, &args);
	}
	va_end(args);
	*sink.at = '\0';
	return (size_t)(sink.at - text);
}

size_t log_format(char *text, size_t bytes, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	const size_t len = log_format_list(text, bytes, format, args);

	va_end(args);
	return len;
}

size_t log_time(char *text, size_t bytes, double us)
{
	if (us < 1e3)
		return log_format(text, bytes, "%.1f us", us);
	if (us < 1e6)
		return log_format(text, bytes, "%.1f ms", us / 1e3);
	return log_format(text, bytes, "%.1f s", us / 1e6);
}

void log_start(bool quiet)
{
	struct stat status;

	log_quiet = quiet;
	if (log_known || fstat(STDERR_FILENO, &status))
		return;
	log_device = status.st_dev;
	log_inode = status.st_ino;
	log_known = true;
}

static bool is_ours(int fd)
{
	struct stat status;

	return log_known && !fstat(fd, &status) &&
	       status.st_dev == log_device && status.st_ino == log_inode;
}

/* Where lines go; -1: nowhere.  The copy counts where fd 2 was closed, not
 * where something else took its place. */
static int heard_at(void)
{
	const int saved = errno;
	const int kept = load_relaxed(&log_kept);
	int fd = -1;

	if (is_ours(STDERR_FILENO))
		fd = STDERR_FILENO;
	else if (kept && syscall(SYS_fcntl, STDERR_FILENO, F_GETFD) < 0 &&
		 is_ours(kept))
		fd = kept;
	errno = saved;
	return fd;
}

void log_keep(void)
{
	const int saved = errno;
	long fd;

	if (!load_relaxed(&log_kept) && is_ours(STDERR_FILENO)) {
		fd = syscall(SYS_fcntl, STDERR_FILENO, F_DUPFD_CLOEXEC,
			     descriptor_lowest());
		if (fd > 0)
			store_relaxed(&log_kept, (int)fd);
	}
	errno = saved;
}

bool log_is_heard(void)
{
	return !log_quiet && heard_at() >= 0;
}

/* A file whose last byte ends no line, a progress bar's perhaps.  While a fork
 * is under way nobody looks: its child would have what is opened for it. */
static bool file_is_within_line(int to)
{
	struct stat status;
	char path[32], last = '\n';
	int fd;

	if (fstat(to, &status) || !S_ISREG(status.st_mode) || !status.st_size ||
	    !loader_enter_now())
		return false;
	/* Ours may be open for writing alone.  Where a close() would cost the
	 * program its lock the line may not be fresh. */
	log_format(path, sizeof(path), "/proc/self/fd/%d", to);
	fd = file_locks_has(status.st_ino)
		     ? -1
		     : (int)syscall(SYS_openat, AT_FDCWD, path,
				    O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd >= 0) {
		syscall(SYS_pread64, fd, &last, 1, status.st_size - 1);
		syscall(SYS_close, fd);
	}
	loader_leave();
	return last != '\n';
}

/* What takes the cursor to the start of a line: on a terminal as many blanks as
 * one line has, less one, which wrap unless the cursor is there, and back. */
static size_t begin_line(int to, char *text, size_t bytes)
{
	struct winsize window;
	size_t columns;

	if (file_is_within_line(to)) {
		text[0] = '\n';
		return 1;
	}
	if (syscall(SYS_ioctl, to, TIOCGWINSZ, &window) < 0)
		return 0;
	columns = window.ws_col;
	if (columns < 2 || columns > bytes)
		return 0;
	memset(text, ' ', columns - 1);
	text[columns - 1] = '\r';
	return columns;
}

/* What came from outside, a setting or a path, may hold what a terminal would
 * obey. */
static void make_harmless(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c == 0x7f)
			text[i] = '?';
		/* The other control characters, in UTF-8. */
		if (c == 0xc2 && i + 1 < len &&
		    ((unsigned char)text[i + 1] & 0xe0) == 0x80)
			text[i] = text[i + 1] = '?';
	}
}

/* What write() sends to its caller on top of an error: nobody reads the pipe
 * (./train 2>&1 | head), the file may not grow (ulimit -f), and a terminal is
 * not to be written on by jobs in the background (stty tostop). */
static void signals_of_write(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGPIPE);
	sigaddset(set, SIGXFSZ);
	sigaddset(set, SIGTTOU);
}

/* Takes those that came of our own write from this thread again; the program
 * may wait for others of them, which it blocked itself.  The function
 * sigtimedwait() itself would be a point of cancellation. */
static void take_back_signals(sigset_t *ours, const sigset_t *before)
{
	const struct timespec at_once = {0};

	for (int signal = 1; signal < NSIG; signal++)
		if (sigismember(before, signal) == 1)
			sigdelset(ours, signal);
	syscall(SYS_rt_sigtimedwait, ours, NULL, &at_once, NSIG / 8);
}

/* A reader that has stopped costs the line, not the program, and so does one
 * that is gone.  The functions write() and poll() themselves would be points of
 * cancellation. */
static void write_line(int to, const char *line, size_t len)
{
	struct pollfd ready = {.fd = to, .events = POLLOUT};
	const struct timespec limit = {.tv_nsec = PATIENCE_NS};
	sigset_t ours, was, before;
	long written;

	if (syscall(SYS_ppoll, &ready, 1, &limit, NULL, 0) == 0)
		return;
	signals_of_write(&ours);
	if (pthread_sigmask(SIG_BLOCK, &ours, &was))
		return;
	sigpending(&before);
	do
		written = syscall(SYS_write, to, line, len);
	while (written < 0 && errno == EINTR);
	if (written < 0)
		take_back_signals(&ours, &before);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
}

void log_reserve(unsigned int lines)
{
	store_relaxed(&log_reserved, lines);
}

enum log_kind { LOG_SAYS, LOG_TROUBLE, LOG_TELLS };

/* A line that finds no place takes none from those that come later. */
static bool has_place(enum log_kind kind)
{
	const unsigned int reserved =
		log_quiet ? 0 : load_relaxed(&log_reserved);
	const unsigned int most =
		LOG_LINES_MAX -
		(kind == LOG_TROUBLE && reserved ? 1 : reserved);

	return kind == LOG_TELLS || (load_relaxed(&log_lines) < most &&
				     add_relaxed(&log_lines, 1) < most);
}

static void log_line(const char *format, va_list args, enum log_kind kind)
{
	char line[COLUMNS_MOST + LOG_LINE_BYTES];
	const int saved = errno;
	const int to = heard_at();

	if (to >= 0 && has_place(kind)) {
		const size_t start = begin_line(to, line, COLUMNS_MOST);
		size_t len = start;

		len += log_format(line + len, LOG_LINE_BYTES, "traceprof: ");
		len += log_format_list(line + len,
				       LOG_LINE_BYTES - (len - start) - 1,
				       format, args);
		make_harmless(line + start, len - start);
		line[len++] = '\n';
		write_line(to, line, len);
	}
	errno = saved;
}

void log_trouble(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(format, args, LOG_TROUBLE);
	va_end(args);
}

void log_say(const char *format, ...)
{
	va_list args;

	if (log_quiet)
		return;
	va_start(args, format);
	log_line(format, args, LOG_SAYS);
	va_end(args);
}

void log_tell(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(format, args, LOG_TELLS);
	va_end(args);
}
