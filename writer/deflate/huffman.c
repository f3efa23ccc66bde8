/* SPDX-License-Identifier: MIT */
/* huffman.c - codes for deflate; see huffman.h. */
#include "writer/deflate/huffman.h"

#include <string.h>

/* Used symbols, rarest first; their number. */
static unsigned int sort(const uint32_t *counts, unsigned int symbols,
			 uint16_t *order)
{
	unsigned int used = 0;

	for (unsigned int i = 0; i < symbols; i++) {
		if (counts[i])
			order[used++] = (uint16_t)i;
	}
	/* Shell's: there are few, and most are equally rare. */
	for (unsigned int gap = used / 2; gap; gap /= 2) {
		for (unsigned int i = gap; i < used; i++) {
			const uint16_t symbol = order[i];
			unsigned int at = i;

			for (; at >= gap &&
			       counts[order[at - gap]] > counts[symbol];
			     at -= gap)
				order[at] = order[at - gap];
			order[at] = symbol;
		}
	}
	return used;
}

/* How many symbols have each length in the best code, without a limit (those
 * beyond `most` are counted there).  Two queues, of symbols and of nodes, both
 * rarest first: the two rarest of all make the next node. */
static void count_lengths(const uint32_t *counts, const uint16_t *order,
			  unsigned int used, unsigned int most,
			  unsigned int *of_length)
{
	uint64_t weight[HUFFMAN_SYMBOLS];
	uint16_t parent[2 * HUFFMAN_SYMBOLS];
	uint16_t depth[HUFFMAN_SYMBOLS];
	unsigned int leaf = 0, node = 0;

	for (unsigned int made = 0; made + 1 < used; made++) {
		weight[made] = 0;
		for (int side = 0; side < 2; side++) {
			if (leaf < used &&
			    (node == made ||
			     counts[order[leaf]] <= weight[node])) {
				weight[made] += counts[order[leaf]];
				parent[leaf++] = (uint16_t)made;
			} else {
				weight[made] += weight[node];
				parent[used + node++] = (uint16_t)made;
			}
		}
	}
	depth[used - 2] = 0;
	for (unsigned int i = used - 2; i-- > 0;)
		depth[i] = (uint16_t)(depth[parent[used + i]] + 1);
	for (unsigned int i = 0; i < used; i++)
		of_length[min_u64(depth[parent[i]] + 1u, most)]++;
}

/* Lengths that were cut off take more than all the codes there are: makes
 * others longer until they fit. */
static void fit(unsigned int *of_length, unsigned int most)
{
	uint64_t taken = 0;

	for (unsigned int i = 1; i <= most; i++)
		taken += (uint64_t)of_length[i] << (most - i);
	while (taken > UINT64_C(1) << most) {
		unsigned int at = most - 1;

		while (!of_length[at])
			at--;
		/* One of these goes down a level and takes one of the longest
		 * with it: two where there was one, and one place is free. */
		of_length[at]--;
		of_length[at + 1] += 2;
		of_length[most]--;
		taken--;
	}
}

void huffman_lengths(const uint32_t *counts, unsigned int symbols,
		     unsigned int most, uint8_t *lengths)
{
	unsigned int of_length[HUFFMAN_BITS + 1] = {0};
	uint16_t order[HUFFMAN_SYMBOLS];
	const unsigned int used = sort(counts, symbols, order);
	unsigned int next = 0;

	memset(lengths, 0, symbols);
	if (used == 1)
		of_length[1] = 1;
	if (used > 1) {
		count_lengths(counts, order, used, most, of_length);
		fit(of_length, most);
	}
	for (unsigned int len = most; len; len--) {
		for (unsigned int i = 0; i < of_length[len]; i++)
			lengths[order[next++]] = (uint8_t)len;
	}
}

static uint16_t reversed(unsigned int bits, unsigned int len)
{
	unsigned int out = 0;

	for (unsigned int i = 0; i < len; i++)
		out |= (bits >> i & 1) << (len - 1 - i);
	return (uint16_t)out;
}

void huffman_codes(const uint8_t *lengths, unsigned int symbols,
		   struct huffman_code *codes)
{
	unsigned int next[HUFFMAN_BITS + 2] = {0};
	unsigned int of_length[HUFFMAN_BITS + 1] = {0};

	for (unsigned int i = 0; i < symbols; i++)
		of_length[lengths[i]]++;
	of_length[0] = 0;
	for (unsigned int len = 1; len <= HUFFMAN_BITS; len++)
		next[len] = (next[len - 1] + of_length[len - 1]) << 1;
	for (unsigned int i = 0; i < symbols; i++) {
		const unsigned int len = lengths[i];

		codes[i] = (struct huffman_code){
			.bits = len ? reversed(next[len]++, len) : 0,
			.len = (uint16_t)len,
		};
	}
}
