/* SPDX-License-Identifier: MIT */
/* flight.c - reads the flight recorder's settings; see flight.h. */
#include "collector/control/flight.h"

#include "collector/system/log.h"
#include "collector/control/options.h"
#include <errno.h>
#include <string.h>

#define SECOND_NS    UINT64_C(1000000000)
#define PERCENT_MOST 100000u

const char *flight_reason_word(unsigned int reason)
{
	static const char *const words[] = {
#define X(name, word) word,
		FLIGHT_REASONS(X)
#undef X
	};

	return reason < FLIGHT_REASON_COUNT ? words[reason] : "unknown";
}

/* A whole number before a unit; what follows, or NULL. */
static const char *parse_number(const char *text, uint64_t *value)
{
	const char *start = text;

	*value = 0;
	for (; *text >= '0' && *text <= '9' && *value < UINT32_MAX; text++)
		*value = *value * 10 + (uint64_t)(*text - '0');
	return text > start && *value && *value < UINT32_MAX ? text : NULL;
}

/* The text up to `len` is exactly this word. */
static bool is_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(text, word, len);
}

static bool parse_time(const char *text, size_t len, uint64_t *ns)
{
	uint64_t count;
	const char *unit = parse_number(text, &count);
	const size_t rest = unit ? len - (size_t)(unit - text) : 0;

	if (!unit || unit > text + len)
		return false;
	if (is_word(unit, rest, "s"))
		count *= SECOND_NS;
	else if (is_word(unit, rest, "ms"))
		count *= SECOND_NS / 1000;
	else
		return false;
	if (count > FLIGHT_SECONDS_MAX * SECOND_NS)
		return false;
	*ns = count;
	return true;
}

int flight_parse_length(const char *text, struct flight *flight, char *why,
			size_t why_bytes)
{
	const char *unit;
	uint64_t steps;

	flight->length_ns = 0;
	flight->steps = 0;
	if (!strcmp(text, "off"))
		return 0;
	if (parse_time(text, strlen(text), &flight->length_ns))
		return 0;
	flight->length_ns = 0;
	unit = parse_number(text, &steps);
	if (unit && (!strcmp(unit, "steps") || !strcmp(unit, "step")) &&
	    steps <= FLIGHT_STEPS_MAX) {
		flight->steps = (uint32_t)steps;
		return 0;
	}
	log_format(why, why_bytes,
		   "TRACEPROF_FLIGHT=%.64s is not valid: it takes 10s, 500ms "
		   "or 20steps (at most a day, %d steps); using off",
		   text, FLIGHT_STEPS_MAX);
	return -EINVAL;
}

/* "1.5": hundredths are enough. */
static bool parse_factor(const char *text, size_t len, uint32_t *percent)
{
	uint32_t value = 0;
	int decimals = -1;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '.' && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (text[i] < '0' || text[i] > '9' || value > PERCENT_MOST)
			return false;
		if (decimals == 2)
			continue;
		value = value * 10 + (uint32_t)(text[i] - '0');
		decimals += decimals >= 0;
	}
	for (decimals = decimals < 0 ? 0 : decimals; decimals < 2; decimals++)
		value *= 10;
	*percent = value;
	return len && value > 100 && value <= PERCENT_MOST;
}

static bool parse_trigger(const char *text, size_t len, struct flight *flight)
{
	enum flight_reason reason = FLIGHT_NONE;

	if (is_word(text, len, "cuda-error")) {
		reason = FLIGHT_CUDA_ERROR;
	} else if (is_word(text, len, "signal")) {
		reason = FLIGHT_SIGNAL;
	} else if (len > 5 && !memcmp(text, "slow:", 5)) {
		if (parse_time(text + 5, len - 5, &flight->slow_ns) ||
		    parse_factor(text + 5, len - 5, &flight->slow_percent))
			reason = FLIGHT_SLOW;
	} else if (len > 6 && !memcmp(text, "stall:", 6)) {
		if (parse_time(text + 6, len - 6, &flight->stall_ns))
			reason = FLIGHT_STALL;
	}
	if (!reason)
		return false;
	flight->triggers |= 1u << reason;
	return true;
}

int flight_parse_triggers(const char *text, struct flight *flight, char *why,
			  size_t why_bytes)
{
	const char *at = text;

	flight->triggers = 0;
	flight->slow_percent = 0;
	flight->slow_ns = 0;
	if (!strcmp(text, "none"))
		return 0;
	for (;;) {
		const size_t len = strcspn(at, ",");

		if (!parse_trigger(at, len, flight))
			break;
		at += len;
		if (!*at)
			return 0;
		at++;
	}
	flight->triggers = 0;
	log_format(why, why_bytes,
		   "TRACEPROF_TRIGGER=%.64s is not valid: it takes a list of "
		   "slow:1.5, slow:2s, stall:30s, cuda-error and signal, with "
		   "commas between; using none",
		   text);
	return -EINVAL;
}

void flight_from_options(const struct options *options, struct flight *flight)
{
	char why[LOG_LINE_BYTES];

	memset(flight, 0, sizeof(*flight));
	flight_parse_triggers(options->trigger, flight, why, sizeof(why));
	flight_parse_length(options->flight, flight, why, sizeof(why));
	flight->is_on = flight->length_ns || flight->steps;
}
