/* SPDX-License-Identifier: MIT */
/*
 * fuzz_session.c - the session of a killed program, changed at the input's
 * will, is recovered: no fault, no endless loop, nothing written outside its
 * folder.
 *
 * The input is a row of changes: area (1 byte), offset in it (2), length - 1
 * (1, to 16), bytes.  What says whose session it is (process, folder) is put
 * right again, so that recovery goes on to the rest.
 */
#include "tests/fuzz/fuzz_input.h"
#include "tests/unit/sample_session.h"

#include "collector/session/modules.h"
#include "writer/checkpoint.h"
#include "writer/pass.h"
#include "writer/recovery.h"
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define EVENTS 200u

int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct {
	char parent[64];
	char folder[96];
	char trace[SESSION_TEXT_BYTES];
	char *trace_bytes;
	size_t trace_len;
	char *session; /* the first `kept` bytes; the rest is zero */
	size_t kept;
	off_t session_bytes;
	uint64_t thread_at, chunk_at, names_at;
} real;

struct area {
	uint64_t at, len;
};

static void live(struct sample *sample)
{
	static struct writer_state writer_state;
	struct thread *thread;
	char name[32];

	sample_window(sample, 0);
	thread = sample_thread(sample, 100);
	if (pass_start(&writer_state, sample->session, true))
		_exit(1);
	for (uint64_t i = 0; i < EVENTS; i++) {
		snprintf(name, sizeof(name), "work %d", (int)i % 20);
		sample_scope(sample, thread, name, 100 * i, 100 * i + 50);
		if (i == EVENTS / 2) {
			pass_run(&writer_state);
			if (checkpoint_make(&writer_state))
				_exit(1);
		}
	}
	thread_open(thread, EVENT_SCOPE, sample->zero + 100 * EVENTS,
		    names_intern_string(sample->session, "open"), 0, 0, 0);
	modules_refresh(sample->session);
}

static char *read_file(const char *path, size_t most, size_t *len)
{
	const int fd = open(path, O_RDONLY);
	char *bytes = malloc(most);
	const ssize_t got = fd < 0 ? -1 : read(fd, bytes, most);

	if (got < 0)
		abort();
	close(fd);
	*len = (size_t)got;
	return bytes;
}

static void write_file(const char *path, const char *bytes, size_t len,
		       off_t size)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len ||
	    ftruncate(fd, size))
		abort();
	close(fd);
}

/* What the dead child has left is kept in memory. */
static void keep(const char *session_path)
{
	const struct session_header *head;
	const struct thread *thread;
	struct stat status;
	size_t len;

	if (stat(session_path, &status))
		abort();
	real.session_bytes = status.st_size;
	real.session = read_file(session_path, SESSION_FIRST_BYTES, &real.kept);
	unlink(session_path);
	head = (const struct session_header *)real.session;
	real.thread_at = *(const uint64_t *)&head->threads;
	thread = (const struct thread *)(real.session + real.thread_at);
	real.chunk_at = *(const uint64_t *)&thread->ring.first_chunk;
	real.names_at = *(const uint64_t *)&head->name_space >> 32;
	strcpy(real.trace,
	       head->checkpoints[*(const uint32_t *)&head->checkpoint & 1]
		       .path);
	real.trace_bytes = read_file(real.trace, 1 << 20, &len);
	real.trace_len = len;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct sample sample;
	char path[SESSION_TEXT_BYTES];
	int ends[2], status;
	pid_t child;

	(void)argc;
	(void)argv;
	strcpy(real.parent, "/tmp/traceprof-fuzz-XXXXXX");
	if (!mkdtemp(real.parent) || pipe(ends))
		abort();
	snprintf(real.folder, sizeof(real.folder), "%s/inside", real.parent);
	child = fork();
	if (!child) {
		options_default(&sample.options);
		strcpy(sample.options.dir, real.folder);
		sample.options.buffer_mb = 4;
		clock_choose(true);
		sample_session(&sample);
		live(&sample);
		if (write(ends[1], sample.session->path, sizeof(path)) < 0)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	if (read(ends[0], path, sizeof(path)) != sizeof(path))
		abort();
	waitpid(child, &status, 0);
	keep(path);
	return 0;
}

static void change(char *session, const uint8_t *data, size_t size)
{
	const struct area areas[] = {
		{0, offsetof(struct session_header, clock)},
		{offsetof(struct session_header, clock),
		 sizeof(struct clock_segments)},
		{offsetof(struct session_header, threads),
		 offsetof(struct session_header, names) -
			 offsetof(struct session_header, threads)},
		{offsetof(struct session_header, names), 65535},
		{offsetof(struct session_header, modules),
		 offsetof(struct session_header, notes) -
			 offsetof(struct session_header, modules)},
		{offsetof(struct session_header, notes),
		 sizeof(struct session_header) -
			 offsetof(struct session_header, notes)},
		{real.thread_at, sizeof(struct thread)},
		{real.chunk_at, 65535},
		{real.names_at - min_u64(real.names_at, 4096), 8192},
	};

	while (size >= 5) {
		const struct area *area =
			&areas[data[0] % (sizeof(areas) / sizeof(areas[0]))];
		const uint64_t at =
			area->at +
			(uint64_t)(data[1] | data[2] << 8) % area->len;
		size_t len = (size_t)(data[3] & 15) + 1;

		data += 4;
		size -= 4;
		len = min_u64(len, size);
		if (at + len <= real.kept)
			memcpy(session + at, data, len);
		data += len;
		size -= len;
	}
}

/* Empties the folder; anything beside it is a find. */
static void tidy(void)
{
	struct dirent *entry;
	char path[512];
	DIR *dir = opendir(real.parent);

	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.' &&
		    strcmp(entry->d_name, "inside") != 0)
			abort();
	}
	closedir(dir);
	dir = opendir(real.folder);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", real.folder,
			 entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(path);
	}
	closedir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *session;
	const struct session_header *whole =
		(const struct session_header *)real.session;
	struct session_header *head;
	struct recovery_result result;
	char path[96];

	if (!session)
		session = malloc(real.kept);
	memcpy(session, real.session, real.kept);
	change(session, data, size);
	head = (struct session_header *)session;
	/* Half of them flew: the window that was open is closed. */
	if (size && data[0] >> 7) {
		head->flight.is_on = 1;
		store_relaxed(&head->windows.is_open, 0);
		head->windows.window[0].end_ticks =
			head->windows.window[0].start_ticks + 5000;
	}
	head->pid = whole->pid;
	head->pid_namespace = whole->pid_namespace;
	head->started = whole->started;
	memcpy(head->boot_id, whole->boot_id, sizeof(head->boot_id));
	memcpy(head->folder, whole->folder, sizeof(head->folder));
	snprintf(path, sizeof(path), "/dev/shm/fuzz-%d.session", (int)getpid());
	write_file(path, session, real.kept, real.session_bytes);
	write_file(real.trace, real.trace_bytes, real.trace_len,
		   (off_t)real.trace_len);
	recovery_run(path, &result);
	unlink(path);
	tidy();
	return 0;
}
