/* SPDX-License-Identifier: MIT */
/*
 * rules.h - the thresholds of all rules, and what rules share.
 *
 * docs/verdict.md says on which programs they were tried.
 */
#ifndef TOOLS_RULES_H
#define TOOLS_RULES_H

#include <stdbool.h>

#include "tools/verdict/verdict.h"

/* Of a shorter recording without steps nothing can be said. */
#define WHOLE_LEAST_NS	   1000000

/* Where more of it is outside of what is recorded, samples are asked for; of a
 * shorter recording nobody wants them. */
#define UNSEEN_MIN	   0.50
#define UNSEEN_LEAST_NS	   1000000000

/* Where the typical steps are less of a recording of that length, that is
 * said. */
#define COVERED_MIN	   0.50
#define COVERED_LEAST_NS   100000000

/* Of the judged time: what is less is not worth a sentence. */
#define SHARE_MIN	   0.05
#define SHARE_HIGH_MIN	   0.10 /* where a part of it can't be avoided */
#define FULL_PRECISION_MIN 0.20

#define SYNCS_MIN	   1.5 /* a step; one may be needed */
#define COPIES_MIN	   10  /* small ones, a step */
#define SMALL_COPY_BYTES   65536
#define SHORT_KERNEL_NS	   10000 /* a launch takes about as long */
#define LAUNCH_GAPS_MIN	   0.80	 /* of the gaps are as short as a launch */
#define KERNELS_MIN	   20	 /* a step */
#define STREAM_MIN	   0.05	 /* of the time, for a stream to count */
#define OVERLAP_MIN	   0.10	 /* of the smaller stream */

#define IMBALANCE_MIN	   1.10	 /* longest member over mean */
#define STEADY_MIN	   0.5	 /* of it: always the same thread's */
#define SERIAL_MIN	   0.5	 /* of regions, in critical sections */
#define SERIAL_CALLS_MIN   10	 /* of a region in which one works at a time */
#define SERIAL_WORK_MIN	   0.75	 /* of what its one worker would be, alone */
#define SHORT_REGION_NS	   50000 /* some ten times what a fork costs */
#define SHORT_REGIONS_MIN  100
#define FORK_SHARE_MIN	   0.30 /* of a region, not spent in work */
#define FEW_THREADS_MIN	   4	/* processors for each thread of a team */
#define FEW_THREADS_LOOSE  0.5	/* processors */
#define TEAM_RUNS_MIN	   0.5	/* of the processors, by a team of too many */
#define IDLE_WORK_MAX	   0.02 /* of the busiest thread's */
#define IDLE_PARTS_MIN	   10

#define MALLOC_NS	   25	/* a call of malloc and its free */
#define FAULT_NS_PER_BYTE  0.25 /* to have a page and give it back */
#define TEMPORARIES_MIN	   5
#define FAULTS_MIN	   10000 /* pages */
#define PAGE_BYTES	   4096
#define GROWTH_STEPS_MIN   10
#define GROWTH_MIN	   0.05 /* of the heap, over all steps */
#define GROWTH_BYTES_MIN   (1 << 20)

#define MOST_WAITS_MIN	   0.3 /* of all of a kind, to say their place */
#define WAITS_BYTES	   200
#define FREE_MIN	   0.05 /* of the processors: some were free */
#define SAMPLES_MIN	   50	/* of a thread, to say that none worked */
#define OPERATORS_MIN	   100	/* of one name, a step */
#define SHORT_OPERATOR_NS  50000
#define TURNS_MIN	   10	/* of several operators, in one row of a step */
#define TURN_MAX	   16	/* operators, */
#define TURN_NAMED	   4	/* ... so many of which are named */
#define TURNS_STRAIGHT_MIN 0.8	/* of those whose line is known, */
#define TURNS_TOLD_MIN	   10	/* ... and so many are */
#define TELLING_MIN	   3	/* calls with a line, to speak for others */
#define MOST_CALLS_MIN	   0.6	/* of them, to say a line, or two */
#define OPERATORS_AN_ITEM  4	/* that the program calls, to read a value */
#define FUNCTION_MIN	   0.20 /* of the step, in one function of Python */
#define COMPILED_SPREAD	   0.25 /* of a run without steps, first to last */
#define COMPILED_MIN	   5	/* times, one function at one line */
#define COMPILING_MIN	   0.20 /* of a run without steps, all others */

#define HUNG_MIN	   10.0	     /* medians, of a step in which it died, */
#define HUNG_NS		   100000000 /* ... and so long */
#define SLOW_STEP_MIN	   2.0	     /* medians */
#define OUTLIERS_OF	   4	     /* at most one step in so many */
#define GAPS_MANY	   10	     /* a step, */
#define GAP_LONG_NS	   500e3     /* ... on average */
#define NTH_STEP_MIN	   1.3
#define NTH_EXCESS_MIN	   0.6	 /* of what slow steps take more */
#define NTH_STEPS_MAX	   20000 /* so that looking for it is quick */
#define NTH_TIMES_MIN	   3
#define NTH_ALONE	   4 /* times what the others take more each */
/* Steps in the last part of a file, to judge it by them. */
#define HOST_SHARE_MIN	   0.05 /* of what CUPTI tells, to look for it there */
#define LAST_STEPS_MIN	   8u
#define STEPS_MIN	   5

/* What the program's own threads took from its first one: of all that it
 * lacked, and where they had so much of the processors. */
#define CROWDED_OF	   0.5
#define CROWDED_MIN	   0.75
#define COUNTED_MIN	   0.5 /* of the time that calls are counted in */
#define OWN_COST_MIN	   0.01
#define LOST_MIN	   0.001
#define LOST_WAITS_MIN	   0.01 /* of those at regions' ends */
#define UNSETTLED_MIN	   0.5	/* of the time, kept back by CUPTI */
/* What the kernel counted of a thread is the run's, where it is so many times
 * as long as the file. */
#define OF_THE_RUN	   2

/* The whole table; ends with a name that is NULL. */
extern const struct rule verdict_rules[];

bool rule_blocking_copies(const struct verdict_facts *, struct finding *);
bool rule_small_copies(const struct verdict_facts *, struct finding *);
bool rule_needless_sync(const struct verdict_facts *, struct finding *);
bool rule_small_kernels(const struct verdict_facts *, struct finding *);
bool rule_low_occupancy(const struct verdict_facts *, struct finding *);
bool rule_memory_bound(const struct verdict_facts *, struct finding *);
bool rule_layout(const struct verdict_facts *, struct finding *);
bool rule_compute_bound(const struct verdict_facts *, struct finding *);
bool rule_serial_streams(const struct verdict_facts *, struct finding *);
bool rule_throttled(const struct verdict_facts *, struct finding *);
bool rule_idle_host(const struct verdict_facts *, struct finding *);
bool rule_idle_openmp(const struct verdict_facts *, struct finding *);
bool rule_idle_alloc(const struct verdict_facts *, struct finding *);
bool rule_gpu_start(const struct verdict_facts *, struct finding *);
bool rule_data_starved(const struct verdict_facts *, struct finding *);
bool rule_exposed_comm(const struct verdict_facts *, struct finding *);
bool rule_gil(const struct verdict_facts *, struct finding *);
bool rule_off_cpu(const struct verdict_facts *, struct finding *);
bool rule_short_operators(const struct verdict_facts *, struct finding *);
bool rule_copied_layout(const struct verdict_facts *, struct finding *);
bool rule_python(const struct verdict_facts *, struct finding *);
bool rule_compiled_again(const struct verdict_facts *, struct finding *);
bool rule_compiling(const struct verdict_facts *, struct finding *);
bool rule_imbalance(const struct verdict_facts *, struct finding *);
bool rule_barrier(const struct verdict_facts *, struct finding *);
bool rule_critical(const struct verdict_facts *, struct finding *);
bool rule_short_regions(const struct verdict_facts *, struct finding *);
bool rule_oversubscribed(const struct verdict_facts *, struct finding *);
bool rule_idle_threads(const struct verdict_facts *, struct finding *);
bool rule_few_threads(const struct verdict_facts *, struct finding *);
bool rule_churn(const struct verdict_facts *, struct finding *);
bool rule_large_blocks(const struct verdict_facts *, struct finding *);
bool rule_page_faults(const struct verdict_facts *, struct finding *);
bool rule_growth(const struct verdict_facts *, struct finding *);
bool rule_died(const struct verdict_facts *, struct finding *);
bool rule_first_step(const struct verdict_facts *, struct finding *);
bool rule_nth_step(const struct verdict_facts *, struct finding *);
bool rule_outliers(const struct verdict_facts *, struct finding *);
bool rule_no_processor(const struct verdict_facts *, struct finding *);
bool rule_crowded(const struct verdict_facts *, struct finding *);
bool rule_own_cost(const struct verdict_facts *, struct finding *);
bool rule_losses(const struct verdict_facts *, struct finding *);
bool rule_waits(const struct verdict_facts *, struct finding *);

/* All calls of a name whose slices are such parts, drawn or not, and their
 * time. */
struct trace_sampled_row all_calls(const struct verdict_facts *facts,
				   const char *part,
				   const struct timeline_name *row);

/* Is it such a share of the judged time? */
bool is_worth(const struct verdict_facts *facts, double saved_ns, double share);

/* The same of all steps, typical or not. */
bool is_worth_of_all(const struct verdict_facts *facts, double saved_ns);

/* Does it lie in one of the typical steps? */
bool is_judged(const struct verdict_facts *facts, int64_t ns);

/* Does it lie in a step, typical or not? */
bool is_in_step(const struct verdict_facts *facts, int64_t ns);

/* Are most times in which a GPU waits for the host as short as a launch? */
bool is_launch_bound(const struct verdict_facts *facts);

/* Members of OpenMP's teams that have next to no work; the first one's lane. */
int64_t idle_threads_of(const struct verdict_facts *facts, int64_t *threads,
			uint32_t *first);

/* A function of Python with a file, neither PyTorch's nor part of an import. */
bool is_own_function(const struct timeline *timeline, uint32_t name);

/* The program's function of Python that takes most while data are loaded;
 * TIMELINE_NONE not known. */
uint32_t function_of_data(const struct verdict_facts *facts);

/* The call that a wait is drawn for: of "wait: read" the latter. */
const char *wait_call(const char *name);

/* ", most of it read in train.py(20): step": where the critical thread waits so,
 * in the steps that are judged; "" not known. */
void say_waits(const struct verdict_facts *facts, enum host_kind kind,
	       char *text, size_t bytes);

/* The call and place in which the critical thread waits longest, all together;
 * TIMELINE_NONE there is none. */
uint32_t longest_wait(const struct verdict_facts *facts, double *most_ns);

/* How long functions are compiled in all steps, by what frameworks tell. */
double compiling_ns(const struct verdict_facts *facts);

/* Of each step what compiled-again names, 0 where that finds nothing; to be
 * freed. */
int64_t *compiled_again_by_step(const struct verdict_facts *facts);

/* What frameworks compile on the critical thread in a step. */
struct compiled_in {
	int64_t ns; /* in all; one may be part of another */
	int64_t longest_ns;
	uint32_t longest; /* its name, TIMELINE_NONE: nothing is */
	size_t count;
};

struct compiled_in compiled_in(const struct verdict_facts *facts,
			       const struct split_step *step);

/* Calls that wait for a GPU, results that are read included, a step. */
double syncs_of(const struct verdict_facts *facts);

/* The part of its time in which the first thread found no processor. */
double unscheduled(const struct verdict_facts *facts);

/* ... for other programs, not for threads of its own. */
double unscheduled_by_others(const struct verdict_facts *facts);
bool unscheduled_is_of_the_run(const struct verdict_facts *facts);

/* The same for the threads that it waits for, if it does for most of the time;
 * 0 where samples didn't tell. */
double unscheduled_workers(const struct verdict_facts *facts);

/* How many of those there are; 1 for a run without. */
double steps_of(const struct verdict_facts *facts);

/* Sets one of the texts; "" where memory is short. */
void say(char **text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Fills in where: a moment, a lane (TIMELINE_NONE the critical thread's), and
 * what; name may be TIMELINE_NONE. */
void say_place(const struct verdict_facts *facts, struct finding *finding,
	       int64_t ns, uint32_t lane, uint32_t name);

/* ", main thread 4242": of a lane, or TIMELINE_NONE as above; "" not known. */
void say_lane(const struct verdict_facts *facts, char *text, size_t bytes,
	      uint32_t lane);

/* A name fit for a line. */
struct short_name {
	char text[64];
};
struct short_name short_name(const char *name);

#endif
