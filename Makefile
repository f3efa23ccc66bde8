# SPDX-License-Identifier: MIT
# One Makefile, no configure step.  `make help` lists the targets.
#   V=1 shows commands; O=dir builds elsewhere; SAN=thread|address builds with
#   a sanitizer; CC=clang works too.

CC      ?= gcc
O       ?= build
PREFIX  ?= /usr/local
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')

CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
           -Wpointer-arith -Wvla -Werror=implicit-function-declaration
BASE    := -std=gnu11 -D_GNU_SOURCE -I. -MMD -MP $(WARN) \
           -fno-strict-aliasing $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
# The library: position independent, nothing exported unless marked, static
# TLS only, and unwind tables so that forced unwinds pass through our hooks.
LIBFLAGS := -fPIC -fvisibility=hidden -ftls-model=initial-exec -fexceptions \
            -fasynchronous-unwind-tables -fno-builtin-malloc \
            -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free
