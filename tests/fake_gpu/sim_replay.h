/* SPDX-License-Identifier: MIT */
/*
 * sim_replay.h - a capture of the spy's in the place of the simulated device.
 *
 * With SIMGPU_REPLAY=file the client gets the records of that file, buffer by
 * buffer as they were captured, at its first flush, and no others.
 */
#ifndef FAKE_GPU_SIM_REPLAY_H
#define FAKE_GPU_SIM_REPLAY_H

/* The client has registered its buffers: captured time begins here.  Returns
 * when it is over, since it came before the program's end. */
void replay_arm(void);

/* Gives the capture, once. */
void replay_play(void);

/* May a record that this thread writes now go to the client? */
int replay_lets_through(void);

#endif
