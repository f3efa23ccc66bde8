/* SPDX-License-Identifier: MIT */
/*
 * sim_second.h - a second client of CUPTI in the same process (SECOND_CLIENT).
 */
#ifndef FAKE_GPU_SIM_SECOND_H
#define FAKE_GPU_SIM_SECOND_H

/* At each outermost CUDA call of the program, before anything of it is done. */
void second_look(void);

#endif
