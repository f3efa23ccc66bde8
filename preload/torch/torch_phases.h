/* SPDX-License-Identifier: MIT */
/*
 * torch_phases.h - what a training step is at: data, forward, backward,
 * optimizer, told from the outermost operators without any annotation.
 */
#ifndef PRELOAD_TORCH_PHASES_H
#define PRELOAD_TORCH_PHASES_H

#include "preload/annotate/scope.h"
#include "preload/process/hook.h"

enum torch_phase_of {
	TORCH_PHASE_INSIDE, /* a user scope: what lies inside tells the phase */
	TORCH_PHASE_STEP,   /* of an optimizer, which may call the model */
	TORCH_PHASE_ITS_OWN
};

enum torch_phase_of torch_phase_of(uint32_t scope, const char *name);

/* An outermost operator begins, or has ended, on this thread.  Can anything be
 * run backward of it, as far as is known?  Is it in an optimizer's step? */
void torch_phase_begins(struct thread *thread,
			const struct scope_details *details, const char *name,
			bool has_gradient, bool in_step);
void torch_phase_ends(struct thread *thread);

/* One begins that something is run backward of, inside of an outermost one; it
 * matters in a phase of operators without that. */
bool torch_phase_is_without_gradient(void);
void torch_phase_inside(struct thread *thread, bool in_step);

/* This thread begins or ends to compile for torch.compile: what it runs for
 * that is no forward and no backward of the program's. */
void torch_phase_compiles(bool on);

/* The window or the recording ends: so does the phase. */
void torch_phase_finish(struct thread *thread);

/* This process was forked. */
void torch_phase_forget(void);

#endif
