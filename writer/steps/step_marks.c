/* SPDX-License-Identifier: MIT */
/* step_marks.c - marks, kept in order and looked through; see step_marks.h. */
#include "writer/steps/step_marks.h"

#include "collector/system/log.h"
#include "collector/session/names.h"
#include "writer/steps/step_calls.h"
#include <errno.h>
#include <string.h>

#define NAME_BYTES	1024u
#define LOOK_LEAST	8u
/* The main thread's regions, ranges and calls. */
#define STREAMS_OF_MAIN 3u

/* A region, with what its code tells of the loops around it. */
static bool read_region(const struct session *session,
			const struct event *event, struct loop_mark *mark)
{
	const uint16_t caller = event->omp.sync & SEARCH_CALLER;
	const struct step_search *search = &session->head->search;
	const struct search_loops loops =
		search_loops_of(search, event->omp.code, caller);

	mark->id = event->omp.code;
	mark->caller = caller;
	mark->turn = SEARCH_TURN(event->omp.sync);
	mark->is_late = event->omp.sync & SEARCH_LATE;
	mark->is_in_team = event->omp.sync & SEARCH_IN_TEAM;
	if (!loops.is_around) {
		mark->loop = loops.loop;
		mark->within =
			(uint8_t)search_loop_number(search, loops.within);
	}
	mark->depth = loops.depth;
	mark->is_always = loops.is_always;
	mark->is_needed = loops.is_needed;
	/* One that was thinned doesn't tell. */
	mark->team = event->omp.team < 2 ? event->omp.team & 1 : 2;
	mark->note = (uint64_t)event->outlined_offset << 32 | event->extra;
	return mark->id != 0;
}

/* XLA's annotations come late: no window could be dumped by them. */
static bool read_called(const struct session *session,
			const struct event *event, struct loop_mark *mark)
{
	size_t len;

	mark->id = search_name(NULL, names_text(session, event->name, &len));
	mark->note = event->name;
	mark->is_jit = event->scope.category == OPERATOR_CALL;
	mark->is_step_like = event->scope.category == OPERATOR_STEP;
	return event->name && mark->id && !session->head->flight.is_on;
}

bool step_marks_read(const struct session *session, const struct event *event,
		     uint32_t *family, struct loop_mark *mark)
{
	size_t len;

	*mark = (struct loop_mark){.ticks = event->start_ticks,
				   .end_ticks = event->end_ticks};
	switch (event->kind) {
	case EVENT_OMP_REGION:
		*family = SEARCH_REGIONS;
		return read_region(session, event, mark);
	case EVENT_SCOPE:
		if (event_is_of_program(event)) {
			*family = SEARCH_RANGES;
			return read_called(session, event, mark);
		}
		/* fallthrough */
	case EVENT_RANGE:
		/* Operators don't begin steps; nor do phases and the parts of
		 * a batch, which no hook would count. */
		if (event_is_operator(event) || event->flags & EVENT_LOOKED_UP)
			return false;
		/* fallthrough */
	case EVENT_MARK:
		*family = SEARCH_RANGES;
		mark->id = search_name(NULL,
				       names_text(session, event->name, &len));
		mark->note = (uint64_t)event->place << 32 | event->name;
		return event->name && mark->id;
	default: return false;
	}
}

static void note_look(struct step_marks *marks, uint64_t ticks)
{
	if (marks->count < marks->next_look)
		return;
	marks->next_look = marks->count + marks->count / 4 + 4;
	if (marks->looks < STEP_LOOKS_MAX)
		marks->look[marks->looks++] =
			(struct step_look){marks->count, ticks};
}

/* What is called while another is compiled; and JAX enters some twice. */
static void leave_inner(struct step_marks *marks, size_t at)
{
	struct loop_mark *all = step_marks(marks);
	size_t kept = at + 1;

	for (size_t i = at + 1; i < marks->count; i++) {
		if (!all[i].is_jit || all[i].end_ticks > all[at].end_ticks)
			all[kept++] = all[i];
	}
	marks->count = kept;
}

/* Of a run that was killed the inner one may come once more. */
static bool is_inner(const struct step_marks *marks,
		     const struct loop_mark *mark, size_t at)
{
	const struct loop_mark *all = step_marks(marks);

	while (at && !all[at - 1].is_jit)
		at--;
	return at && all[at - 1].end_ticks >= mark->end_ticks;
}

size_t step_marks_add(struct step_marks *marks, const struct loop_mark *mark)
{
	struct loop_mark *all;
	size_t at;

	if (array_reserve(&marks->marks, (marks->count + 1) * sizeof(*mark)))
		return marks->count;
	all = step_marks(marks);
	for (at = marks->count; at && all[at - 1].ticks > mark->ticks; at--)
		;
	if (mark->is_jit && is_inner(marks, mark, at))
		return marks->count;
	memmove(all + at + 1, all + at, (marks->count - at) * sizeof(*mark));
	all[at] = *mark;
	if (marks->is_by_caller)
		all[at].id = search_region(mark->id, mark->caller);
	marks->count++;
	marks->step_like += mark->is_step_like;
	if (mark->is_jit) {
		marks->has_jit = true;
		if (!marks->is_settled)
			leave_inner(marks, at);
	}
	note_look(marks, mark->end_ticks);
	return at;
}

void step_marks_leave_teams(struct step_marks *marks)
{
	marks->count = loop_leave_teams(step_marks(marks), marks->count);
	marks->next_look = max_u64(LOOK_LEAST, marks->count);
	marks->looks = 0;
}

void step_marks_drop(struct step_marks *marks, size_t count)
{
	marks->count -= count;
	marks->next_look = marks->count + marks->count / 4;
	marks->looks = 0;
	if (count)
		memmove(step_marks(marks), step_marks(marks) + count,
			marks->count * sizeof(struct loop_mark));
}

size_t step_marks_before(const struct step_marks *marks, uint64_t ticks)
{
	const struct loop_mark *all = step_marks(marks);
	size_t low = 0, high = marks->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (all[middle].ticks < ticks)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What a thread's ring has by then: events come by their ends. */
size_t step_marks_came(const struct step_marks *marks, uint64_t ticks)
{
	const struct loop_mark *all = step_marks(marks);
	size_t came = 0;

	if (marks->family == SEARCH_CALLS)
		return step_marks_before(marks, ticks + 1);
	for (size_t i = 0; i < marks->count; i++)
		came += all[i].end_ticks <= ticks;
	return came;
}

bool step_marks_due(const struct step_marks *marks, size_t ready,
		    uint64_t until, struct step_look *look)
{
	if (!marks->looks)
		return false;
	*look = marks->look[0];
	if (marks->family == SEARCH_CALLS) {
		/* They come in any order. */
		if (look->count > ready)
			return false;
		look->ticks = step_marks(marks)[look->count - 1].ticks;
	}
	return look->ticks < until;
}

void step_marks_looked(struct step_marks *marks)
{
	marks->looks--;
	memmove(marks->look, marks->look + 1,
		marks->looks * sizeof(marks->look[0]));
}

struct step_marks *step_marks_of(struct step_marks *streams, size_t *count,
				 struct ring_reader *reader, uint32_t tid,
				 uint32_t family, uint32_t main_tid)
{
	for (size_t i = 0; i < *count; i++) {
		if (streams[i].tid == tid && streams[i].family == family)
			return &streams[i];
	}
	if (*count + (tid == main_tid ? 0 : STREAMS_OF_MAIN) >=
	    STEP_STREAMS_MAX)
		return NULL;
	streams[*count] = (struct step_marks){.reader = reader,
					      .tid = tid,
					      .family = family,
					      .next_look = LOOK_LEAST};
	return &streams[(*count)++];
}

size_t step_marks_most(const struct step_marks *streams, size_t count)
{
	size_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = max_u64(most, streams[i].count);
	return most;
}

bool step_marks_before_other(const struct step_marks *a, size_t count_a,
			     const struct step_marks *b, size_t count_b,
			     uint32_t main_tid)
{
	if ((a->tid == main_tid) != (b->tid == main_tid))
		return a->tid == main_tid;
	if (count_a != count_b)
		return count_a > count_b;
	return a->tid != b->tid ? a->tid < b->tid : a->family < b->family;
}

struct step_marks *step_marks_next(struct step_marks *streams, size_t count,
				   uint32_t main_tid, uint32_t *looked)
{
	struct step_marks *next = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!(*looked >> i & 1) &&
		    (!next ||
		     step_marks_before_other(&streams[i], streams[i].count,
					     next, next->count, main_tid)))
			next = &streams[i];
	}
	if (next)
		*looked |= UINT32_C(1) << (next - streams);
	return next;
}

uint64_t step_marks_hits(const struct step_marks *marks,
			 const struct loop_level *level, uint64_t ticks,
			 size_t *last)
{
	const struct loop_mark *all = step_marks(marks);
	uint64_t hits = 0;

	*last = level->first;
	for (size_t i = level->first; i < marks->count && all[i].ticks < ticks;
	     i++) {
		if (!loop_level_is_hit(level, all, i))
			continue;
		*last = i;
		hits++;
	}
	return hits;
}

/* All turns of a level of which it is known how to tell its hits. */
static void gather(const struct step_marks *marks, struct loop_level *found)
{
	const struct loop_mark *all = step_marks(marks);

	found->turns = 0;
	for (size_t i = 0; i < marks->count; i++) {
		if (!loop_level_is_hit(found, all, i))
			continue;
		if (!found->turns++)
			found->begin = found->first = i;
		found->last = i;
	}
	if (found->turns < 2)
		return;
	found->ticks = loop_level_period(found, all);
	found->length = (found->last - found->first) / (found->turns - 1);
}

void step_marks_find_site(const struct step_marks *marks, size_t at,
			  struct loop_level *found)
{
	const struct loop_mark *all = step_marks(marks);

	*found = (struct loop_level){.id = all[at].id,
				     .key = search_key(&all[at].id, 0)};
	gather(marks, found);
	found->next = loop_level_next(all, found);
	found->begin = loop_level_begin(found, all, found->first, 0);
}

static uint64_t moved(uint64_t code, uint64_t distance)
{
	return code + (uint64_t)(int64_t)(int32_t)(uint32_t)distance;
}

/* What names a region, however it is told from others; or barriers'. */
static uint64_t code_of(const struct step_marks *marks, size_t at)
{
	const struct loop_mark *mark = step_marks(marks) + at;

	if (marks->code)
		return marks->code;
	return marks->is_by_caller ? search_region(mark->id, mark->caller)
				   : mark->id;
}

static struct code_name *region_of(const struct step_marks *marks, size_t at,
				   struct naming *naming)
{
	const struct loop_mark *mark = step_marks(marks) + at;
	const uint64_t outlined = mark->note >> 32;

	const uint64_t code = code_of(marks, at);

	return naming_find(naming, code, moved(code, mark->note),
			   outlined ? moved(code, outlined) : 0);
}

/* --- a level that was named ----------------------------------------------- */

#define LABELS 256u

/* The labels of the last sites that were asked for. */
struct labels {
	const struct step_marks *marks;
	struct naming *naming;
	struct {
		uint64_t id, label;
	} known[LABELS];
};

void step_marks_trace_name(const struct step_marks *marks, size_t at,
			   struct naming *naming, char *text, size_t bytes)
{
	const struct loop_mark *mark = step_marks(marks) + at;
	struct code_name *code;
	size_t len;

	switch (marks->family) {
	case SEARCH_RANGES:
		log_format(text, bytes, "%s",
			   names_text(naming->session, (uint32_t)mark->note,
				      &len));
		break;
	case SEARCH_CALLS:
		step_calls_text(naming->session, mark, text, bytes);
		break;
	default:
		code = region_of(marks, at, naming);
		log_format(text, bytes, "%s [omp parallel #%u]", code->shown,
			   naming_ordinal(naming, code));
	}
}

static uint64_t label_of(struct labels *labels, size_t at)
{
	const uint64_t id = step_marks(labels->marks)[at].id;
	const size_t slot = id % LABELS;
	char text[NAME_BYTES];

	if (labels->known[slot].id == id)
		return labels->known[slot].label;
	step_marks_trace_name(labels->marks, at, labels->naming, text,
			      sizeof(text));
	labels->known[slot].id = id;
	labels->known[slot].label = search_label(labels->marks->family, text);
	return labels->known[slot].label;
}

static bool is_wanted(struct labels *labels, const struct search_wanted *wanted,
		      size_t at)
{
	for (uint32_t i = 0; i < wanted->count; i++) {
		if (label_of(labels, at - i) !=
		    wanted->names[wanted->count - 1 - i])
			return false;
	}
	return true;
}

bool step_marks_find_wanted(const struct step_marks *marks,
			    const struct search_wanted *wanted,
			    struct naming *naming, struct loop_level *found)
{
	const struct loop_mark *all = step_marks(marks);
	struct labels labels = {.marks = marks, .naming = naming};
	uint64_t ids[SEARCH_CONTEXT_MAX + 1];
	const uint32_t context = wanted->count - 1;
	const bool is_ranges = marks->family == SEARCH_RANGES;
	size_t at = context;

	while (at < marks->count && !is_wanted(&labels, wanted, at))
		at++;
	if (at >= marks->count)
		return false;
	for (uint32_t i = 0; i <= context; i++)
		ids[i] = all[at - context + i].id;
	*found = (struct loop_level){.id = ids[context],
				     .context = context,
				     .key = search_key(ids, context),
				     .is_begin = !context && is_ranges};
	gather(marks, found);
	if (found->turns < 2)
		return false;
	if (found->is_begin)
		return true;
	found->next = loop_level_next(all, found);
	found->begin = loop_level_begin(found, all, found->first, 0);
	return true;
}

bool step_marks_find_told(struct step_marks *marks,
			  const struct step_search *told,
			  struct loop_level *found)
{
	const struct loop_mark *all = step_marks(marks);

	if (told->context > SEARCH_CONTEXT_MAX)
		return false;
	if (search_is_by_caller(told) != marks->is_by_caller)
		step_marks_tell_callers(marks);
	*found = (struct loop_level){.id = told->id,
				     .context = told->context,
				     .key = told->key,
				     .is_begin = told->is_begin,
				     .is_end = told->is_end,
				     .every = told->every,
				     .begin_ticks = told->begin_ticks};
	gather(marks, found);
	if (found->turns < 2)
		return false;
	if (found->is_end)
		return true;
	found->begin = step_marks_before(marks, told->begin_ticks);
	found->first = step_marks_before(marks, told->first_ticks);
	found->next = loop_level_next(all, found);
	return found->first < marks->count &&
	       loop_level_is_hit(found, all, found->first);
}

bool step_marks_has(const struct step_marks *marks,
		    const struct loop_mark *mark)
{
	const struct loop_mark *all = step_marks(marks);
	size_t at = marks->count;

	while (at && all[at - 1].ticks > mark->ticks)
		at--;
	for (; at && all[at - 1].ticks == mark->ticks; at--) {
		if (all[at - 1].end_ticks == mark->end_ticks)
			return true;
	}
	return false;
}

/* The mark that a hit's turn is followed by, or its own. */
static size_t after(const struct loop_level *level, size_t hit)
{
	return level->is_begin || level->is_end ? hit : hit + 1;
}

static uint64_t begins_at(const struct step_marks *marks,
			  const struct loop_level *level,
			  const struct step_turns *turns, size_t begin)
{
	const struct loop_mark *mark = step_marks(marks) + begin;

	if (!level->is_end)
		return mark->ticks;
	return turns->begun == 1 ? level->begin_ticks : mark->end_ticks;
}

bool step_turns_next(const struct step_marks *marks,
		     const struct loop_level *level, size_t count,
		     struct step_turns *turns, size_t *begin)
{
	if (!turns->begun) {
		*begin = level->begin;
		turns->at = level->first + level->is_begin;
		turns->begun = 1;
		if (*begin >= count)
			return false;
		turns->ticks = begins_at(marks, level, turns, *begin);
		return true;
	}
	for (; after(level, turns->at) < count; turns->at++) {
		if (!loop_level_is_hit(level, step_marks(marks), turns->at) ||
		    ++turns->hits % turns->divisor)
			continue;
		*begin = after(level, turns->at++);
		turns->begun++;
		turns->ticks = begins_at(marks, level, turns, *begin);
		return true;
	}
	return false;
}

uint64_t step_marks_end(const struct step_marks *marks,
			const struct loop_level *level, size_t hit)
{
	const struct loop_mark *all = step_marks(marks);
	const size_t last = level->is_begin ? hit + level->length - 1 : hit;
	size_t first = hit;
	uint64_t end = 0;

	if (level->is_end)
		return all[hit].end_ticks;
	if (!level->is_begin)
		first = loop_level_begin(level, all, hit, level->begin);
	for (size_t i = first; i <= last && i < marks->count; i++)
		end = max_u64(end, all[i].end_ticks);
	return end;
}

/* 'JAX function "update"', of "PjitFunction(update)". */
static void describe_jit(const struct session *session,
			 const struct loop_mark *mark, char *text, size_t bytes)
{
	size_t len;
	const char *name = names_text(session, (uint32_t)mark->note, &len);
	const char *inner = strchr(name, '(');

	inner = inner ? inner + 1 : name;
	log_format(text, bytes, "JAX function \"%.*s\"",
		   (int)(len - (size_t)(inner - name) - (inner > name)), inner);
}

void step_marks_describe(const struct step_marks *marks, size_t at,
			 struct naming *naming, char *text, size_t bytes)
{
	const struct loop_mark *mark = step_marks(marks) + at;
	size_t len;

	if (mark->is_jit)
		describe_jit(naming->session, mark, text, bytes);
	else if (marks->family == SEARCH_RANGES)
		log_format(text, bytes, "range \"%s\"",
			   names_text(naming->session, (uint32_t)mark->note,
				      &len));
	else if (marks->family == SEARCH_CALLS)
		step_calls_describe(naming->session, mark, text, bytes);
	else if (marks->family == SEARCH_BACKWARD)
		log_format(text, bytes, "what PyTorch runs backward");
	else if (marks->family == SEARCH_BARRIERS && !marks->code)
		log_format(text, bytes, "omp barrier");
	else
		log_format(text, bytes, "omp %s \"%s\"",
			   marks->code ? "barrier in" : "region",
			   region_of(marks, at, naming)->shown);
}

/* As a pattern of fnmatch() that no shell takes apart. */
static void quote(char *name, const char **mark)
{
	*mark = "";
	for (char *c = name; *c; c++) {
		if (strchr("[*?\\'", *c))
			*c = '?';
		if (strchr(" ?()<>&;|$`\"!#~", *c))
			*mark = "'";
	}
}

/* Hooks compare with the symbol as they read it, and can't fold templates. */
static bool is_folded(const struct step_marks *marks, size_t at,
		      struct naming *naming)
{
	const struct code_name *code;

	if (marks->family != SEARCH_REGIONS)
		return false;
	code = region_of(marks, at, naming);
	return code->shown != code->function && strchr(code->function, '<');
}

/* As a setting is compared with: of a kernel the symbol, which is no more
 * readable, and nothing of what is too long to be whole. */
static void setting_name(const struct step_marks *marks, size_t at,
			 struct naming *naming, char *name, size_t bytes)
{
	const struct loop_mark *mark = step_marks(marks) + at;
	size_t len;

	if (marks->family == SEARCH_CALLS)
		log_format(name, bytes, "call \"%s\"",
			   names_text(naming->session,
				      (uint32_t)(mark->note >> 32), &len));
	else
		step_marks_describe(marks, at, naming, name, bytes);
	if (strlen(name) + 1 >= bytes || is_folded(marks, at, naming))
		name[0] = '\0';
}

void step_marks_setting(const struct step_marks *marks,
			const struct loop_level *level, struct naming *naming,
			char *text, size_t bytes)
{
	static const char *const words[] = {"omp:", "range:", "kernel:"};
	const bool is_call =
		marks->family == SEARCH_CALLS &&
		!search_is_kernel(step_marks(marks)[level->first].id);
	const char *mark;
	char name[128];
	size_t len;

	text[0] = '\0';
	/* The name alone doesn't tell, or nothing hears of it in time. */
	if (marks->is_by_caller || marks->family >= SEARCH_BARRIERS ||
	    step_marks(marks)[level->first].is_jit)
		return;
	setting_name(marks, level->first, naming, name, sizeof(name));
	len = strlen(name);
	if (level->context || len < 2 || name[len - 1] != '"')
		return;
	name[len - 1] = '\0';
	quote(strchr(name, '"') + 1, &mark);
	log_format(text, bytes, "TRACEPROF_STEP=%s%s%s%s", mark,
		   is_call ? "cuda:" : words[marks->family],
		   strchr(name, '"') + 1, mark);
}

struct site {
	uint64_t id;
	size_t first, count;
};

static size_t count_sites(const struct step_marks *marks, struct site *sites)
{
	const struct loop_mark *all = step_marks(marks);
	size_t known = 0;

	for (size_t i = 0; i < marks->count; i++) {
		size_t at = 0;

		while (at < known && sites[at].id != all[i].id)
			at++;
		if (at == STEP_SITES_COUNTED)
			continue;
		if (at == known)
			sites[known++] = (struct site){all[i].id, i, 0};
		sites[at].count++;
	}
	return known;
}

size_t step_marks_frequent(const struct step_marks *marks,
			   struct loop_level *found, size_t most)
{
	struct site sites[STEP_SITES_COUNTED];
	const size_t known = count_sites(marks, sites);
	size_t count = 0;

	for (; count < most; count++) {
		struct site *best = sites;

		for (size_t i = 1; i < known; i++) {
			if (sites[i].count > best->count)
				best = &sites[i];
		}
		if (!known || best->count < 2)
			break;
		found[count] = (struct loop_level){.id = best->id,
						   .first = best->first,
						   .turns = best->count};
		best->count = 0;
	}
	return count;
}
