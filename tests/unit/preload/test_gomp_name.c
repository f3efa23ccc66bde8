/* SPDX-License-Identifier: MIT */
/* test_gomp_name.c - function names as step markers are matched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "preload/gomp/gomp_name.h"
#include <string.h>

static void reads(const char *symbol, const char *wanted)
{
	char readable[GOMP_NAME_BYTES];

	gomp_name_read(symbol, strlen(symbol), readable);
	assert_string_equal(readable, wanted);
}

static void plain_names_stay(void **state)
{
	(void)state;
	reads("train_epoch", "train_epoch");
	reads("_Z", "_Z");
	reads("_", "_");
	reads("", "");
}

static void outlined_functions_are_their_function(void **state)
{
	(void)state;
	reads("train_epoch._omp_fn.0", "train_epoch");
	reads("_ZN7Trainer5epochEi._omp_fn.12", "Trainer::epoch");
}

static void mangled_names_lose_their_parameters(void **state)
{
	(void)state;
	reads("_Z11train_epochi", "train_epoch");
	reads("_ZN7Trainer5epochEi", "Trainer::epoch");
	reads("_ZNK2nn7Trainer5epochEv", "nn::Trainer::epoch");
	reads("_ZN12_GLOBAL__N_13runEv", "_GLOBAL__N_1::run");
	reads("_ZL5innerv", "inner");
	reads("_Z5epoch7Trainer", "epoch");
}

/* What follows a template's arguments isn't looked at. */
static void templates_end_the_name(void **state)
{
	(void)state;
	reads("_ZN7TrainerIfE5epochEv", "Trainer");
	reads("_Z3runIdEvT_", "run");
}

static void broken_names_are_copied(void **state)
{
	(void)state;
	reads("_Z99short", "_Z99short");
	reads("_ZN", "_ZN");
	reads("_Z99999999999999999999999x", "_Z99999999999999999999999x");
}

static void long_names_are_cut(void **state)
{
	char symbol[2 * GOMP_NAME_BYTES];
	char readable[GOMP_NAME_BYTES];

	(void)state;
	memset(symbol, 'a', sizeof(symbol));
	gomp_name_read(symbol, sizeof(symbol), readable);
	assert_int_equal(strlen(readable), GOMP_NAME_BYTES - 1);
	memcpy(symbol, "_Z400", 5);
	memcpy(symbol + 405, "400", 3);
	gomp_name_read(symbol, 808, readable);
	assert_int_equal(strlen(readable), 400);
	memcpy(symbol, "_ZN400", 6);
	memcpy(symbol + 406, "400", 3);
	gomp_name_read(symbol, 809, readable);
	assert_int_equal(strlen(readable), GOMP_NAME_BYTES - 1);
	assert_memory_equal(readable + 400, "::aa", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_names_stay),
		cmocka_unit_test(outlined_functions_are_their_function),
		cmocka_unit_test(mangled_names_lose_their_parameters),
		cmocka_unit_test(templates_end_the_name),
		cmocka_unit_test(broken_names_are_copied),
		cmocka_unit_test(long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
