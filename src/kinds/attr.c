/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes of procfs and sysfs: one file, or all that a pattern matches as one record. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

/* --- whose file it is -------------------------------------------------------------------- */

static bool same_file(const struct root *root, const char *a, const char *b)
{
	struct stat sa, sb;

	return root_stat(root, &sa, a) == 0 && root_stat(root, &sb, b) == 0 &&
	       sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static int is_of(const struct kind_ctx *ctx, const struct rival *rival, const char *path,
		 struct err *err)
{
	cleanup_strv struct strv theirs = {0};
	int r;

	if (!rival->alias)
		return fnmatch(rival->target, path, FNM_PATHNAME | FNM_PERIOD) == 0;
	r = read_glob(ctx->root, rival->target, &theirs, err);
	for (size_t i = 0; r == 0 && i < theirs.n; i++)
		if (same_file(ctx->root, theirs.v[i], path))
			return 1;
	return r;
}

/* 1: a more specific line has it, which is added to owners. */
static int is_yielded(const struct kind_ctx *ctx, const struct change *c, const char *path,
		      struct strv *owners, struct err *err)
{
	for (size_t i = 0; i < c->yields_to.n; i++) {
		const struct rival *rival = &c->yields_to.v[i];
		int r = is_of(ctx, rival, path, err);

		if (r > 0 && strv_contains(owners, rival->id) <= 0)
			strv_add(owners, rival->id);
		if (r)
			return r;
	}
	return 0;
}

/* The files that the change has now. *all: how many match its target. */
static int find_files(const struct kind_ctx *ctx, struct change *c, struct strv *ret, size_t *all,
		      struct err *err)
{
	cleanup_strv struct strv paths = {0}, owners = {0};
	cleanup_str struct str names = {0};
	int r = read_glob(ctx->root, c->target, &paths, err);

	for (size_t i = 0; r >= 0 && i < paths.n; i++) {
		r = is_yielded(ctx, c, paths.v[i], &owners, err);
		if (r == 0)
			strv_add(ret, paths.v[i]);
	}
	*all = paths.n;
	free(c->note);
	c->note = NULL;
	if (r < 0 || !owners.n)
		return r < 0 ? r : 0;
	for (size_t i = 0; i < owners.n; i++)
		str_addf(&names, "%s%s", i ? ", " : "", owners.v[i]);
	change_note(c, "%zu of %zu files belong to %s", paths.n - ret->n, paths.n, str_get(&names));
	return 0;
}

/* --- the kind ------------------------------------------------------------------------------ */

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_strv struct strv paths = {0};
	size_t wrong = 0, all;
	int r = find_files(ctx, c, &paths, &all, err);

	if (r < 0)
		return r;
	if (!all)
		return absent(ctx, c, err);
	if (!paths.n)
		change_observe(c, "no file of its own");
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
	size_t all;
	int r = find_files(ctx, c, &paths, &all, err);

	for (size_t i = 0; r == 0 && i < paths.n; i++) {
		cleanup_free char *text = NULL;

		r = read_text(ctx->root, &text, err, "%s", paths.v[i]);
		if (r == 0 && !change_equal(c->compare, c->desired, text))
			r = machine_write_attr(ctx->root, paths.v[i], c->desired, err);
	}
	return r;
}

const struct kind kind_attr = {.name = "attr", .look = look, .set = set};
