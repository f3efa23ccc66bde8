/* SPDX-License-Identifier: MIT */
/*
 * torch_compile.h - when torch.compile compiles, what, and where it gives up.
 *
 * Its own handler calls whoever asks at the beginning and the end of each
 * compilation.  We look whether it is imported, and ask, in a call that the
 * main thread makes between two instructions of Python.
 */
#ifndef PRELOAD_TORCH_COMPILE_H
#define PRELOAD_TORCH_COMPILE_H

/* Once, before torch_compile_poll(), where the interpreter may be asked. */
void torch_compile_prepare(void);

/* Writer, in passes with an open window: asks until it is in use. */
void torch_compile_poll(void);

/* In a forked child. */
void torch_compile_forget(void);

#endif
