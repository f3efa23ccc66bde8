/* SPDX-License-Identifier: MIT */
/*
 * head_check.c - checks what lies outside traceEvents.
 */
#include "tools/check/head_check.h"

#include <inttypes.h>
#include <string.h>

#include "tools/util/decimal.h"
#include "tools/check/event_check.h"
#include "tools/util/saturate.h"

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

/* The writer names no more threads than these. */
#define THREADS_NAMED  256
#define REQUIRED_COUNT (sizeof(required) / sizeof(required[0]))

void head_check_begin(struct head_check *head)
{
	memset(head, 0, sizeof(*head));
	head->account =
		(struct event_account){-1, -1, -1, -1, -1, -1, 0, -1, 0};
}

static bool integer(const struct trace_value *value, int64_t *number)
{
	return value->type == TRACE_NUMBER &&
	       decimal_to_integer(value->text, value->len, number) == 0;
}

static void take(int64_t *field, const struct trace_value *value)
{
	int64_t number;

	if (integer(value, &number))
		*field = number;
}

static void take_sum(int64_t *field, const struct trace_value *value)
{
	int64_t number;

	if (*field < 0)
		*field = 0;
	if (integer(value, &number))
		saturate_into(field, number);
}

void event_account_entry(struct event_account *account,
			 const struct trace_entry *entry)
{
	const char *path = entry->path;

	if (strncmp(path, "traceprof.", 10))
		return;
	path += 10;
	if (!strncmp(path, "events.", 7))
		path += 7;
	if (!strcmp(path, "seen")) {
		take(&account->seen, &entry->value);
	} else if (!strcmp(path, "written")) {
		take(&account->written, &entry->value);
	} else if (!strcmp(path, "cut")) {
		take(&account->cut, &entry->value);
	} else if (!strcmp(path, "dropped")) {
		take(&account->dropped, &entry->value);
	} else if (!strcmp(path, "aged")) {
		take(&account->aged, &entry->value);
	} else if (!strcmp(path, "unrecorded_calls")) {
		take(&account->unrecorded_calls, &entry->value);
	} else if (!strncmp(path, "dropped_by_kind.", 16)) {
		take_sum(&account->dropped_by_kind, &entry->value);
	} else if (!strncmp(path, "dropped_by_thread.", 18)) {
		take_sum(&account->dropped_by_thread, &entry->value);
		account->threads++;
	}
}

static void check_key(struct head_check *head, struct fault_list *faults,
		      const struct trace_entry *entry)
{
	const size_t before = head->keys.count;

	name_table_number(&head->keys, entry->path, strlen(entry->path));
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
			  "distributedInfo comes behind traceEvents");
}

void head_check_entry(struct head_check *head, struct fault_list *faults,
		      const struct trace_entry *entry)
{
	int64_t rank;

	if (entry->flaws & ~(unsigned int)TEXT_FLAW_RANK) {
		char where[80];

		snprintf(where, sizeof(where), "%.60s: ", entry->path);
		event_check_flaws(faults, NULL, entry->flaws, where);
	}
	if (entry->depth == 1)
		check_key(head, faults, entry);
	event_account_entry(&head->account, entry);
	if (strcmp(entry->path, "distributedInfo.rank"))
		return;
	head->has_rank = true;
	if (!integer(&entry->value, &rank))
		fault_add(faults, RULE_RANK, NULL, "rank is not an integer");
	if (entry->flaws & TEXT_FLAW_RANK)
		fault_add(faults, RULE_RANK, NULL,
			  "\"rank\" is not followed by a colon and a blank, so "
			  "some readers take rank 0");
}

static void check_account(const struct event_account *account,
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
	    (account->threads < THREADS_NAMED ||
	     account->dropped_by_thread > account->dropped))
		fault_add(faults, RULE_ACCOUNT, NULL,
			  "%" PRId64 " events dropped, but %" PRId64
			  " by thread",
			  account->dropped, account->dropped_by_thread);
}

void head_check_end(struct head_check *head, struct fault_list *faults)
{
	for (size_t at = 0; at < REQUIRED_COUNT; at++)
		if (!(head->required & 1u << at))
			fault_add(faults, RULE_KEYS, NULL, "%s is missing",
				  required[at].key);
	if (!head->has_rank)
		fault_add(faults, RULE_RANK, NULL,
			  "distributedInfo has no rank");
	check_account(&head->account, faults);
	name_table_free(&head->keys);
}
