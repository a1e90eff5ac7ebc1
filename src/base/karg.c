/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/karg.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { KARG_MAX = 1000 };

static int check_bytes(const char *text, struct err *err)
{
	for (const char *p = text; *p; p++) {
		if (strchr("\"'\\`$", *p))
			return err_set(err, -EINVAL,
				       "%.80s: a GRUB variable cannot hold a kernel argument "
				       "with %c",
				       text, *p);
		if (*p <= ' ' || *p > '~')
			return err_set(err, -EINVAL,
				       "%.80s: a kernel argument is printable ASCII without "
				       "blanks; write each argument as a separate item",
				       text);
	}
	return 0;
}

int karg_check(const char *text, struct err *err)
{
	int r = check_bytes(text, err);

	if (r < 0)
		return r;
	if (!*text)
		return err_set(err, -EINVAL, "an empty kernel argument");
	/* GRUB's wildcard.c treats words that begin with one of the last three as file names. */
	if (strchr("#=*/(", *text))
		return err_set(err, -EINVAL, "%.80s: a kernel argument can't begin with %c", text,
			       *text);
	if (strlen(text) > KARG_MAX)
		return err_set(err, -EINVAL, "%.80s...: a kernel argument has at most %d bytes",
			       text, KARG_MAX);
	if (streq(text, "--"))
		return err_set(err, -EINVAL,
			       "--: not a kernel argument: the words after it are for init");
	if (str_starts(text, "railhead.") || streq(text, "railhead") ||
	    str_starts(text, "railhead="))
		return err_set(err, -EINVAL, "%.80s: a profile can't set railhead's own arguments",
			       text);
	return 0;
}

int karg_check_parsed(const char *text, struct err *err)
{
	size_t at = strcspn(text, ";&|<>{}");
	bool bracket = streq(text, "[[") || streq(text, "]]");
	const char *remedy = strstr(text, "acs")
				     ? "an argument for ACS can name one port; set the other ports "
				       "in the BIOS, and write acs: judge"
				     : "leave the argument out";

	if (!text[at] && !bracket)
		return 0;
	return err_set(err, -EINVAL,
		       "%.80s: GRUB would not boot the whole line, because blscfg in grub.cfg "
		       "makes it parse arguments as a script, in which %.*s is no part of a word; "
		       "%s",
		       text, bracket ? 2 : 1, text + (bracket ? 0 : at), remedy);
}
