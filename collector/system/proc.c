/* SPDX-License-Identifier: MIT */
/* proc.c - small readers of /proc and /sys/fs/cgroup. */
#include "collector/system/proc.h"

#include "collector/system/folder.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

long proc_read_inside(const char *path, char *text, size_t bytes)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t got = 0;

	text[0] = '\0';
	if (fd < 0)
		return -errno;
	while (len < bytes - 1) {
		got = read(fd, text + len, bytes - 1 - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	text[len] = '\0';
	close(fd);
	return got < 0 ? -EIO : (long)len;
}

long proc_read(const char *path, char *text, size_t bytes)
{
	const bool keeps_forks_out = loader_enter_soon();
	const long len = proc_read_inside(path, text, bytes);

	if (keeps_forks_out)
		loader_leave();
	return len;
}

bool proc_is_aside(void)
{
	const int saved = errno;
	bool is_aside = true;

	for (int fd = STDIN_FILENO; is_aside && fd <= STDERR_FILENO; fd++)
		is_aside = syscall(SYS_fcntl, fd, F_GETFD) >= 0;
	errno = saved;
	return is_aside;
}

/* Of so many processes below this one is known what they take. */
#define DESCENDANTS_MAX 256u
/* And of so many threads of each, what they have started. */
#define PARENTS_MAX	64u

static uint64_t parse_number(const char *text)
{
	uint64_t value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + (uint64_t)(*text++ - '0');
	return value;
}

bool proc_io(uint64_t *read_bytes, uint64_t *disk_bytes)
{
	char text[512];
	const char *all, *disk;

	if (proc_read("/proc/self/io", text, sizeof(text)) <= 0)
		return false;
	all = strstr(text, "rchar: ");
	disk = strstr(text, "\nread_bytes: ");
	if (!all || !disk)
		return false;
	*read_bytes = parse_number(all + 7);
	*disk_bytes = parse_number(disk + 13);
	return true;
}

unsigned int proc_numbers_inside(const char *path, uint64_t *numbers,
				 unsigned int most)
{
	char text[128];
	unsigned int count = 0;
	bool is_in = false;

	if (proc_read_inside(path, text, sizeof(text)) < 0)
		return 0;
	for (const char *at = text; *at; at++) {
		const bool is_digit = *at >= '0' && *at <= '9';

		if (is_digit && !is_in && count == most)
			break;
		if (is_digit && !is_in)
			numbers[count++] = parse_number(at);
		is_in = is_digit;
	}
	return count;
}

unsigned int proc_numbers(const char *path, uint64_t *numbers,
			  unsigned int most)
{
	const bool keeps_forks_out = loader_enter_soon();
	const unsigned int count = proc_numbers_inside(path, numbers, most);

	if (keeps_forks_out)
		loader_leave();
	return count;
}

uint64_t proc_pid_namespace(void)
{
	struct stat status;
	char self[16];
	const ssize_t len = readlink("/proc/self", self, sizeof(self) - 1);

	/* A /proc that was mounted in another namespace has other numbers. */
	self[len > 0 ? len : 0] = '\0';
	if (parse_number(self) != (uint64_t)getpid())
		return 0;
	return stat("/proc/self/ns/pid", &status) ? 0 : status.st_ino;
}

bool proc_stat(int pid, struct proc_stat *stat)
{
	char path[64];
	char text[1024];
	const char *at;

	*stat = (struct proc_stat){0};
	log_format(path, sizeof(path), "/proc/%d/stat", pid);
	if (proc_read(path, text, sizeof(text)) <= 0)
		return false;
	/* The name, in parentheses, may hold anything: begin after it, with
	 * field 3. */
	at = strrchr(text, ')');
	for (int field = 3; at && field <= 22; field++) {
		at = strchr(at + 1, ' ');
		if (at && field >= 14 && field <= 17)
			stat->used += parse_number(at + 1);
		if (at && field == 3)
			stat->state = at[1];
		else if (at && field == 4)
			stat->parent = (int)parse_number(at + 1);
		else if (at && field == 20)
			stat->threads = (uint32_t)parse_number(at + 1);
		else if (at && field == 22)
			stat->started = parse_number(at + 1);
	}
	return at != NULL;
}

uint64_t proc_age_ns(int pid)
{
	const uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec now;
	struct proc_stat stat;

	if (clock_gettime(CLOCK_BOOTTIME, &now) || !proc_stat(pid, &stat))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec -
	       stat.started * tick_ns;
}

/* Adds the processes that a thread of a process started. */
static unsigned int add_started(int pid, int tid, int *pids, unsigned int count)
{
	char path[64], text[4096];

	log_format(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	proc_read_inside(path, text, sizeof(text));
	for (const char *at = text;
	     *at >= '0' && *at <= '9' && count < DESCENDANTS_MAX;) {
		pids[count++] = (int)parse_number(at);
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	return count;
}

struct started {
	int parent;
	unsigned int looked; /* threads of it */
	int *pids;
	unsigned int count;
};

static bool add_started_by(const char *tid, void *arg)
{
	struct started *started = arg;

	started->count = add_started(started->parent, (int)parse_number(tid),
				     started->pids, started->count);
	return ++started->looked < PARENTS_MAX;
}

/* Those of all of its threads. */
static unsigned int add_children(int pid, int *pids, unsigned int count)
{
	const bool keeps_forks_out = loader_enter_soon();
	struct started started = {pid, 0, pids, count};
	char path[64];
	int fd;

	log_format(path, sizeof(path), "/proc/%d/task", pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder_read(fd, add_started_by, &started);
	if (fd >= 0)
		close(fd);
	if (keeps_forks_out)
		loader_leave();
	return started.count;
}

/* Of the processes below this one at present, in clock ticks. */
static uint64_t children_used(void)
{
	int pids[DESCENDANTS_MAX];
	unsigned int count = add_children((int)getpid(), pids, 0);
	uint64_t used = 0;
	struct proc_stat stat;

	for (unsigned int at = 0; at < count; at++) {
		if (proc_stat(pids[at], &stat))
			used += stat.used;
		count = add_children(pids[at], pids, count);
	}
	return used;
}

static uint64_t usage_ns(int who)
{
	struct rusage usage = {0};

	getrusage(who, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
		       1000000000u +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
		       1000u;
}

bool proc_machine(struct proc_machine *machine)
{
	enum { IDLE = 3, IOWAIT = 4, STEAL = 7, COUNTED };
	const uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t ticks[COUNTED], all = 0;

	*machine = (struct proc_machine){0};
	if (proc_numbers("/proc/stat", ticks, COUNTED) != COUNTED)
		return false;
	for (unsigned int at = 0; at <= STEAL; at++)
		all += ticks[at];
	machine->all_ns = all * tick_ns;
	machine->busy_ns = (all - ticks[IDLE] - ticks[IOWAIT]) * tick_ns;
	machine->own_ns = usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN) +
			  children_used() * tick_ns;
	return all > 0;
}

void proc_boot_id(char *text, size_t bytes)
{
	proc_read("/proc/sys/kernel/random/boot_id", text, bytes);
	text[strcspn(text, "\n")] = '\0';
}

void proc_host(char *text, size_t bytes)
{
	struct utsname name;

	log_format(text, bytes, "%s",
		   uname(&name) || !name.nodename[0] ? "localhost"
						     : name.nodename);
	for (char *c = text; *c; c++) {
		if (*c == '/')
			*c = '_';
	}
}

void proc_program(char *text, size_t bytes)
{
	char line[4096];
	const char *last;

	if (proc_read("/proc/self/cmdline", line, sizeof(line)) <= 0 ||
	    !line[0]) {
		proc_thread_name((uint32_t)getpid(), text, bytes);
		return;
	}
	last = strrchr(line, '/');
	log_format(text, bytes, "%s", last && last[1] ? last + 1 : line);
}

static bool find_argument(const char *word, size_t len)
{
	char line[4096];
	const long got = proc_read("/proc/self/cmdline", line, sizeof(line));

	for (long at = 0; at < got; at += (long)strlen(line + at) + 1)
		if (!strncmp(line + at, word, len))
			return true;
	return false;
}

bool proc_has_argument(const char *word)
{
	return find_argument(word, strlen(word) + 1);
}

bool proc_has_argument_from(const char *begin)
{
	return find_argument(begin, strlen(begin));
}

void proc_thread_name_inside(uint32_t tid, char *text, size_t bytes)
{
	char path[64];

	log_format(path, sizeof(path), "/proc/self/task/%u/comm", tid);
	proc_read_inside(path, text, bytes);
	text[strcspn(text, "\n")] = '\0';
}

void proc_thread_name(uint32_t tid, char *text, size_t bytes)
{
	const bool keeps_forks_out = loader_enter_soon();

	proc_thread_name_inside(tid, text, bytes);
	if (keeps_forks_out)
		loader_leave();
}

/* --- limits of cgroups ---------------------------------------------------- */

/* What one folder of a cgroup allows; UINT64_MAX without a limit. */
typedef uint64_t cgroup_limit(const char *folder, bool is_v1);

/* A number of such a file, UINT64_MAX where there is none ("max", "-1"). */
static uint64_t cgroup_number(const char *folder, const char *file)
{
	char path[1024];
	char text[64];

	log_format(path, sizeof(path), "%s/%s", folder, file);
	if (proc_read(path, text, sizeof(text)) <= 0 || text[0] < '0' ||
	    text[0] > '9')
		return UINT64_MAX;
	return parse_number(text);
}

static uint64_t memory_in(const char *folder, bool is_v1)
{
	const uint64_t limit = cgroup_number(
		folder, is_v1 ? "memory.limit_in_bytes" : "memory.max");
	const uint64_t use = cgroup_number(
		folder, is_v1 ? "memory.usage_in_bytes" : "memory.current");

	/* v1 writes a huge page-aligned number for "no limit". */
	if (limit > UINT64_MAX / 4 || use == UINT64_MAX)
		return UINT64_MAX;
	return limit > use ? limit - use : 0;
}

/* In percent of one processor: so much time in each period. */
static uint64_t processors_in(const char *folder, bool is_v1)
{
	uint64_t quota[2];
	char path[1024];

	if (is_v1) {
		quota[0] = cgroup_number(folder, "cpu.cfs_quota_us");
		quota[1] = cgroup_number(folder, "cpu.cfs_period_us");
	} else {
		log_format(path, sizeof(path), "%s/cpu.max", folder);
		if (proc_numbers(path, quota, 2) != 2)
			return UINT64_MAX;
	}
	if (!quota[1] || quota[0] > UINT64_MAX / 100)
		return UINT64_MAX;
	return 100 * quota[0] / quota[1];
}

/* The smallest along `path` and its parents below `root`. */
static uint64_t least_along(const char *root, char *path, cgroup_limit *limit,
			    bool is_v1)
{
	char folder[1024];
	uint64_t least = UINT64_MAX;

	for (;;) {
		char *slash;

		log_format(folder, sizeof(folder), "%s%s", root, path);
		least = min_u64(least, limit(folder, is_v1));
		slash = strrchr(path, '/');
		if (!slash || !path[0])
			return least;
		*slash = '\0';
	}
}

static bool is_listed(const char *controllers, const char *controller)
{
	const size_t length = strlen(controller);

	for (const char *at = controllers; *at; at += *at == ',') {
		const size_t one = strcspn(at, ",");

		if (one == length && !strncmp(at, controller, length))
			return true;
		at += one;
	}
	return false;
}

/* The smallest of all that this process is in. */
static uint64_t cgroup_least(const char *controller, cgroup_limit *limit)
{
	char text[4096], root[64];
	uint64_t least = UINT64_MAX;
	char *line = text;

	if (proc_read("/proc/self/cgroup", text, sizeof(text)) <= 0)
		return UINT64_MAX;
	log_format(root, sizeof(root), "/sys/fs/cgroup/%s", controller);
	while (line && *line) {
		char *end = strchr(line, '\n');
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(controllers + 1, ':') : NULL;

		if (end)
			*end = '\0';
		if (path && (!end || path < end)) {
			*path++ = '\0';
			if (!*++controllers)
				least = min_u64(
					least, least_along("/sys/fs/cgroup",
							   path, limit, false));
			else if (is_listed(controllers, controller))
				least = min_u64(
					least,
					least_along(root, path, limit, true));
		}
		line = end ? end + 1 : NULL;
	}
	return least;
}

uint64_t proc_memory_left(void)
{
	return cgroup_least("memory", memory_in);
}

uint64_t proc_processors_percent(void)
{
	return cgroup_least("cpu", processors_in);
}
