/* SPDX-License-Identifier: MIT */
/*
 * test_modules.c - the loader's list in the session: what is there at first,
 * what dlopen adds, and a list that somebody has damaged.
 */
#include "collector/session/modules.h"
#include <dlfcn.h>
#include <link.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/session_group.h"
#include "tests/unit/unit_folder.h"

static const struct module *module_of(const void *address)
{
	return modules_find(session, (uint64_t)(uintptr_t)address);
}

static unsigned int list_length(void)
{
	unsigned int count = 0;

	for (const struct module *m = modules_each(session, NULL); m;
	     m = modules_each(session, m))
		count++;
	return count;
}

static void test_what_is_loaded_is_found(void **state)
{
	const struct module *own;
	const struct module *libc;
	char path[4096];
	ssize_t len;

	(void)state;
	assert_true(modules_refresh(session) > 2);
	own = module_of(&session); /* data counts as well as code */
	libc = module_of(dlsym(RTLD_DEFAULT, "getpid"));
	assert_non_null(own);
	assert_non_null(libc);
	assert_ptr_equal(own, module_of((void *)(uintptr_t)set_up));
	len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	path[len] = '\0';
	assert_string_equal(own->path, path);
	assert_int_equal(own->path_len, len);
	assert_non_null(strstr(libc->path, "libc.so"));
	assert_int_equal(libc->id_len, BUILD_ID_BYTES);
	assert_true(libc->bias >= libc->low && libc->bias < libc->high);
	assert_null(modules_find(session, 0));
	assert_null(modules_find(session, UINT64_MAX));
	assert_int_equal(list_length(),
			 load_relaxed(&session->head->module_count));
}

static int expect_own_code(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum && info->dlpi_name[0]; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		const struct module *found =
			modules_find(session, info->dlpi_addr + part->p_vaddr);

		if (part->p_type != PT_LOAD)
			continue;
		assert_non_null(found);
		assert_string_equal(found->path, info->dlpi_name);
	}
	return 0;
}

/* On aarch64 the kernel's lies between the segments of the loader. */
static void test_each_file_is_found_by_its_own_segments(void **state)
{
	(void)state;
	modules_refresh(session);
	dl_iterate_phdr(expect_own_code, NULL);
	assert_int_equal(modules_refresh(session), 0);
}

static void test_without_a_change_nothing_is_added(void **state)
{
	(void)state;
	assert_true(modules_refresh(session) > 0);
	assert_int_equal(modules_refresh(session), 0);
}

static void test_the_next_session_begins_anew(void **state)
{
	int first;

	(void)state;
	first = modules_refresh(session);
	assert_true(first > 0);
	fixture_end(session);
	session = fixture_begin(4); /* as in a forked child */
	assert_int_equal(modules_refresh(session), first);
}

/* A library that is not loaded yet: a copy of one that is. */
static void copy_library(const char *to)
{
	const struct module *from =
		module_of(dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests"));
	const int in = open(from->path, O_RDONLY);
	const int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(in >= 0 && out >= 0);
	assert_true(sendfile(out, in, NULL, 1 << 24) > 0);
	close(in);
	close(out);
}

static void test_dlopen_adds_and_dlclose_leaves(void **state)
{
	char path[256];
	const struct module *added;
	void *handle;
	void *code;

	(void)state;
	modules_refresh(session);
	unit_template(path, sizeof(path), "module");
	close(mkstemp(path));
	copy_library(path);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	unlink(path);
	assert_non_null(handle);
	code = dlsym(handle, "_cmocka_run_group_tests");
	assert_null(module_of(code));
	assert_int_equal(modules_refresh(session), 1);
	added = module_of(code);
	assert_non_null(added);
	assert_string_equal(added->path, path);
	dlclose(handle);
	assert_int_equal(modules_refresh(session), 0);
	assert_ptr_equal(module_of(code), added);
}

/* An entry made by hand. */
static struct module *push(uint64_t low, uint64_t high)
{
	const uint64_t at = session_alloc(session, sizeof(struct module) + 8);
	struct module *module = session_at(session, at);

	module->low = low;
	module->high = high;
	module->path_len = 1;
	strcpy(module->path, "m");
	store_relaxed(&module->next, load_relaxed(&session->head->modules));
	store_release(&session->head->modules, at);
	return module;
}

static void test_the_newest_that_holds_an_address_wins(void **state)
{
	const struct module *old = push(1000, 3000);
	const struct module *recent = push(2000, 2500);

	(void)state;
	assert_ptr_equal(modules_find(session, 1999), old);
	assert_ptr_equal(modules_find(session, 2000), recent);
	assert_ptr_equal(modules_find(session, 2499), recent);
	assert_ptr_equal(modules_find(session, 2500), old);
	assert_null(modules_find(session, 3000));
}

static void test_what_lay_there_then_is_found(void **state)
{
	const struct module *first = push(1000, 3000);
	struct module *second = push(1000, 2500);
	struct module *third = push(1000, 2000);
	uint64_t until;

	(void)state;
	second->from_ticks = 100;
	third->from_ticks = 200;
	assert_ptr_equal(modules_find_at(session, 1500, 100, &until), first);
	assert_int_equal(until, 100);
	assert_ptr_equal(modules_find_at(session, 1500, 101, &until), second);
	assert_int_equal(until, 200);
	assert_ptr_equal(modules_find_at(session, 1500, 201, &until), third);
	assert_true(until == UINT64_MAX);
	assert_ptr_equal(modules_find_at(session, 2500, 500, &until), first);
	assert_true(until == UINT64_MAX);
	assert_ptr_equal(modules_find(session, 1500), third);
}

static void test_a_hostile_list_ends(void **state)
{
	struct module *first = push(1, 2);
	struct module *second = push(3, 4);
	const uint64_t hostile[] = {session_offset(session, first),
				    session_offset(session, second),
				    session->bytes - 8, UINT64_MAX - 7, 8};

	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		store_relaxed(&first->next, hostile[i]);
		assert_int_equal(list_length(), 2);
	}
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		store_relaxed(&session->head->modules, hostile[i]);
		assert_in_range(list_length(), 0, 2);
	}
}

static void test_a_damaged_entry_ends_the_list(void **state)
{
	struct module *module = push(1, 2);

	(void)state;
	module->path_len = UINT32_MAX;
	assert_int_equal(list_length(), 0);
	module->path_len = 2; /* no NUL there */
	module->path[2] = 'x';
	assert_int_equal(list_length(), 0);
	module->path_len = 1;
	assert_int_equal(list_length(), 1);
	module->id_len = BUILD_ID_BYTES + 1;
	assert_int_equal(list_length(), 0);
}

static void test_without_room_nothing_is_added(void **state)
{
	(void)state;
	while (session_alloc(session, 64))
		;
	assert_int_equal(modules_refresh(session), 0);
	assert_int_equal(list_length(), 0);
}

#define MODULES_TEST(name)                                                     \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MODULES_TEST(test_what_is_loaded_is_found),
		MODULES_TEST(test_each_file_is_found_by_its_own_segments),
		MODULES_TEST(test_without_a_change_nothing_is_added),
		MODULES_TEST(test_the_next_session_begins_anew),
		MODULES_TEST(test_dlopen_adds_and_dlclose_leaves),
		MODULES_TEST(test_the_newest_that_holds_an_address_wins),
		MODULES_TEST(test_what_lay_there_then_is_found),
		MODULES_TEST(test_a_hostile_list_ends),
		MODULES_TEST(test_a_damaged_entry_ends_the_list),
		MODULES_TEST(test_without_room_nothing_is_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
