/* SPDX-License-Identifier: MIT */
/*
 * cupti_attach.c - becomes the process's CUPTI client, once.
 *
 * The order of calls is CUPTI's: subscribe, settings, clock, buffers, kinds.
 * When the subscription is refused another tool has it, and then no further
 * CUPTI function may be called at all.
 */
#include "preload/cuda/cupti_source.h"

EXPORT int InitializeInjection(void);

#ifdef HAVE_CUPTI

#include "collector/system/clock.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "collector/steps/steps.h"
#include "preload/cuda/caching_allocator.h"
#include "preload/cuda/cuda_calls.h"
#include "preload/cuda/cupti_buffers.h"
#include "preload/cuda/cupti_clock.h"
#include "preload/cuda/cupti_neighbour.h"
#include "preload/cuda/cupti_pinned.h"
#include "preload/cuda/cupti_record.h"
#include "preload/cuda/cupti_share.h"
#include "preload/cuda/cupti_side.h"
#include "preload/cuda/nvml.h"
#include "collector/system/cupti_versions.h"
#include "preload/annotate/injection.h"
#include "preload/annotate/nvtx_injection.h"
#include "preload/process/life.h"
#include "preload/process/process.h"
#include "preload/process/quiet.h"
#include "preload/stack/call_places.h"
#include "writer/writer.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INJECTION	"CUDA_INJECTION64_PATH"
#define PER_THREAD_FROM 21u /* cuptiGetVersion() of 12.3 */
#define NAME_BYTES	CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN

enum attach_state {
	ATTACH_NONE,
	ATTACH_BEGUN,
	ATTACH_ALIVE,
	ATTACH_FAILED,
	ATTACH_DEAD
};

static _Atomic uint32_t state; /* enum attach_state */

bool cupti_is_alive(void)
{
	/* ACQUIRE pairs with RELEASE in cupti_attach(): what it set up. */
	return load_acquire(&state) == ATTACH_ALIVE;
}

bool cupti_may_be_turned(void)
{
	return load_relaxed(&state) == ATTACH_BEGUN || cupti_is_ours();
}

void cupti_kill(void)
{
	uint32_t was = ATTACH_ALIVE;

	/* RELEASE pairs with ACQUIRE in cupti_is_alive(): whether records are
	 * missing. */
	atomic_compare_exchange_strong_explicit(&state, &was, ATTACH_DEAD,
						memory_order_release,
						memory_order_relaxed);
}

bool cupti_is_attached(void)
{
	const uint32_t now = load_relaxed(&state);

	return now == ATTACH_ALIVE || now == ATTACH_DEAD;
}

void cupti_prepare(void)
{
	/* Another tool's is left alone. */
	if (process.options.cuda != CUDA_OFF)
		injection_announce(INJECTION);
}

/* What may be done about it; NULL where nobody knows. */
static const char *remedy(CUptiResult rc)
{
	switch (rc) {
	case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
	case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
		return "the administrator may allow it "
		       "(NVreg_RestrictProfilingToAdminUsers=0)";
	default: return NULL;
	}
}

/* Why CUPTI can't be had, where the user should know. */
static void explain(struct session *session, CUptiResult rc, const char *doing,
		    const char *holder)
{
	const char *text = NULL;

	cupti.cuptiGetResultString(rc, &text);
	session_note(session, "GPU not recorded: %s: CUPTI error %d (%s)",
		     doing, (int)rc, text ? text : "unknown");
	switch (rc) {
	case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
		log_trouble("another profiler%s%s has CUPTI: of the GPU only "
			    "the calls to it are recorded",
			    holder[0] ? ", " : "", holder);
		break;
	case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
	case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
		log_trouble("no right to trace the GPU: %s", remedy(rc));
		break;
	case CUPTI_ERROR_NOT_INITIALIZED:
		log_trouble("CUPTI %u is newer than the GPU's driver: of the "
			    "GPU only the calls to it are recorded",
			    session->head->gpu.cupti_version);
		break;
	default: break; /* the usual answer where there is no GPU */
	}
}

void cupti_attach_refused(int kernels, int calls)
{
	const CUptiResult rc = (CUptiResult)(kernels ? kernels : calls);
	const char *text = NULL, *what = remedy(rc);
	struct session *session = load_relaxed(&session_here);
	char line[SESSION_NOTE_BYTES];
	size_t used;

	cupti.cuptiGetResultString(rc, &text);
	used = log_format(line, sizeof(line),
			  "CUPTI refuses records of %s (error %d, %s): ",
			  kernels && calls ? "the GPU"
			  : kernels	   ? "kernels"
					   : "calls",
			  (int)rc, text ? text : "unknown");
	used += log_format(line + used, sizeof(line) - used, "%s",
			   kernels && calls
				   ? "of the GPU only the calls to it are "
				     "recorded"
			   : kernels ? "they are not recorded"
				     : "what launched the GPU's work is not "
				       "recorded");
	if (what)
		log_format(line + used, sizeof(line) - used, "; %s", what);
	session_note(session, "%s", line);
	log_trouble("%s", line);
	if (kernels && calls)
		cuda_calls_record_instead(session);
}

static CUptiResult subscribe(struct session *session)
{
	char holder[NAME_BYTES + 1] = "";
	const CUptiResult rc =
		(CUptiResult)cupti_callbacks_subscribe(holder, NAME_BYTES);

	if (rc != CUPTI_SUCCESS)
		explain(session, rc, "cuptiSubscribe",
			strncmp(holder, "CUPTI for ", 10) ? holder
							  : holder + 10);
	return rc;
}

/* What they were before us. */
static struct {
	uint8_t value;
	bool is_known;
} flags[CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER + 1];

/* False: it doesn't take it. */
static bool set_flag(uint32_t attribute, uint8_t value)
{
	size_t bytes = sizeof(value);

	if (!flags[attribute].is_known && cupti.cuptiActivityGetAttribute)
		flags[attribute].is_known =
			cupti.cuptiActivityGetAttribute(
				(CUpti_ActivityAttribute)attribute, &bytes,
				&flags[attribute].value) == CUPTI_SUCCESS;
	bytes = sizeof(value);
	return cupti.cuptiActivitySetAttribute(
		       (CUpti_ActivityAttribute)attribute, &bytes, &value) ==
	       CUPTI_SUCCESS;
}

static _Atomic bool has_thread_buffers;

bool cupti_attach_has_thread_buffers(void)
{
	return load_relaxed(&has_thread_buffers);
}

void cupti_attach_leave(void)
{
	for (uint32_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (flags[i].is_known)
			set_flag(i, flags[i].value);
	}
}

/* Clock and buffers, before any kind is enabled. */
static CUptiResult set_up(struct session *session, uint32_t version,
			  int (*start_clock)(void))
{
	CUptiResult rc;

	cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	store_relaxed(
		&has_thread_buffers,
		version >= PER_THREAD_FROM &&
			set_flag(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER,
				 !cupti_has(CUPTI_DEFECT_THREAD_BUFFERS)) &&
			!cupti_has(CUPTI_DEFECT_THREAD_BUFFERS));
	/* That our buffers are zero is not told: it would hold for those of one
	 * that comes unseen, too. */
	rc = (CUptiResult)start_clock();
	if (rc == CUPTI_SUCCESS)
		rc = cupti.cuptiActivityRegisterCallbacks(
			cupti_buffers_request, cupti_buffers_complete);
	if (rc != CUPTI_SUCCESS)
		explain(session, rc, "setting up", "");
	return rc;
}

static bool open_library(struct session *session)
{
	char path[SESSION_NOTE_BYTES - 32];
	int rc = cupti_library_open(session->head->options.cupti, path,
				    sizeof(path));

	if (rc) {
		session_note(session, "GPU not recorded: %s", path);
		log_trouble("CUPTI can't be used (%s): of the GPU only the "
			    "calls to it are recorded",
			    path);
		return false;
	}
	session_note(session, "CUPTI: %s", path);
	return true;
}

/* One of NVIDIA's, which has CUPTI or what lies below it. */
static bool foreign_tool(struct session *session)
{
	const char *tool = cupti_tools_find();

	if (!tool)
		return false;
	session_note(session, "GPU not recorded: %s is in the process", tool);
	log_trouble("%s is in the process: of the GPU only the calls to it are "
		    "recorded",
		    tool);
	return true;
}

/* What is known to be wrong with it, where somebody asked. */
static void tell_versions(const struct session *session, uint32_t version)
{
	char text[160];

	if (!session->head->options.verbose)
		return;
	cupti_versions_name(version, text, sizeof(text));
	log_tell("CUPTI %s (%u)", text, version);
	for (int i = 0; i < CUPTI_DEFECT_COUNT; i++) {
		if (cupti_versions_row(version, (enum cupti_defect)i, text,
				       sizeof(text)))
			log_tell("CUPTI: %s", text);
	}
}

/* Those who look in libcupti alone. */
static void let_others_find_us(struct session *session)
{
	const bool keeps_forks_out = loader_enter();
	const bool is_done = cupti_hooks_lead(cupti_library_handle());

	if (keeps_forks_out)
		loader_leave();
	if (!is_done)
		session_note(session,
			     "libcupti's names can't be led to us: a "
			     "profiler that looks them up by itself is "
			     "refused");
}

/* True: records will come. */
static bool attach(struct session *session, bool late)
{
	struct gpu_state *gpu = &session->head->gpu;
	uint32_t version = 0;
	bool is_late;

	if (foreign_tool(session) || !open_library(session))
		return false;
	cupti.cuptiGetVersion(&version);
	gpu->cupti_version = version;
	cupti_versions_start(version);
	tell_versions(session, version);
	if (cupti_buffers_start(!cupti_has(CUPTI_DEFECT_NULL_BUFFER))) {
		session_note(session, "GPU not recorded: no memory for it");
		return false;
	}
	cupti_record_start();
	store_relaxed(&gpu->has_allocator, caching_allocator_is_loaded());
	is_late = cupti_neighbour_is_first();
	if (!is_late &&
	    (subscribe(session) != CUPTI_SUCCESS ||
	     set_up(session, version, cupti_clock_start) != CUPTI_SUCCESS))
		return false;
	if (cupti_share_is_on())
		session_note(session, "CUPTI is shared with others that ask");
	else
		let_others_find_us(session);
	store_relaxed(&gpu->source, GPU_SOURCE_CUPTI);
	store_relaxed(&gpu->is_live, 1);
	if (!is_late) {
		cupti_kinds_start(&session->head->options, late);
		cupti_callbacks_start();
		cupti_kinds_want(steps_want_gpu(session));
		cupti_kinds_turn();
	}
	nvtx_on_names(cupti_side_name_stream, cupti_side_name_event);
	if (late)
		session_note(session,
			     "CUPTI came late, after the first call: " INJECTION
			     " is another tool's");
	return !cupti_flush_start();
}

bool cupti_attach_again(void)
{
	struct session *session = load_relaxed(&session_here);

	if (set_up(session, session->head->gpu.cupti_version,
		   cupti_clock_again) != CUPTI_SUCCESS)
		return false;
	cupti_kinds_start(&session->head->options, true);
	/* Where the other was first, nothing told us of CUDA's start. */
	cupti_flush_at_exit(CUPTI_FIRST_CONTEXT);
	return true;
}

/* They go on, or it is said that they didn't. */
static void await_kinds(struct session *session)
{
	cupti_kinds_want(true);
	if (cupti_kinds_await())
		return;
	session_note(session, "CUPTI was not switched on when a window began: "
			      "kernels at its start may be missing");
	if (!add_relaxed(&session->head->gpu.late_windows, 1))
		log_trouble(
			"CUPTI was not switched on within %u ms: kernels at "
			"the start of windows may be missing",
			CUPTI_TURN_MS);
}

/* A window opens or closes, on the thread that steps. */
static void follow(bool open)
{
	struct session *session = load_relaxed(&session_here);

	nvml_follow(open);
	/* What was launched before a window's end is still to come, so that
	 * the writer's pass wants the kinds off. */
	if (!open)
		return;
	if (cupti_is_ours() && !cupti_callbacks_are_inside())
		await_kinds(session);
	cuda_calls_follow(session);
}

COLD bool cupti_attach(bool late)
{
	struct session *session = load_relaxed(&session_here);
	uint32_t was = ATTACH_NONE;
	struct quiet quiet;

	if (!session || !life_is_running() ||
	    process.options.cuda == CUDA_OFF ||
	    !atomic_compare_exchange_strong_explicit(&state, &was, ATTACH_BEGUN,
						     memory_order_relaxed,
						     memory_order_relaxed))
		return cupti_is_alive();
	quiet = quiet_begin();
	if (attach(session, late)) {
		/* RELEASE pairs with ACQUIRE in cupti_is_alive(). */
		store_release(&state, ATTACH_ALIVE);
		gate_on_change(GATE_CUPTI, follow);
		nvml_start();
		nvml_follow(steps_are_recorded(session));
		/* A window may have opened before that. */
		cupti_kinds_follow(session);
		writer_add_source(cupti_source_poll, NULL);
		cupti_flush_at_exit(CUPTI_ATTACHED);
	} else {
		store_relaxed(&state, ATTACH_FAILED);
		cuda_calls_record(session);
	}
	quiet_end(&quiet);
	return cupti_is_alive();
}

/* libcuda calls it at the end of cuInit().  Also found by name where libkineto
 * has a function of that name: so it does no harm to call it twice. */
EXPORT int InitializeInjection(void)
{
	/* Without LD_PRELOAD, by an inherited variable: none of our hooks is
	 * in place. */
	if (dlsym(RTLD_DEFAULT, "InitializeInjection") !=
	    (void *)InitializeInjection)
		return 1;
	if (gate_bits() == GATE_UNDECIDED)
		life_decide();
	if (!life_is_owner() || process.options.cuda == CUDA_OFF)
		return 1;
	life_begin("CUDA");
	cupti_attach(false);
	return 1;
}

void cupti_end(unsigned int wait_ms)
{
	nvml_end();
	if (cupti_is_alive())
		cupti_flush_end(wait_ms);
	cupti_kill();
}

void cupti_forget(void)
{
	const bool was_here = load_relaxed(&state) != ATTACH_NONE;

	/* CUDA itself is unusable in this process; only its parent's state is
	 * to be forgotten. */
	if (was_here)
		store_relaxed(&state, ATTACH_FAILED);
	gate_on_change(GATE_CUPTI, NULL);
	nvtx_on_names(NULL, NULL);
	cupti_buffers_forget();
	cupti_flush_forget();
	cupti_kinds_forget();
	cupti_neighbour_forget();
	cupti_callbacks_forget();
	cupti_graphs_forget();
	cupti_clock_forget();
	nvml_forget();
	/* Tables that only CUPTI fills: to clear them takes a forked child a
	 * millisecond of page faults. */
	if (was_here) {
		cupti_source_forget();
		cupti_stacks_forget();
		cupti_graph_memory_forget();
		cupti_record_forget();
		cupti_launch_names_forget();
		cupti_events_forget();
		call_places_forget();
	}
}

#else

/* Built without CUPTI's headers: the variable that leads here isn't set. */
EXPORT int InitializeInjection(void)
{
	return 1;
}

#endif
