/* SPDX-License-Identifier: MIT */
/*
 * proc.h - what the kernel tells about a process and its limits.
 *
 * Reads /proc and /sys with plain system calls into buffers on the stack: no
 * malloc, no stdio, so it may be called from a hook's cold path.
 */
#ifndef COLLECTOR_PROC_H
#define COLLECTOR_PROC_H

#include "collector/system/base.h"

/* Reads a small file whole, NUL-terminated.  Length or -errno. */
long proc_read(const char *path, char *text, size_t bytes);

/* As those without the word, between loader_enter() and loader_leave(). */
long proc_read_inside(const char *path, char *text, size_t bytes);
unsigned int proc_numbers_inside(const char *path, uint64_t *numbers,
				 unsigned int most);
void proc_thread_name_inside(uint32_t tid, char *text, size_t bytes);

/* False: what is opened now gets the number of stdin, stdout or stderr.  A
 * program that has closed one counts on getting it with what it opens next, or
 * asks whether it is there: who looks again and again asks this first. */
bool proc_is_aside(void);

/* The numbers at the begin of such a file; fewer where it has fewer. */
unsigned int proc_numbers(const char *path, uint64_t *numbers,
			  unsigned int most);

/* Inode of /proc/self/ns/pid, 0 not known: no /proc, or another namespace's. */
uint64_t proc_pid_namespace(void);

/* What /proc/PID/stat says of a process. */
struct proc_stat {
	char state; /* 'Z': its first thread has ended */
	int parent;
	uint32_t threads;
	uint64_t started; /* clock ticks since boot */
	uint64_t used;	  /* clock ticks, its ended children's included */
};

/* False: there is no such process, or it can't be seen. */
bool proc_stat(int pid, struct proc_stat *stat);

/* How long ago it was forked, to 10 ms; 0: not known. */
uint64_t proc_age_ns(int pid);

/* Processor time since boot, in ns: of all processors, how much of it they were
 * at work, and how much of that for this process and its children. */
struct proc_machine {
	uint64_t all_ns, busy_ns, own_ns;
};

/* False: the kernel doesn't say. */
bool proc_machine(struct proc_machine *machine);

/* Bytes that this process has read, and those that came from disks.  False:
 * the kernel doesn't say. */
bool proc_io(uint64_t *read_bytes, uint64_t *disk_bytes);

void proc_boot_id(char *text, size_t bytes);
void proc_host(char *text, size_t bytes);

/* Last part of argv[0]; for an interpreter still the interpreter's name. */
void proc_program(char *text, size_t bytes);

/* True if this word is among those that the program was started with, of which
 * the first four KiB are looked at. */
bool proc_has_argument(const char *word);

/* The same for a word that begins so. */
bool proc_has_argument_from(const char *begin);

/* The kernel's name of a thread of this process. */
void proc_thread_name(uint32_t tid, char *text, size_t bytes);

/* Bytes that the memory cgroups of this process have left, the smallest along
 * the path (v2 and v1); UINT64_MAX without a limit. */
uint64_t proc_memory_left(void);

/* How many processors' time they let it have, in percent of one; UINT64_MAX
 * without a limit. */
uint64_t proc_processors_percent(void);

#endif
