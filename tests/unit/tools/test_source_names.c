/* SPDX-License-Identifier: MIT */
/* test_source_names.c - symbols by address: libdw, which looks at each, says
 * the same. */
#include "tests/unit/cmocka_base.h"
#include "tools/symbols/source_names.h"
#include <stdio.h>
#include <string.h>

#ifdef HAVE_LIBDW
/* A symbol without a size in front of one with; one within another, one beside
 * another at the same place. */
__asm__(".text\n"
	".type names_sizeless, @function\n"
	"names_sizeless: nop; nop\n"
	".type names_outer, @function\n"
	"names_outer: nop; nop\n"
	".globl names_same\n.type names_same, @function\nnames_same:\n"
	".type names_inner, @function\n"
	"names_inner: nop; nop\n.size names_inner, . - names_inner\n"
	".size names_same, . - names_same\n"
	".type names_first, @function\n.type names_second, @function\n"
	"names_first: names_second: nop; nop\n"
	".size names_first, 2\n.size names_second, 2\n"
	".type names_empty, @function\nnames_empty: nop; nop\n"
	".size names_outer, . - names_outer\n"
	"nop; nop\n");

extern const char __executable_start[], _init[], etext[], names_sizeless[],
	names_empty[];

/* Each `stride` bytes: libdw takes its time. */
static size_t compare(Dwfl_Module *module, Dwarf_Addr low, Dwarf_Addr high,
		      Dwarf_Addr stride)
{
	struct source_names names = {.is_read = false};
	size_t known = 0;

	for (Dwarf_Addr address = low; address < high; address += stride) {
		const char *wanted = dwfl_module_addrname(module, address);
		const char *name = source_names_find(&names, module, address);

		known += wanted != NULL;
		/* libdw takes aarch64's marks of code for names. */
		if (wanted && wanted[0] == '$')
			continue;
		if (!wanted != !name || (name && strcmp(name, wanted)))
			fail_msg("%#llx is %s, not %s",
				 (unsigned long long)address,
				 wanted ? wanted : "none",
				 name ? name : "none");
	}
	source_names_free(&names);
	return known;
}

static void test_as_libdw_says(void **state)
{
	const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module;
	Dwarf_Addr low, high, base;

	(void)state;
	assert_non_null(dwfl);
	module = dwfl_report_offline(dwfl, "own", "/proc/self/exe", -1);
	dwfl_report_end(dwfl, NULL, NULL);
	assert_non_null(module);
	dwfl_module_info(module, NULL, &low, &high, NULL, NULL, NULL, NULL);
	assert_true(high - low >= (size_t)(etext - __executable_start));
	base = low - (uintptr_t)__executable_start;
	low = base + (uintptr_t)_init;
	high = base + (uintptr_t)etext;
	assert_true(compare(module, low, high, 199) > 100);
	assert_true(compare(module, base + (uintptr_t)names_sizeless - 16,
			    base + (uintptr_t)names_empty + 16, 1) > 16);
	dwfl_end(dwfl);
}
#else
static void test_as_libdw_says(void **state)
{
	(void)state;
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_libdw_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
