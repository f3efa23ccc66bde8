/* SPDX-License-Identifier: MIT */
/*
 * meta_json.h - the rows of a trace: names and order of processes and lanes.
 *
 * Metadata events only ever have the five names that readers know.
 */
#ifndef WRITER_META_JSON_H
#define WRITER_META_JSON_H

#include "writer/scribe.h"

/* The process's three, each beginning with ",\n" but the first, which begins
 * the event array. */
void meta_json_process(struct scribe *scribe, struct json *json,
		       uint64_t ts_ns);

/* Names a lane of a thread in the present file, once. */
void meta_json_lane(struct scribe *scribe, struct track *track,
		    unsigned int lane);

/* The lane for our own cost. */
void meta_json_writer(struct scribe *scribe);

/* A row of any process. */
void meta_json_row(struct scribe *scribe, uint64_t pid, uint64_t tid,
		   uint64_t index, const char *name);

/* A device's process: its three. */
void meta_json_gpu(struct scribe *scribe, uint32_t device);

/* tid of a lane as the file shows it. */
uint64_t meta_json_tid(const struct scribe *scribe, const struct track *track,
		       unsigned int lane);

#endif
