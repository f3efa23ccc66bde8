/* SPDX-License-Identifier: MIT */
/* gpu_tail.h - what a trace's metadata says about GPUs. */
#ifndef WRITER_GPU_TAIL_H
#define WRITER_GPU_TAIL_H

#include "writer/scribe.h"

/* deviceProperties and versions: keys of the top level. */
void gpu_tail_devices(const struct scribe *scribe, struct json *json);

/* Counts and what went wrong: a key of our own object. */
void gpu_tail_account(const struct scribe *scribe, struct json *json);

#endif
