/* SPDX-License-Identifier: MIT */
/* sample_json.c - slices of samples; see sample_json.h. */
#include "writer/events/sample_json.h"

#include "collector/session/modules.h"
#include "collector/session/stacks.h"
#include "collector/system/log.h"
#include "writer/events/meta_json.h"
#include "writer/text/schema.h"
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void put_name(struct writer_state *state,
		     const struct sample_frame *frame)
{
	struct frame_name name;
	char text[STACK_NAME_BYTES];

	if (!frame->name) {
		json_text(&state->json, text,
			  stacks_name(state->session, frame->code, text));
		return;
	}
	name = naming_frame(frame->name);
	json_text(&state->json, name.text, name.len);
}

/* What its name on the lane is short for. */
static void put_function(struct writer_state *state,
			 const struct code_name *name)
{
	if (naming_frame(name).text != name->function)
		json_pair_text(&state->json, "function", name->function,
			       name->len);
}

/* "libtorch.so 0x1234:3 0x1240:1": file, and samples by address in it. */
static void put_places(struct writer_state *state,
		       const struct sample_frame *frame)
{
	const struct module *module = frame->name->module;
	struct json *json = &state->json;
	const char *slash;
	char text[64];

	if (!module)
		return;
	slash = strrchr(module->path, '/');
	slash = slash ? slash + 1 : module->path;
	json_raw(json, ",\"" SCHEMA_AT "\":\"");
	json_text(json, slash, strlen(slash));
	for (uint32_t i = 0; i < frame->place_count; i++) {
		log_format(text, sizeof(text), " 0x%lx:%u",
			   frame->place[i].code - 1 - module->bias,
			   frame->place[i].samples);
		json_text(json, text, strlen(text));
	}
	json_char(json, '"');
}

static void put_args(struct writer_state *state,
		     const struct sample_frame *frame)
{
	struct json *json = &state->json;

	json_raw(json, ",\"" SCHEMA_ARGS "\":{\"" SCHEMA_SAMPLES "\":");
	json_u64(json, frame->samples);
	json_raw(json, ",\"" SCHEMA_SELF "\":");
	json_micros(json, (int64_t)frame->self_ns);
	if (!(frame->code & STACK_NAMED))
		put_function(state, frame->name);
	if (frame->place_count && !(frame->code & STACK_NAMED))
		put_places(state, frame);
	json_raw(json, "}}");
}

void sample_json(struct writer_state *state, struct ring_reader *reader,
		 const struct sample_frame *frame, struct event_span span)
{
	struct json *json = &state->json;
	const size_t mark = json_mark(json);

	meta_json_lane(state, reader, LANE_SAMPLES);
	json_line(json, (uintptr_t)frame->key, EVENT_CPU_SAMPLE);
	if (frame->code & STACK_NAMED)
		json_raw(
			json,
			",\n{" SCHEMA_PAIR(SCHEMA_PHASE, SCHEMA_PHASE_SLICE) "," SCHEMA_PAIR(
				SCHEMA_CATEGORY,
				SCHEMA_PYTHON_FUNCTION) "," SCHEMA_KEY(SCHEMA_NAME) "\"");
	else
		json_raw(
			json,
			",\n{" SCHEMA_PAIR(SCHEMA_PHASE, SCHEMA_PHASE_SLICE) "," SCHEMA_PAIR(
				SCHEMA_CATEGORY,
				SCHEMA_CPU_SAMPLE) "," SCHEMA_KEY(SCHEMA_NAME) "\"");
	put_name(state, frame);
	json_raw(json, "\",\"" SCHEMA_PID "\":");
	json_u64(json, state->pid);
	json_raw(json, ",\"" SCHEMA_TID "\":");
	json_u64(json, meta_json_tid(state, reader, LANE_SAMPLES));
	json_raw(json, ",\"" SCHEMA_TIME "\":");
	json_micros(json, (int64_t)span.start_ns);
	json_raw(json, ",\"" SCHEMA_DURATION "\":");
	json_micros(json, (int64_t)(span.end_ns - span.start_ns));
	put_args(state, frame);
	if (json->failed)
		json_back(json, mark);
}

/* So often the kernel looks at timers of processor time: in its own tick, as
 * long as its coarse clock's; 0 not known.  Asked for by number, since a name
 * more makes each process read more of this file. */
static uint64_t kernel_hz(void)
{
	struct timespec tick;

	return syscall(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &tick) ||
			       tick.tv_sec || !tick.tv_nsec
		       ? 0
		       : 1000000000u / (uint64_t)tick.tv_nsec;
}

void sampling_json(struct json *json, const struct writer_state *state)
{
	struct sampling *sums = &state->session->head->sampling;

	if (!sums->period_ns)
		return;
	json_raw(json, ",\"sampling\":{\"source\":\"timer\"");
	json_pair_u64(json, "hz", 1000000000u / sums->period_ns);
	json_pair_u64(json, "kernel_hz", kernel_hz());
	json_pair_u64(json, "in_own_code", load_relaxed(&sums->own));
	json_pair_u64(json, "without_callers", load_relaxed(&sums->unrooted));
	json_pair_u64(json, "cut_stacks", load_relaxed(&sums->cut));
	json_pair_u64(json, "threads", load_relaxed(&sums->timers));
	json_pair_u64(json, "threads_without", load_relaxed(&sums->without));
	json_pair_u64(json, "timed", load_relaxed(&sums->timed));
	json_pair_u64(json, "timed_ns", load_relaxed(&sums->timed_ns));
	json_char(json, '}');
}
