/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes the identifiers of a machine from a captured file, and keeps the facts about its SKU.
 *
 * In every text, MAC and IPoIB addresses (02:00:00:00:00:01), GUIDs and GIDs (0000:0000:0000:0001)
 * and UUIDs are recognised by their form and become numbers, also in the names that systemd and
 * rdma-core make of a MAC or a GUID (enx020000000001, rocex0000000000000001). The same original
 * gets the same number in the whole capture; zeros and broadcast stay. The identifier in V3 of a
 * VPD becomes a number, too. scrub.c has further rules for some files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/vec.h"

/* The identifiers that were replaced so far. Zero is empty. */
struct scrub {
	struct strv macs, guids, uuids;
};

void scrub_free(struct scrub *s);

/*
 * Appends the scrubbed data of a file to *ret. path: absolute, below the root. False: the file must
 * not be captured at all.
 */
bool scrub_file(struct scrub *s, const char *path, const char *data, size_t len, struct str *ret);
/* Whether the file must not be captured; known before the file is read. */
bool scrub_refuses(const char *path);
/*
 * A path, the target of a link or the name of a device with the same numbers; its length stays. The
 * caller frees.
 */
char *scrub_name(struct scrub *s, const char *name);
