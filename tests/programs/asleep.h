/* SPDX-License-Identifier: MIT */
/*
 * asleep.h - a thread that waits until the process's first one does.
 */
#ifndef TESTS_ASLEEP_H
#define TESTS_ASLEEP_H

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define HOLD_MS 20

/* Until the first thread has been asleep for a while. */
static inline void see_it_sleep(void)
{
	char text[256];

	for (int looks = 0; looks < 4; looks++) {
		FILE *stat = fopen("/proc/self/stat", "r");

		poll(NULL, 0, HOLD_MS / 4);
		if (!fgets(text, sizeof(text), stat) || !strstr(text, ") S"))
			looks = -1;
		fclose(stat);
	}
}

#endif
