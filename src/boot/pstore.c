/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/pstore.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "sys/read.h"

/* systemd-pstore has a directory for each record of EFI and ERST, and one more level for ERST's. */
static const char *const patterns[] = {
	"/sys/fs/pstore/dmesg-*",
	"/var/lib/systemd/pstore/dmesg-*",
	"/var/lib/systemd/pstore/*/dmesg-*",
	"/var/lib/systemd/pstore/*/*/dmesg-*",
};

/* pstore_dump() begins each part of a record with the reason, a number, and the number of the part.
 */
#define PANIC "Panic#"
enum { HEADER_MAX = 64, RECORDS_MAX = 256 };

/* A part that pstore could not decompress begins differently, and is skipped. */
static bool says_panic(const struct root *root, const char *path)
{
	cleanup_free char *text = NULL;
	size_t len;

	return read_start(root, HEADER_MAX, &text, &len, NULL, path) == 0 &&
	       str_starts(text, PANIC);
}

static bool is_newer(const struct root *root, const char *path, int64_t since)
{
	struct stat st;

	return root_stat(root, &st, path) == 0 && S_ISREG(st.st_mode) && st.st_mtime > since;
}

bool pstore_has_panic(const struct root *root, int64_t since)
{
	size_t looked = 0;

	for (size_t i = 0; since > 0 && i < array_len(patterns); i++) {
		cleanup_strv struct strv paths = {0};

		read_glob(root, patterns[i], &paths, NULL); /* keeps paths after an error */
		/* The newest names come last. */
		for (size_t k = paths.n; k-- > 0;) {
			if (!is_newer(root, paths.v[k], since))
				continue;
			if (says_panic(root, paths.v[k]))
				return true;
			if (++looked == RECORDS_MAX)
				return false;
		}
	}
	return false;
}
