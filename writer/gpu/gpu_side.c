/* SPDX-License-Identifier: MIT */
/* gpu_side.c - lines of what lies beside the work; see gpu_side.h. */
#include "writer/gpu/gpu_side.h"

#include "collector/session/names.h"
#include "collector/system/log.h"
#include "writer/state/gpu_label.h"
#include "writer/text/schema.h"
#include <string.h>

static void slice_head(struct writer_state *state,
		       const struct gpu_slice *slice, uint64_t pid,
		       uint64_t tid)
{
	gpu_json_head(&state->json, slice->event->kind, slice->label->category,
		      slice->label->text, slice->label->text_len, pid, tid,
		      slice->span);
}

/* A row of the device for slices that may overlap. */
static bool find_row(struct writer_state *state, struct gpu_slice *slice,
		     uint32_t device, uint32_t tid, const char *name)
{
	struct gpu_row *row = gpu_rows_place(&state->gpu->rows, device, tid,
					     GPU_ROW_SIDE, &slice->span);

	if (!row)
		return false;
	slice->row = row;
	gpu_json_row(state, row, device, name, row->tid);
	return true;
}

/* --- on threads of the program -------------------------------------------- */

static bool draw_jit(struct writer_state *state, struct gpu_slice *slice,
		     uint64_t tid)
{
	const struct event *event = slice->event;
	struct json *json = &state->json;
	const char *path;
	size_t len;
	struct gpu_row *row =
		gpu_rows_place(&state->gpu->rows, state->pid,
			       tid + (uint64_t)LANE_COUNT * LANE_STEP,
			       LANE_STEP, &slice->span);
	char name[64];

	if (!row)
		return false;
	log_format(name, sizeof(name), "thread %lu CUPTI overhead",
		   (unsigned long)tid);
	gpu_json_row(state, row, UINT32_MAX, name, tid);
	slice_head(state, slice, row->pid, row->tid);
	json_raw(json, SCHEMA_KEY(SCHEMA_DEVICE));
	json_u64(json, event->jit.device);
	json_pair_u64(json, SCHEMA_CORRELATION, event->jit.correlation);
	if (event->jit.path) {
		path = names_text(state->session, event->jit.path, &len);
		json_pair_text(json, "cache path", path, len);
	}
	if (event->jit.size_bytes)
		json_pair_u64(json, "cache bytes", event->jit.size_bytes);
	json_raw(json, "}}");
	return true;
}

/* Without `correlation`: readers would take it for the launch. */
static bool draw_host(struct writer_state *state, const struct gpu_slice *slice,
		      uint64_t tid)
{
	const struct event *event = slice->event;
	struct json *json = &state->json;

	slice_head(state, slice, state->pid, tid);
	if (slice->launch && slice->launch->external_id) {
		json_raw(json, SCHEMA_KEY(SCHEMA_EXTERNAL_ID));
		json_u64(json, slice->launch->external_id);
		json_char(json, ',');
	}
	json_raw(json, SCHEMA_KEY(SCHEMA_DEVICE));
	json_u64(json, event->gpu.device);
	json_pair_u64(json, "context", event->gpu.context);
	json_pair_u64(json, "waiting stream", event->gpu.stream);
	json_pair_u64(json, "launched by", event->gpu.correlation);
	json_pair_u64(json, "graph id", event->gpu.graph);
	json_pair_u64(json, "graph node id", event->gpu.graph_node);
	json_raw(json, "}}");
	return true;
}

/* --- managed memory ------------------------------------------------------- */

static const char *why(uint32_t kind, uint32_t number)
{
	static const char *const accesses[] = {"unknown", "read", "write",
					       "atomic", "prefetch"};
	static const char *const causes[] = {"unknown",	  "user",
					     "coherence", "prefetch",
					     "eviction",  "access counters"};
	static const char *const maps[] = {"unknown",	    "coherence",
					   "thrashing",	    "policy",
					   "out of memory", "eviction"};

	switch (kind) {
	case 3:
	case 4: return accesses[number < 5 ? number : 0];
	case 1:
	case 2:
	case 8: return causes[number < 6 ? number : 0];
	case 7: return maps[number < 6 ? number : 0];
	default: return NULL;
	}
}

static void processor(struct json *json, const char *key, uint32_t id)
{
	json_char(json, ',');
	json_string(json, key, strlen(key));
	json_raw(json, ":");
	/* -1 is the host. */
	json_i64(json, id == UINT32_MAX ? -1 : (int64_t)id);
}

static bool draw_unified(struct writer_state *state, struct gpu_slice *slice)
{
	const struct event *event = slice->event;
	const uint32_t kind = event->extra;
	const bool is_move = kind == 1 || kind == 2 || kind == 8;
	const char *word = why(kind, event->unified.why);
	struct json *json = &state->json;

	if (!find_row(state, slice, event->unified.device, GPU_ROW_UNIFIED,
		      "unified memory"))
		return false;
	slice_head(state, slice, slice->row->pid, slice->row->tid);
	json_raw(json, SCHEMA_KEY(SCHEMA_ADDRESS));
	json_u64(json, event->unified.address);
	if (is_move)
		json_pair_u64(json, "bytes", event->unified.value);
	else if (kind == 4)
		json_pair_u64(json, "page faults", event->unified.value);
	else if (kind == 3)
		json_pair_u64(json, "code", event->unified.value);
	processor(json, is_move || kind == 7 ? "from" : "by",
		  event->unified.source);
	if (is_move || kind == 7)
		processor(json, "to", event->unified.destination);
	if (word)
		json_pair_text(json, "why", word, strlen(word));
	json_raw(json, "}}");
	return true;
}

/* --- counters ------------------------------------------------------------- */

static void counter_head(struct writer_state *state, uint32_t device,
			 const char *name, uint64_t ts_ns)
{
	struct json *json = &state->json;

	gpu_json_device(state, device);
	json_line(json, device, EVENT_COUNTER);
	json_raw(json,
		 ",\n{" SCHEMA_PAIR(
			 SCHEMA_PHASE,
			 SCHEMA_PHASE_COUNTER) "," SCHEMA_KEY(SCHEMA_NAME));
	json_string(json, name, strlen(name));
	gpu_json_place(json, device, 0, ts_ns);
	json_raw(json, "," SCHEMA_KEY(SCHEMA_ARGS) "{");
}

void gpu_side_pool_args(struct json *json, const struct gpu_pool *pool)
{
	json_pair_u64(json, "pool", pool->address);
	json_pair_u64(json, "pool size", pool->size_bytes);
	json_pair_u64(json, "pool used", pool->used_bytes);
	/* All ones: it gives nothing back. */
	json_raw(json, ",\"release threshold\":");
	json_i64(json, pool->threshold_bytes > INT64_MAX
			       ? -1
			       : (int64_t)pool->threshold_bytes);
}

void gpu_side_pool(struct writer_state *state, uint32_t device,
		   const struct gpu_pool *pool, uint64_t ts_ns)
{
	struct json *json = &state->json;
	char name[64];

	log_format(name, sizeof(name), "memory pool 0x%lx",
		   (unsigned long)pool->address);
	counter_head(state, device, name, ts_ns);
	json_raw(json, "\"size\":");
	json_u64(json, pool->size_bytes);
	json_pair_u64(json, "used", pool->used_bytes);
	json_raw(json, "}}");
}

static bool draw_pool(struct writer_state *state, const struct gpu_slice *slice)
{
	static const char *const words[] = {"changed", "created", "destroyed",
					    "trimmed"};
	const struct event *event = slice->event;
	const struct gpu_pool *pool = (const struct gpu_pool *)(event + 1);
	const uint32_t device = event->memory.device;
	const char *word = words[pool->operation < 4 ? pool->operation : 0];
	struct json *json = &state->json;
	char name[32];

	if (device >= GPU_DEVICES_MAX)
		return false;
	gpu_json_device(state, device);
	log_format(name, sizeof(name), "memory pool %s", word);
	json_line(json, device, event->kind);
	json_raw(
		json,
		",\n{" SCHEMA_PAIR(SCHEMA_PHASE, SCHEMA_PHASE_INSTANT) "," SCHEMA_PAIR(
			SCHEMA_CATEGORY,
			SCHEMA_MEMORY_POOL) "," SCHEMA_PAIR(SCHEMA_SCOPE,
							    "p") "," SCHEMA_KEY(SCHEMA_NAME));
	json_string(json, name, strlen(name));
	gpu_json_place(json, device, 0, slice->span.start_ns);
	json_raw(json,
		 "," SCHEMA_KEY(SCHEMA_ARGS) "{" SCHEMA_KEY(SCHEMA_DEVICE));
	json_u64(json, device);
	gpu_side_pool_args(json, pool);
	json_raw(json, "}}");
	gpu_side_pool(state, device, pool, slice->span.start_ns);
	return true;
}

/* The comma before all values but the first. */
static void value(struct json *json, bool *is_first, const char *key)
{
	if (!*is_first)
		json_char(json, ',');
	*is_first = false;
	json_string(json, key, strlen(key));
	json_char(json, ':');
}

void gpu_side_sample(struct writer_state *state, const struct event *event,
		     uint64_t ts_ns)
{
	const uint32_t device = event->sample.device;
	const uint16_t known = event->sample.known;
	struct json *json = &state->json;
	bool is_first = true;

	if (device >= GPU_DEVICES_MAX || !known)
		return;
	counter_head(state, device, "GPU state", ts_ns);
	if (known & GPU_KNOWS_LOAD) {
		value(json, &is_first, "utilization %");
		json_u64(json, event->sample.utilization);
	}
	if (known & GPU_KNOWS_MEMORY) {
		value(json, &is_first, "memory MiB");
		json_u64(json, event->sample.memory_bytes >> 20);
	}
	if (known & GPU_KNOWS_POWER) {
		value(json, &is_first, "power W");
		json_double(json, event->sample.milliwatts / 1000.0);
	}
	if (known & GPU_KNOWS_CLOCK) {
		value(json, &is_first, "SM clock MHz");
		json_u64(json, event->sample.clock_mhz);
	}
	if (event->sample.memory_mhz) {
		value(json, &is_first, "memory clock MHz");
		json_u64(json, event->sample.memory_mhz);
	}
	if (known & GPU_KNOWS_HEAT) {
		value(json, &is_first, "temperature C");
		json_u64(json, event->sample.celsius);
	}
	json_raw(json, "}}");
}

static bool draw_throttling(struct writer_state *state, struct gpu_slice *slice)
{
	const uint32_t device = slice->event->sample.device;
	struct json *json = &state->json;

	if (device >= GPU_DEVICES_MAX ||
	    !find_row(state, slice, device, GPU_ROW_THROTTLE,
		      "clock throttling"))
		return false;
	slice_head(state, slice, slice->row->pid, slice->row->tid);
	json_raw(json, SCHEMA_KEY(SCHEMA_DEVICE));
	json_u64(json, device);
	json_pair_u64(json, "reasons", slice->event->sample.reasons);
	json_raw(json, "}}");
	return true;
}

bool gpu_side_draw(struct writer_state *state, struct gpu_slice *slice,
		   uint64_t tid)
{
	switch (slice->event->kind) {
	case EVENT_GPU_JIT: return draw_jit(state, slice, tid);
	case EVENT_GPU_HOST: return draw_host(state, slice, tid);
	case EVENT_GPU_UNIFIED: return draw_unified(state, slice);
	case EVENT_GPU_POOL: return draw_pool(state, slice);
	default: return draw_throttling(state, slice);
	}
}
