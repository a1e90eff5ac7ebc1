/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mem.h"
#include "kinds/cache.h"
#include "kinds/claim.h"
#include "kinds/cover.h"
#include "plan/change.h"
#include "sys/read.h"

static int look_benchmark(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	(void)ctx;
	(void)err;
	c->now.state = CHANGE_TO_MEASURE;
	return 0;
}

const struct kind kind_benchmark = {.name = "benchmark", .look = look_benchmark};

static const struct kind *const kinds[] = {
	&kind_attr,    &kind_file,  &kind_bootenv, &kind_module,    &kind_vf,
	&kind_netlink, &kind_roce,  &kind_pci,	   &kind_irq,	    &kind_limit,
	&kind_block,   &kind_mount, &kind_check,   &kind_benchmark,
};

/*
 * Whether another section contests the change's file. Kind attr checks this itself, because only
 * some of its files may be contested.
 */
static bool is_contested(const struct kind_ctx *ctx, struct change *c)
{
	struct claim claim cleanup_claim = {0};
	cleanup_free char *found = NULL;
	struct err err = {0};

	if (!c->contests.list.n || c->kind == &kind_attr || claim_find(ctx, c, &claim, &err) < 0 ||
	    !claim.contest)
		return false;
	if (read_attr(ctx->root, &found, NULL, "%s", claim.first) == 0)
		change_observe(c, "%s", found);
	change_reason(c, CLAIM_LEFT "%s", claim.contest);
	c->now.fault = FAULT_PROFILE_CONFLICT;
	c->now.state = CHANGE_FAILED;
	return true;
}

const struct kind *kind_find(const char *name)
{
	for (size_t i = 0; i < array_len(kinds); i++)
		if (streq(kinds[i]->name, name))
			return kinds[i];
	return NULL;
}

int kind_look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	int r;

	c->now.fault = c->fault;
	c->now.final = false;
	strv_free(&c->now.covers);
	r = is_contested(ctx, c) ? 0 : c->kind->look(ctx, c, err);
	return c->covered ? cover_judge(ctx, c, r, err) : r;
}

void kinds_forget(const struct change *c)
{
	if (!c)
		claims_forget();
	caches_forget(c);
}
