/* SPDX-License-Identifier: MIT */
/*
 * check_head.c - checks what lies outside traceEvents.
 */
#include "tools/check/check.h"

#include <inttypes.h>
#include <string.h>

#include "tools/util/numbers.h"

static const struct {
	const char *key;
	enum trace_type type;
} required[] = {
	{"schemaVersion", TRACE_NUMBER},
	{"deviceProperties", TRACE_ARRAY},
	{"displayTimeUnit", TRACE_STRING},
	{"baseTimeNanoseconds", TRACE_NUMBER},
	{"distributedInfo", TRACE_OBJECT},
	{"traceEvents", TRACE_ARRAY},
};

#define REQUIRED_COUNT (sizeof(required) / sizeof(required[0]))

static bool has_key(const struct check_head *head, const char *key)
{
	for (uint32_t at = 0; at < head->keys.count; at++)
		if (!strcmp(key_table_key(&head->keys, at, NULL), key))
			return true;
	return false;
}

static void check_key(struct check_head *head, struct fault_list *faults,
		      const struct trace_entry *entry)
{
	const size_t before = head->keys.count;

	key_table_number(&head->keys, entry->path, strlen(entry->path));
	if (head->keys.count == before)
		fault_add(faults, RULE_OBJECT, NULL, "the key %s stands twice",
			  entry->path);
	for (size_t at = 0; at < REQUIRED_COUNT; at++) {
		if (strcmp(entry->path, required[at].key))
			continue;
		head->required |= 1u << at;
		if (entry->value.type != required[at].type)
			fault_add(faults, RULE_KEYS, NULL,
				  "%s has the wrong type", entry->path);
	}
	if (!strcmp(entry->path, "displayTimeUnit") &&
	    !trace_value_is(&entry->value, "ms") &&
	    !trace_value_is(&entry->value, "ns"))
		fault_add(faults, RULE_KEYS, NULL,
			  "displayTimeUnit is neither ms nor ns");
	/* In ours it stands there where the rank was told late. */
	if (!strcmp(entry->path, "distributedInfo") && entry->after_events &&
	    !has_key(head, "traceprof_version"))
		fault_add(faults, RULE_HEAD, NULL,
			  "distributedInfo comes after traceEvents");
}

void check_head_entry(struct check_head *head, struct fault_list *faults,
		      const struct trace_entry *entry)
{
	int64_t rank;

	if (entry->flaws & ~(unsigned int)TEXT_FLAW_RANK) {
		char where[80];

		snprintf(where, sizeof(where), "%.60s: ", entry->path);
		check_flaws(faults, NULL, entry->flaws, where);
	}
	if (entry->depth == 1)
		check_key(head, faults, entry);
	trace_metadata_entry(&head->metadata, entry);
	trace_sampled_entry(&head->sampled, entry);
	if (strcmp(entry->path, "distributedInfo.rank"))
		return;
	head->has_rank = true;
	if (entry->value.type != TRACE_NUMBER ||
	    decimal_to_integer(entry->value.text, entry->value.len, &rank))
		fault_add(faults, RULE_RANK, NULL, "rank is not an integer");
	if (entry->flaws & TEXT_FLAW_RANK)
		fault_add(faults, RULE_RANK, NULL,
			  "\"rank\" is not followed by a colon and a blank, so "
			  "some readers take rank 0");
}

/* What one number says in all, others say by reason. */
static void check_parts(const struct trace_metadata *account,
			struct fault_list *faults)
{
	if (account->outside >= 0 &&
	    account->cut != saturate_add(account->outside,
					 saturate_add(account->past_max,
						      account->unwritable)))
		fault_add(faults, RULE_ACCOUNT, NULL,
			  "%" PRId64 " events cut, but %" PRId64 " outside "
			  "the windows, %" PRId64 " past the limit and %" PRId64
			  " unwritable",
			  account->cut, account->outside, account->past_max,
			  account->unwritable);
	if (saturate_add(account->unfollowed_calls, account->held_up_calls) >
	    account->unrecorded_calls)
		fault_add(faults, RULE_ACCOUNT, NULL,
			  "%" PRId64 " calls without an event, but %" PRId64
			  " not followed and %" PRId64 " held up",
			  account->unrecorded_calls, account->unfollowed_calls,
			  account->held_up_calls);
	if (account->unnamed && !account->names_refused)
		fault_add(faults, RULE_ACCOUNT, NULL,
			  "%" PRId64 " events without their names, but no name "
			  "was refused",
			  account->unnamed);
	if (account->waits_begun >= 0 &&
	    account->waits_begun !=
		    saturate_add(account->waits_ended, account->waits_lost))
		fault_add(faults, RULE_ACCOUNT, NULL,
			  "%" PRId64 " waits at regions' ends, but %" PRId64
			  " in windows or outside and %" PRId64 " lost",
			  account->waits_begun, account->waits_ended,
			  account->waits_lost);
}

static void check_account(const struct trace_metadata *account,
			  struct fault_list *faults)
{
	/* Older files have these calls in no sum. */
	const bool has_parts = account->outside >= 0;
	const int64_t missing =
		has_parts ? saturate_add(account->unrecorded_calls,
					 account->missed_calls)
			  : 0;

	if (account->seen >= 0 &&
	    account->seen !=
		    saturate_add(
			    account->written,
			    saturate_add(
				    account->cut,
				    saturate_add(account->dropped,
						 saturate_add(account->thinned,
							      missing)))))
		fault_add(faults, RULE_ACCOUNT, NULL,
			  "%" PRId64 " events seen, but %" PRId64 " written, "
			  "%" PRId64 " cut, %" PRId64 " dropped, %" PRId64
			  " thinned and %" PRId64 " calls without one",
			  account->seen, account->written, account->cut,
			  account->dropped, account->thinned, missing);
	check_parts(account, faults);
	if (account->written_by_kind >= 0 &&
	    account->written_by_kind != account->written)
		fault_add(faults, RULE_ACCOUNT, NULL,
			  "%" PRId64 " events written, but %" PRId64 " by kind",
			  account->written, account->written_by_kind);
	if (account->in_file > account->written)
		fault_add(faults, RULE_ACCOUNT, NULL,
			  "%" PRId64 " events in this file, but %" PRId64
			  " written in all",
			  account->in_file, account->written);
	if (account->aged > (has_parts ? account->outside : account->cut))
		fault_add(faults, RULE_ACCOUNT, NULL,
			  "%" PRId64 " events aged, but only %" PRId64 " cut",
			  account->aged, account->cut);
	if (account->dropped_by_kind >= 0 &&
	    account->dropped_by_kind != account->dropped)
		fault_add(faults, RULE_ACCOUNT, NULL,
			  "%" PRId64 " events dropped, but %" PRId64 " by kind",
			  account->dropped, account->dropped_by_kind);
	if (account->dropped_by_thread >= 0 &&
	    account->dropped_by_thread != account->dropped &&
	    (account->threads < TRACE_THREADS_NAMED ||
	     account->dropped_by_thread > account->dropped))
		fault_add(faults, RULE_ACCOUNT, NULL,
			  "%" PRId64 " events dropped, but %" PRId64
			  " by thread",
			  account->dropped, account->dropped_by_thread);
}

static uint32_t drawn_number(struct check_head *head, const char *part,
			     const char *name)
{
	char key[512];

	snprintf(key, sizeof(key), "%s %s", part, name);
	head->drawn.row_bytes = sizeof(uint64_t);
	return key_table_number(&head->drawn, key, strlen(key));
}

void check_head_slice(struct check_head *head, const struct trace_event *event)
{
	const struct trace_value part = trace_event_arg(event, "omp");

	if (part.type != TRACE_STRING)
		return;
	++*(uint64_t *)key_table_row(
		&head->drawn,
		drawn_number(head, part.text, event->field[FIELD_NAME].text));
}

void check_head_block(struct check_head *head, bool is_alloc)
{
	++*(uint64_t *)key_table_row(
		&head->drawn,
		drawn_number(head, is_alloc ? "alloc" : "free", "[memory]"));
}

/* Each call of a site is drawn or counted; what is drawn is in the file. */
static void check_sampled(struct check_head *head, struct fault_list *faults)
{
	const struct trace_metadata *account = &head->metadata;
	int64_t thinned = 0;

	for (size_t at = 0; at < head->sampled.count; at++) {
		const struct trace_sampled_row *row = &head->sampled.rows[at];
		uint64_t drawn;

		if (!row->name || !row->part)
			continue;
		thinned = saturate_add(thinned, row->thinned);
		drawn = *(uint64_t *)key_table_row(
			&head->drawn, drawn_number(head, row->part, row->name));
		if (row->seen != saturate_add(row->drawn, row->thinned))
			fault_add(faults, RULE_ACCOUNT, NULL,
				  "%" PRId64 " calls of \"%s\" seen, but "
				  "%" PRId64 " drawn and %" PRId64 " thinned",
				  row->seen, row->name, row->drawn,
				  row->thinned);
		else if (account->detail_ended_ns < 0 &&
			 (account->past_max <= 0 ||
			  !trace_sampled_is_heap(row)) &&
			 drawn != (uint64_t)row->drawn)
			fault_add(faults, RULE_ACCOUNT, NULL,
				  "%" PRId64 " calls of \"%s\" drawn, but "
				  "%" PRIu64 " slices are in the file",
				  row->drawn, row->name, drawn);
	}
	/* The sums of a file lie in those of the run so far. */
	if (thinned > account->thinned ||
	    (head->sampled.count && account->in_file == account->written &&
	     thinned != account->thinned))
		fault_add(faults, RULE_ACCOUNT, NULL,
			  "%" PRId64 " calls thinned, but %" PRId64 " by site",
			  account->thinned, thinned);
}

/* A GPU that is behind loses the last of them; a window without any shows an
 * idle GPU which was not. */
static void check_kernels(const struct trace_metadata *account,
			  struct fault_list *faults)
{
	if (account->launched_kernels > 0 &&
	    account->missing_kernels - account->partial_graphs >=
		    account->launched_kernels)
		fault_add(faults, RULE_KERNELS, NULL,
			  "%" PRId64 " launches of kernels, and no kernel",
			  account->launched_kernels);
}

/* Some of them lack theirs.  In a file that isn't finished they may come. */
static void check_missing(const struct trace_metadata *account,
			  struct fault_list *faults)
{
	if (account->missing_kernels <= 0 || account->is_unfinished ||
	    faults->found[RULE_KERNELS])
		return;
	fault_add(
		faults, RULE_LAUNCHES, NULL,
		"of %" PRId64 " launches of kernels %" PRId64 " lack kernels%s",
		account->launched_kernels, account->missing_kernels,
		account->partial_graphs > 0 ? ", graphs a part of theirs" : "");
}

/* The writer says so itself, and nothing in the file shows it. */
static void check_known(const struct trace_metadata *account,
			struct fault_list *faults)
{
	if (account->unpaired_calls > 0)
		fault_add(faults, RULE_KNOWN, NULL,
			  "%" PRId64 " calls of CUDA's driver may be those of "
			  "its runtime's, which are here too",
			  account->unpaired_calls);
	if (account->unknown_captures > 0)
		fault_add(faults, RULE_KNOWN, NULL,
			  "%" PRId64
			  " launches may have gone into a graph, and "
			  "count as launches without a kernel",
			  account->unknown_captures);
}

void check_head_end(struct check_head *head, struct fault_list *faults)
{
	faults->is_torchs =
		has_key(head, "traceName") && !has_key(head, "traceprof");
	for (size_t at = 0; at < REQUIRED_COUNT; at++)
		if (!(head->required & 1u << at))
			fault_add(faults, RULE_KEYS, NULL, "%s is missing",
				  required[at].key);
	if (!head->has_rank)
		fault_add(faults, RULE_RANK, NULL,
			  "distributedInfo has no rank");
	check_account(&head->metadata, faults);
	check_sampled(head, faults);
	check_kernels(&head->metadata, faults);
	check_missing(&head->metadata, faults);
	check_known(&head->metadata, faults);
	key_table_free(&head->keys);
	key_table_free(&head->drawn);
	trace_sampled_free(&head->sampled);
}
