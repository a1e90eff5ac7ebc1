/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NVIDIA's libraries, opened at run time, and their symbols as a table of pointers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

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

/* -ENOENT with the remedy where there is no such library. It is never closed: its threads
 * and exit handlers would run into nothing. */
int symbols_open(void **ret, const char *library, struct err *err);

/* Fills what it finds; the first name that is missing and not optional, or NULL. */
const char *symbols_resolve(void *lib, const struct symbol *table, void *into);

/* Of the loaded kernel module: "570.86.15", or "version unknown". buf is returned. */
const char *symbols_driver_version(char buf[32]);
