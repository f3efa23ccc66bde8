/* SPDX-License-Identifier: MIT */
/*
 * torch_messages.cpp - the part of torch_double.c that says what a message is
 * made of: a real std::unordered_map, with strings of either kind.
 */
#include <cstdlib>
#include <new>
#include <string>
#include <unordered_map>

extern "C" {
long torch_double_held;
}

void *operator new(std::size_t bytes)
{
	torch_double_held++;
	return std::malloc(bytes);
}

namespace at
{
class RecordFunction;
}

namespace torch::profiler::impl
{

struct SaveNcclMetaConfig {
	bool cut, asks_thread, asks_inputs, asks_outputs;
};

using pairs = std::unordered_map<std::string, std::string>;

/* Each message is larger than the one before. */
pairs saveNcclMeta(const at::RecordFunction &, const SaveNcclMetaConfig &asked)
{
	static long number;
	const std::string size = std::to_string(1000 + number++);

	if (asked.asks_inputs || asked.asks_outputs || !asked.asks_thread ||
	    !asked.cut)
		return pairs();
	return {{"Collective name", "\"allreduce\""},
		{"In msg nelems", size},
		{"Out msg nelems", size},
		{"Group size", "2"},
		{"dtype", "\"Float\""},
		{"Process Group Name", "\"a group with a long name\""},
		{"Process Group Description", "\"broken \" here\""},
		{"Is asynchronized op", "true"},
		{"Unknown", "\"1\""},
		{"Seq", std::to_string(number)},
		{"Comms Id", "11537390013703896217"}};
}

} // namespace torch::profiler::impl
