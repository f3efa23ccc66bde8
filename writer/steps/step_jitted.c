/* SPDX-License-Identifier: MIT */
/* step_jitted.c - names of compiled functions, weighed; see step_jitted.h. */
#include "writer/steps/step_jitted.h"

#include "collector/session/names.h"
#include "collector/system/log.h"
#include "writer/loops/loop_named.h"
#include <errno.h>
#include <string.h>

#define CALL	   "PjitFunction("
/* Of functions beyond that none is the step. */
#define SITES_MAX  64u
/* Of ten calls so many are of the one that alone is called. */
#define ALONE	   9u
#define ALONE_OF   10u
/* Turns of more sites are no rounds of a few. */
#define TURN_SITES 16u

enum likeness {
	LIKE_NONE,
	LIKE_UPDATE, /* a step if nothing else is called */
	LIKE_EVALUATION,
	LIKE_WHOLE, /* an epoch's, of which nothing else is seen */
	LIKE_STEP,
	LIKE_TRAINING /* before a step of something else */
};

struct site {
	uint64_t id;
	size_t hits, first, last;
	enum likeness likeness;
};

struct sites {
	struct site all[SITES_MAX];
	size_t count;
};

/* --- names ---------------------------------------------------------------- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A word begins with the other one, which a blank ends. */
static bool word_begins(const char *word, const char *with)
{
	while (*with != ' ' && (*word | ' ') == *with) {
		word++;
		with++;
	}
	return *with == ' ';
}

/* One of the words begins a word of the name: "evaluate", "test_loss".  They
 * are one text, of which no pointers have to be set at the start. */
static bool has_word(const char *name, const char *words)
{
	for (const char *c = name; *c; c++) {
		if (!is_letter(*c) || (c > name && is_letter(c[-1])))
			continue;
		for (const char *word = words; *word;
		     word = strchr(word, ' ') + 1) {
			if (word_begins(c, word))
				return true;
		}
	}
	return false;
}

static enum likeness likeness_of(const char *name)
{
	if (!search_is_step_like(name) &&
	    !strncmp(name, CALL "train", strlen(CALL "train")))
		return LIKE_WHOLE;
	if (!search_is_step_like(name))
		return !strcmp(name, CALL "update)") ? LIKE_UPDATE : LIKE_NONE;
	name += strlen(CALL);
	if (has_word(name, "eval val test pred infer sampl gen metric "))
		return LIKE_EVALUATION;
	return has_word(name, "train update optim ") ? LIKE_TRAINING
						     : LIKE_STEP;
}

static const char *name_of(const struct session *session,
			   const struct loop_mark *mark)
{
	size_t len;

	return names_text(session, (uint32_t)mark->note, &len);
}

/* --- sites ---------------------------------------------------------------- */

static struct site *site_of(struct sites *sites, uint64_t id)
{
	for (size_t i = 0; i < sites->count; i++) {
		if (sites->all[i].id == id)
			return &sites->all[i];
	}
	return NULL;
}

static void count_sites(const struct session *session,
			const struct step_marks *marks, size_t count,
			struct sites *sites)
{
	const struct loop_mark *all = step_marks(marks);

	*sites = (struct sites){.count = 0};
	for (size_t i = 0; i < min_u64(count, marks->count); i++) {
		struct site *site = site_of(sites, all[i].id);

		if (!all[i].is_jit || (!site && sites->count == SITES_MAX))
			continue;
		if (!site) {
			site = &sites->all[sites->count++];
			*site = (struct site){.id = all[i].id,
					      .first = i,
					      .likeness = likeness_of(name_of(
						      session, &all[i]))};
		}
		site->last = i;
		site->hits++;
	}
}

/* The one that is called most like a step; NULL: several are as much so, or
 * none is. */
static const struct site *named_site(const struct sites *sites, bool *are_many)
{
	const struct site *best = NULL;
	bool is_alone = true;

	for (size_t i = 0; i < sites->count; i++) {
		const struct site *site = &sites->all[i];

		if (site->likeness < LIKE_EVALUATION ||
		    site->hits < LOOP_NAMED_TURNS ||
		    (best && site->likeness < best->likeness))
			continue;
		is_alone = !best || site->likeness > best->likeness;
		best = site;
	}
	*are_many = !is_alone;
	return is_alone ? best : NULL;
}

/* An update, from whose first call on hardly any other comes. */
static const struct site *alone_site(const struct step_marks *marks,
				     size_t count, const struct sites *sites)
{
	const struct loop_mark *all = step_marks(marks);

	for (size_t i = 0; i < sites->count; i++) {
		const struct site *site = &sites->all[i];
		size_t calls = 0;

		if (site->likeness != LIKE_UPDATE ||
		    site->hits < LOOP_HITS_LEAST)
			continue;
		for (size_t at = site->first; at < min_u64(count, marks->count);
		     at++)
			calls += all[at].is_jit;
		if (site->hits * ALONE_OF >= calls * ALONE)
			return site;
	}
	return NULL;
}

/* --- rounds --------------------------------------------------------------- */

/* What one turn calls, of a few sites. */
struct turn {
	size_t begin, end; /* marks */
	struct {
		uint64_t id;
		size_t count;
	} site[TURN_SITES];
	size_t sites;
};

static size_t count_in(const struct turn *turn, uint64_t id)
{
	for (size_t i = 0; i < turn->sites; i++) {
		if (turn->site[i].id == id)
			return turn->site[i].count;
	}
	return 0;
}

/* False: of too many sites. */
static bool read_turn(const struct loop_mark *all, struct turn *turn)
{
	turn->sites = 0;
	for (size_t at = turn->begin; at < turn->end; at++) {
		size_t i = 0;

		while (i < turn->sites && turn->site[i].id != all[at].id)
			i++;
		if (i == TURN_SITES)
			return false;
		if (i == turn->sites) {
			turn->site[i].id = all[at].id;
			turn->site[turn->sites++].count = 0;
		}
		turn->site[i].count++;
	}
	return true;
}

/* All turns but a few are as long as the median. */
static bool are_alike(const struct step_marks *marks,
		      const struct loop_level *level)
{
	const struct loop_mark *all = step_marks(marks);
	size_t before = level->first, alike = 0;

	for (size_t i = before + 1; i <= level->last; i++) {
		if (!loop_level_is_hit(level, all, i))
			continue;
		alike += i - before == level->length;
		before = i;
	}
	return alike * ALONE_OF >= (level->turns - 1) * ALONE;
}

/* Pieces that are the same, one after the other, and then a little more: that
 * may be batches that are added up, or what each second step does besides. */
static bool is_round(const struct loop_mark *all, const struct turn *turn)
{
	uint64_t piece[TURN_SITES];
	size_t most = 0, inner = 0, seen = 0, parts = 0;

	for (size_t i = 0; i < turn->sites; i++)
		most = max_u64(most, turn->site[i].count);
	for (size_t i = 0; i < turn->sites; i++) {
		inner += turn->site[i].count == most;
		if (turn->site[i].count != most && turn->site[i].count != 1)
			return false;
	}
	if (most < 2 || turn->sites - inner > inner)
		return false;
	for (size_t at = turn->begin; at < turn->end; at++) {
		const bool is_inner = count_in(turn, all[at].id) == most;

		parts += is_inner && (at == turn->begin ||
				      count_in(turn, all[at - 1].id) != most);
		if (!is_inner)
			continue;
		if (seen < inner)
			piece[seen] = all[at].id;
		else if (piece[seen % inner] != all[at].id)
			return false;
		seen++;
	}
	return parts == 1;
}

static bool is_doubtful(const struct step_marks *marks,
			const struct loop_level *level)
{
	const struct loop_mark *all = step_marks(marks);
	struct turn turn = {.end = level->last + 1};

	if (!level->length || level->length > level->last ||
	    !are_alike(marks, level))
		return false;
	/* The last one, which ends with the hit. */
	turn.begin = turn.end - level->length;
	return read_turn(all, &turn) && is_round(all, &turn);
}

/* Each call of it begins a step. */
static int take(const struct step_marks *marks, const struct site *site,
		struct loop_nest *nest)
{
	*nest = (struct loop_nest){.count = 1, .runner_up = 1};
	nest->level[0] = (struct loop_level){
		.id = site->id,
		.key = search_key(&site->id, 0),
		.begin = site->first,
		.first = site->first,
		.last = site->last,
		.turns = site->hits,
		.length = (site->last - site->first) / (site->hits - 1),
		.is_begin = true};
	nest->level[0].ticks =
		loop_level_period(&nest->level[0], step_marks(marks));
	return 0;
}

int step_jitted_judge(const struct session *session,
		      const struct step_marks *marks, size_t count, int rc,
		      struct loop_nest *nest)
{
	const struct site *site;
	struct sites sites;
	bool are_many;
	size_t turns;

	if (!marks->has_jit || (rc && rc != -ENOENT))
		return rc;
	count_sites(session, marks, count, &sites);
	site = named_site(&sites, &are_many);
	if (!site && rc && !are_many)
		site = alone_site(marks, count, &sites);
	if (!site && !rc && is_doubtful(marks, &nest->level[nest->step]))
		return -ENOENT;
	if (!site)
		return rc;
	if (rc)
		return take(marks, site, nest);
	/* What is called so is no batch of some that are added up. */
	if (site->likeness == LIKE_WHOLE)
		return is_doubtful(marks, &nest->level[nest->step])
			       ? take(marks, site, nest)
			       : rc;
	turns = nest->level[nest->step].turns /
		step_level_every(&nest->level[nest->step]);
	if (turns == site->hits)
		return 0;
	/* What else it calls was called once before it, or isn't behind it. */
	if (turns + 1 == site->hits || turns == site->hits + 1)
		return take(marks, site, nest);
	/* It is called several times in each turn of what was found. */
	if (turns < site->hits && site->likeness != LIKE_TRAINING)
		return -ENOENT;
	return take(marks, site, nest);
}

void step_jitted_setting(const struct step_marks *marks, struct naming *naming,
			 char *text, size_t bytes)
{
	const struct site *most = NULL;
	struct sites sites;
	char name[128];

	text[0] = '\0';
	if (!marks || !marks->has_jit)
		return;
	count_sites(naming->session, marks, marks->count, &sites);
	for (size_t i = 0; i < sites.count; i++) {
		if (!most || sites.all[i].hits > most->hits)
			most = &sites.all[i];
	}
	if (!most || most->hits < LOOP_HITS_LEAST)
		return;
	step_marks_describe(marks, most->first, naming, name, sizeof(name));
	log_format(text, bytes,
		   "jax.profiler.StepTraceAnnotation, or a function that is "
		   "called like train_step (%s comes %lu times),",
		   name, (unsigned long)most->hits);
}
