/* SPDX-License-Identifier: MIT */
/*
 * blas_json.h - the sizes of a BLAS call's matrices, and what they come to.
 *
 * The dimensions are those of op(A) and op(B), whichever way they are stored.
 * FLOPs are the textbook's; bytes are the least that has to be moved: each
 * matrix once, what is updated twice.
 */
#ifndef WRITER_BLAS_JSON_H
#define WRITER_BLAS_JSON_H

#include "collector/session/event.h"
#include "writer/state/writer_state.h"

struct blas_work {
	double flops; /* 0 nobody knows beforehand */
	double bytes;
};

struct blas_work blas_work(const struct event *event);

/* The args, each with a comma before it. */
void blas_json(struct writer_state *state, const struct event *event);

#endif
