/* SPDX-License-Identifier: MIT */
/*
 * flight.h - the flight recorder's settings: how far back, and what triggers.
 *
 * With TRACEPROF_FLIGHT hooks record all the time, and what they record stays
 * in the rings, the newest part of it, until something happens that is worth a
 * file.  The writer keeps that history (writer/flight/history.h) and looks for
 * the triggers (writer/flight/trigger.h).
 */
#ifndef COLLECTOR_FLIGHT_H
#define COLLECTOR_FLIGHT_H

#include "collector/system/base.h"

#define FLIGHT_STEPS_MAX   4096
#define FLIGHT_SECONDS_MAX 86400

/* Why a history becomes a file, and the word for it. */
/* clang-format off */
#define FLIGHT_REASONS(X)						\
	X(NONE,       "none")						\
	X(SLOW,       "slow")	     /* a step above the median */	\
	X(STALL,      "stall")	     /* nothing comes any more */	\
	X(CUDA_ERROR, "cuda-error")  /* a CUDA call failed */		\
	X(SIGNAL,     "signal")	     /* TRACEPROF_SIGNAL */		\
	X(DEMAND,     "demand")	     /* traceprof ctl, the program */	\
	X(CRASH,      "crash")	     /* recovery: the process is dead */
/* clang-format on */

enum flight_reason {
#define X(name, word) FLIGHT_##name,
	FLIGHT_REASONS(X)
#undef X
		FLIGHT_REASON_COUNT
};

/* The word for one; "unknown" for a number out of range. */
const char *flight_reason_word(unsigned int reason);

struct flight {
	bool is_on;
	uint64_t length_ns;    /* 0: by steps */
	uint32_t steps;	       /* 0: by time */
	uint32_t triggers;     /* bit per enum flight_reason */
	uint32_t slow_percent; /* of the median: 150 is 1.5; 0: none is */
	uint64_t slow_ns;      /* whatever the median is; 0: none is */
	uint64_t stall_ns;
};

struct options;

/* TRACEPROF_FLIGHT: "10s", "500ms", "20steps" or "off"; TRACEPROF_TRIGGER: a
 * list of "slow:1.5", "slow:2s", "stall:30s", "cuda-error", "signal", or "none".  Each
 * fills in its part.  0; -EINVAL with one line in `why`. */
int flight_parse_length(const char *text, struct flight *flight, char *why,
			size_t why_bytes);
int flight_parse_triggers(const char *text, struct flight *flight, char *why,
			  size_t why_bytes);

/* Both, of options that were checked; off where they make no sense. */
void flight_from_options(const struct options *options, struct flight *flight);

/* What a session says of its flight recorder. */
struct flight_state {
	uint32_t is_on;
	uint32_t pad;
	_Atomic uint64_t from_ticks; /* nothing older is kept */
	uint64_t aged;		     /* events that became too old, of those
					that were cut */
	uint64_t dumps;
};

#endif
