/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drop-ins that railhead owns whole, such as /run/modprobe.d/zz-railhead.conf. */
#include <errno.h>
#include <string.h>

#include "kinds/kind.h"
#include "sys/machine.h"
#include "sys/read.h"

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_free char *text = NULL;
	int r = read_file(ctx->root, READ_TEXT_MAX, &text, NULL, err, c->target);

	if (r == -ENOENT) {
		change_observe(c, "absent");
		c->state = CHANGE_DIFFERS;
		return 0;
	}
	if (r < 0)
		return r;
	change_observe(c, "%s", text);
	c->state = streq(text, c->desired) ? CHANGE_SAME : CHANGE_DIFFERS;
	return 0;
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	return machine_write_file(ctx->root, c->target, c->desired, 0644, err);
}

const struct kind kind_file = {.name = "file", .look = look, .set = set};
