/* SPDX-License-Identifier: MIT */
/* test_hook_hide.c - what a file calls is redirected, and its memory stays as
 * protected as it was. */
#include "preload/process/hook_hide.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/cmocka_base.h"
#include "tests/unit/unit_folder.h"

#define MAPS_BYTES 65536
#define PATH_BYTES 300

static int ours(void)
{
	return -4711;
}

/* A library of one function that calls getppid(), linked as `how` says. */
static void *make(const char *how, char *path)
{
	char command[700];
	void *library;

	unit_template(path, PATH_BYTES, "hide");
	close(mkstemp(path));
	snprintf(
		command, sizeof(command),
		"echo 'int getppid(void); int asks(void) { return getppid(); }'"
		" | gcc -shared -fPIC %s -x c - -o %s",
		how, path);
	assert_int_equal(system(command), 0);
	library = dlopen(path, RTLD_NOW);
	assert_non_null(library);
	return library;
}

/* The lines of /proc/self/maps that name the file. */
static void read_maps(const char *path, char *text)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1000];

	assert_non_null(maps);
	*text = '\0';
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, path))
			strcat(text, line);
	fclose(maps);
	assert_true(*text);
}

static void redirect(const char *how)
{
	char before[MAPS_BYTES], after[MAPS_BYTES];
	char path[PATH_BYTES];
	void *library = make(how, path);
	struct link_map *map;
	int (*asks)(void);

	*(void **)&asks = dlsym(library, "asks");
	assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
	assert_int_equal(asks(), getppid());
	read_maps(path, before);
	assert_true(hook_redirect(map->l_addr, "getppid", *(void **)&(struct {
					  int (*at)(void);
				  }){ours}));
	read_maps(path, after);
	assert_int_equal(asks(), -4711);
	assert_string_equal(before, after);
	/* It calls no such function; and a file that isn't there. */
	assert_true(hook_redirect(map->l_addr, "getuid", NULL));
	assert_false(hook_redirect(map->l_addr + 1, "getppid", NULL));
	unlink(path);
}

static void sealed_words_are_sealed_again(void **state)
{
	(void)state;
	redirect("-Wl,-z,relro,-z,now");
}

static void words_that_may_be_written_stay_so(void **state)
{
	(void)state;
	redirect("-Wl,-z,lazy,-z,norelro");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sealed_words_are_sealed_again),
		cmocka_unit_test(words_that_may_be_written_stay_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
