/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "node/uplinks.h"

#include <jansson.h>
#include <linux/ipv6_route.h>
#include <linux/route.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "node/snapshot_info.h"
#include "sys/read.h"

enum { NAME_MAX_LEN = 32, DEPTH_MAX = 4 };

/* Adds the netdevs below a bond, bridge or VLAN: lower_NAME links. */
static void add(const struct root *root, const char *name, int depth, struct strv *ret)
{
	cleanup_strv struct strv names = {0};

	if (depth > DEPTH_MAX || strv_contains(ret, name) || streq(name, "lo") || streq(name, "*"))
		return;
	strv_add(ret, name);
	read_dir(root, &names, NULL, "/sys/class/net/%s", name);
	for (size_t i = 0; i < names.n; i++)
		if (str_starts(names.v[i], "lower_"))
			add(root, names.v[i] + strlen("lower_"), depth + 1, ret);
}

/*
 * "Iface Destination Gateway Flags RefCnt Use Metric Mask ...", in hexadecimal. A default route has
 * a gateway, or an IPv6 gateway (RTA_VIA), which the file does not show. A route to half of all
 * addresses (0.0.0.0/1) belongs to a VPN.
 */
static bool is_default(const char *line, char name[NAME_MAX_LEN])
{
	unsigned int destination, gateway, flags = RTF_UP, mask = 0;

	return sscanf(line, "%31s %x %x %x %*s %*s %*s %x", name, &destination, &gateway, &flags,
		      &mask) >= 3 &&
	       destination == 0 && mask == 0 && (flags & RTF_UP) && !(flags & RTF_REJECT);
}

/* Destination, its length, source, its length, next hop, metric, references, uses, flags, device:
 * net/ipv6/route.c, rt6_info_route. */
static bool is_default6(const char *line, char name[NAME_MAX_LEN])
{
	unsigned int length, flags;
	char destination[33];

	return sscanf(line, "%32s %x %*s %*s %*s %*s %*s %*s %x %31s", destination, &length, &flags,
		      name) == 4 &&
	       strspn(destination, "0") == 32 && length == 0 && (flags & RTF_UP) &&
	       !(flags & RTF_REJECT);
}

static void read_routes(const struct root *root, const char *file,
			bool (*leads_out)(const char *line, char name[NAME_MAX_LEN]),
			struct strv *ret)
{
	cleanup_free char *text = NULL;
	char *line, *rest, name[NAME_MAX_LEN];

	if (read_text(root, &text, NULL, "/proc/net/%s", file) < 0)
		return;
	for (rest = text; (line = strsep(&rest, "\n"));)
		if (leads_out(line, name))
			add(root, name, 0, ret);
}

static void read_recorded(const struct root *root, struct strv *ret)
{
	cleanup_free char *text = NULL;
	json_t *doc, *name;
	size_t i;

	if (read_text(root, &text, NULL, "%s", SNAPSHOT_INFO) < 0)
		return;
	doc = json_loads(text, 0, NULL);
	json_array_foreach(json_object_get(doc, "uplinks"), i, name) if (json_is_string(name))
		strv_add(ret, json_string_value(name));
	json_decref(doc);
}

bool node_uplinks(const struct root *root, struct strv *ret)
{
	read_routes(root, "route", is_default, ret);
	read_routes(root, "ipv6_route", is_default6, ret);
	if (!ret->n)
		read_recorded(root, ret);
	return ret->n > 0;
}
