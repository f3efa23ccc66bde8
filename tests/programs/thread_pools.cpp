/* SPDX-License-Identifier: MIT */
/*
 * thread_pools.cpp - work in threads of std::thread, and nothing else that is
 * recorded; until the process has used so many seconds of processor time.
 *
 *	thread_pools pool | crowd | join | join_c11 | each | future | idle
 *		[SECONDS]
 *
 * pool: two threads, of which the second works half as long a turn; the first
 * thread waits on a condition.  crowd: and ninety wait meanwhile.  join: it
 * waits for two threads to end; join_c11: for C11's.  each: two threads a turn.
 * future: two threads keep promises.  idle: the first thread alone works while
 * two wait.
 */
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <future>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <threads.h>
#include <vector>

static double used(clockid_t clock)
{
	timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void work(double seconds)
{
	const double until = used(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (used(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

static double limit = 3;

static bool goes_on()
{
	return used(CLOCK_PROCESS_CPUTIME_ID) < limit;
}

static void work_on()
{
	while (goes_on())
		work(0.01);
}

static std::mutex lock;
static std::condition_variable begun, done;
static int turn, left;
static std::atomic<bool> is_over;

static void take_turns(double seconds)
{
	pthread_setname_np(pthread_self(), "crunch");
	for (int seen = 0;; seen++) {
		std::unique_lock<std::mutex> held(lock);

		begun.wait(held, [&] { return is_over || turn > seen; });
		if (is_over)
			return;
		held.unlock();
		work(seconds);
		held.lock();
		if (!--left)
			done.notify_one();
	}
}

static void end_turns(std::thread &first, std::thread &second)
{
	lock.lock();
	is_over = true;
	begun.notify_all();
	lock.unlock();
	first.join();
	second.join();
}

static void run_pool()
{
	std::thread first(take_turns, 0.04), second(take_turns, 0.02);

	while (goes_on()) {
		std::unique_lock<std::mutex> held(lock);

		turn++;
		left = 2;
		begun.notify_all();
		done.wait(held, [] { return !left; });
	}
	end_turns(first, second);
}

static void run_crowd()
{
	std::promise<void> promise;
	std::shared_future<void> ends(promise.get_future());
	std::vector<std::thread> crowd;

	for (int i = 0; i < 90; i++)
		crowd.emplace_back([ends] { ends.wait(); });
	run_pool();
	promise.set_value();
	for (std::thread &one : crowd)
		one.join();
}

static void run_join()
{
	std::thread first(work_on), second(work_on);

	first.join();
	second.join();
}

static void run_join_c11()
{
	thrd_t threads[2];

	for (thrd_t &one : threads)
		thrd_create(
			&one,
			[](void *) {
				work_on();
				return 0;
			},
			nullptr);
	for (thrd_t one : threads)
		thrd_join(one, nullptr);
}

static void run_each()
{
	while (goes_on()) {
		std::thread first(work, 0.02), second(work, 0.02);

		first.join();
		second.join();
	}
}

static std::atomic<std::promise<void> *> asked;

static void answer()
{
	while (!is_over) {
		std::promise<void> *promise = asked.exchange(nullptr);

		work(0.02);
		if (promise)
			promise->set_value();
	}
}

static void run_future()
{
	std::thread first(answer), second(answer);

	while (goes_on()) {
		std::promise<void> promise;
		auto answered = promise.get_future();

		asked = &promise;
		answered.get();
	}
	is_over = true;
	first.join();
	second.join();
}

static void run_idle()
{
	std::thread first(take_turns, 0), second(take_turns, 0);

	work_on();
	end_turns(first, second);
}

int main(int count, char **words)
{
	const char *how = count > 1 ? words[1] : "pool";

	if (count > 2)
		limit = atof(words[2]);
	if (!strcmp(how, "crowd"))
		run_crowd();
	else if (!strcmp(how, "join"))
		run_join();
	else if (!strcmp(how, "join_c11"))
		run_join_c11();
	else if (!strcmp(how, "each"))
		run_each();
	else if (!strcmp(how, "future"))
		run_future();
	else if (!strcmp(how, "idle"))
		run_idle();
	else
		run_pool();
	puts("done");
	return 0;
}
