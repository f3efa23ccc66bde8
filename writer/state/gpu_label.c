/* SPDX-License-Identifier: MIT */
/* gpu_label.c - names for kernels, copies and waits; see gpu_label.h. */
#include "writer/state/gpu_label.h"

#include "collector/system/log.h"
#include "collector/session/names.h"
#include "writer/text/schema.h"
#include <string.h>
#ifdef HAVE_DEMANGLE
#include <libiberty/demangle.h>
#endif

#define PINNED		   2u /* CUPTI's number of the kind of memory */

#define COUNT(list)	   (sizeof(list) / sizeof(list[0]))
#define WORD(list, number) list[(number) < COUNT(list) ? (number) : 0]

static const char copies[][8] = {"Unknown", "HtoD", "DtoH", "HtoA",
				 "AtoH",    "AtoA", "AtoD", "DtoA",
				 "DtoD",    "HtoH", "PtoP"};
static const char memories[][16] = {"Unknown",	     "Pageable",      "Pinned",
				    "Device",	     "Array",	      "Managed",
				    "Device Static", "Managed Static"};
static const char syncs[][24] = {"Unknown Sync", "Event Sync",
				 "Stream Wait Event", "Stream Sync",
				 "Context Sync"};

static const char moves[][16] = {
	"event",	  "Memcpy HtoD",     "Memcpy DtoH",
	"CPU page fault", "GPU page faults", "thrashing",
	"throttling",	  "remote map",	     "Memcpy DtoD"};

/* As NVML numbers them; what a user set, and idleness, is none. */
static const struct {
	uint16_t bit;
	char word[32];
} throttles[] = {
	{0x04, "software power cap"},	{0x08, "hardware slowdown"},
	{0x20, "software thermal"},	{0x40, "hardware thermal"},
	{0x80, "hardware power brake"},
};

uint32_t gpu_label_throttling(uint32_t reasons)
{
	uint32_t all = 0;

	for (size_t i = 0; i < sizeof(throttles) / sizeof(*throttles); i++)
		all |= throttles[i].bit;
	return reasons & all;
}

static void throttling(uint64_t reasons, char *text, size_t bytes)
{
	size_t at = log_format(text, bytes, "throttled:");

	for (size_t i = 0; i < sizeof(throttles) / sizeof(*throttles); i++) {
		if (reasons & throttles[i].bit && at < bytes) {
			at += log_format(text + at, bytes - at, "%s %s",
					 text[at - 1] == ':' ? "" : ",",
					 throttles[i].word);
		}
	}
}

const char *gpu_label_sync(uint32_t type)
{
	return WORD(syncs, type);
}

void gpu_label_key(const struct event *event, struct label *key)
{
	const struct gpu_copy *copy = (const struct gpu_copy *)(event + 1);

	switch (event->kind) {
	case EVENT_GPU_API:
		key->name = event->name;
		key->sync = event->api.is_driver != 0;
		break;
	case EVENT_GPU_KERNEL:
	case EVENT_GPU_JIT:
	case EVENT_GPU_OVERHEAD: key->name = event->name; break;
	case EVENT_GPU_HOST: key->code = event->gpu.graph != 0; break;
	case EVENT_GPU_UNIFIED: key->code = event->extra; break;
	case EVENT_GPU_SAMPLE:
		key->code = gpu_label_throttling(event->sample.reasons);
		break;
	case EVENT_GPU_COPY:
		if (event->flags & EVENT_TWO_SLOTS)
			key->code = (copy->kind & 0xff) |
				    (uint64_t)(copy->source & 0xff) << 8 |
				    (uint64_t)(copy->destination & 0xff) << 16;
		break;
	case EVENT_GPU_FILL: key->code = event->extra; break;
	case EVENT_GPU_MEMORY:
		key->code = event->extra == PINNED ? PINNED : 0;
		break;
	case EVENT_GPU_SYNC: key->sync = (uint16_t)event->extra; break;
	default: break;
	}
}

#ifdef HAVE_DEMANGLE
struct demangled {
	char *text;
	size_t len, room;
};

static void add(const char *piece, size_t len, void *arg)
{
	struct demangled *made = arg;

	len = min_u64(len, made->room - made->len);
	memcpy(made->text + made->len, piece, len);
	made->len += len;
}

/* The demangler refuses symbols longer than 1 KiB for fear of its stack.  Ours
 * has room for NAME_SYMBOL_MAX, nested as badly as can be (1.4 MiB). */
#ifndef DMGL_NO_RECURSE_LIMIT
#define DMGL_NO_RECURSE_LIMIT 0
#endif

/* Kernels keep their parameters: two that differ in nothing else are two. */
static bool demangle(const char *name, char *text, size_t bytes)
{
	struct demangled made = {.text = text, .room = bytes - 1};
	const bool is_done =
		!strncmp(name, "_Z", 2) &&
		cplus_demangle_v3_callback(
			name, DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT,
			add, &made);

	text[made.len] = '\0';
	return is_done && made.len;
}
#else
static bool demangle(const char *name, char *text, size_t bytes)
{
	(void)name;
	(void)text;
	(void)bytes;
	return false;
}
#endif

static void kernel_text(const char *name, char *text, size_t bytes)
{
	if (!demangle(name, text, bytes))
		log_format(text, bytes, "%s", name);
	/* The category has that name, which confuses readers. */
	if (!strcmp(text, "kernel"))
		log_format(text, bytes, "Kernel");
}

void gpu_label_text(const struct session *session, const struct label *key,
		    char *text, size_t bytes)
{
	size_t len;

	switch (key->kind) {
	case EVENT_GPU_KERNEL:
		kernel_text(names_text(session, key->name, &len), text, bytes);
		break;
	case EVENT_GPU_COPY:
		log_format(text, bytes, "Memcpy %s (%s -> %s)",
			   WORD(copies, key->code & 0xff),
			   WORD(memories, key->code >> 8 & 0xff),
			   WORD(memories, key->code >> 16 & 0xff));
		break;
	case EVENT_GPU_FILL:
		log_format(text, bytes, "Memset (%s)",
			   WORD(memories, key->code));
		break;
	case EVENT_GPU_SYNC:
		log_format(text, bytes, "%s", gpu_label_sync(key->sync));
		break;
	case EVENT_GPU_EVENT: log_format(text, bytes, "cudaEvent"); break;
	case EVENT_GPU_GRAPH: log_format(text, bytes, "CUDA graph"); break;
	case EVENT_GPU_HOST:
		log_format(text, bytes, "%s",
			   key->code ? "graph host node" : "host function");
		break;
	case EVENT_GPU_UNIFIED:
		log_format(text, bytes, "Unified Memory %s",
			   WORD(moves, key->code));
		break;
	case EVENT_GPU_POOL: log_format(text, bytes, "memory pool"); break;
	case EVENT_GPU_SAMPLE: throttling(key->code, text, bytes); break;
	case EVENT_GPU_MEMORY:
		if (key->code == PINNED)
			log_format(text, bytes, SCHEMA_PINNED);
		else
			log_format(text, bytes, SCHEMA_MEMORY " of a GPU");
		break;
	default:
		log_format(text, bytes, "%s",
			   names_text(session, key->name, &len));
	}
}

const char *gpu_label_category(const struct label *key)
{
	switch (key->kind) {
	case EVENT_GPU_API:
		return key->sync ? SCHEMA_CUDA_DRIVER : SCHEMA_CUDA_RUNTIME;
	case EVENT_GPU_COPY: return SCHEMA_GPU_MEMCPY;
	case EVENT_GPU_FILL: return SCHEMA_GPU_MEMSET;
	case EVENT_GPU_SYNC: return SCHEMA_CUDA_SYNC;
	case EVENT_GPU_EVENT: return SCHEMA_CUDA_EVENT;
	case EVENT_GPU_JIT:
	case EVENT_GPU_OVERHEAD: return SCHEMA_OVERHEAD;
	case EVENT_GPU_HOST: return SCHEMA_CPU_OP;
	case EVENT_GPU_UNIFIED: return SCHEMA_UNIFIED_MEMORY;
	case EVENT_GPU_POOL: return SCHEMA_MEMORY_POOL;
	case EVENT_GPU_SAMPLE: return SCHEMA_GPU_THROTTLE;
	case EVENT_GPU_MEMORY: return SCHEMA_CPU_INSTANT;
	default: return SCHEMA_KERNEL;
	}
}
