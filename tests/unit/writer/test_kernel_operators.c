/* SPDX-License-Identifier: MIT */
/*
 * test_kernel_operators.c - of which operators torch.compile made a kernel, by
 * caches that are as they should be, and by others.
 */
#include "tests/unit/trace_fixture.h"
#include "writer/state/compile_folder.h"
#include "writer/state/generated.h"
#include <limits.h>

#define ADD_RELU "triton_poi_fused_add_relu_0"
#define STRANGER 12345u /* a user whom nothing belongs to */

/* A kernel as PyTorch 2.15 writes it. */
static const char *kernel(const char *name, const char *operators)
{
	static char text[4000];

	snprintf(text, sizeof(text),
		 "# AOT ID: ['0_inference']\nimport torch\n\n\n"
		 "# kernel path: /tmp/x/ab/cab.py\n"
		 "# Topologically Sorted Source Nodes: [x, y], Original ATen: "
		 "[%s]\n"
		 "# Source node to ATen node mapping:\n#   x => relu\n"
		 "# Graph fragment:\n#   return %%buf1\n"
		 "%s = async_compile.triton('%s', '''\nimport triton\n"
		 "@triton.jit\ndef %s(a):\n    pass\n''', "
		 "device_str='cuda')\n\n\n",
		 operators, name, name, name);
	return text;
}

static void write_file(const char *name, const char *text)
{
	FILE *to = make_file(name);

	fputs(text, to);
	fclose(to);
}

static int with_cache(void **state)
{
	return set_up(state) || setenv("TORCHINDUCTOR_CACHE_DIR", folder, 1);
}

static int without_cache(void **state)
{
	unsetenv("TORCHINDUCTOR_CACHE_DIR");
	return tear_down(state);
}

/* Asked once, by a process that knows nothing yet. */
static void expect(const char *name, const char *told)
{
	struct generated generated = {.is_own = true};
	const char *operators = generated_operators(&generated, name);

	if (told) {
		assert_non_null(operators);
		assert_string_equal(operators, told);
	} else {
		assert_null(operators);
	}
	generated_end(&generated);
}

/* 2.15, and in the same file one whose operator's names begin with "_". */
static void the_comment_tells(void **state)
{
	char text[8000];
	size_t used;

	(void)state;
	used = (size_t)snprintf(text, sizeof(text), "%s",
				kernel(ADD_RELU, "aten.relu, aten.add"));
	snprintf(text + used, sizeof(text) - used, "%s",
		 kernel("triton_per_fused__softmax__to_copy_add_3",
			"aten.add, aten._to_copy, prims.add, aten._softmax"));
	write_file("ab/cab.py", text);
	expect(ADD_RELU, "aten.relu, aten.add");
	expect("triton_per_fused__softmax__to_copy_add_3",
	       "aten.add, aten._to_copy, prims.add, aten._softmax");
	expect("triton_poi_fused_add_relu_1", NULL);
	expect("triton_poi_fused_add_0", NULL);
	expect("ampere_sgemm_32x32", NULL);
}

/* 2.1: another word, nothing behind it but an empty line, a kernel that is
 * called "triton_" in its source; and Triton 2 adds to the name. */
static void so_does_that_of_older_versions(void **state)
{
	(void)state;
	write_file("ab/cab.py",
		   "# kernel path: /tmp/x.py\n"
		   "# Source Nodes: [add], Original ATen: [aten.add]\n\n"
		   "triton_poi_fused_add_0 = async_compile.triton('triton_', "
		   "'''\n''')\n");
	write_file("ac/cac.py",
		   "# Unsorted Source Nodes: [], Original ATen: [aten.mul]\n"
		   "triton_poi_fused_mul_12 = async_compile.triton('x', "
		   "'''\n''')\n");
	expect("triton_poi_fused_add_0", "aten.add");
	expect("triton_poi_fused_add_0_0d1d2de", "aten.add");
	expect("triton_poi_fused_add_0_012345678910c11d", "aten.add");
	expect("triton_poi_fused_add_0_0d2d", NULL);
	expect("triton_poi_fused_add_0_0d1", "aten.add");
	expect("triton_poi_fused_add_0_d", NULL);
	expect("triton_poi_fused_mul_12", "aten.mul");
	expect("triton_poi_fused_mul_12_01c", "aten.mul");
	expect("triton_poi_fused_mul_1", NULL);
	expect("triton__0d1d2", NULL);
}

/* A name that the operators don't make up is another kernel's. */
static void operators_that_do_not_fit_are_not_told(void **state)
{
	static const char *const wrong[] = {
		"aten.mul, aten.relu",
		"aten.add",
		"aten.add, aten.relu,",
		"aten.add, aten.relu, aten.relu6",
		"aten.add,aten.relu",
		"aten.add; aten.relu",
		"",
		"aten.",
		"aten.add, , aten.relu",
		", aten.add, aten.relu",
		"aten.add, aten.relu_0",
		"\"aten.add\", aten.relu",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		write_file("ab/cab.py", kernel(ADD_RELU, wrong[i]));
		expect(ADD_RELU, NULL);
	}
	write_file("ab/cab.py",
		   ADD_RELU " = async_compile.triton('x', '''\n''')\n");
	expect(ADD_RELU, NULL);
	write_file("ab/cab.py",
		   "# Source Nodes: [x], Original ATen: [aten.add, aten.relu]\n"
		   "other = 1\n" ADD_RELU
		   " = async_compile.triton('x', '''\n''')\n");
	expect(ADD_RELU, NULL);
	write_file("ab/cab.py", kernel(ADD_RELU, "aten.add, aten.relu"));
	expect(ADD_RELU, "aten.add, aten.relu");
}

/* Which of them this process has isn't known. */
static void files_that_disagree_say_nothing(void **state)
{
	(void)state;
	write_file("ab/cab.py", kernel(ADD_RELU, "aten.add, aten.relu"));
	write_file("ac/cac.py", kernel(ADD_RELU, "aten.add, aten.relu"));
	expect(ADD_RELU, "aten.add, aten.relu");
	write_file("ac/cac.py", kernel(ADD_RELU, "aten.relu, aten.add"));
	expect(ADD_RELU, "aten.add, aten.relu");
	write_file("ad/cad.py", kernel(ADD_RELU, "aten.relu, aten.add"));
	expect(ADD_RELU, "aten.add, aten.relu");
	write_file("ac/cac.py", kernel(ADD_RELU, "aten.add, prims.relu"));
	expect(ADD_RELU, NULL);
	write_file("ac/cac.py", kernel(ADD_RELU, "aten.mul"));
	expect(ADD_RELU, NULL);
	write_file("ac/cac.py",
		   ADD_RELU " = async_compile.triton('x', '''\n''')\n");
	expect(ADD_RELU, NULL);
	write_file("ac/cac.py", "# no kernel\n");
	expect(ADD_RELU, "aten.add, aten.relu");
}

/* Wherever it is cut: no operators, or the right ones. */
static void a_file_that_is_cut_off_says_nothing_wrong(void **state)
{
	const char *whole = kernel(ADD_RELU, "aten.add, aten.relu");
	const size_t len = strlen(whole);
	const char *defined = strstr(whole, "async_compile.triton(");
	size_t told = 0;

	(void)state;
	for (size_t cut = 1; cut <= len; cut++) {
		struct generated generated = {.is_own = true};
		char text[4000];
		const char *operators;

		snprintf(text, sizeof(text), "%.*s", (int)cut, whole);
		write_file("ab/cab.py", text);
		operators = generated_operators(&generated, ADD_RELU);
		if (operators) {
			assert_string_equal(operators, "aten.add, aten.relu");
			told++;
		}
		generated_end(&generated);
	}
	assert_int_equal(told, len - (size_t)(defined - whole) -
				       strlen("async_compile.triton(") + 1);
}

static void what_is_too_large_is_not_read(void **state)
{
	struct generated generated = {.is_own = true};
	char at[512];

	(void)state;
	write_file("ab/cab.py", kernel(ADD_RELU, "aten.add, aten.relu"));
	snprintf(at, sizeof(at), "%s/ab/cab.py", folder);
	assert_int_equal(truncate(at, INT64_C(1) << 40), 0);
	assert_null(generated_operators(&generated, ADD_RELU));
	assert_true(generated.cache.is_cut);
	assert_int_equal(generated.cache.read_bytes, 0);
	generated_end(&generated);
	assert_int_equal(truncate(at, 4 << 20), 0);
	expect(ADD_RELU, NULL);
	assert_int_equal(truncate(at, (4 << 20) - 1), 0);
	expect(ADD_RELU, "aten.add, aten.relu");
}

/* The operators of a kernel that is known cost nothing; for one that isn't only
 * folders that have changed are looked at. */
static void what_comes_later_is_found(void **state)
{
	struct generated generated = {.is_own = true};
	const char *operators;

	(void)state;
	assert_null(generated_operators(&generated, ADD_RELU));
	write_file("ab/cab.py", kernel(ADD_RELU, "aten.add, aten.relu"));
	operators = generated_operators(&generated, ADD_RELU);
	assert_non_null(operators);
	assert_int_equal(generated.cache.listed, 1);
	write_file("ac/cac.py", kernel("triton_red_fused_sum_1", "aten.sum"));
	assert_ptr_equal(generated_operators(&generated, ADD_RELU), operators);
	assert_int_equal(generated.cache.listed, 1);
	assert_non_null(
		generated_operators(&generated, "triton_red_fused_sum_1"));
	assert_int_equal(generated.cache.listed, 2);
	generated_end(&generated);
}

/* One of a dead process has another environment. */
static void another_process_has_no_cache(void **state)
{
	struct generated generated = {.is_own = false};

	(void)state;
	write_file("ab/cab.py", kernel(ADD_RELU, "aten.add, aten.relu"));
	assert_null(generated_operators(&generated, ADD_RELU));
	assert_int_equal(generated.cache.listed, 0);
	generated_end(&generated);
}

/* Links, pipes and devices are no files of a cache. */
static void odd_files_are_not_followed(void **state)
{
	char at[512], to[512];

	(void)state;
	write_file("elsewhere/cab.py", kernel(ADD_RELU, "aten.add, aten.relu"));
	snprintf(to, sizeof(to), "%s/elsewhere", folder);
	snprintf(at, sizeof(at), "%s/ab", folder);
	assert_int_equal(symlink(to, at), 0);
	expect(ADD_RELU, NULL);
	assert_int_equal(unlink(at), 0);
	write_file("ab/cother.py", "");
	snprintf(at, sizeof(at), "%s/ab/cab.py", folder);
	snprintf(to, sizeof(to), "%s/elsewhere/cab.py", folder);
	assert_int_equal(symlink(to, at), 0);
	expect(ADD_RELU, NULL);
	assert_int_equal(unlink(at), 0);
	assert_int_equal(mkfifo(at, 0600), 0);
	expect(ADD_RELU, NULL);
	assert_int_equal(unlink(at), 0);
	assert_int_equal(link(to, at), 0);
	expect(ADD_RELU, "aten.add, aten.relu");
}

static void other_users_are_not_trusted(void **state)
{
	char at[512], found[512];

	(void)state;
	if (geteuid())
		skip(); /* only root can give a file away */
	write_file("ab/cab.py", kernel(ADD_RELU, "aten.add, aten.relu"));
	expect(ADD_RELU, "aten.add, aten.relu");
	snprintf(at, sizeof(at), "%s/ab/cab.py", folder);
	assert_int_equal(chown(at, STRANGER, STRANGER), 0);
	expect(ADD_RELU, NULL);
	assert_int_equal(chown(at, 0, 0), 0);
	assert_int_equal(chown(folder, STRANGER, STRANGER), 0);
	assert_false(compile_folder_find(found, sizeof(found)));
	expect(ADD_RELU, NULL);
	assert_int_equal(chown(folder, 0, 0), 0);
	/* A link to what is ours, put there by another; and by us. */
	snprintf(at, sizeof(at), "%s.link", folder);
	assert_int_equal(symlink(folder, at), 0);
	assert_int_equal(setenv("TORCHINDUCTOR_CACHE_DIR", at, 1), 0);
	expect(ADD_RELU, "aten.add, aten.relu");
	assert_int_equal(lchown(at, STRANGER, STRANGER), 0);
	expect(ADD_RELU, NULL);
	assert_int_equal(unlink(at), 0);
}

/* Root's may be read, by whoever can. */
static void what_may_not_be_read_says_nothing(void **state)
{
	char at[512];

	(void)state;
	write_file("ab/cab.py", kernel(ADD_RELU, "aten.add, aten.relu"));
	snprintf(at, sizeof(at), "%s/ab", folder);
	assert_int_equal(chmod(folder, 0755), 0);
	if (geteuid()) {
		assert_int_equal(chmod(at, 0), 0);
		expect(ADD_RELU, NULL);
		assert_int_equal(chmod(at, 0700), 0);
		return;
	}
	assert_int_equal(chmod(at, 0755), 0);
	assert_int_equal(seteuid(STRANGER), 0);
	expect(ADD_RELU, "aten.add, aten.relu");
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(at, 0), 0);
	assert_int_equal(seteuid(STRANGER), 0);
	expect(ADD_RELU, NULL);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(folder, 0), 0);
	assert_int_equal(seteuid(STRANGER), 0);
	expect(ADD_RELU, NULL);
	assert_int_equal(seteuid(0), 0);
}

/* As tempfile.gettempdir() and getpass.getuser() do. */
static void without_a_variable_it_is_where_python_would_make_it(void **state)
{
	static const char *const users[] = {"LOGNAME", "USER", "LNAME",
					    "USERNAME"};
	char made[512], found[PATH_MAX];

	(void)state;
	unsetenv("TORCHINDUCTOR_CACHE_DIR");
	setenv("TMPDIR", folder, 1);
	for (int i = 0; i < 4; i++)
		unsetenv(users[i]);
	assert_false(compile_folder_find(found, sizeof(found)));
	for (int i = 3; i >= 0; i--) {
		char user[32];

		snprintf(user, sizeof(user), "some/one%d", i);
		setenv(users[i], user, 1);
		snprintf(made, sizeof(made), "%s/torchinductor_some_one%d",
			 folder, i);
		assert_int_equal(mkdir(made, 0700), 0);
		assert_true(compile_folder_find(found, sizeof(found)));
		assert_string_equal(found, made);
	}
	for (int i = 0; i < 4; i++)
		unsetenv(users[i]);
	if (!getuid()) { /* whom every list of users has */
		snprintf(made, sizeof(made), "%s/torchinductor_root", folder);
		assert_int_equal(mkdir(made, 0700), 0);
		assert_true(compile_folder_find(found, sizeof(found)));
		assert_string_equal(found, made);
	}
	setenv("TORCHINDUCTOR_CACHE_DIR", ".", 1);
	assert_false(compile_folder_find(found, sizeof(found)));
	setenv("TORCHINDUCTOR_CACHE_DIR", "", 1);
	assert_false(compile_folder_find(found, sizeof(found)));
	unsetenv("TMPDIR");
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, with_cache, without_cache)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_comment_tells),
		TEST(so_does_that_of_older_versions),
		TEST(operators_that_do_not_fit_are_not_told),
		TEST(files_that_disagree_say_nothing),
		TEST(a_file_that_is_cut_off_says_nothing_wrong),
		TEST(what_is_too_large_is_not_read),
		TEST(what_comes_later_is_found),
		TEST(another_process_has_no_cache),
		TEST(odd_files_are_not_followed),
		TEST(other_users_are_not_trusted),
		TEST(what_may_not_be_read_says_nothing),
		TEST(without_a_variable_it_is_where_python_would_make_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
