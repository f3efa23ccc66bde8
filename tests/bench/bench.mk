# SPDX-License-Identifier: MIT
# make bench, make bench-quick: what recording costs, against the peers.
#
#   bench-quick	under two minutes, 5 interleaved rounds, peers that are there
#   bench	31 rounds, 10 million events; installs the peers
#
# PUBLISH=1 also puts table and plot into docs/; BENCH='PART...' runs some parts
# and keeps the others' rows; BENCH_PYTHON=PATH is a python that has PyTorch.

.PHONY: bench bench-quick benches

BENCHES := $(patsubst %,$(O)/tests/bench/%,bench_heap bench_region bench_kernels bench_tasks \
           bench_waits bench_coder bench_reader)

benches: $(BENCHES)

# The programs that are measured are always gcc's, like tests/programs.
$(O)/tests/bench/bench_heap $(O)/tests/bench/bench_region \
$(O)/tests/bench/bench_kernels $(O)/tests/bench/bench_tasks $(O)/tests/bench/bench_waits: \
$(O)/tests/bench/%: tests/bench/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)gcc -std=gnu11 -O2 -fno-builtin $(PROGRAM_FLAGS) -o $@ $<

$(O)/tests/bench/bench_coder $(O)/tests/bench/bench_reader: \
$(O)/tests/bench/%: $(O)/tests/bench/%.o $(UNIT_OBJECTS)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ \
		$(TOOL_LIBS) $(DEMANGLE) -lz -lpthread -ldl -lm

bench bench-quick:
	+@$(submake) probe
	+@$(submake) all benches $(O)/tests/programs/spins
	@python3 -B tests/bench/bench.py --build $(O) $(if $(filter bench,$@),--full) \
		$(if $(PUBLISH),--publish) $(if $(BENCH),--only $(BENCH))
