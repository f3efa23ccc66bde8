/* SPDX-License-Identifier: MIT */
/*
 * test_gate.c - the gate's bits, and that a forked child finds it undecided.
 */
#include "collector/system/page_size.h"
#include "tests/unit/session_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

static int set_up(void **state)
{
	(void)state;
	gate_set_record(0);
	gate_set(GATE_UNDECIDED);
	return 0;
}

static void test_recording_moves_only_record_bits(void **state)
{
	const uint32_t rest = GATE_CLOSED | GATE_HEAP | GATE_OMP_MARK;

	(void)state;
	gate_set_record(GATE_OMP | GATE_HEAP_LARGE);
	gate_set(rest);
	assert_false(gate_is_recording());
	gate_record(true);
	assert_int_equal(gate_bits(), rest | GATE_OMP | GATE_HEAP_LARGE);
	assert_true(gate_is_recording());
	gate_record(false);
	assert_int_equal(gate_bits(), rest);
	assert_false(gate_is_recording());
}

static uint32_t bits_seen;

static void look(bool open)
{
	(void)open;
	bits_seen = gate_bits();
}

/* What it does may take its time: events are recorded meanwhile. */
static void test_who_follows_finds_the_gate_open(void **state)
{
	(void)state;
	gate_set_record(GATE_OMP);
	gate_set(GATE_CLOSED);
	gate_on_change(GATE_TORCH, look);
	gate_record(true);
	assert_int_equal(bits_seen, GATE_CLOSED | GATE_OMP);
	bits_seen = 0;
	gate_record(false);
	assert_int_equal(bits_seen, GATE_CLOSED | GATE_OMP);
	assert_int_equal(gate_bits(), GATE_CLOSED);
	gate_on_change(GATE_TORCH, NULL);
}

static void test_only_record_bits_can_be_wanted(void **state)
{
	(void)state;
	gate_set_record(GATE_SCOPE | GATE_SCOPE_MARK | GATE_HEAP);
	gate_set(GATE_CLOSED);
	gate_record(true);
	assert_int_equal(gate_bits(), GATE_CLOSED | GATE_SCOPE);
}

static void test_closing_closes_what_is_no_longer_wanted(void **state)
{
	(void)state;
	gate_set_record(GATE_OMP);
	gate_set(GATE_CLOSED);
	gate_record(true);
	gate_set_record(0);
	gate_record(false);
	assert_int_equal(gate_bits(), GATE_CLOSED);
}

/* In a window that is open, and in those to come. */
static void test_added_to_what_is_open_alone(void **state)
{
	(void)state;
	gate_set_record(GATE_OMP);
	gate_set(GATE_CLOSED);
	gate_add_open(GATE_CUDA);
	assert_int_equal(gate_bits(), GATE_CLOSED);
	gate_record(true);
	assert_int_equal(gate_bits(), GATE_CLOSED | GATE_OMP | GATE_CUDA);
	gate_add_open(GATE_BLAS);
	assert_int_equal(gate_bits(),
			 GATE_CLOSED | GATE_OMP | GATE_CUDA | GATE_BLAS);
	gate_record(false);
	assert_int_equal(gate_bits(), GATE_CLOSED);
}

static void test_forked_child_is_undecided(void **state)
{
	int status;
	pid_t child;

	(void)state;
	if (gate_protect())
		skip(); /* a kernel without MADV_WIPEONFORK */
	gate_set(GATE_CLOSED | GATE_OMP);
	child = fork();
	if (!child)
		_exit(gate_bits() == GATE_UNDECIDED ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(gate_bits(), GATE_CLOSED | GATE_OMP);
}

static void test_gate_has_a_page_of_its_own(void **state)
{
	(void)state;
	assert_int_equal((uintptr_t)&gate_page % page_bytes(), 0);
	assert_int_equal(sizeof(gate_page) % page_bytes(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_added_to_what_is_open_alone,
				       set_up),
		cmocka_unit_test_setup(test_recording_moves_only_record_bits,
				       set_up),
		cmocka_unit_test_setup(test_who_follows_finds_the_gate_open,
				       set_up),
		cmocka_unit_test_setup(test_only_record_bits_can_be_wanted,
				       set_up),
		cmocka_unit_test_setup(
			test_closing_closes_what_is_no_longer_wanted, set_up),
		cmocka_unit_test_setup(test_forked_child_is_undecided, set_up),
		cmocka_unit_test(test_gate_has_a_page_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
