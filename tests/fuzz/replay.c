/* SPDX-License-Identifier: MIT */
/*
 * replay.c - runs a fuzz target on files, without libFuzzer.
 *
 *	replay_TARGET FILE...
 *
 * Says which file it comes to, so that the last one named is the one that a
 * target crashed on.
 */
#include "fuzz_input.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

static int replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;
	size_t size;

	if (!file || fseek(file, 0, SEEK_END)) {
		perror(path);
		return 1;
	}
	size = (size_t)ftell(file);
	rewind(file);
	/* As long as it is: what reads past its end is seen by ASan. */
	data = malloc(size);
	if (size && (!data || fread(data, 1, size, file) != size)) {
		perror(path);
		return 1;
	}
	fclose(file);
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	return failed;
}
