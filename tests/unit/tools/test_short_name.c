/* SPDX-License-Identifier: MIT */
/* test_short_name.c - names as tables show them. */
#include "tests/unit/cmocka_base.h"
#include "tools/util/short_name.h"
#include <string.h>

static void expect_short(const char *name, const char *wanted)
{
	struct text_buffer text = {0};

	short_name_add(&text, name);
	assert_string_equal(text.data, wanted);
	text_buffer_free(&text);
}

static void short_names_stay_whole(void **state)
{
	(void)state;
	expect_short("main", "main");
	expect_short("std::vector<int>::push_back",
		     "std::vector<int>::push_back");
}

static void template_arguments_are_folded(void **state)
{
	(void)state;
	expect_short("void at::native::vectorized_elementwise_kernel<4, "
		     "at::native::FillFunctor<float>, std::array<char*, 1ul> >"
		     "(int, at::native::FillFunctor<float>)",
		     "void at::native::vectorized_elementwise_kernel<>(int, "
		     "at::native::FillFunctor<>)");
	expect_short("std::basic_ostream<char, std::char_traits<char> >& "
		     "std::operator<< <std::char_traits<char> >(char const*) "
		     "[clone .part]",
		     "std::basic_ostream<>& std::operator<< <>(char const*) "
		     "[clone .part]");
}

static void what_rusts_function_is_of_is_kept(void **state)
{
	(void)state;
	expect_short("<&polars_core::frame::group_by_threaded_slice<u64, "
		     "&[u64]>::{closure#0} as core::ops::function::FnMut<("
		     "usize,)>>::call_mut",
		     "<&polars_core::frame::group_by_threaded_slice<>::"
		     "{closure#0} as core::ops::function::FnMut<>>::call_mut");
	expect_short(
		"<<alloc::vec::Vec<core::option::Option<u64>> as a::B>::C "
		"as core::iter::Iterator<core::option::Option<u64>>>::next",
		"<<alloc::vec::Vec<> as a::B>::C as "
		"core::iter::Iterator<>>::next");
	expect_short("core::iter::range::<impl core::iter::Iterator for "
		     "core::ops::range::Range<core::num::Wrapping<u64>>>::next",
		     "core::iter::range::<impl core::iter::Iterator for "
		     "core::ops::range::Range<>>::next");
	expect_short("rayon::iter::plumbing::bridge_producer_consumer::helper::"
		     "<rayon::slice::IterProducer<u64>, rayon::X>",
		     "rayon::iter::plumbing::bridge_producer_consumer::helper::"
		     "<>");
}

static void what_python_has_in_brackets_is_its_name(void **state)
{
	(void)state;
	expect_short("/home/somebody/projects/a-model/experiments/of-november/"
		     "training/train.py(12): <module>",
		     "/home/somebody/projects/a-model/experiments/of-november/"
		     "training/train.py(12): <module>");
	expect_short("DataLoader collate: /home/somebody/projects/a-model/"
		     "training.py(7): make.<locals>.<lambda>",
		     "DataLoader collate: /home/somebody/projects/a-model/"
		     "training.py(7): make.<locals>.<lambda>");
	/* Too long for a row. */
	expect_short("/home/somebody/projects/a-model-with-a-long-name/"
		     "experiments/of-the-second-half-of-november/training/"
		     "of-the-whole-model/with-layers/of-attention/"
		     "train.py(12): Trainer.<locals>.step",
		     ".../a-model-with-a-long-name/experiments/of-the-second-"
		     "half-of-november/training/"
		     "of-the-whole-model/with-layers/of-attention/"
		     "train.py(12): Trainer.<locals>.step");
}

static void the_function_of_a_lambda_is_kept(void **state)
{
	(void)state;
	expect_short(
		"at::internal::invoke_parallel<at::parallel_for<"
		"(anonymous namespace)::_vec_log_softmax_lastdim<float>("
		"float const*, float*, long, long)::{lambda(long, long)#1}>"
		"(long, long)::{lambda(long, long)#1}> [omp parallel #1]",
		"at::internal::invoke_parallel<_vec_log_softmax_lastdim> "
		"[omp parallel #1]");
	/* Cut by the library, which puts its own mark behind it. */
	expect_short(
		"at::internal::invoke_parallel<at::parallel_for<"
		"frame<float, long>(at::Tensor const&)::{lambda(long, long)"
		"#2}>(long, long, at::native:: [omp parallel #2]",
		"at::internal::invoke_parallel<frame> [omp parallel #2]");
	expect_short(
		"a_template_of_long_arguments<first_of_them, second_of_them, "
		"third_of_them, fourth_of_t",
		"a_template_of_long_arguments<>");
}

static void cythons_names_are_those_of_the_source(void **state)
{
	(void)state;
	expect_short("__pyx_pf_7sklearn_8ensemble_23_hist_gradient_boosting_"
		     "9histogram_16HistogramBuilder_2compute_histograms_brute "
		     "[omp parallel #1]",
		     "HistogramBuilder.compute_histograms_brute "
		     "[omp parallel #1]");
	expect_short("__pyx_fuse_0__pyx_f_7sklearn_7cluster_15_k_means_common__"
		     "inertia_dense",
		     "_k_means_common._inertia_dense");
	expect_short(
		"__pyx_pw_7sklearn_5_loss_5_loss_9CySquared_4loss_gradient",
		"CySquared.loss_gradient");
	/* Not quite. */
	expect_short("__pyx_pf_", "__pyx_pf_");
	expect_short("__pyx_pf_4main", "__pyx_pf_4main");
	expect_short("__pyx_pf_4main_", "__pyx_pf_4main_");
	expect_short("__pyx_pf_99999999999999999999main_f",
		     "__pyx_pf_99999999999999999999main_f");
	expect_short("__pyx_fuse_", "__pyx_fuse_");
	expect_short("__pyx_tp_dealloc_4main_f", "__pyx_tp_dealloc_4main_f");
}

static void what_is_too_long_is_cut_at_a_part(void **state)
{
	struct text_buffer text = {0};
	char name[400] = "";

	(void)state;
	for (int i = 0; i < 30; i++)
		strcat(name, "namespace::");
	short_name_add(&text, name);
	assert_true(text.len <= SHORT_NAME_MAX);
	assert_string_equal(text.data + text.len - 5, "::...");
	text_buffer_free(&text);
	/* One part alone, in UTF-8: not inside of a character. */
	text = (struct text_buffer){0};
	name[0] = '\0';
	for (int i = 0; i < 100; i++)
		strcat(name, "\xc3\xa4x");
	short_name_add(&text, name);
	assert_true(text.len <= SHORT_NAME_MAX);
	assert_null(strstr(text.data, "\\x"));
	text_buffer_free(&text);
}

/* The last part of a path is the function. */
static void a_long_path_keeps_its_function(void **state)
{
	struct text_buffer text = {0};
	char name[3000] = "void (anonymous namespace)::";

	(void)state;
	for (int i = 0; i < 15; i++)
		strcat(name, "a_namespace::");
	strcat(name, "work<int>::run(std::map<int, int>, long)");
	expect_short(name,
		     "void (anonymous namespace)::a_namespace::a_namespace::"
		     "a_namespace::a_namespace::a_namespace::a_namespace::"
		     "a_namespace::a_namespace::a_namespace::...run");
	name[0] = '\0';
	for (int i = 0; i < 150; i++)
		strcat(name, "a_namespace::");
	strcat(name, "work<int>::operator()(long) [omp parallel #1]");
	short_name_add(&text, name);
	assert_true(text.len <= SHORT_NAME_MAX);
	assert_non_null(strstr(text.data, "...operator()"));
	text_buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_names_stay_whole),
		cmocka_unit_test(template_arguments_are_folded),
		cmocka_unit_test(what_rusts_function_is_of_is_kept),
		cmocka_unit_test(what_python_has_in_brackets_is_its_name),
		cmocka_unit_test(the_function_of_a_lambda_is_kept),
		cmocka_unit_test(cythons_names_are_those_of_the_source),
		cmocka_unit_test(what_is_too_long_is_cut_at_a_part),
		cmocka_unit_test(a_long_path_keeps_its_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
