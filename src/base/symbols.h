/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resolves the functions of a library that was opened at run time into a table of pointers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct symbol {
	const char *name; /* in the library; NULL ends the table */
	size_t offset;	  /* of the function pointer in the filled struct */
	bool optional;	  /* stays NULL if the library is too old */
};

#define SYMBOL(type, member, name)                  \
	{                                           \
		name, offsetof(type, member), false \
	}
#define OPTIONAL_SYMBOL(type, member, name)        \
	{                                          \
		name, offsetof(type, member), true \
	}

/*
 * Fills in every function that exists. Returns the first missing name that is not optional, or
 * NULL.
 */
const char *symbols_resolve(void *lib, const struct symbol *table, void *into);
