/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes what identifies one machine out of a captured file, and leaves what its SKU is.
 *
 * In every text, by form: MAC and IPoIB addresses (02:00:00:00:00:01), GUIDs and GIDs
 * (0000:0000:0000:0001) and UUIDs become numbers, the same for the same original in all of
 * a capture; zeros and broadcast stay. So does the identifier in V3 of a VPD. Some files have rules
 * of their own (scrub.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/vec.h"

/* What was replaced so far. Zero is empty. */
struct scrub {
	struct strv macs, guids, uuids;
};

void scrub_free(struct scrub *s);

/*
 * What a file's data becomes, appended to *ret. path: absolute, below the root. False: the
 * file is not to be captured at all.
 */
bool scrub_file(struct scrub *s, const char *path, const char *data, size_t len, struct str *ret);
/* Whether nothing of the file is to be captured; known before it is read. */
bool scrub_refuses(const char *path);
