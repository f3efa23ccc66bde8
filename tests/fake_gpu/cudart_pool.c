/* SPDX-License-Identifier: MIT */
/*
 * cudart_pool.c - libcudart.so.13: memory pools, and managed memory on demand.
 */
#include "tests/fake_gpu/cudart.h"

#include "tests/fake_gpu/sim_memory.h"
#include "tests/fake_gpu/sim_side.h"

static struct sim_pool *pool_of(cudaMemPool_t pool)
{
	return (struct sim_pool *)pool;
}

static int set_attribute(struct sim_pool *pool, enum cudaMemPoolAttr attribute,
			 const void *value)
{
	if (attribute != cudaMemPoolAttrReleaseThreshold)
		return cudaErrorInvalidValue;
	pool->threshold = *(const uint64_t *)value;
	return 0;
}

static int get_attribute(const struct sim_pool *pool,
			 enum cudaMemPoolAttr attribute, uint64_t *value)
{
	switch (attribute) {
	case cudaMemPoolAttrReleaseThreshold: *value = pool->threshold; break;
	case cudaMemPoolAttrReservedMemCurrent: *value = pool->size; break;
	case cudaMemPoolAttrUsedMemCurrent: *value = pool->used; break;
	default: return cudaErrorInvalidValue;
	}
	return 0;
}

/* clang-format off */
CALL(cudaDeviceGetDefaultMemPool, v11020, (cudaMemPool_t *pool, int device),
     (pool, device), (*pool = (cudaMemPool_t)pool_default(), 0))

CALL(cudaMemPoolCreate, v11020,
     (cudaMemPool_t *pool, const struct cudaMemPoolProps *properties),
     (pool, properties), (*pool = (cudaMemPool_t)pool_new(), 0))

CALL(cudaMemPoolDestroy, v11020, (cudaMemPool_t pool), (pool),
     (pool_free(pool_of(pool)), 0))

CALL(cudaMemPoolTrimTo, v11020, (cudaMemPool_t pool, size_t keep),
     (pool, keep), (pool_trim(pool_of(pool), keep), 0))

CALL(cudaMemPoolSetAttribute, v11020,
     (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value),
     (pool, attribute, value), set_attribute(pool_of(pool), attribute, value))

CALL(cudaMemPoolGetAttribute, v11020,
     (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value),
     (pool, attribute, value), get_attribute(pool_of(pool), attribute, value))

BOTH(cudaMallocFromPoolAsync, v11020, ptsz, v11020,
     (void **pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream),
     (pointer, size, pool, stream),
     at(stream) ? memory_new_in(pool_of(pool), pointer, size,
         CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, at(stream)->id) : NO_STREAM)
/* clang-format on */
