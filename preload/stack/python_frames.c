/* SPDX-License-Identifier: MIT */
/* python_frames.c - reads CPython's frames; see python_frames.h. */
#include "preload/stack/python_frames.h"

#include "preload/process/no_gil.h"
#include "preload/process/object_tables.h"

#include "collector/control/stack_choice.h"
#include "collector/session/names.h"
#include "collector/session/stacks.h"
#include "collector/system/log.h"
#include "preload/stack/line_table.h"
#include "preload/stack/python_eval.h"
#include "preload/stack/python_layout.h"
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FRAMES_MAX     PYTHON_FRAMES_MAX
#define FRAME_BYTES    112u /* as much of a frame as any version needs */
#define CODE_BYTES     144u /* ... and of a code object */
#define WINDOW	       2048u
#define WINDOW_MOST    4096u
#define ABOVE	       512u /* of calls that were made since the last stack */
#define GUESSES	       256u
#define TEXT_BYTES     200u
#define CACHE	       4096u
#define TRIES_MAX      64u

/* From 3.13 on it describes itself. */
#define SAID_SINCE     13

#define RUNTIME_COOKIE "xdebugpy"
#define RUNTIME_WORDS  64
enum { WORD_COOKIE, WORD_VERSION, WORD_FREE_THREADED };

/* What lies where among them. */
enum { STATE_FRAME = 4 };
enum {
	FRAME_PREVIOUS = 1,
	FRAME_CODE,
	FRAME_INSTRUCTION,
	FRAME_VARIABLES,
	FRAME_OWNER
};
enum { CODE_FILE = 1, CODE_NAME = 3, CODE_LINES, CODE_FIRST, CODE_START = 9 };
enum { OBJECT_SIZE, OBJECT_TYPE };
#define ASCII_TEXT 40

/* From this owner on a frame only marks where C called in. */
#define OWNED_BY_C 3
/* A code object is marked there by whom it is counted. */
#define CODE_MARKS UINT64_C(3)

/* Where a thread's frames lay when its last stack was taken. */
struct guess {
	_Atomic uint64_t link, low, high;
};

static struct python {
	const struct python_layout *layout;
	struct python_layout said; /* by the interpreter itself */
	void *(*this_state)(void);
	uint64_t run_main;  /* Py_RunMain() */
	uint64_t code_type; /* &PyCode_Type */
	int pid;
	char version[16];
	bool is_there, lacks_gil;
	_Atomic bool has_cache; /* ... which is of this session */
	bool only_reads; /* the kernel, or who confines us, lets us not write */
	_Atomic uint32_t good, bad; /* stacks whose frames were and weren't */
	_Atomic uint32_t apart;	    /* stacks without the loop */
	_Atomic bool is_noted;
	/* Half a hash and the name, the other half and the line. */
	_Atomic uint64_t cache[CACHE][2];
	struct guess guess[GUESSES]; /* by the thread's state */
} python;

/* What was read of the frames' memory, which lies together. */
struct frame_window {
	uint64_t at;
	uint64_t bytes;
	uint64_t head[2]; /* read with what follows */
	unsigned char data[WINDOW_MOST];
};

COLD void python_frames_forget(void)
{
	python.pid = (int)getpid();
	store_relaxed(&python.has_cache, false);
}

COLD void python_frames_start(struct session *session)
{
	python.pid = (int)getpid();
	store_relaxed(&python.good, 0);
	store_relaxed(&python.bad, 0);
	store_relaxed(&python.apart, 0);
	store_relaxed(&python.is_noted, false);
	/* Ids of names are the session's. */
	for (uint32_t i = 0; i < CACHE; i++)
		store_relaxed(&python.cache[i][0], 0);
	store_relaxed(&python.has_cache, true);
	if (!python.is_there || python.layout)
		return;
	if (python.lacks_gil)
		session_note(session, NO_GIL_NOTE);
	else
		session_note(session,
			     "no Python functions in call stacks: the frames "
			     "of CPython %s are not known",
			     python.version);
}

/* Copies what may not be there, up to the first that isn't.  Asked to
 * write, the kernel pins the pages of `mine`, which are few and at hand, and
 * copies from the others as any call does; asked to read it would look up and
 * pin each of
 * theirs, in several times the time. */
static uint64_t copy_some(const struct iovec *mine, const struct iovec *theirs,
			  uint32_t count)
{
	long copied;

	if (unlikely(python.only_reads))
		copied = syscall(SYS_process_vm_readv, python.pid, mine, 1,
				 theirs, count, 0);
	else
		copied = syscall(SYS_process_vm_writev, python.pid, theirs,
				 count, mine, 1, 0);
	return copied > 0 ? (uint64_t)copied : 0;
}

static bool copy(const struct iovec *mine, const struct iovec *theirs,
		 uint32_t count)
{
	return copy_some(mine, theirs, count) == mine->iov_len;
}

static bool peek(uint64_t address, void *to, size_t bytes)
{
	const struct iovec mine = {to, bytes};
	const struct iovec theirs = {(void *)(uintptr_t)address, bytes};

	return address > PAGE_BYTES && copy(&mine, &theirs, 1);
}

static bool peek_word(uint64_t address, uint64_t *word)
{
	return peek(address, word, sizeof(*word));
}

static bool is_right(const uint64_t *word, const struct python_words *at)
{
	return word[WORD_VERSION] >> 16 == (0x300u | at->minor) &&
	       word[at->object + OBJECT_SIZE] == 16 &&
	       word[at->object + OBJECT_TYPE] == 8;
}

/* What the interpreter says of itself.  Not of one without a GIL: its threads
 * have code of their own, and its objects another head. */
static COLD bool is_said(const void *runtime)
{
	struct python_layout *said = &python.said;
	uint64_t word[RUNTIME_WORDS];

	if (!peek((uint64_t)(uintptr_t)runtime, word, sizeof(word)) ||
	    memcmp(&word[WORD_COOKIE], RUNTIME_COOKIE, sizeof(word[0])))
		return false;
	python.lacks_gil = word[WORD_FREE_THREADED];
	if (python.lacks_gil)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const uint64_t *state = &word[words[i].state];
		const uint64_t *frame = &word[words[i].frame];
		const uint64_t *code = &word[words[i].code];

		if (!is_right(word, &words[i]))
			continue;
		*said = (struct python_layout){
			.minor = words[i].minor,
			.state_frame = (uint16_t)state[STATE_FRAME],
			.cframe_frame = NONE,
			.code = (uint16_t)frame[FRAME_CODE],
			.previous = (uint16_t)frame[FRAME_PREVIOUS],
			.instruction = (uint16_t)frame[FRAME_INSTRUCTION],
			.entry = NONE,
			.owner = (uint16_t)frame[FRAME_OWNER],
			.first_line = (uint16_t)code[CODE_FIRST],
			.file = (uint16_t)code[CODE_FILE],
			.name = (uint16_t)code[CODE_NAME],
			.lines = (uint16_t)code[CODE_LINES],
			.start = (uint16_t)code[CODE_START],
			.ascii_text = ASCII_TEXT,
			.utf8 = ASCII_TEXT + 8,
			.variables = (uint16_t)frame[FRAME_VARIABLES],
		};
	}
	/* As much as is read of each. */
	return said->minor && said->code <= FRAME_BYTES - 8 &&
	       said->previous <= FRAME_BYTES - 8 &&
	       said->instruction <= FRAME_BYTES - 8 &&
	       said->owner < FRAME_BYTES &&
	       said->first_line <= CODE_BYTES - 8 &&
	       said->file <= CODE_BYTES - 8 && said->name <= CODE_BYTES - 8 &&
	       said->lines <= CODE_BYTES - 8;
}

COLD bool python_frames_find(void)
{
	const char *(*version)(void);
	uint64_t word;

	*(void **)&version = dlsym(RTLD_DEFAULT, "Py_GetVersion");
	*(void **)&python.this_state =
		dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
	python.code_type =
		(uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Type");
	if (!version || !python.this_state || !python.code_type ||
	    !python_eval_find())
		return false;
	python.is_there = true;
	python.pid = (int)getpid();
	python.only_reads = false;
	python.only_reads = !peek_word(python.code_type, &word);
	/* "3.14.0 (main, ..." */
	log_format(python.version, sizeof(python.version), "%.*s",
		   (int)min_u64(strcspn(version(), " "), 10), version());
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		char wanted[8];

		log_format(wanted, sizeof(wanted), "3.%u.", layouts[i].minor);
		if (!strncmp(python.version, wanted, strlen(wanted)))
			python.layout = &layouts[i];
	}
	/* What older ones lack isn't looked for: the loader would allocate. */
	if (!python.layout && atoi(python.version + 2) >= SAID_SINCE &&
	    is_said(dlsym(RTLD_DEFAULT, "_PyRuntime")))
		python.layout = &python.said;
	if (python.layout)
		python.run_main =
			(uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "Py_RunMain");
	return python.layout != NULL;
}

COLD void python_frames_look(void)
{
	if (python.is_there || !object_tables_export(PYTHON_EVAL))
		return;
	python_frames_find();
	/* Of what a version lacks the program is told nothing. */
	dlerror();
}

/* A frame, by way of the window: a caller's lies shortly before. */
static const unsigned char *look(struct frame_window *window, uint64_t address)
{
	/* Where this page begins is as much there as the frame is. */
	const uint64_t page = address & ~(uint64_t)(PAGE_BYTES - 1);

	if (address - window->at < window->bytes &&
	    window->bytes - (address - window->at) >= FRAME_BYTES)
		return &window->data[address - window->at];
	/* Where a sum wraps, nothing can be read either. */
	window->at = max_u64(page, address + FRAME_BYTES - WINDOW);
	window->bytes = address + FRAME_BYTES - window->at;
	if (!peek(window->at, window->data, window->bytes)) {
		window->bytes = 0;
		return NULL;
	}
	return &window->data[address - window->at];
}

static uint64_t word_of(const unsigned char *data, uint16_t at)
{
	uint64_t word;

	memcpy(&word, data + at, sizeof(word));
	return word;
}

static struct guess *guess_of(uint64_t state)
{
	return &python.guess[(state * UINT64_C(0x9e3779b97f4a7c15) >> 32) %
			     GUESSES];
}

/* The thread's innermost frame: one word leads to it, or two.  One call of the
 * kernel takes these and the frames from where they lay the last time; what
 * lies elsewhere by now is read again. */
static uint64_t first_frame(struct frame_window *window, uint64_t state)
{
	const struct python_layout *layout = python.layout;
	const bool has_link = layout->cframe_frame != NONE;
	const struct guess *guess = guess_of(state);
	const uint64_t link = load_relaxed(&guess->link);
	const uint64_t low = load_relaxed(&guess->low);
	const uint64_t high = load_relaxed(&guess->high);
	const uint64_t word = state + layout->state_frame;
	const uint64_t second = has_link ? link + layout->cframe_frame : word;
	const bool is_sound = link && low < high && high - low <= WINDOW_MOST;
	const struct iovec mine = {window->head,
				   sizeof(window->head) + (high - low)};
	const struct iovec first = {window->head, sizeof(word)};
	const struct iovec theirs[] = {
		{(void *)(uintptr_t)word, sizeof(word)},
		{(void *)(uintptr_t)second, sizeof(word)},
		{(void *)(uintptr_t)low, high - low}};
	const uint64_t got =
		copy_some(is_sound ? &mine : &first, theirs, is_sound ? 3 : 1);

	if (got > sizeof(window->head)) {
		window->at = low;
		window->bytes = got - sizeof(window->head);
	}
	if (got < sizeof(word))
		return 0;
	if (!has_link || (window->head[0] == link && got >= 2 * sizeof(word)))
		return window->head[has_link];
	if (!peek_word(window->head[0] + layout->cframe_frame,
		       &window->head[1]))
		return 0;
	return window->head[1];
}

/* `low` is the lowest of the frames that lie near the innermost. */
static void guess_next(uint64_t state, uint64_t link, uint64_t innermost,
		       uint64_t low)
{
	struct guess *guess = guess_of(state);
	const uint64_t high = innermost + ABOVE;

	store_relaxed(&guess->link, link);
	store_relaxed(&guess->low, max_u64(low, high - WINDOW_MOST));
	store_relaxed(&guess->high, high);
}

/* All of the thread's frames, innermost first. */
static uint32_t walk(struct python_frame *found)
{
	const struct python_layout *layout = python.layout;
	const uint64_t state = (uint64_t)(uintptr_t)python.this_state();
	struct frame_window window;
	uint64_t address, innermost, low;
	uint32_t count = 0;

	window.at = window.bytes = 0;
	address = state ? first_frame(&window, state) : 0;
	innermost = low = address;

	while (address && count < FRAMES_MAX) {
		const unsigned char *frame = look(&window, address);
		const uint64_t at = address;
		int32_t index;

		if (!frame)
			break;
		/* Others lie in another piece of memory. */
		if (address < low && innermost - address < WINDOW_MOST)
			low = address;
		address = word_of(frame, layout->previous);
		if (layout->owner != NONE &&
		    frame[layout->owner] >= OWNED_BY_C) {
			if (count)
				found[count - 1].ends_run = true;
			continue;
		}
		found[count] = (struct python_frame){
			.code = word_of(frame, layout->code) & ~CODE_MARKS,
			.instruction = word_of(frame, layout->instruction),
			.at = at,
			.first = layout->locals ? word_of(frame, layout->locals)
						: 0,
			.ends_run =
				layout->owner == NONE &&
				(layout->entry == NONE || frame[layout->entry]),
		};
		if (layout->start == NONE) {
			/* An index of instructions of two bytes. */
			memcpy(&index, frame + layout->instruction,
			       sizeof(index));
			found[count].instruction =
				2 * (uint64_t)(uint32_t)index;
		}
		count++;
	}
	if (count)
		guess_next(state, window.head[0], innermost, low);
	return count;
}

/* The code objects of all frames at once: 0 where one can't be read. */
static bool read_codes(const struct python_frame *frames, uint32_t count,
		       unsigned char (*codes)[CODE_BYTES])
{
	struct iovec theirs[FRAMES_MAX];
	const struct iovec mine = {codes, (size_t)count * CODE_BYTES};

	for (uint32_t i = 0; i < count; i++)
		theirs[i] = (struct iovec){(void *)(uintptr_t)frames[i].code,
					   CODE_BYTES};
	return copy(&mine, theirs, count);
}

/* Its state: interned, 2 bits or of late 16; kind, 3 bits and never 0; compact;
 * ascii. */
static bool is_ascii(const unsigned char *head)
{
	return head[32] & 0x1c ? head[32] & 0x40 : head[34] & 0x10;
}

/* A str's text, cut; what isn't ASCII only where it has UTF-8 ready. */
static void read_text(uint64_t object, char *text, size_t bytes)
{
	const struct python_layout *layout = python.layout;
	unsigned char head[64];
	uint64_t length, from;

	log_format(text, bytes, "?");
	if (!peek(object, head, sizeof(head)))
		return;
	length = word_of(head, 16);
	from = object + layout->ascii_text;
	if (!is_ascii(head)) {
		from = word_of(head, layout->utf8);
		length = word_of(head, (uint16_t)(layout->utf8 - 8));
	}
	/* The end of a path says more than its beginning. */
	if (length >= bytes) {
		from += length - (bytes - 1);
		length = bytes - 1;
	}
	if (from && peek(from, text, length))
		text[length] = '\0';
	else
		log_format(text, bytes, "?");
}

static int32_t line_of(const unsigned char *code,
		       const struct python_frame *frame)
{
	const struct python_layout *layout = python.layout;
	const uint64_t bytes = word_of(code, layout->lines);
	struct line_table table = {.at = bytes + 32, .peek = peek};
	uint64_t length;
	int32_t first;

	memcpy(&first, code + layout->first_line, sizeof(first));
	if (!peek_word(bytes + 16, &length))
		return first;
	table.end = table.at + length;
	if (layout->start == NONE)
		return line_table_find_10(&table, first, frame->instruction);
	return line_table_find(&table, first,
			       frame->instruction - frame->code -
				       layout->start);
}

/* A frame's own word for its function, or 0: this is no code object. */
static uint64_t name_of(struct session *session, const unsigned char *code,
			const struct python_frame *frame)
{
	const struct python_layout *layout = python.layout;
	const uint64_t file = word_of(code, layout->file);
	const uint64_t name = word_of(code, layout->name);
	uint64_t hash = (frame->code ^ frame->instruction << 20) *
			UINT64_C(0x9e3779b97f4a7c15);
	char text[2 * TEXT_BYTES];
	_Atomic uint64_t *place;
	uint64_t known, half;
	uint32_t id, line;
	size_t bytes;

	if (word_of(code, 8) != python.code_type)
		return 0;
	hash = (hash ^ frame->instruction ^ file) *
	       UINT64_C(0x9fb21c651e98df25);
	hash = (hash ^ hash >> 29 ^ name) * UINT64_C(0xbf58476d1ce4e5b9);
	place = python.cache[hash % CACHE];
	known = load_relaxed(&place[0]);
	half = load_relaxed(&place[1]);
	if (known && known >> 32 == hash >> 32 && half << 32 == hash << 32)
		return stacks_named((uint32_t)known, (uint32_t)(half >> 32));
	read_text(file, text, TEXT_BYTES);
	bytes = strlen(text) + 1;
	read_text(name, text + bytes, TEXT_BYTES);
	line = (uint32_t)line_of(code, frame);
	id = names_intern_spare(session, text, bytes + strlen(text + bytes));
	store_relaxed(&place[0], hash >> 32 << 32 | id);
	store_relaxed(&place[1], (uint64_t)line << 32 | (uint32_t)hash);
	return stacks_named(id, line);
}

uint64_t python_frames_main(void)
{
	return python.run_main;
}

const struct python_layout *python_frames_layout(void)
{
	return python.layout;
}

bool python_frames_peek(uint64_t address, void *to, size_t bytes)
{
	return peek(address, to, bytes);
}

/* Says once that there will be no functions of Python. */
static COLD void give_up(struct session *session, const char *what,
			 const char *why)
{
	if (!load_relaxed(&python.good) && !load_relaxed(&python.is_noted)) {
		store_relaxed(&python.is_noted, true);
		session_note(session,
			     "no Python functions in call stacks: the %s of "
			     "CPython %s %s",
			     what, python.version, why);
	}
}

/* A stack without the loop, as all are of an interpreter whose operations are
 * functions that jump to each other. */
static void miss_loop(struct session *session)
{
	struct python_frame found[FRAMES_MAX];

	if (!load_relaxed(&python.good) && !load_relaxed(&python.is_noted) &&
	    walk(found) && add_relaxed(&python.apart, 1) > TRIES_MAX)
		give_up(session, "loop", "isn't in them");
}

/* The frames that call each other, native and interpreted. */
struct spliced {
	uint64_t *out;
	uint32_t made, most;
	struct python_frame found[FRAMES_MAX];
	unsigned char codes[FRAMES_MAX][CODE_BYTES];
	uint32_t next, there;
};

static void put_python(struct session *session, struct spliced *to)
{
	const uint64_t name =
		name_of(session, to->codes[to->next], &to->found[to->next]);

	if (name)
		to->out[to->made++] = name;
	to->next++;
}

/* Not all have room: the outer half is left to Python's. */
static void prefer_python(struct session *session, struct spliced *to)
{
	const uint32_t wanted = min_u32(to->there, to->most / 2);

	to->made = min_u32(to->made, to->most - wanted);
	to->next = 0;
	for (uint32_t i = 0; i < to->made; i++)
		to->next += (to->out[i] & STACK_NAMED) != 0;
	while (to->next < to->there && to->made < to->most)
		put_python(session, to);
}

/* Reads the thread's frames.  False: there are none, or none that are known. */
static bool read_all(struct session *session, struct spliced *to, bool is_sure)
{
	to->next = 0;
	to->there = walk(to->found);
	if (!to->there || !read_codes(to->found, to->there, to->codes) ||
	    word_of(to->codes[0], 8) != python.code_type) {
		if (is_sure && add_relaxed(&python.bad, 1) > TRIES_MAX)
			give_up(session, "frames", "could not be read");
		return false;
	}
	if (!load_relaxed(&python.good))
		store_relaxed(&python.good, 1);
	return true;
}

uint32_t python_frames_append(struct session *session, uint64_t *frames,
			      uint32_t most)
{
	uint64_t out[STACK_DEPTH_MAX];
	struct spliced to = {.out = out, .made = 0, .most = most};

	if (!python.layout || load_relaxed(&python.is_noted) ||
	    !read_all(session, &to, python_eval_holds(frames[0])))
		return 1;
	if (!python_eval_holds(frames[0]))
		out[to.made++] = frames[0];
	while (to.next < to.there && to.made < most)
		put_python(session, &to);
	if (!to.made)
		return 1;
	memcpy(frames, out, to.made * sizeof(out[0]));
	return to.made;
}

uint32_t python_frames_splice(struct session *session, uint64_t *frames,
			      uint32_t count, uint32_t most, bool is_whole)
{
	uint64_t out[STACK_DEPTH_MAX];
	struct spliced to = {.out = out, .made = 0, .most = most};
	const bool is_cut = count >= most;
	const bool goes_up = is_cut || !is_whole;
	uint32_t loops = 0;

	for (uint32_t i = 0; i < count; i++)
		loops += python_eval_holds(frames[i]);
	if (!loops && !goes_up)
		miss_loop(session);
	if ((!loops && !goes_up) || load_relaxed(&python.is_noted))
		return min_u32(count, most);
	if (!read_all(session, &to, loops))
		return min_u32(count, most);
	for (uint32_t i = 0; i < count && to.made < most; i++) {
		bool goes_on =
			python_eval_holds(frames[i]) && to.next < to.there;

		if (!goes_on)
			out[to.made++] = frames[i];
		while (goes_on && to.made < most) {
			goes_on = !to.found[to.next].ends_run &&
				  to.next + 1 < to.there;
			put_python(session, &to);
		}
	}
	if (is_cut && to.next < to.there)
		prefer_python(session, &to);
	/* What lies between is not known, but that they called it is. */
	while (!is_whole && to.next < to.there && to.made < most)
		put_python(session, &to);
	memcpy(frames, out, to.made * sizeof(out[0]));
	return to.made;
}

uint32_t python_frames_take(struct python_frame *found)
{
	uint64_t type;
	uint32_t count;

	if (!python.layout)
		return 0;
	/* No recording may have begun in this child. */
	if (python.pid != (int)getpid())
		python.pid = (int)getpid();
	count = walk(found);
	return count && peek_word(found[0].code + 8, &type) &&
			       type == python.code_type
		       ? count
		       : 0;
}

/* A package's, the interpreter's, or generated. */
static bool is_packaged(const char *text)
{
	return *text == '<' || strstr(text, "/site-packages/") ||
	       strstr(text, "/dist-packages/") || strstr(text, "/lib/python");
}

uint32_t python_frames_line(struct session *session)
{
	struct spliced all = {.made = 0};

	if (!python.layout || load_relaxed(&python.is_noted))
		return 0;
	if (unlikely(!load_relaxed(&python.has_cache)))
		python_frames_start(session);
	if (!read_all(session, &all, false))
		return 0;
	for (uint32_t i = 0; i < all.there; i++) {
		const uint64_t frame =
			name_of(session, all.codes[i], &all.found[i]);
		char text[STACK_NAME_BYTES];
		uint32_t name;

		if (!frame || (uint32_t)frame == NAME_REFUSED)
			continue;
		stacks_name(session, frame, text);
		if (is_packaged(text))
			continue;
		name = names_intern_string(session, text);
		return name == NAME_REFUSED ? 0
					    : name | (i ? SCOPE_LINE_BELOW : 0);
	}
	return 0;
}
