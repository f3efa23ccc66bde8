/* SPDX-License-Identifier: MIT */
/*
 * fuzz_symbols.c - any bytes as an ELF file: wrong names perhaps, never a
 * fault, and no address takes for ever.
 */
#include "tests/fuzz/fuzz_input.h"

#include "collector/system/symbols.h"
#include <string.h>

static volatile unsigned int kept;

static void ask(const struct symbols *symbols, uint64_t address)
{
	struct symbol found;

	if (!symbols_find(symbols, address, &found)) {
		for (size_t i = 0; i < found.name_len; i++)
			kept += (unsigned char)found.name[i];
	}
	kept += symbols_call_ordinal(symbols, address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbols *symbols = symbols_open(fuzz_file(data, size));
	uint64_t address;

	if (!symbols)
		return 0;
	for (address = 0; address < 0x4000; address += 61)
		ask(symbols, address);
	/* Whatever the file itself calls an address. */
	for (size_t at = 0; at + 8 <= size && at < 4096; at += 8) {
		memcpy(&address, data + at, sizeof(address));
		ask(symbols, address);
		ask(symbols, address + 1);
	}
	symbols_close(symbols);
	return 0;
}
