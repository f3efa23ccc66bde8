/* SPDX-License-Identifier: MIT */
/*
 * cupti_library.c - finds libcupti, in the order in which a second copy in the
 * process is least likely:
 *
 *	the one that is loaded already (PyTorch needs it)
 *	beside the loaded CUDA runtime or libtorch, and in the folders where
 *	Python wheels keep it, seen from there
 *	wherever the loader finds it by its plain name
 *	in CUDA_HOME, CUDA_PATH and /usr/local/cuda
 *
 * Of the major versions that of the loaded CUDA runtime is tried first, or
 * where none is loaded that of the driver.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_library.h"

#include "collector/system/loader.h"
#include "collector/system/log.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define NEWEST	   13
#define OLDEST	   12
#define PLACES_MAX 4

struct cupti_functions cupti;
static void *library;

/* Objects that CUPTI lies beside, as the loader has them. */
struct places {
	int runtime_major;
	unsigned int count;
	char folder[PLACES_MAX][PATH_BYTES];
};

/* Seen from a folder of the CUDA runtime or of libtorch; %d is the major. */
static const char *const beside[] = {
	"%s/libcupti.so.%d",
	"%s/../extras/CUPTI/lib64/libcupti.so.%d",
	"%s/../../../extras/CUPTI/lib64/libcupti.so.%d",
	"%s/../../cuda_cupti/lib/libcupti.so.%d",
	"%s/../../nvidia/cu13/lib/libcupti.so.%d",
	"%s/../../nvidia/cuda_cupti/lib/libcupti.so.%d",
};

static int look_at_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct places *places = arg;
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *base = slash ? slash + 1 : info->dlpi_name;
	const bool is_runtime = !strncmp(base, "libcudart.so.", 13);
	size_t len = slash ? (size_t)(slash - info->dlpi_name) : 0;

	(void)bytes;
	if (is_runtime && base[13] >= '0' && base[13] <= '9')
		for (const char *c = base + 13; *c >= '0' && *c <= '9'; c++)
			places->runtime_major =
				(c == base + 13 ? 0
						: places->runtime_major * 10) +
				(*c - '0');
	if (!is_runtime && strncmp(base, "libtorch_cpu.so", 15) &&
	    strncmp(base, "libtorch_cuda.so", 16))
		return 0;
	if (len && len < PATH_BYTES && places->count < PLACES_MAX) {
		memcpy(places->folder[places->count], info->dlpi_name, len);
		places->folder[places->count++][len] = '\0';
	}
	return 0;
}

/* Who opens a pipe waits for its other end. */
static bool is_file(const char *path)
{
	struct stat about;

	return !stat(path, &about) && S_ISREG(about.st_mode) &&
	       !access(path, R_OK);
}

static void *open_path(char *path, int flags)
{
	if (strchr(path, '/') && !is_file(path))
		return NULL;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
}

static void *open_loaded(char *path, size_t bytes, int major)
{
	log_format(path, bytes, "libcupti.so.%d", major);
	return open_path(path, RTLD_NOLOAD);
}

static void *open_beside(const struct places *places, char *path, size_t bytes,
			 int major)
{
	void *handle = NULL;

	for (unsigned int i = 0; i < places->count && !handle; i++) {
		for (size_t j = 0;
		     j < sizeof(beside) / sizeof(beside[0]) && !handle; j++) {
			log_format(path, bytes, beside[j], places->folder[i],
				   major);
			handle = open_path(path, 0);
		}
	}
	return handle;
}

static void *open_plain(char *path, size_t bytes, int major)
{
	log_format(path, bytes, "libcupti.so.%d", major);
	return open_path(path, 0);
}

/* Where the user says that CUDA is, or where it usually is. */
static void *open_toolkit(char *path, size_t bytes, int major)
{
	static const char *const inside[] = {
		"%s/extras/CUPTI/lib64/libcupti.so.%d",
		"%s/lib64/libcupti.so.%d",
	};
	const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"),
				     "/usr/local/cuda"};
	void *handle = NULL;

	for (int i = 0; i < 3 && !handle; i++) {
		for (int j = 0; j < 2 && !handle && homes[i]; j++) {
			if (homes[i][0] != '/')
				break;
			log_format(path, bytes, inside[j], homes[i], major);
			handle = open_path(path, 0);
		}
	}
	return handle;
}

static int look_for_runtime(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	(void)bytes;
	if (!strstr(info->dlpi_name, "libcudart.so."))
		return 0;
	*(const char **)arg = info->dlpi_name;
	return 1;
}

static int ask_version(const char *path, const char *name)
{
	void *handle = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	int (*ask)(int *) = NULL;
	int version = 0;

	/* The handle is kept: what is loaded stays loaded. */
	if (handle)
		*(void **)(void *)&ask = dlsym(handle, name);
	return ask && !ask(&version) ? version : 0;
}

void cupti_library_ask_driver(void)
{
	static int (*ask)(int *);
	void *handle =
		ask ? NULL : dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	int devices;

	if (handle)
		*(void **)(void *)&ask = dlsym(handle, "cuDeviceGetCount");
	if (ask)
		ask(&devices);
}

int cupti_library_driver_version(void)
{
	return ask_version("libcuda.so.1", "cuDriverGetVersion");
}

int cupti_library_runtime_version(void)
{
	const char *path = NULL;

	dl_iterate_phdr(look_for_runtime, &path);
	return ask_version(path, "cudaRuntimeGetVersion");
}

static void *find(char *path, size_t bytes)
{
	static struct places places; /* too large for a small stack */
	int majors[2] = {NEWEST, OLDEST};
	void *handle = NULL;

	places = (struct places){0};
	dl_iterate_phdr(look_at_object, &places);
	for (int i = 0; i < 2 && !handle; i++)
		handle = open_loaded(path, bytes, majors[i]);
	/* Without a shared runtime by the driver: a newer CUPTI than that is
	 * refused. */
	if (!places.runtime_major)
		places.runtime_major = cupti_library_driver_version() / 1000;
	if (places.runtime_major == OLDEST) {
		majors[0] = OLDEST;
		majors[1] = NEWEST;
	}
	for (int i = 0; i < 2 && !handle; i++) {
		handle = open_beside(&places, path, bytes, majors[i]);
		if (!handle)
			handle = open_plain(path, bytes, majors[i]);
		if (!handle)
			handle = open_toolkit(path, bytes, majors[i]);
	}
	return handle;
}

/* The file that a plain name led to. */
static void name_file(void *handle, char *path, size_t bytes)
{
	struct link_map *map = NULL;

	if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && map->l_name[0])
		log_format(path, bytes, "%s", map->l_name);
}

static void say_unopened(const char *wanted, char *path, size_t bytes)
{
	const char *why = dlerror();

	log_format(path, bytes, "TRACEPROF_CUPTI=%s: %s", wanted,
		   why ? why : "no file that can be read");
}

static int open_library(const char *wanted, char *path, size_t bytes)
{
	/* In the order of `cupti`, without pointers: those would be relocated
	 * in each process. */
	static const struct {
		char name[47];
		bool needed;
	} rows[] = {
#define X(function, need) {#function, need},
		CUPTI_FUNCTIONS(X)
#undef X
	};
	void **const places = (void **)(void *)&cupti;
	void *handle;

	if (strcmp(wanted, "auto")) {
		log_format(path, bytes, "%s", wanted);
		handle = open_path(path, 0);
		if (!handle)
			say_unopened(wanted, path, bytes);
	} else {
		handle = find(path, bytes);
		if (!handle)
			log_format(path, bytes, "libcupti was not found");
	}
	if (!handle)
		return -ENOENT;
	/* Never closed: its threads and its handlers stay. */
	library = handle;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		places[i] = dlsym(handle, rows[i].name);
		if (!places[i] && rows[i].needed) {
			log_format(path, bytes, "libcupti lacks %s",
				   rows[i].name);
			return -ENOSYS;
		}
	}
	name_file(handle, path, bytes);
	return 0;
}

void *cupti_library_handle(void)
{
	return library;
}

void *cupti_library_symbol(const char *name)
{
	return dlsym(library, name);
}

int cupti_library_open(const char *wanted, char *path, size_t bytes)
{
	const bool keeps_forks_out = loader_enter();
	const int rc = open_library(wanted, path, bytes);

	if (keeps_forks_out)
		loader_leave();
	return rc;
}

#endif
