/* SPDX-License-Identifier: MIT */
/*
 * itt_calls.c - a program with a copy of ittnotify, spoken by hand: at its
 * first call the copy loads the collector that INTEL_LIBITTNOTIFY64 names, and
 * hands it a table of its functions; those that it leaves alone do nothing.
 *
 * Built as a library it has itt_begin() and itt_end().
 *
 *	itt_calls [strange|works]	strange: of another protocol, so that
 *					nothing may be set; works: the other
 *					thread does, for 0.15 s, and lives on
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct id {
	unsigned long long d1, d2, d3;
};

struct domain {
	int flags;
	const char *name;
	void *wide;
	int extra1;
	void *extra2;
	struct domain *next;
};

struct string {
	const char *text;
	void *wide;
	int extra1;
	void *extra2;
	struct string *next;
};

static void (*task_begin)(const struct domain *, struct id, struct id,
			  struct string *);
static void (*task_begin_fn)(const struct domain *, struct id, struct id,
			     void *);
static void (*task_end)(const struct domain *);
static void (*task_begin_overlapped)(const struct domain *, struct id,
				     struct id, struct string *);
static void (*task_end_overlapped)(const struct domain *, struct id);
static void (*region_begin)(const struct domain *, struct id, struct id,
			    struct string *);
static void (*region_end)(const struct domain *, struct id);
static const char *(*api_version)(void);
static void (*frame_begin)(const struct domain *, struct id *);
static void (*frame_end)(const struct domain *, struct id *);
static void (*frame_submit)(const struct domain *, struct id *, uint64_t,
			    uint64_t);
static uint64_t (*get_timestamp)(void);
static void (*marker)(const struct domain *, struct id, struct string *, int);
static void *(*counter_create_typed)(const char *, const char *, int);
static void (*counter_set_value)(void *, void *);
static void (*counter_inc_v3)(const struct domain *, struct string *);
static void (*counter_dec_v3)(const struct domain *, struct string *);
static void (*thread_set_name)(const char *);

static void at_first(void *arg)
{
	(void)arg;
}

/* As a newer copy does once it has a collector. */
static struct domain *make_no_domain(const char *name)
{
	(void)name;
	return NULL;
}

static struct string *make_no_string(const char *text)
{
	(void)text;
	return NULL;
}

static struct domain *(*domain_create)(const char *) = make_no_domain;
static struct string *(*string_handle_create)(const char *) = make_no_string;

/* Until a collector came: it is one's that does as if it had been set. */
static void (*sync_create)(void *) = at_first;

struct function {
	const char *name;
	void **pointer;
	void *at_first, *none;
	int group;
};

#define FUNCTION(name)                                                         \
	{                                                                      \
		"__itt_" #name, (void **)&name, NULL, NULL, 0                  \
	}

static struct function functions[] = {
	FUNCTION(task_begin),
	FUNCTION(task_begin_fn),
	FUNCTION(task_end),
	FUNCTION(task_begin_overlapped),
	FUNCTION(task_end_overlapped),
	FUNCTION(region_begin),
	FUNCTION(region_end),
	FUNCTION(api_version),
	{"__itt_frame_begin_v3", (void **)&frame_begin, NULL, NULL, 0},
	{"__itt_frame_end_v3", (void **)&frame_end, NULL, NULL, 0},
	{"__itt_frame_submit_v3", (void **)&frame_submit, NULL, NULL, 0},
	FUNCTION(get_timestamp),
	FUNCTION(marker),
	FUNCTION(counter_create_typed),
	FUNCTION(counter_set_value),
	FUNCTION(counter_inc_v3),
	FUNCTION(counter_dec_v3),
	FUNCTION(thread_set_name),
	FUNCTION(sync_create),
	FUNCTION(domain_create),
	FUNCTION(string_handle_create),
	{NULL, NULL, NULL, NULL, 0},
};

static struct {
	unsigned char magic[8];
	unsigned long version[3];
	volatile long state[3];
	pthread_mutex_t mutex;
	void *library;
	void *error_handler;
	const char **path;
	struct function *functions;
	void *next, *threads, *domains, *strings;
} global = {
	.magic = {0xED, 0xAB, 0xAB, 0xEC, 0x0D, 0xEE, 0xDA, 0x30},
	.version = {3, 0, 20180723},
	.functions = functions,
};

static struct domain net = {.flags = 1, .name = "net"};
static struct domain frames = {.flags = 1, .name = "picture"};
static struct string outer = {.text = "outer"};
static struct string inner = {.text = "inner"};
static struct string beside = {.text = "beside"};
static struct string whole = {.text = "whole"};
static struct string late = {.text = "never ended"};
static struct string here = {.text = "here"};
static struct string queue = {.text = "queue"};
static const struct id none;

static void load(void)
{
	const char *path = getenv("INTEL_LIBITTNOTIFY64");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	void (*init)(void *, int) = NULL;

	if (library)
		init = (void (*)(void *, int))dlsym(library, "__itt_api_init");
	if (init)
		init(&global, 0x7fffffff);
}

static void nap(void)
{
	nanosleep(&(struct timespec){0, 2000000}, NULL);
}

static pthread_barrier_t worked;

static void work(void)
{
	struct timespec now;

	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (!now.tv_sec && now.tv_nsec < 150000000);
}

static void *other_thread(void *works)
{
	if (thread_set_name)
		thread_set_name("itt worker with a name");
	if (task_begin) {
		task_begin(&net, none, none, &inner);
		task_end(&net);
	}
	if (works) {
		work();
		pthread_barrier_wait(&worked);
		pause();
	}
	return NULL;
}

static void tell(void)
{
	struct id one = {1, 2, 3}, two = {1, 2, 4};
	double load_now = 2.5;
	uint64_t began = get_timestamp();
	void *counter = counter_create_typed("load", "net", 8);

	task_begin(&net, none, none, &outer);
	nap();
	task_begin(&net, one, none, &inner);
	nap();
	task_begin_overlapped(&net, one, none, &beside);
	task_end(&net);
	frame_begin(&frames, &two);
	task_begin_fn(&net, none, none, (void *)dlsym);
	task_end(&net);
	task_end(&net);
	nap();
	task_end_overlapped(&net, one);
	frame_end(&frames, &two);
	frame_begin(&frames, NULL);
	frame_end(&frames, NULL);
	frame_submit(&frames, NULL, began, get_timestamp());
	marker(&net, none, &here, 0);
	counter_set_value(counter, &load_now);
	counter_inc_v3(&net, &queue);
	counter_inc_v3(&net, &queue);
	counter_dec_v3(&net, &queue);
	task_begin(&net, none, none, &late);
}

/* For who loads this as a library. */
void itt_begin(const char *domain, const char *name)
{
	if (!global.library)
		load();
	task_begin(domain_create(domain), none, none,
		   string_handle_create(name));
}

void itt_end(const char *domain)
{
	task_end(domain_create(domain));
}

/* OpenCV tells nothing of a collector that has no version. */
static void tell_with_a_version(void)
{
	const struct id one = {1, 2, 5};

	if (!api_version || !api_version())
		return;
	region_begin(&net, one, none, &whole);
	task_begin(&net, one, none, &here);
	task_end(&net);
	region_end(&net, one);
	region_begin(&net, one, none, NULL);
	region_end(&net, one);
}

static void tell_by_made_names(void)
{
	struct domain *made = domain_create("made");
	struct string *first = string_handle_create("first");
	struct string *second = string_handle_create("second");

	if (!made || made != domain_create("made") || !first ||
	    first != string_handle_create("first") || first == second ||
	    strcmp(second->text, "second")) {
		puts("domains and strings are not what they were asked to be");
		return;
	}
	task_begin(made, none, none, first);
	task_begin(made, none, none, second);
	task_end(made);
	task_end(made);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (!strcmp(how, "strange"))
		global.version[0] = 4;
	load();
	if (!strcmp(how, "works")) {
		pthread_barrier_init(&worked, NULL, 2);
		pthread_create(&thread, NULL, other_thread, argv);
		pthread_barrier_wait(&worked);
	} else if (!pthread_create(&thread, NULL, other_thread, NULL)) {
		pthread_join(thread, NULL);
	}
	if (task_begin) {
		tell();
		tell_with_a_version();
		tell_by_made_names();
	}
	/* What has no use for a collector is nobody's. */
	if (task_begin && sync_create)
		puts("left what looks like a collector's");
	puts("done");
	return 0;
}
