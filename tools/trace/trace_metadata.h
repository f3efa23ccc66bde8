/* SPDX-License-Identifier: MIT */
/*
 * trace_metadata.h - what the writer says of its own file in the object
 * "traceprof": events, losses, heap and cost.
 *
 * -1 stands for a number that isn't in the file.
 */
#ifndef TOOLS_TRACE_METADATA_H
#define TOOLS_TRACE_METADATA_H

#include "tools/trace/trace_reader.h"

/* The writer names no more threads than these in dropped_by_thread. */
#define TRACE_THREADS_NAMED 256

/* What is counted over the whole recording. */
struct trace_sums {
	int64_t heap_calls, heap_bytes, hooks_ns;
	int64_t processors_ns, others_ns, program_ns;
};

#define TRACE_TASKS_MAX 64u

/* `name`: as the kernel has it, or the program named it. */
struct trace_task {
	int64_t tid, ran_ns, ready_ns, wall_ns;
	char name[32];
};

/* What the kernel told of the threads, where samples were taken or they are why
 * it was recorded: how long they could run but found no processor free, in sum
 * and the one that had it worst; how long they were there; how long the process
 * was. */
struct trace_tasks {
	int64_t ready_ns, ready_most_ns, there_ns, process_ns;
	int64_t process_ran_ns;
	int64_t faults; /* pages that the process had to be given */
	struct trace_task thread[TRACE_TASKS_MAX]; /* of so many each alone */
	unsigned int threads, there;		   /* all */
	struct trace_task now;			   /* what is read */
	bool is_thread;
};

struct trace_metadata {
	int64_t seen, written, cut, dropped;
	int64_t in_file; /* of those written, in this one */
	int64_t aged;	 /* of those that were cut */
	int64_t thinned; /* calls that are in totals alone, 0 none */
	int64_t dropped_by_kind, dropped_by_thread, written_by_kind; /* sums */
	int64_t threads; /* that dropped_by_thread names */
	int64_t outside, past_max, unwritable;	 /* cut is their sum */
	int64_t unrecorded_calls;		 /* that left no event */
	int64_t unfollowed_calls, held_up_calls; /* of these */
	int64_t names_refused, unnamed;		 /* events without their name */
	int64_t waits_begun, waits_ended, waits_lost;
	int64_t launched_kernels, missing_kernels; /* calls; without kernel */
	int64_t partial_graphs;	 /* of these: with some kernels */
	int64_t unsized_graphs;	 /* launches of them: any number of kernels */
	int64_t cut_annotations; /* ranges without all of the GPU's part */
	int64_t calls_without_operation;
	int64_t crossing_slices;	 /* past the lanes for what overlaps */
	int64_t waits_without_recording; /* of an event */
	int64_t unknown_records;	 /* of kinds that aren't decoded */
	int64_t unpaired_calls;		 /* that may be drawn twice */
	int64_t unknown_captures;	 /* launches that may be a node's */
	int64_t taken_ns;		 /* that CUPTI was another profiler's */
	int64_t silent;	      /* 1: CUPTI gave no sign in all of it */
	int64_t unsettled_ns; /* at the end, that CUPTI may have kept back */
	int64_t missed_calls; /* in signal handlers */
	int64_t heap_calls, heap_frees, heap_bytes, heap_asked_bytes;
	int64_t heap_live_bytes, heap_peak_bytes;
	bool heap_peak_is_least; /* between events it was looked at alone */
	bool has_no_heap;	 /* it was not recorded: all below are -1 */
	/* What `traceprof memory` needs: sites and samples have stacks. */
	bool has_sites, has_each_block, has_heap_stacks;
	int64_t heap_calls_before, heap_frees_before, heap_bytes_before;
	int64_t heap_asked_before;
	int64_t stacks_refused, stacks_untaken; /* events without a stack */
	int64_t hooks_ns, writer_ns;
	int64_t detail_ended_ns; /* events end here, sums go on */
	int64_t python_ended_ns; /* calls of Python do: they cost too much */
	int64_t small_blocks_ended_ns;
	int64_t schedule;	  /* sum of its options: 0 none was set */
	int64_t overhead_percent; /* that recording may cost, 0 no bound */
	int64_t sample;		  /* samples a second that were asked for */
	int64_t kernel_hz;	  /* of them it can send so many */
	int64_t cut_stacks, timed_samples; /* deep ones; one in 16 */
	int64_t steps_seen, first_step, missed_windows;
	int64_t cpus;			   /* that the process may run on */
	int64_t bound_cpus, bound_threads; /* that so many of it may, */
	int64_t ran_ns, unscheduled_ns;	   /* of the program's first thread */
	int64_t lived_ns;		   /* until these were counted */
	int64_t threads_ran_ns, threads_unscheduled_ns; /* of recorded ones */
	int64_t processors_ns, others_ns; /* of all; what others had */
	int64_t program_ns;		  /* what the program had */
	int64_t cpu_limit_percent;	  /* by a cgroup, -1 none */
	struct trace_tasks tasks;
	struct trace_sums window; /* of this file's window alone */
	int64_t part;		  /* of a run's files, from the 2nd on */
	int64_t gpu_missing;	  /* records of a GPU that came to nothing */
	int64_t without_time, dropped_records, lost_buffers; /* its parts */
	int64_t unfinished;  /* without time: work that wasn't done in time */
	int64_t died_in;     /* the step in which the process died, -1 none */
	bool is_cupti;	     /* a GPU's work is recorded */
	bool has_no_kernels; /* CUPTI refuses their records, or makes none */
	bool is_taken;	     /* another profiler had CUPTI */
	bool has_children;   /* forked ones are recorded, too */
	bool is_unfinished, is_recovered;
	bool is_by_hand; /* a window with a name, or of a trigger */
};

void trace_metadata_begin(struct trace_metadata *metadata);

/* Takes an entry of the file if it is one of these. */
void trace_metadata_entry(struct trace_metadata *metadata,
			  const struct trace_entry *entry);

/* What is counted of its window alone is a part of the run's. */
bool trace_metadata_is_part(const struct trace_metadata *metadata);

/* The sums of what is in the file: the window's, or the recording's where it is
 * whole; -1 where that isn't known. */
struct trace_sums trace_metadata_own(const struct trace_metadata *metadata);

/* `traceprof memory` names who allocated the blocks of this file. */
bool trace_metadata_names_blocks(const struct trace_metadata *metadata);

/* As much of what is counted over time as such a part of it has, if all of it
 * is alike. */
void trace_metadata_scale(struct trace_metadata *metadata, double part);

/* Windows, not the whole run. */
bool trace_metadata_is_windowed(const struct trace_metadata *metadata);

/* Not all that was allocated and freed made an event, so the heap may have held
 * more at times than its peak says. */
bool trace_metadata_peak_is_least(const struct trace_metadata *metadata);

/* Of the time that the first thread wanted to run, how much it found no
 * processor free; 0 where that isn't known. */
double trace_metadata_unscheduled(const struct trace_metadata *metadata);

/* The same of the recorded threads all together, if that is more. */
double trace_metadata_unscheduled_most(const struct trace_metadata *metadata);

/* For how much of the time, of 1, threads found no processor free, on average
 * or that one which had it worst, if that is more; 0 not known. */
double trace_metadata_unscheduled_tasks(const struct trace_metadata *metadata);

/* How much more of the time, of 1, one of the threads that work most found no
 * processor free than another; 0 not known. */
double trace_metadata_unevenly_scheduled(const struct trace_metadata *metadata);

/* How much of the machine's processors other programs had; 0 not known. */
double trace_metadata_others(const struct trace_metadata *metadata);

/* How many of the machine's processors had nothing to do, of 1; 0 not known. */
double trace_metadata_idle(const struct trace_sums *own);

/* On how many processors the program could run at a time, by its mask and its
 * cgroup's limit; 0 not known. */
int64_t trace_metadata_processors(const struct trace_metadata *metadata);

#endif
