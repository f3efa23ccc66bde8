/* SPDX-License-Identifier: MIT */
/*
 * mailbox.h - the mailbox of a session: what is asked of a running program
 * from outside.
 *
 * `traceprof ctl` maps the session of a running process, puts one request into
 * the box and wakes the writer, which acts on it in its next pass and answers
 * in the same place.  One word says whose turn it is:
 *
 *	FREE -> CLAIMED		a tool, compare-and-swap: may write the request
 *	CLAIMED -> POSTED	the same tool: the writer may read it
 *	POSTED -> TAKEN		the writer, which has copied it
 *	TAKEN -> ANSWERED	the writer: the tool may read the answer
 *	ANSWERED -> FREE	the same tool; also POSTED or TAKEN -> FREE, a
 *				tool that gave up
 *
 * The upper bits count the requests, so that nobody mistakes another's for his
 * own.  A tool that was killed leaves its request there: the next one takes
 * the box from a holder that is gone.
 *
 * Both sides belong to one user, and neither trusts the other: the writer
 * checks each number of a request, the tool reads texts up to their bounds.
 */
#ifndef COLLECTOR_MAILBOX_H
#define COLLECTOR_MAILBOX_H

#include "collector/system/base.h"

#define MAILBOX_TEXT_BYTES 512
/* The longest window that can be asked for, in steps and in milliseconds. */
#define MAILBOX_STEPS_MAX  INT32_MAX
#define MAILBOX_MS_MAX	   INT64_C(86400000)

enum mailbox_turn {
	MAILBOX_FREE,
	MAILBOX_CLAIMED,
	MAILBOX_POSTED,
	MAILBOX_TAKEN,
	MAILBOX_ANSWERED,
};

enum mailbox_verb {
	MAILBOX_STATUS,
	MAILBOX_START, /* a window: `steps`, else `ms`, else until stopped */
	MAILBOX_STOP,
	MAILBOX_SNAPSHOT, /* a complete file now: of the open window, or what
			     the flight recorder holds */
	MAILBOX_VERB_COUNT
};

/* What a request and its answer say. */
struct mailbox_request {
	uint32_t verb;
	uint32_t pad;
	int64_t steps; /* 0: not by steps */
	int64_t ms;    /* 0: not by time */
};

struct mailbox_answer {
	int32_t error; /* 0, or -errno with the reason in `text` */
	uint32_t pad;
	uint64_t seen; /* events that hooks recorded or refused */
	uint64_t written;
	uint64_t dropped;
	char text[MAILBOX_TEXT_BYTES]; /* why not; or what was done */
	char path[MAILBOX_TEXT_BYTES]; /* the newest file, "" none */
};

struct mailbox {
	_Atomic uint64_t turn;	 /* number << 8 | enum mailbox_turn */
	_Atomic uint32_t bell;	 /* futex word: counts answers */
	_Atomic uint32_t holder; /* pid of the tool */
	struct mailbox_request request;
	struct mailbox_answer answer;
};

static inline enum mailbox_turn mailbox_turn(uint64_t word)
{
	return (enum mailbox_turn)(word & 0xff);
}

/* The same request, one turn further. */
static inline uint64_t mailbox_next(uint64_t word, enum mailbox_turn turn)
{
	return (word & ~UINT64_C(0xff)) | turn;
}

/* Something lies in the box. */
static inline bool mailbox_is_rung(struct mailbox *mailbox)
{
	return mailbox_turn(load_relaxed(&mailbox->turn)) == MAILBOX_POSTED;
}

/* The writer: a request that waits, copied.  False: none.  *word names it. */
bool mailbox_take(struct mailbox *mailbox, struct mailbox_request *request,
		  uint64_t *word);

/* The writer: the answer to the request that `word` names, which may have been
 * withdrawn meanwhile. */
void mailbox_reply(struct mailbox *mailbox, uint64_t word,
		   const struct mailbox_answer *answer);

/* A tool, process `pid`: puts a request into the box; the writer is to be woken
 * then.  0 and *word; -EBUSY another tool's is in it. */
int mailbox_post(struct mailbox *mailbox, uint32_t pid,
		 const struct mailbox_request *request, uint64_t *word);

/* A tool: waits at most `limit_ns` for the answer.  0; -ETIMEDOUT, and the
 * request is withdrawn. */
int mailbox_wait(struct mailbox *mailbox, uint64_t word, uint64_t limit_ns,
		 struct mailbox_answer *answer);

/* A signal of TRACEPROF_SIGNAL came in (async-signal-safe); how many did so far
 * in this process; a forked child begins anew. */
void mailbox_signal(void);
uint32_t mailbox_signals(void);
void mailbox_forget(void);

#endif
