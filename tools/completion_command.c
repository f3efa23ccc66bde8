/* SPDX-License-Identifier: MIT */
/*
 * completion_command.c - `traceprof completion SHELL`: a script that completes
 * commands and options, made of the tables that parse them.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/util/command.h"

struct shell {
	const char *name;
	void (*head)(void);
	void (*command)(const struct command *command);
	void (*option)(void *command, const struct argp_option *option);
	void (*command_end)(void);
	void (*tail)(void);
};

static const struct shell *shell;

/* What stands behind these commands and options is no file. */
static const struct {
	const char *command, *option; /* NULL: an argument */
	const char *words;
} choices[] = {
	{"completion", NULL, "bash zsh fish"},
	{"ctl", NULL, "start stop snapshot status"},
	{"report", "sort",
	 "total self calls avg median p95 p99 min max stddev gpu "
	 "gpu-self name"},
	{"report", "by", "name category step thread stream device shape site"},
	{"", "color", "auto always never"}, /* of all commands */
};

static const char *words_of(const char *command, const char *option)
{
	for (size_t at = 0; at < sizeof(choices) / sizeof(*choices); at++) {
		const char *asked = choices[at].option;

		if ((!*choices[at].command ||
		     !strcmp(choices[at].command, command)) &&
		    (asked && option ? !strcmp(asked, option)
				     : asked == option))
			return choices[at].words;
	}
	return NULL;
}

/* Inside single quotes; what `special` holds gets a backslash. */
static void put_inside(const char *text, const char *special)
{
	for (; *text && *text != '\n'; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr(special, *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void put_quoted(const char *text, const char *special)
{
	putchar('\'');
	put_inside(text, special);
	putchar('\'');
}

static bool is_shown(const struct argp_option *option)
{
	return option->name && !(option->flags & OPTION_HIDDEN);
}

/* --- bash ----------------------------------------------------------------- */

static void bash_head(void)
{
	puts("# traceprof completion bash\n"
	     "_traceprof()\n{\n"
	     "\tlocal now=${COMP_WORDS[COMP_CWORD]} words= arguments=\n"
	     "\tCOMPREPLY=()\n"
	     "\tif [ \"$COMP_CWORD\" = 1 ]; then");
	printf("\t\twords='--help --version");
	for (size_t at = 0; at < command_count; at++)
		printf(" %s", command_list[at].name);
	puts("'\n\telse\n\t\tcase ${COMP_WORDS[1]} in");
}

static void bash_command(const struct command *command)
{
	const char *words = words_of(command->name, NULL);

	printf("\t\t%s) ", command->name);
	if (words)
		printf("arguments='%s' ", words);
	fputs("words='--help", stdout);
}

static void bash_option(void *command, const struct argp_option *option)
{
	(void)command;
	if (is_shown(option))
		printf(" --%s", option->name);
}

static void bash_command_end(void)
{
	puts("' ;;");
}

static void bash_tail(void)
{
	puts("\t\tesac\n"
	     "\t\tcase $now in -*) ;; *) words=$arguments ;; esac\n"
	     "\tfi\n"
	     "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
	     "\"$now\")\n"
	     "}\n"
	     "complete -o bashdefault -o default -F _traceprof traceprof");
}

/* --- zsh ------------------------------------------------------------------ */

#define ZSH_SPECIAL "[]:\\"

static void zsh_head(void)
{
	puts("#compdef traceprof\n"
	     "_traceprof() {\n"
	     "\tlocal -a commands\n"
	     "\tcommands=(");
	for (size_t at = 0; at < command_count; at++) {
		printf("\t\t%s:", command_list[at].name);
		put_quoted(command_list[at].help, ":\\");
		putchar('\n');
	}
	puts("\t)\n"
	     "\tif (( CURRENT == 2 )); then\n"
	     "\t\t_describe command commands\n\t\treturn\n\tfi\n"
	     "\tlocal command=$words[2]\n"
	     "\tshift words\n\t(( CURRENT-- ))\n"
	     "\tcase $command in");
}

static const char *zsh_words; /* of the command that is printed */

static void zsh_command(const struct command *command)
{
	zsh_words = words_of(command->name, NULL);
	printf("\t%s) _arguments '--help[say how it is used]'", command->name);
}

static void zsh_option(void *command, const struct argp_option *option)
{
	const char *words =
		words_of(((const struct command *)command)->name, option->name);

	if (!is_shown(option))
		return;
	printf(" \\\n\t\t'--%s%s[", option->name, option->arg ? "=" : "");
	put_inside(option->doc ? option->doc : "", ZSH_SPECIAL);
	putchar(']');
	if (option->arg) {
		putchar(':');
		put_inside(option->arg, ZSH_SPECIAL);
		if (words)
			printf(":(%s)", words);
		else
			fputs(":_files", stdout);
	}
	putchar('\'');
}

static void zsh_command_end(void)
{
	if (zsh_words)
		printf(" \\\n\t\t'*:argument:(%s)' ;;\n", zsh_words);
	else
		puts(" \\\n\t\t'*:file:_files' ;;");
}

static void zsh_tail(void)
{
	puts("\tesac\n}\n"
	     "if [ \"$funcstack[1]\" = _traceprof ]; then\n"
	     "\t_traceprof \"$@\"\nelse\n"
	     "\tcompdef _traceprof traceprof\nfi");
}

/* --- fish ----------------------------------------------------------------- */

static void fish_head(void)
{
	puts("# traceprof completion fish");
	for (size_t at = 0; at < command_count; at++) {
		printf("complete -c traceprof -n __fish_use_subcommand -f -a "
		       "%s -d ",
		       command_list[at].name);
		put_quoted(command_list[at].help, "\\");
		putchar('\n');
	}
}

static void fish_command(const struct command *command)
{
	const char *words = words_of(command->name, NULL);

	if (words)
		printf("complete -c traceprof -n '__fish_seen_subcommand_from "
		       "%s' -f -a '%s'\n",
		       command->name, words);
}

static void fish_option(void *command, const struct argp_option *option)
{
	const char *name = ((const struct command *)command)->name;
	const char *words = words_of(name, option->name);

	if (!is_shown(option))
		return;
	printf("complete -c traceprof -n '__fish_seen_subcommand_from %s' "
	       "-l %s",
	       name, option->name);
	if (option->key > ' ' && option->key < 127 && isalnum(option->key))
		printf(" -s %c", option->key);
	if (words)
		printf(" -x -a '%s'", words);
	printf("%s -d ", option->arg && !words ? " -r" : "");
	put_quoted(option->doc ? option->doc : "", "\\");
	putchar('\n');
}

static void fish_nothing(void)
{
}

static const struct shell shells[] = {
	{"bash", bash_head, bash_command, bash_option, bash_command_end,
	 bash_tail},
	{"zsh", zsh_head, zsh_command, zsh_option, zsh_command_end, zsh_tail},
	{"fish", fish_head, fish_command, fish_option, fish_nothing,
	 fish_nothing},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_ARG:
		for (size_t at = 0; !shell && at < 3; at++)
			if (!strcmp(text, shells[at].name))
				shell = &shells[at];
		if (!shell || state->arg_num)
			argp_error(state, "one shell: bash, zsh or fish");
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which shell? bash, zsh or fish");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int completion_command(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "bash|zsh|fish",
		.doc = "Prints a script by which a shell completes the "
		       "commands of traceprof and their options.\vbash: "
		       "source it in ~/.bashrc.  zsh: write it to a file "
		       "_traceprof in a folder of $fpath.  fish: write it to "
		       "~/.config/fish/completions/traceprof.fish.  `make "
		       "install` does so for all users.",
	};

	if (command_parse(&argp, argc, argv, 0, NULL))
		return EXIT_USAGE;
	shell->head();
	for (size_t at = 0; at < command_count; at++) {
		const struct command *command = &command_list[at];

		shell->command(command);
		command_visit_options(command, shell->option, (void *)command);
		shell->command_end();
	}
	shell->tail();
	return EXIT_GOOD;
}
