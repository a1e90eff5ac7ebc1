/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merging. A resolved profile is its bases, its own document and its drop-ins, laid over each other
 * in that order. Maps merge key by key, scalars and lists replace, `key: null` deletes, `key+:`
 * appends to the list so far.
 */
#pragma once

#include "base/sha256.h"
#include "profile/diag.h"
#include "profile/profile.h"

struct ynode;

enum layer { LAYER_BASE, LAYER_OWN, LAYER_DROPIN };

/*
 * Lays a document over doc (an empty map at first). The keys that belong to one file (name,
 * version, extends, abstract, priority, schema) are not merged from a base or drop-in. A drop-in's
 * match is not merged either, because it only decides whether the drop-in applies. Values that the
 * document replaces or deletes are added to shadows, unless that is NULL. Problems go to diags.
 */
void merge_layer(struct ynode *doc, const struct ynode *layer, enum layer what,
		 struct shadows *shadows, struct diags *diags);
void shadows_free(struct shadows *shadows);

/*
 * The digest identifies the values of a resolved profile, and does not depend on their notation or
 * files. Maps are sorted by key, except sysctl and sysfs, whose order matters.
 */
void profile_digest(const struct ynode *doc, char ret[SHA256_HEX]);
