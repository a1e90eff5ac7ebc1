/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Libraries that only some of the work needs. The first call that needs a library opens it, once
 * for the process; a command that only looks at files opens none. If a library is missing, the
 * error names its purpose and the package to install.
 *
 * A header sys/libNAME.h lists the functions that railhead uses; libNAME_get() returns them as
 * pointers, or NULL with *err set (-ELIBACC) if the library is missing or too old. libraries.c
 * contains all of them, and announces each library in an ELF note for packagers and image builders
 * (uapi-group.org, "ELF dlopen metadata").
 */
#pragma once

#include "base/err.h"
#include "base/symbols.h"

/* Fills the struct by the table of symbols. 0, or -ELIBACC: the struct must not be used. */
int library_open(const char *soname, const char *purpose, const char *package,
		 const struct symbol *symbols, void *into, struct err *err);

/* A member of the struct with a library's functions. */
#define LIBRARY_SLOT(fn) __typeof__(fn) *fn;
