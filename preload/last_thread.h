/* SPDX-License-Identifier: MIT */
/* last_thread.h - our writer must not keep a process alive. */
#ifndef PRELOAD_LAST_THREAD_H
#define PRELOAD_LAST_THREAD_H

/* Has the writer look, now and then, whether it is alone. */
int last_thread_start(void);

#endif
