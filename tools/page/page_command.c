/* SPDX-License-Identifier: MIT */
/*
 * page_command.c - `traceprof html FILE... -o page.html`: a page to look at,
 * which needs nothing but a browser.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/page/page.h"
#include "tools/trace/trace_folder.h"
#include "tools/util/command.h"
#include "tools/util/memory.h"
#include "writer/text/schema.h"

#define ROWS_FIRST 1024u /* of a list, where there is room */
#define ROWS_LEAST 4u

struct page_arguments {
	int first; /* of the files in argv */
	const char *output;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct page_arguments *arguments = state->input;

	if (key != 'o')
		return command_parse_files(key, text, state);
	arguments->output = text;
	return 0;
}

/* JSON in a <script> must not hold "</script>", nor "<!--".  Its strings hold
 * no line feeds, so what follows one is layout. */
static void put_safely(FILE *out, const char *text, size_t len)
{
	bool is_layout = false;

	for (size_t at = 0; at < len; at++) {
		is_layout = text[at] == '\n' || (is_layout && text[at] == ' ');
		if (text[at] == '<')
			fputs("\\u003c", out);
		else if (!is_layout)
			fputc(text[at], out);
	}
}

/* All files, in so many rows of each list; free() it. */
static char *gather(struct page *pages, size_t count, size_t rows, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (!out)
		memory_exhausted();
	fputc('[', out);
	for (size_t at = 0; at < count; at++) {
		pages[at].report.choice.top = rows;
		pages[at].report.choice.tree = false; /* the page has its own */
		fputs(at ? ",{\"report\":" : "{\"report\":", out);
		report_print_json(&pages[at].report, out);
		fputs(",\"time\":", out);
		page_print_json(&pages[at], rows, out);
		if (pages[at].holders)
			fprintf(out, ",\"holders\":%s", pages[at].holders);
		fputc('}', out);
	}
	fputc(']', out);
	if (fclose(out))
		memory_exhausted();
	return text;
}

static void print(FILE *out, const char *data, size_t len)
{
	fprintf(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		"<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
		"content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"generator\" content=\"traceprof %s\">\n"
		"<link rel=\"icon\" href=\"data:,\">\n"
		"<title>traceprof</title>\n<style>\n%s</style>\n</head>\n"
		"<body>\n<noscript>This page needs JavaScript, and nothing "
		"else.</noscript>\n<script type=\"application/json\" "
		"id=\"data\">",
		TRACEPROF_VERSION, page_style);
	put_safely(out, data, len);
	fprintf(out, "</script>\n<script>\n%s%s</script>\n</body>\n</html>\n",
		page_charts, page_script);
}

static int write_page(struct page *pages, size_t count, const char *path)
{
	FILE *out = strcmp(path, "-") ? fopen(path, "we") : stdout;
	size_t rows = ROWS_FIRST, len;
	char *data;
	int error;

	if (!out)
		return -errno;
	data = gather(pages, count, rows, &len);
	while (len > PAGE_BYTES_MAX && rows > ROWS_LEAST) {
		free(data);
		rows /= 2;
		data = gather(pages, count, rows, &len);
	}
	print(out, data, len);
	free(data);
	error = ferror(out) ? -EIO : 0;
	if (out == stdout ? fflush(out) : fclose(out))
		error = -errno;
	return error;
}

static int read_pages(struct page *pages, char **files, size_t *count)
{
	const size_t given = *count;
	int code = EXIT_GOOD;

	*count = 0;
	for (size_t at = 0; at < given; at++) {
		if (!page_read(&pages[*count], files[at])) {
			++*count;
			continue;
		}
		fprintf(stderr, "traceprof html: %s: %s\n", files[at],
			pages[*count].report.facts.error);
		page_free(&pages[*count]);
		code = EXIT_UNREADABLE;
	}
	return code;
}

int html_command(int argc, char **argv)
{
	static const struct argp_option choices[] = {
		{"output", 'o', "FILE", 0,
		 "where to write it (page.html); - is standard output", 0},
		{0},
	};
	static const struct argp argp = {
		.options = choices,
		.parser = parse,
		.args_doc = "FILE|FOLDER...",
		.doc = "Makes one page of HTML of traces, ours or "
		       "torch.profiler's: steps, use of threads and GPUs over "
		       "time, tables, memory, settings.  It holds all that it "
		       "needs, below 2 MB.\vEnds with 3 when a file "
		       "cannot be read.",
	};
	struct page_arguments arguments = {.output = "page.html"};
	struct trace_list list;
	struct page *pages;
	size_t count;
	bool is_whole;
	int code, error = 0;

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	if (!trace_reader_available())
		return command_needs_yajl("html");
	is_whole = !trace_list_make(&list, "html", argv + arguments.first,
				    argc - arguments.first);
	count = list.count;
	pages = memory_zeroed(count + 1, sizeof(*pages));
	code = read_pages(pages, list.files, &count);
	if (!code && !is_whole)
		code = EXIT_UNREADABLE;
	if (count)
		error = write_page(pages, count, arguments.output);
	if (error) {
		fprintf(stderr, "traceprof html: %s: %s\n", arguments.output,
			strerror(-error));
		code = EXIT_UNREADABLE;
	}
	for (size_t at = 0; at < count; at++)
		page_free(&pages[at]);
	free(pages);
	trace_list_free(&list);
	return code;
}
