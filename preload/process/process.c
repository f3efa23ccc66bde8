/* SPDX-License-Identifier: MIT */
/*
 * process.c - reads the environment at the start of the process, and tells what
 * kind of process this is.
 *
 * Runs in each process that inherits LD_PRELOAD: a few system calls at most.
 */
#include "preload/process/process.h"

#include "collector/system/log.h"
#include "collector/system/proc.h"
#include "collector/system/valgrind.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Names of executables, each between blanks: one text, since an array of
 * pointers would be relocated in each process.  Interpreters of programs
 * (python, java, julia) are not among them. */
/* clang-format off */
static const char builders[] = " "
	/* shells */
	"sh bash dash zsh ksh mksh fish csh tcsh "
	"busybox toybox "
	/* compilers, assemblers, linkers */
	"gcc g++ cc c++ cpp cc1 cc1plus cc1obj f951 "
	"gfortran gnat1 gdc lto1 lto-wrapper collect2 "
	"as ld ld.bfd ld.gold ld.lld lld mold clang "
	"clang++ clang-cpp rustc cargo icx icpx ifx "
	"nvcc cicc cudafe++ ptxas fatbinary nvlink bin2c "
	"tileiras nvdisasm cuobjdump hipcc llc "
	"tcc ccache sccache distcc "
	/* builds */
	"make gmake cmake ctest cpack ninja meson m4 "
	"autoconf automake libtool pkg-config pkgconf bison "
	"flex "
	/* starters of programs */
	"srun mpirun mpiexec orterun prterun hydra_pmi_proxy "
	"hydra_bstrap_proxy orted prted traceprof "
	;

/* These only where the system has its programs: many a one is called "sort". */
static const char utilities[] = " "
	/* of object files */
	"ar ranlib nm objcopy objdump readelf strip "
	"addr2line ldconfig ldd patchelf gdb strace ltrace "
	/* version control, packages, transfer */
	"perl git hg svn ssh scp sshd rsync curl wget "
	"apt apt-get dpkg rpm dnf yum sudo su "
	/* text and files */
	"sed grep egrep fgrep awk gawk mawk find "
	"xargs tar gzip bzip2 xz zstd pigz zip unzip "
	"diff cmp patch file less more vim vi nano "
	"emacs tmux screen "
	/* coreutils and the like */
	"coreutils arch base64 basename cat chgrp chmod "
	"chown cp cut date dd df dirname du echo "
	"env expr false head hostname id install kill "
	"ln ls lscpu md5sum mkdir mkfifo mktemp mount "
	"mv nice nl nohup nproc od paste pgrep printf "
	"ps pwd readlink realpath rm rmdir seq "
	"sha256sum sleep sort split stat stdbuf stty "
	"sync tail taskset tee test time timeout top "
	"touch tr true truncate tty uname uniq wc "
	"which who whoami yes nvidia-smi lspci numactl "
	;
/* clang-format on */

/* Not literals, which the linker may join with some on another page. */
static const char bin[] = "/bin/";
/* Wherever it lies. */
static const char own_command[] = " traceprof ";

COLD const char *process_variable(char *const *environment, const char *name)
{
	const size_t len = strlen(name);

	for (; environment && *environment; environment++) {
		if (**environment == *name &&
		    !strncmp(*environment, name, len) &&
		    (*environment)[len] == '=')
			return *environment + len + 1;
	}
	return NULL;
}

COLD bool process_kind_is_off(char *const *environment)
{
	const char *value = process_variable(environment, "TRACEPROF");

	if (value && (!strcmp(value, "0") || !strcmp(value, "off")))
		return true;
	return getauxval(AT_SECURE) != 0;
}

static COLD int record_pid(char *const *environment)
{
	const char *value =
		process_variable(environment, "TRACEPROF_RECORD_PID");

	return value ? (int)strtol(value, NULL, 10) : 0;
}

COLD bool process_kind_is_direct(char *const *environment)
{
	const int pid = record_pid(environment);

	return pid && pid == getppid();
}

/* "gcc-12" and "clang-14.0" without the version. */
static size_t length_without_version(const char *name)
{
	size_t len = strlen(name);
	size_t end = len;

	while (end && ((name[end - 1] >= '0' && name[end - 1] <= '9') ||
		       name[end - 1] == '.'))
		end--;
	return end > 1 && end < len && name[end - 1] == '-' ? end - 1 : len;
}

static bool is_system(const char *path)
{
	return !strncmp(path, "/usr/", 5) || !strncmp(path, bin, 5) ||
	       !strncmp(path, "/sbin/", 6);
}

/* Tools may be anywhere that programs are installed; what lies beside its own
 * source is somebody's program, and may be called "cc". */
static bool is_installed(const char *path)
{
	return is_system(path) || strstr(path, "/bin/") ||
	       strstr(path, "/lib/") || strstr(path, "/lib64/") ||
	       strstr(path, "/libexec/") || !strncmp(path, "/opt/", 5);
}

COLD bool process_kind_names_tool(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *triplet = strstr(name, "-linux-gnu");
	char wanted[64];
	size_t len;

	/* x86_64-linux-gnu-gcc, arm-linux-gnueabihf-ld */
	if (triplet && strchr(triplet + 10, '-'))
		name = strchr(triplet + 10, '-') + 1;
	if (!strncmp(name, "git-", 4))
		return true;
	if (!*name || strchr(name, ' ') || strlen(name) + 3 > sizeof(wanted))
		return false;
	/* log_format() lies far off, and each page costs a short process. */
	len = length_without_version(name);
	wanted[0] = ' ';
	memcpy(wanted + 1, name, len);
	wanted[1 + len] = ' ';
	wanted[2 + len] = '\0';
	return !strcmp(wanted, own_command) ||
	       (is_installed(path) && strstr(builders, wanted)) ||
	       (is_system(path) && strstr(utilities, wanted));
}

/* By the path that was given to execve().  It says too little where it may be
 * a script's or a link's, but nobody puts a program of his own under a tool's
 * name where the system has its tools. */
static COLD bool is_started_as_tool(void)
{
	const char *path = (const char *)getauxval(AT_EXECFN);

	if (!path)
		return false;
	if (!strncmp(path, "/usr", 4))
		path += 4;
	return !strncmp(path, bin, 5) && !strchr(path + 5, '/') &&
	       process_kind_names_tool(path);
}

/* The file itself is asked last: the first look into /proc makes the kernel
 * draw up entries for this process, a twentieth of what a short one takes. */
COLD bool process_kind_is_tool(void)
{
	char path[512];
	ssize_t len;

	if (is_started_as_tool())
		return true;
	len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (len <= 0)
		return false;
	path[len] = '\0';
	return process_kind_names_tool(path);
}

/* Has a process's environment, as it was at its start, an entry that begins
 * with `wanted`, which begins with a NUL?  -1: that can't be read. */
static COLD int environment_has(pid_t pid, const char *wanted, size_t bytes)
{
	char text[4096];
	size_t kept = 1;
	int found = 0;
	ssize_t got;
	int fd;

	log_format(text, sizeof(text), "/proc/%d/environ", (int)pid);
	fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	text[0] = '\0';
	while (!found &&
	       (got = read(fd, text + kept, sizeof(text) - kept)) > 0) {
		const size_t len = kept + (size_t)got;

		found = memmem(text, len, wanted, bytes) != NULL;
		kept = len < bytes ? len : bytes;
		memmove(text, text + len - kept, kept);
	}
	close(fd);
	return found;
}

/*
 * A process that set the variable for its children alone isn't one of them.  No
 * mark is left in the environment, where the program would see it.
 */
bool process_kind_is_child(void)
{
	static const char wanted[] = "\0TRACEPROF_CHILDREN=none";

	return environment_has(getppid(), wanted, sizeof(wanted)) > 0;
}

/* Who started this process, past what only waits for one: `timeout 60 ./train`,
 * `time ./train`. */
static COLD pid_t starter(void)
{
	const pid_t parent = getppid();
	char path[32], name[16] = "";
	struct proc_stat stat;

	log_format(path, sizeof(path), "/proc/%d/comm", (int)parent);
	proc_read(path, name, sizeof(name));
	return (!strcmp(name, "timeout\n") || !strcmp(name, "time\n")) &&
			       proc_stat(parent, &stat)
		       ? stat.parent
		       : parent;
}

/* Has who started this the same LD_PRELOAD?  -1: not known.  Of a program that
 * took its own away by now, any counts. */
static COLD int starter_is_preloaded(void)
{
	static const char any[] = "\0LD_PRELOAD=";
	const char *value = process_variable(environ, "LD_PRELOAD");
	char wanted[2048] = "";
	size_t len;

	if (!value)
		return environment_has(getpid(), any, sizeof(any) - 1) > 0
			       ? environment_has(starter(), any,
						 sizeof(any) - 1)
			       : -1;
	log_format(wanted + 1, sizeof(wanted) - 1, "LD_PRELOAD=%s", value);
	len = strlen(wanted + 1);
	return len + 2 < sizeof(wanted)
		       ? environment_has(starter(), wanted, len + 2)
		       : -1;
}

COLD bool process_kind_is_pointed_at(void)
{
	return !process.record_pid && !starter_is_preloaded();
}

COLD bool process_kind_is_one_of_many(void)
{
	return process.record_pid ? !process.direct
				  : starter_is_preloaded() > 0;
}

/* --- what was read -------------------------------------------------------- */

START_DATA struct process process;

static void keep_complaint(const char *line)
{
	if (process.complaints < PROCESS_COMPLAINTS_MAX)
		log_format(process.complaint[process.complaints++],
			   sizeof(process.complaint[0]), "%s", line);
}

/* TRACEPROF=no, say: it is no setting, so options_read() doesn't know it. */
static void check_switch(char *const *environment)
{
	static const char *const on[] = {"", "1", "on"};
	const char *value = process_variable(environment, "TRACEPROF");
	char line[128];

	for (size_t i = 0; value && i < sizeof(on) / sizeof(on[0]); i++)
		if (!strcmp(value, on[i]))
			return;
	if (!value)
		return;
	log_format(line, sizeof(line),
		   "TRACEPROF=%.64s is not valid: it takes 0 or off, or 1; "
		   "using 1",
		   value);
	keep_complaint(line);
}

COLD bool process_matters(void)
{
	static START_DATA _Atomic int known; /* 1 it does, -1 it doesn't */
	char *const *const environment = environ;
	bool matters;

	if (load_relaxed(&known))
		return load_relaxed(&known) > 0;
	matters = !process_kind_is_off(environment) &&
		  (process_kind_is_direct(environment) ||
		   !process_kind_is_tool());
	store_relaxed(&known, matters ? 1 : -1);
	return matters;
}

COLD bool process_read(void)
{
	char *const *const environment = environ;

	if (!process_matters())
		return false;
	process.record_pid = record_pid(environment);
	process.direct = process_kind_is_direct(environment);
	options_default(&process.options);
	options_read(&process.options, environment, keep_complaint);
	check_switch(environment);
	if (process.options.children == CHILDREN_NONE && !process.direct &&
	    process_kind_is_child())
		return false;
	process.is_checked = valgrind_checks_memory();
	if (process.is_checked && process.options.sample) {
		process.options.sample = 0;
		keep_complaint("no samples: valgrind's memcheck would take "
			       "them for errors");
	}
	log_start(process.options.quiet);
	log_reserve(LOG_LINES_AT_END);
	process.affinity_bytes =
		syscall(SYS_sched_getaffinity, 0, PROCESS_AFFINITY_BYTES,
			process.affinity);
	return true;
}

void process_complain(void)
{
	for (unsigned int i = 0; i < process.complaints; i++)
		log_trouble("%s", process.complaint[i]);
	process.complaints = 0;
}

/* Later the program may be in another folder. */
/* Where the linker put this library. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static int take_own_path(struct dl_phdr_info *object, size_t bytes, void *path)
{
	(void)bytes;
	if (object->dlpi_addr != (ElfW(Addr))__ehdr_start)
		return 0;
	return realpath(object->dlpi_name, path) ? 1 : -1;
}

/* dladdr() would go through all our symbols. */
COLD const char *process_own_path(void)
{
	static char own_path[PATH_MAX];

	if (!own_path[0] && dl_iterate_phdr(take_own_path, own_path) != 1)
		own_path[0] = '\0';
	return own_path;
}
