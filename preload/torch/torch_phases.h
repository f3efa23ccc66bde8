/* SPDX-License-Identifier: MIT */
/*
 * torch_phases.h - what a training step is at: data, forward, backward,
 * optimizer, told from the outermost operators without any annotation.
 */
#ifndef PRELOAD_TORCH_PHASES_H
#define PRELOAD_TORCH_PHASES_H

#include "preload/process/hook.h"

/* True of a user scope that says nothing of a phase: what lies inside does. */
bool torch_phase_is_none(uint32_t scope, const char *name);

/* An outermost operator begins, or has ended, on this thread.  Can anything be
 * run backward of it, as far as is known? */
void torch_phase_begins(struct thread *thread, uint32_t scope, const char *name,
			bool has_gradient);
void torch_phase_ends(struct thread *thread);

/* The window or the recording ends: so does the phase. */
void torch_phase_finish(struct thread *thread);

#endif
