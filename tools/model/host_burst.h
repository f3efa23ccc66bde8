/* SPDX-License-Identifier: MIT */
/*
 * host_burst.h - makes a run of samples as long as their processor time.
 *
 * A sample is drawn as long as the processor time since the one before.  Of a
 * thread that works in short bursts between waits that time lies further back
 * in part: the waits that are recorded take its place.  So cover is laid before
 * the run, around waits.  Where the thread lost its processor for less than a
 * period nothing shows it, and the run is longer than its time: then each bit
 * of it is cut.
 */
#ifndef TOOLS_HOST_BURST_H
#define TOOLS_HOST_BURST_H

#include "tools/model/host_cover.h"

/* The pieces of a thread's cover, whose own lane is `lane` and that of its
 * samples `samples`. */
void host_burst_fill(struct host_cover *cover, uint32_t lane, uint32_t samples);

#endif
