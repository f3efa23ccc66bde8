/* SPDX-License-Identifier: MIT */
/*
 * folded.cpp - a region in a template with long arguments, in an operator's
 * function, and the same with other arguments once, and with very long ones:
 * folded TURNS.
 */
#include <cstdlib>
#include <map>
#include <string>
#include <unistd.h>
template <class T> struct of_many {
	__attribute__((noinline)) void operator<<(int turns)
	{
#pragma omp parallel num_threads(2)
		for (int turn = 0; turn < turns; turn++)
			usleep(10);
	}
};
int main(int argc, char **argv)
{
	for (int turn = 0; turn < std::atoi(argv[1]); turn++)
		of_many<std::map<std::string, int>>() << 5;
	of_many<std::map<int, std::string>>() << 5;
	of_many<std::map<std::map<std::string, std::string>, std::string>>()
		<< 5;
	return argc != 2;
}
