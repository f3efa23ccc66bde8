# SPDX-License-Identifier: MIT
# make fuzz: every tests/fuzz/fuzz_*.c is one target, built with clang's
# libFuzzer, ASan and UBSan, and run for FUZZ_SECONDS.

.PHONY: fuzz fuzzers

FUZZ_SECONDS ?= 60
FUZZERS := $(patsubst tests/fuzz/%.c,$(O)/tests/fuzz/%,\
           $(wildcard tests/fuzz/fuzz_*.c))
ifeq ($(CUPTI),)
FUZZERS := $(filter-out %/fuzz_cupti,$(FUZZERS))
endif

fuzz:
	+@$(submake) CC=clang O=$(O)/fuzz SAN=fuzzer-no-link,address,undefined \
		CFLAGS='-O1 -g' fuzzers
	@tests/fuzz/run --build $(O)/fuzz --seconds $(FUZZ_SECONDS)

fuzzers: $(FUZZERS)

# Each as a plain program that runs on files, for make test (t_fuzz.py).
REPLAYS := $(FUZZERS:$(O)/tests/fuzz/fuzz_%=$(O)/tests/fuzz/replay_%)
units: $(REPLAYS)

# What turns buffers into events, and the lengths of all versions of CUPTI.
$(O)/tests/fuzz/fuzz_cupti $(O)/tests/fuzz/replay_cupti: $(O)/tests/fake_gpu/sim_record.o $(addprefix \
	$(O)/preload/cuda/cupti_,buffers.o clock.o library.o record.o side.o source.o \
	launches.o graphs.o graph_memory.o)
$(O)/tests/fuzz/fuzz_%: $(O)/tests/fuzz/fuzz_%.o $(UNIT_OBJECTS)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -fsanitize=fuzzer,address,undefined $(LDFLAGS) \
		-o $@ $^ $(TOOL_LIBS) $(DEMANGLE) -lz -lpthread -ldl -lm

$(O)/tests/fuzz/replay_%: $(O)/tests/fuzz/fuzz_%.o $(O)/tests/fuzz/replay.o \
		$(UNIT_OBJECTS)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS) \
		$(DEMANGLE) -lz -lpthread -ldl -lm

.SECONDARY: $(FUZZERS:%=%.o) $(O)/tests/fuzz/replay.o
