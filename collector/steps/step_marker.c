/* SPDX-License-Identifier: MIT */
/* step_marker.c - what TRACEPROF_STEP says; see steps.h. */
#include "collector/steps/steps.h"

#include "collector/steps/step_file.h"
#include "collector/system/log.h"
#include <errno.h>
#include <string.h>

/* "text/N": the divisor, and the length of what stands before it; all of it
 * where there is none, or 0. */
static size_t split_divisor(const char *text, uint64_t *divisor)
{
	const char *slash = strrchr(text, '/');
	uint64_t value = 0;

	*divisor = 1;
	if (!slash || !slash[1])
		return strlen(text);
	for (const char *c = slash + 1; *c; c++) {
		if (*c < '0' || *c > '9' || value > UINT32_MAX)
			return strlen(text);
		value = value * 10 + (uint64_t)(*c - '0');
	}
	if (!value)
		return strlen(text);
	*divisor = value;
	return (size_t)(slash - text);
}

static int parse_period(const char *text, size_t len, uint64_t *period_ns)
{
	uint64_t ms = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || ms > 1000000000)
			return -EINVAL;
		ms = ms * 10 + (uint64_t)(text[i] - '0');
	}
	*period_ns = ms * 1000000;
	return ms ? 0 : -EINVAL;
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && !strncmp(text, word, len);
}

/* "omp:GLOB" and its like. */
static bool parse_glob(const char *text, size_t len, struct step_marker *made)
{
	static const struct {
		const char *word;
		enum step_source source;
	} known[] = {{"omp:", STEP_OMP},
		     {"range:", STEP_NVTX},
		     {"nvtx:", STEP_NVTX}, /* as it was called at first */
		     {"kernel:", STEP_KERNEL},
		     {"cuda:", STEP_CUDA}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const size_t begin = strlen(known[i].word);

		if (len <= begin || len >= sizeof(made->glob) ||
		    strncmp(text, known[i].word, begin))
			continue;
		made->source = known[i].source;
		memcpy(made->glob, text + begin, len - begin);
		return true;
	}
	return false;
}

/* A function's name, a kernel's or a call's has no such thing, so that it would
 * never match: NULL it may.  A range may be called so. */
static const char *never_matches(const struct step_marker *made)
{
	const char *slash = strrchr(made->glob, '/');
	const char *bracket = strrchr(made->glob, '[');

	if (made->source == STEP_NVTX)
		return NULL;
	if (slash && slash[1] && !slash[1 + strspn(slash + 1, "0123456789")])
		return "after / comes a count from 1 on";
	if (bracket && !strchr(bracket, ']'))
		return "its [ has no ]";
	return NULL;
}

static int parse(const char *text, struct step_marker *made, char *why,
		 size_t why_bytes)
{
	const char *fault;
	size_t len;

	memset(made, 0, sizeof(*made));
	len = split_divisor(text, &made->divisor);
	if (is_word(text, len, "auto")) {
		made->source = STEP_AUTO;
		return 0;
	}
	if (is_word(text, len, "api")) {
		made->source = STEP_API;
		return 0;
	}
	if (is_word(text, len, "manual")) {
		made->source = STEP_MANUAL;
		return 0;
	}
	if (len > 5 && !strncmp(text, "time:", 5) &&
	    !parse_period(text + 5, len - 5, &made->period_ns)) {
		made->source = STEP_TIME;
		return 0;
	}
	if (parse_glob(text, len, made)) {
		fault = never_matches(made);
		if (!fault)
			return 0;
		log_format(why, why_bytes,
			   "TRACEPROF_STEP=%.*s is not valid: %s; using auto",
			   64, text, fault);
		*made = (struct step_marker){.source = STEP_AUTO, .divisor = 1};
		return -EINVAL;
	}
	log_format(why, why_bytes,
		   "TRACEPROF_STEP=%.*s is not valid: it takes auto, api, "
		   "manual, time:MS, omp:GLOB, range:GLOB, kernel:GLOB or "
		   "cuda:GLOB, each with /N, or @FILE; using auto",
		   64, text);
	made->source = STEP_AUTO;
	made->divisor = 1;
	return -EINVAL;
}

int steps_parse(const char *text, struct step_marker *made, char *why,
		size_t why_bytes)
{
	char line[OPTION_TEXT_BYTES];
	struct search_wanted wanted;
	int rc;

	if (text[0] != '@')
		return parse(text, made, why, why_bytes);
	if (!step_file_read(text + 1, line, sizeof(line), &wanted)) {
		rc = parse(line, made, why, why_bytes);
		made->wanted = wanted;
		return rc;
	}
	log_format(why, why_bytes,
		   "TRACEPROF_STEP=%.*s can't be read; using auto", 64, text);
	*made = (struct step_marker){.source = STEP_AUTO, .divisor = 1};
	return -ENOENT;
}
