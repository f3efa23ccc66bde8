/* SPDX-License-Identifier: MIT */
/*
 * modules.c - copies the loader's list into the session.
 *
 * dl_iterate_phdr() takes the loader's write lock, which dlopen holds for
 * moments only.  It is called by the writer thread, never by a hook but
 * dlclose()'s, before code goes that stacks may name.
 */
#include "collector/session/modules.h"

#include "collector/system/clock.h"
#include "collector/system/loader.h"
#include "collector/system/symbols.h"
#include <elf.h>
#include <link.h>
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define TRIES	   1000

/* One walk over the loader's list. */
struct walk {
	struct session *session;
	int added;
	bool first;   /* the first object is the executable */
	bool hides;   /* one that was added lies around another */
	bool changed; /* the counters moved since the last walk */
};

static uint64_t looked_ticks; /* when the loader's list was last seen */
static unsigned long long seen_adds;
static unsigned long long seen_subs;
static _Atomic bool is_busy;

static void copy_build_id(struct module *module,
			  const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uint8_t *id = NULL;
		size_t len;

		if (segment->p_type == PT_NOTE)
			id = symbols_build_id((const char *)info->dlpi_addr +
						      segment->p_vaddr,
					      segment->p_memsz, &len);
		if (!id)
			continue;
		module->id_len = (uint32_t)min_u64(len, BUILD_ID_BYTES);
		memcpy(module->build_id, id, module->id_len);
		return;
	}
}

static void find_range(const struct dl_phdr_info *info, uint64_t *low,
		       uint64_t *high)
{
	*low = UINT64_MAX;
	*high = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD)
			continue;
		*low = min_u64(*low, info->dlpi_addr + segment->p_vaddr);
		*high = max_u64(*high, info->dlpi_addr + segment->p_vaddr +
					       segment->p_memsz);
	}
}

static bool is_known(const struct session *session, uint64_t low, uint64_t high,
		     const char *path)
{
	const struct module *module = modules_find(session, low);

	return module && module->low == low && module->high == high &&
	       !strcmp(module->path, path);
}

/* What the kernel was asked to run, "" where that isn't known: a path from the
 * root, and not the loader that was given the program. */
static const char *executed_path(void)
{
	const char *path = (const char *)getauxval(AT_EXECFN);

	return path && path[0] == '/' && getauxval(AT_BASE) ? path : "";
}

static const char *path_of(const struct dl_phdr_info *info, bool first,
			   char *buffer)
{
	ssize_t len;

	if (info->dlpi_name && info->dlpi_name[0])
		return info->dlpi_name;
	if (!first)
		return "";
	len = readlink("/proc/self/exe", buffer, PATH_BYTES - 1);
	if (len < 0) /* without /proc, in a bare chroot say */
		return executed_path();
	buffer[len] = '\0';
	return buffer;
}

/* The kernel's own file lies in a hole of the loader's: both are there. */
static bool is_instead(const struct module *m, const struct module *before)
{
	return m->low < before->high && before->low < m->high &&
	       !(m->low > before->low && m->high < before->high) &&
	       !(m->low < before->low && m->high > before->high) &&
	       strcmp(m->path, before->path) != 0;
}

/* When that was, at the latest: a thread that closes a library looks just
 * before.  What isn't a sample is named without a time.  Of several such the
 * first says enough. */
static uint64_t from_ticks(struct session *session, const struct module *module)
{
	static pid_t told;
	const struct module *m = modules_each(session, NULL);

	while (m && !is_instead(module, m))
		m = modules_each(session, m);
	if (!m)
		return 0;
	if (told != getpid())
		session_note(
			session,
			"%s was loaded where %s had been: calls and blocks "
			"of either may have the other's names (samples "
			"have their own)",
			module->path, m->path);
	told = getpid();
	return looked_ticks;
}

static bool add(struct session *session, const struct dl_phdr_info *info,
		uint64_t low, uint64_t high, const char *path)
{
	struct session_header *head = session->head;
	const size_t len = strlen(path);
	const uint64_t at =
		session_alloc(session, sizeof(struct module) + len + 1);
	struct module *module;

	if (!at)
		return false;
	module = session_at(session, at);
	module->bias = info->dlpi_addr;
	module->low = low;
	module->high = high;
	copy_build_id(module, info);
	module->path_len = (uint32_t)len;
	memcpy(module->path, path, len + 1);
	module->from_ticks = from_ticks(session, module);
	store_relaxed(&module->next, load_relaxed(&head->modules));
	/* RELEASE pairs with ACQUIRE in modules_each(). */
	store_release(&head->modules, at);
	add_relaxed(&head->module_count, 1);
	return true;
}

/* On aarch64 a file's segments lie up to 64 KiB apart, and the kernel maps its
 * own file into such a hole of the loader's. */
static bool is_around_another(const struct session *session, uint64_t low,
			      uint64_t high)
{
	for (const struct module *m = modules_each(session, NULL); m;
	     m = modules_each(session, m)) {
		if (m->low > low && m->high < high)
			return true;
	}
	return false;
}

static int visit(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct walk *walk = arg;
	const bool first = walk->first;
	char buffer[PATH_BYTES];
	const char *path;
	uint64_t low;
	uint64_t high;

	if (first && bytes >= offsetof(struct dl_phdr_info, dlpi_subs) +
				      sizeof(info->dlpi_subs)) {
		/* A new session, a forked child's say, has nothing yet. */
		walk->changed =
			info->dlpi_adds != seen_adds ||
			info->dlpi_subs != seen_subs ||
			!load_relaxed(&walk->session->head->module_count);
		seen_adds = info->dlpi_adds;
		seen_subs = info->dlpi_subs;
	}
	walk->first = false;
	if (!walk->changed)
		return 1;
	path = path_of(info, first, buffer);
	find_range(info, &low, &high);
	if (low >= high || !path[0] || is_known(walk->session, low, high, path))
		return 0;
	walk->hides |= is_around_another(walk->session, low, high);
	walk->added += add(walk->session, info, low, high, path);
	return 0;
}

/* One at a time: the list has one who adds. */
static bool enter(void)
{
	for (int i = 0; i < TRIES; i++) {
		bool is_free = false;

		/* ACQUIRE pairs with RELEASE in modules_refresh(): what the
		 * last one saw. */
		if (atomic_compare_exchange_strong_explicit(
			    &is_busy, &is_free, true, memory_order_acquire,
			    memory_order_relaxed))
			return true;
		sched_yield();
	}
	return false;
}

int modules_refresh(struct session *session)
{
	struct walk walk = {.session = session, .first = true, .changed = true};
	const uint64_t ticks = clock_ticks();

	if (!loader_enter())
		return 0;
	if (enter()) {
		dl_iterate_phdr(visit, &walk);
		/* Who is found is the newest: those inside once more. */
		if (walk.hides) {
			walk.first = walk.hides = false;
			dl_iterate_phdr(visit, &walk);
		}
		looked_ticks = ticks;
		/* RELEASE pairs with ACQUIRE in enter(). */
		store_release(&is_busy, false);
	}
	loader_leave();
	return walk.added;
}

static bool is_whole(const struct session *session, const struct module *module)
{
	const uint64_t at = session_offset(session, module);

	return module->path_len < PATH_BYTES &&
	       module->id_len <= BUILD_ID_BYTES &&
	       session_at_checked(session, at,
				  sizeof(*module) + module->path_len + 1) &&
	       !module->path[module->path_len];
}

const struct module *modules_each(const struct session *session,
				  const struct module *last)
{
	/* ACQUIRE pairs with RELEASE in add(). */
	const uint64_t at = last ? load_relaxed(&((struct module *)last)->next)
				 : load_acquire(&session->head->modules);
	const struct module *module;

	/* Allocated front to back: a walk goes strictly down. */
	if (last && at >= session_offset(session, last))
		return NULL;
	module = session_at_checked(session, at, sizeof(*module) + 1);
	return module && is_whole(session, module) ? module : NULL;
}

const struct module *modules_find_at(const struct session *session,
				     uint64_t address, uint64_t ticks,
				     uint64_t *until)
{
	*until = UINT64_MAX;
	for (const struct module *m = modules_each(session, NULL); m;
	     m = modules_each(session, m)) {
		if (address < m->low || address >= m->high)
			continue;
		if (m->from_ticks < ticks)
			return m;
		*until = m->from_ticks;
	}
	return NULL;
}

const struct module *modules_find(const struct session *session,
				  uint64_t address)
{
	uint64_t until;

	return modules_find_at(session, address, UINT64_MAX, &until);
}
