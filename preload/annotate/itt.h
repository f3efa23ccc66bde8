/* SPDX-License-Identifier: MIT */
/*
 * itt.h - Intel's ITT notifications: the second door to what NVTX brings.
 *
 * oneDNN, TBB, OpenCV and PyTorch bring a copy of ittnotify each, which loads
 * the collector that the environment names.  Tasks become scopes, frames and
 * overlapped tasks ranges, as NVTX's do; domains are NVTX's.
 */
#ifndef PRELOAD_ITT_H
#define PRELOAD_ITT_H

#include "collector/session/session.h"

/* Constructor: puts our own path into the environment. */
void itt_announce(void);

/* Says if another collector is named there. */
void itt_say(struct session *session);

#endif
