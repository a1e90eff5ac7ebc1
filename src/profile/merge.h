/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merging: a resolved profile is its bases, itself and its drop-ins laid over each other
 * in that order. Maps merge key by key, scalars and lists replace, `key: null` deletes,
 * `key+:` appends to the list that is there so far.
 */
#pragma once

#include "base/sha256.h"
#include "profile/diag.h"
#include "profile/profile.h"
#include "profile/yaml.h"

enum layer { LAYER_BASE, LAYER_OWN, LAYER_DROPIN };

/*
 * Lays a document over doc (at first an empty map). What is a file's own (name, version,
 * extends, abstract, priority, schema) is left out of a base; a drop-in's match says when it
 * applies and is left out as well. What the document replaces or deletes is added to shadows,
 * unless that is NULL. Problems go to diags.
 */
void merge_layer(struct ynode *doc, const struct ynode *layer, enum layer what,
		 struct shadows *shadows, struct diags *diags);
void shadows_free(struct shadows *shadows);

/*
 * The identity of a resolved profile: of its values, not of how and in which files they
 * were written. Maps count sorted by key, but sysctl and sysfs, which apply in order.
 */
void profile_digest(const struct ynode *doc, char ret[SHA256_HEX]);
