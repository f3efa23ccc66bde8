/* SPDX-License-Identifier: MIT */
/* heap_rows.c - stacks by place; see heap_rows.h. */
#include "tools/memory/heap_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

/* Its functions stand between the program's and those that it called. */
#define OUR_LIBRARY   "libtraceprof.so"
/* Where the source of its standard library is said to lie. */
#define RUSTS_LIBRARY "/rustc/"
#define CXXS_LIBRARY  "/include/c++/"

static const char *last_part(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

static bool
visit_frame(struct heap_log *log, struct heap_frame *frame, bool is_first,
	    bool (*visit)(void *arg, const struct heap_place *place), void *arg)
{
	struct heap_place place = {.module = frame->module,
				   .address = frame->address};

	if (!strcmp(frame->module, OUR_LIBRARY))
		return true;
	heap_log_resolve(log, frame);
	if (!frame->count) {
		place.function = frame->function;
		place.is_last_resort = is_first && frame->is_last_resort;
		return visit(arg, &place);
	}
	for (size_t i = 0; i < frame->count; i++) {
		place.function = frame->source[i].function
					 ? frame->source[i].function
					 : frame->function;
		place.file = frame->source[i].file;
		place.line = frame->source[i].line;
		place.is_last_resort = is_first && frame->is_last_resort &&
				       i + 1 == frame->count;
		if (!visit(arg, &place))
			return false;
	}
	return true;
}

static void walk_from(struct heap_log *log, const struct heap_stack *stack,
		      size_t first,
		      bool (*visit)(void *arg, const struct heap_place *place),
		      void *arg)
{
	for (size_t i = first; stack && i < stack->count; i++)
		if (!visit_frame(log, heap_log_frame(log, stack, i), i == first,
				 visit, arg))
			return;
}

void heap_stack_walk(struct heap_log *log, uint32_t number,
		     bool (*visit)(void *arg, const struct heap_place *place),
		     void *arg)
{
	walk_from(log, heap_log_stack(log, number), 0, visit, arg);
}

/* An interpreter's function, which came with its file and line. */
static bool is_interpreted(const struct heap_frame *frame)
{
	return !frame->address && frame->count;
}

bool heap_log_has_python(const struct heap_log *log)
{
	for (size_t i = 0; i < log->frames.count; i++)
		if (is_interpreted(key_table_row(&log->frames, i)))
			return true;
	return false;
}

static bool is_interpreter(const char *module, uint64_t address)
{
	return address && (!strncmp(module, "python", 6) ||
			   !strncmp(module, "libpython", 9));
}

/* A function without a name that an allocator called. */
static bool is_inside_allocator(const struct heap_log *log,
				const struct heap_stack *stack, size_t at)
{
	return strstr(heap_log_frame(log, stack, at)->function, "+0x") &&
	       heap_frame_allocates_alone(
		       heap_log_frame(log, stack, at + 1)->function);
}

static bool is_in_library(const char *file)
{
	return file && (!strncmp(file, RUSTS_LIBRARY, strlen(RUSTS_LIBRARY)) ||
			strstr(file, CXXS_LIBRARY));
}

static bool is_library(const struct heap_place *place)
{
	return heap_frame_is_library(place->function) ||
	       is_in_library(place->file);
}

static bool is_allocators(const char *function, const char *file)
{
	return heap_frame_is_allocator(function) || is_in_library(file);
}

static bool is_allocator(const struct heap_place *place)
{
	return !place->is_last_resort &&
	       is_allocators(place->function, place->file);
}

/* The program's, that the compiler has put into a function of its library's: a
 * thread's or a std::function's lambda. */
static bool has_inlined(struct heap_log *log, struct heap_frame *frame)
{
	if (!heap_frame_is_library(frame->function))
		return false;
	heap_log_resolve(log, frame);
	for (size_t i = 0; i + 1 < frame->count; i++)
		if (frame->source[i].function && frame->source[i].file &&
		    !is_allocators(frame->source[i].function,
				   frame->source[i].file))
			return true;
	return false;
}

static bool is_passed_over(struct heap_log *log, const struct heap_stack *stack,
			   size_t at)
{
	struct heap_frame *frame = heap_log_frame(log, stack, at);

	return (heap_frame_is_allocator(frame->function) ||
		is_inside_allocator(log, stack, at)) &&
	       !has_inlined(log, frame);
}

/* What calls main(), or a thread's function. */
static bool is_beginning(const char *function)
{
	static const char *const all[] = {"__libc_start_call_main",
					  "__libc_start_main_impl",
					  "_start",
					  "start_thread",
					  "clone3",
					  "__clone3",
					  "__GI___clone3"};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(function, all[i]))
			return true;
	return false;
}

static bool is_of_cxx(const struct heap_frame *frame)
{
	return !strncmp(frame->module, "libstdc++", strlen("libstdc++")) ||
	       !strncmp(frame->module, "libc++", strlen("libc++"));
}

/* Instead of a thread's start: the last of its library's that was made for the
 * program, whose name says what for. */
static size_t last_resort(const struct heap_log *log,
			  const struct heap_stack *stack, size_t found)
{
	struct heap_frame *frame = heap_log_frame(log, stack, found);

	if (!is_of_cxx(frame) && !is_beginning(frame->function))
		return found;
	for (size_t at = found; at-- > 0;) {
		frame = heap_log_frame(log, stack, at);
		if (heap_frame_is_library(frame->function) &&
		    !is_of_cxx(frame)) {
			frame->is_last_resort = true;
			return at;
		}
	}
	return found;
}

/* Where the stack's place is: past the allocator's own frames, and where there
 * are Python functions past all that these called: who reads of NumPy's insides
 * doesn't know yet which line of his it was. */
static size_t place_at(struct heap_log *log, const struct heap_stack *stack)
{
	size_t at = 0;

	for (size_t i = 0; i < stack->count; i++)
		if (is_interpreted(heap_log_frame(log, stack, i)))
			return i;
	while (at + 1 < stack->count && is_passed_over(log, stack, at))
		at++;
	return last_resort(log, stack, at);
}

struct stack_text {
	struct text_buffer *text;
	size_t frames;
	bool has_begun;
	bool has_left_out; /* frames, since the last one */
	bool is_python;	   /* then its interpreter is left out */
	bool has_own;	   /* a function of the program's own was among them */
};

/* A Python function of the user's, not of a package. */
static bool is_own(const struct heap_place *place)
{
	return !place->address && place->file && place->file[0] != '<' &&
	       !strstr(place->file, "/lib/python3") &&
	       !strstr(place->file, "-packages/");
}

static bool add_place(void *arg, const struct heap_place *place)
{
	struct stack_text *to = arg;
	const bool own = is_own(place);

	if ((!to->has_begun && is_allocator(place)) ||
	    (to->is_python && is_interpreter(place->module, place->address)) ||
	    (!to->frames && !own))
		return true;
	if (to->has_begun && is_beginning(place->function))
		return false;
	/* What C++'s and Rust's libraries do in between takes no frame. */
	if (to->has_begun && is_library(place)) {
		to->has_left_out = true;
		return true;
	}
	if (to->has_begun)
		text_buffer_format(to->text, "%s < ",
				   to->frames && !to->has_left_out ? ""
								   : " ...");
	to->has_left_out = false;
	to->has_begun = true;
	to->has_own |= own;
	text_buffer_add_printable(to->text, place->function,
				  strlen(place->function), 120);
	if (place->file)
		text_buffer_format(to->text, " %s:%d", last_part(place->file),
				   place->line);
	else if (!strchr(place->function, '+'))
		text_buffer_format(to->text, " [%s]", place->module);
	/* Of a package's insides, the line of the program that went there. */
	to->frames -= to->frames > 0;
	return to->frames || (to->is_python && !to->has_own);
}

void heap_stack_text(struct heap_log *log, uint32_t stack, size_t frames,
		     struct text_buffer *text)
{
	struct stack_text to = {.text = text, .frames = frames};
	const struct heap_stack *of = heap_log_stack(log, stack);

	if (of && of->count) {
		const size_t first = place_at(log, of);

		to.is_python = is_interpreted(heap_log_frame(log, of, first));
		walk_from(log, of, first, add_place, &to);
	}
	if (!to.has_begun)
		text_buffer_format(text, "%s",
				   stack ? "(an allocator alone)"
					 : "(no stack)");
}

int64_t heap_site_cost(const struct heap_site *site, enum heap_cost cost)
{
	switch (cost) {
	case HEAP_COST_PEAK: return site->peak;
	case HEAP_COST_LIVE: return site->live;
	case HEAP_COST_BYTES: return site->bytes;
	case HEAP_COST_CALLS: return site->calls;
	case HEAP_COST_TEMPORARY: return site->temporary;
	case HEAP_COST_FOREIGN: return site->foreign;
	default: return 0;
	}
}

void heap_log_only(struct heap_log *log, const char *module)
{
	log->is_left_out = memory_zeroed(log->stacks.count + 1, sizeof(bool));
	for (uint32_t i = 0; i <= log->stacks.count; i++) {
		const struct heap_stack *stack = heap_log_stack(log, i);

		log->is_left_out[i] =
			!stack || !stack->count ||
			!strstr(heap_log_frame(log, stack, place_at(log, stack))
					->module,
				module);
	}
}

static uint32_t place_of(struct heap_log *log, uint32_t number)
{
	const struct heap_stack *stack = heap_log_stack(log, number);

	return stack && stack->count
		       ? log->frame_list[stack->first + place_at(log, stack)]
		       : UINT32_MAX;
}

static bool name_line(void *arg, const struct heap_place *place)
{
	if (is_allocator(place))
		return true;
	if (place->file)
		text_buffer_format(arg, "%s %s:%d", place->function,
				   place->file, place->line);
	else
		text_buffer_format(arg, "%s [%s]", place->function,
				   place->module);
	return false;
}

/* What makes stacks one row: the line, of which several calls may be inlined,
 * or where it isn't known the function. */
static void name_place(struct heap_log *log, uint32_t number,
		       struct text_buffer *key)
{
	const struct heap_stack *stack = heap_log_stack(log, number);

	if (stack && stack->count)
		walk_from(log, stack, place_at(log, stack), name_line, key);
	if (!key->len)
		text_buffer_format(key, "#%u", place_of(log, number));
}

struct suppression {
	const struct leak_list *list;
	bool is_found;
};

static bool look_for(void *arg, const struct heap_place *place)
{
	struct suppression *to = arg;

	to->is_found = leak_list_has(to->list, place->function) ||
		       leak_list_has(to->list, place->file) ||
		       leak_list_has(to->list, place->module);
	return !to->is_found;
}

static bool is_suppressed(struct heap_log *log, const struct leak_list *list,
			  uint32_t stack)
{
	struct suppression to = {list, false};

	if (list->count)
		heap_stack_walk(log, stack, look_for, &to);
	return to.is_found;
}

static int64_t weight(const struct heap_site *site)
{
	return site->peak + site->live + site->bytes / 1024;
}

int64_t heap_row_site_cost(const struct heap_row_site *one, enum heap_cost cost)
{
	return cost == HEAP_COST_GROWTH ? one->growth
					: heap_site_cost(one->site, cost);
}

const struct heap_site *heap_row_heaviest(const struct heap_row *row,
					  enum heap_cost cost)
{
	const struct heap_row_site *most = &row->sites[0];

	for (size_t i = 1; i < row->stacks; i++) {
		const int64_t more = heap_row_site_cost(&row->sites[i], cost) -
				     heap_row_site_cost(most, cost);

		if (more > 0 ||
		    (!more && weight(row->sites[i].site) > weight(most->site)))
			most = &row->sites[i];
	}
	return most->site;
}

static void add_site(struct heap_rows *rows, const struct heap_account *account,
		     const struct heap_site *site, bool leak_is_wanted)
{
	const struct heap_growth growth = heap_growth_site(account, site);
	struct text_buffer key = {0};
	struct heap_row *row;

	name_place(rows->log, site->stack, &key);
	text_buffer_format(&key, " %u %d", site->space, leak_is_wanted);
	row = key_table_row(&rows->table,
			    key_table_number(&rows->table, key.data, key.len));
	text_buffer_free(&key);
	row->space = site->space;
	row->is_suppressed = !leak_is_wanted;
	row->sites = memory_grow(row->sites, row->stacks, &row->capacity,
				 sizeof(row->sites[0]));
	row->sites[row->stacks++] = (struct heap_row_site){
		site, growth.grows ? (int64_t)growth.slope : 0};
	for (int i = 0; i < HEAP_COST_GROWTH; i++)
		row->cost[i] += heap_site_cost(site, (enum heap_cost)i);
	row->peak_blocks += site->peak_blocks;
	row->live_blocks += site->live_blocks;
	row->frees += site->frees;
	if (growth.grows) {
		row->cost[HEAP_COST_GROWTH] += (int64_t)growth.slope;
		row->low += growth.low;
		row->high += growth.high;
	}
}

void heap_rows_make(struct heap_rows *rows, struct heap_log *log,
		    const struct heap_account *account,
		    const struct leak_list *suppressed)
{
	memset(rows, 0, sizeof(*rows));
	rows->log = log;
	rows->table.row_bytes = sizeof(struct heap_row);
	for (size_t i = 0; i < heap_account_sites(account); i++) {
		const struct heap_site *site = heap_account_site(account, i);

		add_site(rows, account, site,
			 !is_suppressed(log, suppressed, site->stack));
	}
	rows->order = memory_zeroed(rows->table.count + 1, sizeof(size_t));
}

void heap_rows_free(struct heap_rows *rows)
{
	for (size_t i = 0; i < rows->table.count; i++) {
		struct heap_row *row = key_table_row(&rows->table, i);

		free(row->sites);
	}
	key_table_free(&rows->table);
	free(rows->order);
}

struct sorting {
	const struct heap_rows *rows;
	enum heap_cost cost;
};

static int by_cost(const void *a, const void *b, void *arg)
{
	const struct sorting *sorting = arg;
	const size_t one = *(const size_t *)a, other = *(const size_t *)b;
	const struct heap_row *left = key_table_row(&sorting->rows->table, one);
	const struct heap_row *right =
		key_table_row(&sorting->rows->table, other);
	const int64_t x = left->cost[sorting->cost];
	const int64_t y = right->cost[sorting->cost];

	if (x != y)
		return x > y ? -1 : 1;
	return one < other ? -1 : 1;
}

size_t heap_rows_sort(struct heap_rows *rows, uint32_t space,
		      enum heap_cost cost)
{
	const bool leaks = cost == HEAP_COST_LIVE || cost == HEAP_COST_GROWTH;
	struct sorting sorting = {rows, cost};
	size_t count = 0;

	for (size_t i = 0; i < rows->table.count; i++) {
		const struct heap_row *row = key_table_row(&rows->table, i);

		if (row->space == space && row->cost[cost] > 0 &&
		    !(leaks && row->is_suppressed))
			rows->order[count++] = i;
	}
	qsort_r(rows->order, count, sizeof(size_t), by_cost, &sorting);
	return count;
}

size_t heap_rows_suppressed(const struct heap_rows *rows, uint32_t space,
			    int64_t *bytes)
{
	size_t places = 0;

	for (size_t i = 0; i < rows->table.count; i++) {
		const struct heap_row *row = key_table_row(&rows->table, i);

		if (row->space != space || !row->is_suppressed ||
		    row->cost[HEAP_COST_LIVE] <= 0)
			continue;
		*bytes += row->cost[HEAP_COST_LIVE];
		places++;
	}
	return places;
}
