/* SPDX-License-Identifier: MIT */
/*
 * sim_event.h - CUDA events: a moment of a stream.
 */
#ifndef FAKE_GPU_SIM_EVENT_H
#define FAKE_GPU_SIM_EVENT_H

#include "tests/fake_gpu/sim_stream.h"

struct sim_event;

struct sim_event *event_new(int timing);
void event_free(struct sim_event *event);

/* 0 or a CUDA error.  Recorded in a capturing stream, the event is part of
 * that capture, and a stream that waits for it joins. */
int event_record(struct sim_event *event, struct sim_stream *stream);
int event_query(struct sim_event *event);
int event_synchronize(struct sim_event *event);
int event_wait(struct sim_stream *stream, struct sim_event *event);
int event_elapsed(struct sim_event *from, struct sim_event *to, float *ms);

#endif
