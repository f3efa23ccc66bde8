/* SPDX-License-Identifier: MIT */
/* split_shares.c - what the parts of a step are called; see split.h. */
#include "tools/model/split.h"

static const struct {
	const char *key, *text;
} shares[] = {
	[SHARE_GPU] = {"gpu", "GPU busy"},
	[SHARE_HOST] = {"host", "host code"},
	[SHARE_COPY] = {"copy", "copies"},
	[SHARE_SYNC] = {"sync", "synchronisation"},
	[SHARE_OMP_WORK] = {"omp_work", "OpenMP work"},
	[SHARE_OMP_WAIT] = {"omp_wait", "OpenMP waits"},
	[SHARE_OMP_UNEVEN] = {"omp_uneven", "OpenMP imbalance"},
	[SHARE_ALLOC] = {"alloc", "allocation"},
	[SHARE_COMM] = {"comm", "communication"},
	[SHARE_DATA] = {"data", "I/O and data loading"},
	[SHARE_OFF] = {"off_cpu", "off the CPU"},
	[SHARE_OTHERS] = {"others", "waits while others work"},
	[SHARE_PYTHON] = {"python", "Python"},
	[SHARE_NATIVE] = {"native", "native code"},
};

const char *split_share_text(enum share share)
{
	return shares[share].text;
}

const char *split_share_key(enum share share)
{
	return shares[share].key;
}
