/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Xids: the errors that the driver has reported since boot. */
#include <errno.h>
#include <inttypes.h>

#include "base/str.h"
#include "checks/check.h"
#include "checks/looks.h"
#include "checks/xid.h"
#include "plan/change.h"
#include "profile/yaml.h"
#include "sys/kernel_log.h"

/* Nothing found is "none" only if each record was there, and could be read. */
static int judge(struct kernel_log *log, const struct xids *found, struct change *c,
		 struct err *err)
{
	if (found->faults) {
		kernel_log_hold(log, found->first_fault);
		change_observe(c, "%zu", found->faults);
		change_reason(c, "since boot the driver reported for %s: %s", c->on.name,
			      str_get(&found->text));
		c->now.fault = found->gravest;
		c->now.state = CHANGE_DIFFERS;
		return 0;
	}
	if (found->unreadable) {
		change_observe(c, "not seen");
		return err_set(err, -EBADMSG,
			       "the driver reported an Xid in a form that railhead does not know: "
			       "\"%.200s\"" TO_MEND
			       "look the Xid up in NVIDIA's catalog, and upgrade railhead",
			       found->unreadable);
	}
	if (log->lost) {
		change_observe(c, "not seen");
		err_set(err, -ENODATA,
			"the kernel has overwritten %" PRIu64 " records of its log that "
			"nobody had looked at, so an Xid may have been among them" TO_MEND
			"reboot, "
			"and if that happens in each boot, add log_buf_len=4M to "
			"kernel_args",
			log->lost);
		return err_fault(err, -ENODATA, FAULT_GATE_LOG_LOST);
	}
	change_observe(c, found->harmless ? "none (%zu that are no faults)" : "none",
		       found->harmless);
	c->now.state = CHANGE_SAME;
	return 0;
}

static int look_xid(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct xids found;
	int r = kernel_log_read(ctx->log, err);

	if (r == -ENOENT && !ctx->root->live) {
		c->now.state = CHANGE_UNSUPPORTED;
		change_reason(c, "a captured tree does not hold the kernel's log");
		return 0;
	}
	if (r < 0)
		return r;
	xid_find(ctx->log, c->on.name, c->want.set, &found);
	r = judge(ctx->log, &found, c, err);
	str_free(&found.text);
	return r;
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

CHECK(gpu_xid, .nvidia = true, .required = {"on"}, .optional = {"fatal"}, .look = emit);
