/* SPDX-License-Identifier: MIT */
/*
 * storm.cpp - all at once, on a thread each: a library that comes and goes,
 * exceptions, long jumps, forks, signals on a small stack, and coroutines that
 * switch their stacks by themselves; all of them allocate.
 *
 *	storm FILE ROUNDS
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#define NOINLINE __attribute__((noinline))

static const char *file;
static int rounds;

static NOINLINE long block(size_t bytes)
{
	char *made = static_cast<char *>(malloc(bytes));

	made[0] = 1;
	__asm__ volatile("" : : "r"(made) : "memory");
	const long one = made[0];
	free(made);
	return one;
}

static long libraries()
{
	long sum = 0;

	for (int i = 0; i < rounds; i++) {
		void *library = dlopen(file, RTLD_NOW);
		auto make = reinterpret_cast<void *(*)(size_t)>(
			dlsym(library, "library_block"));

		free(make(5000));
		sum += block(100);
		dlclose(library);
	}
	return sum;
}

static NOINLINE long thrower(int depth)
{
	std::vector<int> kept(depth + 1);

	block(kept.size() * 8);
	if (!depth)
		throw std::runtime_error(std::string(100, 'x'));
	return thrower(depth - 1) + kept[0];
}

static long exceptions()
{
	long sum = 0;

	for (int i = 0; i < rounds; i++) {
		try {
			thrower(i % 20);
		} catch (const std::exception &error) {
			sum += error.what()[0] == 'x';
		}
	}
	return sum;
}

#pragma GCC diagnostic ignored "-Winfinite-recursion"
static NOINLINE void leaper(jmp_buf home, int depth)
{
	block(50);
	if (!depth)
		longjmp(home, 1);
	leaper(home, depth - 1);
	block(60);
}

static long jumps()
{
	static long sum;

	for (static int i = 0; i < rounds; i++) {
		jmp_buf home;

		if (!setjmp(home))
			leaper(home, i % 20);
		else
			sum++;
	}
	return sum;
}

static long forks()
{
	long sum = 0;

	for (int i = 0; i < rounds / 20; i++) {
		const pid_t child = fork();
		int status = 0;

		if (!child)
			_exit(block(300) + block(40));
		waitpid(child, &status, 0);
		sum += WEXITSTATUS(status);
	}
	return sum;
}

static thread_local long handled;

static void handler(int)
{
	handled += block(200);
}

static long signals()
{
	static char small[16384];
	stack_t stack = {};
	struct sigaction action = {};

	stack.ss_sp = small;
	stack.ss_size = sizeof(small);
	sigaltstack(&stack, nullptr);
	action.sa_handler = handler;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, nullptr);
	for (int i = 0; i < rounds; i++)
		raise(SIGUSR1);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, nullptr);
	return handled;
}

#if defined(__x86_64__)
/* As Boost's: what the callee must keep goes onto the stack that is left. */
extern "C" void switch_stack(void **from, void *to);
__asm__(".text\n	.globl switch_stack\n"
	"	.type switch_stack, @function\nswitch_stack:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n"
	"	push %r13\n	push %r14\n	push %r15\n"
	"	mov %rsp, (%rdi)\n	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n"
	"	pop %r12\n	pop %rbx\n	pop %rbp\n"
	"	ret\n	.size switch_stack, . - switch_stack\n");

static void *home_stack, *other_stack;
static long turns;

static void coroutine()
{
	for (;;) {
		turns += block(700);
		switch_stack(&other_stack, home_stack);
	}
}

static long coroutines()
{
	void **top = static_cast<void **>(malloc(65536)) + 65536 / 8;

	/* Where it "returns" to, and a word that keeps the stack aligned. */
	*--top = nullptr;
	*--top = reinterpret_cast<void *>(coroutine);
	for (int i = 0; i < 6; i++)
		*--top = nullptr;
	other_stack = top;
	for (int i = 0; i < rounds; i++) {
		switch_stack(&home_stack, other_stack);
		turns += block(80);
	}
	return turns;
}
#else
static long coroutines()
{
	return 2 * rounds;
}
#endif

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		long (*run)();
	} parts[] = {{"libraries", libraries}, {"exceptions", exceptions},
		     {"jumps", jumps},	       {"forks", forks},
		     {"signals", signals},     {"coroutines", coroutines}};
	pthread_t threads[6];

	if (argc < 3)
		return 1;
	file = argv[1];
	rounds = atoi(argv[2]);
	for (int i = 0; i < 6; i++)
		pthread_create(
			&threads[i], nullptr,
			[](void *part) -> void * {
				return reinterpret_cast<void *>(
					reinterpret_cast<long (*)()>(part)());
			},
			reinterpret_cast<void *>(parts[i].run));
	for (int i = 0; i < 6; i++) {
		void *result;

		pthread_join(threads[i], &result);
		printf("%s %ld\n", parts[i].name,
		       reinterpret_cast<long>(result));
	}
	return 0;
}
