/* SPDX-License-Identifier: MIT */
/*
 * named_ranges.c - a program whose ranges are called like a step, some of them
 * in others.
 *
 *	named_ranges MODE [STEPS]
 *
 * What XLA does for JAX, a module of thunks, their names in a table:
 *	update	the function that was compiled is called update
 *	step	it is called step, and all thunks after it
 *	marked	the same, each call in a range train_step
 *	numbers	the same as update, each in a range of XLA's own steps
 * Others:
 *	parts	a range step around four microbatches, slowly
 *	whole	a range train_steps around all of those
 *	checked	five validation_step, and then train_step of 80 ranges
 */
#include "traceprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const thunks[] = {
	"/jvp()/dot_general,hlo_op=custom-call.0",
	",hlo_op=loop_multiply_fusion",
	"/jvp()/dot_general,hlo_op=custom-call.4",
	",hlo_op=loop_multiply_fusion.1",
	"/transpose(jvp())/dot_general,hlo_op=custom-call.5",
	",hlo_op=loop_add_fusion.1",
	"/transpose(jvp())/dot_general,hlo_op=custom-call.7",
	",hlo_op=loop_add_fusion",
	"/sub,hlo_op=wrapped_subtract",
	"/transpose(jvp())/transpose,hlo_op=custom-call.1",
	"/sub,hlo_op=wrapped_subtract.1",
	"/sub,hlo_op=wrapped_subtract.2",
};

static void range(const char *name, unsigned int us)
{
	traceprof_push(name);
	usleep(us);
	traceprof_pop();
}

static void run_module(const char *function)
{
	char name[128];

	snprintf(name, sizeof(name), "XlaModule:#hlo_module=jit_%s#", function);
	traceprof_push(name);
	traceprof_push("Thunk:#hlo_op=command_buffer_1#");
	for (size_t i = 0; i < sizeof(thunks) / sizeof(*thunks); i++) {
		snprintf(name, sizeof(name), "Thunk:#name=jit(%s)%s#", function,
			 thunks[i]);
		range(name, 20);
	}
	traceprof_pop();
	traceprof_pop();
}

static void turn(const char *mode, int number)
{
	char name[64];

	if (!strcmp(mode, "marked"))
		traceprof_push("train_step");
	if (!strcmp(mode, "numbers")) {
		snprintf(name, sizeof(name), "train#step_num=%d#", number);
		traceprof_push(name);
	}
	run_module(!strcmp(mode, "step") || !strcmp(mode, "marked") ? "step"
								    : "update");
	if (!strcmp(mode, "marked") || !strcmp(mode, "numbers"))
		traceprof_pop();
}

static void step_of_parts(void)
{
	traceprof_push("step");
	for (int i = 0; i < 4; i++)
		range("microbatch", 60000);
	traceprof_pop();
}

static void check(int steps)
{
	for (int i = 0; i < 5; i++)
		range("validation_step", 20);
	for (int i = 0; i < steps; i++) {
		traceprof_push("train_step");
		for (int j = 0; j < 80; j++)
			range("work", 5);
		traceprof_pop();
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "update";
	const int steps = argc > 2 ? atoi(argv[2]) : 40;
	const int is_whole = !strcmp(mode, "whole");

	if (!strcmp(mode, "checked")) {
		check(steps);
		return 0;
	}
	if (is_whole)
		traceprof_push("train_steps");
	for (int i = 0; i < steps; i++) {
		if (is_whole || !strcmp(mode, "parts"))
			step_of_parts();
		else
			turn(mode, i);
	}
	if (is_whole)
		traceprof_pop();
	return 0;
}
