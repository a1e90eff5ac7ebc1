/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attributes: which may be written, and what a write does. What no line of the table has is
 * kept as it was written; a choice ("always [madvise] never") moves its brackets.
 */
#include "simnode.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* --- any attribute -------------------------------------------------------------------------- */

static bool is_choice(const char *text)
{
	return text && strchr(text, '[') && strchr(text, ']');
}

/* The words of old, brackets around the one chosen; NULL if it has no such word. */
static char *choose(const char *old, const char *word)
{
	cleanup_free char *copy = xstrdup(old);
	cleanup_str struct str text = {0};
	bool found = false;
	char *rest = copy, *w;

	while ((w = strsep(&rest, " []\n"))) {
		if (!*w)
			continue;
		found |= streq(w, word);
		str_addf(&text, streq(w, word) ? "%s[%s]" : "%s%s", text.len ? " " : "", w);
	}
	return found ? str_take(&text) : NULL;
}

static int store_text(const char *name, char *text)
{
	cleanup_free char *old = NULL, *choice = NULL;
	int r = script_meet(OP_WRITE, name, NULL, NULL);

	if (r < 0)
		return r;
	str_chomp(text);
	old = tree_get("%s", name);
	if (!old)
		return -ENODEV;
	if (is_choice(old)) {
		choice = choose(old, text);
		if (!choice)
			return -EINVAL;
	}
	return tree_replace(choice ? choice : text, name);
}

/* --- hugepages ------------------------------------------------------------------------------ */

/* What the node's memory still holds beside the pages of other sizes. */
static uint64_t room_for(const char *dir, const char *size_dir, uint64_t page_kib)
{
	cleanup_strv struct strv sizes = {0};
	cleanup_free char *meminfo = tree_get("%s/meminfo", dir);
	unsigned long long kib = 0, kib_of_size, taken = 0;

	if (!meminfo || sscanf(meminfo, "Node %*d MemTotal: %llu", &kib) != 1)
		return UINT64_MAX;
	tree_list(&sizes, "%s/hugepages", dir);
	for (size_t i = 0; i < sizes.n; i++)
		if (!streq(sizes.v[i], size_dir) &&
		    sscanf(sizes.v[i], "hugepages-%llukB", &kib_of_size) == 1)
			taken += kib_of_size *
				 tree_number("%s/hugepages/%s/nr_hugepages", dir, sizes.v[i]);
	return taken < kib ? (kib - taken) / page_kib : 0;
}

/* A node that can't give all gives what it can, and the write succeeds (mm/hugetlb.c). */
static int store_pages(const char *name, char *text)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	cleanup_free char *node = xstrdup(name), *grant = NULL;
	char *hugepages = strstr(node, "/hugepages/"), *size = hugepages + strlen("/hugepages/");
	unsigned long long page_kib, pages, room;
	unsigned int fewer = 0;
	char *end;
	int r;

	*hugepages = '\0';
	*strchr(size, '/') = '\0';
	str_chomp(text);
	pages = strtoull(text, &end, 10);
	if (*end || end == text || *text == '-')
		return -EINVAL;
	r = script_meet(OP_WRITE, name, NULL, &fewer);
	if (r < 0)
		return r;
	if (sscanf(size, "hugepages-%llukB", &page_kib) != 1)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	room = room_for(node, size, page_kib);
	pages -= fewer < pages ? fewer : pages;
	grant = xasprintf("%llu", pages < room ? pages : room);
	r = tree_replace(grant, name);
	pthread_mutex_unlock(&lock);
	return r;
}

/* --- the table ------------------------------------------------------------------------------ */

/* Files of procfs that have no write, as /proc/cmdline: root may open them (fs/proc/inode.c). */
static int store_nothing(const char *name, char *text)
{
	(void)name;
	(void)text;
	return -EIO;
}

/* The first line that fits counts. */
static const struct attr attrs[] = {
	{PCI "*/sriov_numvfs", 0644, ATTR_LOCKED | ATTR_LONG, sriov_store_numvfs},
	{PCI "*/sriov_drivers_autoprobe", 0644, ATTR_LONG, sriov_store_autoprobe},
	{PCI "*/sriov_vf_msix_count", 0200, ATTR_LONG, sriov_store_msix},
	{PCI "*/driver_override", 0644, ATTR_LOCKED | ATTR_LONG, pci_store_override},
	{"/sys/bus/pci/drivers_probe", 0200, ATTR_LONG, pci_store_probe},
	{DRIVERS "*/bind", 0200, ATTR_LONG, pci_store_bind},
	{DRIVERS "*/unbind", 0200, ATTR_LONG, pci_store_unbind},
	{"/sys/devices/system/node/*/nr_hugepages", 0644, ATTR_LONG, store_pages},
	{PCI "*/config", 0644, ATTR_BYTES, NULL},
	/* facts: 0444 in the kernel, and sysfs refuses root too (fs/kernfs/file.c) */
	{PCI "*/sriov_totalvfs", 0444, 0, NULL},
	{PCI "*/sriov_offset", 0444, 0, NULL},
	{PCI "*/sriov_stride", 0444, 0, NULL},
	{PCI "*/sriov_vf_device", 0444, 0, NULL},
	{PCI "*/sriov_vf_total_msix", 0444, 0, NULL},
	{PCI "*/vendor", 0444, 0, NULL},
	{PCI "*/device", 0444, 0, NULL},
	{PCI "*/subsystem_vendor", 0444, 0, NULL},
	{PCI "*/subsystem_device", 0444, 0, NULL},
	{PCI "*/class", 0444, 0, NULL},
	{PCI "*/modalias", 0444, 0, NULL},
	{PCI "*/resource", 0444, 0, NULL},
	{PCI "*/current_link_*", 0444, 0, NULL},
	{PCI "*/ifindex", 0444, 0, NULL},
	{PCI "*/operstate", 0444, 0, NULL},
	{PCI "*/infiniband/*/tc/*/traffic_class", 0644, 0, ecn_store_class},
	{PCI "*/infiniband/*", 0444, 0, NULL},
	{PCI "*/ecn/roce_*/enable/*", 0644, ATTR_LONG, ecn_store_enable},
	{PCI "*/ecn/roce_np/*", 0644, ATTR_LONG, ecn_store_np},
	{PCI "*/ecn/roce_rp/*", 0644, ATTR_LONG, ecn_store_rp},
	{"/sys/kernel/debug/mlx5/*/cc_params/*", 0600, ATTR_LONG, ecn_store_cc},
	{"/sys/devices/system/cpu/present", 0444, 0, NULL},
	{"/sys/devices/system/cpu/cpu*/topology/*", 0444, 0, NULL},
	{"/sys/devices/system/node/*", 0444, 0, NULL},
	{"/sys/class/dmi/id/*", 0444, 0, NULL},
	{"/sys/module/*/initstate", 0444, 0, NULL},
	{"/sys/*", 0644, 0, store_text},
	{"/proc/sys/kernel/osrelease", 0444, 0, NULL},
	{"/proc/sys/kernel/arch", 0444, 0, NULL},
	{"/proc/sys/kernel/random/boot_id", 0444, 0, NULL},
	{"/proc/sys/*", 0644, 0, store_text},
	{"/proc/*", 0644, 0, store_nothing},
};

const struct attr *attr_find(const char *name)
{
	for (size_t i = 0; i < array_len(attrs); i++)
		if (fnmatch(attrs[i].pattern, name, 0) == 0)
			return &attrs[i];
	return NULL;
}

/* "0000:18:00.0/" */
static bool is_address(const char *s)
{
	return fnmatch("[0-9a-f][0-9a-f][0-9a-f][0-9a-f]:[0-9a-f][0-9a-f]:[0-9a-f][0-9a-f].[0-7]/*",
		       s, 0) == 0;
}

char *attr_name(const char *path)
{
	const char *addr = NULL;

	if (str_starts(path, "/sys/devices/pci"))
		for (const char *s = strchr(path, '/'); s; s = strchr(s + 1, '/'))
			if (is_address(s + 1))
				addr = s + 1;
	return addr ? xasprintf(PCI "%s", addr) : xstrdup(path);
}

/* The device whose attribute it is, or NULL. */
static struct device *device_of(const char *name)
{
	char addr[16];

	if (!str_starts(name, PCI) || sscanf(name + strlen(PCI), "%15[0-9a-f:.]", addr) != 1)
		return NULL;
	return pci_find(addr);
}

int attr_read(const struct attr *attr, const char *name, char **ret)
{
	struct device *dev = device_of(name);
	cleanup_free char *text = NULL;
	int r = script_meet_instead(OP_READ, name, dev, ret);

	if (r)
		return r < 0 ? r : 0;
	if ((attr->flags & ATTR_LOCKED) && dev)
		pci_lock(dev);
	text = tree_get("%s", name);
	if ((attr->flags & ATTR_LOCKED) && dev)
		pci_unlock(dev);
	if (!text)
		return -ENODEV;
	*ret = xasprintf("%s\n", text);
	return 0;
}

int attr_write(const struct attr *attr, const char *name, const char *data, size_t len)
{
	cleanup_free char *text = xstrndup(data, len), *line = NULL;
	int r;

	line = xstrndup(text, strcspn(text, "\n"));
	log_event("write %s %s", name, line);
	r = attr->store ? attr->store(name, text) : -EIO;
	log_event("wrote %s %s", name, log_result(r));
	return r;
}
