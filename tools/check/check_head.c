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
	if (!strcmp(entry->path, "distributedInfo") && entry->after_events)
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

static void check_account(const struct trace_metadata *account,
			  struct fault_list *faults)
{
	if (account->seen >= 0 &&
	    account->seen !=
		    saturate_add(account->written,
				 saturate_add(account->cut, account->dropped)))
		fault_add(faults, RULE_ACCOUNT, NULL,
			  "%" PRId64 " events seen, but %" PRId64 " written, "
			  "%" PRId64 " cut and %" PRId64 " dropped",
			  account->seen, account->written, account->cut,
			  account->dropped);
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
	if (account->aged > account->cut)
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

void check_head_end(struct check_head *head, struct fault_list *faults)
{
	for (size_t at = 0; at < REQUIRED_COUNT; at++)
		if (!(head->required & 1u << at))
			fault_add(faults, RULE_KEYS, NULL, "%s is missing",
				  required[at].key);
	if (!head->has_rank)
		fault_add(faults, RULE_RANK, NULL,
			  "distributedInfo has no rank");
	check_account(&head->metadata, faults);
	check_kernels(&head->metadata, faults);
	key_table_free(&head->keys);
}
