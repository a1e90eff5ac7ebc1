/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a network driver makes of a function: a netdev, which the kernel calls ethN and udev
 * renames, and an RDMA device. A VF's look like those of its PF at the start.
 */
#include "simnode.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

struct file {
	char *path; /* below the netdev's or RDMA device's directory */
	char *text;
};

struct model {
	char pf[16];
	char *net, *rdma; /* names, or NULL */
	VEC(struct file) net_files, rdma_files;
};

static VEC(struct model) models;
static atomic_uint next_ifindex = 1, next_eth, next_rdma;

/* --- models --------------------------------------------------------------------------------- */

static void read_files(const char *dir, const char *below, struct model *m, bool rdma)
{
	cleanup_strv struct strv names = {0};

	tree_list(&names, "%s/%s", dir, below);
	for (size_t i = 0; i < names.n; i++) {
		struct file f = {xasprintf("%s%s", below, names.v[i]), NULL};

		f.text = tree_get("%s/%s", dir, f.path);
		if (!f.text) /* a directory, or a link to one */
			free(f.path);
		else if (rdma)
			vec_push(&m->rdma_files, f);
		else
			vec_push(&m->net_files, f);
	}
}

static char *first_of(const char *pf, const char *dir)
{
	cleanup_strv struct strv names = {0};

	tree_list(&names, PCI "%s/%s", pf, dir);
	return names.n ? xstrdup(names.v[0]) : NULL;
}

static void add_model(const char *pf)
{
	struct model m = {.net = first_of(pf, "net"), .rdma = first_of(pf, "infiniband")};
	cleanup_free char *net = NULL, *rdma = NULL;

	snprintf(m.pf, sizeof(m.pf), "%s", pf);
	if (m.net) {
		net = xasprintf(PCI "%s/net/%s", pf, m.net);
		read_files(net, "", &m, false);
	}
	if (m.rdma) {
		rdma = xasprintf(PCI "%s/infiniband/%s", pf, m.rdma);
		read_files(rdma, "", &m, true);
		read_files(rdma, "ports/1/", &m, true);
	}
	vec_push(&models, m);
}

static const struct model *model_of(const char *pf)
{
	for (size_t i = 0; i < models.n; i++)
		if (streq(models.v[i].pf, pf))
			return &models.v[i];
	return NULL;
}

static unsigned int number_behind(const char *name)
{
	size_t n = strlen(name);

	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return (unsigned int)strtoul(name + n, NULL, 10);
}

void netdev_start(void)
{
	cleanup_strv struct strv addrs = {0}, nets = {0}, rdmas = {0};

	tree_list(&nets, "/sys/class/net");
	for (size_t i = 0; i < nets.n; i++) {
		unsigned int n = (unsigned int)tree_number("/sys/class/net/%s/ifindex", nets.v[i]);

		if (n >= next_ifindex)
			next_ifindex = n + 1;
		if (str_starts(nets.v[i], "eth") && number_behind(nets.v[i]) >= next_eth)
			next_eth = number_behind(nets.v[i]) + 1;
	}
	tree_list(&rdmas, "/sys/class/infiniband");
	for (size_t i = 0; i < rdmas.n; i++)
		if (number_behind(rdmas.v[i]) >= next_rdma)
			next_rdma = number_behind(rdmas.v[i]) + 1;
	tree_list(&addrs, "/sys/bus/pci/devices");
	for (size_t i = 0; i < addrs.n; i++)
		if (tree_has(PCI "%s/sriov_totalvfs", addrs.v[i]))
			add_model(addrs.v[i]);
}

static void free_files(struct file *files, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(files[i].path);
		free(files[i].text);
	}
	free(files);
}

void netdev_stop(void)
{
	for (size_t i = 0; i < models.n; i++) {
		struct model *m = &models.v[i];

		free(m->net);
		free(m->rdma);
		free_files(m->net_files.v, m->net_files.n);
		free_files(m->rdma_files.v, m->rdma_files.n);
	}
	vec_free(&models);
}

/* --- appearing ------------------------------------------------------------------------------ */

static const struct model *model_for(const struct device *dev)
{
	cleanup_free char *pf = tree_link_name(PCI "%s/physfn", dev->addr);

	return model_of(pf ? pf : dev->addr);
}

/* Bound, and by a driver that makes netdevs. */
static bool wanted(const struct device *dev)
{
	cleanup_free char *driver = tree_link_name(PCI "%s/driver", dev->addr);

	return driver && !streq(driver, "vfio-pci") && !dev->gone;
}

static void add_net(const struct device *dev, const struct model *m)
{
	unsigned int index = atomic_fetch_add(&next_ifindex, 1);
	cleanup_free char *dir = tree_follow(PCI "%s", dev->addr);
	cleanup_free char *net = xasprintf("%s/net/eth%u", dir, atomic_fetch_add(&next_eth, 1));
	cleanup_free char *number = xasprintf("%u", index);

	for (size_t i = 0; i < m->net_files.n; i++)
		tree_put(m->net_files.v[i].text, "%s/%s", net, m->net_files.v[i].path);
	tree_put(number, "%s/ifindex", net);
	tree_put("0x1002", "%s/flags", net); /* down, as a new one is */
	tree_put("down", "%s/operstate", net);
	tree_put("0", "%s/carrier", net);
	tree_link(dir, "%s/device", net);
	tree_link(net, "/sys/class/net/%s", strrchr(net, '/') + 1);
	log_event("netdev %s %s", dev->addr, strrchr(net, '/') + 1);
}

static void add_rdma(const struct device *dev, const struct model *m)
{
	cleanup_free char *dir = tree_follow(PCI "%s", dev->addr);
	size_t n = strcspn(m->rdma, "0123456789");
	const char *digits = strrchr(m->rdma, '_'); /* mlx5_0: the 5 is part of the name */
	cleanup_free char *name = NULL, *rdma = NULL;

	if (digits)
		n = (size_t)(digits + 1 - m->rdma);
	name = xasprintf("%.*s%u", (int)n, m->rdma, atomic_fetch_add(&next_rdma, 1));
	rdma = xasprintf("%s/infiniband/%s", dir, name);
	for (size_t i = 0; i < m->rdma_files.n; i++)
		tree_put(m->rdma_files.v[i].text, "%s/%s", rdma, m->rdma_files.v[i].path);
	tree_link(dir, "%s/device", rdma);
	tree_link(rdma, "/sys/class/infiniband/%s", name);
	log_event("rdma %s %s", dev->addr, name);
}

static void appear(struct device *dev)
{
	const struct model *m = model_for(dev);

	if (!m || !wanted(dev))
		return;
	if (m->net && !tree_has(PCI "%s/net", dev->addr))
		add_net(dev, m);
	if (m->rdma && !tree_has(PCI "%s/infiniband", dev->addr))
		add_rdma(dev, m);
}

/* "enp24s0v3" of "enp24s0": a VF's number is that of its link. The caller frees. */
static char *udev_name(const struct device *dev, const struct model *m)
{
	cleanup_strv struct strv names = {0};

	if (streq(m->pf, dev->addr))
		return xstrdup(m->net);
	tree_list(&names, PCI "%s", m->pf);
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *vf = str_starts(names.v[i], "virtfn")
						? tree_link_name(PCI "%s/%s", m->pf, names.v[i])
						: NULL;

		if (vf && streq(vf, dev->addr))
			return xasprintf("%sv%s", m->net, names.v[i] + strlen("virtfn"));
	}
	return NULL;
}

/* udev's work: the name by its rules, then the record that it is done. */
static void rename_net(struct device *dev)
{
	const struct model *m = model_for(dev);
	cleanup_free char *old = first_of(dev->addr, "net"), *dir = NULL, *name = NULL;
	cleanup_free char *from = NULL, *to = NULL;

	if (!m || !wanted(dev) || !old || !str_starts(old, "eth"))
		return;
	name = udev_name(dev, m);
	if (!name)
		return;
	dir = tree_follow(PCI "%s", dev->addr);
	from = xasprintf("%s/net/%s", dir, old);
	to = xasprintf("%s/net/%s", dir, name);
	tree_remove("/sys/class/net/%s", old);
	tree_rename(from, to);
	tree_link(to, "/sys/class/net/%s", name);
	tree_put("I:1", "/run/udev/data/n%llu", (unsigned long long)tree_number("%s/ifindex", to));
	log_event("named %s %s", dev->addr, name);
}

static void *later(void *arg)
{
	struct device *dev = arg;

	if (sim_sleep(latency.netdev, dev) < 0)
		return NULL;
	pci_lock(dev);
	appear(dev);
	pci_unlock(dev);
	if (sim_sleep(latency.udev, dev) < 0)
		return NULL;
	pci_lock(dev);
	rename_net(dev);
	pci_unlock(dev);
	return NULL;
}

void netdev_appear(struct device *dev)
{
	if (!model_for(dev))
		return;
	if (latency.netdev || latency.udev) {
		sim_background(later, dev);
		return;
	}
	appear(dev);
	rename_net(dev);
}

void netdev_vanish(const char *addr)
{
	cleanup_free char *net = first_of(addr, "net"), *rdma = first_of(addr, "infiniband");

	if (net) {
		unsigned long long index = tree_number(PCI "%s/net/%s/ifindex", addr, net);

		tree_remove("/run/udev/data/n%llu", index);
		tree_remove("/sys/class/net/%s", net);
		tree_remove(PCI "%s/net", addr);
	}
	if (rdma) {
		tree_remove("/sys/class/infiniband/%s", rdma);
		tree_remove(PCI "%s/infiniband", addr);
	}
}
