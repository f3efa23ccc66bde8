/* SPDX-License-Identifier: MIT */
/*
 * sample_json.h - a slice of consecutive samples; what became of the others.
 */
#ifndef WRITER_SAMPLE_JSON_H
#define WRITER_SAMPLE_JSON_H

#include "writer/events/event_json.h"

#define SAMPLE_PLACES_MAX 16u

struct sample_frame {
	uint64_t code;		      /* of its first sample, as in a stack */
	uint64_t key;		      /* alike: the same function */
	const struct code_name *name; /* then, NULL of an interpreter's */
	uint64_t start_ns;
	uint64_t self_ns; /* while it was the innermost, */
	uint32_t samples; /* so many samples, */
	uint32_t place_count;
	struct {
		uint64_t code;
		uint32_t samples;
	} place[SAMPLE_PLACES_MAX]; /* at these places, all of them */
};

void sample_json(struct writer_state *state, struct ring_reader *reader,
		 const struct sample_frame *frame, struct event_span span);

/* "sampling" of the file's metadata: the timers' expirations beside the events.
 * Nothing without samples. */
void sampling_json(struct json *json, const struct writer_state *state);

#endif
