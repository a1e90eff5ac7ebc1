/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts: sysctl.d(5); /run/systemd/netif/links/IFINDEX of systemd-networkd (NETWORK_FILE=) and
 * /run/NetworkManager/devices/IFINDEX of NetworkManager (managed=true, or full), which both keep
 * for each link; tuned's pid file and /etc/tuned/active_profile.
 */
#include "engine/culprit.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/read.h"
#include "sys/sysctl_d.h"

#define PROC_SYS "/proc/sys/"

/* What follows key at the start of a line; NULL: no line begins so. The caller frees. */
static char *setting_of(const char *text, const char *key)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (str_starts(line, key))
			return xstrndup(line + strlen(key), strcspn(line + strlen(key), "\n"));
	}
	return NULL;
}

static char *of_sysctl(const struct root *root, const struct change *c)
{
	cleanup_free char *line = NULL;

	if (!str_starts(c->target, PROC_SYS) || !c->observed)
		return NULL;
	line = sysctl_d_line(root, c->target + strlen(PROC_SYS), c->observed);
	return line ? xasprintf("%s gives it that value", line) : NULL;
}

static char *manager_of(const struct root *root, const char *netdev, uint64_t ifindex)
{
	cleanup_free char *text = NULL, *by = NULL, *managed = NULL;

	if (read_text(root, &text, NULL, "/run/systemd/netif/links/%llu",
		      (unsigned long long)ifindex) == 0)
		by = setting_of(text, "NETWORK_FILE=");
	if (by)
		return xasprintf("systemd-networkd manages %s by %s", netdev, by);
	free(take_ptr(text));
	if (read_text(root, &text, NULL, "/run/NetworkManager/devices/%llu",
		      (unsigned long long)ifindex) == 0)
		managed = setting_of(text, "managed=");
	return managed && !streq(managed, "false") ? xasprintf("NetworkManager manages %s", netdev)
						   : NULL;
}

static char *of_link(const struct root *root, const struct change *c)
{
	cleanup_strv struct strv names = {0};
	char *manager = NULL;
	uint64_t ifindex;

	if (!c->on.name || !streq(c->section, "link"))
		return NULL;
	read_dir(root, &names, NULL, "/sys/bus/pci/devices/%s/net", c->on.name);
	for (size_t i = 0; !manager && i < names.n; i++)
		if (read_u64(root, &ifindex, NULL, "/sys/class/net/%s/ifindex", names.v[i]) == 0)
			manager = manager_of(root, names.v[i], ifindex);
	return manager;
}

/* It sets sysctls, files of sysfs and what ethtool sets. */
static char *of_tuned(const struct root *root)
{
	cleanup_free char *profile = NULL;

	if (!root_exists(root, "/run/tuned/tuned.pid"))
		return NULL;
	if (read_text(root, &profile, NULL, "/etc/tuned/active_profile") < 0 || !*profile)
		return xstrdup("tuned runs");
	return xasprintf("tuned runs, with profile %s", profile);
}

char *culprit_of(const struct root *root, const struct change *c)
{
	char *by = of_sysctl(root, c);

	by = by ?: of_link(root, c);
	if (by)
		return by;
	return streq(c->section, "sysctl") || streq(c->section, "sysfs") ||
			       streq(c->section, "link")
		       ? of_tuned(root)
		       : NULL;
}
