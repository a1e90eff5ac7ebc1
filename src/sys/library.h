/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Libraries that only some of the work needs. Each is opened by the first call that needs it, once
 * for the process: a command that looks at files alone maps neither of them. Where one is missing,
 * the error says what it is needed for and what to install.
 *
 * A header sys/libNAME.h lists the functions that railhead uses of one; libNAME_get() gives them as
 * pointers, NULL with *err filled (-ELIBACC) where the library is missing or too old. libraries.c
 * has all of them, and announces each in an ELF note for packagers and image builders
 * (uapi-group.org, "ELF dlopen metadata").
 */
#pragma once

#include "base/err.h"
#include "base/symbols.h"

/* Fills the struct by the table of symbols. 0, or -ELIBACC: nothing of it is to be used. */
int library_open(const char *soname, const char *purpose, const char *package,
		 const struct symbol *symbols, void *into, struct err *err);

/* A member of the struct of a library's functions. */
#define LIBRARY_SLOT(fn) __typeof__(fn) *fn;
