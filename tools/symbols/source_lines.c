/* SPDX-License-Identifier: MIT */
/* source_lines.c - asks libdw, and perf's maps; see source_lines.h. */
#include "tools/symbols/source_lines.h"

#include "tools/symbols/perf_map.h"
#include "tools/symbols/source_names.h"
#include "tools/symbols/source_scopes.h"
#include "tools/util/memory.h"
#include "tools/util/short_name.h"
#include "tools/util/text_buffer.h"
#include "writer/state/naming.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#define NAME_BYTES  512	 /* of what is kept whole */
#define WHOLE_BYTES 4096 /* of what is folded then */

struct module {
	char *path, *build_id;
	const char *name; /* of the path */
	bool is_asked;	  /* it was looked for */
	bool is_missing;
	Dwfl *dwfl;
	Dwfl_Module *found; /* NULL none */
	struct source_units units;
	struct source_names names;
};

struct source_finder {
	Dwfl_Callbacks callbacks;
	char *debug_dir;
	char *debug_path; /* of libdw, NULL its own */
	struct module *modules;
	size_t count, capacity;
	struct perf_map *jit; /* NULL none */
	char **texts;
	size_t text_count, text_capacity;
};

struct source_finder *source_finder_new(const char *debug_dir)
{
	struct source_finder *finder = memory_zeroed(1, sizeof(*finder));

	finder->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	if (!debug_dir)
		return finder;
	finder->debug_dir = strdup(debug_dir);
	if (asprintf(&finder->debug_path, "+:.debug:%s:/usr/lib/debug",
		     debug_dir) < 0)
		memory_exhausted();
	finder->callbacks.debuginfo_path = &finder->debug_path;
	return finder;
}

void source_finder_module(struct source_finder *finder, const char *path,
			  const char *build_id)
{
	const char *slash;
	struct module *module;

	finder->modules =
		memory_grow(finder->modules, finder->count, &finder->capacity,
			    sizeof(finder->modules[0]));
	module = &finder->modules[finder->count++];
	*module = (struct module){.path = strdup(path),
				  .build_id = strdup(build_id)};
	slash = strrchr(module->path, '/');
	module->name = slash ? slash + 1 : module->path;
}

void source_finder_process(struct source_finder *finder, int64_t pid)
{
	if (!finder->jit)
		finder->jit = perf_map_open(pid);
}

static const char *keep(struct source_finder *finder, const char *text)
{
	char *copy = strdup(text);

	finder->texts =
		memory_grow(finder->texts, finder->text_count,
			    &finder->text_capacity, sizeof(finder->texts[0]));
	finder->texts[finder->text_count++] = copy;
	return copy;
}

static bool is_build(Dwfl_Module *found, const char *build_id)
{
	const unsigned char *bits;
	GElf_Addr address;
	char text[128] = "";
	int len;

	dwfl_module_getelf(found, &address);
	len = dwfl_module_build_id(found, &bits, &address);
	for (int i = 0; i < len && i < 60; i++)
		snprintf(text + 2 * i, 3, "%02x", bits[i]);
	return !build_id[0] || !strncmp(text, build_id, strlen(build_id));
}

/* Reads this file as the module, if it is the one that was recorded. */
static bool open_file(const struct source_finder *finder, struct module *module,
		      const char *path)
{
	if (access(path, R_OK))
		return false;
	module->dwfl = dwfl_begin(&finder->callbacks);
	if (!module->dwfl)
		return false;
	module->found =
		dwfl_report_offline(module->dwfl, module->name, path, -1);
	dwfl_report_end(module->dwfl, NULL, NULL);
	if (module->found && is_build(module->found, module->build_id))
		return true;
	dwfl_end(module->dwfl);
	module->dwfl = NULL;
	module->found = NULL;
	return false;
}

static void open_module(const struct source_finder *finder,
			struct module *module)
{
	const char *const folders[] = {finder->debug_dir, "/usr/lib/debug"};
	char path[4096];

	module->is_asked = true;
	if (open_file(finder, module, module->path))
		return;
	for (size_t i = 0; i < 4 && strlen(module->build_id) > 2; i++) {
		if (!folders[i / 2])
			continue;
		snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s%s",
			 folders[i / 2], module->build_id, module->build_id + 2,
			 i % 2 ? "" : ".debug");
		if (open_file(finder, module, path))
			return;
	}
	if (finder->debug_dir) {
		snprintf(path, sizeof(path), "%s/%s", finder->debug_dir,
			 module->name);
		if (open_file(finder, module, path))
			return;
	}
	/* The kernel's, which is no file. */
	module->is_missing = !strstr(module->name, "vdso");
}

/* A name of so many arguments that the function isn't among its first bytes is
 * folded. */
static const char *keep_tidy(struct source_finder *finder, const char *name)
{
	char text[WHOLE_BYTES];

	if (naming_tidy(name, strlen(name), text, sizeof(text)) < NAME_BYTES)
		return keep(finder, text);
	return keep(finder, folded_name(text, FOLDED_NAME_WHOLE).text);
}

/* What a function is called in the source, or NULL. */
static const char *function_of(struct source_finder *finder, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name;

	name = dwarf_formstring(
		dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
	if (!name)
		name = dwarf_diename(die);
	return name ? keep_tidy(finder, name) : NULL;
}

static bool is_function(Dwarf_Die *die)
{
	const int tag = dwarf_tag(die);

	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram ||
	       tag == DW_TAG_entry_point;
}

/* Where the call stood that was replaced by this function's body. */
static void call_place(struct source_finder *finder, Dwarf_Die *cu,
		       Dwarf_Die *die, struct source_frame *frame)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word number;
	const char *file;

	if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute),
			     &number))
		frame->line = (int)number;
	if (dwarf_getsrcfiles(cu, &files, NULL) ||
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute),
			    &number))
		return;
	file = dwarf_filesrc(files, number, NULL, NULL);
	if (file)
		frame->file = keep(finder, file);
}

/* The functions around an address, each with the line that the one inside it
 * was called from. */
static size_t add_scopes(struct source_finder *finder, Dwarf_Die *cu,
			 Dwarf_Die *scopes, int count,
			 struct source_frame *frames)
{
	size_t found = 0;

	for (int i = 0; i < count && found < SOURCE_FRAMES_MAX; i++) {
		if (!is_function(&scopes[i]))
			continue;
		frames[found++].function = function_of(finder, &scopes[i]);
		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
			break;
		if (found < SOURCE_FRAMES_MAX)
			call_place(finder, cu, &scopes[i], &frames[found]);
	}
	return found;
}

/* Of the unit, which libdw may not find by itself. */
static void find_line(Dwarf_Die *unit, Dwarf_Addr address,
		      struct source_frame *frame, struct source_finder *finder)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;

	if (file && !dwarf_lineno(line, &frame->line))
		frame->file = keep(finder, file);
}

static size_t find_in(struct source_finder *finder, struct module *in,
		      uint64_t address, struct source_frame *frames)
{
	GElf_Addr bias;
	Dwarf_Addr in_unit;
	Dwarf_Die unit;
	Dwarf_Die *scopes = NULL;
	const char *name;
	size_t found = 0;
	bool has_unit;
	int count;

	dwfl_module_getelf(in->found, &bias);
	address += bias;
	in_unit = address;
	has_unit = source_unit_find(&in->units, in->found, &in_unit, &unit);
	if (has_unit) {
		count = source_scopes_find(&unit, in_unit, &scopes);
		if (count > 0)
			found = add_scopes(finder, &unit, scopes, count,
					   frames);
		free(scopes);
	}
	if (!found) {
		name = source_names_find(&in->names, in->found, address);
		if (!name)
			return 0;
		frames[0].function = keep_tidy(finder, name);
		found = 1;
	}
	if (has_unit)
		find_line(&unit, in_unit, &frames[0], finder);
	return found;
}

size_t source_find(struct source_finder *finder, const char *module,
		   uint64_t address, struct source_frame *frames)
{
	size_t found = 0;

	memset(frames, 0, SOURCE_FRAMES_MAX * sizeof(frames[0]));
	if (finder->jit && !strcmp(module, "[unknown]")) {
		frames[0].function = perf_map_find(finder->jit, address);
		return frames[0].function != NULL;
	}
	for (size_t i = 0; i < finder->count && !found; i++) {
		struct module *m = &finder->modules[i];

		if (strcmp(m->name, module))
			continue;
		if (!m->is_asked)
			open_module(finder, m);
		if (m->found)
			found = find_in(finder, m, address, frames);
	}
	return found;
}

size_t source_finder_missing(const struct source_finder *finder,
			     const char **path)
{
	size_t missing = 0;

	for (size_t i = 0; i < finder->count; i++)
		if (finder->modules[i].is_missing) {
			*path = finder->modules[i].path;
			missing++;
		}
	return missing;
}

void source_finder_free(struct source_finder *finder)
{
	if (!finder)
		return;
	for (size_t i = 0; i < finder->count; i++) {
		if (finder->modules[i].dwfl)
			dwfl_end(finder->modules[i].dwfl);
		source_units_free(&finder->modules[i].units);
		source_names_free(&finder->modules[i].names);
		free(finder->modules[i].path);
		free(finder->modules[i].build_id);
	}
	for (size_t i = 0; i < finder->text_count; i++)
		free(finder->texts[i]);
	perf_map_free(finder->jit);
	free(finder->texts);
	free(finder->modules);
	free(finder->debug_path);
	free(finder->debug_dir);
	free(finder);
}

bool source_finder_available(void)
{
	return true;
}
#else
struct source_finder *source_finder_new(const char *debug_dir)
{
	(void)debug_dir;
	return NULL;
}

void source_finder_module(struct source_finder *finder, const char *path,
			  const char *build_id)
{
	(void)finder, (void)path, (void)build_id;
}

void source_finder_process(struct source_finder *finder, int64_t pid)
{
	(void)finder, (void)pid;
}

size_t source_find(struct source_finder *finder, const char *module,
		   uint64_t address, struct source_frame *frames)
{
	(void)finder, (void)module, (void)address, (void)frames;
	return 0;
}

size_t source_finder_missing(const struct source_finder *finder,
			     const char **path)
{
	(void)finder, (void)path;
	return 0;
}

void source_finder_free(struct source_finder *finder)
{
	(void)finder;
}

bool source_finder_available(void)
{
	return false;
}
#endif
