/* SPDX-License-Identifier: MIT */
/* event.c - the words for the numbers in an event. */
#include "collector/session/event.h"

/* The words lie in the tables: pointers would be relocated in each process. */
#define WORD_BYTES 24

static const char *word_of(const char (*words)[WORD_BYTES], unsigned int count,
			   unsigned int number)
{
	return number < count ? words[number] : "unknown";
}

const char *event_kind_word(unsigned int kind)
{
	static const char words[][WORD_BYTES] = {
#define X(name, word) word,
		EVENT_KINDS(X)
#undef X
	};

	return word_of(words, EVENT_KIND_COUNT, kind);
}

const char *omp_sync_word(unsigned int sync)
{
	static const char words[][WORD_BYTES] = {
#define X(name, word) word,
		OMP_SYNCS(X)
#undef X
	};

	return word_of(words, OMP_SYNC_COUNT, sync);
}

const char *omp_schedule_word(unsigned int schedule)
{
	static const char words[][WORD_BYTES] = {
#define X(name, word) word,
		OMP_SCHEDULES(X)
#undef X
	};

	return word_of(words, OMP_SCHEDULE_COUNT, schedule);
}

const char *file_verb_word(unsigned int verb)
{
	static const char words[][WORD_BYTES] = {
#define X(name, word) word,
		FILE_VERBS(X)
#undef X
	};

	return word_of(words, FILE_VERB_COUNT, verb);
}
