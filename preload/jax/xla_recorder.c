/* SPDX-License-Identifier: MIT */
/* xla_recorder.c - found, proved, emptied; see xla_recorder.h. */
#include "preload/jax/xla_recorder.h"

#include "collector/system/descriptor.h"
#include "preload/python/package_version.h"
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define IS_KNOWN_HERE true
#else
#define IS_KNOWN_HERE false
#endif
/* Of jaxlib 0.x, from 0.4.38 on: each one's last release was run. */
#define MINOR_MIN  4
#define MINOR_MAX  12
#define PATCH_MIN  38 /* of the first */
/* As jax.profiler has it. */
#define LEVEL	   2
#define ALL	   UINT64_MAX
#define BLOCK	   10 /* events of a deque's block: 512 bytes */
#define THREADS	   65536
#define CODE_BYTES 16u /* compared at least */

_Static_assert(sizeof(struct xla_event) == 48, "as the library has it");
_Static_assert(sizeof(struct xla_thread) == 120, "as the library has it");

/* --- the version ---------------------------------------------------------- */

static bool version_is_known(const char *path)
{
	int minor, patch;

	return package_version(path, "/version.py", "_version = \"0.", &minor,
			       &patch) &&
	       minor >= MINOR_MIN && minor <= MINOR_MAX &&
	       patch >= (minor == MINOR_MIN ? PATCH_MIN : 0);
}

/* --- its functions -------------------------------------------------------- */

struct file {
	const char *bytes;
	uint64_t size;
	uint64_t bias;
};

#define RECORDER "_ZN3tsl8profiler15TraceMeRecorder"

enum { STOP, START_OLD, START, EMPTY, LEVEL_WORD, FOUND_COUNT };

static const char *const wanted[FOUND_COUNT] = {
	[STOP] = RECORDER "4StopEv",
	[START_OLD] = RECORDER "5StartEim",
	[START] = RECORDER "5StartEimb",
	[EMPTY] = RECORDER "7ConsumeEv",
	[LEVEL_WORD] = "_ZN3tsl8profiler8internal13g_trace_levelE",
};

static const void *at(const struct file *file, uint64_t offset, uint64_t bytes)
{
	return offset <= file->size && bytes <= file->size - offset
		       ? file->bytes + offset
		       : NULL;
}

/* The code that is loaded is that of the file, which may have been replaced. */
static bool is_loaded(const struct file *file, const Elf64_Sym *symbol)
{
	const Elf64_Ehdr *head = at(file, 0, sizeof(*head));
	const Elf64_Phdr *part =
		at(file, head->e_phoff,
		   (uint64_t)head->e_phnum * sizeof(Elf64_Phdr));
	const uint64_t bytes = symbol->st_size;
	const void *code;

	for (unsigned int i = 0; part && i < head->e_phnum; i++) {
		const uint64_t in = symbol->st_value - part[i].p_vaddr;

		if (part[i].p_type != PT_LOAD || !(part[i].p_flags & PF_X) ||
		    in >= part[i].p_filesz || bytes > part[i].p_filesz - in)
			continue;
		code = at(file, part[i].p_offset + in, bytes);
		return code && bytes >= CODE_BYTES &&
		       !memcmp((const void *)(uintptr_t)(file->bias +
							 symbol->st_value),
			       code, bytes);
	}
	return false;
}

static void look_in(const struct file *file, const Elf64_Shdr *table,
		    const Elf64_Shdr *text, uint64_t found[FOUND_COUNT])
{
	const uint64_t count = table->sh_size / sizeof(Elf64_Sym);
	const Elf64_Sym *symbol =
		at(file, table->sh_offset, count * sizeof(Elf64_Sym));
	const char *names = at(file, text->sh_offset, text->sh_size);

	if (!symbol || !names || !text->sh_size || names[text->sh_size - 1])
		return;
	for (uint64_t i = 0; i < count; i++, symbol++) {
		const char *name;

		if (symbol->st_name >= text->sh_size || !symbol->st_value)
			continue;
		name = names + symbol->st_name;
		if (strncmp(name, "_ZN3tsl8profiler", 16) != 0)
			continue;
		for (int k = 0; k < FOUND_COUNT; k++) {
			if (!strcmp(name, wanted[k]) &&
			    (k == LEVEL_WORD || is_loaded(file, symbol)))
				found[k] = file->bias + symbol->st_value;
		}
	}
}

static void look_through(const struct file *file, uint64_t found[FOUND_COUNT])
{
	const Elf64_Ehdr *head = at(file, 0, sizeof(*head));
	const Elf64_Shdr *section;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_shentsize != sizeof(*section) ||
	    head->e_phentsize != sizeof(Elf64_Phdr))
		return;
	section = at(file, head->e_shoff,
		     (uint64_t)head->e_shnum * sizeof(*section));
	for (unsigned int i = 0; section && i < head->e_shnum; i++) {
		if (section[i].sh_type == SHT_SYMTAB &&
		    section[i].sh_link < head->e_shnum)
			look_in(file, &section[i], &section[section[i].sh_link],
				found);
	}
}

static bool find_functions(struct xla_recorder *recorder, const char *path,
			   uint64_t bias)
{
	uint64_t found[FOUND_COUNT] = {0};
	struct file file = {.bias = bias};
	struct stat status;
	void *map = MAP_FAILED, *handle;
	const int fd = descriptor_open_high(path, O_RDONLY | O_CLOEXEC, 0);

	if (fd >= 0 && !fstat(fd, &status) && status.st_size > 0) {
		file.size = (uint64_t)status.st_size;
		map = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return false;
	file.bytes = map;
	look_through(&file, found);
	munmap(map, file.size);
	/* The older one has no third argument. */
	if (!found[START])
		found[START] = found[START_OLD];
	if (!found[START] || !found[STOP] || !found[LEVEL_WORD])
		return false;
	memcpy(&recorder->start, &found[START], sizeof(recorder->start));
	memcpy(&recorder->stop, &found[STOP], sizeof(recorder->stop));
	memcpy(&recorder->empty, &found[EMPTY], sizeof(recorder->empty));
	memcpy(&recorder->level, &found[LEVEL_WORD], sizeof(recorder->level));
	/* operator delete, which the library itself would call. */
	handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (handle)
		*(void **)&recorder->release = dlsym(handle, "_ZdlPv");
	return recorder->release != NULL;
}

/* --- its events ----------------------------------------------------------- */

void xla_recorder_tell(const struct xla_events *events,
		       void (*tell)(const struct xla_thread *thread,
				    const struct xla_event *event, void *arg),
		       void *arg)
{
	for (const struct xla_thread *t = events->begin; t < events->end; t++) {
		struct xla_place place = t->begin;

		while (place.at != t->end.at) {
			tell(t, place.at, arg);
			if (++place.at == place.end) {
				place.at = *++place.block;
				place.end = place.at + BLOCK;
			}
		}
	}
}

static void release_text(const struct xla_recorder *recorder,
			 const struct xla_text *text)
{
	if (text->at != text->own)
		recorder->release(text->at);
}

static void release_one(const struct xla_thread *thread,
			const struct xla_event *event, void *arg)
{
	(void)thread;
	release_text(arg, &event->name);
}

void xla_recorder_release(const struct xla_recorder *recorder,
			  struct xla_events *events)
{
	xla_recorder_tell(events, release_one, (void *)(uintptr_t)recorder);
	for (struct xla_thread *t = events->begin; t < events->end; t++) {
		for (struct xla_event **block = t->begin.block;
		     block <= t->end.block; block++)
			recorder->release(*block);
		recorder->release(t->blocks);
		release_text(recorder, &t->name);
	}
	if (events->begin)
		recorder->release(events->begin);
	*events = (struct xla_events){0};
}

bool xla_recorder_start(const struct xla_recorder *recorder)
{
	return recorder->start(LEVEL, ALL, false);
}

/* --- the proof ------------------------------------------------------------ */

/* Nothing is followed that may be no pointer. */
static bool peek(const void *from, void *to, size_t bytes)
{
	const struct iovec mine = {to, bytes};
	const struct iovec theirs = {(void *)(uintptr_t)from, bytes};

	return process_vm_readv(getpid(), &mine, 1, &theirs, 1, 0) ==
	       (ssize_t)bytes;
}

static bool is_sound_thread(const struct xla_thread *at)
{
	struct xla_event *first, *last;
	struct xla_thread t;

	return peek(at, &t, sizeof(t)) && t.blocks &&
	       t.begin.block >= t.blocks && t.end.block >= t.begin.block &&
	       t.end.block < t.blocks + t.block_count &&
	       t.begin.end == t.begin.first + BLOCK &&
	       t.begin.at >= t.begin.first && t.begin.at < t.begin.end &&
	       t.end.at >= t.end.first && t.end.at < t.end.first + BLOCK &&
	       peek(t.begin.block, &first, sizeof(first)) &&
	       peek(t.end.block, &last, sizeof(last)) &&
	       first == t.begin.first && last == t.end.first;
}

static bool is_sound(const struct xla_events *events)
{
	const uintptr_t bytes =
		(uintptr_t)events->end - (uintptr_t)events->begin;

	if (events->begin > events->end || events->end > events->room ||
	    bytes % sizeof(struct xla_thread) ||
	    bytes / sizeof(struct xla_thread) > THREADS)
		return false;
	for (const struct xla_thread *t = events->begin; t < events->end; t++) {
		if (!is_sound_thread(t))
			return false;
	}
	return true;
}

struct proof {
	int64_t start_ns;
	unsigned int seen, wrong;
	uint32_t thread;
};

static void see(const struct xla_thread *thread, const struct xla_event *at,
		void *arg)
{
	char name[sizeof(XLA_RECORDER_OWN)] = "";
	struct proof *proof = arg;
	struct xla_event event;
	bool is_own;

	if (!peek(at, &event, sizeof(event)) ||
	    (event.name.len < sizeof(event.name.own) &&
	     event.name.at != at->name.own) ||
	    !peek(event.name.at, name, min_u64(event.name.len, sizeof(name)))) {
		proof->wrong++;
		return;
	}
	is_own = event.name.len == sizeof(XLA_RECORDER_OWN) - 1 &&
		 !memcmp(name, XLA_RECORDER_OWN, event.name.len) &&
		 event.start_ns >= proof->start_ns &&
		 event.end_ns >= event.start_ns &&
		 event.end_ns <= xla_recorder_now_ns();
	proof->seen += is_own;
	if (is_own)
		proof->thread = thread->id;
}

int64_t xla_recorder_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

const char *xla_recorder_prove(const struct xla_recorder *recorder,
			       void (*annotate)(void *arg), void *arg,
			       uint32_t *thread)
{
	struct proof proof = {.start_ns = xla_recorder_now_ns()};
	struct xla_events events = {0}, rest = {0};

	if (atomic_load(recorder->level) >= 0 || !xla_recorder_start(recorder))
		return "the program's own profiler is on";
	annotate(arg);
	if (recorder->empty)
		recorder->empty(&events);
	else
		recorder->stop(&events);
	if (is_sound(&events))
		xla_recorder_tell(&events, see, &proof);
	if (recorder->empty)
		recorder->stop(&rest);
	if (proof.seen != 1 || proof.wrong || !is_sound(&rest))
		return "they don't lie as its version's do";
	xla_recorder_release(recorder, &events);
	xla_recorder_release(recorder, &rest);
	*thread = proof.thread;
	return NULL;
}

const char *xla_recorder_find(struct xla_recorder *recorder, const char *path,
			      uint64_t bias)
{
	if (!IS_KNOWN_HERE)
		return "it is known on x86-64 alone";
	if (!version_is_known(path))
		return "jaxlib's version is unknown here";
	return find_functions(recorder, path, bias)
		       ? NULL
		       : "jaxlib's file has no symbols of it";
}
