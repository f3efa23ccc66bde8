/* SPDX-License-Identifier: MIT */
/* hot_report.c - `traceprof report --hot`; see hot_report.h. */
#include "tools/host/hot_report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/host/file_report.h"
#include "tools/host/hot.h"
#include "tools/trace/trace_folder.h"
#include "tools/util/command.h"

bool hot_take(struct hot_choice *choice, int key, char *text)
{
	switch (key) {
	case 0x201: break;
	case 0x202: choice->by_line = true; break;
	case 0x203: choice->flame = text; break;
	case 0x204: choice->folded = true; break;
	case 0x205: choice->speedscope = true; break;
	case 0x206: choice->diff = true; break;
	case 0x207: choice->io = true; break;
	case 0x208: choice->pprof = true; break;
	case 0x209:
		choice->is_wrong = !hot_phase_parse(text, &choice->phase);
		break;
	default: return false;
	}
	choice->is_wanted = true;
	return true;
}

static int write_flame(const struct hot_choice *choice, const struct hot *hot,
		       const char *title)
{
	FILE *out = fopen(choice->flame, "w");

	if (out)
		flame_svg(hot, title, choice->diff, out);
	if (!out || ferror(out) | fclose(out)) {
		fprintf(stderr, "traceprof report: %s: %s\n", choice->flame,
			strerror(errno));
		return EXIT_UNREADABLE;
	}
	fprintf(stderr, "traceprof: wrote %s\n", choice->flame);
	return EXIT_GOOD;
}

static int write_pprof(const struct hot *hot)
{
	const int rc = hot_print_pprof(hot, stdout);

	if (rc)
		fprintf(stderr, "traceprof report: --pprof: %s\n",
			strerror(-rc));
	return rc ? EXIT_UNREADABLE : EXIT_GOOD;
}

static int show(const struct hot_choice *choice, const struct hot *hot,
		const char *title)
{
	if (choice->pprof)
		return write_pprof(hot);
	if (choice->folded)
		hot_print_folded(hot, stdout);
	else if (choice->speedscope)
		hot_print_speedscope(hot, title, stdout);
	else if (choice->json)
		hot_print_json(hot, stdout);
	else if (!choice->flame)
		hot_print(hot, choice->top, choice->diff, stdout);
	return choice->flame ? write_flame(choice, hot, title) : EXIT_GOOD;
}

static int complain(const struct hot *hot)
{
	fprintf(stderr, "traceprof report: %s\n", hot->error);
	return EXIT_UNREADABLE;
}

/* Of all traces of the paths together. */
static int read(const struct hot_choice *choice, struct hot *hot,
		struct trace_list *list, char *const *paths, int count)
{
	if (trace_list_make(list, "report", paths, count))
		return EXIT_UNREADABLE;
	if (!hot_read(hot, list->files, (int)list->count, choice->by_line,
		      choice->phase))
		return EXIT_GOOD;
	return complain(hot);
}

/* Those that were called so: a folder is a run. */
static const char *title_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static int report_files(const struct hot_choice *choice, char *const *paths,
			int count)
{
	struct trace_list list;
	int code = trace_list_make(&list, "report", paths, count)
			   ? EXIT_UNREADABLE
			   : EXIT_GOOD;

	if (!code)
		code = file_report(list.files, (int)list.count, choice->top);
	trace_list_free(&list);
	return code;
}

int hot_report(const struct hot_choice *choice, char **paths, int count)
{
	struct hot hot = {0}, before = {0};
	struct trace_list list = {0}, list_before = {0};
	const int last = choice->diff ? count - 1 : 0;
	int code = EXIT_GOOD;

	if (choice->is_wrong) {
		fputs("traceprof report: --phase is regions, between or "
		      "gpu-idle\n",
		      stderr);
		return EXIT_USAGE;
	}
	if (choice->io)
		return report_files(choice, paths, count);
	if (choice->diff && count != 2) {
		fputs("traceprof report: --diff takes two files or folders\n",
		      stderr);
		return EXIT_USAGE;
	}
	if (choice->diff)
		code = read(choice, &before, &list_before, paths, 1);
	if (!code)
		code = read(choice, &hot, &list, &paths[last], count - last);
	if (!code && choice->diff)
		hot_compare(&hot, &before);
	if (!code)
		code = show(choice, &hot, title_of(paths[last]));
	hot_free(&hot);
	hot_free(&before);
	trace_list_free(&list);
	trace_list_free(&list_before);
	return code;
}
