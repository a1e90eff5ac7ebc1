/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sections/want_arg.h"

#include "base/mem.h"
#include "profile/yaml.h"

void kargs_want(struct kargs *l, const struct ynode *why, const char *text)
{
	cleanup_free char *origin =
		xasprintf("%s:%u", why->at.file ? why->at.file : "profile", why->at.line);

	kargs_add(l, text, origin);
	l->v[l->n - 1].why = why;
}
