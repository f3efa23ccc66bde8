/* SPDX-License-Identifier: MIT */
/*
 * sim_life.h - from cuInit() to the driver's own end.
 */
#ifndef FAKE_GPU_SIM_LIFE_H
#define FAKE_GPU_SIM_LIFE_H

#include <cupti.h>

enum { MOST_DEVICES = 8, MOST_MADE = 64 };

enum life { LIFE_BEFORE, LIFE_STARTING, LIFE_READY, LIFE_DEAD };

enum life life_state(void);

/* cuInit(): injection, the driver's exit handler, CU_INIT_FINISHED. */
int life_initialise(void);

/* What the runtime calls first in each of its calls: finds libcuda and
 * initialises it, 0 or the runtime's error. */
void life_set_runtime_start(int (*start)(void));

/* May this call go on?  0, or the error that it has to return. */
int life_ready(CUpti_CallbackDomain domain, const char *function);

/* This thread's device, 0 at first; false: there is no such. */
uint32_t life_device(void);
int life_set_device(int device);

/* Its primary context goes; with the next call it has another. */
void life_reset(void);
uint32_t life_context_id(void);

/* One of the program's own on that device, this thread's from now on; NULL:
 * there is no such device, or there are too many. */
CUcontext life_make_context(int device);
void life_end_context(CUcontext context);

/* This thread's: one of the program's own, or any other for the primary one. */
void life_set_context(CUcontext context);

/* Its number, where it is one of the program's own; else 0. */
uint32_t life_own_context(void);

/* This thread's context: that, or the primary one of its device, which is made
 * when first needed. */
CUcontext life_context(void);
CUcontext life_need_context(void);

/* CUPTI sees a driver: it does not after the driver's end, nor without one. */
int life_driver_alive(void);

/* DEVICE and CONTEXT records of what there is already. */
void life_dump(CUpti_ActivityKind kind);

/* Devices that DEVICE_RECORDS=late holds back, once it is time. */
void life_dump_late(void);

#endif
