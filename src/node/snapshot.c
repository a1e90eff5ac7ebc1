/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "node/snapshot.h"

#include <errno.h>
#include <fnmatch.h>
#include <jansson.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "node/scrub.h"
#include "node/snapshot_info.h"
#include "node/uplinks.h"
#include "sys/archive.h"
#include "sys/clock.h"
#include "sys/read.h"

enum {
	LINKS_MAX = 40, /* on the way to a directory */
	CPUINFO_MAX = 65536,
	DEPTH_MAX = 12, /* depth of a whole tree */
};

static const uint64_t BUDGET_US = 120 * 1000000ULL;

/* Whether the directories of a row belong to netdevs, whose number may be large. */
enum scope {
	ALL,
	NOT_VF, /* netdevs, except netdevs of VFs and of containers */
};

/*
 * Files to capture in addition to those that the sections of a profile read (sections_files()).
 * dir: a pattern, which follows links; the directory itself is always captured, to record that it
 * exists. names: patterns of files and links in dir, separated by blanks. tree: include
 * subdirectories.
 */
struct row {
	const char *dir;
	const char *names;
	bool tree;
	enum scope scope;
};

static const struct row rows[] = {
	{"/proc", "cmdline cpuinfo meminfo version filesystems", false, ALL},
	{"/proc/driver/nvidia", "version params", false, ALL},
	{"/proc/driver/nvidia/gpus/*", "information", false, ALL},
	{"/proc/irq/*", "smp_affinity_list effective_affinity_list node", false, ALL},
	{"/proc/irq", "default_smp_affinity", false, ALL},
	{"/proc/sys/abi", "*", true, ALL},
	{"/proc/sys/debug", "*", true, ALL},
	{"/proc/sys/dev", "*", true, ALL},
	{"/proc/sys/fs", "*", false, ALL}, /* not fs/binfmt_misc, because a look mounts it */
	{"/proc/sys/fs/*", "max_* *_max", false, ALL},
	{"/proc/sys/kernel", "*", true, ALL},
	{"/proc/sys/net/core", "*", true, ALL},
	{"/proc/sys/net/unix", "*", true, ALL},
	{"/proc/sys/net/mptcp", "*", true, ALL},
	{"/proc/sys/net/ipv[46]", "*", false, ALL},
	{"/proc/sys/net/ipv[46]/route", "*", false, ALL},
	{"/proc/sys/net/ipv[46]/icmp", "*", false, ALL},
	{"/proc/sys/net/ipv[46]/conf/*", "*", false, NOT_VF},
	{"/proc/sys/net/ipv[46]/neigh/*", "*", false, NOT_VF},
	{"/proc/sys/sunrpc", "*", true, ALL},
	{"/proc/sys/user", "*", true, ALL},
	{"/proc/sys/vm", "*", true, ALL},

	{"/sys/class/dmi/id", "sys_vendor product_* board_* chassis_* bios_* ec_*", false, ALL},
	{"/sys/firmware/efi", "fw_platform_size", false, ALL},
	{"/sys/kernel/security", "lockdown", false, ALL},
	{"/sys/kernel/mm", "*", true, ALL},
	{"/sys/kernel/iommu_groups/*", "type name reserved_regions", false, ALL},
	{"/sys/kernel/iommu_groups/*/devices", "*", false, ALL},
	{"/sys/class/iommu/*", "device subsystem", false, ALL},
	{"/sys/class/iommu", "*", false, ALL},
	{"/sys/devices/virtual/workqueue", "cpumask", false, ALL},
	{"/sys/devices/system/clocksource/clocksource0", "*_clocksource", false, ALL},

	{"/sys/devices/system/cpu", "*", false, ALL},
	{"/sys/devices/system/cpu/smt", "*", false, ALL},
	{"/sys/devices/system/cpu/vulnerabilities", "*", false, ALL},
	{"/sys/devices/system/cpu/intel_pstate", "*", false, ALL},
	{"/sys/devices/system/cpu/amd_pstate", "*", false, ALL},
	{"/sys/devices/system/cpu/cpuidle", "*", false, ALL},
	{"/sys/devices/system/cpu/cpu*", "online cpufreq", false, ALL},
	{"/sys/devices/system/cpu/cpu*/topology", "*", false, ALL},
	{"/sys/devices/system/cpu/cpu*/cpufreq", "scaling_[dgm]* energy_performance_preference",
	 false, ALL},
	{"/sys/devices/system/cpu/cpu*/cpuidle/state*", "name disable latency", false, ALL},
	{"/sys/devices/system/node", "*", false, ALL},
	{"/sys/devices/system/node/node*", "cpulist cpumap distance meminfo cpu*", false, ALL},
	{"/sys/devices/system/node/node*/hugepages/*", "*", false, ALL},

	{"/sys/bus/pci", "drivers_autoprobe", false, ALL},
	{"/sys/bus/pci/devices", "*", false, ALL},
	{"/sys/bus/pci/devices/*",
	 "vendor device subsystem_vendor subsystem_device class revision modalias numa_node "
	 "local_cpu* irq enable msi_bus ari_enabled current_link_* max_link_* d3cold_allowed "
	 "driver_override sriov_totalvfs sriov_drivers_autoprobe sriov_offset sriov_stride "
	 "sriov_vf_device sriov_vf_total_msix reset_method config vpd driver physfn virtfn* "
	 "iommu_group iommu subsystem label index acpi_index mem_info_vram_total aer_dev_* "
	 "aer_rootport_*",
	 false, ALL},
	{"/sys/bus/pci/devices/*/link", "*", false, ALL},
	{"/sys/bus/pci/devices/*/power", "control", false, ALL},
	{"/sys/bus/pci/devices/*/msi_irqs", "*", false, ALL},
	/* also empty: a VF whose netdev or RDMA device is in a container's namespace */
	{"/sys/bus/pci/devices/*/net", "", false, ALL},
	{"/sys/bus/pci/devices/*/infiniband", "", false, ALL},
	{"/sys/bus/pci/devices/*/net/*", "device", false, ALL},
	{"/sys/bus/pci/devices/*/infiniband/*", "device", false, ALL},
	{"/sys/bus/pci/drivers/*", "module", false, ALL},
	{"/sys/bus/pci/slots/*", "address", false, ALL},

	{"/sys/class/net", "*", false, ALL},
	{"/sys/class/net/*",
	 "address addr_assign_type addr_len carrier dev_id dev_port device duplex flags "
	 "ifindex iflink mtu operstate phys_port_name speed type mode subsystem",
	 false, ALL},
	{"/sys/class/net/*/queues/*", "*ps_*", false, NOT_VF},
	{"/sys/class/net/*/ecn", "*", true, NOT_VF}, /* DOCA-OFED has this and the next two */
	{"/sys/class/net/*/qos", "*", true, NOT_VF},
	{"/sys/class/net/*/settings", "*", true, NOT_VF},
	{"/sys/class/infiniband", "*", false, ALL},
	{"/sys/class/infiniband/*",
	 "fw_ver hca_type board_id hw_rev node_type node_guid sys_image_guid device subsystem "
	 "parent",
	 false, ALL},
	{"/sys/class/infiniband/*/tc/*", "traffic_class", false, ALL},
	{"/sys/class/infiniband/*/ports/*", "state phys_state rate link_layer lid cap_mask", false,
	 ALL},
	{"/sys/class/infiniband/*/ports/*/gids", "[0-9] 1[0-5]", false, ALL},
	{"/sys/class/infiniband/*/ports/*/gid_attrs/*", "[0-9] 1[0-5]", false, ALL},

	{"/sys/block", "*", false, ALL},
	{"/sys/block/*", "device size queue removable", false, ALL},
	{"/sys/block/*/queue", "*", true, ALL},
	{"/sys/block/*/device", "model vendor numa_node device firmware_rev", false, ALL},
	{"/sys/class/nvme/*", "model firmware_rev transport device state numa_node", false, ALL},

	{"/sys/module/*", "version initstate srcversion", false, ALL},
	{"/sys/module/*/parameters", "*", false, ALL},
};

/*
 * Never read these: a read waits for a device lock or an interrupt on every CPU, or changes state.
 */
static const char *const never[] = {
	"uevent",	"rom",	       "resource[0-9]*",   "sriov_numvfs",     "cpuinfo_cur_freq",
	"new_id",	"bind",	       "unbind",	   "scaling_cur_freq", "remove",
	"stat_refresh", "drop_caches", "compact_memory",   "bitmap",	       "remove_id",
	"rescan",	"reset",       "clear_warn_count",
};

struct capture {
	const struct root *root;
	const struct node *node;
	struct tar_writer *tar;
	struct scrub scrub;
	struct strv lost; /* "PATH: why", listed in the archive */
	uint64_t deadline;
	void *seen; /* tsearch(3) tree of canonical paths */
	struct snapshot_result result;
};

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* True on the first call for this path. */
static bool first_time(struct capture *c, const char *path)
{
	char *copy = xstrdup(path);
	char **at = tsearch(copy, &c->seen, compare);

	if (*at == copy)
		return true;
	free(copy);
	return false;
}

/* --- the archive ---------------------------------------------------------------------------- */

/* Names in the archive have the numbers of scrub_name(); all else uses the paths of the machine. */

static int put_file(struct capture *c, const char *path, const char *data, size_t len,
		    struct err *err)
{
	cleanup_free char *name = scrub_name(&c->scrub, path + 1);

	c->result.files++;
	return tar_add_file(c->tar, name, data, len, err);
}

static int put_link(struct capture *c, const char *path, const char *target, struct err *err)
{
	cleanup_free char *name = scrub_name(&c->scrub, path + 1);
	cleanup_free char *to = scrub_name(&c->scrub, target);

	c->result.links++;
	return tar_add_link(c->tar, name, to, err);
}

static int put_dir(struct capture *c, const char *path, struct err *err)
{
	cleanup_free char *name = scrub_name(&c->scrub, path + 1);

	return tar_add_dir(c->tar, name, err);
}

/* --- links and directories ------------------------------------------------------------------ */

/* "/a/b" + "../c" -> "/a/c": the target of a link in directory dir. Neither contains links. */
static void join(char ret[PATH_MAX], const char *dir, const char *target)
{
	char path[PATH_MAX] = "";

	if (*target != '/')
		snprintf(path, sizeof(path), "%s", dir);
	while (*target) {
		size_t n = strcspn(target, "/"), len = strlen(path);

		if (n == 2 && strncmp(target, "..", 2) == 0) {
			char *slash = strrchr(path, '/');

			if (slash)
				*slash = '\0';
		} else if (n && !(n == 1 && *target == '.')) {
			snprintf(path + len, sizeof(path) - len, "/%.*s", (int)n, target);
		}
		target += n + strspn(target + n, "/");
	}
	snprintf(ret, PATH_MAX, "%s", path);
}

static int add_link(struct capture *c, const char *path, const char *target, struct err *err)
{
	return first_time(c, path) ? put_link(c, path, target, err) : 0;
}

/* The text of a link; NULL if path is not a link. */
static char *link_at(struct capture *c, const char *path)
{
	char *target = NULL;

	return read_link(c->root, &target, NULL, "%s", path) == 0 ? target : NULL;
}

/*
 * Resolves all links of a path and puts each into the archive. Returns 0, or -ELOOP or another
 * reason to leave the path out.
 */
static int resolve(struct capture *c, const char *path, char ret[PATH_MAX], struct err *err)
{
	char rest[PATH_MAX], done[PATH_MAX] = "";
	int links = 0;

	snprintf(rest, sizeof(rest), "%s", path);
	while (*rest) {
		char next[PATH_MAX], after[PATH_MAX];
		size_t n = strspn(rest, "/"), end = n + strcspn(rest + n, "/");
		cleanup_free char *target = NULL;

		if (snprintf(next, sizeof(next), "%s/%.*s", done, (int)(end - n), rest + n) >=
		    (int)sizeof(next))
			return -ENAMETOOLONG;
		snprintf(after, sizeof(after), "%s", rest + end);
		target = end > n ? link_at(c, next) : NULL;
		if (target) {
			char joined[PATH_MAX];
			int r = add_link(c, next, target, err);

			if (r < 0)
				return r;
			if (++links > LINKS_MAX)
				return -ELOOP;
			join(joined, done, target);
			if (snprintf(rest, sizeof(rest), "%s%s", joined, after) >= PATH_MAX)
				return -ENAMETOOLONG;
			*done = '\0'; /* from the top again, because the target may contain links */
			continue;
		}
		if (end > n)
			memcpy(done, next, sizeof(done));
		memcpy(rest, after, sizeof(rest));
	}
	memcpy(ret, done, PATH_MAX);
	return 0;
}

/* --- files ------------------------------------------------------------------------------------ */

static void lose(struct capture *c, const char *path, int why)
{
	enum { LISTED_MAX = 10000 };
	cleanup_free char *name = scrub_name(&c->scrub, path);
	cleanup_free char *line = xasprintf("%s: %s\n", name, err_text(why));

	if (why == -EACCES || why == -EPERM)
		c->result.denied++;
	else
		c->result.unreadable++;
	if (c->lost.n < LISTED_MAX)
		strv_add(&c->lost, line);
}

/* Users other than root get only the first 64 bytes of config space, without an error. */
static bool cut_short(struct capture *c, const char *path, size_t len)
{
	const char *name = strrchr(path, '/');
	struct stat st;

	return streq(name, "/config") && root_stat(c->root, &st, path) == 0 &&
	       len < (size_t)st.st_size;
}

static int add_file(struct capture *c, const char *path, struct err *err)
{
	cleanup_free char *data = NULL;
	cleanup_str struct str kept = {0};
	size_t len = 0;
	int r;

	if (scrub_refuses(path) || !first_time(c, path))
		return 0;
	/* One block per CPU: the first blocks describe all CPUs. */
	if (streq(path, "/proc/cpuinfo"))
		r = read_start(c->root, CPUINFO_MAX, &data, &len, NULL, path);
	else
		r = read_file(c->root, READ_TEXT_MAX, &data, &len, NULL, path);
	if (r < 0) {
		lose(c, path, r);
		return 0;
	}
	if (cut_short(c, path, len))
		lose(c, path, -EACCES);
	if (!scrub_file(&c->scrub, path, data ? data : "", len, &kept))
		return 0;
	return put_file(c, path, str_get(&kept), kept.len, err);
}

static bool is_listed(const char *names, const char *name)
{
	for (const char *p = names; *p; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");
		cleanup_free char *pattern = xstrndup(p, n);

		if (fnmatch(pattern, name, FNM_PERIOD) == 0)
			return true;
		p += n;
	}
	return false;
}

static bool is_never(const char *name)
{
	for (size_t i = 0; i < array_len(never); i++)
		if (fnmatch(never[i], name, 0) == 0)
			return true;
	return false;
}

/* Count the VFs, because reading the file waits for the device lock. */
static int add_numvfs(struct capture *c, const char *dir, const struct strv *names, struct err *err)
{
	char path[PATH_MAX], text[16];
	unsigned int n = 0;

	if (!strv_contains(names, "sriov_numvfs") ||
	    snprintf(path, sizeof(path), "%s/sriov_numvfs", dir) >= PATH_MAX ||
	    !first_time(c, path))
		return 0;
	for (size_t i = 0; i < names->n; i++)
		n += str_starts(names->v[i], "virtfn");
	snprintf(text, sizeof(text), "%u\n", n);
	return put_file(c, path, text, strlen(text), err);
}

static int add_dir(struct capture *c, const char *dir, const char *names, int depth,
		   struct err *err);

static int add_one(struct capture *c, const char *dir, const char *name, const char *below,
		   int depth, struct err *err)
{
	char path[PATH_MAX];
	cleanup_free char *target = NULL;
	struct stat st;

	if (clock_usec() > c->deadline)
		return err_set(err, -ETIMEDOUT, "the capture takes too long, at %s/%s", dir, name);
	if (is_never(name) || snprintf(path, sizeof(path), "%s/%s", dir, name) >= PATH_MAX)
		return 0;
	target = link_at(c, path);
	if (target)
		return add_link(c, path, target, err);
	if (root_stat(c->root, &st, path) < 0)
		return 0;
	if (S_ISREG(st.st_mode))
		return st.st_mode & 0444 ? add_file(c, path, err) : 0;
	if (S_ISDIR(st.st_mode))
		return depth > 0 ? add_dir(c, path, below, depth - 1, err) : 0;
	lose(c, path, -EBADFD);
	return 0;
}

/* dir must be canonical. */
static int add_dir(struct capture *c, const char *dir, const char *names, int depth,
		   struct err *err)
{
	cleanup_strv struct strv entries = {0};
	int r = 0;

	if (first_time(c, dir))
		r = put_dir(c, dir, err);
	if (r < 0 || read_dir(c->root, &entries, NULL, "%s", dir) < 0)
		return r;
	r = add_numvfs(c, dir, &entries, err);
	for (size_t i = 0; r == 0 && i < entries.n; i++)
		if (is_listed(names, entries.v[i]))
			r = add_one(c, dir, entries.v[i], "*", depth, err);
	return r;
}

/* --- rows ------------------------------------------------------------------------------------- */

static const struct pci_fn *fn_of_netdev(const struct node *node, const char *name)
{
	const struct pci_functions *functions = node_functions(node);
	for (size_t i = 0; i < functions->n; i++)
		if (strv_contains(&functions->v[i].net, name))
			return &functions->v[i];
	return NULL;
}

/* Whether the netdev in the path is within the scope of the row. */
static bool in_scope(const struct capture *c, const char *path, enum scope scope)
{
	static const char *const before[] = {"/conf/", "/neigh/", "/class/net/"};

	for (size_t i = 0; scope == NOT_VF && i < array_len(before); i++) {
		const char *p = strstr(path, before[i]);
		cleanup_free char *name = NULL;
		const struct pci_fn *fn;

		if (!p)
			continue;
		p += strlen(before[i]);
		name = xstrndup(p, strcspn(p, "/"));
		if (streq(name, "all") || streq(name, "default") || streq(name, "lo"))
			return true;
		fn = fn_of_netdev(c->node, name);
		return fn && !*fn->physfn;
	}
	return true;
}

static int add_row(struct capture *c, const struct row *row, struct err *err)
{
	cleanup_strv struct strv dirs = {0};
	int r = 0;

	/* Skip a directory that cannot be listed; continue with the others. */
	read_glob(c->root, row->dir, &dirs, NULL);
	for (size_t j = 0; r == 0 && j < dirs.n; j++) {
		char dir[PATH_MAX];
		struct stat st;

		if (!in_scope(c, dirs.v[j], row->scope) || root_stat(c->root, &st, dirs.v[j]) < 0 ||
		    !S_ISDIR(st.st_mode))
			continue;
		r = resolve(c, dirs.v[j], dir, err);
		if (r == -ELOOP || r == -ENAMETOOLONG) {
			lose(c, dirs.v[j], r);
			r = 0;
			continue;
		}
		if (r == 0 && *dir)
			r = add_dir(c, dir, row->names, row->tree ? DEPTH_MAX : 0, err);
	}
	return r;
}

static int add_files(struct capture *c, const char *pattern, struct err *err)
{
	const char *name = strrchr(pattern, '/');
	cleanup_free char *dir = xstrndup(pattern, (size_t)(name - pattern));

	return add_row(c, &(struct row){dir, name + 1, false, ALL}, err);
}

static int add_info(struct capture *c, struct err *err)
{
	json_t *doc, *names = json_array();
	cleanup_strv struct strv uplinks = {0};
	cleanup_free char *text = NULL;

	/* Record only names, because routes contain addresses. */
	node_uplinks(c->root, &uplinks);
	for (size_t i = 0; i < uplinks.n; i++) {
		cleanup_free char *name = scrub_name(&c->scrub, uplinks.v[i]);

		json_array_append_new(names, json_string(name));
	}
	doc = json_pack("{s:i, s:s, s:s, s:s, s:o}", "format", SNAPSHOT_FORMAT, "railhead",
			RAILHEAD_VERSION, "kernel", c->node->kernel, "arch", node_arch(c->node),
			"uplinks", names);
	text = doc ? json_dumps(doc, JSON_INDENT(2)) : NULL;

	json_decref(doc);
	if (!text)
		return err_set(err, -EINVAL, "the kernel's release is not text");
	return tar_add_file(c->tar, SNAPSHOT_INFO, text, strlen(text), err);
}

static int add_lost(struct capture *c, struct err *err)
{
	cleanup_str struct str text = {0};

	for (size_t i = 0; i < c->lost.n; i++)
		str_add(&text, c->lost.v[i]);
	return tar_add_file(c->tar, "railhead-unreadable.txt", str_get(&text), text.len, err);
}

int snapshot_write(const struct root *root, const struct node *node, const struct strv *more,
		   int fd, struct snapshot_result *ret, struct err *err)
{
	struct capture c = {.root = root, .node = node, .deadline = clock_usec() + BUDGET_US};
	int r = tar_create(fd, &c.tar, err);

	if (r == 0)
		r = add_info(&c, err);
	for (size_t i = 0; r == 0 && i < array_len(rows); i++)
		r = add_row(&c, &rows[i], err);
	for (size_t i = 0; r == 0 && i < more->n; i++)
		r = add_files(&c, more->v[i], err);
	if (r == 0)
		r = add_lost(&c, err);
	if (r == 0)
		r = tar_finish(c.tar, err);
	tar_free(c.tar);
	tdestroy(c.seen, free);
	scrub_free(&c.scrub);
	strv_free(&c.lost);
	if (r == 0)
		*ret = c.result;
	return r;
}

int snapshot_check(const struct root *root, struct err *err)
{
	cleanup_free char *text = NULL;
	json_t *doc;
	int format;

	if (read_text(root, &text, NULL, "%s", SNAPSHOT_INFO) < 0)
		return 0;
	doc = json_loads(text, 0, NULL);
	format = (int)json_integer_value(json_object_get(doc, "format"));
	json_decref(doc);
	if (format < 1 || format > SNAPSHOT_FORMAT)
		return err_set(err, -EPROTONOSUPPORT,
			       "snapshot format %d; this railhead reads 1..%d; upgrade", format,
			       SNAPSHOT_FORMAT);
	return 0;
}
