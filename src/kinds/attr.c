/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes of procfs and sysfs: one file, or all that a pattern matches as one record. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kinds/function.h"
#include "kinds/kind.h"
#include "sys/machine.h"
#include "sys/read.h"

/* The PCI function whose attribute it is. */
static bool of_function(const char *path, char ret[PCI_ADDR_MAX])
{
	return sscanf(path, "/sys/bus/pci/devices/%19[0-9a-f:.]/", ret) == 1;
}

static int absent(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	char addr[PCI_ADDR_MAX];

	if (c->late && ctx->running == STAGE_EARLY) {
		change_reason(c, "not there yet; tried again once devices are up");
		c->state = CHANGE_WAITS;
		return 0;
	}
	if (c->optional) {
		change_reason(c, "this kernel has no such file");
		c->state = CHANGE_UNSUPPORTED;
		return 0;
	}
	if (of_function(c->target, addr) && function_gone(ctx->root, addr, err) < 0)
		return -ENODEV;
	return err_set(err, -ENOENT,
		       "%s: no such file; is its module or device missing, or the name misspelt? "
		       "Mark it optional if it need not exist",
		       c->target);
}

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_strv struct strv paths = {0};
	size_t wrong = 0;
	int r = read_glob(ctx->root, c->target, &paths, err);

	if (r < 0)
		return r;
	if (!paths.n)
		return absent(ctx, c, err);
	for (size_t i = 0; i < paths.n; i++) {
		cleanup_free char *text = NULL;

		r = read_text(ctx->root, &text, err, "%s", paths.v[i]);
		if (r < 0)
			return r;
		if (change_equal(c->compare, c->desired, text)) {
			if (!wrong)
				change_observe(c, "%s", text);
			continue;
		}
		if (!wrong++)
			change_observe(c, paths.n > 1 ? "%s in %s" : "%s", text, paths.v[i]);
	}
	if (wrong && paths.n > 1)
		change_reason(c, "%zu of %zu files differ", wrong, paths.n);
	c->state = wrong ? CHANGE_DIFFERS : CHANGE_SAME;
	return 0;
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_strv struct strv paths = {0};
	int r = read_glob(ctx->root, c->target, &paths, err);

	for (size_t i = 0; r == 0 && i < paths.n; i++) {
		cleanup_free char *text = NULL;

		r = read_text(ctx->root, &text, err, "%s", paths.v[i]);
		if (r == 0 && !change_equal(c->compare, c->desired, text))
			r = machine_write_attr(ctx->root, paths.v[i], c->desired, err);
	}
	return r;
}

const struct kind kind_attr = {.name = "attr", .look = look, .set = set};
