/* SPDX-License-Identifier: MIT */
/*
 * nvml.h - samples of what each GPU is doing, through NVML.
 *
 * CUPTI tells when a kernel ran, not why it ran slowly.  A thread of its own
 * asks libnvidia-ml ten times a second while a window is open: load, memory,
 * power, clock, temperature and what holds the clock down.  It is loaded by the
 * first window of a process that uses CUDA.  A call that hangs hangs that
 * thread: nobody else waits for it but for a moment at the end.
 */
#ifndef PRELOAD_NVML_H
#define PRELOAD_NVML_H

#include "collector/session/session.h"

/* Starts the thread, which sleeps until a window is open. */
void nvml_start(void);

/* A window opens or closes; any thread, no call of NVML's. */
void nvml_follow(bool open);

/* The program ends. */
void nvml_end(void);
void nvml_forget(void);

#endif
