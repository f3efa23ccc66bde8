/* SPDX-License-Identifier: MIT */
/*
 * noisy_tables.c - opens a library again and again, each time with other bytes
 * of its unwind tables replaced, and allocates in it.
 *
 *	noisy_tables FILE COUNT SEED
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct part {
	size_t at, bytes;
};

static unsigned long state;

static unsigned long draw(unsigned long below)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return (state >> 33) % below;
}

static struct part find(const unsigned char *image, const char *name)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
	const Elf64_Shdr *all = (const Elf64_Shdr *)(image + head->e_shoff);
	const char *names =
		(const char *)image + all[head->e_shstrndx].sh_offset;

	for (int i = 0; i < head->e_shnum; i++)
		if (!strcmp(names + all[i].sh_name, name))
			return (struct part){all[i].sh_offset, all[i].sh_size};
	exit(1);
}

static void damage(unsigned char *image, struct part part)
{
	static const unsigned int amounts[] = {1, 1, 2, 5, 30, 300};
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
	const unsigned int amount = amounts[draw(6)];

	for (unsigned int i = 0; i < amount; i++)
		image[part.at + draw(part.bytes)] =
			draw(2) ? values[draw(5)] : (unsigned char)draw(256);
}

static void *opened(const unsigned char *image, size_t bytes)
{
	const int file = memfd_create("noisy", 0);
	char path[64];
	void *library;

	if (file < 0 || write(file, image, bytes) != (ssize_t)bytes)
		exit(1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	library = dlopen(path, RTLD_NOW);
	close(file);
	return library;
}

int main(int argc, char **argv)
{
	struct part parts[2];
	struct stat about;
	unsigned char *image, *copy;
	long sum = 0;
	int file;

	if (argc < 4 || (file = open(argv[1], O_RDONLY)) < 0 ||
	    fstat(file, &about))
		return 1;
	image = malloc((size_t)about.st_size);
	copy = malloc((size_t)about.st_size);
	if (read(file, image, (size_t)about.st_size) != about.st_size)
		return 1;
	parts[0] = find(image, ".eh_frame_hdr");
	parts[1] = find(image, ".eh_frame");
	state = strtoul(argv[3], NULL, 10) * 2654435761ul + 1;
	for (int i = 0; i < atoi(argv[2]); i++) {
		void *(*make)(size_t);
		void *library;

		memcpy(copy, image, (size_t)about.st_size);
		damage(copy, parts[draw(4) > 0]);
		library = opened(copy, (size_t)about.st_size);
		make = library ? (void *(*)(size_t))dlsym(library,
							  "library_block")
			       : NULL;
		if (!make)
			return puts(dlerror());
		free(make(100000));
		sum += i;
		dlclose(library);
	}
	printf("opened %ld\n", sum);
	return 0;
}
