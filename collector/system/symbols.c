/* SPDX-License-Identifier: MIT */
/*
 * symbols.c - one ELF file's functions, sorted by address.
 *
 * The file stays mapped for its names and its code.  Every offset that comes
 * from the file is checked against its size before it is followed.
 */
#include "collector/system/symbols.h"

#include "collector/system/file_locks.h"
#include "collector/system/loader.h"
#include "collector/system/orphan.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_MAX_BYTES 65536
#define CALLS_MAX      4096

struct entry {
	uint64_t start;
	uint64_t size;	/* 0: not told, as of hand-written assembly */
	uint32_t name;	/* offset in the strings */
	uint32_t reach; /* without size: bytes to the section's end */
};

struct symbols {
	const char *file;
	size_t file_bytes;
	const char *strings;
	struct entry *entries;
	size_t count;
	size_t table_bytes; /* of the mapping that this struct heads */
};

/* `bytes` at `offset` of the file, NULL if that isn't all inside. */
static const void *part(const char *file, size_t file_bytes, uint64_t offset,
			uint64_t bytes)
{
	if (offset > file_bytes || bytes > file_bytes - offset)
		return NULL;
	return file + offset;
}

struct mapping {
	const char *path;
	const char *file; /* NULL: it can't be had */
	size_t bytes;
};

/* False: nothing can be said of it. */
static bool is_locked(const char *path)
{
	struct stat status;

	return !stat(path, &status) && file_locks_has(status.st_ino);
}

static int map_it(void *arg)
{
	struct mapping *mapping = arg;
	const int fd = open(mapping->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	void *file = MAP_FAILED;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) &&
	    status.st_size > (off_t)sizeof(ElfW(Ehdr)))
		file = mmap(NULL, (size_t)status.st_size, PROT_READ,
			    MAP_PRIVATE, fd, 0);
	close(fd);
	if (file != MAP_FAILED) {
		mapping->file = file;
		mapping->bytes = (size_t)status.st_size;
	}
	return 0;
}

/* A program may have locked its own file, to run but once: another process's
 * close() leaves it that. */
static const char *map_file(const char *path, size_t *bytes)
{
	const bool keeps_forks_out = loader_enter_soon();
	struct mapping mapping = {.path = path};

	if (is_locked(path))
		orphan_call(map_it, &mapping);
	else
		map_it(&mapping);
	if (keeps_forks_out)
		loader_leave();
	*bytes = mapping.bytes;
	return mapping.file;
}

static const ElfW(Ehdr) * elf_header(const char *file, size_t bytes)
{
	const ElfW(Ehdr) *header = part(file, bytes, 0, sizeof(*header));

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_ident[EI_DATA] != ELFDATA2LSB)
		return NULL;
	return header;
}

/* The symbol table section to use and its strings. */
struct table {
	const ElfW(Shdr) * sections;
	unsigned int section_count;
	const ElfW(Sym) * symbols;
	size_t count;
	const char *strings;
	size_t string_bytes;
};

static bool load_table(const char *file, size_t bytes,
		       const ElfW(Shdr) * sections, unsigned int count,
		       const ElfW(Shdr) * section, struct table *table)
{
	const ElfW(Shdr) * strings;

	if (section->sh_link >= count ||
	    section->sh_entsize != sizeof(ElfW(Sym)) ||
	    section->sh_offset % _Alignof(ElfW(Sym)))
		return false;
	strings = &sections[section->sh_link];
	table->sections = sections;
	table->section_count = count;
	table->count = section->sh_size / sizeof(ElfW(Sym));
	table->symbols =
		part(file, bytes, section->sh_offset, section->sh_size);
	table->strings =
		part(file, bytes, strings->sh_offset, strings->sh_size);
	table->string_bytes = strings->sh_size;
	return table->symbols && table->strings && table->string_bytes &&
	       !table->strings[table->string_bytes - 1];
}

/* .symtab if there is one, else .dynsym. */
static bool find_table(const char *file, size_t bytes, struct table *table)
{
	const ElfW(Ehdr) *header = elf_header(file, bytes);
	const ElfW(Shdr) * sections;

	if (!header || header->e_shentsize != sizeof(ElfW(Shdr)) ||
	    header->e_shoff % _Alignof(ElfW(Shdr)))
		return false;
	sections = part(file, bytes, header->e_shoff,
			(uint64_t)header->e_shnum * sizeof(*sections));
	if (!sections)
		return false;
	for (int type = SHT_SYMTAB;; type = SHT_DYNSYM) {
		for (unsigned int i = 0; i < header->e_shnum; i++) {
			if (sections[i].sh_type == (ElfW(Word))type &&
			    load_table(file, bytes, sections, header->e_shnum,
				       &sections[i], table))
				return true;
		}
		if (type == SHT_DYNSYM)
			return false;
	}
}

static bool is_function(const struct table *table, const ElfW(Sym) * symbol)
{
	const unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) &&
	       symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
	       symbol->st_name < table->string_bytes &&
	       table->strings[symbol->st_name];
}

/* How far a symbol without size may reach: to its section's end. */
static uint32_t reach_of(const struct table *table, const ElfW(Sym) * symbol)
{
	const ElfW(Shdr) * section;

	if (symbol->st_shndx >= table->section_count)
		return 0;
	section = &table->sections[symbol->st_shndx];
	if (symbol->st_value < section->sh_addr ||
	    symbol->st_value - section->sh_addr >= section->sh_size)
		return 0;
	return (uint32_t)min_u64(section->sh_size -
					 (symbol->st_value - section->sh_addr),
				 UINT32_MAX);
}

/* One pass of a radix sort, by the byte at `shift`; keeps the order of equals.
 * False: all have the same byte there, nothing was moved. */
static bool sort_by_byte(const struct entry *from, struct entry *to,
			 size_t count, unsigned int shift)
{
	uint32_t ends[256] = {0};
	uint32_t sum = 0;

	for (size_t i = 0; i < count; i++)
		ends[from[i].start >> shift & 0xff]++;
	if (ends[from[0].start >> shift & 0xff] == count)
		return false;
	for (unsigned int i = 0; i < 256; i++) {
		const uint32_t here = ends[i];

		ends[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[ends[from[i].start >> shift & 0xff]++] = from[i];
	return true;
}

/* By address.  The library of a framework has hundreds of thousands, and
 * comparing them took a tenth of a second.  False: no memory. */
static bool sort_entries(struct entry *entries, size_t count)
{
	const size_t bytes = count * sizeof(*entries);
	struct entry *spare, *from = entries, *to;
	uint64_t all = 0;

	if (!count)
		return true;
	spare = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (spare == MAP_FAILED)
		return false;
	to = spare;
	for (size_t i = 0; i < count; i++)
		all |= entries[i].start;
	for (unsigned int shift = 0; shift < 64 && all >> shift; shift += 8) {
		if (!sort_by_byte(from, to, count, shift))
			continue;
		struct entry *const swap = from;

		from = to;
		to = swap;
	}
	if (from != entries)
		memcpy(entries, from, bytes);
	munmap(spare, bytes);
	return true;
}

static struct symbols *build(const char *file, size_t file_bytes,
			     const struct table *table)
{
	const size_t bytes =
		sizeof(struct symbols) + table->count * sizeof(struct entry);
	struct symbols *symbols =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (symbols == MAP_FAILED)
		return NULL;
	symbols->file = file;
	symbols->file_bytes = file_bytes;
	symbols->table_bytes = bytes;
	symbols->strings = table->strings;
	symbols->entries = (struct entry *)(symbols + 1);
	for (size_t i = 0; i < table->count; i++) {
		const ElfW(Sym) *symbol = &table->symbols[i];

		if (!is_function(table, symbol))
			continue;
		symbols->entries[symbols->count++] = (struct entry){
			.start = symbol->st_value,
			.size = symbol->st_size,
			.name = symbol->st_name,
			.reach = reach_of(table, symbol),
		};
	}
	if (sort_entries(symbols->entries, symbols->count))
		return symbols;
	munmap(symbols, bytes);
	return NULL;
}

struct symbols *symbols_open(const char *path)
{
	struct table table;
	struct symbols *symbols = NULL;
	size_t bytes = 0;
	const char *file = map_file(path, &bytes);

	if (!file)
		return NULL;
	if (find_table(file, bytes, &table))
		symbols = build(file, bytes, &table);
	if (!symbols)
		munmap((void *)file, bytes);
	return symbols;
}

void symbols_close(struct symbols *symbols)
{
	if (!symbols)
		return;
	munmap((void *)symbols->file, symbols->file_bytes);
	munmap(symbols, symbols->table_bytes);
}

const uint8_t *symbols_build_id(const char *at, uint64_t bytes, size_t *len)
{
	const char *const end = at + bytes;

	while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) note;
		uint64_t id_at;

		memcpy(&note, at, sizeof(note));
		id_at = sizeof(note) + align_up(note.n_namesz, 4);
		if (id_at + note.n_descsz > (size_t)(end - at))
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(at + sizeof(note), "GNU", 4) == 0) {
			*len = note.n_descsz;
			return (const uint8_t *)at + id_at;
		}
		at += min_u64(id_at + align_up(note.n_descsz, 4),
			      (uint64_t)(end - at));
	}
	return NULL;
}

static const ElfW(Phdr) *
	segments_of(const struct symbols *symbols, unsigned int *count)
{
	const ElfW(Ehdr) *header =
		elf_header(symbols->file, symbols->file_bytes);

	if (!header || header->e_phentsize != sizeof(ElfW(Phdr)) ||
	    header->e_phoff % _Alignof(ElfW(Phdr)))
		return NULL;
	*count = header->e_phnum;
	return part(symbols->file, symbols->file_bytes, header->e_phoff,
		    (uint64_t)header->e_phnum * sizeof(ElfW(Phdr)));
}

bool symbols_is_build(const struct symbols *symbols, const uint8_t *id,
		      size_t id_len)
{
	unsigned int count = 0;
	const ElfW(Phdr) *segments = segments_of(symbols, &count);

	for (unsigned int i = 0; segments && id_len && i < count; i++) {
		const char *notes;
		const uint8_t *found = NULL;
		size_t len = 0;

		if (segments[i].p_type != PT_NOTE)
			continue;
		notes = part(symbols->file, symbols->file_bytes,
			     segments[i].p_offset, segments[i].p_filesz);
		if (notes)
			found = symbols_build_id(notes, segments[i].p_filesz,
						 &len);
		/* The loader's list keeps no more than its first bytes. */
		if (found)
			return len >= id_len && !memcmp(found, id, id_len);
	}
	return !id_len;
}

/* Last entry that begins at or before `address`, count if none. */
static size_t last_before(const struct symbols *symbols, uint64_t address)
{
	size_t low = 0;
	size_t high = symbols->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (symbols->entries[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : symbols->count;
}

/* Aliases share an address: of those the largest, of equals the first in the
 * file; a symbol without size reaches to the next or its section's end. */
static const struct entry *largest_at(const struct symbols *symbols, size_t at)
{
	const uint64_t start = symbols->entries[at].start;
	const struct entry *largest = &symbols->entries[at];

	while (at-- && symbols->entries[at].start == start) {
		if (symbols->entries[at].size >= largest->size)
			largest = &symbols->entries[at];
	}
	return largest;
}

int symbols_find(const struct symbols *symbols, uint64_t address,
		 struct symbol *found)
{
	const size_t at = last_before(symbols, address);
	const struct entry *entry;
	const char *name;

	if (at == symbols->count)
		return -ENOENT;
	entry = largest_at(symbols, at);
	if (address - entry->start >=
	    (entry->size ? entry->size : entry->reach))
		return -ENOENT;
	name = symbols->strings + entry->name;
	*found = (struct symbol){.name = name,
				 .name_len = strnlen(name, NAME_MAX_BYTES),
				 .start = entry->start,
				 .size = entry->size};
	return 0;
}

/* The file's bytes of [start, start + size), NULL if no segment holds them. */
static const uint8_t *code_at(const struct symbols *symbols, uint64_t start,
			      uint64_t size)
{
	unsigned int count = 0;
	const ElfW(Phdr) *segments = segments_of(symbols, &count);

	for (unsigned int i = 0; segments && i < count; i++) {
		const ElfW(Phdr) *segment = &segments[i];

		if (segment->p_type != PT_LOAD || start < segment->p_vaddr ||
		    start - segment->p_vaddr > segment->p_filesz ||
		    size > segment->p_filesz - (start - segment->p_vaddr))
			continue;
		return part(symbols->file, symbols->file_bytes,
			    segment->p_offset + (start - segment->p_vaddr),
			    size);
	}
	return NULL;
}

#if defined(__x86_64__)
/* Where the call that ends at `end` bytes of `code` goes: E8 rel32, or FF 15
 * rel32 through a table entry.  Its length, 0 if there is no such call. */
static unsigned int call_before(const uint8_t *code, uint64_t end,
				uint64_t address, uint64_t *target)
{
	int32_t distance;

	if (end < 5)
		return 0;
	memcpy(&distance, code + end - 4, sizeof(distance));
	*target = address + (uint64_t)(int64_t)distance;
	if (code[end - 5] == 0xe8)
		return 5;
	if (end >= 6 && code[end - 6] == 0xff && code[end - 5] == 0x15)
		return 6;
	return 0;
}
#else
/* BL imm26. */
static unsigned int call_before(const uint8_t *code, uint64_t end,
				uint64_t address, uint64_t *target)
{
	uint32_t word;

	if (end < 4 || end % 4)
		return 0;
	memcpy(&word, code + end - 4, sizeof(word));
	if (word >> 26 != 0x25)
		return 0;
	*target = address - 4 +
		  (uint64_t)((int64_t)(int32_t)(word << 6) >> 6) * 4;
	return 4;
}
#endif

unsigned int symbols_call_ordinal(const struct symbols *symbols,
				  uint64_t address)
{
	struct symbol function;
	const uint8_t *code;
	uint64_t wanted;
	uint64_t target;
	uint64_t len;
	unsigned int kind;
	unsigned int ordinal = 0;

	/* The call itself lies before the address that it returns to. */
	if (symbols_find(symbols, address - 1, &function))
		return 0;
	len = address - function.start;
	code = code_at(symbols, function.start, len);
	kind = code ? call_before(code, len, address, &wanted) : 0;
	if (!kind)
		return 0;
	for (uint64_t end = 1; end <= len; end++) {
		if (call_before(code, end, function.start + end, &target) ==
			    kind &&
		    target == wanted && ++ordinal == CALLS_MAX)
			break;
	}
	return ordinal;
}
