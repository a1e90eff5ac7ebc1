/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drop-ins that railhead owns whole, such as /run/modprobe.d/zz-railhead.conf. If the desired text
 * is empty, the drop-in must be absent.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kinds/kind.h"
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

/* The rules apply to VFs that come later; existing VFs get an event. */
static int reload_vf_rules(struct err *err)
{
	int r = machine_reload_udev(err);

	return r < 0 ? r : machine_trigger_udev("net", "device/physfn/uevent", err);
}

/* Whether systemd must read its unit files again, once for all of them: see after(). */
static bool units_changed;

#define IRQBALANCE "irqbalance.service"

static bool has_irqbalance(void)
{
	return access("/usr/sbin/irqbalance", X_OK) == 0 && machine_units_are_ours();
}

/*
 * Restarts irqbalance, because it asks about each vector only once, when it first sees the vector.
 */
static int restart_irqbalance(struct err *err)
{
	return has_irqbalance() ? machine_restart_unit_later(IRQBALANCE, err) : 0;
}

static int reload_irqbalance(struct err *err)
{
	int r = has_irqbalance() ? machine_reload_units(err) : 0;

	units_changed = false;
	return r < 0 ? r : restart_irqbalance(err);
}

/*
 * The programs that may have read their files before railhead wrote its own, and how to make them
 * read again.
 */
static const struct {
	const char *path;
	int (*reload)(struct err *err);
} readers[] = {
	{"/run/udev/rules.d/70-railhead-vf.rules", reload_vf_rules},
	{"/run/systemd/network/00-railhead-vf.network", machine_reload_networkd},
	{"/run/systemd/system/" IRQBALANCE ".d/50-railhead.conf", reload_irqbalance},
	{"/run/railhead/irq-functions", restart_irqbalance},
};

int file_remove(const struct root *root, const char *path, struct err *err)
{
	return machine_remove_file(root, path, err);
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	int r = *c->desired ? machine_write_file(ctx->root, c->target, c->desired, 0644, err)
			    : machine_remove_file(ctx->root, c->target, err);

	if (r == 0 && ctx->root->live && str_starts(c->target, "/run/systemd/system"))
		units_changed = true;
	for (size_t i = 0; r == 0 && ctx->root->live && i < array_len(readers); i++)
		if (streq(c->target, readers[i].path))
			r = readers[i].reload(err);
	return r;
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
