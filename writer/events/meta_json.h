/* SPDX-License-Identifier: MIT */
/*
 * meta_json.h - the rows of a trace: names and order of processes and lanes.
 *
 * Metadata events only ever have the five names that readers know.
 */
#ifndef WRITER_META_JSON_H
#define WRITER_META_JSON_H

#include "writer/state/writer_state.h"

/* The process's three, each beginning with ",\n" but the first, which begins
 * the event array. */
void meta_json_process(struct writer_state *state, struct json *json,
		       uint64_t ts_ns);

/* An event of a thread that may tell what the thread is for; its lane is named
 * after that then. */
void meta_json_see(struct ring_reader *reader, const struct event *event);

/* Names a lane of a thread in the present file, once. */
void meta_json_lane(struct writer_state *state, struct ring_reader *reader,
		    unsigned int lane);

/* Names the lane for our own cost, and gives its tid. */
uint64_t meta_json_writer(struct writer_state *state);

/* A row of any process. */
void meta_json_row(struct writer_state *state, uint64_t pid, uint64_t tid,
		   uint64_t index, const char *name);

/* A device's process: its three. */
void meta_json_gpu(struct writer_state *state, uint32_t device);

/* tid of a lane as the file shows it. */
uint64_t meta_json_tid(const struct writer_state *state,
		       const struct ring_reader *reader, unsigned int lane);

#endif
