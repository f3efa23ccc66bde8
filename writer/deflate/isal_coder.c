/* SPDX-License-Identifier: MIT */
/*
 * isal_coder.c - Intel's ISA-L as a coder: three times as fast as zlib:1 on
 * our text, for about as many bytes.
 *
 * The library is never linked, only opened where it is installed, and for
 * itself (RTLD_LOCAL); its header is needed when building.  Without either,
 * coder_open() says -ENOENT.
 *
 * A fork while the library is being opened would leave the child one that is
 * there and yet not relocated.  So forks wait for that moment
 * (collector/system/loader.h), and a forked child does without (coder_forget).
 */
#include "writer/deflate/coder.h"

#include "collector/system/loader.h"
#include <errno.h>

#if __has_include(<isa-l/igzip_lib.h>)

#include <dlfcn.h>
#include <isa-l/igzip_lib.h>

#define ISAL_LIBRARY "libisal.so.2"
#define ISAL_LEVEL   1

/* Everything that one coder has, in its arena. */
struct isal_state {
	void (*prepare)(struct isal_zstream *stream);
	int (*deflate)(struct isal_zstream *stream);
	uint32_t (*crc32)(uint32_t crc, const unsigned char *text,
			  uint64_t len);
	struct isal_zstream stream;
	uint8_t level_buffer[ISAL_DEF_LVL1_DEFAULT];
};

/* Never closed: another coder of this process may be in it. */
static void *load(void)
{
	void *library;

	if (!loader_enter())
		return NULL;
	library = dlopen(ISAL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	loader_leave();
	return library;
}

static int isal_open(struct coder *coder)
{
	struct isal_state *state;
	void *library = load();

	if (!library)
		return -ENOENT;
	state = coder_alloc(coder, sizeof(*state));
	if (!state)
		return -ENOMEM;
	*(void **)&state->prepare =
		dlsym(library, "isal_deflate_stateless_init");
	*(void **)&state->deflate = dlsym(library, "isal_deflate_stateless");
	*(void **)&state->crc32 = dlsym(library, "crc32_gzip_refl");
	coder->state = state;
	return state->prepare && state->deflate && state->crc32 ? 0 : -ENOENT;
}

static int isal_block(struct coder *coder, const struct coder_text *text,
		      char *out, size_t room, size_t *made)
{
	struct isal_state *const state = coder->state;
	struct isal_zstream *const stream = &state->stream;

	if (text->len > UINT32_MAX || room > UINT32_MAX)
		return -EIO;
	state->prepare(stream);
	stream->level = ISAL_LEVEL;
	stream->level_buf = state->level_buffer;
	stream->level_buf_size = sizeof(state->level_buffer);
	stream->flush = FULL_FLUSH;
	stream->end_of_stream = text->last;
	stream->next_in = (uint8_t *)(uintptr_t)text->data;
	stream->avail_in = (uint32_t)text->len;
	stream->next_out = (uint8_t *)out;
	stream->avail_out = (uint32_t)room;
	if (state->deflate(stream) != COMP_OK || stream->avail_in)
		return -EIO;
	*made = room - stream->avail_out;
	return 0;
}

static uint32_t isal_crc32(const struct coder *coder, uint32_t crc,
			   const char *text, size_t len)
{
	const struct isal_state *const state = coder->state;

	return state->crc32(crc, (const unsigned char *)text, len);
}

const struct coder_back_end isal_coder = {
	.arena_bytes = sizeof(struct isal_state) + PAGE_BYTES,
	.open = isal_open,
	.block = isal_block,
	.crc32 = isal_crc32,
};

#else

static int isal_open(struct coder *coder)
{
	(void)coder;
	return -ENOENT;
}

const struct coder_back_end isal_coder = {.open = isal_open};

#endif
