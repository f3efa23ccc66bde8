/* SPDX-License-Identifier: MIT */
/*
 * sim_knobs.h - what of the simulated GPU the environment can change.
 *
 * README.md says what each knob is for; they are read once, at the first call.
 */
#ifndef FAKE_GPU_SIM_KNOBS_H
#define FAKE_GPU_SIM_KNOBS_H

#include <stdint.h>

/* As cuptiGetVersion() counts. */
enum {
	VERSION_12_3 = 21,
	VERSION_12_6 = 24,
	VERSION_12_6_2 = 25,
	VERSION_LONG = 130000,
	VERSION_NEWEST = 130001,
	VERSION_13_1 = 130100,
	VERSION_13_1_1 = 130101,
	VERSION_13_3 = 130300,
	VERSION_13_4_1 = 130401,
};

/* As the version has it. */
enum { BY_VERSION = -1, FIRST_HANGS = 2 };

/* Who calls the client's completed-callback. */
enum complete_on { COMPLETE_ON_WORKER, COMPLETE_ON_FLUSHER, COMPLETE_ON_APP };

enum hang_flush { HANG_NEVER, HANG_ALWAYS, HANG_FORCED };

/* Another client of CUPTI in the process. */
enum second_client { SECOND_NONE, SECOND_SUBSCRIBES, SECOND_TAKES_OVER };

enum { PER_THREAD_BY_CLIENT = -1 };

struct sim_knobs {
	uint32_t version; /* as cuptiGetVersion() says it */
	int per_thread;	  /* 0, 1 or PER_THREAD_BY_CLIENT */
	int out_of_order; /* OOO */
	int name_reuse;	  /* NAME_REUSE, or BY_VERSION */
	int old_names;	  /* OLD_NAMES */
	int subscriber_taken;
	int forced_incomplete;
	int dup_driver;
	int wrap_correlation;
	int overlap;
	int null_ok;
	int no_kernels;
	int init_silent;
	int old_driver;
	int hang_enable;
	int hang_disable; /* HANG_DISABLE, or BY_VERSION */
	int ids_anew;	  /* IDS_ANEW, or BY_VERSION */
	int graph_ids;	  /* wrong from the second enabling on, or BY_VERSION */
	int body;	  /* nodes of a graph that the GPU decides about */
	int thread_race;  /* of a flush with other threads, or BY_VERSION */
	int carry_over;	  /* ends of work when kernels are disabled */
	int64_t disable_ns; /* for which disabling kernels takes */
	int64_t call_ns;    /* that each call of CUPTI's takes */
	int64_t init_ns;    /* that cuInit() takes after the injection */
	int64_t zero_times; /* each n-th record of the GPU, or BY_VERSION */
	int64_t drift_ppm;  /* by so much the GPU's clock is too fast */
	int64_t jitter_ns;  /* of a look at both clocks */
	int64_t wobble_ns;  /* of the system's time */
	int64_t set_ns;	    /* by which that is set, and back */
	int devices;
	int hidden_devices;    /* by CUDA_VISIBLE_DEVICES */
	int no_device_records; /* DEVICE_RECORDS: 1 none, 2 late */
	int captured_memory;   /* records of calls that make a node */
	int withhold;	   /* buffers with unfinished records stay with CUPTI */
	int driver_absent; /* DRIVER=absent */
	uint64_t nvml_reasons; /* NVML: why the clock is low */
	int nvml_hang;	       /* 1: each look at the load; 2: the start */
	int mig;	       /* the device is a part of a GPU */
	enum hang_flush hang_flush;
	enum complete_on complete_on;
	enum second_client second_client;
	uint64_t second_from;  /* the API call at which it comes */
	uint64_t second_calls; /* for so many it stays */
	int64_t skew_ns;       /* GPU times are wrong by so much */
	int64_t latency_ns;    /* from the launch to the earliest start */
	int64_t kernel_ns;     /* of the smallest kernel */
	uint64_t drop;	       /* each n-th record of the GPU is lost */
	uint64_t fatal_after;  /* API calls until CUPTI gives up */
	uint64_t still_at;     /* the driver's call behind which a thread does
				* nothing for a while */
	const char *replay;    /* a capture, or NULL */
};

const struct sim_knobs *sim_knobs(void);

/* The code that FAIL= wants this call of the function to fail with, or 0. */
int knobs_failure(const char *function);

/* A client broke a rule that CUPTI punishes with a crash or worse: say which
 * and abort. */
_Noreturn void sim_fault(const char *what, ...)
	__attribute__((format(printf, 1, 2)));

#endif
