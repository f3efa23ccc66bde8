/* SPDX-License-Identifier: MIT */
/*
 * sim_clock.h - the GPU's time, and the client's.
 *
 * The device lives in nanoseconds of CLOCK_MONOTONIC, DRIFT_PPM too fast.
 * Records hold the client's clock: what its timestamp callback says, else
 * CLOCK_REALTIME.  Times of the GPU come out by interpolation between two
 * moments at which both clocks were read, as CUPTI does it.
 */
#ifndef FAKE_GPU_SIM_CLOCK_H
#define FAKE_GPU_SIM_CLOCK_H

#include <stdint.h>

int64_t clock_device_now(void);
uint64_t clock_client_now(void);

/* Times are those of the client's callback. */
int clock_is_clients(void);

/* The client's callback, or NULL for CUPTI's own clock.  Registering again
 * spoils the next records of the GPU, as on a real one. */
void clock_register(uint64_t (*callback)(void));

/* Read both clocks now; what is converted next lies before this moment. */
void clock_anchor(void);
uint64_t clock_convert(int64_t device_ns);

/* By how much the next record's times are wrong. */
int64_t clock_error(void);

/* Until the device's clock has come so far. */
void clock_sleep_until(int64_t device_ns);

#endif
