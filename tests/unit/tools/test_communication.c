/* SPDX-License-Identifier: MIT */
/* test_communication.c - which slices are messages, by their names. */
#include "tests/unit/cmocka_base.h"
#include "tools/model/communication.h"
#include "tools/model/run_timeline.h"
#include <string.h>

static const char *const messages[][2] = {
	{"cpu_op", "record_param_comms"},
	{"cpu_op", "c10d::allreduce_"},
	{"cpu_op", "_c10d_functional::all_reduce"},
	{"user_annotation", "nccl:all_reduce"},
	{"user_annotation", "gloo:all_reduce"},
	{"user_annotation", "MPI_Allreduce"},
	{"user_annotation", "ncclAllReduce"},
	{"kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"},
	{"kernel", "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"},
	{"kernel", "ncclAllReduceRingLLKernel_sum_f32(ncclColl)"},
	{"kernel", "void nvshmemi_barrier<1>(int)"},
};

static const char *const others[][2] = {
	{"cpu_op", "mylib::all_gather_rows_of_my_table"},
	{"user_annotation", "load data, allreduce it later"},
	{"python_function", "train.py(3): all_reduce"},
	{"cpu_op", "aten::record_param_comms_of_mine"},
	{"cpu_op", "nccly"},
	{"kernel", "all_gather_rows_of_my_table(float*)"},
	{"kernel", "record_param_comms"},
	{"kernel", "c10d::my_kernel(float*)"},
	{"cpu_op", ""},
};

static enum host_kind kind_of(const char *category, const char *name)
{
	struct trace_event event;

	memset(&event, 0, sizeof(event));
	event.field[FIELD_NAME].type = TRACE_STRING;
	event.field[FIELD_NAME].text = (char *)name;
	return timeline_host_kind(&event, category);
}

static void expect_message(const char *const pair[2], bool wanted)
{
	if (is_communication(pair[0], pair[1]) != wanted)
		fail_msg("%s: %s", pair[0], pair[1]);
	if (strcmp(pair[0], "kernel") != 0)
		assert_int_equal(kind_of(pair[0], pair[1]),
				 wanted ? HOST_COMM : HOST_PLAIN);
}

static void messages_are_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++)
		expect_message(messages[i], true);
}

static void words_within_a_name_say_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		expect_message(others[i], false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_known),
		cmocka_unit_test(words_within_a_name_say_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
