/* SPDX-License-Identifier: MIT */
/*
 * binding.h - the loader's binding of our calls to other libraries.
 *
 * The library is linked to be bound call by call, at each one's first time: a
 * system's tool, of which a script starts thousands, makes hardly any, and to
 * look up 140 names is most of what we would cost it.  In every other process
 * all are bound at once, before its gate opens, as `-z now` would: hooks run on
 * small stacks and in handlers of signals, where the loader's way of binding
 * takes kilobytes.
 */
#ifndef PRELOAD_BINDING_H
#define PRELOAD_BINDING_H

/* Binds what isn't bound yet.  Takes the loader's locks, but no memory; one
 * thread at a time. */
void binding_complete(void);

#endif
