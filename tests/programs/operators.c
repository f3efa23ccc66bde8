/* SPDX-License-Identifier: MIT */
/*
 * operators.c - a program of PyTorch's kind, on torch_double.c.
 *
 *	operators LIBRARY [steps N | set-up | by-hand | late | closure |
 *			     old-closure | lists | beside | elsewhere |
 *			     both | compiled | messages N | halves | far]
 *
 * Where it is recorded it waits for its observer, unless NO_OBSERVER is set,
 * and for the writer, unless NO_TOTALS is.
 */
#include "traceprof.h"
#include "lib/torch_double.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *(*begin)(const char *, const struct torch_operator *);
static void (*end)(void *);
static bool (*is_observed)(void);
static unsigned long (*calls)(void);
static uint64_t (*own_thread)(void);

static const struct torch_operator plain = {.sequence = -1, .inputs = 3};
static const struct torch_operator user = {.sequence = -1, .scope = 7};

static void forward(int64_t sequence)
{
	const struct torch_operator one = {.sequence = sequence, .inputs = 2};
	void *outer = begin("aten::linear", &one);
	void *inner = begin("aten::addmm", &one);

	end(begin("aten::copy_", &plain));
	end(begin("c10d::allreduce_", &plain));
	end(inner);
	end(outer);
}

static void backward(int64_t sequence)
{
	const struct torch_operator node = {
		.sequence = sequence, .forward = own_thread(), .scope = 1};
	void *engine = begin("autograd::engine: Addmm", &plain);

	end(begin("AddmmBackward0", &node));
	end(engine);
}

static void step(int64_t number)
{
	void *data = begin("enumerate(DataLoader)#next", &user);
	void *optimizer, *model;

	end(begin("aten::stack", &plain));
	end(data);
	model = begin("my model", &user);
	forward(number);
	end(model);
	backward(number);
	end(begin("aten::item", &plain));
	optimizer = begin("Optimizer.step#SGD.step", &user);
	end(begin("aten::add_", &plain));
	end(optimizer);
}

static void *backward_there(void *number)
{
	backward((int64_t)(intptr_t)number);
	return NULL;
}

/* As for a GPU, for which a thread of its own runs backward. */
static void step_beside(int64_t number)
{
	void *optimizer;
	pthread_t thread;

	forward(number);
	if (!pthread_create(&thread, NULL, backward_there,
			    (void *)(intptr_t)number))
		pthread_join(thread, NULL);
	optimizer = begin("Optimizer.step#SGD.step", &user);
	end(begin("aten::add_", &plain));
	end(optimizer);
}

/* What was made of a function has no number itself; what lies in it has. */
static void step_compiled(int64_t number)
{
	const struct torch_operator one = {.sequence = number, .inputs = 2};
	void *outer;

	end(begin("aten::randn", &plain));
	outer = begin("Torch-Compiled Region: 0/0", &plain);
	end(begin("aten::empty", &plain));
	end(begin("CompiledFunction", &one));
	end(outer);
	backward(number);
}

/* A training on another thread than the main one, and what ran before it. */
static void *train_elsewhere(void *unused)
{
	for (int i = 0; i < 3; i++) {
		void *optimizer = begin("Optimizer.zero_grad#SGD", &user);

		end(optimizer);
		forward(10 + i);
		backward(10 + i);
		optimizer = begin("Optimizer.step#SGD.step", &user);
		end(begin("aten::add_", &plain));
		end(optimizer);
	}
	return unused;
}

static void elsewhere(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, train_elsewhere, NULL))
		pthread_join(thread, NULL);
}

/* An optimizer of the program's own. */
static void step_by_hand(int64_t number)
{
	end(begin("aten::randn", &plain));
	forward(number);
	end(begin("aten::arange", &plain));
	forward(number);
	backward(number);
	end(begin("aten::mul_", &plain));
	end(begin("aten::add_", &plain));
}

/* Gradients are set to zero right before backward. */
static void step_late(int64_t number)
{
	forward(number);
	end(begin("Optimizer.zero_grad#SGD.zero_grad", &user));
	end(begin("aten::ones_like", &plain));
	backward(number);
	end(begin("Optimizer.step#SGD.step", &user));
}

/* As Lightning does: the optimizer runs the model, which zeroes gradients after
 * its forward. */
static void step_of_closure(int64_t number)
{
	void *optimizer = begin("Optimizer.step#AdamW.step", &user);

	forward(number);
	end(begin("Optimizer.zero_grad#AdamW.zero_grad", &user));
	end(begin("aten::zeros_like", &plain));
	backward(number);
	end(begin("aten::item", &plain));
	end(begin("aten::_fused_adamw_", &plain));
	end(optimizer);
}

/* One whose update forgets to do without gradients. */
static void step_of_old_closure(int64_t number)
{
	const struct torch_operator one = {.sequence = 1000, .inputs = 2};
	void *optimizer = begin("Optimizer.step#Old.step", &user);

	for (int i = 0; i < 2; i++) {
		forward(number);
		backward(number);
		end(begin("aten::add_", &one));
	}
	end(optimizer);
}

static void with_lists(void)
{
	const struct torch_operator one = {.sequence = -1, .inputs = 4};

	end(begin("aten::_foreach_lerp_", &one));
	end(begin("aten::_foreach_addcdiv_", &one));
	end(begin("aten::_fused_adam_", &one));
}

static void *end_there(void *record)
{
	end(record);
	return NULL;
}

static void everything(void)
{
	const struct torch_operator async = {.sequence = -1, .is_async = true};
	void *record = begin("gloo:all_reduce", &async);
	pthread_t thread;

	step(0);
	if (!pthread_create(&thread, NULL, end_there, record))
		pthread_join(thread, NULL);
	begin("aten::never", &plain);
}

/* Waits for its reader with an operator whose backward is still to come. */
static void in_halves(void)
{
	forward(0);
	puts("forward");
	fflush(stdout);
	getchar();
	backward(0);
	puts("backward");
	fflush(stdout);
	getchar();
}

/* More of them than a step of PyTorch has before the first one's backward. */
static void far_apart(void)
{
	for (int64_t i = 0; i <= 16384; i++)
		forward(i);
	for (int64_t i = 16384; i >= 0; i--)
		backward(i);
}

static bool load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	if (!library)
		return false;
	*(void **)&begin = dlsym(library, "torch_double_begin");
	*(void **)&end = dlsym(library, "torch_double_end");
	*(void **)&is_observed = dlsym(library, "torch_double_is_observed");
	*(void **)&calls = dlsym(library, "torch_double_calls");
	*(void **)&own_thread =
		dlsym(library, "_ZN2at14RecordFunction15currentThreadIdEv");
	return own_thread && begin && end && is_observed && calls;
}

static void between_windows(void)
{
	const unsigned long before = calls();

	step(100);
	if (calls() != before)
		puts("operators were observed outside of windows");
}

/* Of so many sizes.  What was made of them has been let go; shapes take theirs
 * elsewhere. */
static void messages(const char *path, int count)
{
	long *held = dlsym(dlopen(path, RTLD_NOW), "torch_double_held");

	*held = 0;
	for (int i = 0; i < count; i++)
		end(begin("record_param_comms", &plain));
	end(begin("record_param_comms", &user));
	if (*held > 0)
		printf("%ld pieces of memory are held\n", *held);
}

static void ignore(const struct traceprof_total *total, void *arg)
{
	(void)total;
	(void)arg;
}

/* False: it is another word. */
static bool by_thread(const char *what)
{
	const bool is_both = !strcmp(what, "both");

	for (int i = 0; i < 3 && !strcmp(what, "compiled"); i++)
		step_compiled(i);
	if (!is_both && strcmp(what, "elsewhere") != 0)
		return !strcmp(what, "compiled");
	end(begin("aten::uniform_", &plain));
	if (is_both)
		step_beside(1);
	elsewhere();
	if (is_both)
		step_beside(2);
	else
		end(begin("aten::mul", &plain));
	return true;
}

int main(int argc, char **argv)
{
	if (argc < 2 || !load(argv[1]))
		return 1;
	traceprof_mark("begin");
	/* With that the writer has seen which libraries there are. */
	if (!getenv("NO_TOTALS"))
		traceprof_totals(ignore, NULL);
	for (int i = 0; i < 20000 && traceprof_mark_ && !is_observed() &&
			!getenv("NO_OBSERVER");
	     i++)
		usleep(1000);
	if (argc > 3 && !strcmp(argv[2], "messages")) {
		messages(argv[1], atoi(argv[3]));
	} else if (argc > 3) {
		for (int i = 0; i < atoi(argv[3]); i++) {
			traceprof_start("steps");
			step(i);
			traceprof_stop();
			between_windows();
		}
	} else if (argc > 2 && !strcmp(argv[2], "by-hand")) {
		for (int i = 0; i < 3; i++)
			step_by_hand(i);
	} else if (argc > 2 && !strcmp(argv[2], "beside")) {
		for (int i = 0; i < 3; i++)
			step_beside(i);
	} else if (argc > 2 && by_thread(argv[2])) {
		;
	} else if (argc > 2 && !strcmp(argv[2], "late")) {
		for (int i = 0; i < 3; i++)
			step_late(i);
	} else if (argc > 2 && strstr(argv[2], "closure")) {
		for (int i = 0; i < 3; i++)
			(argv[2][0] == 'o' ? step_of_old_closure
					   : step_of_closure)(i);
	} else if (argc > 2 && !strcmp(argv[2], "twice")) {
		everything();
		puts("once");
		fflush(stdout);
		getchar();
		everything();
		puts("twice");
		fflush(stdout);
		getchar();
	} else if (argc > 2 && !strcmp(argv[2], "halves")) {
		in_halves();
	} else if (argc > 2 && !strcmp(argv[2], "far")) {
		far_apart();
	} else if (argc > 2 && !strcmp(argv[2], "lists")) {
		with_lists();
	} else if (argc > 2) {
		end(begin("aten::uniform_", &plain));
		step(0);
	} else {
		everything();
	}
	puts("done");
	return 0;
}
