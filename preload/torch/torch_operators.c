/* SPDX-License-Identifier: MIT */
/*
 * torch_operators.c - operators become scopes; see torch_operators.h.
 *
 * A thread of our own attaches, since the loader may keep it waiting until the
 * program's import is done.  Who begins and who ends a record is told by its
 * context: one that we left out has none.
 */
#include "preload/torch/torch_operators.h"

#include "collector/session/modules.h"
#include "collector/steps/steps.h"
#include "collector/system/futex.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "preload/annotate/itt.h"
#include "preload/annotate/nvtx_range.h"
#include "preload/annotate/scope.h"
#include "preload/process/process.h"
#include "preload/python/python_api.h"
#include "preload/stack/python_frames.h"
#include "preload/torch/torch_collective.h"
#include "preload/torch/torch_compile.h"
#include "preload/torch/torch_library.h"
#include "preload/torch/torch_loader.h"
#include "preload/torch/torch_observer.h"
#include "preload/torch/torch_phases.h"
#include "preload/torch/torch_rank.h"
#include "preload/torch/torch_shapes.h"
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define STACK_BYTES    (256u << 10)
#define SCOPE_USER     3u /* owner of what isn't an operator */
#define SCOPE_STEP     4u /* owner of an optimizer's step */
#define OPTIMIZER      "Optimizer.step#"
#define ASYNC_MAX      256u
#define END_PART       10u /* of the end's time, for the thread that attaches */
#define LEAVE_NS       UINT64_C(200000000) /* for those inside */
#define LINES_A_SECOND 1000u

enum {
	TORCH_NONE,
	TORCH_BEGUN,
	TORCH_ALIVE,
	TORCH_OBSERVED, /* its own observer tells */
	TORCH_FAILED,
	TORCH_GONE, /* what holds callbacks */
};

#define ENDED "the program ended before they were looked at"

/* What is asked of PyTorch: nothing, the program's own scopes, or all. */
enum { WANTS_USER = 1, WANTS_ALL };

static struct {
	_Atomic uint32_t state;
	_Atomic uint32_t is_wanted;
	_Atomic uint32_t inside; /* threads of ours among its callbacks */
	_Atomic bool is_ending;	 /* torch_finish() was called */
	_Atomic bool is_told;	 /* why operators were left out */
	struct torch_library library;
	uint64_t handle;	   /* of operators; */
	uint64_t user;		   /* ... of the program's own scopes */
	const struct module *seen; /* the newest, at the last look */
	const char *path;
	bool has_shapes;
} torch;

/* --- contexts ------------------------------------------------------------- */

static void leave(void *self)
{
	(void)self;
}

static void free_async(void *self)
{
	/* RELEASE pairs with ACQUIRE in async_begins(): it has been read. */
	store_release(
		(_Atomic uint64_t *)&((struct torch_context *)self)->range, 0);
}

static void (*const plain_table[])(void *) = {leave, leave};
static void (*const async_table[])(void *) = {free_async, free_async};
static struct torch_context plain = {plain_table, 0};
static struct torch_context user = {plain_table, 0};
static struct torch_context step = {plain_table, 0};
static struct torch_context async[ASYNC_MAX];

/* --- operators ------------------------------------------------------------ */

static uint64_t word_at(const void *record, uint32_t offset)
{
	uint64_t word;

	memcpy(&word, (const char *)record + offset, sizeof(word));
	return word;
}

/* 0 they weren't asked for. */
static uint32_t shapes_of(const void *record)
{
	struct thread *was;
	uint32_t shapes;

	if (likely(!torch.has_shapes))
		return 0;
	was = thread_busy();
	shapes = torch_shapes(&torch.library, record);
	thread_unbusy(was);
	return shapes;
}

/* Messages have no sequence number of operators, so its place and that of the
 * thread that ran it forward are theirs. */
static void message_of(const void *record, struct scope_details *details)
{
	struct torch_message message = {.text = details->category_name};
	struct thread *was = thread_busy();

	torch_collective(&torch.library, record, &message);
	thread_unbusy(was);
	details->category_name = message.text;
	if (details->payload)
		return;
	details->colour = message.sequence;
	details->forward = message.id;
}

static void details_of(const void *record, const char *name,
		       struct scope_details *details)
{
	const struct torch_library *library = &torch.library;
	const int64_t sequence = (int64_t)word_at(record, library->sequence_at);

	details->is_operator = true;
	details->category = word_at(record, library->scope_at) & 0xff;
	/* As a number that is never 0; torch's -1 is none. */
	details->payload = sequence < 0 ? 0 : (uint64_t)sequence + 1;
	details->thread = (uint32_t)word_at(record, library->thread_at);
	details->forward = (uint32_t)word_at(record, library->forward_at);
	details->category_name = shapes_of(record);
	if (!details->category && torch_collective_is(library, name))
		message_of(record, details);
}

/* It will end on another thread, as a range does. */
static void *async_begins(const void *record, const char *name)
{
	torch_rank_heard();
	for (unsigned int i = 0; i < ASYNC_MAX; i++) {
		uint64_t free = 0;

		/* ACQUIRE pairs with RELEASE in free_async(). */
		if (!atomic_compare_exchange_strong_explicit(
			    (_Atomic uint64_t *)&async[i].range, &free, 1,
			    memory_order_acquire, memory_order_relaxed))
			continue;
		async[i].table = async_table;
		async[i].range = nvtx_start_operator(name, shapes_of(record));
		return &async[i];
	}
	hook_unfollowed();
	return NULL;
}

/* Of operators that lie in no other one a millisecond is asked which line of
 * the program it comes from: so lines get as many as they take time. */
static uint32_t line_of_call(void)
{
	static _Atomic uint64_t next_ticks;
	struct session *session = load_relaxed(&session_here);
	const uint64_t now = clock_ticks();
	struct thread *was;
	uint32_t line;

	if (likely(now < load_relaxed(&next_ticks)) || !session)
		return 0;
	store_relaxed(&next_ticks,
		      now + clock_ticks_per_second(&session->head->clock) /
				      LINES_A_SECOND);
	was = thread_busy();
	line = python_frames_line(session);
	thread_unbusy(was);
	return line;
}

static void *const contexts[] = {[TORCH_PHASE_INSIDE] = &user,
				 [TORCH_PHASE_STEP] = &step,
				 [TORCH_PHASE_ITS_OWN] = &plain};

enum { OWNERS = TORCH_PHASE_ITS_OWN + 1 };
static const uint64_t owners[OWNERS] = {[TORCH_PHASE_INSIDE] = SCOPE_USER,
					[TORCH_PHASE_STEP] = SCOPE_STEP,
					[TORCH_PHASE_ITS_OWN] = OPEN_OPERATOR};

/* What evaluates a node that runs backward has no number itself; torch.profiler
 * gives it that of the node. */
static void number_evaluation(const struct thread *thread,
			      const struct scope_details *node)
{
	struct scope_details *around =
		scope_details_here(thread, OPEN_OPERATOR);

	if (!around || around->category || around->payload)
		return;
	around->payload = node->payload;
	around->forward = node->forward;
}

/* User scopes that say nothing of a phase, and steps of optimizers, are not
 * counted as around what does. */
static void *open_scope(struct thread *thread, const char *name,
			struct scope_details *details, bool has_gradient)
{
	const enum torch_phase_of of = torch_phase_of(details->category, name);

	if (of != TORCH_PHASE_INSIDE && scope_depth(thread, OPEN_OPERATOR)) {
		if (details->payload && !details->category &&
		    torch_phase_is_without_gradient())
			torch_phase_inside(thread,
					   scope_depth(thread, SCOPE_STEP) > 0);
	} else if (of != TORCH_PHASE_INSIDE) {
		torch_phase_begins(thread, details, name, has_gradient,
				   scope_depth(thread, SCOPE_STEP) > 0);
		details->line = line_of_call();
	}
	if (details->category == TORCH_SCOPE_BACKWARD && details->payload &&
	    details->forward)
		number_evaluation(thread, details);
	scope_push(thread, owners[of], true, scope_intern(name), details);
	if (details->category == TORCH_SCOPE_USER)
		torch_loader_scope(thread, name);
	return contexts[of];
}

/* Two optimizers of one class have one name: the line tells them apart.  In a
 * closed gate only one whose end may be a step's is kept. */
static void *begins_by_user(struct thread *thread, const char *name,
			    struct scope_details *details)
{
	uint32_t hidden;

	steps_scope(load_relaxed(&session_here), thread, NULL, name);
	if (strncmp(name, OPTIMIZER, sizeof(OPTIMIZER) - 1))
		return NULL;
	if (gate_bits() & GATE_SCOPE) {
		details->place = python_frames_place();
		return NULL;
	}
	hidden = scope_intern_hidden(name);
	if (!hidden)
		return NULL;
	scope_push(thread, SCOPE_USER, false, hidden, NULL);
	return &user;
}

static void *begins(void **context, const void *record)
{
	const int saved = errno;
	struct scope_details details = {0};
	struct thread *thread;
	const char *name;

	*context = NULL;
	if (!(gate_bits() & (GATE_SCOPE | GATE_SCOPE_MARK)))
		return context;
	thread = hook_thread();
	name = thread ? torch.library.name(record) : NULL;
	if (!name)
		return context;
	if (unlikely(torch.library.is_async(record))) {
		*context = async_begins(record, name);
	} else {
		details_of(record, name, &details);
		if (details.category == TORCH_SCOPE_USER)
			*context = begins_by_user(thread, name, &details);
		if (!*context && gate_bits() & GATE_SCOPE)
			*context = open_scope(thread, name, &details,
					      details.payload != 0);
	}
	errno = saved;
	return context;
}

static void close_scope(struct thread *thread, uint64_t owner)
{
	scope_pop(thread, owner);
	if (owner != SCOPE_USER && !scope_depth(thread, OPEN_OPERATOR))
		torch_phase_ends(thread);
}

static uint64_t owner_of(const void *context)
{
	if (context == &step)
		return SCOPE_STEP;
	return context == &user ? SCOPE_USER : OPEN_OPERATOR;
}

static void ends(const void *record, void *context)
{
	struct thread *thread = thread_self;
	const int saved = errno;

	(void)record;
	if (context && context != &plain && context != &user &&
	    context != &step)
		nvtx_end(((struct torch_context *)context)->range);
	else if (context && thread_records(thread) &&
		 gate_bits() != GATE_UNDECIDED)
		close_scope(thread, owner_of(context));
	errno = saved;
}

/* --- by name alone -------------------------------------------------------- */

/* Operators have a name space, nodes that run backward a number. */
static uint32_t scope_of(const char *name)
{
	size_t len = strlen(name);

	if (!strncmp(name, "autograd::engine", 16) ||
	    (strstr(name, "::") && !strpbrk(name, " #")))
		return 0;
	while (len && name[len - 1] >= '0' && name[len - 1] <= '9')
		len--;
	return name[len] && len >= 8 && !memcmp(name + len - 8, "Backward", 8)
		       ? TORCH_SCOPE_BACKWARD
		       : TORCH_SCOPE_USER;
}

void torch_told_begins(const char *name)
{
	struct scope_details details = {.is_operator = true,
					.category = scope_of(name)};
	const int saved = errno;
	struct thread *thread;

	if (!(gate_bits() & (GATE_SCOPE | GATE_SCOPE_MARK)))
		return;
	thread = hook_thread();
	if (thread && details.category == TORCH_SCOPE_USER)
		steps_scope(load_relaxed(&session_here), thread, NULL, name);
	if (thread && gate_bits() & GATE_SCOPE)
		open_scope(thread, name, &details, true);
	else if (thread)
		scope_push(thread, OPEN_OPERATOR, false,
			   scope_intern_hidden(name), NULL);
	errno = saved;
}

void torch_told_ends(void)
{
	struct thread *thread = thread_self;
	const int saved = errno;

	if (thread_records(thread) && gate_bits() != GATE_UNDECIDED)
		close_scope(thread, scope_innermost(thread, owners, OWNERS));
	errno = saved;
}

/* --- on and off ----------------------------------------------------------- */

static void turn_one(uint64_t handle, bool on)
{
	if (on)
		torch.library.enable(handle);
	else
		torch.library.disable(handle);
}

/* A range of the program's may begin a step between windows, too. */
static uint32_t wants(bool open)
{
	struct session *session = load_relaxed(&session_here);

	return open				       ? WANTS_ALL
	       : session && steps_want_ranges(session) ? WANTS_USER
						       : 0;
}

/* Whoever looks last finds what is wanted done. */
static void turn(void)
{
	uint32_t wanted;

	atomic_fetch_add(&torch.inside, 1);
	/* The program's end waits for us, or we see that it is there. */
	while (atomic_load(&torch.state) == TORCH_ALIVE) {
		wanted = atomic_load(&torch.is_wanted);
		turn_one(torch.handle, wanted == WANTS_ALL);
		turn_one(torch.user, wanted);
		if (wanted == atomic_load(&torch.is_wanted))
			break;
	}
	atomic_fetch_sub(&torch.inside, 1);
}

void torch_follow(bool open)
{
	struct thread *was;
	uint32_t state;

	atomic_store(&torch.is_wanted, wants(open));
	if (!open)
		torch_phase_finish(thread_self);
	/* ACQUIRE pairs with RELEASE in move(), and that of the exchange in
	 * add_callbacks(). */
	state = load_acquire(&torch.state);
	if (state == TORCH_OBSERVED)
		torch_observer_follow(wants(open));
	if (state != TORCH_ALIVE)
		return;
	was = thread_busy();
	turn();
	thread_unbusy(was);
}

/* Nobody may have asked for anything yet. */
static void ask_early(void)
{
	uint32_t nothing = 0;

	atomic_compare_exchange_strong(&torch.is_wanted, &nothing,
				       wants(false));
}

static void move(uint32_t state)
{
	/* RELEASE pairs with ACQUIRE in torch_follow(): library and handle. */
	store_release(&torch.state, state);
	futex_wake(&torch.state);
}

/* Once: the end doesn't wait for ever for the thread that attaches. */
static void tell_left_out(struct session *session, const char *why)
{
	if (atomic_exchange(&torch.is_told, true))
		return;
	session_note(session, "PyTorch's operators are left out: %s", why);
	log_say("PyTorch's operators are left out: %s (%s)", why, torch.path);
}

/* Of the program's handlers at its end, before the one that takes apart what
 * holds PyTorch's callbacks: that was made by our first.  To switch ours off
 * after it would be to write to memory that was freed.  They may be added just
 * now. */
static void leave_library(void)
{
	const uint64_t end = clock_monotonic_ns() + LEAVE_NS;
	struct session *session = load_relaxed(&session_here);
	uint32_t begun = TORCH_BEGUN, alive = TORCH_ALIVE;
	const bool were_none = atomic_compare_exchange_strong(
		&torch.state, &begun, TORCH_GONE);

	atomic_compare_exchange_strong(&torch.state, &alive, TORCH_GONE);
	while (atomic_load(&torch.inside) && clock_monotonic_ns() < end)
		syscall(SYS_sched_yield);
	/* Who adds them may be too late for that. */
	if (were_none && session)
		tell_left_out(session, ENDED);
}

/* Why they weren't added; NULL: they were. */
static const char *add_callbacks(struct torch_callback *callback)
{
	uint32_t begun = TORCH_BEGUN;
	bool is_followed;

	callback->scopes[TORCH_SCOPE_USER] = true;
	torch.user = torch.library.add_global(*callback);
	is_followed = !atexit(leave_library);
	memset(callback->scopes, true, sizeof(callback->scopes));
	callback->scopes[TORCH_SCOPE_USER] = false;
	torch.handle = torch.library.add_global(*callback);
	/* Whatever window opened or closed meanwhile; none has, maybe. */
	ask_early();
	/* Or the program ends, and takes them with it. */
	if (is_followed &&
	    atomic_compare_exchange_strong(&torch.state, &begun, TORCH_ALIVE)) {
		turn();
		return NULL;
	}
	if (is_followed)
		return ENDED;
	torch.library.remove(torch.user);
	torch.library.remove(torch.handle);
	return "its end can't be followed";
}

static const char *attach(struct session *session)
{
	struct torch_callback callback = {
		.start = begins, .end = ends, .probability = 1};
	const char *why = torch_library_look(torch.path);

	if (!why)
		why = torch_library_open(&torch.library, torch.path);
	if (why)
		return why;
	torch.has_shapes = process.options.shapes &&
			   torch_shapes_are_known(&torch.library);
	if (process.options.shapes && !torch.has_shapes)
		session_note(session, "PyTorch: this version's shapes are "
				      "unknown here");
	callback.needs_inputs = torch.has_shapes;
	atomic_fetch_add(&torch.inside, 1);
	why = add_callbacks(&callback);
	atomic_fetch_sub(&torch.inside, 1);
	futex_wake(&torch.state);
	if (why)
		return why;
	session_note(session, "PyTorch's operators come from %s", torch.path);
	return NULL;
}

static void leave_out(struct session *session, const char *why)
{
	tell_left_out(session, why);
	move(TORCH_FAILED);
}

/* Its observer tells ITT, and oneDNN does in any case. */
static void fall_back(struct session *session, const char *why)
{
	session_note(session,
		     "PyTorch's operators come by their names alone, from its "
		     "own observer, those of the first interpreter's main "
		     "thread: %s",
		     why);
	torch_observer_start();
	move(TORCH_OBSERVED);
	ask_early();
	torch_observer_follow(atomic_load(&torch.is_wanted));
}

/* The interpreter is there, and its objects lie as they should. */
static bool may_ask_python(struct session *session)
{
	const bool is_there = python_api_is_there();
	const char *why = is_there ? python_api_look() : NULL;

	if (why)
		python_api_left_out(session,
				    "data loading and compilations in Python",
				    why);
	return is_there && !why && python_api.is_initialized();
}

static void *run(void *unused)
{
	struct session *session = load_relaxed(&session_here);
	const char *why = "a fork goes on and on";
	bool has_python = false;

	(void)unused;
	thread_busy();
	prctl(PR_SET_NAME, "traceprof-torch", 0, 0, 0);
	if (session && loader_enter()) {
		has_python = may_ask_python(session);
		if (has_python) {
			python_frames_look();
			torch_compile_prepare();
			torch_loader_prepare();
			torch_rank_prepare();
		}
		why = attach(session);
		loader_leave();
	}
	if (why && load_relaxed(&torch.state) == TORCH_GONE)
		tell_left_out(session, why);
	else if (why && has_python && itt_is_ours())
		fall_back(session, why);
	else if (why && session)
		leave_out(session, why);
	else if (why)
		move(TORCH_FAILED);
	return NULL;
}

static bool is_torch(const struct module *module)
{
	const size_t len = sizeof(TORCH_LIBRARY_NAME) - 1;

	return module->path_len >= len &&
	       !memcmp(module->path + module->path_len - len,
		       TORCH_LIBRARY_NAME, len);
}

static void found(const char *path)
{
	torch.path = path;
	store_relaxed(&torch.state, TORCH_BEGUN);
	if (background_start(run, STACK_BYTES))
		move(TORCH_FAILED);
}

/* Why operators were left out is said before the file is whole. */
static void settle(void)
{
	const uint64_t wait_ms = (uint64_t)process.options.exit_ms / END_PART;
	const uint64_t end = clock_monotonic_ns() + UINT64_C(1000000) * wait_ms;

	/* ACQUIRE pairs with RELEASE in move(): it was said. */
	while (load_acquire(&torch.state) == TORCH_BEGUN) {
		const uint64_t now = clock_monotonic_ns();

		if (now >= end) {
			tell_left_out(load_relaxed(&session_here), ENDED);
			return;
		}
		futex_wait(&torch.state, TORCH_BEGUN, end - now);
	}
}

void torch_poll(struct session *session)
{
	const struct module *newest;
	const struct module *module;
	/* ACQUIRE pairs with RELEASE in move(): it was prepared. */
	const uint32_t state = load_acquire(&torch.state);

	if (state == TORCH_ALIVE || state == TORCH_OBSERVED) {
		torch_compile_poll();
		torch_rank_poll();
	}
	if (state == TORCH_OBSERVED)
		torch_observer_poll();
	if (load_relaxed(&torch.state) != TORCH_NONE ||
	    process.options.torch == TORCH_OFF)
		return;
	modules_refresh(session);
	newest = module = modules_each(session, NULL);
	while (module && module != torch.seen && !is_torch(module))
		module = modules_each(session, module);
	if (module && module != torch.seen) {
		found(module->path);
		/* Who ends the recording didn't know of it. */
		if (load_relaxed(&torch.is_ending))
			settle();
	}
	torch.seen = newest;
}

/* The callback is in the child's memory too.  One that was being added is not
 * waited for. */
void torch_forget(void)
{
	uint32_t begun = TORCH_BEGUN;

	torch_compile_forget();
	torch_loader_forget();
	torch_rank_forget();
	torch_phase_forget();
	torch_observer_forget();
	torch.seen = NULL;
	store_relaxed(&torch.is_ending, false);
	store_relaxed(&torch.is_told, false);
	atomic_store(&torch.is_wanted, 0);
	atomic_store(&torch.inside, 0);
	atomic_compare_exchange_strong(&torch.state, &begun, TORCH_FAILED);
}

void torch_finish(struct thread *thread)
{
	torch_phase_finish(thread);
	store_relaxed(&torch.is_ending, true);
	settle();
}
