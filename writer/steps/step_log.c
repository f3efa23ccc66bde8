/* SPDX-License-Identifier: MIT */
/* step_log.c - blocks of marks; see step_log.h. */
#include "writer/steps/step_log.h"

#define SHARE 16u

struct block {
	uint64_t next;
	uint64_t count;
	struct step_log_entry entry[];
};

#define ENTRIES                                                                \
	((SESSION_BLOCK_BYTES - sizeof(struct block)) /                        \
	 sizeof(struct step_log_entry))

/* The one that is being filled, or the next. */
static struct block *block_of(struct session *session)
{
	struct search_log *log = &session->head->search.log;
	struct block *last = log->last ? session_at(session, log->last) : NULL;
	uint64_t at;

	if (last && last->count < ENTRIES)
		return last;
	at = (log->blocks + 1) * SESSION_BLOCK_BYTES >
			     session->head->ceiling_bytes / SHARE
		     ? 0
		     : session_alloc(session, SESSION_BLOCK_BYTES);
	if (!at)
		return NULL;
	if (last)
		last->next = at;
	else
		log->first = at;
	log->last = at;
	log->blocks++;
	return session_at(session, at);
}

void step_log_add(struct session *session, uint32_t tid, uint32_t family,
		  const struct loop_mark *mark)
{
	struct search_log *log = &session->head->search.log;
	struct block *block = log->is_cut ? NULL : block_of(session);

	if (!block) {
		log->is_cut = true;
		return;
	}
	block->entry[block->count] =
		(struct step_log_entry){*mark, tid, family};
	/* A kill finds the entry whole, or not at all. */
	atomic_signal_fence(memory_order_seq_cst);
	block->count++;
}

void step_log_begin(const struct session *session, struct step_log_way *way)
{
	const struct search_log *log = &session->head->search.log;

	*way = (struct step_log_way){.block = log->first,
				     .blocks_left = session->bytes /
						    SESSION_BLOCK_BYTES};
}

const struct step_log_entry *step_log_next(const struct session *session,
					   struct step_log_way *way)
{
	while (way->block && way->blocks_left) {
		const struct block *block = session_at_checked(
			session, way->block, SESSION_BLOCK_BYTES);

		if (!block)
			return NULL;
		if (way->at < min_u64(block->count, ENTRIES))
			return &block->entry[way->at++];
		way->block = block->next;
		way->at = 0;
		way->blocks_left--;
	}
	return NULL;
}
