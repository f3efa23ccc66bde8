/* SPDX-License-Identifier: MIT */
/*
 * exits.c - ends in each way that a process can.
 *
 *	exits WAY [milliseconds before [threads of the region]]
 *
 * Runs a region first, which the trace must hold however the end comes.
 */
#include "by_hand.h"
#include "confined.h"
#include <linux/sched.h>

#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A thread of libgomp's would outlive what kills this one alone. */
static int members = 2;

__attribute__((noinline)) static int last_region(void)
{
	int sum = 0;

#pragma omp parallel num_threads(members) reduction(+ : sum)
	sum += 1;
	return sum;
}

static void said_at_exit(void)
{
	printf("at exit\n");
	fflush(stdout);
}

static void close_stderr(void)
{
	fclose(stderr);
}

/* OpenMP and the heap at the very end, after the library's own handlers. */
__attribute__((destructor)) static void last_words(void)
{
	void *volatile block = malloc(200000);

	free(block);
}

static void send_signal(void)
{
	kill(getpid(), SIGUSR1);
}

static void *outlive_main(void *unused)
{
	usleep(50000);
	printf("outlived main\n");
	return unused;
}

static void *exit_elsewhere(void *unused)
{
	(void)unused;
	exit(6);
}

static pthread_barrier_t all_there;

static void *leave_at_once(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&all_there);
	_exit(10);
}

/* Two threads, neither of which knows of the other's end. */
static void leave_together(void)
{
	pthread_t thread;

	pthread_barrier_init(&all_there, NULL, 2);
	pthread_create(&thread, NULL, leave_at_once, NULL);
	leave_at_once(NULL);
}

/* In a task that a worker runs while it waits for the region's end. */
static void exit_in_task(void)
{
#pragma omp parallel num_threads(2)
	if (!omp_get_thread_num()) {
#pragma omp task
		{
			usleep(2000);
			exit(7);
		}
		for (;;)
			pause();
	}
}

static void on_terminate(int number)
{
	(void)number;
	_exit(9);
}

/* From here on this thread may write and end, and whatever `also` is. */
static void enter_filter(unsigned int action, unsigned int also)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, also, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, action),
	};

	confined_enter(filter, sizeof(filter) / sizeof(filter[0]));
}

/* The other way round, all but one call, and past the C library: no hook of
 * anybody's sees it. */
static void forbid_unseen(unsigned int action, unsigned int call)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter,
	};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
#if defined(__x86_64__)
	long result = SYS_seccomp;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(SECCOMP_SET_MODE_FILTER), "S"(0), "d"(&program)
			 : "rcx", "r11", "memory");
#else
	register long x8 __asm__("x8") = SYS_seccomp;
	register long x0 __asm__("x0") = SECCOMP_SET_MODE_FILTER;
	register long x1 __asm__("x1") = 0;
	register const void *x2 __asm__("x2") = &program;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2)
			 : "memory");
	const long result = x0;
#endif
	if (result)
		_exit(126);
}

static void work_confined(void)
{
	for (int i = 0; i < 20000; i++)
		free(malloc(100 + (size_t)i % 100));
	printf("worked\n");
}

/* Ends under seccomp; by another thread of ours it must not be seen. */
static void leave_confined(const char *way)
{
	if (strcmp(way, "strict") == 0) {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		syscall(SYS_exit, 21);
	}
	if (strcmp(way, "strict_killed") == 0) {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		syscall(SYS_getppid);
	}
	if (strcmp(way, "filter") == 0) {
		enter_filter(SECCOMP_RET_KILL_PROCESS, SYS_exit);
		work_confined();
		exit(22);
	}
	if (strcmp(way, "filter_killed") == 0) {
		enter_filter(SECCOMP_RET_KILL_THREAD, SYS_exit);
		syscall(SYS_getppid);
	}
	if (strcmp(way, "unseen_killed") == 0) {
		forbid_unseen(SECCOMP_RET_KILL_THREAD, SYS_getppid);
		syscall(SYS_getppid);
	}
	if (strcmp(way, "filter_fork") == 0) {
		struct clone_args args = {.exit_signal = SIGCHLD};

		confined_call(SYS_process_vm_readv, SECCOMP_RET_KILL_PROCESS,
			      SECCOMP_RET_ALLOW);
		if (!syscall(SYS_clone3, &args, sizeof(args)))
			_exit(0);
		wait(NULL);
		exit(syscall(SYS_clone3, 8, sizeof(args)) == -1 ? 23 : 0);
	}
	if (strcmp(way, "question") == 0) {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL);
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
		printf("region %d\n", last_region());
		exit(24);
	}
	if (strcmp(way, "alone") == 0)
		syscall(SYS_exit, 25);
}

static void leave(const char *way)
{
	pthread_t thread;

	if (strcmp(way, "exit") == 0 || strcmp(way, "close_stderr") == 0)
		exit(3);
	if (strcmp(way, "_exit") == 0)
		_exit(4);
	if (strcmp(way, "_Exit") == 0)
		_Exit(4);
	if (strcmp(way, "quick_exit") == 0)
		quick_exit(5);
	if (strcmp(way, "abort") == 0)
		abort();
	if (strcmp(way, "segv") == 0)
		raise(SIGSEGV);
	if (strcmp(way, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(way, "terminate") == 0)
		raise(SIGTERM);
	if (strcmp(way, "handler") == 0) {
		signal(SIGTERM, on_terminate);
		raise(SIGTERM);
	}
	if (strcmp(way, "exit_group") == 0)
		syscall(SYS_exit_group, 8);
	if (strcmp(way, "by_hand") == 0)
		by_hand_exit(8);
	if (strcmp(way, "thread") == 0) {
		pthread_create(&thread, NULL, exit_elsewhere, NULL);
		pthread_join(thread, NULL);
	}
	if (strcmp(way, "together") == 0)
		leave_together();
	if (strcmp(way, "task") == 0)
		exit_in_task();
	if (strcmp(way, "pthread_exit") == 0) {
		pthread_create(&thread, NULL, outlive_main, NULL);
		pthread_exit(NULL);
	}
	if (strcmp(way, "late_signal") == 0) {
		atexit(send_signal);
		pthread_exit(NULL);
	}
	if (strcmp(way, "closed") == 0) {
		fflush(stdout);
		close(0);
		close(1);
		close(2);
		exit(7);
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "return";

	if (argc > 3)
		members = atoi(argv[3]);
	if (strcmp(way, "close_stderr") == 0)
		atexit(close_stderr);
	atexit(said_at_exit);
	printf("region %d\n", last_region());
	fflush(stdout);
	/* What comes by surprise comes after a checkpoint. */
	if (argc > 2)
		usleep((unsigned int)atoi(argv[2]) * 1000);
	leave_confined(way);
	leave(way);
	return 2;
}
