/* SPDX-License-Identifier: MIT */
/*
 * cupti_source.h - the GPU as a source of events, through CUPTI.
 *
 * libcuda loads us by CUDA_INJECTION64_PATH when the program initialises CUDA
 * and calls InitializeInjection().  From then on
 *
 *	CUPTI		fills buffers and hands them over (cupti_buffers.c)
 *	a helper	asks it to hand over what is done, each second and when
 *			a window has ended, and turns its kinds on and off
 *			(cupti_flush.c): those calls may hang, and then only the
 *			helper does
 *	the writer	decodes buffers into a ring of its own, each pass
 *			(cupti_source.c), where they survive a kill
 *
 * A program that never initialises CUDA pays for one variable in its
 * environment.  CUPTI is never finalised, and nothing of it is called once the
 * program has begun to exit, or in a forked child.
 */
#ifndef PRELOAD_CUPTI_SOURCE_H
#define PRELOAD_CUPTI_SOURCE_H

#include "collector/session/session.h"
#include "preload/process/hook_hide.h"

#ifdef HAVE_CUPTI

/* From our constructor: lets libcuda find us. */
void cupti_prepare(void);

/* Attaches if nobody has, `late` when CUDA is in use already.  True: CUPTI
 * records.  Keeps errno. */
bool cupti_attach(bool late);
bool cupti_is_attached(void);

/* Where its hooks lie; see cuda_calls_ranges(). */
void cupti_hooks_range(struct hook_range *range);

/* The program ends: gets from CUPTI what it has, waiting at most so long. */
void cupti_end(unsigned int wait_ms);

/* In a forked child: forgets everything, touches nothing of CUPTI's. */
void cupti_forget(void);

/* --- between the files of cupti_*.c ----------------------------------- */

/* Attached, not exiting, no fatal error. */
bool cupti_is_alive(void);

/* CUPTI may be told what to do: it is alive, and no other client has it; see
 * cupti_neighbour.h. */
bool cupti_is_ours(void);

/* When we attach: somebody has it already, and takes no part in our start. */
bool cupti_neighbour_is_first(void);

/* Our thread of CUPTI, each round. */
void cupti_neighbour_look(void);

/* The writer's thread: gives CUPTI up where that hangs. */
void cupti_neighbour_watch(void);

/* A forced flush has not brought back so many buffers, lent since then; 0:
 * none was out, and CUPTI has asked for none since then. */
void cupti_neighbour_took(unsigned int buffers, uint64_t since);

void cupti_neighbour_forget(void);

/* For another client: CUPTI's attributes as they were.  After it: clock,
 * buffers and what is always on. */
void cupti_attach_leave(void);
bool cupti_attach_again(void);
/* Each thread has buffers of its own. */
bool cupti_attach_has_thread_buffers(void);
void cupti_kill(void);

/* Who turns the kinds: CUPTI refuses records of kernels, of calls, with these
 * errors; 0: it doesn't.  Where it refuses both the calls are recorded as
 * without it. */
void cupti_attach_refused(int kernels, int calls);

/* The same, or we attach just now. */
bool cupti_may_be_turned(void);

/* Writer's thread, each pass. */
void cupti_source_poll(void *arg);

/* The helper: a window needs work that was launched before `ticks`. */
bool cupti_source_awaits(uint64_t ticks);
void cupti_source_forget(void);

/* A call of the CUDA runtime makes calls of the driver, which have the same
 * correlation id, end before it and are recorded before it.  Shown is the
 * outermost: a driver call waits for the next record of its thread, which tells
 * whether it was made by the program. */
#define CUPTI_PAIRS_OUT 2u /* events that one may set free */

/* An API event.  What may be shown now goes to `out`; returns how many. */
unsigned int cupti_pairs_add(const struct event *event,
			     struct event out[CUPTI_PAIRS_OUT],
			     uint64_t *doubled);

/* Next driver call that has waited since before `ticks`; false: none. */
bool cupti_pairs_overdue(uint64_t ticks, struct event *out);

/* When the oldest one began that still waits; UINT64_MAX: none does. */
uint64_t cupti_pairs_oldest(void);

void cupti_pairs_forget(void);

/* Launches without their work so far; the writer's thread alone.  False: other
 * threads made that launch while the program's end was held up, and neither its
 * call nor its work is recorded. */
#define CUPTI_PATIENCE_SECONDS 2u
bool cupti_launches_call(struct session *session, const struct event *call);
bool cupti_launches_work(struct session *session, const struct event *event,
			 bool is_timeless);

/* When the oldest was made whose work is still to come, as of a flush. */
uint64_t cupti_launches_oldest(const struct session *session, uint64_t flushed);

/* Kernels whose end is worth waiting for when the program ends, at `end`. */
bool cupti_launches_are_under_way(const struct session *session, uint64_t end);

/* Says if there are launches of kernels and no record of one. */
void cupti_launches_look(struct session *session, bool is_over);
uint64_t cupti_launches_count(void);
void cupti_launches_forget(void);

/* Memory of graphs (cupti_graph_memory.c), on the writer's thread: one of a
 * launch's pieces of work has arrived; `is_last`: all have. */
void cupti_graph_memory_work(const struct event *work, bool is_last);

/* A record of CUPTI's own; false: it is of a call that only made a node. */
bool cupti_graph_memory_counts(const struct event *event);

/* The next event that follows from these; false: none. */
bool cupti_graph_memory_next(struct event *event);

void cupti_graph_memory_forget(void);

/* What CUPTI tells at once:
 *
 *	the end of cuInit(), a first context	our exit handler goes before
 *						libcuda's own
 *	a fatal error				CUPTI is gone
 *	new nodes of graphs			what made one ran nothing
 *	launches and calls			only where they begin a step, or
 *						may be one that was found
 *
 * 0 or CUPTI's error; `holder` gets the name of the tool that has it. */
int cupti_callbacks_subscribe(char *holder, size_t bytes);
void cupti_callbacks_start(void);

/* The subscription is left to another, and asked for again unless `kept`;
 * false: it is not ours. */
void cupti_callbacks_unsubscribe(void);
bool cupti_callbacks_return(bool kept);

/* Once a search (collector/control/search.h) has found a call, those that put
 * work on a GPU are called back for: the writer sees it in each pass, the
 * helper does it. */
void cupti_callbacks_follow(const struct session *session);
void cupti_callbacks_turn(void);
/* An event has got a name. */
void cupti_callbacks_events(void);
void cupti_callbacks_forget(void);

/* Call stacks of the program's calls (cupti_stacks.c): taken when one begins,
 * found again by its record's number.  Which calls, by CUPTI's name of them. */
bool cupti_stacks_want(const char *name);
void cupti_stacks_start(void);
void cupti_stacks_take(const void *data);
uint32_t cupti_stacks_of(uint64_t correlation);
void cupti_stacks_forget(void);

/* The calls that get one are called back for; with the kinds. */
void cupti_callbacks_stacks(bool on);

/* Waits until launches are called back for, for their names.  False: in vain.
 */
bool cupti_callbacks_await_names(void);

/* Of graphs, while they are made (cupti_graphs.c). */
void cupti_graphs_called(uint32_t number, const void *data);

/* Of graphs that launch nothing: their launches are called back for. */
void cupti_graphs_turn(void *subscriber);

/* Writer: it was a launch of such a graph. */
bool cupti_graphs_ran_nothing(uint64_t correlation);
void cupti_graphs_forget(void);

/* Nodes of graphs (cupti_nodes.c).  A node was made, perhaps by a launch of
 * this thread. */
void cupti_nodes_start(void);
void cupti_nodes_note(void);

/* Writer: the call launched nothing, it made a node of a graph; and all calls
 * from before `ticks` have been looked at. */
bool cupti_nodes_captured(uint32_t tid, uint64_t start, uint64_t end);
void cupti_nodes_settled(uint64_t ticks);
void cupti_nodes_forget(void);

/* A step is being marked inside a call of CUDA's: CUPTI's settings must not be
 * touched. */
bool cupti_callbacks_are_inside(void);

/* Memory that the program pins itself: a call of it, if it is one.  Steps that
 * are calls of CUDA's still are. */
void cupti_pinned_start(void *subscriber);

/* The helper. */
int cupti_flush_start(void);
void cupti_flush_ask(void);
void cupti_flush_wake(void);

/* Inside of a callback, where nothing is turned on: wakes the helper and waits
 * until it has changed the word from `value`.  It may be held up in CUPTI, so
 * half a second is enough once it is up; before that it only has to get a
 * processor.  False: in vain. */
bool cupti_flush_await(_Atomic uint32_t *word, uint32_t value);

/* Unfinished records too, which are lost with that. */
void cupti_flush_force(void);
void cupti_flush_end(unsigned int wait_ms);
/* Our handler goes before libcuda's own, whichever of these moments it is
 * registered at; once for each. */
enum cupti_moment { CUPTI_ATTACHED, CUPTI_INITIALISED, CUPTI_FIRST_CONTEXT };
void cupti_flush_at_exit(enum cupti_moment moment);
void cupti_flush_forget(void);

/* The writer: a call of the helper's own has come. */
void cupti_flush_answered(void);

/* The program ends. */
bool cupti_flush_is_ending(void);
uint64_t cupti_flush_end_ticks(void);

/* Its thread, whose own calls of CUDA aren't the program's; 0 none. */
uint32_t cupti_flush_tid(void);

/* When CUPTI was last asked and gave what it had; `forced`: gave all. */
uint64_t cupti_flush_ticks(bool forced);

/* Activity kinds are on or off as was wished last; any thread, but not inside a
 * callback.  The helper does it, and at attaching who attaches. */
#define CUPTI_TURN_MS 5000u

void cupti_kinds_start(const struct options *options, bool late);
void cupti_kinds_want(bool on);
void cupti_kinds_turn(void);
bool cupti_kinds_are_on(void);

/* CUPTI refuses records of kernels; any thread. */
bool cupti_kinds_lack_kernels(void);

/* When they came on last, in ticks; 0: never.  Any thread. */
uint64_t cupti_kinds_since(void);

/* Until they are on; false: not within CUPTI_TURN_MS, or the last time. */
bool cupti_kinds_await(void);

/* Off, all of them, until cupti_attach_again() and the next wish: kernels last,
 * since that takes time. */
void cupti_kinds_leave(void (*before_kernels)(void));

/* The writer: on before they are needed, off if nothing needs them. */
void cupti_kinds_follow(const struct session *session);
void cupti_kinds_rest(const struct session *session);
void cupti_kinds_forget(void);

#else

static inline void cupti_prepare(void)
{
}

static inline bool cupti_attach(bool late)
{
	(void)late;
	return false;
}

static inline void cupti_hooks_range(struct hook_range *range)
{
	range->low = range->high = (const char *)0;
}

static inline bool cupti_is_attached(void)
{
	return false;
}

static inline void cupti_end(unsigned int wait_ms)
{
	(void)wait_ms;
}

static inline void cupti_forget(void)
{
}

#endif
#endif
