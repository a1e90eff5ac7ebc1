/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel arguments as the tools read them that build images. Pure, no I/O. Each format keeps
 * every argument, repeated ones too, in their order; where a tool would not, it is refused.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "boot/kargs.h"

enum karg_format {
	KARG_FORMAT_LINE,   /* the arguments, one line */
	KARG_FORMAT_BOOTC,  /* TOML for /usr/lib/bootc/kargs.d */
	KARG_FORMAT_UKI,    /* configuration of ukify(1), for an addon */
	KARG_FORMAT_GRUBBY, /* a command for the shell */
};

/* "line, bootc, uki, grubby" */
extern const char karg_format_names[];
/* -EINVAL if it is none of them. */
int karg_format_parse(const char *name, enum karg_format *ret);

/* What they are of: for a comment, and for tools that ask. */
struct karg_heading {
	const char *name, *version; /* of the profile; version may be "" */
	const char *arch;	    /* as uname -m and bootc say it; NULL: any */
};

/*
 * Appends the whole text, each line with its newline. -EINVAL, and nothing appended, if the
 * format's tool would not bring the arguments to the kernel as they are; err then names the
 * argument, the reason and the remedy.
 */
int kargs_format(const struct kargs *l, enum karg_format format, const struct karg_heading *h,
		 struct str *ret, struct err *err);
