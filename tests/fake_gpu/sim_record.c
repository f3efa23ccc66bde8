/* SPDX-License-Identifier: MIT */
/*
 * sim_record.c - lengths by version, and the walk over a buffer.
 *
 * The assertions tie the offsets that a decoder may rely on to the real
 * headers: should a newer toolkit move a field, this does not compile.
 */
#include "tests/fake_gpu/sim_record.h"

#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_side.h"

/* clang-format off */
#define SIZE(type, size) \
	_Static_assert(sizeof(CUpti_Activity##type) == (size), #type)
#define AT(type, field, offset) \
	_Static_assert(offsetof(CUpti_Activity##type, field) == (offset), \
		       #type "." #field)

SIZE(Memcpy5, 88); SIZE(Memcpy6, 96); SIZE(MemcpyPtoP4, 96); SIZE(Memset4, 88);
SIZE(Kernel9, 208); SIZE(Kernel10, 216); SIZE(API, 40); SIZE(Device4, 176);
SIZE(Device5, 184); SIZE(Context2, 24); SIZE(Context3, 32); SIZE(Name, 32);
SIZE(Marker2, 56); SIZE(MarkerData2, 40); SIZE(Overhead3, 56);
SIZE(UnifiedMemoryCounter2, 64); SIZE(UnifiedMemoryCounter3, 104);
SIZE(Module, 24); SIZE(CudaEvent, 24); SIZE(CudaEvent2, 56); SIZE(Stream, 24);
SIZE(Synchronization, 40); SIZE(Synchronization2, 56);
SIZE(ExternalCorrelation, 24); SIZE(Memory, 80); SIZE(Memory3, 120);
SIZE(Memory4, 128); SIZE(MemoryPool3, 80); SIZE(GraphTrace2, 56);
SIZE(Jit2, 72);
SIZE(Memcpy, 64); SIZE(Memcpy3, 72); SIZE(Memcpy4, 80); SIZE(Memset, 64);
SIZE(Memset2, 72); SIZE(Memset3, 80); SIZE(Kernel4, 144); SIZE(Kernel5, 160);
SIZE(Kernel6, 168); SIZE(Kernel7, 176); SIZE(Kernel8, 200); SIZE(Device2, 144);
SIZE(Device3, 152); SIZE(Context, 16); SIZE(Marker, 48); SIZE(MarkerData, 32);
SIZE(Overhead, 40); SIZE(Overhead2, 48); SIZE(MemcpyPtoP, 72);
SIZE(MemcpyPtoP2, 80); SIZE(MemcpyPtoP3, 88); SIZE(Memory2, 112);
SIZE(MemoryPool, 64); SIZE(MemoryPool2, 72); SIZE(GraphTrace, 48);
SIZE(Jit, 64);

AT(Kernel10, start, 16); AT(Kernel10, end, 24); AT(Kernel10, completed, 32);
AT(Kernel10, deviceId, 40); AT(Kernel10, contextId, 44);
AT(Kernel10, streamId, 48); AT(Kernel10, gridX, 52); AT(Kernel10, gridY, 56);
AT(Kernel10, gridZ, 60); AT(Kernel10, blockX, 64); AT(Kernel10, blockY, 68);
AT(Kernel10, blockZ, 72); AT(Kernel10, staticSharedMemory, 76);
AT(Kernel10, dynamicSharedMemory, 80); AT(Kernel10, correlationId, 92);
AT(Kernel10, gridId, 96); AT(Kernel10, name, 104); AT(Kernel10, queued, 120);
AT(Kernel10, submitted, 128); AT(Kernel10, graphNodeId, 144);
AT(Kernel10, graphId, 156); AT(Kernel10, channelID, 168);
AT(Kernel10, channelType, 172); AT(Kernel10, clusterX, 176);
AT(Kernel10, isDeviceLaunched, 208);
AT(Memcpy6, copyKind, 4); AT(Memcpy6, srcKind, 5); AT(Memcpy6, dstKind, 6);
AT(Memcpy6, flags, 7); AT(Memcpy6, bytes, 8); AT(Memcpy6, start, 16);
AT(Memcpy6, end, 24); AT(Memcpy6, deviceId, 32); AT(Memcpy6, contextId, 36);
AT(Memcpy6, streamId, 40); AT(Memcpy6, correlationId, 44);
AT(Memcpy6, graphNodeId, 64); AT(Memcpy6, copyCount, 88);
AT(MemcpyPtoP4, bytes, 8); AT(MemcpyPtoP4, start, 16); AT(MemcpyPtoP4, end, 24);
AT(MemcpyPtoP4, deviceId, 32); AT(MemcpyPtoP4, contextId, 36);
AT(MemcpyPtoP4, streamId, 40); AT(MemcpyPtoP4, srcDeviceId, 44);
AT(MemcpyPtoP4, dstDeviceId, 52); AT(MemcpyPtoP4, correlationId, 60);
AT(Memset4, value, 4); AT(Memset4, bytes, 8); AT(Memset4, start, 16);
AT(Memset4, end, 24); AT(Memset4, deviceId, 32); AT(Memset4, contextId, 36);
AT(Memset4, streamId, 40); AT(Memset4, correlationId, 44);
AT(Memset4, channelID, 76);
AT(API, cbid, 4); AT(API, start, 8); AT(API, end, 16); AT(API, processId, 24);
AT(API, threadId, 28); AT(API, correlationId, 32); AT(API, returnValue, 36);
AT(Device5, isNumaNode, 176); AT(Context3, cigMode, 24); AT(Marker2, domain, 48);
AT(Overhead3, correlationId, 40); AT(Overhead3, overheadData, 48);
AT(UnifiedMemoryCounter3, processors, 64);
AT(CudaEvent2, deviceTimestamp, 40);
AT(Synchronization2, type, 4); AT(Synchronization2, start, 8);
AT(Synchronization2, end, 16); AT(Synchronization2, correlationId, 24);
AT(Synchronization2, contextId, 28); AT(Synchronization2, streamId, 32);
AT(Synchronization2, cudaEventId, 36); AT(Synchronization2, cudaEventSyncId, 40);
AT(Synchronization2, returnValue, 48);
AT(ExternalCorrelation, externalKind, 4); AT(ExternalCorrelation, externalId, 8);
AT(ExternalCorrelation, correlationId, 16);
AT(Memory4, memoryOperationType, 4); AT(Memory4, memoryKind, 8);
AT(Memory4, correlationId, 12); AT(Memory4, address, 16); AT(Memory4, bytes, 24);
AT(Memory4, timestamp, 32); AT(Memory4, deviceId, 52);
AT(Memory4, contextId, 56); AT(Memory4, streamId, 60); AT(Memory4, source, 120);
AT(GraphTrace2, correlationId, 4); AT(GraphTrace2, start, 8);
AT(GraphTrace2, end, 16); AT(GraphTrace2, deviceId, 24);
AT(GraphTrace2, graphId, 28); AT(GraphTrace2, contextId, 32);
AT(GraphTrace2, streamId, 36); AT(GraphTrace2, endDeviceId, 48);
AT(Jit2, processId, 64);

/* Kind, length, and the version from which on it is so long; before that it is
 * the line above. */
static const struct {
	CUpti_ActivityKind kind;
	size_t size;
	uint32_t since;
} lengths[] = {
	{CUPTI_ACTIVITY_KIND_MEMCPY, sizeof(CUpti_ActivityMemcpy5), 0},
	{CUPTI_ACTIVITY_KIND_MEMCPY, sizeof(CUpti_ActivityMemcpy6), 26},
	{CUPTI_ACTIVITY_KIND_MEMSET, sizeof(CUpti_ActivityMemset4), 0},
	{CUPTI_ACTIVITY_KIND_KERNEL, sizeof(CUpti_ActivityKernel9), 0},
	{CUPTI_ACTIVITY_KIND_KERNEL, sizeof(CUpti_ActivityKernel10), VERSION_LONG},
	{CUPTI_ACTIVITY_KIND_DRIVER, sizeof(CUpti_ActivityAPI), 0},
	{CUPTI_ACTIVITY_KIND_RUNTIME, sizeof(CUpti_ActivityAPI), 0},
	{CUPTI_ACTIVITY_KIND_DEVICE, sizeof(CUpti_ActivityDevice4), 0},
	{CUPTI_ACTIVITY_KIND_DEVICE, sizeof(CUpti_ActivityDevice5), 24},
	{CUPTI_ACTIVITY_KIND_CONTEXT, sizeof(CUpti_ActivityContext2), 0},
	{CUPTI_ACTIVITY_KIND_CONTEXT, sizeof(CUpti_ActivityContext3), 26},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, sizeof(CUpti_ActivityKernel9), 0},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, sizeof(CUpti_ActivityKernel10), VERSION_LONG},
	{CUPTI_ACTIVITY_KIND_OVERHEAD, sizeof(CUpti_ActivityOverhead2), 0},
	{CUPTI_ACTIVITY_KIND_OVERHEAD, sizeof(CUpti_ActivityOverhead3), 24},
	{CUPTI_ACTIVITY_KIND_MEMCPY2, sizeof(CUpti_ActivityMemcpyPtoP4), 0},
	{CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, sizeof(CUpti_ActivityUnifiedMemoryCounter2), 0},
	{CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, sizeof(CUpti_ActivityUnifiedMemoryCounter3), 26},
	{CUPTI_ACTIVITY_KIND_CUDA_EVENT, sizeof(CUpti_ActivityCudaEvent), 0},
	{CUPTI_ACTIVITY_KIND_CUDA_EVENT, sizeof(CUpti_ActivityCudaEvent2), 26},
	{CUPTI_ACTIVITY_KIND_STREAM, sizeof(CUpti_ActivityStream), 0},
	{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sizeof(CUpti_ActivitySynchronization), 0},
	{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sizeof(CUpti_ActivitySynchronization2), 26},
	{CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, sizeof(CUpti_ActivityExternalCorrelation), 0},
	{CUPTI_ACTIVITY_KIND_MEMORY2, sizeof(CUpti_ActivityMemory3), 0},
	{CUPTI_ACTIVITY_KIND_MEMORY2, sizeof(CUpti_ActivityMemory4), 24},
	{CUPTI_ACTIVITY_KIND_GRAPH_TRACE, sizeof(CUpti_ActivityGraphTrace2), 0},
	{CUPTI_ACTIVITY_KIND_MEMORY_POOL, sizeof(CUpti_ActivityMemoryPool2), 0},
	{CUPTI_ACTIVITY_KIND_MEMORY_POOL, sizeof(CUpti_ActivityMemoryPool3), 26},
	{CUPTI_ACTIVITY_KIND_JIT, sizeof(CUpti_ActivityJit), 0},
	{CUPTI_ACTIVITY_KIND_JIT, sizeof(CUpti_ActivityJit2), 24},
	{KIND_GRAPH_HOST_NODE, sizeof(struct side_host_node), VERSION_HOST_NODES},
	{KIND_HOST_LAUNCH, sizeof(struct side_host_launch), VERSION_HOST_NODES},
};
/* clang-format on */

size_t record_size(CUpti_ActivityKind kind)
{
	const uint32_t version = sim_knobs()->version;
	size_t size = 0;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		if (lengths[i].kind == kind && version >= lengths[i].since)
			size = lengths[i].size;
	return size;
}

int record_kind_valid(CUpti_ActivityKind kind)
{
	/* What 13.0 took out. */
	static const unsigned char removed[] = {6,  7,	14, 15, 16, 21, 23, 24,
						29, 30, 31, 32, 41, 42, 43, 44};

	if (kind <= CUPTI_ACTIVITY_KIND_INVALID)
		return 0;
	if (kind > (sim_knobs()->version < VERSION_HOST_NODES ? 55 : 59))
		return 0;
	if (sim_knobs()->version < VERSION_LONG)
		return 1;
	for (size_t i = 0; i < sizeof(removed); i++)
		if (removed[i] == kind)
			return 0;
	return 1;
}

void record_times_at(CUpti_ActivityKind kind, size_t *start, size_t *end)
{
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		*start = offsetof(CUpti_ActivityGraphTrace2, start);
		*end = offsetof(CUpti_ActivityGraphTrace2, end);
		break;
	case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
		*start = offsetof(CUpti_ActivityCudaEvent2, deviceTimestamp);
		*end = 0;
		break;
	default:
		*start = offsetof(CUpti_ActivityKernel10, start);
		*end = offsetof(CUpti_ActivityKernel10, end);
	}
}

/* No state but the caller's pointer, so any number of walks may go on. */
CUptiResult record_next(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
	uint8_t *next = buffer;
	size_t size;

	if (!buffer || !record)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (valid == 0)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	if (*record) {
		size = record_size((*record)->kind);
		if (!size)
			return CUPTI_ERROR_INVALID_KIND;
		next = (uint8_t *)*record + size;
	}
	if (next + sizeof(CUpti_ActivityKind) > buffer + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	size = record_size(((CUpti_Activity *)next)->kind);
	if (!size)
		return CUPTI_ERROR_INVALID_KIND;
	if (next + size > buffer + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)next;
	return CUPTI_SUCCESS;
}
