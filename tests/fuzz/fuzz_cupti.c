/* SPDX-License-Identifier: MIT */
/*
 * fuzz_cupti.c - activity buffers of any content, of any CUPTI: decoded, drawn
 * and finished, the file is JSON, and nothing faults.
 *
 * The first byte chooses the version of CUPTI, by whose lengths the buffers are
 * walked, and how many buffers the rest is cut into.  CUPTI's pointers are
 * good, so those of the input are made to point to texts: of the input again,
 * from that offset on.
 *
 * The decoder, its pairs and its buffers are the real ones; attaching, flushing
 * and switching kinds, which take a CUPTI, are stood in for.
 */
#include "tests/fuzz/fuzz_input.h"
#include "tests/unit/sample_session.h"

#include "collector/system/cupti_versions.h"
#include "preload/cuda/cupti_buffers.h"
#include "preload/cuda/cupti_graph_memory.h"
#include "preload/cuda/cupti_pinned.h"
#include "preload/cuda/cupti_record.h"
#include "preload/cuda/cupti_share.h"
#include "preload/cuda/cupti_source.h"
#include "preload/stack/unwind.h"
#include "preload/stack/call_places.h"
#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_record.h"
#include "writer/pass.h"
#include <string.h>
#include <sys/mman.h>

static struct sim_knobs knobs;
static uint64_t flushed;

const struct sim_knobs *sim_knobs(void)
{
	return &knobs;
}

bool cupti_is_alive(void)
{
	return true;
}

uint64_t cupti_flush_ticks(bool forced)
{
	(void)forced;
	return flushed;
}

uint32_t cupti_flush_tid(void)
{
	return 77;
}

void cupti_flush_ask(void)
{
}

void cupti_flush_force(void)
{
}

void cupti_flush_answered(void)
{
}

bool cupti_flush_await(_Atomic uint32_t *word, uint32_t value)
{
	(void)word;
	(void)value;
	return true;
}

void cupti_flush_wake(void)
{
}

void cupti_neighbour_watch(void)
{
}

uint32_t cupti_launch_names_of(uint32_t correlation)
{
	(void)correlation;
	return 0;
}

bool cupti_nodes_captured(uint32_t tid, uint64_t start, uint64_t end)
{
	return (tid ^ start ^ end) % 2;
}

void cupti_nodes_settled(uint64_t ticks)
{
	(void)ticks;
}

void cupti_callbacks_follow(const struct session *session)
{
	(void)session;
}

bool cupti_kinds_lack_kernels(void)
{
	return false;
}

uint64_t cupti_kinds_since(void)
{
	return 0;
}

void cupti_kinds_rest(const struct session *session)
{
	(void)session;
}

void cupti_kinds_follow(const struct session *session)
{
	(void)session;
}

bool cupti_is_ours(void)
{
	return true;
}

bool cupti_share_is_on(void)
{
	return false;
}

uint64_t cupti_flush_end_ticks(void)
{
	return 0;
}

bool cupti_flush_is_ending(void)
{
	return true;
}

struct unwind unwind;

bool cupti_stacks_want(const char *name)
{
	return name[0] % 2;
}

uint32_t call_places_of(uint32_t correlation)
{
	return correlation * 0;
}

uint32_t cupti_stacks_of(uint64_t correlation)
{
	(void)correlation;
	return 0;
}

void cupti_memory_call_on(void *subscriber, CUpti_CallbackDomain domain,
			  uint32_t number, enum cupti_memory_call call)
{
	(void)subscriber, (void)domain, (void)number, (void)call;
}

static CUptiResult CUPTIAPI next_record(uint8_t *buffer, size_t valid_bytes,
					CUpti_Activity **record)
{
	return record_next(buffer, valid_bytes, record);
}

static CUptiResult CUPTIAPI callback_name(CUpti_CallbackDomain domain,
					  uint32_t number, const char **name)
{
	static const char *const names[] = {
		"cudaLaunchKernel_v7000", "cudaMemcpyAsync_ptsz_v7000",
		"cuLaunchKernel",	  "cudaStreamSynchronize_v3020",
		"__cudaLaunchKernel",	  "_v1"};

	(void)domain;
	*name = names[number % (sizeof(names) / sizeof(names[0]))];
	return number > 600 ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

/* A copy of the whole input, ended. */
static char *text_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static void mend_pointers(uint8_t *bytes, size_t valid_bytes, const char *text,
			  size_t size)
{
	CUpti_Activity *record = NULL;

	while (record_next(bytes, valid_bytes, &record) == CUPTI_SUCCESS) {
		const char **field = cupti_record_text(record);

		if (field && *field)
			*field = text + (uintptr_t)*field % (size + 1);
	}
}

static void hand_over(const uint8_t *data, size_t size, const char *text,
		      size_t text_size)
{
	size_t room, most;
	uint8_t *bytes;

	cupti_buffers_request(&bytes, &room, &most);
	if (size > room)
		size = room;
	memcpy(bytes, data, size);
	mend_pointers(bytes, size, text, text_size);
	cupti_buffers_complete(NULL, 0, bytes, room, size);
}

static void check_files(struct sample *sample)
{
	char paths[16][512];
	const int count = sample_files(sample, paths);

	for (int i = 0; i < count; i++)
		sample_assert_json(sample_read(sample, paths[i]));
}

static void run(struct sample *sample, const uint8_t *data, size_t size,
		unsigned int parts)
{
	static struct writer_state writer_state;
	char *text = text_of(data, size);

	sample_window(sample, 0);
	for (unsigned int i = 0; i < parts; i++)
		hand_over(data + size * i / parts,
			  size * (i + 1) / parts - size * i / parts, text,
			  size);
	if (pass_start(&writer_state, sample->session, true))
		abort();
	for (int i = 0; i < 2; i++) {
		flushed = clock_ticks();
		cupti_source_poll(NULL);
		pass_run(&writer_state);
	}
	if (pass_finish(&writer_state, clock_ticks()) || writer_state.error)
		abort();
	pass_end(&writer_state);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t versions[] = {19,	    24,	    26,	    28,
					    130000, 130001, 130400, 999999};
	static bool is_ready;
	struct sample sample;
	struct session *session;

	if (size < 2)
		return 0;
	if (!is_ready && cupti_buffers_start(true))
		abort();
	is_ready = true;
	cupti.cuptiActivityGetNextRecord = next_record;
	cupti.cuptiGetCallbackName = callback_name;
	knobs.version = versions[data[0] & 7];
	cupti_versions_start(knobs.version);
	sample_begin(&sample);
	sample.options.buffer_mb = 4;
	session = sample_session(&sample);
	store_relaxed(&session->head->gpu.source, GPU_SOURCE_CUPTI);
	store_relaxed(&session->head->gpu.is_live, 1);
	session->head->gpu.cupti_version = knobs.version;
	run(&sample, data + 1, size - 1, 1 + (data[0] >> 6));
	check_files(&sample);
	cupti_source_forget();
	cupti_record_forget();
	cupti_graph_memory_forget();
	sample_end(&sample);
	munmap(session->base, session->bytes);
	return 0;
}
