/* SPDX-License-Identifier: MIT */
/*
 * trace_pieces.c - a ring of pieces between the thread that reads and the one
 * that parses.
 *
 * Whoever parses may stop at any time, while the other one waits for a pipe:
 * that wait alone can be cancelled.
 */
#include "tools/trace/trace_pieces.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

#define PIECE_BYTES (64u << 10)
#define PIECES	    16u
#define PIECES_FEW  4u /* left, when who reads is woken */

struct slot {
	char text[PIECE_BYTES];
	long got; /* as of trace_input_read(), or -EMSGSIZE */
	struct text_flaw_at *flaws;
	size_t flaw_count, flaw_capacity;
};

struct trace_pieces {
	struct trace_input *input;
	struct text_scan scan;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t filled, taken; /* pieces so far; under the lock */
	bool is_over;		/* nobody wants any more; under the lock */
	struct slot slot[PIECES];
};

/* The scan's list of flaws and the slot's change places. */
static void take_flaws(struct text_scan *scan, struct slot *slot)
{
	struct text_flaw_at *flaws = slot->flaws;
	const size_t capacity = slot->flaw_capacity;

	slot->flaws = scan->flaws;
	slot->flaw_count = scan->flaw_count;
	slot->flaw_capacity = scan->flaw_capacity;
	scan->flaws = flaws;
	scan->flaw_capacity = capacity;
	scan->flaw_count = 0;
}

static void fill(struct trace_pieces *pieces, struct slot *slot)
{
	int was;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &was);
	slot->got = trace_input_read(pieces->input, slot->text, PIECE_BYTES);
	pthread_setcancelstate(was, NULL);
	if (slot->got <= 0)
		return;
	if (text_scan_piece(&pieces->scan, slot->text, (size_t)slot->got))
		slot->got = -EMSGSIZE;
	take_flaws(&pieces->scan, slot);
}

/* False: nobody wants another one. */
static bool wait_for_room(struct trace_pieces *pieces)
{
	bool is_over;

	pthread_mutex_lock(&pieces->lock);
	/* The one that was taken last is still being parsed. */
	while (!pieces->is_over && pieces->filled - pieces->taken >= PIECES - 1)
		pthread_cond_wait(&pieces->changed, &pieces->lock);
	is_over = pieces->is_over;
	pthread_mutex_unlock(&pieces->lock);
	return !is_over;
}

static void *run(void *arg)
{
	struct trace_pieces *pieces = arg;
	struct slot *slot;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	do {
		if (!wait_for_room(pieces))
			return NULL;
		slot = &pieces->slot[pieces->filled % PIECES];
		fill(pieces, slot);
		pthread_mutex_lock(&pieces->lock);
		pieces->filled++;
		pthread_cond_signal(&pieces->changed);
		pthread_mutex_unlock(&pieces->lock);
	} while (slot->got > 0);
	return NULL;
}

struct trace_pieces *trace_pieces_begin(struct trace_input *input)
{
	struct trace_pieces *pieces = memory_zeroed(1, sizeof(*pieces));

	pieces->input = input;
	pthread_mutex_init(&pieces->lock, NULL);
	pthread_cond_init(&pieces->changed, NULL);
	pieces->has_thread =
		!pthread_create(&pieces->thread, NULL, run, pieces);
	return pieces;
}

/* The slot that is to be parsed next. */
static const struct slot *next_slot(struct trace_pieces *pieces)
{
	struct slot *slot;

	pthread_mutex_lock(&pieces->lock);
	while (pieces->has_thread && pieces->filled == pieces->taken)
		pthread_cond_wait(&pieces->changed, &pieces->lock);
	slot = &pieces->slot[pieces->taken++ % PIECES];
	/* Not for each: both would be woken up as often as there are pieces. */
	if (pieces->filled - pieces->taken == PIECES_FEW)
		pthread_cond_signal(&pieces->changed);
	pthread_mutex_unlock(&pieces->lock);
	/* There may be no more threads to be had. */
	if (!pieces->has_thread)
		fill(pieces, slot);
	return slot;
}

int trace_pieces_next(struct trace_pieces *pieces, struct trace_piece *piece,
		      const char **refusal)
{
	const struct slot *slot = next_slot(pieces);

	*piece = (struct trace_piece){
		.text = (char *)slot->text,
		.len = slot->got > 0 ? (size_t)slot->got : 0,
		.flaws = slot->flaws,
		.flaw_count = slot->flaw_count,
	};
	if (slot->got == -EMSGSIZE)
		*refusal = pieces->scan.error;
	return slot->got > 0 ? 1 : (int)slot->got;
}

void trace_pieces_end(struct trace_pieces *pieces)
{
	pthread_mutex_lock(&pieces->lock);
	pieces->is_over = true;
	pthread_cond_signal(&pieces->changed);
	pthread_mutex_unlock(&pieces->lock);
	if (pieces->has_thread) {
		pthread_cancel(pieces->thread);
		pthread_join(pieces->thread, NULL);
	}
	for (unsigned int at = 0; at < PIECES; at++)
		free(pieces->slot[at].flaws);
	text_scan_free(&pieces->scan);
	pthread_cond_destroy(&pieces->changed);
	pthread_mutex_destroy(&pieces->lock);
	free(pieces);
}
