/* SPDX-License-Identifier: MIT */
/*
 * xla_double.cpp - what jaxlib's file has of XLA's TraceMeRecorder: its names
 * and its layout, in the symbol table and nowhere else.
 */
#include <atomic>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <deque>
#include <mutex>
#include <string>
#include <vector>
#include <pthread.h>
#include <unistd.h>

#ifndef LEVEL
#define LEVEL -1
#endif

namespace tsl
{
namespace profiler
{
namespace internal
{
std::atomic<int> g_trace_level{LEVEL};
}

struct TraceMeRecorder {
	struct Event {
#ifdef ODD
		int64_t start_time, end_time;
		std::string name;
#else
		std::string name;
		int64_t start_time, end_time;
#endif
	};
	struct ThreadEvents {
		struct {
			uint32_t tid;
			std::string name;
		} thread;
		std::deque<Event> events;
	};
	using Events = std::vector<ThreadEvents>;

#ifdef OLD
	static bool Start(int level, unsigned long filter);
#else
	static bool Start(int level, unsigned long filter, bool with_source);
#endif
	static Events Stop();
#ifndef OLD
	static Events Consume();
#endif
	static void Record(Event &&event);
};

static std::mutex lock;
static TraceMeRecorder::Events kept;

#ifdef OLD
bool TraceMeRecorder::Start(int level, unsigned long)
#else
bool TraceMeRecorder::Start(int level, unsigned long, bool)
#endif
{
	int off = -1;

	return internal::g_trace_level.compare_exchange_strong(off, level);
}

TraceMeRecorder::Events TraceMeRecorder::Stop()
{
	Events events;

	if (internal::g_trace_level.exchange(-1) == -1)
		return events;
#ifdef SLOW
	usleep(20000); /* who takes it out is put aside */
#endif
	std::lock_guard<std::mutex> guard(lock);
	events.swap(kept);
	return events;
}

#ifndef OLD
TraceMeRecorder::Events TraceMeRecorder::Consume()
{
	std::lock_guard<std::mutex> guard(lock);
	Events events;

	events.swap(kept);
	return events;
}
#endif

void TraceMeRecorder::Record(Event &&event)
{
	std::lock_guard<std::mutex> guard(lock);
	const uint32_t tid = (uint32_t)pthread_self();
	char name[16] = "";

	pthread_getname_np(pthread_self(), name, sizeof(name));
	for (auto &one : kept) {
		if (one.thread.tid == tid) {
			one.events.push_back(std::move(event));
			return;
		}
	}
	kept.emplace_back();
	kept.back().thread.tid = tid;
	kept.back().thread.name = std::string(name) + "/-123456789";
	kept.back().events.push_back(std::move(event));
}
} // namespace profiler
} // namespace tsl

using tsl::profiler::TraceMeRecorder;

static int64_t now_ns()
{
	timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

extern "C" __attribute__((visibility("default"))) bool is_on()
{
	return tsl::profiler::internal::g_trace_level >= 0;
}

/* Events that nobody has taken out. */
extern "C" __attribute__((visibility("default"))) long kept()
{
	std::lock_guard<std::mutex> guard(tsl::profiler::lock);
	long count = 0;

	for (auto &one : tsl::profiler::kept)
		count += (long)one.events.size();
	return count;
}

/* An annotation of so many microseconds, with another inside. */
extern "C" __attribute__((visibility("default"))) void
annotate(const char *outer, const char *inner, long us)
{
	const int64_t start = now_ns(), end = start + us * 1000;
	TraceMeRecorder::Event event;

	while (now_ns() < end)
		;
	if (!is_on())
		return;
	event.name = inner;
	event.start_time = start + us * 250;
	event.end_time = start + us * 500;
	TraceMeRecorder::Record(std::move(event));
	event = TraceMeRecorder::Event();
	event.name = outer;
	event.start_time = start;
	event.end_time = end;
	TraceMeRecorder::Record(std::move(event));
}
