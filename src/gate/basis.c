/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gate/basis.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "gate/binding.h"
#include "profile/section.h"
#include "profile/yaml.h"

enum { NAMED_MOST = 3 };

/* The versions of the set's members, each once. */
static void add_firmware(const struct binding *b, const struct device_set *set, struct strv *ret)
{
	cleanup_strv struct strv versions = {0};
	cleanup_free char *text = NULL, *all = NULL;

	for (size_t i = 0; i < set->fn.n; i++) {
		cleanup_free char *name = xasprintf("firmware of %s", set->fn.v[i]->addr);
		const struct binding_part *version = binding_find(b, name);

		if (version && !strv_contains(&versions, version->value))
			strv_add(&versions, version->value);
	}
	if (!versions.n)
		return;
	all = strv_some(&versions, versions.n);
	text = xasprintf("firmware of %s: %s", set->sel->name, all);
	strv_add(ret, text);
}

void basis_take(const struct section_ctx *ctx, struct strv *ret)
{
	static const char *const names[] = {"kernel", "BIOS", "microcode"};
	struct binding b;

	binding_take(ctx->root, ctx->profile, ctx->node, ctx->sets, &b);
	for (size_t i = 0; i < array_len(names); i++) {
		const struct binding_part *part = binding_find(&b, names[i]);
		cleanup_free char *text = NULL;

		if (!part)
			continue;
		text = xasprintf("%s: %s", names[i], part->value);
		strv_add(ret, text);
	}
	for (size_t i = 0; i < ctx->sets->set.n; i++)
		add_firmware(&b, &ctx->sets->set.v[i], ret);
	binding_free(&b);
}

/* The length of "NAME: ", after which the value begins. */
static size_t name_len(const char *text)
{
	const char *end = strstr(text, ": ");

	return end ? (size_t)(end - text) + 2 : strlen(text);
}

static const char *now_of(const struct strv *now, const char *was)
{
	for (size_t i = 0; i < now->n; i++)
		if (name_len(now->v[i]) == name_len(was) &&
		    strncmp(now->v[i], was, name_len(was)) == 0)
			return now->v[i];
	return NULL;
}

char *basis_difference(const struct strv *now, const struct ynode *calibrated_on)
{
	cleanup_strv struct strv differ = {0};

	for (size_t i = 0; calibrated_on && i < calibrated_on->items.n; i++) {
		const char *was = calibrated_on->items.v[i]->text, *is = now_of(now, was);
		cleanup_free char *text = NULL;

		if (strv_contains(now, was))
			continue;
		text = is ? xasprintf("%s, calibrated on %s", is, was + name_len(was))
			  : xasprintf("unknown, calibrated on %s", was);
		strv_add(&differ, text);
	}
	return differ.n ? strv_some(&differ, NAMED_MOST) : NULL;
}
