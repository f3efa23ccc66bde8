/* SPDX-License-Identifier: MIT */
/* blas_json.c - what a BLAS call worked on; see blas_json.h. */
#include "writer/events/blas_json.h"

#include "collector/session/blas_op.h"
#include "collector/session/names.h"
#include "writer/text/json.h"
#include "writer/text/schema.h"
#include <string.h>

static const struct {
	char word[22];
	uint8_t bytes;
	bool is_complex;
} types[] = {
#define X(name, word, bytes, is_complex) {word, bytes, is_complex},
	BLAS_TYPES(X)
#undef X
};

/* A matrix; columns 0: a vector. */
struct shape {
	uint32_t rows, columns;
};

/* What comes in and what is updated: how many. */
static unsigned int shapes_of(const struct event *event, struct shape shape[2])
{
	const uint32_t m = event->blas.m, n = event->blas.n, k = event->blas.k;

	switch (event->blas.op) {
	case BLAS_MIXED:
	case BLAS_GEMM:
		shape[0] = (struct shape){m, k};
		shape[1] = (struct shape){k, n};
		return 2;
	case BLAS_GEMV:
		shape[0] = (struct shape){m, n};
		shape[1] =
			(struct shape){event->blas.trans[0] == 'N' ? n : m, 0};
		return 2;
	case BLAS_RANK_K: shape[0] = (struct shape){n, k}; return 1;
	case BLAS_TRIANGLE:
	case BLAS_SYMMETRIC:
		shape[0] = (struct shape){k, k};
		shape[1] = (struct shape){m, n};
		return 2;
	case BLAS_SOLVE:
	case BLAS_SOLVE_LU:
		shape[0] = (struct shape){n, n};
		shape[1] = (struct shape){n, k};
		return 2;
	case BLAS_NONE: return 0;
	default: shape[0] = (struct shape){m, n}; return 1;
	}
}

/* Multiplications and additions of real numbers. */
static double flops_of(const struct event *event)
{
	const double m = event->blas.m, n = event->blas.n, k = event->blas.k;
	const double least = m < n ? m : n;

	switch (event->blas.op) {
	case BLAS_GEMM: return 2 * m * n * k * event->blas.batch;
	case BLAS_GEMV: return 2 * m * n;
	case BLAS_RANK_K: return n * (n + 1) * k;
	case BLAS_TRIANGLE: return m * n * k;
	case BLAS_SYMMETRIC: return 2 * m * n * k;
	case BLAS_LU:
		return 2 * (m * n * least - (m + n) * least * least / 2 +
			    least * least * least / 3);
	case BLAS_CHOLESKY: return n * n * n / 3;
	case BLAS_QR:
		return 4 * (m * n * least - (m + n) * least * least / 2 +
			    least * least * least / 3);
	case BLAS_SOLVE: return 2 * n * n * n / 3 + 2 * n * n * k;
	case BLAS_SOLVE_LU: return 2 * n * n * k;
	case BLAS_INVERSE_LU: return 4 * n * n * n / 3;
	case BLAS_INVERSE_CHOLESKY: return 2 * n * n * n / 3;
	case BLAS_MAKE_Q:
		return 4 * m * n * k - 2 * (m + n) * k * k + 4 * k * k * k / 3;
	case BLAS_APPLY_LEFT: return 4 * m * n * k - 2 * n * k * k;
	case BLAS_APPLY_RIGHT: return 4 * m * n * k - 2 * m * k * k;
	default: return 0;
	}
}

static double numbers_of(const struct event *event)
{
	const double m = event->blas.m, n = event->blas.n, k = event->blas.k;

	switch (event->blas.op) {
	case BLAS_GEMM: return (m * k + k * n + 2 * m * n) * event->blas.batch;
	case BLAS_GEMV: return m * n + n + 2 * m;
	case BLAS_RANK_K: return n * k + n * (n + 1);
	case BLAS_TRIANGLE: return k * (k + 1) / 2 + 2 * m * n;
	case BLAS_SYMMETRIC: return k * (k + 1) / 2 + 3 * m * n;
	case BLAS_CHOLESKY: return n * (n + 1);
	case BLAS_SOLVE: return 2 * n * n + 2 * n * k;
	case BLAS_SOLVE_LU: return n * n + 2 * n * k;
	case BLAS_INVERSE_LU: return 2 * n * n;
	case BLAS_INVERSE_CHOLESKY: return n * (n + 1);
	case BLAS_APPLY_LEFT: return m * k + 2 * m * n;
	case BLAS_APPLY_RIGHT: return n * k + 2 * m * n;
	case BLAS_MAKE_Q:
	case BLAS_LU:
	case BLAS_QR: return 2 * m * n;
	default: return 0;
	}
}

struct blas_work blas_work(const struct event *event)
{
	if (event->blas.op == BLAS_PRIMITIVE)
		return (struct blas_work){(double)event->blas.flops,
					  (double)event->blas.bytes};

	const unsigned int type = event->blas.type < BLAS_TYPE_COUNT
					  ? event->blas.type
					  : BLAS_TYPE_OTHER;

	/* A complex multiplication and addition are eight real ones. */
	return (struct blas_work){
		flops_of(event) * (types[type].is_complex ? 4 : 1),
		numbers_of(event) * types[type].bytes,
	};
}

static void put_shapes(struct json *json, const struct event *event,
		       const char *word)
{
	struct shape shape[2] = {{0, 0}, {0, 0}};
	const unsigned int count = shapes_of(event, shape);

	json_raw(json, ",\"" SCHEMA_INPUT_DIMS "\":[");
	for (unsigned int i = 0; i < count; i++) {
		if (i)
			json_char(json, ',');
		json_char(json, '[');
		if (event->blas.batch > 1) {
			json_u64(json, event->blas.batch);
			json_char(json, ',');
		}
		json_u64(json, shape[i].rows);
		if (shape[i].columns || event->blas.op != BLAS_GEMV || !i) {
			json_char(json, ',');
			json_u64(json, shape[i].columns);
		}
		json_char(json, ']');
	}
	json_raw(json, "],\"" SCHEMA_INPUT_TYPE "\":[");
	for (unsigned int i = 0; i < count; i++) {
		if (i)
			json_char(json, ',');
		json_string(json, word, strlen(word));
	}
	json_char(json, ']');
}

static void put_trans(struct json *json, const char trans[2])
{
	size_t len = 0;

	while (len < 2 && (trans[len] == 'N' || trans[len] == 'T' ||
			   trans[len] == 'C' || trans[len] == 'R'))
		len++;
	if (len)
		json_pair_text(json, "trans", trans, len);
}

/* They come as text. */
static void put_named_shapes(struct writer_state *state,
			     const struct event *event)
{
	size_t len;
	const char *shapes;

	if (!event->shapes || event->shapes == NAME_REFUSED)
		return;
	shapes = names_text(state->session, event->shapes, &len);
	json_char(&state->json, ',');
	json_bytes(&state->json, shapes, len);
	json_field(&state->json);
}

void blas_json(struct writer_state *state, const struct event *event)
{
	const struct blas_work work = blas_work(event);
	const struct code_name *site;
	struct json *json = &state->json;

	if (event->blas.op == BLAS_NONE || event->blas.op >= BLAS_OP_COUNT ||
	    event->blas.type >= BLAS_TYPE_COUNT)
		return;
	if (event->blas.op == BLAS_PRIMITIVE)
		put_named_shapes(state, event);
	else
		put_shapes(json, event, types[event->blas.type].word);
	if (event->blas.op == BLAS_QUERY)
		json_raw(json, ",\"query\":true");
	put_trans(json, event->blas.trans);
	if (work.flops > 0)
		json_pair_u64(json, SCHEMA_FLOPS, (uint64_t)work.flops);
	if (work.bytes > 0)
		json_pair_u64(json, SCHEMA_BYTES_MOVED, (uint64_t)work.bytes);
	if (event->flags & EVENT_INNER)
		json_raw(json, ",\"inner\":true");
	site = naming_find(&state->naming, event->blas.code, event->blas.code,
			   0);
	json_pair_text(json, SCHEMA_CALL_SITE, site->function, site->len);
}
