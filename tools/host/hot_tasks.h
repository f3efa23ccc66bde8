/* SPDX-License-Identifier: MIT */
/*
 * hot_tasks.h - what the kernel counted of each thread, from a file's metadata.
 */
#ifndef TOOLS_HOT_TASKS_H
#define TOOLS_HOT_TASKS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/trace/trace_reader.h"

/* -1: the kernel doesn't say. */
struct hot_task {
	int64_t tid; /* 0: the process, threads that have ended included */
	int64_t ran_ns, ready_ns, wall_ns;
	int64_t minor_faults, major_faults;
	int64_t voluntary, involuntary, migrations;
	char name[32];
};

struct hot_tasks {
	struct hot_task *rows;
	size_t count, capacity;
	size_t begun; /* rows of the files before this one */
};

/* The next file. */
void hot_tasks_file(struct hot_tasks *tasks);
void hot_tasks_entry(struct hot_tasks *tasks, const struct trace_entry *entry);
void hot_tasks_free(struct hot_tasks *tasks);

/* A string of JSON. */
void hot_put_json(const char *text, FILE *out);

/* What the processes had of the processors, threads that ended included; 0 not
 * known. */
int64_t hot_tasks_all_ns(const struct hot_tasks *tasks);

/* Nothing where there are none. */
void hot_tasks_print(const struct hot_tasks *tasks, size_t top, FILE *out);
void hot_tasks_print_json(const struct hot_tasks *tasks, FILE *out);

#endif
