/* SPDX-License-Identifier: MIT */
/*
 * check.h - one trace file against all rules of the format.
 *
 * check.c reads the file and hands each event to check_event.c, which knows
 * the rules that an event can break by itself, and to check_flows.c, which
 * pairs arrows with slices; check_head.c has what lies outside traceEvents.
 * Each fault is printed at once, on one line that begins with its place; past
 * FAULT_LINES_MAX lines of one rule the rest is only counted.
 */
#ifndef TOOLS_CHECK_H
#define TOOLS_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/trace/trace_metadata.h"
#include "tools/trace/trace_sampled.h"
#include "tools/trace/trace_reader.h"
#include "tools/util/key_table.h"

#define FAULT_LINES_MAX 20u

/* X(symbol, number, is a warning only, what the rule says) */
/* clang-format off */
#define RULES(X)							\
	X(MEMBER,   "1",  0, "one gzip member, complete, nothing after it") \
	X(OBJECT,   "2",  0, "one JSON object; each of its keys once")	\
	X(EVENT,    "3",  0, "traceEvents is not empty and holds objects that have ph and name") \
	X(SLICE,    "4",  0, "an X event has cat, ts, dur, pid and tid") \
	X(ARGS,     "5",  0, "args is an object")			\
	X(TIME,     "6",  0, "ts and dur are numbers, not negative, with at most three decimals") \
	X(NUMBER,   "7",  0, "no NaN and no infinity, quoted neither")	\
	X(STRING,   "8",  0, "strings are UTF-8 without raw control characters and without surrogate escapes") \
	X(METADATA, "9",  0, "an M event has one of five names, and that name's arg") \
	X(FLOW,     "10", 0, "a flow has an integer id, one start and an end, on slices with that correlation") \
	X(FLOW_END, "11", 0, "a flow's ends carry the pid, tid and ts of their slices") \
	X(ORDER,    "12", 0, "nothing runs on the GPU before its launch") \
	X(STREAM,   "13", 0, "args.stream stands on GPU activities alone") \
	X(STEP,     "14", 0, "a name that begins with ProfilerStep is ProfilerStep#<number>") \
	X(NESTING,  "15", 0, "slices of one pid and tid nest or are disjoint") \
	X(RANK,     "16", 0, "distributedInfo has \"rank\": N, an integer with a blank before it") \
	X(KEYS,     "17", 0, "the keys that every reader needs are there") \
	X(SIZE,     "18", 0, "a .gz file has at least 4096 bytes")	\
	X(PID,      "19", 0, "a process has a pid above 15, which GPUs do not use") \
	X(ACCOUNT,  "20", 0, "traceprof's own counts add up")		\
	X(KERNELS,  "28", 0, "where kernels were launched there are some") \
	X(KNOWN,    "29", 1, "of each call of CUDA it is known what it was") \
	X(LAUNCHES, "30", 1, "each launch of kernels has its kernels")	\
	X(INSTANT,  "21", 0, "an instant's s is g, p or t")		\
	X(FILE,     "22", 1, "the file is called <worker>.<digits>.pt.trace.json.gz") \
	X(HEAD,     "23", 1, "distributedInfo comes before traceEvents") \
	X(FIRST,    "24", 1, "the first event is an M event")		\
	X(LANE,     "25", 1, "pids and tids fit in 32 bits and are not negative") \
	X(DEVICE,   "26", 1, "a GPU activity's pid is its device")	\
	X(PHASE,    "27", 1, "ph is one of X, i, C, M, s and f")
/* clang-format on */

enum check_rule {
#define X(symbol, number, warning, text) RULE_##symbol,
	RULES(X)
#undef X
		RULE_COUNT
};

struct fault_list {
	const char *file;
	/* Of torch.profiler: what it does itself is worth a warning alone. */
	bool is_torchs;
	FILE *out;
	uint64_t found[RULE_COUNT];
};

/* A fault of the file, or of an event. */
void fault_add(struct fault_list *list, enum check_rule rule,
	       const struct trace_event *event, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A fault of an event that was seen before; name may be NULL. */
void fault_add_at(struct fault_list *list, enum check_rule rule, uint32_t index,
		  const char *name, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Prints "and N more" for each rule that ran over. */
void fault_list_end(const struct fault_list *list);

/* How many were found: faults, or warnings. */
uint64_t fault_list_sum(const struct fault_list *list, bool warnings);

/* The rules, one a line, for `traceprof check --rules`. */
void fault_list_rules(FILE *out);

/* The rules of one event.  True when its place in time is good enough for the
 * rules that compare it with others. */
bool check_event(struct fault_list *faults, const struct trace_event *event);

/* Adds a fault for each flaw of a text (enum text_flaw, TRACE_FLAW_*). */
void check_flaws(struct fault_list *faults, const struct trace_event *event,
		 unsigned int flaws, const char *where);

/* On which side of a launch an event stands. */
bool event_is_host(const struct trace_event *event);
bool event_is_launch(const struct trace_event *event);
bool event_is_gpu(const struct trace_event *event);

/* What lies outside traceEvents: the keys that readers need, the rank, and
 * traceprof's own counts. */
struct check_head {
	struct key_table keys; /* of the file */
	unsigned int required; /* bit i: that one is there and right */
	bool has_rank;
	struct trace_metadata metadata;
	struct trace_sampled sampled;
	struct key_table drawn; /* slices of OpenMP by part, blank, name:
				   uint64_t */
};

/* A slice, for the sites of which not every call is drawn. */
void check_head_slice(struct check_head *head, const struct trace_event *event);

/* A block of the host's heap. */
void check_head_block(struct check_head *head, bool is_alloc);

void check_head_entry(struct check_head *head, struct fault_list *faults,
		      const struct trace_entry *entry);
void check_head_end(struct check_head *head, struct fault_list *faults);

/* The arrows between launches and GPU work: a launch or GPU slice with
 * args.correlation, an s or f event, and what can be said at the end. */
void check_flows_slice(struct key_table *flows, const struct trace_event *event,
		       uint32_t lane);
void check_flows_arrow(struct key_table *flows, struct fault_list *faults,
		       const struct trace_event *event, uint32_t lane);
void check_flows_end(const struct key_table *flows, struct fault_list *faults);
/* How many launches have a kernel here. */
uint64_t check_flows_kernels(const struct key_table *flows);

struct check_result {
	uint64_t events;
	uint64_t faults, warnings;
	bool readable;
};

/* Reads the file and prints each fault on `out`, then a summary line; what
 * keeps it from being read goes to `out` too.  0, or -errno of the reader. */
int check_trace(const char *path, FILE *out, struct check_result *result);

#endif
