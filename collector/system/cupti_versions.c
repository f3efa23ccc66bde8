/* SPDX-License-Identifier: MIT */
/* cupti_versions.c - the table of CUPTI's defects; see cupti_versions.h. */
#include "collector/system/cupti_versions.h"

#include "collector/system/log.h"

static uint32_t loaded;

static bool holds(uint32_t version, enum cupti_defect defect)
{
	static const struct {
		uint32_t from, below;
	} rows[] = {
#define X(name, from, below, wrong, instead) {from, below},
		CUPTI_DEFECTS(X)
#undef X
	};

	return version >= rows[defect].from && version < rows[defect].below;
}

void cupti_versions_start(uint32_t version)
{
	loaded = version;
}

bool cupti_has(enum cupti_defect defect)
{
	return holds(loaded, defect);
}

size_t cupti_versions_name(uint32_t version, char *text, size_t bytes)
{
	/* From 19 on; 25 came with an update of 12.6. */
	static const char old[][12] = {"12.0", "12.2",	 "12.3",    "12.4",
				       "12.5", "12.6",	 "12.6 U2", "12.8",
				       "12.9", "12.9 U1"};

	if (version >= 19 && version - 19 < sizeof(old) / sizeof(old[0]))
		return log_format(text, bytes, "%s", old[version - 19]);
	if (version < 130000)
		return log_format(text, bytes, "version %u", version);
	if (version % 100)
		return log_format(text, bytes, "%u.%u U%u", version / 10000,
				  version / 100 % 100, version % 100);
	return log_format(text, bytes, "%u.%u", version / 10000,
			  version / 100 % 100);
}

size_t cupti_versions_row(uint32_t version, enum cupti_defect defect,
			  char *text, size_t bytes)
{
	static const struct {
		char wrong[64], instead[64];
	} texts[] = {
#define X(name, from, below, wrong, instead) {wrong, instead},
		CUPTI_DEFECTS(X)
#undef X
	};

	if (!holds(version, defect))
		return 0;
	return log_format(text, bytes, "%s: %s", texts[defect].wrong,
			  texts[defect].instead);
}
