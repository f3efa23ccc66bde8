/* SPDX-License-Identifier: MIT */
/*
 * near_unwinder.c - code right behind libunwind's, which asks for the list of
 * files as libunwind does.
 *
 * With NULL for its argument: whoever takes the caller for libunwind reads what
 * it isn't.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u

typedef int ask_function(
	int (*visit)(struct dl_phdr_info *, size_t, void *), void *arg,
	int (*list)(int (*)(struct dl_phdr_info *, size_t, void *), void *));

static int files;

static int count(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	(void)info;
	(void)bytes;
	files += !arg;
	return 0;
}

static int end_of(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	uintptr_t *end = arg;

	(void)bytes;
	if (!strstr(info->dlpi_name, "/libunwind.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			*end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr +
			       info->dlpi_phdr[i].p_memsz;
	return 1;
}

/* list(visit, arg), from the first free page behind libunwind. */
static ask_function *place(void)
{
	static const unsigned char code[] = {
		0x48, 0x83, 0xec, 0x08, /* sub $8, %rsp */
		0xff, 0xd2,		/* call *%rdx */
		0x48, 0x83, 0xc4, 0x08, /* add $8, %rsp */
		0xc3,			/* ret */
	};
	void *made = MAP_FAILED;
	uintptr_t near = 0;

	dl_iterate_phdr(end_of, &near);
	near = (near + PAGE - 1) / PAGE * PAGE;
	for (unsigned int i = 0; made == MAP_FAILED && i < 512; i++)
		made = mmap(near ? (void *)(near + (uintptr_t)i * PAGE) : NULL,
			    PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS |
				    (near ? MAP_FIXED_NOREPLACE : 0),
			    -1, 0);
	/* All is taken there by chance. */
	if (made == MAP_FAILED)
		made = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		return NULL;
	memcpy(made, code, sizeof(code));
	if (mprotect(made, PAGE, PROT_READ | PROT_EXEC))
		return NULL;
	return (ask_function *)made;
}

static void *ask_from(void *code)
{
	((ask_function *)code)(count, NULL, dl_iterate_phdr);
	return NULL;
}

int main(void)
{
	ask_function *ask = place();
	pthread_t thread;

	if (!ask || pthread_create(&thread, NULL, ask_from, (void *)ask))
		return 1;
	pthread_join(thread, NULL);
	printf("%s\n", files > 3 ? "asked" : "no files");
	return 0;
}
