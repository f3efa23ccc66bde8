/* SPDX-License-Identifier: MIT */
/* leave.c - the writer goes on without its program; see leave.h. */
#include "writer/leave.h"

#include "collector/session/gate.h"
#include "collector/system/loader.h"
#include "collector/system/orphan.h"
#include "collector/system/page_size.h"
#include "writer/account.h"
#include "writer/pass.h"
#include "writer/steps/step_finder.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How long the program's end is held up: a twentieth of a short run, a
 * hundredth of a long one; and of that, to see what an event takes here.
 * Below the least, lines that tell what took most time are worth more. */
#define LEAST_NS	 UINT64_C(20000000)
#define SHORT_NS	 UINT64_C(50000000)
#define LONG_NS		 UINT64_C(1000000000)
#define SHORT_SHARE	 20u
#define SHARE		 100u
#define PART_NS		 UINT64_C(4000000)
#define PART_OF		 4u
#define PARTS_TRIED	 4u
#define SEEN_LEAST	 64u
/* What an event takes where none was seen. */
#define EVENT_NS	 2000u
#define SCAN_NS		 100u /* to read one, and no more */
#define BYTES_MOST	 128u /* in the file: several times as many */
#define TEXT_LEAST	 64u  /* of one, before it is compressed */
#define RESIDENT_MOST	 (UINT64_C(8) << 30)
#define DESCRIPTORS_MOST 65536u

struct leave {
	struct writer_state *state;
	void (*finish)(void *arg);
	void *arg;
};

static uint64_t read_resident(void)
{
	char text[128] = "";
	unsigned long all, resident = 0;
	const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) <= 0 ||
	    sscanf(text, "%lu %lu", &all, &resident) != 2)
		resident = 0;
	close(fd);
	return (uint64_t)resident * page_bytes();
}

static uint64_t resident_bytes(void)
{
	const bool keeps_forks_out = loader_enter_soon();
	const uint64_t bytes = read_resident();

	if (keeps_forks_out)
		loader_leave();
	return bytes;
}

/* The first process of a container takes all others with it when it ends, and
 * who is in its session of processes most likely ends just before. */
static bool is_alone(void)
{
	return getpid() == 1 || syscall(SYS_getsid, 0) <= 1;
}

/* A disk that may get full is told of by the program. */
static bool has_space(struct writer_state *state)
{
	struct statvfs space;

	return !statvfs(state->session->head->folder, &space) &&
	       (uint64_t)space.f_bavail * space.f_frsize >
		       account_left(state) * BYTES_MOST;
}

/* How long the end may be held up. */
static uint64_t allowed_in_all_ns(const struct writer_state *state)
{
	const uint64_t ran = state->ends_since_ns -
			     (uint64_t)state->session->head->clock.first_ns;

	if (ran < SHORT_NS * SHORT_SHARE)
		return max_u64(ran / SHORT_SHARE, LEAST_NS);
	return min_u64(max_u64(ran / SHARE, SHORT_NS), LONG_NS);
}

/* How long what is left may take now.  What takes less than to leave it does is
 * never left, however late we are. */
static uint64_t allowed_ns(const struct writer_state *state)
{
	const uint64_t past = clock_monotonic_ns() - state->ends_since_ns;
	const uint64_t all = allowed_in_all_ns(state);

	return max_u64(all - min_u64(past, all), all / PART_OF);
}

/* Of so many events those that TRACEPROF_MAX_MB lets into the files, at most;
 * the others are only read. */
static uint64_t fitting(const struct writer_state *state, uint64_t events)
{
	const struct options *options = &state->session->head->options;
	uint64_t files = 1;

	if (!options->max_mb)
		return events;
	if (state->file.may_go_on) {
		if (options->parts_keep == PARTS_KEEP_LAST)
			return events;
		files += (uint64_t)options->max_parts - state->file.file_index;
	}
	return min_u64(events,
		       files * ((uint64_t)options->max_mb << 20) / TEXT_LEAST);
}

/* What an event takes in a part, by our own processor time: who else wants the
 * core now is gone then.  0: the search for the step, or other programs, took
 * nearly all of the part. */
static uint64_t part_price_ns(struct writer_state *state)
{
	const uint64_t start_ns = account_cpu_ns(state);
	const uint64_t events = pass_part(
		state, min_u64(allowed_in_all_ns(state) / PART_OF, PART_NS));

	return events >= SEEN_LEAST
		       ? max_u64((account_cpu_ns(state) - start_ns) / events, 1)
		       : 0;
}

/* The first part may have read a large program's symbols. */
static uint64_t price_ns(struct writer_state *state)
{
	uint64_t least = 0;

	window_file_code(state); /* no part's */
	for (unsigned int part = 0;
	     part < PARTS_TRIED && (!least || (part == 1 && least > EVENT_NS));
	     part++) {
		const uint64_t price = part_price_ns(state);

		if (price)
			least = least ? min_u64(least, price) : price;
	}
	return least ? least : EVENT_NS;
}

static uint64_t estimate_ns(struct writer_state *state)
{
	const uint64_t each_ns = price_ns(state);
	const uint64_t left = account_left(state);
	const uint64_t drawn = fitting(state, left);

	return drawn * each_ns + (left - drawn) * SCAN_NS;
}

bool leave_is_worth_while(struct writer_state *state, uint64_t *left_ns)
{
	if (!state->is_live || !state->room || !state->late_since_ns ||
	    state->session->head->place != SESSION_IN_FILE || is_alone())
		return false;
	state->ends_since_ns = clock_monotonic_ns();
	*left_ns = estimate_ns(state) +
		   step_finder_takes_ns(state, account_left(state));
	return !state->error && *left_ns > allowed_ns(state) &&
	       has_space(state) && resident_bytes() <= RESIDENT_MOST;
}

bool leave_find_step(struct writer_state *state, uint64_t *left_ns)
{
	const uint64_t left = account_left(state);
	const uint64_t takes_ns = step_finder_takes_ns(state, left);

	if (!takes_ns)
		return false;
	if (takes_ns + left * SCAN_NS > allowed_in_all_ns(state))
		return true;
	state->is_finishing = true;
	pass_find_step(state);
	*left_ns -= takes_ns;
	return false;
}

/* Nobody may wait for us by a pipe of the program's. */
static void close_all_but(int one, int other)
{
	const int low = one < other ? one : other;
	const int high = one < other ? other : one;
	int from = 0;

	for (int i = 0; i < 2; i++) {
		const int keep = i ? high : low;

		if (keep > from &&
		    syscall(SYS_close_range, from, keep - 1, 0)) {
			for (int fd = from; fd < keep; fd++)
				close(fd);
		}
		if (keep >= from)
			from = keep + 1;
	}
	if (syscall(SYS_close_range, from, ~0u, 0)) {
		for (int fd = from; fd < (int)DESCRIPTORS_MOST; fd++)
			close(fd);
	}
}

/* Whoever ends a job may end us. */
static void take_signals(void)
{
	static const int ending[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP};
	const struct sigaction ordinary = {.sa_handler = SIG_DFL};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		sigaction(ending[i], &ordinary, NULL);
		sigaddset(&set, ending[i]);
	}
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static _Noreturn int go_on(void *arg)
{
	const struct leave *leave = arg;
	const struct writer_state *state = leave->state;
	int null;

	/* A copy, as a forked child. */
	loader_forget();
	gate_set(GATE_CLOSED);
	take_signals();
	prctl(PR_SET_NAME, "traceprof", 0, 0, 0);
	close_all_but(state->file.is_open ? state->file.trace.output.fd : -1,
		      state->spool.is_open ? state->spool.output.fd : -1);
	null = open("/dev/null", O_RDWR);
	while (null >= 0 && null < 2)
		null = dup(null);
	syscall(SYS_chdir, "/");
	leave->finish(leave->arg);
	syscall(SYS_exit_group, 0);
	__builtin_unreachable();
}

int leave_start(struct writer_state *state, void (*finish)(void *arg),
		void *arg)
{
	struct leave leave = {state, finish, arg};
	const pid_t pid = orphan_start(go_on, &leave, false);

	return pid < 0 ? pid : 0;
}
