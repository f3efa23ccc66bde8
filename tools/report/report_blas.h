/* SPDX-License-Identifier: MIT */
/*
 * report_blas.h - calls of BLAS and LAPACK by who calls, against what the
 * machine can do.
 *
 * Work for so many bytes goes as fast as the bytes come or as the processors
 * multiply, whichever is less: that is its roof.
 */
#ifndef TOOLS_REPORT_BLAS_H
#define TOOLS_REPORT_BLAS_H

#include <stdio.h>

#include "tools/peak/peak.h"
#include "tools/trace/trace_reader.h"
#include "tools/util/key_table.h"
#include "tools/util/text_buffer.h"

/* One function from one place. */
struct blas_row {
	const char *function, *site; /* filled in by report_blas_list() */
	int64_t calls, time_ns;
	int64_t uncounted;  /* calls whose FLOPs nobody knows */
	int64_t counted_ns; /* of the others */
	double flops, bytes;
	bool is_double, is_gpu;
	bool has_roof; /* then all below is known */
	bool is_memory_bound;
	double roof; /* FLOP a second */
};

struct report_blas {
	struct key_table rows; /* struct blas_row */
	struct text_buffer key;
	char host[128];
};

void report_blas_slice(struct report_blas *blas,
		       const struct trace_event *event);
void report_blas_entry(struct report_blas *blas,
		       const struct trace_entry *entry);
void report_blas_free(struct report_blas *blas);

/* The rows, most time first, against that machine's peak; free() them.  False
 * in *has_peak: nobody measured it. */
struct blas_row *report_blas_list(const struct report_blas *blas,
				  struct peak *peak, bool *has_peak);

void report_blas_print(const struct report_blas *blas, size_t top, FILE *out);

#endif
