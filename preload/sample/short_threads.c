/* SPDX-License-Identifier: MIT */
/*
 * short_threads.c - the newest first sample of threads by where they began.
 *
 * A row holds one function's, and is left by whoever finds it held: a handler
 * may have interrupted its own thread there.  Of two functions that share a
 * row the later one has it.
 */
#include "preload/sample/short_threads.h"

#define ROWS 64u

static struct row {
	_Atomic bool is_held;
	uintptr_t function;
	struct sample_place place;
} rows[ROWS];

static struct row *row_of(uintptr_t function)
{
	const uint64_t mixed = function * UINT64_C(0x9e3779b97f4a7c15);

	return &rows[mixed >> 58];
}

static bool hold(struct row *row)
{
	/* ACQUIRE pairs with RELEASE in let_go(): what the row says. */
	return !atomic_exchange_explicit(&row->is_held, true,
					 memory_order_acquire);
}

static void let_go(struct row *row)
{
	/* RELEASE pairs with ACQUIRE in hold(): what the row says. */
	store_release(&row->is_held, false);
}

void short_threads_seen(uintptr_t function, struct sample_place place)
{
	struct row *row = row_of(function);

	if (!hold(row))
		return;
	row->function = function;
	row->place = place;
	let_go(row);
}

struct sample_place short_threads_place(uintptr_t function,
					struct sample_place place)
{
	struct row *row = row_of(function);

	if (!hold(row))
		return place;
	if (row->function == function)
		place = row->place;
	let_go(row);
	return place;
}

void short_threads_forget(void)
{
	for (uint32_t i = 0; i < ROWS; i++) {
		rows[i].function = 0;
		store_relaxed(&rows[i].is_held, false);
	}
}
