/* SPDX-License-Identifier: MIT */
/* gpu_json.h - the fields of a GPU's events, in torch.profiler's order. */
#ifndef WRITER_GPU_JSON_H
#define WRITER_GPU_JSON_H

#include "writer/gpu/gpu_known.h"

/* Names the process of a device and a lane of it, once in a file. */
void gpu_json_row(struct writer_state *state, struct gpu_row *row,
		  uint32_t device, const char *name, uint64_t sort_index);

/* The device alone, once in a file. */
void gpu_json_device(struct writer_state *state, uint32_t device);

struct gpu_slice {
	const struct event *event;
	const struct label *label;
	const struct gpu_launch *launch; /* NULL unknown */
	const struct gpu_row *row;
	struct lane_span span;
	uint64_t moved_ns; /* so much later than CUPTI said, 0 not */
	bool is_of_call;   /* a CUDA event at its call's time */
};

/* pid, tid and time of an event; and a slice's text up to the brace that opens
 * its args. */
void gpu_json_place(struct json *json, uint64_t pid, uint64_t tid,
		    uint64_t ts_ns);
void gpu_json_head(struct json *json, unsigned int kind, const char *category,
		   const char *text, size_t len, uint64_t pid, uint64_t tid,
		   struct lane_span span);

void gpu_json_call(struct writer_state *state, const struct gpu_slice *slice,
		   uint64_t tid, uint64_t external_id, bool is_cut);
void gpu_json_work(struct writer_state *state, const struct gpu_slice *slice);
void gpu_json_overhead(struct writer_state *state, const struct gpu_row *row,
		       const char *text, size_t len, struct lane_span span);
void gpu_json_memory(struct writer_state *state, const struct event *event,
		     uint64_t tid, uint64_t ts_ns, int64_t total,
		     uint64_t external_id);
void gpu_json_annotation(struct writer_state *state, const struct gpu_row *row,
			 const struct gpu_link *link, struct lane_span span);

/* At the window's end: so many launches of kernels, and some of their kernels
 * missing. */
void gpu_json_missing(struct writer_state *state, uint64_t ts_ns,
		      uint64_t launched, uint64_t missing);

/* The arrow from a call to its work. */
void gpu_json_flow(struct writer_state *state, const struct gpu_launch *launch,
		   const struct gpu_row *row, uint64_t start_ns,
		   bool with_start);

#endif
