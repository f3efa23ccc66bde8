/* SPDX-License-Identifier: MIT */
/* sample_signal.h - the signal of samples, and who had it before. */
#ifndef PRELOAD_SAMPLE_SIGNAL_H
#define PRELOAD_SAMPLE_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* The C library's for setuid(), which a thread may not block. */
#define SAMPLE_SIGNAL 33

/* False: the C library has no handler for it. */
bool sample_signal_install(void (*handler)(int, siginfo_t *, void *));
bool sample_signal_is_installed(void);

/* In the handler: what isn't ours. */
void sample_signal_hand_on(int number, siginfo_t *info, void *context);

#endif
