/* SPDX-License-Identifier: MIT */
/*
 * test_record.c - which programs `record` takes, and how it runs them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/session/session.h"
#include "tests/unit/unit_folder.h"
#include "tools/record/record.h"
#include "tools/record/settings.h"

static char folder[256];
static char path[sizeof(folder) + 64];
static char image[64 << 10]; /* the first bytes of this very program */

static const char *file(const char *name, const void *bytes, size_t len)
{
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, len, out), len);
	fclose(out);
	chmod(path, 0755);
	return path;
}

static ElfW(Phdr) * find_header(uint32_t type)
{
	const ElfW(Ehdr) *head = (void *)image;
	ElfW(Phdr) *headers = (void *)(image + head->e_phoff);

	for (unsigned int at = 0; at < head->e_phnum; at++)
		if (headers[at].p_type == type)
			return &headers[at];
	return NULL;
}

static void load_image(void)
{
	const int fd = open("/proc/self/exe", O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, image, sizeof(image)), sizeof(image));
	close(fd);
}

static void expect_refusal(const char *name, const char *reason)
{
	struct target target;
	const char *at = file(name, image, sizeof(image));

	assert_int_equal(target_examine(at, &target), -EPERM);
	if (!strstr(target.reason, reason))
		fail_msg("%s: %s", name, target.reason);
	unlink(at);
}

static void programs_are_judged(void **state)
{
	ElfW(Ehdr) *head = (void *)image;
	struct target target;
	const char *at;

	(void)state;
	load_image();
	at = file("good", image, sizeof(image));
	assert_int_equal(target_examine(at, &target), 0);
	assert_string_equal(target.path, at);
	unlink(at);

	head->e_ident[EI_CLASS] = ELFCLASS32;
	expect_refusal("narrow", "32-bit");
	load_image();
	head->e_machine = EM_S390;
	expect_refusal("foreign", "another processor");
	load_image();
	find_header(PT_INTERP)->p_type = PT_NULL;
	expect_refusal("static", "statically linked");
	expect_refusal("ld-nothing", "statically linked");
	load_image();
	strcpy(image + find_header(PT_INTERP)->p_offset, "/lib/ld-musl.so.1");
	expect_refusal("musl", "musl");
}

static void scripts_are_followed(void **state)
{
	static const char plain[] = "#!/bin/sh\n";
	static const char env[] = "#!/usr/bin/env -S A=b sh -e\n";
	static const char lost[] = "#!/no/such/interpreter\n";
	static const char text[] = "echo\n";
	char round[sizeof(folder) + 16];
	struct target target;
	const char *at;

	(void)state;
	at = file("plain", plain, sizeof(plain) - 1);
	assert_int_equal(target_examine(at, &target), 0);
	assert_string_equal(target.path, "/bin/sh");
	unlink(at);
	at = file("env", env, sizeof(env) - 1);
	assert_int_equal(target_examine(at, &target), 0);
	assert_non_null(strstr(target.path, "/sh"));
	unlink(at);
	at = file("lost", lost, sizeof(lost) - 1);
	assert_int_equal(target_examine(at, &target), -ENOENT);
	unlink(at);
	at = file("text", text, sizeof(text) - 1);
	assert_int_equal(target_examine(at, &target), -ENOEXEC);
	unlink(at);
	snprintf(round, sizeof(round), "#!%s/round\n", folder);
	at = file("round", round, strlen(round));
	assert_int_equal(target_examine(at, &target), -ENOEXEC);
	chmod(at, 0644);
	assert_int_equal(target_examine(at, &target), -EACCES);
	unlink(at);
	assert_int_equal(target_examine("", &target), -ENOENT);
	assert_int_equal(target_examine("no-such-command", &target), -ENOENT);
	load_image();
	for (size_t len = 0; len < 100; len += 9) {
		at = file("cut", image, len);
		assert_int_equal(target_examine(at, &target), -ENOEXEC);
		unlink(at);
	}
}

static void children_end_as_they_end(void **state)
{
	char *good[] = {"sh", "-c", "exit 7", NULL};
	char *killed[] = {"sh", "-c", "kill -TERM $$", NULL};
	char *absent[] = {"/no/such/program", NULL};
	struct child_end end;

	(void)state;
	assert_int_equal(child_run(good, &end, NULL, NULL), 0);
	assert_int_equal(end.code, 7);
	assert_int_equal(end.signal, 0);
	assert_int_equal(child_run(killed, &end, NULL, NULL), 0);
	assert_int_equal(end.code, 128 + SIGTERM);
	assert_int_equal(end.signal, SIGTERM);
	assert_int_equal(child_run(absent, &end, NULL, NULL), -ENOENT);
}

/* The program waits for the signal; its parent, in a process of its own, gets
 * it first. */
static void signals_are_passed_on(void **state)
{
	char *waits[] = {"sh", "-c",
			 "trap 'exit 9' TERM; echo; for i in 1 2 3 4 5 6 7 8 "
			 "9; do sleep 0.3; "
			 "done",
			 NULL};
	struct child_end end = {0};
	int ready[2], status;
	char byte;
	pid_t runner;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	runner = fork();
	if (!runner) {
		dup2(ready[1], STDOUT_FILENO);
		_exit(child_run(waits, &end, NULL, NULL) ? 99 : end.code);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	kill(runner, SIGTERM);
	assert_int_equal(waitpid(runner, &status, 0), runner);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 9);
	close(ready[0]);
	close(ready[1]);
}

static bool only_wait(unsigned int row)
{
	return row == OPTION_AT_wait;
}

static void settings_become_options(void **state)
{
	static const struct argp_option own[] = {{.name = "steps", .key = 'n'},
						 {0}};
	struct argp_option *options = settings_options(own, NULL);
	unsigned int count = 0;

	(void)state;
	while (options[count].name)
		count++;
	assert_int_equal(count, option_row_count + 1);
	assert_string_equal(options[0].name, "steps");
	assert_string_equal(options[1 + OPTION_AT_malloc_min].name,
			    "malloc-min");
	options = settings_options(own, only_wait);
	assert_string_equal(options[1].name, "wait");
	assert_null(options[2].name);
}

static void environment_is_cleaned(void **state)
{
	struct options options;

	(void)state;
	setenv("TRACEPROF_WAIT", "4", 1);
	setenv("TRACEPROF_WATE", "4", 1);
	setenv("TRACEPROF_ACTIVE", "0", 1);
	setenv("TRACEPROF_MAX_MB", "7", 1);
	settings_from_environment(&options);
	assert_int_equal(options.wait, 4);
	assert_int_equal(options.max_mb, 7);
	assert_false(options_is_set(&options, OPTION_AT_active));
	assert_null(getenv("TRACEPROF_WATE"));
	assert_null(getenv("TRACEPROF_ACTIVE"));
	assert_string_equal(getenv("TRACEPROF_WAIT"), "4");
	unsetenv("TRACEPROF_WAIT");
	unsetenv("TRACEPROF_MAX_MB");
}

/* Who writes down what a program of `record`'s left, and gets no further: its
 * session's path goes through the pipe. */
static _Noreturn void hang(int report, int record_pid)
{
	struct options options;
	struct session *session;

	options_default(&options);
	snprintf(options.dir, sizeof(options.dir), "%s", folder);
	if (session_create(&options, "unit test", &session))
		_exit(1);
	session->head->record_pid = record_pid;
	session->head->left_events = 7;
	store_relaxed(&session->head->finisher, (uint32_t)getpid());
	if (write(report, session->path, sizeof(session->path)) !=
	    (ssize_t)sizeof(session->path))
		_exit(1);
	for (;;)
		pause();
}

/* What unfinished_wait() says. */
static const char *wait_for_it(int record_pid)
{
	static char said[512];
	const int out = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	const int before = dup(STDERR_FILENO);

	assert_true(out >= 0 && before >= 0);
	dup2(out, STDERR_FILENO);
	unfinished_wait(folder, record_pid);
	dup2(before, STDERR_FILENO);
	close(before);
	memset(said, 0, sizeof(said));
	assert_true(pread(out, said, sizeof(said) - 1, 0) >= 0);
	close(out);
	return said;
}

/* Another run's is not waited for, and its own until that is in vain. */
static void the_wait_has_an_end(void **state)
{
	char session[SESSION_TEXT_BYTES] = "";
	int report[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(report), 0);
	child = fork();
	if (!child)
		hang(report[1], getppid());
	close(report[1]);
	assert_int_equal(read(report[0], session, sizeof(session)),
			 sizeof(session));
	close(report[0]);
	snprintf(path, sizeof(path), "%s/said", folder);
	assert_string_equal(wait_for_it(getppid()), "");
	assert_non_null(strstr(wait_for_it(getpid()),
			       "1 trace is not finished: who writes gets no "
			       "further"));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_string_equal(wait_for_it(getpid()), "");
	unlink(path);
	unlink(session);
}

static int make_folder(void **state)
{
	(void)state;
	unit_template(folder, sizeof(folder), "record");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_judged),
		cmocka_unit_test(scripts_are_followed),
		cmocka_unit_test(children_end_as_they_end),
		cmocka_unit_test(signals_are_passed_on),
		cmocka_unit_test(settings_become_options),
		cmocka_unit_test(environment_is_cleaned),
		cmocka_unit_test(the_wait_has_an_end),
	};

	return cmocka_run_group_tests_name("tools_record", tests, make_folder,
					   remove_folder);
}
