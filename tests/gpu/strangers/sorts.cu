// SPDX-License-Identifier: MIT
// Thrust: new keys, a sort and a sum in each turn, with memory of its own.
#include <cstdio>

#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

enum { TURNS = 40, KEYS = 1 << 20 };

struct Mix {
	unsigned turn;

	__host__ __device__ unsigned operator()(unsigned i) const
	{
		unsigned x = (i + turn) * 2654435761u;

		return x ^ x >> 15;
	}
};

int main()
{
	unsigned long long total = 0;

	for (unsigned turn = 0; turn < TURNS; turn++) {
		thrust::device_vector<unsigned> keys(KEYS);

		thrust::transform(thrust::counting_iterator<unsigned>(0),
				  thrust::counting_iterator<unsigned>(KEYS),
				  keys.begin(), Mix{turn});
		thrust::sort(keys.begin(), keys.end());
		total += thrust::reduce(keys.begin(), keys.begin() + 100, 0ull);
	}
	printf("total %llu\nsteps %d\n", total, TURNS);
	return 0;
}
