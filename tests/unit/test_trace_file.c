/* SPDX-License-Identifier: MIT */
/*
 * test_trace_file.c - a trace is whole at every moment, and holds what was put
 * in, whatever happens to the program, the disk and the descriptor.
 *
 * pwrite() and ftruncate() are ours here: they write page by page, look at the
 * file after each page as a kill would leave it, and fail on demand.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/trace_reader.h"
#include "writer/trace_file.h"
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define KILLS_VARIABLE "TRACEPROF_TEST_KILLS"
#define KILLS	       40

static const char tail_text[] =
	"\n],\"deviceProperties\":[],\"traceName\":\"t\"}";
static const char head_text[] =
	"{\"schemaVersion\":1,\"traceEvents\":[\n{\"ph\":\"M\",\"n\":0}";

static char folder[64], path[128], new_path[128];
static struct trace_file file;

/* What was appended, so what must come back. */
static char *wanted;
static size_t wanted_len, wanted_room;

/* The system calls, watched. */
static bool watching; /* look at the file after each page */
static long looks;
static long fail_at; /* the write that fails, counted from 1; 0 none */
static int fail_with;
static bool fail_halfway; /* after its first page */
static const char *broken;

static void look(void)
{
	const char *fault;
	size_t len;
	char *text = trace_read_gzip(path, &len, &fault);

	looks++;
	if (!text && !broken)
		broken = fault;
	free(text);
}

static bool fails_now(void)
{
	return fail_at && !--fail_at;
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	const char *const begin = bytes;
	size_t done = 0;

	if (fails_now()) {
		if (!fail_halfway) {
			errno = fail_with;
			return -1;
		}
		fail_halfway = false;
		fail_at = 1;
		len = min_u64(len, PAGE_BYTES - (size_t)at % PAGE_BYTES);
	}
	while (done < len) {
		const size_t left =
			PAGE_BYTES - ((size_t)at + done) % PAGE_BYTES;
		const size_t piece = min_u64(left, len - done);
		const long rc = syscall(SYS_pwrite64, fd, begin + done, piece,
					at + (off_t)done);

		if (rc <= 0)
			return done ? (ssize_t)done : (ssize_t)rc;
		done += (size_t)rc;
		if (watching)
			look();
	}
	return (ssize_t)done;
}

int ftruncate(int fd, off_t bytes)
{
	long rc;

	if (fails_now()) {
		errno = fail_with;
		return -1;
	}
	rc = syscall(SYS_ftruncate, fd, bytes);
	if (watching)
		look();
	return (int)rc;
}

static int remove_one(const char *name, const struct stat *stat_now, int flag,
		      struct FTW *where)
{
	(void)stat_now;
	(void)flag;
	(void)where;
	return remove(name);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/traceprof-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/a.pt.trace.json.gz", folder);
	snprintf(new_path, sizeof(new_path), "%s/b.pt.trace.json.gz", folder);
	wanted_len = 0;
	watching = false;
	broken = NULL;
	looks = fail_at = 0;
	fail_halfway = false;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}

static void want(const char *text, size_t len)
{
	if (wanted_len + len > wanted_room) {
		wanted_room = (wanted_len + len) * 2;
		wanted = realloc(wanted, wanted_room);
		assert_non_null(wanted);
	}
	memcpy(wanted + wanted_len, text, len);
	wanted_len += len;
}

static void create(const char *coder)
{
	assert_int_equal(trace_file_create(&file, path, coder, head_text,
					   strlen(head_text)),
			 0);
	want(head_text, strlen(head_text));
}

/* How many letters there are: how badly an event compresses. */
static int letters = 16;

/* `count` events whose text differs, of about `bytes` each, in one append. */
static int append_events(int count, size_t bytes)
{
	static int serial;
	char *text = malloc((size_t)count * (bytes + 80));
	size_t used = 0;
	int rc;

	for (int i = 0; i < count; i++) {
		used += (size_t)sprintf(text + used,
					",\n{\"ph\":\"X\",\"n\":%d,\"v\":\"",
					++serial);
		for (size_t j = 0; j < bytes; j++)
			text[used++] = (char)('a' + lrand48() % letters *
							    (long)(j & 1));
		used += (size_t)sprintf(text + used, "\"}");
	}
	rc = trace_file_append(&file, text, used);
	if (!rc)
		want(text, used);
	free(text);
	return rc;
}

static int checkpoint(void)
{
	return trace_file_checkpoint(&file, tail_text, strlen(tail_text));
}

static int finish(void)
{
	return trace_file_finish(&file, tail_text, strlen(tail_text));
}

/* The file at `name` is exactly wanted[0..len) and `tail`. */
static void holds_at(const char *name, size_t len, const char *tail, bool plain)
{
	const char *fault = "";
	size_t text_len = 0;
	char *text = plain ? trace_read_plain(name, &text_len, &fault)
			   : trace_read_gzip(name, &text_len, &fault);

	if (!text)
		fail_msg("%s: %s", name, fault);
	assert_int_equal(text_len, len + strlen(tail));
	assert_memory_equal(text, wanted, len);
	assert_memory_equal(text + len, tail, strlen(tail));
	free(text);
}

static void holds(const char *tail)
{
	holds_at(path, wanted_len, tail, false);
}

static uint64_t size_of(const char *name)
{
	struct stat stat_now;

	return stat(name, &stat_now) ? 0 : (uint64_t)stat_now.st_size;
}

static void is_whole_from_the_start(void **state)
{
	struct stat stat_now;

	(void)state;
	create("zlib:1");
	holds(TRACE_FILE_SHORT_TAIL);
	assert_int_equal(stat(path, &stat_now), 0);
	assert_int_equal(stat_now.st_mode & 07777, 0600);
	assert_true(stat_now.st_size > 4096);
	assert_int_equal(finish(), 0);
	holds(tail_text);
	assert_true(size_of(path) > 4096);
}

static void keeps_every_event_with_every_coder(void **state)
{
	static const char *const coders[] = {"auto", "zlib:1", "zlib:6", "off"};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const bool plain = !strcmp(coders[i], "off");

		wanted_len = 0;
		create(coders[i]);
		for (int j = 0; j < 12; j++) {
			assert_int_equal(append_events(j * 60, 150), 0);
			if (j % 3 == 0)
				assert_int_equal(append_events(1, 700000), 0);
			if (j & 1)
				continue;
			assert_int_equal(checkpoint(), 0);
			holds_at(path, wanted_len, tail_text, plain);
			assert_int_equal(trace_file_size(&file), size_of(path));
		}
		assert_int_equal(trace_file_text_bytes(&file), wanted_len);
		assert_int_equal(append_events(9000, 120), 0);
		assert_int_equal(finish(), 0);
		holds_at(path, wanted_len, tail_text, plain);
		assert_int_equal(unlink(path), 0);
	}
}

static void takes_tails_of_any_length(void **state)
{
	static char tail[200000];

	(void)state;
	create("zlib:1");
	for (size_t len = 60; len < sizeof(tail); len = len * 4 / 3) {
		size_t used = (size_t)sprintf(tail, "\n],\"t\":\"");

		while (used < len)
			tail[used++] = (char)('A' + lrand48() % 16);
		strcpy(tail + used, "\"}");
		assert_int_equal(append_events(3, 50), 0);
		assert_int_equal(
			trace_file_checkpoint(&file, tail, strlen(tail)), 0);
		holds(tail);
	}
	assert_int_equal(append_events(10, 50), 0);
	assert_int_equal(finish(), 0);
	holds(tail_text);
}

static void does_not_grow_when_nothing_happens(void **state)
{
	uint64_t size;

	(void)state;
	create("zlib:1");
	assert_int_equal(append_events(3, 50), 0);
	assert_int_equal(checkpoint(), 0);
	size = size_of(path);
	for (int i = 0; i < 5; i++)
		assert_int_equal(checkpoint(), 0);
	assert_int_equal(size_of(path), size);
	assert_int_equal(finish(), 0);
	assert_int_equal(size_of(path), size);
	holds(tail_text);
}

/* The heart: whatever a kill between two pages of a write leaves is whole. */
static void is_whole_after_each_page_written(void **state)
{
	(void)state;
	create("zlib:1");
	watching = true;
	for (int i = 0; i < 150 && !broken; i++) {
		assert_int_equal(append_events((int)(lrand48() % 40),
					       (size_t)lrand48() % 300),
				 0);
		assert_int_equal(checkpoint(), 0);
	}
	for (int i = 0; i < 4 && !broken; i++)
		assert_int_equal(append_events(2000, 100), 0);
	letters = 2;
	assert_int_equal(append_events(1, 400000), 0);
	letters = 16;
	assert_int_equal(finish(), 0);
	watching = false;
	if (broken)
		fail_msg("look %ld: %s", looks, broken);
	assert_true(looks > 700);
	holds(tail_text);
}

/* Each write of a renewal in turn fails: the file is as it was. */
static void is_whole_after_each_failure(void **state)
{
	static const int errors[] = {ENOSPC, EDQUOT, EFBIG, EIO};
	int failures = 0;

	(void)state;
	for (int round = 0; round < 14; round++) {
		uint64_t size;
		size_t before;
		int rc;

		wanted_len = 0;
		create("zlib:1");
		assert_int_equal(append_events(500, 100), 0);
		assert_int_equal(checkpoint(), 0);
		before = wanted_len;
		size = size_of(path);
		assert_int_equal(append_events(900, 100), 0);
		fail_at = round / 2 + 1;
		fail_halfway = round & 1;
		fail_with = errors[round % 4];
		rc = checkpoint();
		fail_at = 0;
		if (rc) {
			assert_int_equal(rc, -fail_with);
			failures++;
			/* Sticky, and nothing more happens to the file. */
			assert_int_equal(checkpoint(), rc);
			assert_int_equal(append_events(1, 10), rc);
			assert_int_equal(finish(), rc);
			if (round / 2 < 4) {
				holds_at(path, before, tail_text, false);
				assert_int_equal(size_of(path), size);
			}
		} else {
			assert_int_equal(finish(), 0);
			holds(tail_text);
		}
		assert_int_equal(unlink(path), 0);
	}
	assert_true(failures >= 10);
}

static void plain_takes_shorter_tails(void **state)
{
	(void)state;
	create("off");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(checkpoint(), 0);
		holds_at(path, wanted_len, tail_text, true);
		assert_int_equal(trace_file_checkpoint(&file, "\n]}", 3), 0);
		holds_at(path, wanted_len, "\n]}", true);
		assert_int_equal(append_events(1, 3), 0);
	}
	assert_int_equal(finish(), 0);
	holds_at(path, wanted_len, tail_text, true);
}

static void plain_takes_back_what_did_not_fit(void **state)
{
	size_t before;

	(void)state;
	create("off");
	assert_int_equal(append_events(100, 100), 0);
	assert_int_equal(checkpoint(), 0);
	before = wanted_len;
	assert_int_equal(append_events(300, 100), 0);
	fail_at = 1;
	fail_halfway = true;
	fail_with = ENOSPC;
	assert_int_equal(checkpoint(), -ENOSPC);
	trace_file_abandon(&file);
	holds_at(path, before, tail_text, true);
}

static void obeys_the_limit_of_file_size(void **state)
{
	const struct rlimit small = {12000, RLIM_INFINITY};
	struct rlimit before;
	sigset_t set, old;
	int rc = 0;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, &old);
	getrlimit(RLIMIT_FSIZE, &before);
	create("zlib:1");
	setrlimit(RLIMIT_FSIZE, &small);
	for (int i = 0; i < 1000 && !rc; i++) {
		wanted_len = i ? wanted_len : strlen(head_text);
		rc = append_events(20, 100);
		if (!rc)
			rc = checkpoint();
	}
	trace_file_abandon(&file);
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_IGN);
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(rc, -EFBIG);
	watching = true;
	look();
	assert_null(broken);
	assert_true(size_of(path) <= 12000);
}

static void finds_its_file_again(void **state)
{
	char other[128];
	size_t len;
	char *bytes;
	int fd;

	(void)state;
	snprintf(other, sizeof(other), "%s/other", folder);
	create("zlib:1");
	assert_true(file.output.fd >= 100);
	assert_true(fcntl(file.output.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(append_events(10, 100), 0);
	/* The program closes everything and opens a file of its own. */
	fd = open(other, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_int_equal(write(fd, "THEIRS", 6), 6);
	assert_int_equal(dup2(fd, file.output.fd), file.output.fd);
	assert_int_equal(checkpoint(), 0);
	holds(tail_text);
	/* And only closes it. */
	close(file.output.fd);
	assert_int_equal(append_events(10, 100), 0);
	assert_int_equal(checkpoint(), 0);
	holds(tail_text);
	/* Theirs is neither written nor closed when we end. */
	assert_int_equal(dup2(fd, file.output.fd), file.output.fd);
	trace_file_abandon(&file);
	bytes = trace_read_file(other, &len);
	assert_int_equal(len, 6);
	assert_memory_equal(bytes, "THEIRS", 6);
	free(bytes);
	holds(tail_text);
}

static void refuses_what_is_not_its_file(void **state)
{
	size_t len;
	char *bytes;
	int fd;

	(void)state;
	create("zlib:1");
	assert_int_equal(append_events(10, 100), 0);
	close(file.output.fd);
	assert_int_equal(rename(path, new_path), 0);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_int_equal(write(fd, "THEIRS", 6), 6);
	close(fd);
	assert_int_equal(checkpoint(), -ESTALE);
	trace_file_abandon(&file);
	bytes = trace_read_file(path, &len);
	assert_int_equal(len, 6);
	free(bytes);
	assert_int_equal(unlink(path), 0);

	/* A link, even to it. */
	wanted_len = 0;
	create("zlib:1");
	close(file.output.fd);
	assert_int_equal(rename(path, new_path), 0);
	assert_int_equal(symlink(new_path, path), 0);
	assert_int_equal(checkpoint(), -ESTALE);
	trace_file_abandon(&file);
	assert_int_equal(unlink(path), 0);

	/* A pipe. */
	wanted_len = 0;
	create("zlib:1");
	close(file.output.fd);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(checkpoint(), -ESTALE);
	trace_file_abandon(&file);
	assert_int_equal(unlink(path), 0);

	/* Deleted, with and without our descriptor. */
	for (int i = 0; i < 2; i++) {
		wanted_len = 0;
		create("zlib:1");
		assert_int_equal(unlink(path), 0);
		if (i)
			close(file.output.fd);
		assert_int_equal(checkpoint(), -ENOENT);
		trace_file_abandon(&file);
	}
}

static int create_at(const char *name)
{
	return trace_file_create(&file, name, "zlib:1", head_text,
				 strlen(head_text));
}

static void makes_the_folder_and_nothing_else(void **state)
{
	char name[1024], part[160];
	struct stat stat_now;

	(void)state;
	snprintf(name, sizeof(name), "%s/x/y/z/f.json.gz", folder);
	assert_int_equal(create_at(name), 0);
	trace_file_abandon(&file);
	snprintf(part, sizeof(part), "%s/x/y", folder);
	assert_int_equal(stat(part, &stat_now), 0);
	assert_int_equal(stat_now.st_mode & 07777, 0700);

	/* Taken: by a file, by a link to nowhere. */
	assert_int_equal(create_at(name), -EEXIST);
	assert_int_equal(symlink("/nowhere/at/all", path), 0);
	assert_int_equal(create_at(path), -EEXIST);

	snprintf(name, sizeof(name), "%s/x/y/z/f.json.gz/g", folder);
	assert_int_equal(create_at(name), -ENOTDIR);
	assert_int_equal(create_at("relative"), -EINVAL);
	assert_int_equal(create_at("/proc/1/no/such"), -ENOENT);
	memset(name, 'n', sizeof(name) - 1);
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(create_at(name), -ENAMETOOLONG);
	assert_int_equal(
		trace_file_create(&file, new_path, "zlib:0", head_text, 1),
		-EINVAL);
	assert_int_not_equal(access(new_path, F_OK), 0);

	/* No room from the start: no file. */
	fail_at = 1;
	fail_with = ENOSPC;
	assert_int_equal(create_at(new_path), -ENOSPC);
	assert_int_not_equal(access(new_path, F_OK), 0);
}

/* What the session keeps, at the last checkpoint. */
static uint64_t tail_at, text_bytes;
static uint32_t crc;

static int resume(const char *coder)
{
	return trace_file_resume(&file, path, new_path, tail_at, text_bytes,
				 crc, coder);
}

static void goes_on_after_a_crash(void **state)
{
	static const char *const first[] = {"zlib:1", "auto", "off"};
	static const char *const second[] = {"zlib:6", "zlib:1", "off"};

	(void)state;
	for (int i = 0; i < 3; i++) {
		const bool plain = !strcmp(first[i], "off");
		size_t kept;

		wanted_len = 0;
		create(first[i]);
		for (int j = 0; j < 5; j++) {
			assert_int_equal(append_events(1000, 100), 0);
			assert_int_equal(checkpoint(), 0);
		}
		trace_file_position(&file, &tail_at, &text_bytes, &crc);
		assert_int_equal(text_bytes, wanted_len);
		kept = wanted_len;
		/* The file has got further than the session says. */
		assert_int_equal(append_events(20000, 100), 0);
		trace_file_abandon(&file);

		wanted_len = kept;
		assert_int_equal(resume(second[i]), 0);
		holds_at(new_path, wanted_len, TRACE_FILE_SHORT_TAIL, plain);
		assert_int_equal(append_events(3000, 100), 0);
		assert_int_equal(checkpoint(), 0);
		assert_int_equal(append_events(3, 100), 0);
		assert_int_equal(finish(), 0);
		holds_at(new_path, wanted_len, tail_text, plain);
		assert_int_equal(unlink(path), 0);
		assert_int_equal(unlink(new_path), 0);
	}
}

/* resume() refuses, and leaves nothing behind. */
static void refuses(int rc, const char *coder)
{
	assert_int_equal(resume(coder), rc);
	assert_int_not_equal(access(new_path, F_OK), 0);
}

static void does_not_trust_the_session(void **state)
{
	uint64_t true_at;

	(void)state;
	create("zlib:1");
	assert_int_equal(append_events(3000, 100), 0);
	assert_int_equal(checkpoint(), 0);
	trace_file_position(&file, &tail_at, &text_bytes, &crc);
	trace_file_abandon(&file);
	true_at = tail_at;

	crc ^= 1;
	refuses(-EBADMSG, "zlib:1");
	crc ^= 1;
	text_bytes++;
	refuses(-EBADMSG, "zlib:1");
	text_bytes--;
	/* In the middle of a block, of a flush, behind the end. */
	for (tail_at = true_at - 40; tail_at < size_of(path) + 4; tail_at++) {
		if (tail_at != true_at)
			refuses(-EBADMSG, "zlib:1");
	}
	tail_at = 0;
	refuses(-EBADMSG, "zlib:1");
	tail_at = UINT64_MAX;
	refuses(-EBADMSG, "zlib:1");
	tail_at = true_at;
	refuses(-EBADMSG, "off");
	assert_int_equal(resume("zlib:1"), 0);
	trace_file_abandon(&file);
	assert_int_equal(resume("zlib:1"), -EEXIST);
	assert_int_equal(unlink(new_path), 0);

	/* Another file, none, a link, a pipe. */
	assert_int_equal(truncate(path, 5000), 0);
	refuses(-EBADMSG, "zlib:1");
	assert_int_equal(truncate(path, 0), 0);
	refuses(-EBADMSG, "zlib:1");
	assert_int_equal(unlink(path), 0);
	refuses(-ENOENT, "zlib:1");
	assert_int_equal(symlink("/etc/passwd", path), 0);
	refuses(-EBADMSG, "zlib:1");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	refuses(-EBADMSG, "zlib:1");
}

/* In a child: traces until it is killed. */
static void trace_for_ever(void)
{
	for (int i = 0;; i++) {
		if (append_events(i % 7 ? (int)(lrand48() % 50) : 3000, 100))
			_exit(1);
		if (checkpoint())
			_exit(1);
		wanted_len = 0;
	}
}

static void survives_kill(void **state)
{
	const char *text = getenv(KILLS_VARIABLE);
	const int kills = text ? atoi(text) : KILLS;

	(void)state;
	srand48((long)getpid());
	for (int i = 0; i < kills; i++) {
		struct timespec wait = {0, 500000 + lrand48() % 15000000};
		int status;
		pid_t pid;

		wanted_len = 0;
		create(i & 1 ? "auto" : "zlib:1");
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			srand48(i);
			trace_for_ever();
		}
		nanosleep(&wait, NULL);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		trace_file_abandon(&file);
		look();
		if (broken)
			fail_msg("kill %d: %s; see %s", i, broken, path);
		assert_int_equal(unlink(path), 0);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(is_whole_from_the_start),
		TEST(keeps_every_event_with_every_coder),
		TEST(takes_tails_of_any_length),
		TEST(does_not_grow_when_nothing_happens),
		TEST(is_whole_after_each_page_written),
		TEST(is_whole_after_each_failure),
		TEST(plain_takes_shorter_tails),
		TEST(plain_takes_back_what_did_not_fit),
		TEST(obeys_the_limit_of_file_size),
		TEST(finds_its_file_again),
		TEST(refuses_what_is_not_its_file),
		TEST(makes_the_folder_and_nothing_else),
		TEST(goes_on_after_a_crash),
		TEST(does_not_trust_the_session),
		TEST(survives_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
