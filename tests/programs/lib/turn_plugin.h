/* SPDX-License-Identifier: MIT */
/* turn_plugin.h - a plug-in of which there are two, alike but for a name. */
#ifndef TURN_PLUGIN_H
#define TURN_PLUGIN_H

#include <time.h>

/* Works for so long in its own code. */
#define TURNS(name)                                                            \
	__attribute__((noinline)) static double name(double seconds)           \
	{                                                                      \
		struct timespec used;                                          \
		volatile double sum = 0;                                       \
		double end = 0;                                                \
                                                                               \
		do {                                                           \
			for (int i = 0; i < 100000; i++)                       \
				sum += i * 0.5;                                \
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);         \
			if (end == 0)                                          \
				end = (double)used.tv_sec +                    \
				      (double)used.tv_nsec * 1e-9 + seconds;   \
		} while ((double)used.tv_sec + (double)used.tv_nsec * 1e-9 <   \
			 end);                                                 \
		return sum;                                                    \
	}                                                                      \
                                                                               \
	double turn(double seconds)                                            \
	{                                                                      \
		return name(seconds) + 1;                                      \
	}

#endif
