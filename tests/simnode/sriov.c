/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sriov_numvfs, as drivers/pci/iov.c has it: the PF's device lock around all, the global lock
 * around the work of the PF's driver, VFs one after another, and with autoprobe on each VF's
 * driver probed before the next VF is made.
 */
#include "simnode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define GROUPS "/sys/kernel/iommu_groups/"

enum { MSIX_VECTORS = 12 }; /* that a VF has by itself */

static atomic_uint next_group;

/* Id tables: the driver of a VF where it is not that of its PF, and the VF's device id. */
static const struct {
	const char *pf, *vf;
} vf_drivers[] = {
	{"igb", "igbvf"},
	{"ixgbe", "ixgbevf"},
	{"i40e", "iavf"},
	{"ice", "iavf"},
};
static const struct {
	unsigned int vendor, pf, vf;
} vf_ids[] = {
	{0x15b3, 0x1021, 0x101e}, /* ConnectX-7; 101e is the VF of all since ConnectX-6 Dx */
	{0x15b3, 0x1023, 0x101e}, {0x15b3, 0x101d, 0x101e},
	{0x8086, 0x1563, 0x1565}, {0x8086, 0x1592, 0x1889},
};

static unsigned int vf_id(const char *pf)
{
	unsigned int vendor = (unsigned int)tree_number(PCI "%s/vendor", pf);
	unsigned int device = (unsigned int)tree_number(PCI "%s/device", pf);

	for (size_t i = 0; i < array_len(vf_ids); i++)
		if (vf_ids[i].vendor == vendor && vf_ids[i].pf == device)
			return vf_ids[i].vf;
	return device;
}

/* --- a VF ----------------------------------------------------------------------------------- */

/* Routing ids go on behind the functions of the card: bus, device and function as one number. */
static void vf_address(const char *pf, unsigned int index, char ret[16])
{
	unsigned int domain, bus, slot, fn, rid;

	if (sscanf(pf, "%x:%x:%x.%x", &domain, &bus, &slot, &fn) != 4)
		sim_die("%s: no PCI address", pf);
	rid = (bus << 8 | slot << 3 | fn) + (unsigned int)tree_number(PCI "%s/sriov_offset", pf) +
	      index * (unsigned int)tree_number(PCI "%s/sriov_stride", pf);
	snprintf(ret, 16, "%04x:%02x:%02x.%x", domain & 0xffff, rid >> 8 & 0xff, rid >> 3 & 0x1f,
		 rid & 7);
}

/*
 * A VF's own config space has no ids (ffff: the kernel takes them from the PF), a PCI
 * Express and an MSI-X capability, and no bridge's bits.
 */
static void put_config(const char *dir, unsigned int vectors)
{
	cleanup_free char *path = xasprintf("%s/config", dir);
	unsigned char c[4096] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0x10, 0};

	c[0x34] = 0x40;
	c[0x40] = 0x10;
	c[0x41] = 0x9c;
	c[0x42] = 0x02;
	c[0x9c] = 0x11;
	c[0x9e] = (unsigned char)(vectors - 1);
	c[0x9f] = (unsigned char)((vectors - 1) >> 8);
	tree_put_data(c, sizeof(c), path);
}

/* BAR 0 of 2 MiB, 64-bit and prefetchable; then the lines of no resource. */
static void put_resource(const char *dir, unsigned int index)
{
	cleanup_str struct str text = {0};
	unsigned long long start = 0x2000000000ULL + index * 0x200000ULL;

	str_addf(&text, "0x%016llx 0x%016llx 0x000000000014220c", start, start + 0x1fffff);
	for (int i = 1; i < 7; i++)
		str_add(&text, "\n0x0000000000000000 0x0000000000000000 0x0000000000000000");
	tree_put(text.s, "%s/resource", dir);
}

static void put_ids(const char *dir, const char *pf)
{
	static const char *const same[] = {"vendor", "subsystem_vendor", "subsystem_device",
					   "class", "numa_node"};
	unsigned int id[4], class = (unsigned int)tree_number(PCI "%s/class", pf);
	cleanup_free char *alias = NULL, *device = NULL;

	id[0] = (unsigned int)tree_number(PCI "%s/vendor", pf);
	id[1] = vf_id(pf);
	id[2] = (unsigned int)tree_number(PCI "%s/subsystem_vendor", pf);
	id[3] = (unsigned int)tree_number(PCI "%s/subsystem_device", pf);
	for (size_t i = 0; i < array_len(same); i++) {
		cleanup_free char *text = tree_get(PCI "%s/%s", pf, same[i]);

		if (text)
			tree_put(text, "%s/%s", dir, same[i]);
	}
	device = xasprintf("0x%04x", id[1]);
	tree_put(device, "%s/device", dir);
	alias = xasprintf("pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X", id[0], id[1], id[2], id[3],
			  class >> 16, class >> 8 & 0xff, class & 0xff);
	tree_put(alias, "%s/modalias", dir);
}

static void join_group(const char *dir, const char *pf, const char *vf)
{
	unsigned int group;
	cleanup_free char *path = NULL;

	if (!tree_has(PCI "%s/iommu_group", pf))
		return;
	group = atomic_fetch_add(&next_group, 1);
	path = xasprintf(GROUPS "%u", group);
	tree_link(dir, "%s/devices/%s", path, vf);
	tree_link(path, "%s/iommu_group", dir);
}

static char *vf_driver(const char *pf)
{
	cleanup_free char *driver = tree_link_name(PCI "%s/driver", pf);

	for (size_t i = 0; driver && i < array_len(vf_drivers); i++)
		if (streq(vf_drivers[i].pf, driver))
			return xstrdup(vf_drivers[i].vf);
	return take_ptr(driver);
}

/* pci_iov_add_virtfn(): the device is there, then the links, then its driver has its turn. */
static void add_vf(const char *pf, unsigned int index)
{
	cleanup_free char *pf_dir = tree_follow(PCI "%s", pf), *dir = NULL;
	cleanup_free char *driver = vf_driver(pf);
	struct device *dev;
	char vf[16];

	vf_address(pf, index, vf);
	dir = xasprintf("%.*s/%s", (int)(strrchr(pf_dir, '/') - pf_dir), pf_dir, vf);
	dev = pci_add(vf, driver);
	pci_lock(dev);
	put_ids(dir, pf);
	put_config(dir, MSIX_VECTORS);
	put_resource(dir, index);
	tree_put("(null)", "%s/driver_override", dir);
	if (tree_has("%s/sriov_vf_total_msix", pf_dir))
		tree_put("0", "%s/sriov_vf_msix_count", dir);
	tree_link(dir, PCI "%s", vf);
	join_group(dir, pf, vf);
	tree_link(dir, "%s/virtfn%u", pf_dir, index);
	tree_link(pf_dir, "%s/physfn", dir);
	pci_attach(dev);
	pci_unlock(dev);
}

static void remove_vf(const char *pf, const char *link)
{
	cleanup_free char *vf = tree_link_name(PCI "%s/%s", pf, link);
	cleanup_free char *group = NULL;
	struct device *dev = vf ? pci_find(vf) : NULL;

	tree_remove(PCI "%s/%s", pf, link);
	if (!dev)
		return;
	pci_lock(dev);
	pci_detach(dev);
	group = tree_link_name(PCI "%s/iommu_group", vf);
	if (group)
		tree_remove(GROUPS "%s", group);
	pci_remove(vf);
	pci_unlock(dev);
}

bool sriov_remove_all(const char *pf)
{
	cleanup_strv struct strv names = {0};
	bool any = false;

	if (!tree_has(PCI "%s/sriov_numvfs", pf))
		return false;
	tree_list(&names, PCI "%s", pf);
	for (size_t i = 0; i < names.n; i++)
		if (str_starts(names.v[i], "virtfn")) {
			remove_vf(pf, names.v[i]);
			any = true;
		}
	tree_put("0", PCI "%s/sriov_numvfs", pf);
	return any;
}

/* --- sriov_numvfs --------------------------------------------------------------------------- */

static int enable(struct device *pf, unsigned int vfs)
{
	int r = sim_sleep(latency.enable, pf);

	for (unsigned int i = 0; r == 0 && i < vfs; i++) {
		r = sim_sleep(latency.create, pf);
		if (r == 0 && pf->gone)
			r = -EIO;
		if (r == 0)
			add_vf(pf->addr, i);
	}
	if (r < 0)
		sriov_remove_all(pf->addr);
	return r;
}

/* The part of the PF's driver, below both locks. */
static int configure(struct device *pf, const char *name, unsigned int vfs)
{
	cleanup_free char *count = NULL;
	unsigned int fewer = 0;
	int r;

	log_event("sriov %s %u", pf->addr, vfs);
	r = script_meet(OP_WRITE, name, pf, &fewer);
	vfs -= fewer < vfs ? fewer : vfs;
	if (r == 0 && vfs) {
		r = enable(pf, vfs);
	} else if (r == 0) {
		sriov_remove_all(pf->addr);
		r = sim_sleep(latency.disable, pf);
	}
	if (r == 0) {
		count = xasprintf("%u", vfs);
		tree_put(count, "%s", name);
	}
	log_event("sriov-end %s %s", pf->addr, log_result(r));
	return r;
}

/*
 * /proc/PID/stack of who writes: functions of the scheduler and of mutexes are left out of
 * it (kernel/stacktrace.c), so who waits for a lock is in sriov_numvfs_store() itself.
 */
static void put_stack(const char *driver)
{
	cleanup_free char *text = NULL;

	if (!sim_caller)
		return;
	text = xasprintf("%s%s%s[<0>] sriov_numvfs_store+0x9c/0x180\n"
			 "[<0>] kernfs_fop_write_iter+0x14e/0x200\n"
			 "[<0>] vfs_write+0x25c/0x450\n"
			 "[<0>] do_syscall_64+0x82/0x190",
			 driver ? "[<0>] sim_wait_for_firmware+0x42/0x90 [" : "",
			 driver ? driver : "", driver ? "]\n" : "");
	tree_put(text, "/proc/%d/stack", (int)sim_caller);
}

static void remove_stack(void)
{
	if (sim_caller)
		tree_remove("/proc/%d", (int)sim_caller);
}

static int change(struct device *pf, const char *name, unsigned int vfs)
{
	cleanup_free char *driver = NULL;
	unsigned int have = (unsigned int)tree_number("%s", name);
	int r;

	if (!pci_there(pf))
		return -ENODEV;
	if (vfs == have)
		return 0;
	driver = tree_link_name(PCI "%s/driver", pf->addr);
	if (!driver)
		return -ENOENT;
	if (vfs && have)
		return -EBUSY;
	pci_rescan_lock();
	put_stack(driver);
	r = configure(pf, name, vfs);
	pci_rescan_unlock();
	return r;
}

/* kstrtou16(text, 0): a number in C's notation, one newline may follow. */
static int parse_u16(const char *text, unsigned int *ret)
{
	unsigned long n;
	char *end;

	if (*text == '+')
		text++;
	if (*text < '0' || *text > '9')
		return -EINVAL;
	n = strtoul(text, &end, 0);
	end += *end == '\n';
	if (*end || n > UINT16_MAX)
		return -EINVAL;
	*ret = (unsigned int)n;
	return 0;
}

/* The function whose attribute it is, or NULL. */
static struct device *function_of(const char *name)
{
	const char *addr = name + strlen(PCI);
	cleanup_free char *which = xstrndup(addr, strcspn(addr, "/"));

	return pci_find(which);
}

int sriov_store_numvfs(const char *name, char *text)
{
	struct device *pf = function_of(name);
	unsigned int vfs;
	int r = parse_u16(text, &vfs);

	if (!pf)
		return -ENODEV;
	if (r < 0)
		return r;
	if (vfs > tree_number(PCI "%s/sriov_totalvfs", pf->addr))
		return -ERANGE;
	put_stack(NULL);
	pci_lock(pf);
	r = change(pf, name, vfs);
	pci_unlock(pf);
	remove_stack();
	return r;
}

/* kstrtobool(): the first letter decides, or the second of on and off. */
int sriov_store_autoprobe(const char *name, char *text)
{
	bool yes = strchr("yY1tT", *text) && *text;
	bool no = strchr("nN0fF", *text) && *text;
	int r;

	if ((*text == 'o' || *text == 'O') && text[1]) {
		yes = text[1] == 'n' || text[1] == 'N';
		no = text[1] == 'f' || text[1] == 'F';
	}
	if (!yes && !no)
		return -EINVAL;
	r = script_meet(OP_WRITE, name, function_of(name), NULL);
	return r < 0 ? r : tree_replace(yes ? "1" : "0", name);
}

/* What the PF's driver does: the table of the VF has another size then. 0: its own one. */
static int set_vectors(struct device *vf, unsigned int vectors)
{
	cleanup_free char *dir = tree_follow(PCI "%s", vf->addr);

	if (vectors > 2048)
		return -EOVERFLOW;
	put_config(dir, vectors ? vectors : MSIX_VECTORS);
	return 0;
}

/* sriov_vf_msix_count_store(): of a VF that no driver has, below the locks of PF and VF. */
int sriov_store_msix(const char *name, char *text)
{
	struct device *vf = function_of(name), *pf;
	cleanup_free char *physfn = vf ? tree_link_name(PCI "%s/physfn", vf->addr) : NULL;
	unsigned int vectors;
	int r = parse_u16(text, &vectors);

	pf = physfn ? pci_find(physfn) : NULL;
	if (r < 0)
		return r;
	if (!pf)
		return -ENODEV;
	pci_lock(pf);
	pci_lock(vf);
	if (tree_has(PCI "%s/driver", vf->addr))
		r = -EBUSY;
	else
		r = script_meet(OP_WRITE, name, vf, NULL);
	if (r == 0)
		r = set_vectors(vf, vectors);
	pci_unlock(vf);
	pci_unlock(pf);
	return r;
}

/* --- start ---------------------------------------------------------------------------------- */

/* Functions of the card, which share bus and device number. */
static unsigned int functions_of(const char *pf)
{
	cleanup_strv struct strv addrs = {0};
	unsigned int n = 0;

	tree_list(&addrs, "/sys/bus/pci/devices");
	for (size_t i = 0; i < addrs.n; i++)
		n += strncmp(addrs.v[i], pf, strlen(pf) - 1) == 0 &&
		     !tree_has(PCI "%s/physfn", addrs.v[i]);
	return n;
}

static void start_groups(void)
{
	cleanup_strv struct strv groups = {0};

	tree_list(&groups, "/sys/kernel/iommu_groups");
	for (size_t i = 0; i < groups.n; i++) {
		unsigned int n = (unsigned int)strtoul(groups.v[i], NULL, 10);

		if (n >= next_group)
			next_group = n + 1;
	}
}

void sriov_start(const char *pf)
{
	unsigned int total = (unsigned int)tree_number(PCI "%s/sriov_totalvfs", pf);
	unsigned int fn = (unsigned int)(pf[strlen(pf) - 1] - '0');
	cleanup_free char *offset = NULL, *device = xasprintf("%x", vf_id(pf));
	cleanup_free char *driver = tree_link_name(PCI "%s/driver", pf);

	start_groups();
	if (tree_has(PCI "%s/sriov_offset", pf))
		return; /* mounted before */
	offset = xasprintf("%u", functions_of(pf) - fn + fn * total);
	tree_put(offset, PCI "%s/sriov_offset", pf);
	tree_put("1", PCI "%s/sriov_stride", pf);
	tree_put(device, PCI "%s/sriov_vf_device", pf);
	if (driver &&
	    (streq(driver, "mlx5_core") || streq(driver, "ice"))) /* they share them out */
		tree_put("1024", PCI "%s/sriov_vf_total_msix", pf);
}
