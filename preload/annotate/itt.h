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

/* Who takes the tasks of a domain instead; for good. */
struct itt_listener {
	const char *domain;
	void (*begins)(const char *name);
	void (*ends)(void);
};
void itt_listen(const struct itt_listener *who);

/* No other collector is named in the environment. */
bool itt_is_ours(void);

/* Says if another collector is named there. */
void itt_say(struct session *session);

#endif
