/* SPDX-License-Identifier: MIT */
/*
 * summary.h - what the closing lines say, as far as the writer knows it.
 */
#ifndef WRITER_SUMMARY_H
#define WRITER_SUMMARY_H

#include "writer/state/writer_state.h"
#include "writer/writer.h"

/* As of now.  Under the lock of whoever reads it. */
void summary_take(struct writer_summary *summary,
		  const struct writer_state *state);

#endif
