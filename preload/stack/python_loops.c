/* SPDX-License-Identifier: MIT */
/* python_loops.c - the loops of a function of Python; see python_loops.h. */
#include "preload/stack/python_loops.h"

#include <string.h>

#define NOWHERE UINT32_MAX

enum way {
	ON,	 /* to the next one */
	FORWARD, /* there, or on */
	JUMP,	 /* there */
	BACK,	 /* back, or on: closes a loop */
	CLOSE,	 /* back: closes a loop */
	AWAIT,	 /* back, in an await's own loop, which is none of the
		    program's */
	END,	 /* to the caller */
	PREFIX,	 /* on; the next one's argument has more bits */
	UNKNOWN	 /* some tool's, or machine code */
};

/* Operations from one number to another, of a version. */
struct operations {
	uint8_t first, last;
	uint8_t what; /* enum way; or units behind that belong to them */
};

struct version {
	uint32_t minor;
	const struct operations *ways, *behind;
	struct operations turns[2]; /* what a `for` loop begins with */
};

/* By Lib/opcode.py, with what the interpreter makes of them as it learns; the
 * last of each is 0 to 0. */
static const struct operations ways_11[] = {
	{34, 34, PREFIX},    {38, 38, CLOSE},	 {83, 83, END},
	{93, 93, FORWARD},   {110, 110, JUMP},	 {111, 112, FORWARD},
	{114, 115, FORWARD}, {119, 119, END},	 {123, 123, FORWARD},
	{128, 129, FORWARD}, {130, 130, END},	 {134, 134, AWAIT},
	{140, 140, CLOSE},   {144, 144, PREFIX}, {173, 176, BACK},
	{255, 255, UNKNOWN}, {0, 0, UNKNOWN},
};
static const struct operations behind_11[] = {
	{3, 8, 1},     {13, 14, 1},   {16, 16, 1},    {17, 25, 4},
	{26, 29, 2},   {39, 43, 4},   {47, 48, 5},    {55, 55, 5},
	{56, 59, 10},  {60, 60, 1},   {62, 63, 10},   {64, 67, 1},
	{72, 73, 1},   {76, 81, 1},   {92, 92, 1},    {95, 95, 4},
	{106, 106, 4}, {107, 107, 2}, {113, 113, 1},  {116, 116, 5},
	{121, 122, 1}, {127, 127, 1}, {141, 141, 1},  {143, 143, 1},
	{153, 154, 4}, {158, 159, 4}, {160, 160, 10}, {163, 163, 10},
	{166, 166, 1}, {168, 170, 1}, {171, 171, 4},  {177, 180, 1},
	{0, 0, 0},
};
static const struct operations ways_12[] = {
	{62, 65, FORWARD},  {83, 83, END},	 {93, 93, FORWARD},
	{110, 110, JUMP},   {114, 115, FORWARD}, {119, 119, END},
	{121, 121, END},    {123, 123, FORWARD}, {128, 129, FORWARD},
	{130, 130, END},    {134, 134, AWAIT},	 {140, 140, CLOSE},
	{144, 144, PREFIX}, {168, 168, FORWARD}, {237, 255, UNKNOWN},
	{0, 0, UNKNOWN},
};
static const struct operations behind_12[] = {
	{6, 8, 1},     {10, 10, 1},   {13, 14, 1},   {16, 16, 1},
	{18, 22, 1},   {23, 24, 3},   {25, 25, 1},   {28, 29, 3},
	{34, 34, 3},   {38, 48, 3},   {56, 56, 3},   {57, 60, 1},
	{62, 67, 1},   {70, 70, 9},   {72, 73, 9},   {76, 82, 9},
	{92, 93, 1},   {95, 95, 4},   {106, 106, 9}, {107, 107, 1},
	{111, 113, 4}, {116, 116, 4}, {122, 123, 1}, {141, 141, 1},
	{148, 148, 4}, {153, 153, 4}, {159, 161, 1}, {166, 168, 1},
	{171, 171, 3}, {0, 0, 0},
};
static const struct operations ways_13[] = {
	{36, 36, END},	     {70, 70, UNKNOWN},	  {71, 71, PREFIX},
	{72, 72, FORWARD},   {77, 77, CLOSE},	  {78, 78, AWAIT},
	{79, 79, JUMP},	     {97, 100, FORWARD},  {101, 103, END},
	{104, 104, FORWARD}, {187, 190, FORWARD}, {208, 208, FORWARD},
	{236, 255, UNKNOWN}, {0, 0, UNKNOWN},
};
static const struct operations behind_13[] = {
	{3, 3, 1},     {5, 5, 1},     {39, 39, 1},   {40, 40, 3},
	{45, 45, 1},   {53, 53, 3},   {58, 59, 1},   {72, 72, 1},
	{77, 77, 1},   {82, 82, 9},   {91, 91, 4},   {93, 93, 1},
	{97, 100, 1},  {104, 104, 1}, {108, 108, 4}, {117, 117, 1},
	{150, 161, 1}, {162, 181, 3}, {182, 190, 1}, {191, 202, 9},
	{203, 204, 4}, {205, 206, 1}, {208, 208, 1}, {209, 211, 4},
	{212, 213, 1}, {214, 219, 3}, {220, 222, 1}, {0, 0, 0},
};
static const struct operations ways_14[] = {
	{20, 20, END},	     {35, 35, END},	  {69, 69, PREFIX},
	{70, 70, FORWARD},   {75, 75, CLOSE},	  {76, 76, AWAIT},
	{77, 77, JUMP},	     {100, 103, FORWARD}, {104, 105, END},
	{106, 106, FORWARD}, {171, 174, FORWARD}, {175, 176, CLOSE},
	{197, 197, FORWARD}, {234, 255, UNKNOWN}, {0, 0, UNKNOWN},
};
static const struct operations behind_14[] = {
	{3, 3, 5},     {38, 38, 1},   {39, 39, 3},   {44, 44, 5},
	{52, 52, 3},   {55, 55, 3},   {56, 57, 1},   {70, 70, 1},
	{75, 75, 1},   {80, 80, 9},   {92, 92, 4},   {96, 96, 1},
	{100, 103, 1}, {106, 106, 1}, {110, 110, 4}, {119, 119, 1},
	{129, 142, 5}, {143, 165, 3}, {166, 176, 1}, {177, 189, 9},
	{192, 193, 4}, {194, 195, 1}, {197, 197, 1}, {198, 200, 4},
	{201, 202, 1}, {203, 208, 3}, {209, 211, 1}, {0, 0, 0},
};
static const struct operations ways_15[] = {
	{18, 18, END},	     {33, 33, END},	  {67, 67, PREFIX},
	{68, 68, FORWARD},   {74, 74, CLOSE},	  {75, 75, AWAIT},
	{76, 76, JUMP},	     {99, 102, FORWARD},  {103, 104, END},
	{105, 105, FORWARD}, {174, 178, FORWARD}, {181, 182, CLOSE},
	{202, 204, FORWARD}, {233, 255, UNKNOWN}, {0, 0, UNKNOWN},
};
static const struct operations behind_15[] = {
	{3, 3, 5},     {4, 4, 1},     {36, 36, 1},   {37, 37, 3},
	{42, 42, 5},   {50, 50, 3},   {53, 53, 3},   {54, 55, 1},
	{68, 68, 1},   {70, 70, 1},   {74, 74, 1},   {79, 79, 9},
	{91, 91, 4},   {95, 95, 1},   {99, 102, 1},  {105, 105, 1},
	{109, 109, 4}, {118, 118, 1}, {128, 128, 1}, {129, 143, 5},
	{144, 150, 3}, {151, 152, 1}, {153, 168, 3}, {169, 182, 1},
	{183, 195, 9}, {196, 197, 4}, {198, 204, 1}, {205, 207, 4},
	{208, 209, 1}, {210, 215, 3}, {216, 218, 1}, {0, 0, 0},
};
static const struct version versions[] = {
	{11, ways_11, behind_11, {{93, 93, ON}, {93, 93, ON}}},
	{12, ways_12, behind_12, {{93, 93, ON}, {62, 65, ON}}},
	{13, ways_13, behind_13, {{72, 72, ON}, {187, 190, ON}}},
	{14, ways_14, behind_14, {{70, 70, ON}, {171, 174, ON}}},
	{15, ways_15, behind_15, {{68, 68, ON}, {174, 178, ON}}},
};

/* Each unit that an instruction begins with. */
static struct {
	uint32_t units;
	uint32_t next[PYTHON_UNITS_MAX];   /* NOWHERE: it never goes on */
	uint32_t target[PYTHON_UNITS_MAX]; /* NOWHERE: it doesn't jump */
	bool begins[PYTHON_UNITS_MAX];
	bool closes[PYTHON_UNITS_MAX]; /* a loop */
	bool is_seen[PYTHON_UNITS_MAX];
	uint32_t stack[2 * PYTHON_UNITS_MAX];
	bool is_busy;
} graph;

static uint8_t find(const struct operations *all, uint8_t operation)
{
	if (!operation)
		return UNKNOWN;
	for (; all->last; all++) {
		if (operation >= all->first && operation <= all->last)
			return all->what;
	}
	return ON;
}

static void read_one(uint32_t at, enum way way, uint32_t argument)
{
	const uint32_t next = graph.next[at];

	if (way == FORWARD || way == JUMP)
		graph.target[at] = next + argument;
	else if (way == BACK || way == CLOSE || way == AWAIT)
		graph.target[at] = next - argument;
	graph.closes[at] =
		(way == BACK || way == CLOSE) && graph.target[at] <= at;
	if (way == JUMP || way == CLOSE || way == AWAIT || way == END)
		graph.next[at] = NOWHERE;
}

static bool read_all(const struct version *version, const unsigned char *code,
		     uint32_t units)
{
	uint32_t argument = 0, at = 0;

	graph.units = units;
	memset(graph.begins, 0, units);
	memset(graph.closes, 0, units);
	while (at < units) {
		const uint8_t operation = code[2 * at];
		const enum way way = find(version->ways, operation);
		const uint32_t next = at + 1 + find(version->behind, operation);

		if (way == UNKNOWN || next > units)
			return false;
		argument = argument << 8 | code[2 * at + 1];
		graph.begins[at] = true;
		graph.next[at] = next;
		graph.target[at] = NOWHERE;
		read_one(at, way, argument);
		if (way != PREFIX)
			argument = 0;
		at = next;
	}
	return true;
}

static void push(uint32_t at, uint32_t head, uint32_t *depth)
{
	if (at >= graph.units || at == head || graph.is_seen[at])
		return;
	graph.is_seen[at] = true;
	graph.stack[(*depth)++] = at;
}

/* From there the loop's beginning is reached, and by a jump back to it. */
static bool is_in_loop(uint32_t from, uint32_t head)
{
	uint32_t depth = 0, at = from;

	memset(graph.is_seen, 0, graph.units);
	for (;;) {
		if (graph.closes[at] && graph.target[at] == head)
			return true;
		push(graph.next[at], head, &depth);
		push(graph.target[at], head, &depth);
		if (!depth)
			return false;
		at = graph.stack[--depth];
	}
}

/* Some jump leads back to it. */
static void mark_heads(bool *is_head)
{
	memset(is_head, 0, graph.units);
	for (uint32_t i = 0; i < graph.units; i++) {
		if (graph.begins[i] && graph.closes[i])
			is_head[graph.target[i]] = true;
	}
}

/* It begins with what takes the next one, and maybe with more of its argument.
 */
static bool is_for(const struct version *version, const unsigned char *code,
		   uint32_t head)
{
	while (find(version->ways, code[2 * head]) == PREFIX &&
	       head + 1 < graph.units)
		head++;
	for (unsigned int i = 0; i < 2; i++) {
		if (code[2 * head] >= version->turns[i].first &&
		    code[2 * head] <= version->turns[i].last)
			return true;
	}
	return false;
}

static bool look(uint32_t minor, const unsigned char *code, uint32_t units,
		 uint32_t at, struct code_loops *loops)
{
	static bool is_head[PYTHON_UNITS_MAX];
	const struct version *version = versions;
	const struct version *const end =
		versions + sizeof(versions) / sizeof(versions[0]);

	while (version < end && version->minor != minor)
		version++;
	if (version == end || at >= units || !read_all(version, code, units))
		return false;
	while (!graph.begins[at])
		at--;
	mark_heads(is_head);
	for (uint32_t head = 0; head <= at; head++) {
		if (!is_head[head] || !is_in_loop(at, head))
			continue;
		if (is_for(version, code, head)) {
			loops->is_mixed |= loops->count > loops->counted;
			loops->counted++;
		}
		loops->count++;
		loops->within = loops->innermost;
		loops->innermost = head + 1;
	}
	return true;
}

bool python_loops_around(uint32_t minor, const unsigned char *code,
			 uint32_t units, uint32_t at, struct code_loops *loops)
{
	bool is_known;

	*loops = (struct code_loops){0};
	/* In a signal's handler, of the same thread. */
	if (graph.is_busy || units > PYTHON_UNITS_MAX)
		return false;
	graph.is_busy = true;
	is_known = look(minor, code, units, at, loops);
	graph.is_busy = false;
	return is_known;
}
