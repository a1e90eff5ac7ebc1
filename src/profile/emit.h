/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a resolved profile as one self-contained document. */
#pragma once

#include "base/str.h"
#include "profile/profile.h"

/*
 * YAML in block style, sections in the order of the language, without extends:, whose bases are
 * merged in. A comment after each value names its origin: "# roce-base.yaml:31". The text, read
 * again, has the digest of p.
 */
void profile_emit(const struct profile *p, struct str *out);

/* Text in double quotes that every YAML reader accepts. */
void emit_quoted(struct str *out, const char *text);

/* "roce-base.yaml:31"; for a drop-in with its directory: "sku.d/site.yaml:3". The caller frees. */
char *place_text(const struct place *at);
