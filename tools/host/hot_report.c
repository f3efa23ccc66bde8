/* SPDX-License-Identifier: MIT */
/* hot_report.c - `traceprof report --hot`; see hot_report.h. */
#include "tools/host/hot_report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/host/file_report.h"
#include "tools/host/hot.h"
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

static int show(const struct hot_choice *choice, const struct hot *hot,
		const char *title)
{
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

int hot_report(const struct hot_choice *choice, char **files, int count)
{
	struct hot hot, before = {0};
	const int last = choice->diff ? count - 1 : 0;
	const char *slash;
	int code;

	if (choice->io)
		return file_report(files, count, choice->top);
	if (choice->diff && count != 2) {
		fputs("traceprof report: --diff takes two files\n", stderr);
		return EXIT_USAGE;
	}
	if (choice->diff && hot_read(&before, files, 1, choice->by_line)) {
		code = complain(&before);
		hot_free(&before);
		return code;
	}
	slash = strrchr(files[last], '/');
	if (hot_read(&hot, &files[last], count - last, choice->by_line)) {
		code = complain(&hot);
	} else {
		if (choice->diff)
			hot_compare(&hot, &before);
		code = show(choice, &hot, slash ? slash + 1 : files[last]);
	}
	hot_free(&hot);
	hot_free(&before);
	return code;
}
