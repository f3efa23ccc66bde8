/* SPDX-License-Identifier: MIT */
/* site_json.c - the heap's sums by call stack; see site_json.h. */
#include "writer/events/site_json.h"

#include "writer/events/event_json.h"
#include "writer/events/stack_json.h"
#include "writer/text/schema.h"
#include <string.h>

static void head(struct writer_state *state, const char *name, uint64_t ts_ns)
{
	struct json *json = &state->json;

	event_json_instant(json, name);
	json_raw(json, "\"");
	json_pair_u64(json, SCHEMA_PID, state->pid);
	json_pair_u64(json, SCHEMA_TID, state->pid);
	json_raw(json, "," SCHEMA_KEY(SCHEMA_TIME));
	json_micros(json, (int64_t)ts_ns);
	json_raw(json, "," SCHEMA_KEY(SCHEMA_ARGS) "{");
}

/* Their order is the format's.  No keys: most of a file would be those. */
static void put_numbers(struct json *json, const int64_t *numbers, size_t count)
{
	while (count > 1 && !numbers[count - 1])
		count--;
	json_char(json, '"');
	for (size_t i = 0; i < count; i++) {
		if (i)
			json_char(json, ' ');
		json_i64(json, numbers[i]);
	}
	json_char(json, '"');
}

static void put_sums(struct json *json, const struct site_sums *sums,
		     const struct site_peaks *peaks)
{
	const struct site_peak *held = &peaks->held, *asked = &peaks->asked;
	const int64_t numbers[] = {
		(int64_t)sums->calls,	(int64_t)sums->bytes,
		(int64_t)sums->frees,	sums->live,
		sums->blocks,		(int64_t)sums->temporary,
		(int64_t)sums->foreign, held->bytes,
		held->blocks,
	};
	const int64_t spare[] = {
		sums->spare,
		sums->spare_live,
		held->bytes - asked->bytes,
		held->blocks - asked->blocks,
	};

	json_raw(json, SCHEMA_KEY(SCHEMA_SUMS));
	put_numbers(json, numbers, sizeof(numbers) / sizeof(numbers[0]));
	if (!(spare[0] || spare[1] || spare[2] || spare[3]))
		return;
	json_raw(json, "," SCHEMA_KEY(SCHEMA_SITE_SPARE));
	put_numbers(json, spare, sizeof(spare) / sizeof(spare[0]));
}

/* None has a peak, or both have. */
static void put_peaks(struct json *json, const struct heap_sums *all,
		      const struct site_peaks *peaks)
{
	if (!peaks->held.number)
		return;
	json_pair_u64(json, SCHEMA_SITE_PEAK_NUMBER, peaks->held.number);
	json_raw(json, "," SCHEMA_KEY(SCHEMA_SITE_PEAK_TIME));
	json_micros(json, (int64_t)all->peak_ns);
	json_pair_u64(json, SCHEMA_SITE_ASKED_NUMBER, peaks->asked.number);
	json_raw(json, "," SCHEMA_KEY(SCHEMA_SITE_ASKED_TIME));
	json_micros(json, (int64_t)all->asked_peak_ns);
}

static void end(struct json *json, size_t mark)
{
	json_raw(json, "}}");
	if (json->failed)
		json_back(json, mark);
}

void site_json(struct writer_state *state, uint64_t ts_ns, uint32_t stack,
	       const struct site_sums *sums, const struct site_peaks *peaks)
{
	struct json *json = &state->json;
	const size_t mark = json_mark(json);

	head(state, SCHEMA_SITE, ts_ns);
	put_sums(json, sums, peaks);
	if (stack)
		stack_json(state, stack);
	end(json, mark);
}

/* "5:12 6:1": so many of up to 2^5 bytes, 2^6 bytes. */
static void put_sizes(struct json *json, const uint64_t *sizes)
{
	bool is_first = true;

	json_raw(json, ",\"" SCHEMA_SITE_SIZES "\":\"");
	for (unsigned int i = 0; i < SITE_SIZES; i++) {
		if (!sizes[i])
			continue;
		if (!is_first)
			json_char(json, ' ');
		is_first = false;
		json_u64(json, i);
		json_char(json, ':');
		json_u64(json, sizes[i]);
	}
	json_char(json, '"');
}

void site_json_all(struct writer_state *state, uint64_t ts_ns,
		   const struct heap_sums *all, const struct site_peaks *peaks)
{
	struct json *json = &state->json;
	const size_t mark = json_mark(json);

	head(state, SCHEMA_SITES_ALL, ts_ns);
	put_sums(json, &all->sums, peaks);
	put_peaks(json, all, peaks);
	if (all->strange)
		json_pair_i64(json, SCHEMA_SITE_STRANGE, (int64_t)all->strange);
	if (all->lost)
		json_pair_u64(json, SCHEMA_SITE_LOST, all->lost);
	put_sizes(json, all->sizes);
	end(json, mark);
}
