/* SPDX-License-Identifier: MIT */
/*
 * head_check.h - the rules for everything outside traceEvents: the keys
 * that readers need, the rank, and traceprof's own accounts.
 */
#ifndef TOOLS_HEAD_CHECK_H
#define TOOLS_HEAD_CHECK_H

#include "tools/check/fault_list.h"
#include "tools/util/name_table.h"

/* traceprof's own counts of events; -1 not in the file. */
struct event_account {
	int64_t seen, written, cut, dropped;
	int64_t dropped_by_kind, dropped_by_thread; /* sums */
	int64_t threads;	  /* that dropped_by_thread names */
	int64_t aged;		  /* of those that were cut; -1 not said */
	int64_t unrecorded_calls; /* calls of threads without room: in no sum */
};

struct head_check {
	struct name_table keys; /* of the file */
	unsigned int required;	/* bit i: that one is there and right */
	bool has_rank;
	struct event_account account;
};

void head_check_begin(struct head_check *head);
void head_check_entry(struct head_check *head, struct fault_list *faults,
		      const struct trace_entry *entry);
void head_check_end(struct head_check *head, struct fault_list *faults);

/* Takes an entry into the account if it belongs there. */
void event_account_entry(struct event_account *account,
			 const struct trace_entry *entry);

#endif
