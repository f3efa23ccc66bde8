/* SPDX-License-Identifier: MIT */
/* odd_name.c - a range whose long name is no UTF-8: bytes that go on with a
 * character, and none that begins one. */
#include <string.h>

#include "traceprof.h"

int main(void)
{
	char name[201];

	memset(name, 0x80, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	for (int i = 0; i < 50; i++) {
		traceprof_push(name);
		traceprof_pop();
	}
	return 0;
}
