/* SPDX-License-Identifier: MIT */
/*
 * sim_record.h - how long an activity record of each kind is.
 *
 * Records are filled in as CUPTI 13.0's structs and cut to the length that the
 * simulated version of CUPTI has for them: each older struct is a prefix of
 * the newer one.
 */
#ifndef FAKE_GPU_SIM_RECORD_H
#define FAKE_GPU_SIM_RECORD_H

#include <cupti.h>
#include <stddef.h>

enum { LONGEST_RECORD = 216, KIND_COUNT = 64 };

/* 0 for a kind that this version never writes. */
size_t record_size(CUpti_ActivityKind kind);

/* Has this version such a kind at all? */
int record_kind_valid(CUpti_ActivityKind kind);

/* Where start and end lie in a record of the GPU, 0 where there is none. */
void record_times_at(CUpti_ActivityKind kind, size_t *start, size_t *end);

CUptiResult record_next(uint8_t *buffer, size_t valid, CUpti_Activity **record);

#endif
