/* SPDX-License-Identifier: MIT */
/* python_place.c - where Python has come to; see python_frames.h. */
#include "preload/stack/python_frames.h"
#include "preload/stack/python_layout.h"
#include "preload/stack/python_loops.h"
#include <dlfcn.h>

/* Where a code object has the number of its instructions' units. */
#define CODE_UNITS  16u
/* A tuple's type, length and first item. */
#define TUPLE_WORDS 3u
#define PLACE_MASK  ((1u << PYTHON_PLACE_BITS) - 1)

static uint64_t mix(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

uint32_t python_frames_all(struct python_frame *found)
{
	const uint32_t count = python_frames_take(found);

	return count < PYTHON_FRAMES_MAX ? count : 0;
}

bool python_frames_loops(const struct python_frame *frame,
			 struct code_loops *loops)
{
	static unsigned char code[2 * PYTHON_UNITS_MAX];
	const struct python_layout *layout = python_frames_layout();
	const uint64_t begin = frame->code + layout->start;
	uint64_t units;

	*loops = (struct code_loops){0};
	return layout->start != NONE &&
	       python_frames_peek(frame->code + CODE_UNITS, &units,
				  sizeof(units)) &&
	       units <= PYTHON_UNITS_MAX &&
	       python_frames_peek(begin, code, 2 * units) &&
	       python_loops_around(
		       layout->minor, code, (uint32_t)units,
		       (uint32_t)min_u64((frame->instruction - begin) / 2,
					 units),
		       loops);
}

/* What a wrapped method was called for: of `*args` the first; 0 not known. */
static uint64_t object_of(const struct python_frame *frames, uint32_t count)
{
	const uint64_t type =
		(uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "PyTuple_Type");
	uint64_t tuple[TUPLE_WORDS];

	for (uint32_t i = 0; i < count; i++) {
		if (frames[i].first % 8 == 0 &&
		    python_frames_peek(frames[i].first + 8, tuple,
				       sizeof(tuple)) &&
		    tuple[0] == type && tuple[1])
			return tuple[2];
	}
	return 0;
}

uint32_t python_frames_place(void)
{
	struct python_frame found[PYTHON_FRAMES_MAX];
	const uint32_t count = python_frames_take(found);
	uint64_t hash = 0, object;

	if (!count)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		hash = mix(hash, found[i].code ^ found[i].instruction << 20);
	object = object_of(found, count);
	return (uint32_t)((hash >> 32 & PLACE_MASK) | 1 |
			  mix(0, object) >> 52 << PYTHON_PLACE_BITS);
}
