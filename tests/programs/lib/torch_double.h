/* SPDX-License-Identifier: MIT */
/* torch_double.h - how a test program runs operators of torch_double.c. */
#ifndef TESTS_TORCH_DOUBLE_H
#define TESTS_TORCH_DOUBLE_H

#include <stdbool.h>
#include <stdint.h>

struct torch_operator {
	int64_t sequence; /* -1 none */
	uint64_t forward; /* the thread that ran it forward, 0 forward */
	uint64_t inputs;
	uint8_t scope; /* 0 operator, 1 backward, 7 user */
	bool is_async;
};

void *torch_double_begin(const char *name, const struct torch_operator *what);
void torch_double_end(void *record);
bool torch_double_is_observed(void);
bool torch_double_is_half_observed(void); /* or is */
unsigned long torch_double_calls(void);

#endif
