/* SPDX-License-Identifier: MIT */
/* cupti_buffers.c - lends buffers and takes them back; see cupti_buffers.h. */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_buffers.h"

#include "collector/session/names.h"
#include "collector/session/thread.h"
#include "collector/steps/steps.h"
#include "preload/cuda/cupti_clock.h"
#include "preload/cuda/cupti_record.h"
#include "preload/cuda/cupti_source.h"
#include "writer/writer.h"
#include <errno.h>
#include <sys/mman.h>

/* Nobody else's buffers are as large. */
#define SPARE_BYTES (68u << 10)

enum buffer_state {
	BUFFER_FREE,
	BUFFER_LENT,
	BUFFER_COMING,
	BUFFER_FULL,
	BUFFER_LOST
};

/* One region of address space holds all of them. */
static struct buffers {
	uint8_t *region;
	bool may_refuse;
	_Atomic uint32_t out;  /* lent or full */
	_Atomic uint32_t full; /* newest of the list: index + 1 */
	_Atomic uint32_t start;
	_Atomic uint64_t refused;
	_Atomic uint64_t refused_late; /* since the program's end */
	_Atomic uint64_t touched;
	struct cupti_buffer buffer[CUPTI_BUFFERS_MAX];
} buffers;

static _Atomic(CUpti_BuffersCallbackCompleteFunc) stranger;

int cupti_buffers_start(bool may_refuse)
{
	const size_t bytes = (size_t)CUPTI_BUFFERS_MAX * CUPTI_BUFFER_BYTES;
	void *region = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (region == MAP_FAILED)
		return -errno;
	/* A large page would cost a whole buffer's memory at first touch. */
	madvise(region, bytes, MADV_NOHUGEPAGE);
	buffers.region = region;
	buffers.may_refuse = may_refuse;
	for (uint32_t i = 0; i < CUPTI_BUFFERS_MAX; i++) {
		buffers.buffer[i] = (struct cupti_buffer){
			.bytes = buffers.region +
				 (size_t)i * CUPTI_BUFFER_BYTES};
	}
	return 0;
}

static struct cupti_buffer *claim(void)
{
	const uint32_t start = add_relaxed(&buffers.start, 1);

	for (uint32_t i = 0; i < CUPTI_BUFFERS_MAX; i++) {
		struct cupti_buffer *buffer =
			&buffers.buffer[(start + i) % CUPTI_BUFFERS_MAX];
		uint32_t state = BUFFER_FREE;

		/* ACQUIRE pairs with RELEASE in cupti_buffers_release(): the
		 * writer has done with its contents. */
		if (load_relaxed(&buffer->state) == BUFFER_FREE &&
		    atomic_compare_exchange_strong_explicit(
			    &buffer->state, &state, BUFFER_LENT,
			    memory_order_acquire, memory_order_relaxed))
			return buffer;
	}
	return NULL;
}

static void touch(const struct session *session)
{
	const uint64_t now = clock_ticks();

	store_relaxed(&buffers.touched, now);
	if (session)
		store_relaxed(&session->head->gpu.touched_ticks, now);
}

void CUPTIAPI cupti_buffers_request(uint8_t **bytes, size_t *size,
				    size_t *most_records)
{
	const struct session *session = load_relaxed(&session_here);
	struct cupti_buffer *buffer = claim();

	*most_records = 0;
	touch(session);
	if (likely(buffer)) {
		store_relaxed(&buffer->lent_ticks, clock_ticks());
		*bytes = buffer->bytes;
		*size = add_relaxed(&buffers.out, 1) < CUPTI_SMALL_MOST &&
					session && steps_want_events(session)
				? CUPTI_SMALL_BYTES
				: CUPTI_BUFFER_BYTES;
		return;
	}
	/* As a rule for what is launched while the program's end is held up,
	 * and that is no loss. */
	add_relaxed(cupti_flush_end_ticks() ? &buffers.refused_late
					    : &buffers.refused,
		    1);
	*bytes = NULL;
	*size = 0;
	/* Before 12.9 CUPTI follows a NULL: it gets a buffer whose contents are
	 * lost. */
	if (!buffers.may_refuse)
		*bytes = mmap(NULL, SPARE_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*bytes == MAP_FAILED)
		*bytes = NULL;
	else if (*bytes)
		*size = SPARE_BYTES;
}

/* Texts that records point to are copied while they certainly exist: a module
 * may be unloaded, or the text reused, before the writer comes by. */
static void intern_names(struct session *session, uint8_t *bytes,
			 size_t valid_bytes)
{
	CUpti_Activity *record = NULL;

	while (cupti.cuptiActivityGetNextRecord(bytes, valid_bytes, &record) ==
	       CUPTI_SUCCESS) {
		const char **text = cupti_record_text(record);
		uint32_t id = 0;

		if (!text)
			continue;
		if (*text)
			id = names_intern_symbol(session, *text);
		*text = (const char *)(uintptr_t)id;
	}
}

static void push(uint32_t index)
{
	struct cupti_buffer *buffer = &buffers.buffer[index];
	uint32_t newest = load_relaxed(&buffers.full);

	store_relaxed(&buffer->state, BUFFER_FULL);
	do {
		store_relaxed(&buffer->next, newest);
		/* RELEASE pairs with ACQUIRE in cupti_buffers_take(): what is
		 * in the buffer. */
	} while (!atomic_compare_exchange_weak_explicit(
		&buffers.full, &newest, index + 1, memory_order_release,
		memory_order_relaxed));
}

void cupti_buffers_strange(CUpti_BuffersCallbackCompleteFunc complete)
{
	store_relaxed(&stranger, complete);
}

/* It goes where it belongs. */
static void strange(CUcontext context, uint32_t stream, uint8_t *bytes,
		    size_t size, size_t valid_bytes)
{
	const CUpti_BuffersCallbackCompleteFunc complete =
		load_relaxed(&stranger);

	if (complete)
		complete(context, stream, bytes, size, valid_bytes);
}

/* It was lent, and nobody else gives it back.  One that was given up is no
 * loss any more. */
static bool takes_back(struct session *session, struct cupti_buffer *buffer)
{
	uint32_t was = BUFFER_LENT;

	if (atomic_compare_exchange_strong_explicit(
		    &buffer->state, &was, BUFFER_COMING, memory_order_relaxed,
		    memory_order_relaxed))
		return true;
	if (was == BUFFER_LOST &&
	    atomic_compare_exchange_strong_explicit(
		    &buffer->state, &was, BUFFER_COMING, memory_order_relaxed,
		    memory_order_relaxed)) {
		atomic_fetch_sub_explicit(&buffers.refused, 1,
					  memory_order_relaxed);
		return true;
	}
	if (session)
		session_note(session, "CUPTI gave a buffer back twice: what is "
				      "in it is shown once");
	return false;
}

void CUPTIAPI cupti_buffers_complete(CUcontext context, uint32_t stream,
				     uint8_t *bytes, size_t size,
				     size_t valid_bytes)
{
	struct session *session = load_relaxed(&session_here);
	const size_t at = (size_t)(bytes - buffers.region);
	const size_t index = at / CUPTI_BUFFER_BYTES;
	const int saved = errno;
	struct thread *was;

	if (!buffers.region)
		return;
	if (bytes < buffers.region || index >= CUPTI_BUFFERS_MAX) {
		/* A spare one: too small to be one of ours. */
		if (size == SPARE_BYTES && !buffers.may_refuse)
			munmap(bytes, SPARE_BYTES);
		else
			strange(context, stream, bytes, size, valid_bytes);
		errno = saved;
		return;
	}
	touch(session);
	was = thread_busy();
	if (!takes_back(session, &buffers.buffer[index])) {
		thread_unbusy(was);
		errno = saved;
		return;
	}
	if (session && valid_bytes && valid_bytes <= CUPTI_BUFFER_BYTES)
		intern_names(session, bytes, valid_bytes);
	buffers.buffer[index].valid_bytes =
		valid_bytes <= CUPTI_BUFFER_BYTES ? valid_bytes : 0;
	buffers.buffer[index].at = NULL;
	buffers.buffer[index].has_own_clock = cupti_clock_is_own();
	push((uint32_t)index);
	thread_unbusy(was);
	errno = saved;
}

struct cupti_buffer *cupti_buffers_next(const struct cupti_buffer *buffer)
{
	const uint32_t next = load_relaxed(&buffer->next);

	return next ? &buffers.buffer[next - 1] : NULL;
}

void cupti_buffers_link(struct cupti_buffer *buffer,
			const struct cupti_buffer *next)
{
	store_relaxed(&buffer->next, (uint32_t)(next - buffers.buffer) + 1);
}

struct cupti_buffer *cupti_buffers_take(void)
{
	/* ACQUIRE pairs with RELEASE in push(). */
	uint32_t newest = atomic_exchange_explicit(&buffers.full, 0,
						   memory_order_acquire);
	uint32_t oldest = 0;

	/* The list has the newest first. */
	while (newest) {
		struct cupti_buffer *buffer = &buffers.buffer[newest - 1];
		const uint32_t next = load_relaxed(&buffer->next);

		store_relaxed(&buffer->next, oldest);
		oldest = newest;
		newest = next;
	}
	return oldest ? &buffers.buffer[oldest - 1] : NULL;
}

void cupti_buffers_release(struct cupti_buffer *buffer)
{
	/* Zero pages: see is_empty(). */
	madvise(buffer->bytes, CUPTI_BUFFER_BYTES, MADV_DONTNEED);
	atomic_fetch_sub_explicit(&buffers.out, 1, memory_order_relaxed);
	/* RELEASE pairs with ACQUIRE in claim(). */
	store_release(&buffer->state, BUFFER_FREE);
}

/* CUPTI gets zero pages, and each record begins with its kind. */
static bool is_empty(const struct cupti_buffer *buffer)
{
	return !load_relaxed((_Atomic uint32_t *)(void *)buffer->bytes);
}

uint64_t cupti_buffers_oldest(void)
{
	uint64_t oldest = UINT64_MAX;

	for (uint32_t i = 0; i < CUPTI_BUFFERS_MAX; i++) {
		struct cupti_buffer *buffer = &buffers.buffer[i];

		const uint32_t state = load_relaxed(&buffer->state);

		if (state != BUFFER_FREE && state != BUFFER_LOST &&
		    !is_empty(buffer))
			oldest = min_u64(oldest,
					 load_relaxed(&buffer->lent_ticks));
	}
	return oldest;
}

static bool is_unreturned(const struct cupti_buffer *buffer, uint64_t ticks)
{
	return load_relaxed(&buffer->state) == BUFFER_LENT &&
	       load_relaxed(&buffer->lent_ticks) < ticks && !is_empty(buffer);
}

unsigned int cupti_buffers_unreturned(uint64_t ticks, uint64_t *oldest)
{
	unsigned int count = 0;

	*oldest = ticks;
	for (uint32_t i = 0; i < CUPTI_BUFFERS_MAX; i++) {
		if (!is_unreturned(&buffers.buffer[i], ticks))
			continue;
		count++;
		*oldest = min_u64(*oldest,
				  load_relaxed(&buffers.buffer[i].lent_ticks));
	}
	return count;
}

void cupti_buffers_lose(uint64_t ticks)
{
	for (uint32_t i = 0; i < CUPTI_BUFFERS_MAX; i++) {
		struct cupti_buffer *buffer = &buffers.buffer[i];
		uint32_t state = BUFFER_LENT;

		/* It may come back just now after all. */
		if (is_unreturned(buffer, ticks) &&
		    atomic_compare_exchange_strong_explicit(
			    &buffer->state, &state, BUFFER_LOST,
			    memory_order_relaxed, memory_order_relaxed))
			add_relaxed(&buffers.refused, 1);
	}
}

uint64_t cupti_buffers_touched(void)
{
	return load_relaxed(&buffers.touched);
}

uint64_t cupti_buffers_refused(void)
{
	return load_relaxed(&buffers.refused);
}

uint64_t cupti_buffers_refused_late(void)
{
	return load_relaxed(&buffers.refused_late);
}

void cupti_buffers_forget(void)
{
	buffers.region = NULL;
	store_relaxed(&buffers.out, 0);
	store_relaxed(&buffers.full, 0);
}

#endif
