/* SPDX-License-Identifier: MIT */
/*
 * phases_inlined.cpp - 50, 30 and 20 % of the processor time in three functions
 * of C++ that the compiler inlines into one: phases_inlined [MILLIONS].  Prints
 * a sum.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace phases
{

template <int TURN>
__attribute__((always_inline)) inline uint64_t spin(uint64_t sum,
						    uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		sum = sum * 6364136223846793005u + TURN;
		asm volatile("" : "+r"(sum));
	}
	return sum;
}

__attribute__((always_inline)) inline uint64_t half(uint64_t sum, uint64_t n)
{
	return spin<1>(sum, 5 * n);
}

__attribute__((always_inline)) inline uint64_t third(uint64_t sum, uint64_t n)
{
	return spin<3>(sum, 3 * n);
}

__attribute__((always_inline)) inline uint64_t fifth(uint64_t sum, uint64_t n)
{
	return spin<5>(sum, 2 * n);
}

__attribute__((noinline)) uint64_t work(uint64_t millions)
{
	uint64_t sum = 1;

	/* Pieces of uneven length, so that no timer goes along with them. */
	for (uint64_t round = 0; round < 100; round++) {
		const uint64_t n = millions * (500 + round * 10);

		sum = half(sum, n);
		sum = third(sum, n);
		sum = fifth(sum, n);
	}
	return sum;
}

} /* namespace phases */

int main(int argc, char **argv)
{
	const uint64_t millions =
		argc > 1 ? strtoull(argv[1], nullptr, 10) : 100;

	std::printf("%llx\n",
		    static_cast<unsigned long long>(phases::work(millions)));
	return 0;
}
