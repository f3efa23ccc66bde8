/* SPDX-License-Identifier: MIT */
/* python_greenlets.c - are there any; see python_greenlets.h. */
#include "preload/python/python_greenlets.h"

_Atomic bool python_has_greenlets;

void python_greenlets_look(void)
{
	void *modules = python_api.system("modules");
	void *module =
		modules ? python_api.item(modules, PYTHON_GREENLETS) : NULL;

	if (module)
		store_relaxed(&python_has_greenlets, true);
	python_give(module);
	python_api.error_clear();
}
