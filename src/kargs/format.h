/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel arguments in the formats of the tools that build images. Pure, no I/O. Each format keeps
 * every argument in order, repeated ones too; arguments that a tool would not keep are rejected.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "kargs/kargs.h"

enum karg_format {
	KARG_FORMAT_LINE,   /* the arguments, one line */
	KARG_FORMAT_BOOTC,  /* TOML for /usr/lib/bootc/kargs.d */
	KARG_FORMAT_UKI,    /* configuration of ukify(1), for an addon */
	KARG_FORMAT_GRUBBY, /* a command for the shell */
};

/* "line, bootc, uki, grubby" */
extern const char karg_format_names[];
/* -EINVAL: no format has that name. */
int karg_format_parse(const char *name, enum karg_format *ret);

/* The source of the arguments: for a comment, and for tools that ask. */
struct karg_heading {
	const char *name, *version; /* of the profile; version may be "" */
	const char *arch;	    /* in the spelling of uname -m and bootc; NULL: any */
};

/*
 * Appends the whole text, each line with its newline. -EINVAL, and nothing is appended, if the
 * format's tool would not bring the arguments unchanged to the kernel; err then names the argument,
 * the reason and the remedy.
 */
int kargs_format(const struct kargs *l, enum karg_format format, const struct karg_heading *h,
		 struct str *ret, struct err *err);
