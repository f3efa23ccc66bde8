/* SPDX-License-Identifier: MIT */
/*
 * families.c - passes on what happens to the process to each family of hooks;
 * see preload/process/families.h.
 */
#include "preload/process/families.h"

#include "preload/annotate/itt.h"
#include "preload/annotate/nvtx_injection.h"
#include "preload/annotate/nvtx_range.h"
#include "preload/blas/blas.h"
#include "preload/blas/blas_real.h"
#include "preload/cuda/cuda_calls.h"
#include "preload/cost.h"
#include "preload/cuda/cupti_source.h"
#include "preload/heap/early.h"
#include "preload/heap/heap.h"
#include "preload/heap/maps.h"
#include "preload/heap/watch.h"
#include "preload/jax/jax_compile.h"
#include "preload/jax/xla_traceme.h"
#include "preload/python/python_api.h"
#include "preload/python/python_calls.h"
#include "preload/python/python_hook.h"
#include "preload/sample/sampler.h"
#include "preload/sample/pool_note.h"
#include "preload/sample/task_counts.h"
#include "collector/session/gate.h"
#include "collector/steps/steps.h"
#include "preload/stack/callers.h"
#include "preload/stack/unwind.h"
#include "preload/wait/file_io.h"
#include "preload/wait/futex_waits.h"
#include "preload/process/thread_watch.h"
#include "preload/wait/waits.h"
#include "preload/process/hook_hide.h"
#include "preload/process/life.h"
#include "preload/process/own_stack.h"
#include "preload/process/process.h"
#include "preload/torch/torch_library.h"
#include "preload/torch/torch_operators.h"

/* All heap calls so far were seen. */
static START_DATA bool watches_heap;

static bool wants_waits(void)
{
	const struct options *options = &process.options;

	return options_is_set(options, OPTION_AT_waits) ? options->waits
							: options->sample > 0;
}

void families_prepare(void)
{
	nvtx_injection_announce();
	itt_announce();
	cupti_prepare();
	unwind_prepare();
	callers_prepare();
	/* The heap may have begun the recording before our constructor. */
	if (load_relaxed(&session_here) && steps_source() == STEP_AUTO &&
	    callers_start())
		gate_mark(GATE_OMP_CALLER, true);
	sampler_prepare();
	python_prepare();
	if (python_is_prepared())
		waits_look_at_reads(python_look);
	/* Another library's constructor may have begun the recording, which
	 * knew of no interpreter yet. */
	if (load_relaxed(&session_here))
		python_start_late(load_relaxed(&session_here));
	/* Here and not when the recording begins, which may be while the loader
	 * is locked. */
	if (wants_waits() || process.options.python) {
		python_api_find_runtime();
		waits_know_gil(python_api.runtime, python_api.runtime_bytes);
	}
	if (life_is_watching() && families_reason_at_start())
		life_begin(families_reason_at_start());
	python_await();
}

COLD uint32_t families_watch(bool is_forked)
{
	const struct options *options = &process.options;
	uint32_t bits = GATE_SCOPE_WATCH;

	if (options->openmp)
		bits |= GATE_OMP_WATCH;
	if (options->cuda != CUDA_OFF)
		bits |= GATE_CUDA_WATCH;
	if (options->shapes)
		bits |= GATE_BLAS_WATCH;
	if (!is_forked || options->children == CHILDREN_ALL)
		bits |= GATE_THREAD_WATCH;
	if (options->malloc != MALLOC_OFF && bits & GATE_THREAD_WATCH)
		bits |= GATE_HEAP_WATCH;
	thread_watch_start();
	watches_heap = bits & GATE_HEAP_WATCH;
	watch_start(options_is_set(options, OPTION_AT_malloc), is_forked);
	return bits;
}

void families_watch_ends(void)
{
	watch_stop();
}

const char *families_reason_at_start(void)
{
	const struct options *options = &process.options;

	if (options->sample)
		return "sampling";
	if (options->io)
		return "file reads";
	if (options_is_set(options, OPTION_AT_waits) && options->waits)
		return "waits";
	return options->python && python_is_prepared() ? "Python" : NULL;
}

void families_child_begins(void)
{
	python_api_forked();
}

void families_child_begun(void)
{
	sampler_child_begun();
}

const char *families_reason(uint64_t used_ns)
{
	return process.options.torch != TORCH_OFF && torch_is_loaded(used_ns)
		       ? "PyTorch or JAX is loaded"
		       : NULL;
}

#define HOOK_RANGES (3 + CUDA_RANGES)

void families_hide(bool is_recorded)
{
	const struct options *options = &process.options;
	struct hook_range ranges[HOOK_RANGES] = {
		{blas_hooks_low, blas_hooks_high,
		 !is_recorded || !options->shapes, false},
		{__start_wait_hooks, __stop_wait_hooks,
		 !is_recorded || !(wants_waits() || options->sample ||
				   options->io || options->python),
		 false},
		{__start_thread_wait_hooks, __stop_thread_wait_hooks,
		 !is_recorded, false},
	};

	cuda_calls_ranges(options->cuda == CUDA_OFF,
			  ranges + HOOK_RANGES - CUDA_RANGES);
	hook_hide(ranges, HOOK_RANGES);
}

bool families_are_asking(const void *code)
{
	return unwind_is_its_own(code);
}

long families_futex(long word, long operation, long value, long time,
		    long other, long last)
{
	return futex_waits_call(word, operation, value, time, other, last);
}

static void frameworks_follow(bool open)
{
	torch_follow(open);
	xla_traceme_follow(open);
}

uint32_t families_begin(struct session *session, uint32_t *record)
{
	const uint32_t stacks = unwind_start(session);
	uint32_t heap_base, heap_record;

	nvtx_injection_say(session);
	itt_say(session);
	if (process.options.torch != TORCH_OFF)
		gate_on_change(GATE_TORCH, frameworks_follow);
	watch_sum(&session->head->heap_before);
	session->head->heap_before.is_known = watches_heap;
	heap_start(session, stacks & STACK_HEAP, &heap_base, &heap_record);
	*record = GATE_SCOPE | heap_record;
	if (process.options.openmp)
		*record |= GATE_OMP;
	if (process.options.mmap)
		*record |= GATE_MAP;
	if (sampler_start(session))
		*record |= GATE_SAMPLE;
	if (wants_waits() || process.options.python)
		waits_start(session, (uint64_t)process.options.wait_min * 1000);
	if (wants_waits())
		*record |= GATE_WAIT;
	if (file_io_start(session))
		*record |= GATE_IO;
	if (process.options.shapes)
		*record |= GATE_BLAS;
	if (process.options.cuda != CUDA_OFF)
		*record |= GATE_ALLOCATOR;
	if (python_start(session))
		*record |= GATE_PYTHON;
	/* Even if no annotation is the marker: pushes and pops must pair up
	 * across windows. */
	return heap_base | GATE_SCOPE_MARK |
	       (callers_start() ? GATE_OMP_CALLER : 0) |
	       (stacks & STACK_OMP ? GATE_OMP_STACK : 0);
}

void families_thread_entered(void)
{
	nvtx_thread_entered();
	unwind_thread_entered(thread_self);
	python_calls_thread_entered(thread_self);
	maps_thread_entered(thread_self);
	waits_thread_entered(thread_self);
}

void families_thread_seen(void)
{
	nvtx_thread_entered();
	unwind_thread_seen(thread_self);
	python_calls_thread_entered(thread_self);
	waits_thread_entered(thread_self);
}

void families_thread_asked(void)
{
	unwind_thread_entered(thread_self);
	maps_thread_entered(thread_self);
}

void families_thread_leaves(void)
{
	sampler_thread_ends();
	maps_thread_leaves(thread_self);
	unwind_thread_leaves(thread_self);
}

void families_finish(struct thread *thread)
{
	torch_finish(thread);
	python_finish(thread);
	nvtx_finish(thread);
}

void families_end(unsigned int wait_ms)
{
	pool_note(load_relaxed(&session_here));
	sampler_end();
	cupti_end(wait_ms);
}

/* While early blocks are about, free() must go on taking its longer way, which
 * tells them: any further bit does that. */
uint32_t families_closed_bits(void)
{
	return early_is_used() ? GATE_HEAP_WATCH : 0;
}

void families_forget(void)
{
	cupti_forget();
	torch_forget();
	jax_compile_forget();
	pool_note_forget();
	python_forget();
	cuda_calls_forget();
	blas_forget();
	own_stack_forget();
	unwind_forget();
	callers_forget();
	sampler_forget();
}

void families_file_closed(void)
{
	blas_real_closed();
}

uint64_t families_calls_watched(void)
{
	struct heap_before before;

	watch_sum(&before);
	return before.allocs;
}

/* A call that was under way when the gate opened is counted after it. */
void families_poll(void *unused)
{
	struct session *session = load_relaxed(&session_here);

	(void)unused;
	if (!session)
		return;
	if (session->head->heap_before.is_known) {
		struct heap_before before;

		watch_sum(&before);
		before.is_known = true;
		session->head->heap_before = before;
	}
	sampler_poll();
	cost_measure(session);
	torch_poll(session);
	jax_compile_poll(session);
	if (!process.options.sample && thread_watch_wants_counts(session))
		task_counts_round(session, gate_bits() & GATE_SCOPE);
	pool_note_poll();
	python_poll(session);
}
