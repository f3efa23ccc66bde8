/* SPDX-License-Identifier: MIT */
/*
 * options.c - parses the settings without malloc or stdio.
 *
 * Every complaint names what was given, what is right and what happens now: the
 * run goes on with the default.
 */
#include "collector/control/options.h"

#include "collector/control/flight.h"
#include "collector/control/stack_choice.h"
#include "collector/system/log.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

#define PREFIX	     "TRACEPROF_"
#define PREFIX_LEN   (sizeof(PREFIX) - 1)
#define NAME_LEN_MAX 63

const struct option_row option_rows[] = {
#define X(type, field, name, low, high, def, values, argument, help)           \
	{OPTION_##type, offsetof(struct options, field),                       \
	 low,		high,                                                  \
	 name,		def,                                                   \
	 values,	argument,                                              \
	 help},
	OPTIONS(X)
#undef X
};

/* clang-format off */
#define FITS(member, text) \
	(sizeof(((struct option_row *)0)->member) >= sizeof(text))
#define X(type, field, title, low, high, def, choices, word, text)	\
	_Static_assert(FITS(name, title) && FITS(fallback, def) &&	\
		       FITS(values, choices) && FITS(argument, word) &&	\
		       FITS(help, text), "the texts of " title " fit");
OPTIONS(X)
#undef X
/* clang-format on */

const unsigned int option_row_count =
	sizeof(option_rows) / sizeof(option_rows[0]);

_Static_assert(sizeof(option_rows) / sizeof(option_rows[0]) <= 64,
	       "options.set has a bit for each row");

/* Ours, but no settings: `record` and a parent process hand them on. */
static const char *const internal_names[] = {"RECORD_PID", "RECORD_HELD",
					     "PARENT", "PRELOAD", "EXEC"};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A whole decimal number, optional sign; false on anything else. */
static bool parse_whole(const char *text, const char **end, int64_t *value)
{
	const bool negative = *text == '-';
	uint64_t sum = 0;

	if (negative || *text == '+')
		text++;
	if (!is_digit(*text))
		return false;
	for (; is_digit(*text); text++) {
		if (sum > (INT64_MAX - 9) / 10)
			return false;
		sum = sum * 10 + (uint64_t)(*text - '0');
	}
	*value = negative ? -(int64_t)sum : (int64_t)sum;
	*end = text;
	return true;
}

static bool parse_size(const char *text, int64_t *value)
{
	static const char suffixes[] = "KMG";
	const char *end;
	const char *suffix;

	if (!parse_whole(text, &end, value))
		return false;
	if (!*end)
		return true;
	suffix = strchr(suffixes, *end & ~0x20);
	if (!suffix || !*suffix)
		return false;
	end++;
	if (*end == 'i')
		end++;
	if (*end == 'B')
		end++;
	for (long i = suffix - suffixes; i >= 0; i--) {
		if (*value > INT64_MAX / 1024 || *value < 0)
			return false;
		*value *= 1024;
	}
	return !*end;
}

static bool parse_flag(const char *text, int64_t *value)
{
	static const char *const words[] = {"0",  "1",	 "off",	  "on",
					    "no", "yes", "false", "true"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(text, words[i])) {
			*value = i & 1;
			return true;
		}
	}
	return false;
}

static bool parse_choice(const char *text, const char *values, int64_t *value)
{
	const size_t len = strlen(text);

	for (int64_t index = 0; *values; index++) {
		const size_t word = strcspn(values, "|");

		if (word == len && !strncmp(values, text, len)) {
			*value = index;
			return true;
		}
		values += word + (values[word] == '|');
	}
	return false;
}

static bool parse_number(const struct option_row *row, const char *text,
			 int64_t *value)
{
	const char *end;

	switch (row->type) {
	case OPTION_INT:
		if (row->values[0] && parse_choice(text, row->values, value) &&
		    !*value)
			return true;
		return parse_whole(text, &end, value) && !*end &&
		       *value >= row->low && *value <= row->high;
	case OPTION_SIZE:
		return parse_size(text, value) && *value >= row->low &&
		       *value <= row->high;
	case OPTION_FLAG: return parse_flag(text, value);
	case OPTION_CHOICE:
		return parse_choice(text, row->values, value) ||
		       (!strncmp(row->values, "0|1", 3) &&
			parse_flag(text, value));
	case OPTION_TEXT: break;
	}
	return false;
}

/* What would have been right, in words. */
static void describe_values(const struct option_row *row, char *text,
			    size_t bytes)
{
	switch (row->type) {
	case OPTION_INT:
		log_format(text, bytes, "a whole number from %ld to %ld",
			   (long)row->low, (long)row->high);
		break;
	case OPTION_SIZE:
		log_format(text, bytes,
			   "bytes, at least %ld, such as 4096, 64K or 1M",
			   (long)row->low);
		break;
	case OPTION_FLAG: log_format(text, bytes, "0 or 1"); break;
	case OPTION_CHOICE:
		log_format(text, bytes, "one of %s", row->values);
		break;
	case OPTION_TEXT:
		log_format(text, bytes, "1 to %d bytes", OPTION_TEXT_BYTES - 1);
		break;
	}
}

static const struct option_row *find_row(const char *name)
{
	for (unsigned int i = 0; i < option_row_count; i++) {
		if (!strcmp(option_rows[i].name, name))
			return &option_rows[i];
	}
	return NULL;
}

static bool set_row(struct options *options, const struct option_row *row,
		    const char *value)
{
	void *field = (char *)options + row->offset;

	if (row->type == OPTION_TEXT) {
		const size_t len = strlen(value);

		if (!len || len >= OPTION_TEXT_BYTES)
			return false;
		memcpy(field, value, len + 1);
		return true;
	}
	return parse_number(row, value, field);
}

/* Stores only what parses: parse_number() may have written the field. */
static bool set_row_checked(struct options *options,
			    const struct option_row *row, const char *value)
{
	int64_t number;

	if (row->type != OPTION_TEXT && !parse_number(row, value, &number))
		return false;
	return set_row(options, row, value);
}

/* A whole number up to `most`, -1: it is none. */
static int parse_up_to(const char *text, int most)
{
	int number = 0;

	if (!*text)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || number > most)
			return -1;
		number = number * 10 + (*text - '0');
	}
	return number <= most ? number : -1;
}

/* RTMIN, RTMIN+3, RTMAX-2; -1 otherwise. */
static int parse_real_time(const char *text)
{
	const bool is_least = !strncmp(text, "RTMIN", 5);
	const int span = SIGRTMAX - SIGRTMIN;
	int offset;

	if (!is_least && strncmp(text, "RTMAX", 5) != 0)
		return -1;
	text += 5;
	if (!*text)
		return is_least ? SIGRTMIN : SIGRTMAX;
	if (*text != (is_least ? '+' : '-'))
		return -1;
	offset = parse_up_to(text + 1, span);
	if (offset < 0)
		return -1;
	return is_least ? SIGRTMIN + offset : SIGRTMAX - offset;
}

static int parse_signal(const char *text)
{
	int number = parse_up_to(text, SIGRTMAX);

	if (number > 0)
		return number;
	if (!strncmp(text, "SIG", 3))
		text += 3;
	number = parse_real_time(text);
	for (int i = 1; number < 0 && i < SIGRTMIN; i++) {
		const char *name = sigabbrev_np(i);

		if (name && !strcmp(text, name))
			number = i;
	}
	return number;
}

static bool has_no_meaning(int number)
{
	return number == SIGUSR1 || number == SIGUSR2 || number == SIGIO ||
	       number == SIGPWR || (number >= SIGRTMIN && number <= SIGRTMAX);
}

int signal_name_parse(const char *text, char *why, size_t why_bytes)
{
	const int number = parse_signal(text);

	if (!strcmp(text, "none"))
		return 0;
	if (number > 0 && has_no_meaning(number))
		return number;
	log_format(why, why_bytes,
		   "TRACEPROF_SIGNAL=%.64s %s: it takes USR1, USR2 or RTMIN to "
		   "RTMAX; using none",
		   text,
		   number > 0 ? "has a meaning of its own and can't be used"
			      : "is no signal");
	return -EINVAL;
}

void options_default(struct options *options)
{
	memset(options, 0, sizeof(*options));
	for (unsigned int i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];

		/* ACTIVE's 0 means "not given" and is below its range. */
		if (row->fallback[0] && strcmp(row->fallback, "0") != 0)
			set_row(options, row, row->fallback);
	}
}

static int gzip_check(const char *text, char *why, size_t why_bytes)
{
	if (!text[0] || !strcmp(text, "auto") || !strcmp(text, "fast") ||
	    !strcmp(text, "off") ||
	    (!strncmp(text, "zlib:", 5) && text[5] >= '1' && text[5] <= '9' &&
	     !text[6]))
		return 0;
	log_format(why, why_bytes,
		   PREFIX "GZIP=%.64s is not valid: it takes auto, fast, "
			  "zlib:1 to zlib:9 or off; using auto",
		   text);
	return -EINVAL;
}

/* Texts with a grammar of their own. */
static int check_text(enum option_index index, const char *value, char *why,
		      size_t why_bytes)
{
	struct stack_choice stacks;
	struct flight flight;

	switch (index) {
	case OPTION_AT_stack:
		return stack_choice_parse(value, &stacks, why, why_bytes);
	case OPTION_AT_gzip: return gzip_check(value, why, why_bytes);
	case OPTION_AT_signal:
		return signal_name_parse(value, why, why_bytes) < 0 ? -EINVAL
								    : 0;
	case OPTION_AT_flight:
		return flight_parse_length(value, &flight, why, why_bytes);
	case OPTION_AT_trigger:
		return flight_parse_triggers(value, &flight, why, why_bytes);
	default: return 0;
	}
}

int options_set(struct options *options, const char *name, const char *value,
		char *why, size_t why_bytes)
{
	const struct option_row *row = find_row(name);
	char right[128];

	if (!row) {
		log_format(why, why_bytes,
			   "unknown setting " PREFIX
			   "%.*s: did you mean " PREFIX "%s?",
			   NAME_LEN_MAX, name, options_nearest(name));
		return -ENOENT;
	}
	if (check_text((enum option_index)(row - option_rows), value, why,
		       why_bytes))
		return -EINVAL;
	if (!set_row_checked(options, row, value)) {
		describe_values(row, right, sizeof(right));
		log_format(why, why_bytes,
			   PREFIX "%s=%.*s is not valid: it takes %s; using %s",
			   row->name, 64, value, right,
			   row->fallback[0] == '0' && row->low > 0
				   ? "none"
				   : row->fallback);
		return -EINVAL;
	}
	options->set |= UINT64_C(1) << (row - option_rows);
	return 0;
}

static bool is_internal(const char *name)
{
	for (size_t i = 0;
	     i < sizeof(internal_names) / sizeof(internal_names[0]); i++) {
		if (!strcmp(internal_names[i], name))
			return true;
	}
	return false;
}

static bool is_given(const char *text, const char *none)
{
	return text[0] && strcmp(text, none) != 0;
}

void options_read(struct options *options, char *const *environment,
		  void (*complain)(const char *line))
{
	char name[NAME_LEN_MAX + 1];
	char why[LOG_LINE_BYTES];

	for (; environment && *environment; environment++) {
		const char *entry = *environment;
		const char *value;
		size_t len;

		if (strncmp(entry, PREFIX, PREFIX_LEN) != 0)
			continue;
		entry += PREFIX_LEN;
		value = strchr(entry, '=');
		if (!value)
			continue;
		len = (size_t)(value - entry);
		if (len > NAME_LEN_MAX)
			len = NAME_LEN_MAX;
		memcpy(name, entry, len);
		name[len] = '\0';
		if (is_internal(name))
			continue;
		if (options_set(options, name, value + 1, why, sizeof(why)))
			complain(why);
	}
	if (is_given(options->trigger, "none") &&
	    !is_given(options->flight, "off"))
		complain(PREFIX "TRIGGER does nothing without " PREFIX
				"FLIGHT, such as 10s");
}

/* "unknown" for an index out of range: a session may be damaged. */
static const char *choice_word(const char *values, int64_t index, size_t *len)
{
	size_t word = strcspn(values, "|");

	for (; index > 0 && values[word]; index--) {
		values += word + 1;
		word = strcspn(values, "|");
	}
	if (index)
		values = "unknown";
	*len = strcspn(values, "|");
	return values;
}

void options_text(const struct options *options, unsigned int index, char *text,
		  size_t bytes)
{
	const struct option_row *row = &option_rows[index];
	const void *field = (const char *)options + row->offset;
	int64_t number;

	if (row->type == OPTION_TEXT) {
		log_format(text, bytes, "%.*s", OPTION_TEXT_BYTES - 1,
			   (const char *)field);
		return;
	}
	number = *(const int64_t *)field;
	if (row->type == OPTION_CHOICE) {
		size_t len;
		const char *word = choice_word(row->values, number, &len);

		log_format(text, bytes, "%.*s", (int)len, word);
		return;
	}
	log_format(text, bytes, "%ld", (long)number);
}

unsigned int options_distance(const char *a, const char *b)
{
	unsigned int row[NAME_LEN_MAX + 2];
	const size_t width = strnlen(b, NAME_LEN_MAX);

	for (size_t j = 0; j <= width; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 0; a[i] && i < NAME_LEN_MAX; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i + 1;
		for (size_t j = 0; j < width; j++) {
			const unsigned int above = row[j + 1];
			unsigned int best = diagonal + (a[i] != b[j]);

			if (above + 1 < best)
				best = above + 1;
			if (row[j] + 1 < best)
				best = row[j] + 1;
			row[j + 1] = best;
			diagonal = above;
		}
	}
	return row[width];
}

const char *options_nearest(const char *name)
{
	const char *nearest = option_rows[0].name;
	unsigned int least = UINT32_MAX;

	for (unsigned int i = 0; i < option_row_count; i++) {
		const unsigned int d =
			options_distance(name, option_rows[i].name);

		if (d < least) {
			least = d;
			nearest = option_rows[i].name;
		}
	}
	return nearest;
}

bool options_have_schedule(const struct options *options)
{
	static const enum option_index rows[] = {
		OPTION_AT_skip_first, OPTION_AT_skip_first_wait,
		OPTION_AT_wait,	      OPTION_AT_warmup,
		OPTION_AT_active,     OPTION_AT_repeat};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (options_is_set(options, rows[i]))
			return true;
	}
	return false;
}
