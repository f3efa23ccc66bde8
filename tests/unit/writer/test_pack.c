/* SPDX-License-Identifier: MIT */
/* test_pack.c - what is packed and spooled comes out as it went in. */
#include "tests/unit/sample_session.h"
#include "writer/history/pack.h"
#include "writer/history/spill.h"
#include "writer/pass.h"
#include "writer/state/packed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define THREADS 3
#define OVER	100

static uint64_t plenty = UINT64_MAX;
static uint64_t seed = 1;

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* Most are like one before, some like nothing. */
static struct event any_event(uint64_t number, bool is_wild)
{
	struct event event = {.kind = EVENT_OMP_IMPLICIT,
			      .start_ticks = 40 * number + any() % 20,
			      .omp = {.region = number,
				      .code = 0x7f0012340000 + any() % 4 * 64,
				      .team = 2,
				      .thread = any() & 1}};

	event.end_ticks = event.start_ticks + any() % 30;
	for (int i = 0; is_wild && i < 4; i++)
		event.words[i] = any();
	return event;
}

static void groups(void **state)
{
	static struct event in[1000], out[PACKED_SLOTS_MAX];
	static uint8_t group[PACKED_MOST];

	(void)state;
	for (int round = 0; round < 300; round++) {
		const size_t count = 1 + any() % 1000;
		const size_t room = round % 3 ? sizeof(group) : any() % 2000;
		size_t bytes, taken, length;

		for (size_t i = 0; i < count; i++)
			in[i] = any_event(i, round % 4 == 0);
		if (round % 5 == 0 && count > 1)
			in[count - 2].flags = EVENT_TWO_SLOTS;
		bytes = packed_write(in, count, group, room, &taken);
		assert_true(bytes <= room);
		if (!taken)
			continue;
		assert_int_equal(packed_read(group, bytes, out, &length),
				 taken);
		assert_int_equal(length, bytes);
		assert_memory_equal(in, out, taken * sizeof(*in));
		/* Cut or changed, it is refused or gives something else. */
		assert_int_equal(packed_read(group, bytes - 1, out, &length),
				 0);
		group[any() % bytes] ^= (uint8_t)(1 + any() % 255);
		packed_read(group, bytes, out, &length);
	}
}

struct stream {
	struct thread *thread;
	struct ring_reader *reader;
	uint64_t pushed, read;
	uint64_t first; /* of its numbers */
};

static void push(struct stream *stream, unsigned int count)
{
	struct ring *ring = &stream->thread->ring;

	while (count--) {
		const uint64_t number = stream->first + stream->pushed;
		const bool is_two = number % 97 == 0;
		struct event *slot = ring_reserve(ring, is_two ? 2 : 1);

		assert_non_null(slot);
		*slot = any_event(number, number % 1013 == 0);
		slot->omp.region = number;
		slot->flags = is_two ? EVENT_TWO_SLOTS : 0;
		if (is_two)
			slot[1] = any_event(number, true);
		ring_commit(ring, is_two ? 2 : 1, 1);
		stream->pushed++;
	}
}

static void read_some(struct writer_state *state, struct stream *stream,
		      uint64_t most)
{
	struct ring *ring = &stream->thread->ring;
	struct drain *drain = &stream->reader->drain;
	const uint64_t limit = ring_published(ring);
	const struct event *event;

	stream->reader->limit = limit;
	while (most-- && (event = drain_peek(state->session, ring, drain, limit,
					     &state->spent, &plenty))) {
		assert_int_equal(event->omp.region,
				 stream->first + stream->read);
		stream->read++;
		drain_skip(drain, event);
	}
	stream->reader->limit = 0;
	assert_false(drain->damaged);
}

static void give_back(struct writer_state *state)
{
	const uint64_t *chunks = state->spent.array.base;

	for (size_t i = 0; i < state->spent.count; i++) {
		const struct chunk *chunk =
			session_at(state->session, chunks[i]);

		state->packed_chunks -= chunk->form != CHUNK_RAW;
		state->spool.chunks -= chunk->form == CHUNK_SPOOLED;
		pool_give(state->session, chunks[i]);
	}
	state->spent.count = 0;
}

static struct ring_reader *reader_of(struct writer_state *state,
				     struct thread *thread)
{
	struct ring_reader *reader = state->readers;

	while (reader->thread != thread)
		reader = reader->older;
	return reader;
}

/* Far more than memory holds goes through, whoever reads when. */
static void nothing_is_lost_or_moved(void **unused)
{
	struct sample sample;
	struct writer_state state;
	struct stream streams[THREADS] = {0};
	uint64_t most_end = 0;

	(void)unused;
	sample_begin(&sample);
	sample.options.buffer_mb = 4;
	sample_session(&sample);
	assert_int_equal(pass_start(&state, sample.session, true), 0);
	for (unsigned int i = 0; i < THREADS; i++) {
		streams[i].thread = sample_thread(&sample, i + 1);
		streams[i].first = (uint64_t)i << 40;
	}
	assert_int_equal(writer_state_find_readers(&state), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		streams[i].reader = reader_of(&state, streams[i].thread);
	for (int round = 0; round < 1200; round++) {
		struct stream *stream = &streams[any() % THREADS];

		push(stream, 2000 + any() % 6000);
		pack_rings(&state);
		if (round % 100 > 80)
			read_some(&state, &streams[any() % THREADS],
				  any() % 40000);
		if (round % 7 == 0)
			give_back(&state);
		stream->reader->drain = (struct drain){
			.unpack = stream->reader->drain.unpack,
			.packed = stream->reader->drain.packed,
			.spooled = stream->reader->drain.spooled,
			.chunk = stream->reader->drain.chunk,
			.slot = stream->reader->drain.slot,
		};
		most_end = max_u64(most_end, state.spool.end);
	}
	assert_true(most_end > 2 << 20);
	for (unsigned int i = 0; i < THREADS; i++) {
		read_some(&state, &streams[i], UINT64_MAX);
		assert_int_equal(streams[i].read, streams[i].pushed);
	}
	give_back(&state);
	assert_int_equal(state.spool.chunks, 0);
	spool_end(&state.spool, true);
	pass_end(&state);
	sample_end(&sample);
}

/* How many chunks are packed when nine tenths of the buffer are in use. */
static size_t relieved(unsigned int on_full, unsigned int encode, bool keeps)
{
	struct sample sample;
	struct writer_state state;
	struct stream stream = {0};
	size_t packed;

	sample_begin(&sample);
	sample.options.buffer_mb = 4;
	sample.options.on_full = on_full;
	sample.options.encode = encode;
	sample_session(&sample);
	assert_int_equal(pass_start(&state, sample.session, true), 0);
	state.keeps = keeps;
	stream.thread = sample_thread(&sample, 1);
	assert_int_equal(writer_state_find_readers(&state), 0);
	pack_relieve(&state);
	assert_int_equal(state.packed_chunks, 0);
	while (pool_room(state.session) > (4 << 20) / CHUNK_BYTES / 10)
		push(&stream, 1000);
	pack_relieve(&state);
	packed = state.packed_chunks;
	spool_end(&state.spool, true);
	pass_end(&state);
	sample_end(&sample);
	return packed;
}

/* Each event would be handled three times, and the program waits for that. */
static void who_waits_for_live_writing_is_not_packed(void **unused)
{
	(void)unused;
	assert_int_equal(relieved(ON_FULL_WAIT, ENCODE_LIVE, false), 0);
	assert_true(relieved(ON_FULL_DROP, ENCODE_LIVE, false) > 0);
	assert_true(relieved(ON_FULL_WAIT, ENCODE_AUTO, false) > 0);
	assert_true(relieved(ON_FULL_WAIT, ENCODE_LATE, false) > 0);
	/* What a window in the past may want. */
	assert_true(relieved(ON_FULL_WAIT, ENCODE_LIVE, true) > 0);
}

/* The program was quicker than our start, and no chunk is free: they are packed
 * all the same, and nothing is written down, nor lost. */
static void a_full_buffer_is_packed(void **unused)
{
	struct sample sample;
	struct writer_state state;
	struct stream stream = {0};

	(void)unused;
	sample_begin(&sample);
	sample.options.buffer_mb = 4;
	sample.options.encode = ENCODE_LATE;
	sample_session(&sample);
	sample_window(&sample, 0);
	assert_int_equal(pass_start(&state, sample.session, true), 0);
	stream.thread = sample_thread(&sample, 1);
	while (pool_room(state.session))
		push(&stream, 1000);
	pass_run(&state);
	assert_int_equal(state.late_passes, 1);
	assert_true(pool_room(state.session) > (4 << 20) / CHUNK_BYTES / 2);
	stream.reader = reader_of(&state, stream.thread);
	read_some(&state, &stream, UINT64_MAX);
	assert_int_equal(stream.read, stream.pushed);
	spool_end(&state.spool, true);
	pass_end(&state);
	sample_end(&sample);
}

/* More of them than may wait, each in a slice of the drain by itself. */
static void do_not_wait(uint32_t count, int64_t buffer_mb)
{
	struct writer_state writer_state;
	struct thread *threads[OVER];
	struct sample sample;

	sample_begin(&sample);
	sample.options.buffer_mb = buffer_mb;
	sample.options.encode = ENCODE_LATE;
	sample_session(&sample);
	sample_window(&sample, 0);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	writer_state.slice_ticks = 1;
	for (uint32_t i = 0; i < count; i++) {
		threads[i] = sample_thread(&sample, 100 + i);
		sample_scope(&sample, threads[i], "life", 1000000 * i,
			     1000000 * i + 10);
		thread_self = threads[i];
		thread_leave();
		thread_self = NULL;
	}
	/* It sees them, draws what they had, gives them back. */
	for (int i = 0; i < 3; i++)
		pass_run(&writer_state);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(load_relaxed(&threads[i]->state), THREAD_FREE);
	assert_int_equal(
		pass_finish(&writer_state, sample.zero + 1000000 * (count + 1)),
		0);
	pass_end(&writer_state);
	assert_int_equal(sample_number(sample_text(&sample), "written"), count);
	sample_end(&sample);
}

static void threads_that_are_over_do_not_wait(void **state)
{
	(void)state;
	do_not_wait(OVER, 128);
	/* They hold a chunk each: of a small buffer, all. */
	do_not_wait(OVER / 3, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups),
		cmocka_unit_test(nothing_is_lost_or_moved),
		cmocka_unit_test(who_waits_for_live_writing_is_not_packed),
		cmocka_unit_test(a_full_buffer_is_packed),
		cmocka_unit_test(threads_that_are_over_do_not_wait),
	};

	return cmocka_run_group_tests_name("pack", tests, NULL, NULL);
}
