/* SPDX-License-Identifier: MIT */
/* gpu_label.h - what the events of a GPU are called; for totals.c. */
#ifndef WRITER_GPU_LABEL_H
#define WRITER_GPU_LABEL_H

#include "writer/state/totals.h"

/* What tells the labels of such events apart. */
void gpu_label_key(const struct event *event, struct label *key);

/* The name, and its category. */
void gpu_label_text(const struct session *session, const struct label *key,
		    char *text, size_t bytes);
const char *gpu_label_category(const struct label *key);

/* Of what holds a clock down, in NVML's bits, what slows work. */
uint32_t gpu_label_throttling(uint32_t reasons);

/* "Stream Sync" and its like. */
const char *gpu_label_sync(uint32_t type);

#endif
