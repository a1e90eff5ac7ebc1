/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A resolved profile written down again, as a document that stands by itself. */
#pragma once

#include "base/str.h"
#include "profile/profile.h"

/*
 * YAML in block style, sections in the order of the language, without extends: (that is
 * merged in). Behind each value a comment says where it was written: "# roce-base.yaml:31".
 * Read again, it has the digest of p.
 */
void profile_emit(const struct profile *p, struct str *out);

/* "roce-base.yaml:31"; a drop-in's with its directory: "sku.d/site.yaml:3". Caller frees. */
char *place_text(const struct place *at);
