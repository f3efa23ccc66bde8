/* SPDX-License-Identifier: MIT */
/* test_naming.c - names of code, and sums by name. */
#include "tests/unit/sample_session.h"
#include "collector/session/modules.h"
#include "collector/system/folded_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void symbols_are_shown_as_in_the_source(void **state)
{
	static const char *const names[][2] = {
		{"train_epoch", "train_epoch"},
		{"train_epoch._omp_fn.3", "train_epoch"},
		{"fit.constprop.0.isra.1", "fit"},
		{"fit.cold", "fit"},
#ifdef HAVE_DEMANGLE
		{"_ZN2at6native4gemmEid._omp_fn.0", "at::native::gemm"},
		{"_ZN5train4step17h05af221e174051e9E", "train::step"},
		{"_RNvC5train4step", "train::step"},
		{"_Z3addIfEvPT_i", "add<float>"},
#endif
		{"_Znot mangled", "_Znot mangled"},
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_int_equal(naming_tidy(names[i][0], strlen(names[i][0]),
					     text, sizeof(text)),
				 strlen(names[i][1]));
		assert_string_equal(text, names[i][1]);
	}
	naming_tidy("a_name_that_does_not_fit", 24, text, 8);
	assert_string_equal(text, "a_name_");
}

#ifdef HAVE_DEMANGLE
/* lib::work<type0, type1, ...>::run(), with `types` of `each` bytes. */
static void write_symbol(char *symbol, int types, int each)
{
	symbol += sprintf(symbol, "_ZN3lib4workIJ");
	for (int i = 0; i < types; i++)
		symbol += sprintf(symbol, "%dt%0*d", each, each - 1, i);
	sprintf(symbol, "EE3runEv._omp_fn.0");
}

/* However long the arguments: the function's name is at the end. */
static void a_long_symbol_keeps_its_function(void **state)
{
	static char symbol[80000];
	char text[4096];

	(void)state;
	for (int types = 5; types <= 1200; types *= 3) {
		size_t len;

		write_symbol(symbol, types, 30);
		len = naming_tidy(symbol, strlen(symbol), text, sizeof(text));
		assert_int_equal(len, strlen(text));
		assert_int_equal(strncmp(text, "lib::work<t000", 14), 0);
		assert_string_equal(text + len - 6, ">::run");
		assert_string_equal(folded_name(text, 80).text,
				    "lib::work<>::run");
	}
	/* A path alone, without arguments to fold. */
	strcpy(symbol, "_ZN");
	for (int i = 0; i < 500; i++)
		strcat(symbol, "11a_namespace");
	strcat(symbol, "3runEv");
	naming_tidy(symbol, strlen(symbol), text, sizeof(text));
	assert_string_equal(text + strlen(text) - 18, "::a_namespace::run");
	/* Operators in it are no brackets. */
	strcpy(symbol, "_ZN");
	for (int i = 0; i < 500; i++)
		strcat(symbol, "11a_namespace");
	strcat(symbol, "lsIiEEvT_");
	naming_tidy(symbol, strlen(symbol), text, sizeof(text));
	assert_non_null(strstr(text, "::operator<< <int>"));
}
#endif

/* Two calls of one function, seen by their return addresses. */
static uint64_t sites[3];

__attribute__((noinline)) static void note_site(int at)
{
	sites[at] = (uint64_t)__builtin_return_address(0);
}

__attribute__((noinline)) static void calling_function(void)
{
	note_site(0);
	note_site(1);
	__asm__ volatile("");
}

static void call_sites_are_numbered_in_their_function(void **state)
{
	struct sample sample;
	struct naming naming;
	struct code_name *first;
	struct code_name *second;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	modules_refresh(sample.session);
	naming_start(&naming, sample.session);
	calling_function();
	/* The later one first: numbers follow the code, not the calls. */
	second = naming_find(&naming, sites[1], sites[1], 0);
	first = naming_find(&naming, sites[0], sites[0], 0);
	assert_string_equal(first->function, "calling_function");
	assert_string_equal(second->function, "calling_function");
	assert_int_equal(naming_ordinal(&naming, second), 2);
	assert_int_equal(naming_ordinal(&naming, first), 1);
	assert_ptr_equal(naming_find(&naming, sites[0], sites[0], 0), first);
	assert_string_equal(naming_find(&naming, 0, 0, 0)->function,
			    "unknown code");
	assert_string_equal(naming_find(&naming, 0x123, 0x123, 0)->function,
			    "code at 0x123");
	naming_end(&naming);
	sample_end(&sample);
}

/* As gcc calls what it makes of a region in relax(). */
void outlined_function(void) __asm__("relax._omp_fn.0");
__attribute__((noinline)) void outlined_function(void)
{
	note_site(2);
}

static void a_frame_and_a_region_are_named_apart(void **state)
{
	const uint64_t outlined = (uint64_t)(uintptr_t)outlined_function;

	(void)state;
	for (int frame_first = 0; frame_first < 2; frame_first++) {
		struct sample sample;
		struct naming naming;

		sample_begin(&sample);
		sample_session(&sample);
		modules_refresh(sample.session);
		naming_start(&naming, sample.session);
		calling_function();
		if (frame_first)
			naming_find(&naming, sites[0], sites[0], 0);
		assert_string_equal(
			naming_find(&naming, sites[0], sites[0], outlined)
				->function,
			"relax");
		assert_string_equal(
			naming_find(&naming, sites[0], sites[0], 0)->function,
			"calling_function");
		naming_end(&naming);
		sample_end(&sample);
	}
}

static void totals_sort_by_their_sums(void **state)
{
	struct sample sample;
	struct naming naming;
	struct totals totals;
	struct label *const *sorted;
	unsigned int seed = 5;
	size_t count;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	naming_start(&naming, sample.session);
	totals_start(&totals, &naming);
	for (unsigned int i = 0; i < 1000; i++) {
		char name[32];
		struct event event = {.kind = EVENT_SCOPE};

		snprintf(name, sizeof(name), "name %u", i % 500);
		event.name = names_intern_string(sample.session, name);
		totals_add(totals_label(&totals, &event),
			   (uint64_t)rand_r(&seed) % 1000);
	}
	count = totals_sort(&totals, false, &sorted);
	assert_int_equal(count, 500);
	for (size_t i = 0; i + 1 < count; i++) {
		assert_int_equal(sorted[i]->run.calls, 2);
		assert_true(sorted[i]->run.sum_ns >= sorted[i + 1]->run.sum_ns);
		assert_true(sorted[i]->run.min_ns <= sorted[i]->run.max_ns);
	}
	totals_reset_run(&totals);
	assert_int_equal(totals_sort(&totals, false, &sorted), 0);
	assert_int_equal(totals_sort(&totals, true, &sorted), 500);
	totals_end(&totals);
	naming_end(&naming);
	sample_end(&sample);
}

static void only_real_steps_are_called_steps(void **state)
{
	struct sample sample;
	struct naming naming;
	struct totals totals;
	struct event event = {.kind = EVENT_SCOPE};

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	naming_start(&naming, sample.session);
	totals_start(&totals, &naming);
	event.name = names_intern_string(sample.session, "ProfilerStep by me");
	assert_string_equal(totals_label(&totals, &event)->text,
			    "user ProfilerStep by me");
	totals_end(&totals);
	naming_end(&naming);
	sample_end(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_are_shown_as_in_the_source),
#ifdef HAVE_DEMANGLE
		cmocka_unit_test(a_long_symbol_keeps_its_function),
#endif
		cmocka_unit_test(call_sites_are_numbered_in_their_function),
		cmocka_unit_test(a_frame_and_a_region_are_named_apart),
		cmocka_unit_test(totals_sort_by_their_sums),
		cmocka_unit_test(only_real_steps_are_called_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
