/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/block.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "kinds/disks.h"
#include "kinds/function.h"
#include "plan/change.h"
#include "profile/yaml.h"
#include "sys/clock.h"
#include "sys/machine.h"
#include "sys/read.h"
#include "sys/uevent.h"

enum {
	WAIT_US = 5 * 1000000, /* for namespaces, which follow the probe of their controller */
	SCHEDULED_MAX = 2048,  /* MAX_SCHED_RQ of block/blk-mq-sched.h, with a scheduler */
};

/* --- files ---------------------------------------------------------------------------------- */

static const char *disk_named(const struct change *c, const struct disk *disk)
{
	const struct block_item *item = c->on.item;

	return item->of_head ? disk->head : disk->name;
}

static char *path_of(const struct change *c, const struct disk *disk)
{
	const struct block_item *item = c->on.item;

	return xasprintf("/sys/block/%s/queue/%s", disk_named(c, disk), item->file);
}

/*
 * -ENODEV: the disk disappeared meanwhile. Without writeback throttling, for example with the
 * scheduler bfq, the kernel rejects a read of wbt_lat_usec (-EINVAL, queue_wb_lat_show()), which
 * counts as 0: off.
 */
static int read_value(const struct root *root, const struct change *c, const struct disk *disk,
		      char **ret, struct err *err)
{
	const struct block_item *item = c->on.item;
	cleanup_free char *path = path_of(c, disk);
	struct err why = {0};
	int r = read_attr(root, ret, &why, "%s", path);

	if (r == -ENOENT && !root_exists(root, "/sys/block/%s", disk_named(c, disk)))
		return -ENODEV;
	if (r == -ENOENT)
		return err_set(err, -EOPNOTSUPP,
			       "%s (%s): its driver, or this kernel, offers no queue/%s" TO_MEND
			       "leave block.SET.%s out, or name %s in block.SET.optional",
			       disk_named(c, disk), c->on.name, item->file, c->on.key, c->on.key);
	if (r == -EINVAL && streq(item->file, "wbt_lat_usec")) {
		*ret = xstrdup("0");
		return 0;
	}
	return r < 0 ? err_copy(err, r, &why) : 0;
}

/* --- which disks ---------------------------------------------------------------------------- */

static bool is_spared(const struct change *c, const struct disk *disk)
{
	return disk->carries && !ynode_is_true(c->on.node);
}

/*
 * Ends the look at a function without disks: the change waits, or the function is gone (-ENODEV).
 */
static int no_disk(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	int r = function_gone(ctx->root, c->on.name, err);

	if (r < 0)
		return r;
	change_observe(c, "no disk");
	change_reason(c,
		      "%s has no disk (yet): is its driver bound (modules.load), and does an NVMe "
		      "drive have a namespace (`nvme list-ns`)?",
		      c->on.name);
	c->now.fault = FAULT_STORAGE_DISK_ABSENT;
	c->now.state = CHANGE_WAITS;
	return 0;
}

/* railhead sets no disk while any of them may carry the running system. */
static int say_unknown(const struct kind_ctx *ctx, struct change *c, const struct disks *disks,
		       struct err *err)
{
	if (ctx->root->live)
		return err_set(err, -ENODATA,
			       "%s, so no disk is set: write block.SET.system_disk: true to "
			       "include the system's disk",
			       disks->unknown);
	change_observe(c, "unknown");
	change_reason(c, "%s", disks->unknown);
	c->now.state = CHANGE_DIFFERS;
	return 0;
}

static bool are_unknown(const struct change *c, const struct disks *disks)
{
	return disks->unknown && !ynode_is_true(c->on.node);
}

/* --- look ----------------------------------------------------------------------------------- */

struct tally {
	size_t seen, spared;
	const struct disk *first_spared;
	struct err missing;
};

static int compare(const struct kind_ctx *ctx, struct change *c, const struct disks *disks,
		   const struct disk *disk, struct tally *t, struct err *err)
{
	cleanup_free char *text = NULL;
	int r = read_value(ctx->root, c, disk, &text, err);
	bool equal;

	if (r < 0)
		return r;
	strv_add(&c->now.covers, disk_named(c, disk));
	equal = change_equal(COMPARE_TEXT, c->desired, text);
	if (!t->seen++ || (!equal && c->now.state == CHANGE_SAME))
		change_observe(c, disks->n > 1 && !equal ? "%s of %s" : "%s", text,
			       disk_named(c, disk));
	if (!equal)
		c->now.state = CHANGE_DIFFERS;
	return 0;
}

static void say_spared(struct change *c, const struct tally *t)
{
	const struct disk *disk = t->first_spared;
	cleanup_free char *more =
		t->spared > 1 ? xasprintf(" and %zu more", t->spared - 1) : xstrdup("");
	cleanup_free char *text =
		xasprintf("%s%s left as it is, because it carries %s of the running system; write "
			  "block.SET.system_disk: true to include it",
			  disk->name, more, disk->carries);

	if (t->seen) {
		change_note(c, "%s", text);
		return;
	}
	change_observe(c, "left as it is");
	change_reason(c, "%s", text);
	c->now.state = CHANGE_UNSUPPORTED;
}

static int judge(const struct kind_ctx *ctx, struct change *c, const struct disks *disks,
		 struct err *err)
{
	struct tally t = {0};

	c->now.state = CHANGE_SAME;
	for (size_t i = 0; i < disks->n; i++) {
		const struct disk *disk = &disks->v[i];
		struct err why = {0};
		int r;

		if (is_spared(c, disk)) {
			t.first_spared = t.spared++ ? t.first_spared : disk;
			continue;
		}
		r = compare(ctx, c, disks, disk, &t, &why);
		if (r == -EOPNOTSUPP)
			t.missing = why;
		else if (r < 0 && r != -ENODEV)
			return err_copy(err, r, &why);
	}
	if (t.spared)
		say_spared(c, &t);
	else if (!t.seen && !t.missing.code)
		return no_disk(ctx, c, err); /* the last disk disappeared meanwhile */
	return target_lacks(c, &t.missing, err);
}

int block_look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct disks disks cleanup_disks = {0};

	disks_of(ctx->root, c->on.name, &disks);
	if (!disks.n)
		return no_disk(ctx, c, err);
	return are_unknown(c, &disks) ? say_unknown(ctx, c, &disks, err)
				      : judge(ctx, c, &disks, err);
}

/* --- set ------------------------------------------------------------------------------------ */

/* The words of "[none] mq-deadline" as a list: "none, mq-deadline". Caller frees. */
static char *listed(const char *text)
{
	struct str out = {0};

	for (const char *p = text; *p; p += strspn(p, " []")) {
		size_t n;

		p += strspn(p, " []");
		n = strcspn(p, " []");
		if (n)
			str_addf(&out, "%s%.*s", out.len ? ", " : "", (int)n, p);
		p += n;
	}
	return str_take(&out);
}

/*
 * Without a scheduler, the tags of the hardware limit the queue; with a scheduler, the queue has
 * its own tags, at most MAX_SCHED_RQ (blk_mq_tag_update_depth() of block/blk-mq-tag.c).
 */
static int too_many(const struct root *root, const struct change *c, const struct disk *disk,
		    struct err *err)
{
	cleanup_free char *scheduler = NULL;
	uint64_t tags = 0;

	if (read_attr(root, &scheduler, NULL, "/sys/block/%s/queue/scheduler", disk->name) == 0 &&
	    !change_equal(COMPARE_TEXT, "none", scheduler))
		return err_set(
			err, -EINVAL,
			"%s: %s requests are too many, because a scheduler has at most %d" TO_MEND
			"write fewer",
			disk->name, c->desired, SCHEDULED_MAX);
	if (read_u64(root, &tags, NULL, "/sys/block/%s/mq/0/nr_tags", disk->name) < 0)
		return err_wrap(err, "%s", disk->name);
	return err_set(err, -EINVAL,
		       "%s: %s requests are too many, because without a scheduler the queue has at "
		       "most the %llu of the hardware" TO_MEND
		       "write fewer, or scheduler: mq-deadline",
		       disk->name, c->desired, (unsigned long long)tags);
}

static int explain(const struct root *root, const struct change *c, const struct disk *disk,
		   const char *text, int r, struct err *err)
{
	const struct block_item *item = c->on.item;

	if (r == -ENODEV || !root_exists(root, "/sys/block/%s", disk_named(c, disk)))
		return 0; /* the disk disappeared; the next look reports the present disks */
	if (r == -EINVAL && streq(item->file, "scheduler")) {
		cleanup_free char *has = listed(text);

		return err_set(err, -EINVAL,
			       "%s: this kernel has no scheduler %s (no module %s-iosched); "
			       "expected one of: %.200s",
			       disk->name, c->desired, c->desired, has);
	}
	if (r == -EINVAL && streq(item->file, "nr_requests"))
		return too_many(root, c, disk, err);
	return err_wrap(err, "%s (%s)", disk_named(c, disk), c->on.name);
}

static int set_one(const struct root *root, const struct change *c, const struct disk *disk,
		   struct err *err)
{
	cleanup_free char *path = path_of(c, disk), *text = NULL;
	int r = read_value(root, c, disk, &text, err);

	if (r == -ENODEV)
		return 0;
	if (r < 0 || change_equal(COMPARE_TEXT, c->desired, text))
		return r;
	r = machine_write_attr(root, path, c->desired, err);
	return r < 0 ? explain(root, c, disk, text, r, err) : 0;
}

struct awaited {
	const struct root *root;
	const char *addr;
	struct disks *disks;
};

static bool has_disks(void *arg)
{
	const struct awaited *w = arg;

	disks_free(w->disks);
	disks_of(w->root, w->addr, w->disks);
	return w->disks->n > 0;
}

int block_set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct disks disks cleanup_disks = {0};
	struct awaited w = {ctx->root, c->on.name, &disks};
	uint64_t enough = clock_usec() + (ctx->root->live ? WAIT_US : 0);
	struct err missing = {0};

	uevent_wait(has_disks, &w, enough < ctx->deadline ? enough : ctx->deadline);
	if (are_unknown(c, &disks))
		return err_set(err, -ENODATA, "%s", disks.unknown);
	for (size_t i = 0; i < disks.n; i++) {
		int r = is_spared(c, &disks.v[i]) ? 0 : set_one(ctx->root, c, &disks.v[i], err);

		if (r == -EOPNOTSUPP && c->optional)
			missing = *err;
		else if (r < 0)
			return r;
	}
	return missing.code ? err_copy(err, missing.code, &missing) : 0;
}

char *block_desired(const struct change *c)
{
	const struct block_item *item = c->on.item;
	int64_t number = c->want.number;

	if (c->want.type == VALUE_BOOL)
		return xasprintf("%d", number != 0);
	if (c->want.type != VALUE_NUMBER)
		return NULL;
	return xasprintf("%" PRId64, number / (item->scale ? item->scale : 1));
}

const struct kind kind_block = {
	.name = "block", .blocks = true, .look = item_look, .set = item_set};

/* --- judged --------------------------------------------------------------------------------- */

/*
 * Checked only, because a write to io_poll has no effect (queue_poll_store()); drivers have
 * parameters instead.
 */
static int look_poll(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	int r = block_look(ctx, c, err);

	if (r == 0 && c->now.state == CHANGE_DIFFERS && c->now.found &&
	    !streq(c->now.found, "unknown"))
		change_reason(c, "a driver creates queues for polled I/O only when it starts: for "
				 "NVMe write modules: {options: {nvme: {poll_queues: N}}}, for "
				 "virtio options of virtio_blk");
	return r;
}

const struct block_item block_poll_item = {
	.sort = {.kind = &kind_check,
		 .look = look_poll,
		 .desired = block_desired,
		 .fault = FAULT_STORAGE_QUEUE_DIFFERS},
	.file = "io_poll",
	.of_head = true,
};
