/* SPDX-License-Identifier: MIT */
/*
 * cupti_versions.h - what is known to be wrong in which CUPTI.
 *
 * One row for each defect: the first version that has it, the first that hasn't
 * any more, and what we do instead.  The code asks cupti_has(), `--verbose` and
 * docs/gpu.md print the rows.  Versions are as cuptiGetVersion() counts: 19 is
 * 12.0, 24 is 12.6 and its Update 1, 28 is 12.9 Update 1; from 130000 on major,
 * minor and update have two digits each.
 *
 * Where a number is shared by a version that has a defect and one that hasn't,
 * the row holds for both.  Nobody asks cupti_has() for GRAPH_IDS,
 * OTHER_WINDOWS, LATE_ATTACH and STALE_NAMES, which are there to be printed:
 * what is done for them is done with each version, since it is right where it
 * isn't needed, too.
 */
#ifndef COLLECTOR_CUPTI_VERSIONS_H
#define COLLECTOR_CUPTI_VERSIONS_H

#include "collector/system/base.h"

#define CUPTI_FROM_START 0u
#define CUPTI_TO_NOW	 UINT32_MAX

/* clang-format off */
/* X(NAME, from, below, what is wrong, what we do) */
#define CUPTI_DEFECTS(X)						\
	X(NULL_BUFFER, CUPTI_FROM_START, 27,				\
	  "a refused buffer is followed",				\
	  "without room it gets a buffer whose records are lost")	\
	X(THREAD_BUFFERS, 21, 25,					\
	  "buffers for each thread race with a flush",			\
	  "all threads share a buffer")					\
	X(NO_KERNELS, 22, 23,						\
	  "in some setups no kernel is recorded",			\
	  "said after 100 launches without one, not 1000")		\
	X(CLOCK_CALLBACK, 24, 130100,					\
	  "with a clock of the client's some times are 0",		\
	  "records have CUPTI's clock and are converted")		\
	X(DISABLING, CUPTI_FROM_START, 130001,				\
	  "disabling kernels may hang",					\
	  "kinds stay on after the first window")			\
	X(GRAPH_IDS, CUPTI_FROM_START, 130101,				\
	  "graph launches lose their kernels after the first disabling", \
	  "kinds stay on until the last window")			\
	X(OTHER_WINDOWS, 130101, CUPTI_TO_NOW,				\
	  "after a disabling kernels were in an earlier window",	\
	  "kinds stay on until the last window")			\
	X(LATE_ATTACH, CUPTI_FROM_START, 130300,			\
	  "who comes after the first CUDA call isn't told of devices",	\
	  "they are asked for, and a note says that the start is missing") \
	X(STALE_NAMES, CUPTI_FROM_START, 130401,			\
	  "names of kernels go with their module",			\
	  "they are copied when a buffer is handed over")		\
	X(OLD_NAMES, CUPTI_FROM_START, CUPTI_TO_NOW,			\
	  "kernels loaded where others were have those names",		\
	  "from the first unloading on they are those of launches")
/* clang-format on */

enum cupti_defect {
#define X(name, from, below, wrong, instead) CUPTI_DEFECT_##name,
	CUPTI_DEFECTS(X)
#undef X
		CUPTI_DEFECT_COUNT
};

/* The loaded version; what cupti_has() goes by. */
void cupti_versions_start(uint32_t version);
bool cupti_has(enum cupti_defect defect);

/* As people call it, "13.0 Update 1". */
size_t cupti_versions_name(uint32_t version, char *text, size_t bytes);

/* One line for a row that holds for this version; 0 it doesn't. */
size_t cupti_versions_row(uint32_t version, enum cupti_defect defect,
			  char *text, size_t bytes);

#endif
