/* SPDX-License-Identifier: MIT */
/*
 * head_contract.h - the rules for everything outside traceEvents: the keys
 * that readers need, the rank, and traceprof's own accounts.
 */
#ifndef TOOLS_HEAD_CONTRACT_H
#define TOOLS_HEAD_CONTRACT_H

#include "tools/fault_list.h"
#include "tools/name_table.h"

/* traceprof's own counts of events; -1 not in the file. */
struct event_account {
	int64_t seen, written, cut, dropped;
	int64_t dropped_by_kind, dropped_by_thread; /* sums */
	int64_t threads;   /* that dropped_by_thread names */
	int64_t aged;	   /* of those that were cut; -1 not said */
	int64_t strangers; /* calls of threads without room: in no sum */
};

struct head_contract {
	struct name_table keys; /* of the file */
	unsigned int required;	/* bit i: that one is there and right */
	bool has_rank;
	struct event_account account;
};

void head_contract_begin(struct head_contract *head);
void head_contract_entry(struct head_contract *head, struct fault_list *faults,
			 const struct trace_entry *entry);
void head_contract_end(struct head_contract *head, struct fault_list *faults);

/* Takes an entry into the account if it belongs there. */
void event_account_entry(struct event_account *account,
			 const struct trace_entry *entry);

#endif
