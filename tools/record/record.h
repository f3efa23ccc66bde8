/* SPDX-License-Identifier: MIT */
/*
 * record.h - the parts of `traceprof record`, which record_command.c puts
 * together.
 */
#ifndef TOOLS_RECORD_H
#define TOOLS_RECORD_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "writer/recovery.h"

/*
 * child.c runs a program as if nobody stood between it and its parent: signals
 * are passed on, its end is ours.
 */
struct child_end {
	int code;   /* for exit(): its own, or 128 and the signal */
	int signal; /* that ended it; 0 none */
	pid_t pid;
};

/* Forks, executes and waits; calls idle(), NULL none, about once a second
 * meanwhile.  0; -errno when it could not be started. */
int child_run(char *const *command, struct child_end *end,
	      void (*idle)(void *arg), void *arg);

/*
 * fresh_files.c knows the traces that a run completes, and runs a command for
 * each.
 *
 * Of a run is what was not in its folder when it began.  A trace is complete
 * when its end says so ("final":true): one that is still written is a valid
 * file too, but says false there.  To read a growing file again and again would
 * be waste, so only one that has not changed between two looks is read.
 */
struct fresh_files;

/* Notes what is there.  command may be NULL: none.  `preload` is what
 * LD_PRELOAD is to be for the command, NULL not set. */
struct fresh_files *fresh_files_start(const char *folder, const char *command,
				      const char *preload);

/* Starts the command for what has become complete.  At the end of a run files
 * are read that have changed a moment ago, too. */
void fresh_files_poll(struct fresh_files *files, bool is_end);

/* Says in one line which traces other processes than `pid` have made, if any
 * did: that one has spoken of its own. */
void fresh_files_say(struct fresh_files *files, pid_t pid);

/* The newest trace of this process; false: it left none. */
bool fresh_files_last(const struct fresh_files *files, pid_t pid,
		      char path[PATH_MAX]);

/* Of the last traces of this process the one to judge: begun by hand, with the
 * most steps, or the newest with anything in it; false: it left none.  *what it
 * is, NULL: the last of all. */
bool fresh_files_fullest(const struct fresh_files *files, pid_t pid,
			 char path[PATH_MAX], const char **what);

/* Of some that other processes than `pid` have left that of the one that worked
 * most, where each says so, since samples were taken, else the one of most
 * events; how many there are with those of `pid`, 0 no others. */
unsigned int fresh_files_largest(const struct fresh_files *files, pid_t pid,
				 char path[PATH_MAX], bool *is_by_work);

/* Did this process leave a trace without steps, of hardly an event beside
 * another one's, or of hardly any work, by samples?  So does a shell that is
 * sampled while it waits. */
bool fresh_files_did_little(const struct fresh_files *files, pid_t pid);

/* Of the ranks that were started last the first one, where this process is none
 * itself and has no steps, as mpirun; 0 there are none. */
pid_t fresh_files_first_rank(const struct fresh_files *files, pid_t pid);

/* Waits for the commands and frees. */
void fresh_files_end(struct fresh_files *files);

/*
 * record_memfds.c keeps memory for sessions that outlives the programs.
 *
 * Where neither /dev/shm nor $XDG_RUNTIME_DIR has room, a session lies in a
 * memfd, which is gone with the last process that has it.  So `record` makes
 * some before it starts the program and keeps them open; the library finds them
 * through /proc by the names in an environment variable
 * (collector/session/session.h).  The program itself inherits no descriptor and
 * no connection.
 */

/* Makes them and sets the variable for children.  Where none can be had the
 * variable is removed. */
void record_memfds_start(void);

/* Finishes the traces of programs that are dead, calls done(error, result) for
 * each, and gives their memory back. */
void record_memfds_poll(void (*done)(int error,
				     const struct recovery_result *result));

/*
 * unfinished.c waits for what was left to be written down when a program of
 * this run ended (TRACEPROF_ENCODE), and shows how far it is where somebody
 * looks.  Who gets no further for ten seconds, stopped or before a disk that
 * hangs, is told of and waited for no longer.
 */
void unfinished_wait(const char *folder, int record_pid);

/*
 * target.c tells whether a program can be recorded.
 *
 * Only a dynamically linked program of our own architecture and C library
 * loads a preloaded library.  Everything else would run as if nothing had been
 * asked for, so `record` refuses it with the reason.
 */
struct target {
	char path[PATH_MAX]; /* of the ELF file that will run, or the script's
				last interpreter */
	char reason[2 * PATH_MAX + 256]; /* why it is refused */
	const char *advice;		 /* what to do then */
};

/* Looks at the command as execvp() would find it; scripts are followed to
 * their interpreters.  0; -ENOENT or -EACCES cannot be run; -ENOEXEC no ELF
 * file or script, let exec decide; -EPERM refused, see reason. */
int target_examine(const char *command, struct target *target);

#endif
