/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drop-ins that railhead owns whole, such as /run/modprobe.d/zz-railhead.conf. If the desired text
 * is empty, the drop-in must be absent.
 */
#include <errno.h>
#include <string.h>

#include "kinds/file.h"
#include "kinds/kind.h"
#include "plan/change.h"
#include "sys/machine.h"
#include "sys/read.h"

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_free char *text = NULL;
	int r = read_file(ctx->root, READ_TEXT_MAX, &text, NULL, err, c->target);

	if (r == -ENOENT) {
		change_observe(c, "absent");
		c->now.state = *c->desired ? CHANGE_DIFFERS : CHANGE_SAME;
		return 0;
	}
	if (r < 0)
		return r;
	change_observe(c, "%s", text);
	c->now.state = *c->desired && streq(text, c->desired) ? CHANGE_SAME : CHANGE_DIFFERS;
	return 0;
}

/* Whether systemd must read its unit files again, once for all of them: see after(). */
static bool units_changed;

int file_remove(const struct root *root, const char *path, struct err *err)
{
	return machine_remove_file(root, path, err);
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const struct file_item *item = c->on.item;
	int r = *c->desired ? machine_write_file(ctx->root, c->target, c->desired, 0644, err)
			    : machine_remove_file(ctx->root, c->target, err);

	if (r < 0 || !ctx->root->live)
		return r;
	if (item)
		return item->reload(err);
	if (str_starts(c->target, "/run/systemd/system"))
		units_changed = true;
	return 0;
}

/*
 * No program is notified in the initramfs, because systemd of the real root reads the files when it
 * starts.
 */
static int after(const struct kind_ctx *ctx, struct err *err)
{
	bool due = units_changed && machine_units_are_ours();

	(void)ctx;
	units_changed = false;
	return due ? machine_reload_units(err) : 0;
}

const struct kind kind_file = {.name = "file", .look = look, .set = set, .after = after};
