/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sections make of a profile on the machine of a test's root. Include after cmocka.h. */
#pragma once

#include "kargs/kargs.h"
#include "plan/change.h"
#include "profile/section.h"
#include "sections/sections.h"
#include "tree.h"

#define HEAD "schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: QEMU}}\n"

struct planned {
	struct profile *profile;
	struct node node;
	struct device_sets sets;
	struct plan plan;
	struct kargs kargs;
	struct err err;
	int result;
};

/* text: the profile without HEAD, which `check` accepts. The caller frees *p. */
static inline void planned_make(struct tmp *t, const char *text, struct planned *p)
{
	cleanup_free char *yaml = xasprintf("%s%s", HEAD, text);
	struct section_ctx ctx;

	memset(p, 0, sizeof(*p));
	assert_int_equal(node_survey(&t->root, &p->node, &p->err), 0);
	tmp_write(t, "sku.yaml", yaml);
	if (profile_load_named(&t->root, tmp_path(t, "sku.yaml"), NULL, &p->profile, &t->diags,
			       &p->err) < 0) {
		tmp_print(&t->diags);
		fail_msg("%s", text);
	}
	assert_int_equal(device_sets_resolve(&p->node, p->profile->devices.v, p->profile->devices.n,
					     &p->sets, &p->err),
			 0);
	ctx = (struct section_ctx){.root = &t->root,
				   .node = &p->node,
				   .profile = p->profile,
				   .sets = &p->sets,
				   .kargs = &p->kargs};
	p->result = sections_kargs(&ctx, &p->kargs, &p->err);
	if (p->result == 0)
		sections_emit(&ctx, &p->plan);
}

static inline void planned_free(struct planned *p)
{
	plan_free(&p->plan);
	kargs_free(&p->kargs);
	device_sets_free(&p->sets);
	profile_free(p->profile);
	node_free(&p->node);
}
