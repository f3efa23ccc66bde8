/* SPDX-License-Identifier: MIT */
/*
 * sources.h - what else brings events, once in each pass; see
 * writer_add_source().
 */
#ifndef WRITER_SOURCES_H
#define WRITER_SOURCES_H

/* The writer's thread, before it looks at the rings. */
void sources_poll(void);

/* In a forked child. */
void sources_forget(void);

#endif
