/* SPDX-License-Identifier: MIT */
/*
 * command.h - what the commands of traceprof share: exit codes and their
 * functions, each of which lies in a file of its own name.
 */
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

#include <argp.h>
#include <stddef.h>

enum {
	EXIT_GOOD = 0,
	EXIT_FOUND = 1,	     /* the command found a fault */
	EXIT_USAGE = 2,	     /* unknown command, option or value */
	EXIT_UNREADABLE = 3, /* an input cannot be read, or output be written */
};

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
	const char *example; /* what follows "traceprof <name> " */
};

/* All of them; main.c sets it. */
extern const struct command *command_list;
extern size_t command_count;

/* argv[0] is "traceprof <command>". */
int baseline_command(int argc, char **argv);
int check_command(int argc, char **argv);
int completion_command(int argc, char **argv);
int compress_command(int argc, char **argv);
int ctl_command(int argc, char **argv);
int export_command(int argc, char **argv);
int html_command(int argc, char **argv);
int memory_command(int argc, char **argv);
int diff_command(int argc, char **argv);
int doctor_command(int argc, char **argv);
int merge_command(int argc, char **argv);
int open_command(int argc, char **argv);
int options_command(int argc, char **argv);
int peak_command(int argc, char **argv);
int plan_command(int argc, char **argv);
int record_command(int argc, char **argv);
int recover_command(int argc, char **argv);
int report_command(int argc, char **argv);
int symbolize_command(int argc, char **argv);
int steps_command(int argc, char **argv);
int top_command(int argc, char **argv);

/* argp_parse() with --color and an example in the help; a usage error ends with
 * EXIT_USAGE.  Returns 0 or the parser's errno. */
int command_parse(const struct argp *argp, int argc, char **argv,
		  unsigned int flags, void *input);

/* Calls a command for the sake of its options alone: its command_parse() hands
 * them to `visit` and fails. */
void command_visit_options(const struct command *command,
			   void (*visit)(void *arg,
					 const struct argp_option *option),
			   void *arg);

/* For a parser of "FILE...": the input begins with an int, which becomes the
 * place of the first one in argv. */
error_t command_parse_files(int key, char *text, struct argp_state *state);

/* Says that this build reads no traces; the exit code. */
int command_needs_yajl(const char *command);

#endif
