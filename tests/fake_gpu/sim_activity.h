/* SPDX-License-Identifier: MIT */
/*
 * sim_activity.h - which records are wanted, and the way into the buffers.
 *
 * Records are passed as CUPTI 13.0's structs, whatever version is simulated.
 */
#ifndef FAKE_GPU_SIM_ACTIVITY_H
#define FAKE_GPU_SIM_ACTIVITY_H

#include <cupti.h>
#include <stdint.h>

/* Enabling kernels a second time may never return (HANG_ENABLE). */
void activity_enable(CUpti_ActivityKind kind, int on);
int activity_enabled(CUpti_ActivityKind kind);

/* A client takes a kind away: takes its time, or never returns (HANG_DISABLE,
 * DISABLE_NS), and unfinished kernels get their end when it is wanted again
 * (CARRY_OVER). */
void activity_disable(CUpti_ActivityKind kind);

/* What the records of a graph's work have as correlation (GRAPH_IDS). */
uint32_t activity_graph_correlation(uint32_t correlation);

/* The kind under which kernels are wanted, or 0. */
CUpti_ActivityKind activity_kernel_kind(void);

/* One API function's records; all are on at first. */
void activity_enable_api(CUpti_ActivityKind kind, uint32_t cbid, int on);
int activity_api_enabled(CUpti_ActivityKind kind, uint32_t cbid);

/* A record that is finished, if its kind is wanted. */
void activity_emit(const void *record);

/* A record of the GPU, if its kind is wanted: start and end are filled in once
 * the device's clock has passed the end. */
void activity_emit_later(const void *record, uint32_t stream, int64_t start_ns,
			 int64_t end_ns);

/* Put what the device has finished into the buffers; with `forced` also the
 * rest, without times. */
void activity_collect(int forced);

/* Time that the profiler itself took on this thread. */
void activity_overhead(CUpti_ActivityOverheadKind kind, uint64_t start,
		       uint64_t end, uint32_t correlation);

/* As cuptiSetThreadIdType() wants it. */
void activity_use_system_thread_id(int on);
uint32_t activity_thread_id(void);

#endif
