/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where a worker that does not return sleeps, by /proc/PID/stack (fs/proc/base.c): a line for
 * each function, the innermost first, "[<0>] sriov_numvfs_store+0x5c/0x1a0". The kernel leaves out
 * functions of the scheduler, which include the ways into a mutex (kernel/stacktrace.c). If the
 * worker waits for the lock around the driver's work (pci_lock_rescan_remove()) or for the PF's own
 * lock, the first function is therefore sriov_numvfs_store() itself. If the worker is at work,
 * functions of the driver come before it.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kinds/file.h"
#include "kinds/vf.h"
#include "sys/machine.h"
#include "sys/read.h"

enum whereabouts vf_where(const struct root *root, pid_t worker, struct str *in)
{
	cleanup_free char *stack = NULL;
	char *rest, *line;

	if (read_text(root, &stack, NULL, "/proc/%d/stack", (int)worker) < 0)
		return WHERE_UNKNOWN;
	rest = stack;
	while ((line = strsep(&rest, "\n"))) {
		char fn[128];

		if (sscanf(line, "[<%*[^>]>] %127[^+ ]", fn) != 1 || str_starts(fn, "mutex_lock") ||
		    str_starts(fn, "__mutex_lock") || str_starts(fn, "pci_lock_rescan_remove") ||
		    str_starts(fn, "schedule"))
			continue;
		if (streq(fn, "sriov_numvfs_store"))
			return WHERE_IN_LINE;
		if (in)
			str_add(in, fn);
		return WHERE_AT_WORK;
	}
	return WHERE_UNKNOWN;
}

/* The rules apply to VFs that come later; existing VFs get an event. */
static int reload_rules(struct err *err)
{
	int r = machine_reload_udev(err);

	return r < 0 ? r : machine_trigger_udev("net", "device/physfn/uevent", err);
}

const struct file_item vf_rules_file = {reload_rules};
const struct file_item vf_network_file = {machine_reload_networkd};

const struct kind kind_vf = {
	.name = "vf",
	.blocks = true,
	.look = item_look,
	.set = item_set,
	.complete = item_complete,
	.where = vf_where,
	.line = "the kernel's lock for VF creation",
};
