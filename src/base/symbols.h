/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of a library that was opened at run time, as a table of pointers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct symbol {
	const char *name; /* in the library; NULL ends the table */
	size_t offset;	  /* of the function pointer in the struct that is filled */
	bool optional;	  /* stays NULL where the library is too old for it */
};

#define SYMBOL(type, member, name)                  \
	{                                           \
		name, offsetof(type, member), false \
	}
#define OPTIONAL_SYMBOL(type, member, name)        \
	{                                          \
		name, offsetof(type, member), true \
	}

/* Fills what it finds; the first name that is missing and not optional, or NULL. */
const char *symbols_resolve(void *lib, const struct symbol *table, void *into);
