/* SPDX-License-Identifier: MIT */
/*
 * test_session.c - making a session, handing out its space, and opening files
 * that are, or pretend to be, sessions of others.
 */
#include "tests/unit/session_fixture.h"
#include "tests/unit/unit_folder.h"

#include "collector/system/proc.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8

static struct session *session;
static struct session opened;
static char path[256];

static int set_up(void **state)
{
	(void)state;
	session = fixture_begin(4);
	unit_template(path, sizeof(path), "unit");
	close(mkstemp(path));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fixture_end(session);
	unlink(path);
	return 0;
}

/* The session as a file, as another process would find it. */
static void save(uint64_t bytes)
{
	const int fd = open(path, O_WRONLY | O_TRUNC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, session->base, bytes), bytes);
	close(fd);
}

static void test_the_header_says_whose_it_is(void **state)
{
	const struct session_header *head = session->head;

	(void)state;
	assert_memory_equal(head->magic, SESSION_MAGIC, 8);
	assert_int_equal(head->version, SESSION_VERSION);
	assert_int_equal(load_relaxed(&head->state), SESSION_RUNNING);
	assert_int_equal(head->ceiling_bytes, session->bytes);
	assert_int_equal(head->pid, getpid());
	assert_int_equal(head->uid, geteuid());
	assert_string_equal(head->program, "test_session");
	assert_string_equal(head->reason, "unit test");
	assert_int_equal(head->folder[0], '/');
	assert_non_null(strstr(head->folder, "/traceprof"));
	assert_int_equal(head->rank, -1);
	assert_int_equal(head->options.buffer_mb, 4);
	assert_int_equal(load_relaxed(&head->clock.count), 1);
	assert_true(load_relaxed(&head->used) >= sizeof(*head));
}

static void test_ranks_from_the_launcher(void **state)
{
	struct session *second;
	struct options options;

	(void)state;
	options_default(&options);
	strcpy(options.dir, "/tmp/elsewhere");
	setenv("RANK", "3x", 1);
	setenv("PMI_RANK", "5", 1);
	setenv("PMI_SIZE", "8", 1);
	fixture_end(session);
	assert_int_equal(session_create(&options, "", &second), 0);
	unsetenv("RANK");
	unsetenv("PMI_RANK");
	unsetenv("PMI_SIZE");
	session = second;
	assert_int_equal(session->head->rank, 5);
	assert_int_equal(session->head->world_size, 8);
	assert_string_equal(session->head->folder, "/tmp/elsewhere");
}

static void test_space_is_zeroed_aligned_and_apart(void **state)
{
	const uint64_t a = session_alloc(session, 1);
	const uint64_t b = session_alloc(session, 65);
	const uint64_t c = session_alloc(session, 64);
	static const char zeros[128];

	(void)state;
	assert_true(a >= sizeof(struct session_header));
	assert_int_equal(a % CACHE_LINE, 0);
	assert_int_equal(b, a + 64);
	assert_int_equal(c, b + 128);
	assert_memory_equal(session_at(session, b), zeros, sizeof(zeros));
}

static void test_space_ends_at_the_ceiling(void **state)
{
	uint64_t last = 0;
	uint64_t at;

	(void)state;
	while ((at = session_alloc(session, 100000))) {
		assert_true(at > last);
		assert_true(at + 100000 <= session->bytes);
		memset(session_at(session, at), 1, 100000);
		last = at;
	}
	while ((at = session_alloc(session, 64)))
		assert_true(at + 64 <= session->bytes);
	assert_int_equal(load_relaxed(&session->head->used), session->bytes);
	assert_int_equal(session_alloc(session, 1), 0);
}

static void test_absurd_sizes_are_refused(void **state)
{
	const uint64_t used = load_relaxed(&session->head->used);

	(void)state;
	assert_int_equal(session_alloc(session, UINT64_MAX), 0);
	assert_int_equal(session_alloc(session, UINT64_MAX - 63), 0);
	assert_int_equal(session_alloc(session, session->bytes), 0);
	assert_int_equal(session_alloc(session, session->bytes + 1), 0);
	assert_int_equal(load_relaxed(&session->head->used), used);
}

static void test_growing_backs_ahead_and_stops_at_the_ceiling(void **state)
{
	struct session_header *head = session->head;

	(void)state;
	if (head->place != SESSION_IN_FILE)
		skip(); /* no roomy /dev/shm here */
	assert_int_equal(load_relaxed(&head->backed), SESSION_FIRST_BYTES);
	assert_int_equal(session_grow(session, 1), 0);
	assert_true(load_relaxed(&head->backed) > SESSION_FIRST_BYTES);
	assert_int_equal(session_grow(session, session->bytes), 0);
	assert_int_equal(load_relaxed(&head->backed), session->bytes);
	assert_int_equal(session_grow(session, 1), -ENOSPC);
	store_relaxed(&head->growing, 1);
	assert_int_equal(session_grow(session, 1), -EAGAIN);
}

static void *end_growing(void *growing)
{
	usleep(100000);
	store_release((_Atomic uint32_t *)growing, 0);
	return NULL;
}

/* Whoever extends the session may be kept from a processor for long. */
static void test_a_slow_grower_is_waited_for(void **state)
{
	struct session_header *head = session->head;
	const uint64_t more = load_relaxed(&head->backed);
	pthread_t thread;

	(void)state;
	store_relaxed(&head->growing, 1);
	pthread_create(&thread, NULL, end_growing, (void *)&head->growing);
	assert_int_not_equal(session_alloc(session, more), 0);
	pthread_join(thread, NULL);
}

/* A signal handler that came in between would wait for itself. */
static void test_a_thread_does_not_wait_for_itself(void **state)
{
	struct session_header *head = session->head;

	(void)state;
	store_relaxed(&head->growing, (uint32_t)gettid());
	assert_int_equal(session_grow(session, 1), -EDEADLK);
	assert_int_equal(session_alloc(session, load_relaxed(&head->backed)),
			 0);
}

/* Nobody may find the file any more, and a fork may be under way. */
static void test_growing_opens_nothing(void **state)
{
	const uint64_t backed = load_relaxed(&session->head->backed);

	(void)state;
	if (session->head->place != SESSION_IN_FILE)
		skip(); /* no roomy /dev/shm here */
	if (madvise(session->base, 1, MADV_POPULATE_WRITE))
		skip(); /* Linux before 5.14 */
	unlink(session->path);
	assert_int_equal(session_grow(session, 1), 0);
	assert_true(load_relaxed(&session->head->backed) > backed);
	session->base[backed] = 1;
}

static void test_without_backing_there_is_no_space(void **state)
{
	(void)state;
	if (session->head->place != SESSION_IN_FILE)
		skip(); /* no roomy /dev/shm here */
	assert_int_equal(truncate(session->path, SESSION_FIRST_BYTES), 0);
	unlink(session->path);
	assert_int_equal(session_alloc(session, 3 << 20), 0);
	assert_int_not_equal(session_alloc(session, 64), 0);
}

static _Atomic uint32_t owners[8 << 14];

static void *alloc_all(void *arg)
{
	uint64_t at;

	while ((at = session_alloc(session, 256)))
		add_relaxed(&owners[at / 256], 1);
	return arg;
}

static void test_threads_get_space_apart(void **state)
{
	pthread_t ids[THREADS];

	(void)state;
	memset(owners, 0, sizeof(owners));
	for (int i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, alloc_all, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		assert_in_range(load_relaxed(&owners[i]), 0, 1);
	assert_true(load_relaxed(&session->head->used) + 256 > session->bytes);
}

static void test_notes_count_once_and_are_bounded(void **state)
{
	struct session_header *head = session->head;
	char text[2 * SESSION_NOTE_BYTES];

	(void)state;
	session_note(session, "kernel %d", 5);
	session_note(session, "kernel %d", 5);
	assert_int_equal(load_relaxed(&head->note_count), 1);
	assert_string_equal(head->notes[0], "kernel 5");
	memset(text, 'n', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	session_note(session, "%s", text);
	session_note(session, "%s", text);
	assert_int_equal(load_relaxed(&head->note_count), 2);
	assert_int_equal(strlen(head->notes[1]), SESSION_NOTE_BYTES - 1);
	for (int i = 0; i < 100; i++)
		session_note(session, "note %d", i);
	assert_int_equal(load_relaxed(&head->note_count), SESSION_NOTES_MAX);
	assert_string_equal(head->notes[31], "note 29");
	assert_int_equal(load_relaxed(&head->notes_refused), 70);
}

/* As session_open(), by the path of a session. */
static int open_path(const char *place)
{
	const int fd = session_file(place, O_RDONLY);
	const int rc = fd < 0 ? fd : session_open(fd, &opened);

	if (fd >= 0)
		close(fd);
	return rc;
}

static void test_another_process_sees_a_copy(void **state)
{
	const uint64_t at = session_alloc(session, 64);

	(void)state;
	strcpy(session_at(session, at), "hello");
	save(session->bytes);
	assert_int_equal(open_path(path), 0);
	assert_false(opened.writable);
	assert_int_equal(opened.bytes, session->bytes);
	assert_string_equal(session_at(&opened, at), "hello");
	strcpy(session_at(&opened, at), "changed");
	session_close(&opened);
	assert_null(opened.base);
	assert_int_equal(open_path(path), 0);
	assert_string_equal(session_at(&opened, at), "hello");
	session_close(&opened);
	session_close(&opened);
}

static void test_a_truncated_session_is_refused(void **state)
{
	static const uint64_t sizes[] = {
		0, 1, 8, 4096, 65536, 1 << 20, 6u << 20 >> 1};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		save(sizes[i]);
		assert_int_equal(open_path(path), -EBADMSG);
	}
	save(session->bytes - 1);
	assert_int_equal(open_path(path), -EBADMSG);
}

/* Its own user may cut it while it is being read. */
static void test_a_session_cut_behind_us_is_still_there(void **state)
{
	volatile uint64_t sum = 0;

	(void)state;
	save(session->bytes);
	assert_int_equal(open_path(path), 0);
	assert_int_equal(truncate(path, 0), 0);
	for (uint64_t at = 0; at < opened.bytes; at += 4096)
		sum = sum + (uint64_t)opened.base[at];
	assert_int_equal(opened.head->pid, getpid());
	session_close(&opened);
}

/* Saves with one number of the header changed, and opens it. */
static int open_damaged(uint32_t *field, uint32_t value)
{
	const uint32_t was = *field;
	int rc;

	*field = value;
	save(session->bytes);
	*field = was;
	rc = open_path(path);
	if (!rc)
		session_close(&opened);
	return rc;
}

static void test_a_foreign_layout_is_refused(void **state)
{
	struct session_header *head = session->head;

	(void)state;
	assert_int_equal(open_damaged(&head->version, SESSION_VERSION + 1),
			 -EBADMSG);
	assert_int_equal(open_damaged(&head->header_bytes, 64), -EBADMSG);
	assert_int_equal(open_damaged(&head->thread_bytes, 0), -EBADMSG);
	assert_int_equal(open_damaged(&head->event_kinds, 99), -EBADMSG);
	assert_int_equal(open_damaged((uint32_t *)head->magic, 0), -EBADMSG);
	assert_int_equal(open_damaged((uint32_t *)&head->ceiling_bytes, 4096),
			 -EBADMSG);
	assert_int_equal(open_damaged((uint32_t *)&head->state, 0), -EBADMSG);
	assert_int_equal(open_damaged((uint32_t *)&head->state, 3), -EBADMSG);
	assert_int_equal(open_damaged((uint32_t *)&head->state, SESSION_ENDED),
			 0);
}

static void test_texts_of_a_hostile_header_end(void **state)
{
	struct session_header *head = session->head;

	(void)state;
	memset(head->host, 'h', sizeof(head->host));
	memset(head->folder, 'f', sizeof(head->folder));
	memset(head->options.dir, 'd', sizeof(head->options.dir));
	memset(head->notes[31], 'n', sizeof(head->notes[31]));
	memset(head->checkpoints[1].path, 'p', SESSION_TEXT_BYTES);
	save(session->bytes);
	assert_int_equal(open_path(path), 0);
	head = opened.head;
	assert_int_equal(strlen(head->host), SESSION_TEXT_BYTES - 1);
	assert_int_equal(strlen(head->folder), SESSION_TEXT_BYTES - 1);
	assert_int_equal(strlen(head->options.dir), OPTION_TEXT_BYTES - 1);
	assert_int_equal(strlen(head->notes[31]), SESSION_NOTE_BYTES - 1);
	assert_int_equal(strlen(head->checkpoints[1].path),
			 SESSION_TEXT_BYTES - 1);
	session_close(&opened);
}

static void test_only_a_plain_file_of_one_name_is_opened(void **state)
{
	char other[sizeof(path) + 2];

	(void)state;
	save(session->bytes);
	snprintf(other, sizeof(other), "%s-2", path);
	assert_int_equal(open_path("/tmp/no-such-session"), -ENOENT);
	assert_int_equal(open_path("/tmp"), -EBADMSG);
	assert_int_equal(open_path("/dev/null"), -EBADMSG);
	assert_int_equal(symlink(path, other), 0);
	assert_int_equal(open_path(other), -ELOOP);
	unlink(other);
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_int_equal(open_path(other), -EBADMSG);
	unlink(other);
	assert_int_equal(link(path, other), 0);
	assert_int_equal(open_path(path), -EBADMSG);
	unlink(other);
	assert_int_equal(open_path(path), 0);
	session_close(&opened);
}

static void test_someone_elses_file_is_refused(void **state)
{
	const char *other = "/etc/passwd"; /* root's */

	(void)state;
	if (!geteuid()) {
		save(session->bytes);
		assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
		other = path;
	}
	assert_int_equal(open_path(other), -EPERM);
}

static void test_offsets_are_checked(void **state)
{
	const uint64_t bytes = session->bytes;

	(void)state;
	assert_null(session_at_checked(session, 0, 8));
	assert_null(session_at_checked(session, 64, 8));
	assert_null(session_at_checked(session, bytes, 8));
	assert_null(session_at_checked(session, bytes - 8, 9));
	assert_null(session_at_checked(session, bytes - 8, UINT64_MAX));
	assert_null(session_at_checked(session, UINT64_MAX - 7, 16));
	assert_null(session_at_checked(session, bytes - 12, 4));
	assert_non_null(session_at_checked(session, bytes - 8, 8));
	assert_non_null(session_at_checked(session, bytes, 0));
}

#define SESSION_TEST(name)                                                     \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SESSION_TEST(test_the_header_says_whose_it_is),
		SESSION_TEST(test_ranks_from_the_launcher),
		SESSION_TEST(test_space_is_zeroed_aligned_and_apart),
		SESSION_TEST(test_space_ends_at_the_ceiling),
		SESSION_TEST(test_absurd_sizes_are_refused),
		SESSION_TEST(test_growing_backs_ahead_and_stops_at_the_ceiling),
		SESSION_TEST(test_a_slow_grower_is_waited_for),
		SESSION_TEST(test_a_thread_does_not_wait_for_itself),
		SESSION_TEST(test_growing_opens_nothing),
		SESSION_TEST(test_without_backing_there_is_no_space),
		SESSION_TEST(test_threads_get_space_apart),
		SESSION_TEST(test_notes_count_once_and_are_bounded),
		SESSION_TEST(test_another_process_sees_a_copy),
		SESSION_TEST(test_a_truncated_session_is_refused),
		SESSION_TEST(test_a_session_cut_behind_us_is_still_there),
		SESSION_TEST(test_a_foreign_layout_is_refused),
		SESSION_TEST(test_texts_of_a_hostile_header_end),
		SESSION_TEST(test_only_a_plain_file_of_one_name_is_opened),
		SESSION_TEST(test_someone_elses_file_is_refused),
		SESSION_TEST(test_offsets_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
