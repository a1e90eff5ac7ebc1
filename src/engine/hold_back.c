/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/hold_back.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/trial.h"
#include "node/node.h"
#include "plan/change.h"
#include "profile/profile.h"
#include "profile/section.h"
#include "sys/read.h"
#include "sys/state.h"

struct mark {
	unsigned int boots; /* in a row that left the mark, up to this one */
	bool held;	    /* held back in that boot */
	char boot[37];	    /* boot id of the last one */
	char digest[65];    /* of the profile */
};

static bool read_mark(const struct root *root, struct mark *ret)
{
	cleanup_free char *text = NULL;
	char held[4];

	*ret = (struct mark){0};
	if (state_kept(root, HOLD_BACK_FILE, &text, NULL) < 0 ||
	    sscanf(text, "boots %u\nheld %3s\nboot %36s\nprofile %64s", &ret->boots, held,
		   ret->boot, ret->digest) != 4) {
		*ret = (struct mark){0}; /* absent, or torn */
		return false;
	}
	ret->held = streq(held, "yes");
	return true;
}

/* False: no boot has left a mark with this profile; *ret is then that of the first one. */
static bool find_mark(const struct section_ctx *ctx, struct mark *ret)
{
	if (read_mark(ctx->root, ret) && streq(ret->digest, ctx->profile->digest))
		return true;
	*ret = (struct mark){0};
	snprintf(ret->digest, sizeof(ret->digest), "%s", ctx->profile->digest);
	return false;
}

static int write_mark(const struct root *root, const struct mark *m, struct err *err)
{
	cleanup_free char *text = xasprintf("boots %u\nheld %s\nboot %s\nprofile %s\n", m->boots,
					    m->held ? "yes" : "no", m->boot, m->digest);

	return state_keep(root, HOLD_BACK_FILE, text, err);
}

/* The mark of this profile as this boot has it, or will have it: the same in each run of a boot. */
static void take_over(const struct section_ctx *ctx, struct mark *m)
{
	char boot[37];

	state_boot_id(ctx->root, boot);
	if (streq(m->boot, boot))
		return;
	m->held = m->boots >= HOLD_BACK_BOOTS;
	if (!m->held && !trial_on_line(ctx->node->cmdline))
		m->boots++;
	snprintf(m->boot, sizeof(m->boot), "%s", boot);
}

/* Set in stage early, or in devices because the file was absent in early. */
static bool needs_mark(const struct change *c)
{
	static const char *const before_login[] = {"sysctl", "sysfs", "mounts"};

	return c->kind->set && (c->stage == STAGE_EARLY || c->late) &&
	       str_index(c->section, before_login, array_len(before_login)) >= 0;
}

void hold_back(const struct section_ctx *ctx, struct plan *plan)
{
	cleanup_free char *why = NULL;
	struct mark m;

	if (!find_mark(ctx, &m))
		return;
	take_over(ctx, &m);
	if (!m.held)
		return;
	why = xasprintf("not set: the last %u boots that set the lines of sysctl, sysfs and mounts "
			"did not come up; correct the profile, or try again with `railhead apply "
			"--retry`",
			m.boots);
	for (size_t i = 0; i < plan->list.n; i++)
		if (needs_mark(plan->list.v[i]))
			change_withhold(plan->list.v[i], why);
}

bool is_held_back(const struct change *c)
{
	return c->withheld && needs_mark(c);
}

static bool plan_needs_mark(const struct plan *plan)
{
	for (size_t i = 0; i < plan->list.n; i++)
		if (needs_mark(plan->list.v[i]))
			return true;
	return false;
}

/* An overlay may have its upper layer in memory, which nothing here can see. */
static bool is_in_memory(const struct root *root)
{
	cleanup_close int fd = root_open_path(root, STATE_KEPT_DIR, O_PATH);
	struct statfs fs;

	return fd >= 0 && fstatfs(fd, &fs) == 0 &&
	       (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

static bool is_above(const char *dir)
{
	size_t len = strlen(dir);

	return len > 1 && strncmp(dir, STATE_KEPT_DIR, len) == 0 &&
	       strchr("/", STATE_KEPT_DIR[len]);
}

/*
 * A file system of fstab that is mounted over the directory after stage early, such as /var of a
 * network, would hide the mark from the end of this boot, but not from the next boot.
 */
static bool is_mounted_later(const struct root *root)
{
	cleanup_free char *text = NULL;
	struct stat top, here;
	char dir[256];

	if (root_stat(root, &top, "/") < 0 || root_stat(root, &here, STATE_KEPT_DIR) < 0 ||
	    top.st_dev != here.st_dev || read_text(root, &text, NULL, "/etc/fstab") < 0)
		return false;
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		if (sscanf(line, " %*[^# \t] %255s", dir) == 1 && is_above(dir))
			return true;
	return false;
}

int hold_back_begin(const struct section_ctx *ctx, const struct plan *plan, struct err *err)
{
	struct mark m;
	int r;

	if (!plan_needs_mark(plan))
		return 0;
	find_mark(ctx, &m);
	take_over(ctx, &m);
	if (is_mounted_later(ctx->root))
		return err_set(err, -EBUSY, STATE_KEPT_DIR ": its file system is mounted later");
	r = write_mark(ctx->root, &m, err);
	if (r == 0 && is_in_memory(ctx->root))
		r = err_set(err, -EROFS, STATE_KEPT_DIR ": in memory, which ends with the boot");
	return r;
}

int hold_back_end(const struct root *root, struct err *err)
{
	struct mark m;
	char boot[37];

	state_boot_id(root, boot);
	if (!read_mark(root, &m) || m.held || !streq(m.boot, boot))
		return 0;
	return state_forget(root, HOLD_BACK_FILE, err);
}

int hold_back_forget(const struct root *root, struct err *err)
{
	return state_forget(root, HOLD_BACK_FILE, err);
}
