/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Xids: the errors that the driver has reported since boot. */
#include "base/str.h"
#include "checks/check.h"
#include "checks/looks.h"
#include "checks/xid.h"
#include "sys/kernel_log.h"

static int look_xid(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const char *addr = c->on.name;
	cleanup_free char *log = NULL;
	struct str text = {0};
	enum fault gravest;
	size_t n, harmless;
	int r;

	if (!ctx->root->live) {
		c->state = CHANGE_UNSUPPORTED;
		change_reason(c, "a captured tree does not hold the kernel's log");
		return 0;
	}
	r = kernel_log_read(&log, err);
	if (r < 0)
		return r;
	n = xid_faults(log, addr, c->want.set, &text, &harmless, &gravest);
	c->state = n ? CHANGE_DIFFERS : CHANGE_SAME;
	if (n)
		change_observe(c, "%zu", n);
	else
		change_observe(c, harmless ? "none (%zu that are no faults)" : "none", harmless);
	if (n)
		c->fault = gravest;
	if (n)
		change_reason(c, "since boot the driver reported for %s: %s", addr, str_get(&text));
	str_free(&text);
	return 0;
}

const struct target_item gpu_xid_item = {
	.kind = &kind_check, .look = look_xid, .fault = FAULT_GPU_XID};

static void emit(const struct checked *t, struct subject of)
{
	const struct ynode *fatal = ynode_get(t->map, "fatal");
	struct change *c = check_look(t, of, "", &gpu_xid_item, "gpu-xid", "none");

	if (fatal)
		c->want = fatal->value;
}

CHECK(gpu_xid, .required = {"on"}, .optional = {"fatal"}, .look = emit);
