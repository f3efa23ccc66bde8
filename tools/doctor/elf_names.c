/* SPDX-License-Identifier: MIT */
/*
 * elf_names.c - which of some functions an ELF file defines itself.
 *
 * Only 64-bit files of our own byte order come here: target_examine() has
 * refused the others.  Nothing in the file is trusted: each offset is held
 * against its size.
 */
#include "tools/doctor/doctor.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
	const char *data;
	uint64_t bytes;
};

static bool image_map(const char *path, struct image *image)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *data = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!fstat(fd, &status) && status.st_size >= (off_t)sizeof(ElfW(Ehdr)))
		data = mmap(NULL, (size_t)status.st_size, PROT_READ,
			    MAP_PRIVATE, fd, 0);
	close(fd);
	if (data == MAP_FAILED)
		return false;
	*image = (struct image){data, (uint64_t)status.st_size};
	if (!memcmp(image->data, ELFMAG, SELFMAG))
		return true;
	munmap(data, image->bytes);
	return false;
}

static void image_unmap(struct image *image)
{
	munmap((void *)(uintptr_t)image->data, image->bytes);
}

/* `bytes` at `offset`, or NULL where they lie outside. */
static const void *at(const struct image *image, uint64_t offset,
		      uint64_t bytes)
{
	if (offset > image->bytes || bytes > image->bytes - offset)
		return NULL;
	return image->data + offset;
}

static bool section(const struct image *image, unsigned int index,
		    ElfW(Shdr) * header)
{
	ElfW(Ehdr) head;
	const void *place;

	memcpy(&head, image->data, sizeof(head));
	if (index >= head.e_shnum)
		return false;
	place = at(image, head.e_shoff + (uint64_t)index * sizeof(*header),
		   sizeof(*header));
	if (place)
		memcpy(header, place, sizeof(*header));
	return place != NULL;
}

static uint32_t defined_in(const struct image *image, const ElfW(Shdr) * table,
			   const char *const *names, size_t count)
{
	ElfW(Shdr) strings;
	const char *text;
	uint32_t found = 0;

	if (!section(image, table->sh_link, &strings) || !strings.sh_size)
		return 0;
	text = at(image, strings.sh_offset, strings.sh_size);
	if (!text || text[strings.sh_size - 1])
		return 0;
	for (uint64_t offset = 0; offset + sizeof(ElfW(Sym)) <= table->sh_size;
	     offset += sizeof(ElfW(Sym))) {
		const void *place =
			at(image, table->sh_offset + offset, sizeof(ElfW(Sym)));
		ElfW(Sym) symbol;

		if (!place)
			break;
		memcpy(&symbol, place, sizeof(symbol));
		if (symbol.st_shndx == SHN_UNDEF ||
		    symbol.st_name >= strings.sh_size ||
		    ELF64_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		for (size_t i = 0; i < count; i++)
			if (!strcmp(text + symbol.st_name, names[i]))
				found |= 1u << i;
	}
	return found;
}

uint32_t elf_names_defined(const char *path, const char *const *names,
			   size_t count)
{
	struct image image;
	ElfW(Shdr) table;
	uint32_t found = 0;

	if (!image_map(path, &image))
		return 0;
	for (unsigned int i = 0; section(&image, i, &table); i++)
		if (table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM)
			found |= defined_in(&image, &table, names, count);
	image_unmap(&image);
	return found;
}

bool elf_names_loader(const char *path, char *loader, size_t bytes)
{
	struct image image;
	ElfW(Ehdr) head;
	bool found = false;

	if (!image_map(path, &image))
		return false;
	memcpy(&head, image.data, sizeof(head));
	for (unsigned int i = 0; i < head.e_phnum && !found; i++) {
		const ElfW(Phdr) *place =
			at(&image, head.e_phoff + (uint64_t)i * sizeof(*place),
			   sizeof(*place));
		ElfW(Phdr) header;
		const char *text;

		if (!place)
			break;
		memcpy(&header, place, sizeof(header));
		text = header.p_type == PT_INTERP
			       ? at(&image, header.p_offset, header.p_filesz)
			       : NULL;
		if (!text)
			continue;
		snprintf(loader, bytes, "%.*s", (int)header.p_filesz, text);
		found = true;
	}
	image_unmap(&image);
	return found;
}
