/* SPDX-License-Identifier: MIT */
/*
 * test_python_frames.c - whose frames are read in a forked child.
 *
 * CPython 3.14 as it describes itself to debuggers, as in made_up_python.c: the
 * symbols are looked for in this program.
 */
#include "tests/unit/session_fixture.h"

#include "preload/stack/python_frames.h"
#include "tests/programs/made_up_objects.h"
#include <sys/wait.h>

enum { DEEPEST = 8, PARENTS = 2, CHILDS = 5 };
static struct text file = {1, 0, 11, 0, 3, 0x19, 0, "/made/up.py"};
static struct text name = {1, 0, 5, 0, 1, 0x19, 0, "inner"};
static struct bytes lines = {1, 0, 2, 0, {0x80 | 13 << 3 | 7, 6}};
static struct code code[DEEPEST];
static struct frame frames[DEEPEST + 1];
static struct state state = {.frame = &frames[DEEPEST]};

/* NOLINTBEGIN: these are CPython's names. */
#pragma GCC visibility push(default)
extern char PyCode_Type[8];
extern const uint64_t _PyRuntime[64];
const char *Py_GetVersion(void);
void *PyGILState_GetThisThreadState(void);
void _PyEval_EvalFrameDefault(void);

char PyCode_Type[8];
const uint64_t _PyRuntime[64] = {
	0x7970677562656478, /* xdebugpy */
	MADE_UP_VERSION,
	MADE_UP_OFFSETS,
};

const char *Py_GetVersion(void)
{
	return MADE_UP_NAME;
}

void *PyGILState_GetThisThreadState(void)
{
	return &state;
}

__attribute__((noinline)) void _PyEval_EvalFrameDefault(void)
{
	__asm__ volatile("nop; nop" : : : "memory");
}
#pragma GCC visibility pop
/* NOLINTEND */

static void make(int deep)
{
	for (int i = 0; i < deep; i++) {
		struct frame *frame = &frames[DEEPEST - i];

		code[i] = (struct code){.type = PyCode_Type,
					.name = (uint64_t)(uintptr_t)&name,
					.file = (uint64_t)(uintptr_t)&file,
					.lines = (uint64_t)(uintptr_t)&lines,
					.first_line = 12 + 8 * i};
		*frame = (struct frame){
			.previous = (uint64_t)(uintptr_t)(frame - 1),
			.executable = (uint64_t)(uintptr_t)&code[i] | 1,
			.instruction =
				(uint64_t)(uintptr_t)code[i].instructions + 4};
	}
	frames[DEEPEST - deep] = (struct frame){.owner = 3};
}

/* How many functions of Python a stack has whose one frame lies in the loop. */
static uint32_t count(struct session *session)
{
	uint64_t found[16] = {(uint64_t)(uintptr_t)_PyEval_EvalFrameDefault +
			      1};

	return python_frames_append(session, found, 16);
}

/* Its parent's lie at the same addresses, and would be written to. */
static void a_child_reads_its_own(void **unused)
{
	struct session *session = fixture_begin(1);
	int status = 0;
	pid_t child;

	(void)unused;
	make(PARENTS);
	assert_true(python_frames_find());
	python_frames_start(session);
	assert_int_equal(count(session), PARENTS);
	child = fork();
	if (!child) {
		python_frames_forget();
		make(CHILDS);
		_exit((int)count(session));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), CHILDS);
	fixture_end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_reads_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
