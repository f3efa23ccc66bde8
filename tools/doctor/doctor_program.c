/* SPDX-License-Identifier: MIT */
/*
 * doctor_program.c - the program that would be recorded: whether it can be, and
 * which of its libraries are known.
 */
#include "tools/doctor/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/record/record.h"

#define LIBRARIES_BYTES 65536

struct program {
	const char *command;
	struct target target;
	char libraries[LIBRARIES_BYTES]; /* the loader's list */
	uint32_t defined;		 /* of own_functions */
};

enum own_function {
	OWN_MALLOC,
	OWN_GOMP,
	OWN_KMP,
	OWN_CUDART,
	OWN_FUNCTION_COUNT
};

static const char *const own_functions[] = {
	[OWN_MALLOC] = "malloc",
	[OWN_GOMP] = "GOMP_parallel",
	[OWN_KMP] = "__kmpc_fork_call",
	[OWN_CUDART] = "__cudaRegisterFatBinary",
};

static bool owns(const struct program *program, enum own_function function)
{
	return program->defined >> function & 1;
}

/* Asks the program's own loader; it maps the libraries and runs nothing. */
static void list_libraries(struct program *program)
{
	char loader[PATH_MAX], *command;
	size_t len = 0;
	FILE *out;

	if (!elf_names_loader(program->target.path, loader, sizeof(loader)) ||
	    strchr(loader, '\'') || strchr(program->target.path, '\''))
		return;
	if (asprintf(&command, "LD_PRELOAD= '%s' --list '%s' 2>/dev/null",
		     loader, program->target.path) < 0)
		return;
	out = popen(command, "r");
	free(command);
	if (!out)
		return;
	len = fread(program->libraries, 1, sizeof(program->libraries) - 1, out);
	program->libraries[len] = '\0';
	pclose(out);
}

/* The path of the first library whose name begins so; false: none does. */
static bool loads(const struct program *program, const char *name, char *path,
		  size_t bytes)
{
	char start[64];
	const char *line;

	snprintf(start, sizeof(start), "\t%s", name);
	line = strstr(program->libraries, start);
	if (!line)
		return false;
	line++;
	if (!strncmp(line + strcspn(line, " \n"), " => /", 5))
		line += strcspn(line, " ") + 4;
	snprintf(path, bytes, "%.*s", (int)strcspn(line, " \n"), line);
	return true;
}

static void look_at_heap(struct doctor *doctor, const struct program *program)
{
	static const char *const allocators[] = {
		"libjemalloc.so", "libtcmalloc", "libmimalloc.so",
		"libtbbmalloc_proxy.so"};
	char path[PATH_MAX];

	if (owns(program, OWN_MALLOC)) {
		doctor_say(doctor, DOCTOR_NOTE, "heap",
			   "link the allocator as a shared library to see the "
			   "heap",
			   "the program brings its own malloc; its calls "
			   "cannot be seen");
		return;
	}
	for (size_t i = 0; i < sizeof(allocators) / sizeof(*allocators); i++) {
		if (!loads(program, allocators[i], path, sizeof(path)))
			continue;
		doctor_say(doctor, DOCTOR_GOOD, "heap", NULL,
			   "recorded, in front of %s", path);
		return;
	}
	doctor_say(doctor, DOCTOR_GOOD, "heap", NULL,
		   "recorded, in front of libc's malloc");
}

static void look_at_openmp(struct doctor *doctor, const struct program *program)
{
	static const char *const runtimes[] = {"libgomp.so", "libomp.so",
					       "libiomp5.so"};
	char path[PATH_MAX];

	if (owns(program, OWN_GOMP) || owns(program, OWN_KMP)) {
		doctor_say(doctor, DOCTOR_NOTE, "OpenMP",
			   "link the OpenMP runtime as a shared library to see "
			   "regions",
			   "%s is linked in statically; its regions cannot be "
			   "seen",
			   owns(program, OWN_GOMP) ? "libgomp" : "libomp");
		return;
	}
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++) {
		if (!loads(program, runtimes[i], path, sizeof(path)))
			continue;
		doctor_say(doctor, DOCTOR_GOOD, "OpenMP", NULL, "recorded: %s",
			   path);
		return;
	}
	doctor_say(doctor, DOCTOR_GOOD, "OpenMP", NULL,
		   "no runtime is linked; one that is loaded later is "
		   "recorded");
}

static void look_at_cuda(struct doctor *doctor, const struct program *program)
{
	char path[PATH_MAX];

	if (loads(program, "libcudart.so", path, sizeof(path)))
		doctor_say(doctor, DOCTOR_GOOD, "CUDA", NULL,
			   "the program links %s", path);
	else if (owns(program, OWN_CUDART))
		doctor_say(doctor, DOCTOR_NOTE, "CUDA", NULL,
			   "the CUDA runtime is linked in statically: recorded "
			   "through CUPTI alone");
	else if (loads(program, "libcuda.so", path, sizeof(path)))
		doctor_say(doctor, DOCTOR_GOOD, "CUDA", NULL,
			   "the program links the driver, %s", path);
	else
		doctor_say(doctor, DOCTOR_GOOD, "CUDA", NULL,
			   "not linked; what is loaded later is recorded");
}

static void look_at_mpi(struct doctor *doctor, const struct program *program)
{
	const char *name = strrchr(program->command, '/');
	char path[PATH_MAX];

	name = name ? name + 1 : program->command;
	if (!strcmp(name, "mpirun") || !strcmp(name, "mpiexec") ||
	    !strcmp(name, "srun"))
		doctor_say(doctor, DOCTOR_NOTE, "ranks", NULL,
			   "%s starts ranks; put traceprof in front of the "
			   "program: %s ... traceprof record -- PROGRAM",
			   name, name);
	else if (loads(program, "libmpi", path, sizeof(path)))
		doctor_say(doctor, DOCTOR_GOOD, "ranks", NULL,
			   "MPI program: one trace for each rank");
}

static void say_refused(struct doctor *doctor, const struct program *program,
			int error)
{
	if (error == -EPERM)
		doctor_say(doctor, DOCTOR_STOP, "program",
			   program->target.advice, "%s",
			   program->target.reason);
	else if (error == -ENOEXEC)
		doctor_say(doctor, DOCTOR_NOTE, "program", NULL,
			   "%s is neither an ELF file nor a script that can be "
			   "read; nothing is known of it",
			   program->command);
	else
		doctor_say(doctor, DOCTOR_STOP, "program", NULL, "%s: %s",
			   program->command, strerror(-error));
}

/* A script is its interpreter's. */
static void say_recordable(struct doctor *doctor, const struct program *program)
{
	const char *asked = strrchr(program->command, '/');
	const char *runs = strrchr(program->target.path, '/');

	asked = asked ? asked + 1 : program->command;
	runs = runs ? runs + 1 : program->target.path;
	if (!strcmp(asked, runs))
		doctor_say(doctor, DOCTOR_GOOD, "program", NULL,
			   "%s can be recorded", program->target.path);
	else
		doctor_say(doctor, DOCTOR_GOOD, "program", NULL,
			   "%s is a script; %s can be recorded, and what it "
			   "starts too",
			   program->command, program->target.path);
}

void doctor_look_at_program(struct doctor *doctor, const char *command)
{
	struct program *program = calloc(1, sizeof(*program));
	int error;

	if (!program)
		return;
	program->command = command;
	error = target_examine(command, &program->target);
	if (error) {
		say_refused(doctor, program, error);
	} else {
		list_libraries(program);
		program->defined =
			elf_names_defined(program->target.path, own_functions,
					  OWN_FUNCTION_COUNT);
		say_recordable(doctor, program);
		look_at_heap(doctor, program);
		look_at_openmp(doctor, program);
		look_at_cuda(doctor, program);
		look_at_mpi(doctor, program);
	}
	free(program);
}
