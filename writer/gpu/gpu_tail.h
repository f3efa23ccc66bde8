/* SPDX-License-Identifier: MIT */
/* gpu_tail.h - what a trace's metadata says about GPUs. */
#ifndef WRITER_GPU_TAIL_H
#define WRITER_GPU_TAIL_H

#include "writer/state/writer_state.h"

/* deviceProperties and versions: keys of the top level. */
void gpu_tail_devices(const struct writer_state *state, struct json *json);

/* Counts and what went wrong: a key of our own object. */
void gpu_tail_account(const struct writer_state *state, struct json *json);

#endif
