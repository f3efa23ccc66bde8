/* SPDX-License-Identifier: MIT */
/* folded_name.c - folds template arguments; see folded_name.h. */
#include "collector/system/folded_name.h"

#include <stdbool.h>
#include <string.h>

/* What is folded is much shorter; of what isn't, the end is kept. */
#define FOLDING_BYTES 1024u
#define DOTS	      "..."

struct folding {
	char text[FOLDING_BYTES];
	size_t len;
};

static void add(struct folding *folded, const char *text, size_t len)
{
	const size_t half = sizeof(folded->text) / 2, dots = sizeof(DOTS) - 1;

	if (len > half)
		len = half;
	if (len > sizeof(folded->text) - 1 - folded->len) {
		memcpy(folded->text, DOTS, dots);
		memmove(folded->text + dots,
			folded->text + folded->len - (half - 2 * dots),
			half - 2 * dots);
		folded->len = half - dots;
	}
	memcpy(folded->text + folded->len, text, len);
	folded->len += len;
	folded->text[folded->len] = '\0';
}

/* The < or > at `at` belongs to an operator's name or to an arrow. */
static bool is_operator(const char *name, size_t at)
{
	static const char word[] = "operator";
	const size_t len = sizeof(word) - 1;
	size_t start = at;

	if (at && name[at] == '>' && name[at - 1] == '-')
		return true;
	while (start && strchr("<>-=", name[start - 1]))
		start--;
	return start >= len && !strncmp(name + start - len, word, len);
}

/* Back over what stands in brackets before `end`; `end` if nothing does. */
static size_t before_brackets(const char *name, size_t end, char open,
			      char close)
{
	size_t depth = 0;

	if (!end || name[end - 1] != close)
		return end;
	for (size_t at = end; at > 0; at--) {
		if (name[at - 1] == close && !is_operator(name, at - 1))
			depth++;
		else if (name[at - 1] == open && --depth == 0)
			return at - 1;
	}
	return end;
}

/* What is run in parallel, or by a template of loops, is a lambda of the
 * function that people know: of all the arguments that name is kept. */
static void keep_function(struct folding *folded, const char *arguments)
{
	const char *lambda = strstr(arguments, "::{lambda");
	size_t end, start;

	if (!lambda)
		return;
	end = before_brackets(arguments, (size_t)(lambda - arguments), '(',
			      ')');
	end = before_brackets(arguments, end, '<', '>');
	for (start = end; start && !strchr(":<, ()", arguments[start - 1]);)
		start--;
	add(folded, arguments + start, end - start);
}

/* Rust's path of a trait's function begins with what it is a function of:
 * <T as Trait>::function, module::<impl Trait for T>::function.  Without that
 * one couldn't be told from another. */
static bool is_path(const char *name, size_t at)
{
	return !at || name[at - 1] == '<' || !strncmp(name + at, "<impl ", 6);
}

bool folded_is_python(const char *name)
{
	for (const char *at = name; (at = strchr(at, '('));) {
		const size_t digits = strspn(++at, "0123456789");

		if (digits && !strncmp(at + digits, "): ", 3))
			return true;
	}
	return false;
}

static void fold(struct folding *folded, const char *name)
{
	const char *mark = strrchr(name, '[');
	size_t depth = 0;

	for (size_t at = 0; name[at]; at++) {
		const bool is_bracket = (name[at] == '<' || name[at] == '>') &&
					!is_operator(name, at);

		if (is_bracket && name[at] == '>' && depth)
			depth--;
		if (!depth)
			add(folded, name + at, 1);
		if (is_bracket && name[at] == '<' &&
		    (depth || !is_path(name, at)) && !depth++)
			keep_function(folded, name + at + 1);
	}
	if (!depth)
		return;
	/* The name was cut inside of them; what was added behind it wasn't. */
	add(folded, "> ", mark ? 2 : 1);
	if (mark)
		add(folded, mark, strlen(mark));
}

/* Where a name of too many bytes is cut: behind a part of it, unless that
 * would leave little. */
static size_t cut_at(const char *name, size_t most)
{
	size_t at = most;

	while (at > most / 2 && !strchr(":, <>()&*", name[at - 1]))
		at--;
	if (at > most / 2)
		return at;
	at = most;
	while (at && ((unsigned char)name[at] & 0xc0) == 0x80)
		at--;
	return at;
}

/* Where the parameters of a function begin, or its name ends. */
static size_t name_end(const char *name)
{
	static const char nobody[] = "(anonymous namespace)";

	for (size_t at = 0; name[at]; at++) {
		if (!strncmp(name + at, nobody, sizeof(nobody) - 1))
			at += sizeof(nobody) - 2;
		else if (at >= 8 && !strncmp(name + at - 8, "operator()", 10))
			at++;
		else if (at && (name[at] == '(' || name[at] == '[') &&
			 name[at - 1] != ':' && name[at - 1] != '<')
			return at;
	}
	return strlen(name);
}

/* Of a path that is too long both ends are kept: the last part is the
 * function.  What is behind its name has what room is left. */
static void cut(struct folded_name *out, const char *name)
{
	const size_t room = FOLDED_NAME_MAX - (sizeof(DOTS) - 1);
	const size_t end = name_end(name);
	size_t last = end, head;

	while (last && strncmp(name + last, "::", 2) != 0)
		last--;
	if (end <= room || !last || end - last > room / 2) {
		out->len = cut_at(name, room);
		memcpy(out->text, name, out->len);
		memcpy(out->text + out->len, DOTS, sizeof(DOTS));
		out->len += sizeof(DOTS) - 1;
		return;
	}
	head = cut_at(name, room - (end - last));
	if (head > 2 && !strncmp(name + head - 2, "::", 2))
		last += 2;
	memcpy(out->text, name, head);
	memcpy(out->text + head, DOTS, sizeof(DOTS) - 1);
	memcpy(out->text + head + sizeof(DOTS) - 1, name + last, end - last);
	out->len = head + sizeof(DOTS) - 1 + end - last;
	out->text[out->len] = '\0';
}

const char *folded_python_end(const char *end)
{
	const size_t path = strcspn(end, "(");
	const char *folder = end[path] ? memchr(end, '/', path) : NULL;

	return folder ? folder : end;
}

/* Of Python's the end is kept, which is the function, with as many of the
 * folders of its file as there is room for. */
static void cut_python(struct folded_name *out, const char *name, size_t len)
{
	const size_t dots = sizeof(DOTS) - 1;
	const char *end =
		folded_python_end(name + len - (FOLDED_NAME_MAX - dots));

	while (((unsigned char)*end & 0xc0) == 0x80)
		end++;
	memcpy(out->text, DOTS, dots);
	out->len = dots + (size_t)(name + len - end);
	memcpy(out->text + dots, end, out->len - dots + 1);
}

/* --- Cython's ------------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A name with its length before it and a _ behind, such as 7sklearn_: what is
 * behind that, or NULL where `at` isn't one. */
static const char *after_part(const char *at, const char **part, size_t *len)
{
	*len = 0;
	while (is_digit(*at) && *len < FOLDING_BYTES)
		*len = *len * 10 + (size_t)(*at++ - '0');
	*part = at;
	if (!*len || strnlen(at, *len + 1) <= *len || at[*len] != '_')
		return NULL;
	return at + *len + 1;
}

/* Behind __pyx_, the kind of function and, of one of several types, its number:
 * __pyx_fuse_0__pyx_f_.  NULL: it is none of Cython's. */
static const char *after_kind(const char *name)
{
	static const char *const kinds[] = {"pf_", "pw_", "f_"};
	static const char prefix[] = "__pyx_";
	const size_t len = sizeof(prefix) - 1;

	if (!strncmp(name, "__pyx_fuse_", 11) && strstr(name + 1, prefix))
		name = strstr(name + 1, prefix);
	if (strncmp(name, prefix, len) != 0)
		return NULL;
	for (size_t at = 0; at < sizeof(kinds) / sizeof(*kinds); at++) {
		const size_t kind = strlen(kinds[at]);

		if (!strncmp(name + len, kinds[at], kind))
			return name + len + kind;
	}
	return NULL;
}

/* False: the name is none of Cython's. */
static bool fold_cython(struct folding *folded, const char *name)
{
	const char *at = after_kind(name), *part = NULL, *last = NULL, *next;
	size_t len, last_len = 0;

	if (!at)
		return false;
	/* Behind a class stands its function, whose number may be as long as
	 * the first word of its name: 4loss_gradient. */
	while (!(last && *last >= 'A' && *last <= 'Z') &&
	       (next = after_part(at, &part, &len))) {
		last = part;
		last_len = len;
		at = next;
	}
	while (last && is_digit(*at)) /* a number that tells them apart */
		at++;
	if (!last || !*at || *at == ' ')
		return false;
	add(folded, last, last_len);
	add(folded, ".", 1);
	add(folded, at, strlen(at));
	return true;
}

struct folded_name folded_name(const char *name, size_t whole)
{
	struct folding folded = {.len = 0};
	struct folded_name out = {.len = strlen(name)};

	if (fold_cython(&folded, name)) {
		name = folded.text;
		out.len = folded.len;
	} else if (out.len > whole && strchr(name, '<') &&
		   !folded_is_python(name)) {
		fold(&folded, name);
		name = folded.text;
		out.len = folded.len;
	}
	if (out.len <= FOLDED_NAME_MAX) {
		memcpy(out.text, name, out.len + 1);
		return out;
	}
	if (folded_is_python(name))
		cut_python(&out, name, out.len);
	else
		cut(&out, name);
	return out;
}
