# SPDX-License-Identifier: MIT
# make sanitize: builds beside the ordinary one, in $(O)/asan, ubsan and tsan.

.PHONY: sanitize

TRAP := -fsanitize-undefined-trap-on-error

sanitize:
	+@$(submake) all programs
	+@$(submake) O=$(O)/asan SAN=address,undefined CFLAGS='-O1 -g' units command
	+@$(submake) O=$(O)/ubsan SAN=undefined CFLAGS='-O1 -g $(TRAP)' lib units fake-gpu
	+@$(submake) O=$(O)/tsan SAN=thread CFLAGS='-O1 -g' units
	@tests/sanitize/run --build $(O)
