/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/cover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pci_address.h"
#include "base/str.h"
#include "kinds/function.h"
#include "kinds/target.h"
#include "plan/change.h"
#include "sys/kernel_names.h"
#include "sys/read.h"

enum { NAMED_MAX = 3 }; /* parts that a reason names */

#define OF " of " /* between a path and the function of its device */

/* --- devices of functions ---------------------------------------------------------------- */

/* The directories in which the kernel has devices that may belong to another network namespace. */
static const char *const classes[] = {"net", "infiniband"};

/* The name of the device in a path such as "/sys/class/net/eth0/mtu"; NULL: none. Caller frees. */
static char *device_in(const char *path, const char *class)
{
	cleanup_free char *dir = xasprintf("/%s/", class);
	const char *at = str_starts(path, "/sys/") ? strstr(path, dir) : NULL;

	if (at)
		return xstrndup(at + strlen(dir), strcspn(at + strlen(dir), "/"));
	return streq(class, "net") ? sysctl_interface(path) : NULL;
}

/* The function whose driver made the device; NULL: none did. */
static const struct pci_fn *maker_of(const struct node *node, const char *class, const char *device)
{
	const struct pci_functions *functions = node_functions(node);
	bool net = streq(class, "net");

	for (size_t i = 0; i < functions->n; i++) {
		const struct pci_fn *fn = &functions->v[i];

		if (strv_contains(net ? &fn->net : &fn->ibdevs, device))
			return fn;
	}
	return NULL;
}

/* The name of the part. Caller frees. */
static char *part_of(const struct kind_ctx *ctx, const char *path)
{
	for (size_t i = 0; i < array_len(classes); i++) {
		cleanup_free char *device = device_in(path, classes[i]);
		const struct pci_fn *fn = device ? maker_of(ctx->node, classes[i], device) : NULL;

		if (fn)
			return xasprintf("%s" OF "%s", path, fn->addr);
	}
	return xstrdup(path);
}

/* The function in the name of a part; NULL: none. */
static const char *function_in(const char *part)
{
	const char *of = strrchr(part, ' ');

	return of && pci_address_len(of + 1) == strlen(of + 1) ? of + 1 : NULL;
}

static bool is_given_away(const struct root *root, const char *part)
{
	const char *addr = function_in(part);

	for (size_t i = 0; addr && i < array_len(classes); i++) {
		cleanup_free char *device = device_in(part, classes[i]);

		if (device)
			return function_gave_away(root, addr, classes[i]);
	}
	return false;
}

/* --- devices of nobody ------------------------------------------------------------------- */

/*
 * A netdev without a function that is one end of a pair, or lies on another netdev (its iflink is
 * not its own number: veth, macvlan, ipvlan), or is a program's tunnel. A VLAN is the site's.
 */
static bool comes_and_goes(const struct root *root, const char *netdev)
{
	cleanup_free char *uevent = NULL;
	uint64_t own, below;

	if (root_exists(root, "/sys/class/net/%s/tun_flags", netdev))
		return true;
	if (read_u64(root, &own, NULL, "/sys/class/net/%s/ifindex", netdev) < 0 ||
	    read_u64(root, &below, NULL, "/sys/class/net/%s/iflink", netdev) < 0 || own == below)
		return false;
	return read_text(root, &uevent, NULL, "/sys/class/net/%s/uevent", netdev) < 0 ||
	       !strstr(uevent, "DEVTYPE=vlan");
}

/* A device that is gone again counts as virtual. */
static bool is_virtual(const struct root *root, const char *path)
{
	cleanup_free char *netdev = device_in(path, "net"), *link = NULL, *real = NULL;
	cleanup_close int fd = -1;

	if (netdev)
		return read_link(root, &link, NULL, "/sys/class/net/%s", netdev) < 0 ||
		       strstr(link, "/devices/virtual/");
	fd = root_open_path(root, path, O_PATH);
	return fd < 0 ||
	       (root_path_of(root, fd, &real) == 0 && str_starts(real, "/sys/devices/virtual/"));
}

/* --- covers ------------------------------------------------------------------------------ */

void cover_file(const struct kind_ctx *ctx, struct change *c, const char *path)
{
	cleanup_free char *part = NULL, *netdev = NULL;

	if (ctx->running != STAGE_GATE) /* nobody asks before the gate */
		return;
	part = part_of(ctx, path);
	netdev = function_in(part) ? NULL : device_in(path, "net");
	if (c->covered || !netdev || !comes_and_goes(ctx->root, netdev))
		strv_add(&c->now.covers, part);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has(const struct strv *sorted, const char *part)
{
	return sorted->n && bsearch(&part, sorted->v, sorted->n, sizeof(*sorted->v), by_text);
}

bool cover_is_newcomer(const struct kind_ctx *ctx, const struct change *c, const char *path)
{
	cleanup_free char *part = c->covered ? part_of(ctx, path) : NULL;

	return part && !has(c->covered, part) && is_virtual(ctx->root, path);
}

static void find_gone(const struct root *root, struct change *c, struct strv *ret)
{
	strv_sort(&c->now.covers);
	for (size_t i = 0; i < c->covered->n; i++) {
		const char *part = c->covered->v[i];

		if (!has(&c->now.covers, part) && !is_given_away(root, part))
			strv_add(ret, part);
	}
}

int cover_judge(const struct kind_ctx *ctx, struct change *c, int r, struct err *err)
{
	bool absent = r == -ENOENT && !c->now.covers.n && c->covered->n;
	cleanup_strv struct strv gone = {0};
	cleanup_free char *some = NULL;

	if (r < 0 && !absent)
		return r; /* the look did not come to the end of its parts */
	find_gone(ctx->root, c, &gone);
	if (!gone.n && !absent)
		return 0;
	*err = (struct err){0};
	if (!gone.n)
		return target_in_namespace(c, "netdev");
	some = strv_some(&gone, NAMED_MAX);
	change_reason(c, "%s " COVER_WAS TO_MEND COVER_REMEDY, some);
	c->now.fault = FAULT_HOST_GONE;
	c->now.state = CHANGE_FAILED;
	return 0;
}
