/* SPDX-License-Identifier: MIT */
/*
 * target.c - follows a command to its ELF file and reads the headers.
 */
#include "tools/record/record.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRIPTS_MAX 5
#define HEADERS_MAX 256

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#error "traceprof knows x86-64 and aarch64"
#endif

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	       access(path, X_OK) == 0;
}

/* As execvp() does it. */
static int find(const char *command, char *path)
{
	const char *folders = getenv("PATH");
	int error = -ENOENT;

	if (!*command)
		return -ENOENT;
	if (strchr(command, '/')) {
		snprintf(path, PATH_MAX, "%s", command);
		if (is_program(path))
			return 0;
		return access(path, F_OK) ? -errno : -EACCES;
	}
	if (!folders)
		folders = "/bin:/usr/bin";
	for (;;) {
		const size_t len = strcspn(folders, ":");

		snprintf(path, PATH_MAX, "%.*s%s%s", (int)len, folders,
			 len ? "/" : "", command);
		if (is_program(path))
			return 0;
		if (access(path, F_OK) == 0)
			error = -EACCES;
		if (!folders[len])
			return error;
		folders += len + 1;
	}
}

static int refuse(struct target *target, const char *why, const char *advice)
{
	snprintf(target->reason, sizeof(target->reason), "%s %s", target->path,
		 why);
	target->advice = advice;
	return -EPERM;
}

/* Would the kernel start it with more rights than ours?  Then ld.so ignores
 * LD_PRELOAD. */
static bool gains_rights(const struct stat *status)
{
	if (status->st_mode & S_ISUID && status->st_uid != getuid())
		return true;
	return (status->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
	       status->st_gid != getgid();
}

static int check_loader(struct target *target, int fd,
			const ElfW(Phdr) * header)
{
	char loader[PATH_MAX] = "", why[PATH_MAX + 32];
	const size_t len = header->p_filesz < sizeof(loader) - 1
				   ? header->p_filesz
				   : sizeof(loader) - 1;

	if (pread(fd, loader, len, (off_t)header->p_offset) < 0)
		return -ENOEXEC;
	if (strstr(loader, "musl"))
		return refuse(target,
			      "is linked with musl; the library needs glibc",
			      "build it with glibc");
	if (strstr(loader, "/system/bin/linker"))
		return refuse(target,
			      "is an Android program; the library needs glibc",
			      "build it with glibc");
	if (*loader && access(loader, F_OK) < 0 && errno == ENOENT) {
		snprintf(why, sizeof(why), "needs %s, which isn't there",
			 loader);
		return refuse(target, why,
			      "install the package that has it, or build the "
			      "program here");
	}
	return 0;
}

/* Static programs have no PT_INTERP; nor has the loader itself, when it is the
 * command. */
static int check_headers(struct target *target, int fd, const ElfW(Ehdr) * head)
{
	const char *slash = strrchr(target->path, '/');
	const char *name = slash ? slash + 1 : target->path;

	for (unsigned int at = 0; at < head->e_phnum && at < HEADERS_MAX;
	     at++) {
		ElfW(Phdr) header;
		const off_t place = (off_t)(head->e_phoff +
					    (uint64_t)at * head->e_phentsize);

		if (pread(fd, &header, sizeof(header), place) !=
		    (ssize_t)sizeof(header))
			return -ENOEXEC;
		if (header.p_type == PT_INTERP)
			return check_loader(target, fd, &header);
	}
	if (!strncmp(name, "ld-linux", 8) || !strncmp(name, "ld.so", 5) ||
	    !strncmp(name, "ld-2.", 5))
		return 0;
	return refuse(target, "is statically linked; it loads no library",
		      "record a dynamically linked build of it");
}

static int check_elf(struct target *target, int fd)
{
	ElfW(Ehdr) head;
	struct stat status;

	if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	if (head.e_ident[EI_CLASS] != ELFCLASS64)
		return refuse(target,
			      "is a 32-bit program; the library is 64-bit",
			      "build it for 64 bits");
	if (head.e_machine != OUR_MACHINE)
		return refuse(target, "is built for another processor",
			      "build it for this one");
	if (fstat(fd, &status) == 0 && gains_rights(&status))
		return refuse(target,
			      "is setuid or setgid; such programs ignore "
			      "LD_PRELOAD",
			      "record a copy of it, which has no such bit, or "
			      "run this as the user or group that it belongs "
			      "to");
	return check_headers(target, fd, &head);
}

/* "#!/usr/bin/env -S name args" or "#!/path args": what it runs, or NULL. */
static const char *interpreter(char *line)
{
	char *rest = line + 2, *word = strtok_r(rest, " \t\n", &rest);
	const char *slash;

	if (!word)
		return NULL;
	slash = strrchr(word, '/');
	if (!slash || strcmp(slash, "/env"))
		return word;
	do {
		word = strtok_r(NULL, " \t\n", &rest);
	} while (word && (*word == '-' || strchr(word, '=')));
	return word;
}

int target_examine(const char *command, struct target *target)
{
	char line[PATH_MAX];

	target->reason[0] = '\0';
	for (int scripts = 0; scripts < SCRIPTS_MAX; scripts++) {
		const int error = find(command, target->path);
		ssize_t len;
		int fd, result;

		if (error)
			return error;
		fd = open(target->path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return -ENOEXEC; /* may be run, not read */
		len = pread(fd, line, sizeof(line) - 1, 0);
		line[len > 0 ? len : 0] = '\0';
		if (len < 2 || memcmp(line, "#!", 2)) {
			result = check_elf(target, fd);
			close(fd);
			return result;
		}
		close(fd);
		line[strcspn(line, "\n")] = '\0';
		command = interpreter(line);
		if (!command)
			return -ENOEXEC;
	}
	return -ENOEXEC;
}
