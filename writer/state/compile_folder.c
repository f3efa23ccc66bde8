/* SPDX-License-Identifier: MIT */
/* compile_folder.c - as Python's tempfile and getpass do; see compile_folder.h.
 */
#include "writer/state/compile_folder.h"

#include "collector/system/environment.h"
#include "collector/system/log.h"
#include "collector/system/proc.h"
#include "writer/state/compile_cache.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define USER_BYTES   256u
#define FOLDER_BYTES 1024u
/* Of the list of users so much is looked at. */
#define USERS_BYTES  65536u

/* The first of these variables that says something. */
static bool first_of(const char *const *names, size_t count, char *value,
		     size_t bytes)
{
	for (size_t i = 0; i < count; i++)
		if (environment_copy(names[i], value, bytes) && value[0])
			return true;
	return false;
}

/* NAME:x:UID:... */
static bool is_user(const char *line, const char *end, uint64_t uid)
{
	const char *at = memchr(line, ':', (size_t)(end - line));
	uint64_t number = 0;

	at = at ? memchr(at + 1, ':', (size_t)(end - at - 1)) : NULL;
	if (!at || ++at == end || *at < '0' || *at > '9')
		return false;
	for (; at < end && *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	return number == uid && at < end && *at == ':';
}

/* By the list of users; the C library would ask servers, too. */
static void listed_user(char *user, size_t bytes)
{
	static char text[USERS_BYTES]; /* the writer's thread alone */
	const uint64_t uid = getuid();
	const char *line = text, *end;

	log_format(user, bytes, "uid_%lu", (unsigned long)uid);
	if (proc_read("/etc/passwd", text, sizeof(text)) < 0)
		return;
	while ((end = strchr(line, '\n'))) {
		if (is_user(line, end, uid)) {
			log_format(
				user, bytes, "%.*s",
				(int)((const char *)memchr(
					      line, ':', (size_t)(end - line)) -
				      line),
				line);
			return;
		}
		line = end + 1;
	}
}

static void default_folder(char *path, size_t bytes)
{
	static const char *const users[] = {"LOGNAME", "USER", "LNAME",
					    "USERNAME"};
	static const char *const folders[] = {"TMPDIR", "TEMP", "TMP"};
	char folder[FOLDER_BYTES], user[USER_BYTES];

	if (!first_of(folders, 3, folder, sizeof(folder)))
		log_format(folder, sizeof(folder), "/tmp");
	if (!first_of(users, 4, user, sizeof(user)))
		listed_user(user, sizeof(user));
	for (char *at = user; *at; at++)
		if (strchr("\\/:*?\"<>|", *at))
			*at = '_';
	log_format(path, bytes, "%s/torchinductor_%s", folder, user);
}

/* A link is its owner's word, too. */
static bool is_trusted(const char *path)
{
	struct stat link, folder;

	return !lstat(path, &link) && compile_cache_is_trusted(link.st_uid) &&
	       !stat(path, &folder) && S_ISDIR(folder.st_mode) &&
	       compile_cache_is_trusted(folder.st_uid);
}

bool compile_folder_find(char *path, size_t bytes)
{
	if (!environment_copy("TORCHINDUCTOR_CACHE_DIR", path, bytes))
		default_folder(path, bytes);
	return path[0] == '/' && is_trusted(path);
}
