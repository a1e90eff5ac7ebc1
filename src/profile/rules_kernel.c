/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contradictions: sysctl and sysfs, of what other sections own or the kernel does not heed. */
#include "profile/rules.h"

#include <fnmatch.h>
#include <string.h>

/* net/ipv4/conf/eth0.100/x and net.ipv4.conf.eth0/100.x are the same; see sysctl.d(5). */
static char *as_path(const char *key)
{
	char *path = xstrdup(key);

	if (path[strcspn(path, "./")] == '/')
		return path;
	for (char *p = path; *p; p++)
		*p = *p == '.' ? '/' : *p == '/' ? '.' : *p;
	return path;
}

/* --- sysctl ------------------------------------------------------------------------------- */

static const struct {
	const char *path, *why;
} owned_sysctls[] = {
	{"vm/nr_hugepages",
	 "page pools have a section of their own; write hugepages: [{size: 2M, per_node: 512}]"},
	{"vm/nr_hugepages_mempolicy",
	 "page pools have a section of their own; write hugepages: [{size: 2M, per_node: 512}]"},
};

static void sysctls_have_no_section(struct ruling *r)
{
	const struct ynode *sysctl = section(r, "sysctl");

	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		const struct ynode *n = sysctl->keys.v[i];
		cleanup_free char *path = as_path(n->text);
		cleanup_free char *key = xasprintf("sysctl.%.80s", n->text);

		for (size_t j = 0; j < array_len(owned_sysctls); j++)
			if (fnmatch(path, owned_sysctls[j].path, FNM_PATHNAME | FNM_NOESCAPE) == 0)
				rule_error(r, n, key, "%s", owned_sysctls[j].why);
		if (streq(path, "net/ipv4/tcp_low_latency"))
			rule_warn(r, n, key,
				  "the kernel keeps this file for old scripts and does nothing "
				  "with it; leave it out");
	}
}

/* The same file by two spellings and with two values: the later would win unseen. */
static void sysctls_are_said_once(struct ruling *r)
{
	const struct ynode *sysctl = section(r, "sysctl");
	VEC(char *) paths = {0};

	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		const struct ynode *n = sysctl->keys.v[i];
		cleanup_free char *key = xasprintf("sysctl.%.80s", n->text);

		vec_push(&paths, as_path(n->text));
		for (size_t j = 0; j < i; j++)
			if (streq(paths.v[i], paths.v[j]))
				rule_error(r, n, key, "%.80s at %u:%u is the same file; keep one",
					   sysctl->keys.v[j]->text, sysctl->keys.v[j]->at.line,
					   sysctl->keys.v[j]->at.col);
	}
	for (size_t i = 0; i < paths.n; i++)
		free(paths.v[i]);
	vec_free(&paths);
}

/* --- what an argument says too ------------------------------------------------------------ */

static const struct ynode *sysctl_value(const struct ruling *r, const char *path)
{
	const struct ynode *sysctl = section(r, "sysctl");

	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		cleanup_free char *have = as_path(sysctl->keys.v[i]->text);

		if (streq(have, path))
			return line_value(sysctl->items.v[i]);
	}
	return NULL;
}

static void differ(struct ruling *r, const struct ynode *value, const char *key,
		   const struct ynode *arg)
{
	rule_error(r, value, key,
		   "%.80s at %u:%u of kernel_args.set says otherwise; make them agree, or drop one",
		   arg->text, arg->at.line, arg->at.col);
}

static void balancing_agrees(struct ruling *r)
{
	const struct ynode *arg = find_arg(r, "numa_balancing");
	const struct ynode *value = sysctl_value(r, "kernel/numa_balancing");

	if (arg && *scalar(value) &&
	    streq(arg_value(arg->text), "disable") != streq(value->text, "0"))
		differ(r, value, "sysctl.kernel.numa_balancing", arg);
}

static void huge_pages_agree(struct ruling *r)
{
	const char *path = "/sys/kernel/mm/transparent_hugepage/enabled";
	const struct ynode *arg = find_arg(r, "transparent_hugepage");
	const struct ynode *value = line_value(ynode_get(section(r, "sysfs"), path));

	if (arg && *scalar(value) && !streq(arg_value(arg->text), value->text))
		differ(r, value, "sysfs", arg);
}

/* --- sysfs -------------------------------------------------------------------------------- */

/* By the last part of the path, below dir. */
static const struct {
	const char *dir, *file, *why;
} owned_files[] = {
	{"/sys/", "sriov_numvfs",
	 "VFs have a section of their own; write sriov: {SET: {vfs: ...}}"},
	{"/sys/", "sriov_drivers_autoprobe",
	 "sriov: turns it off and on again as it makes VFs; leave it out"},
	{"/sys/", "driver_override", "write sriov: {SET: {vf: {driver: ...}}}"},
	{"/sys/", "nr_hugepages",
	 "page pools have a section of their own; write hugepages: [{size: 2M, per_node: 512}]"},
	{"/sys/", "nr_hugepages_mempolicy",
	 "page pools have a section of their own; write hugepages: [{size: 2M, per_node: 512}]"},
	{"/sys/", "bind",
	 "it is a command, not a value that can be held; write sriov: or modules:"},
	{"/sys/", "unbind",
	 "it is a command, not a value that can be held; write sriov: or modules:"},
	{"/sys/", "new_id",
	 "it is a command, not a value that can be held; write modules.options:"},
	{"/sys/", "remove_id",
	 "it is a command, not a value that can be held; write modules.options:"},
	{"/sys/", "drivers_probe", "it is a command, not a value that can be held; write sriov:"},
	{"/sys/", "uevent", "it is a command, not a value that can be held; leave it out"},
	{"/sys/bus/", "remove", "it takes the device away at each run; leave it out"},
	{"/sys/devices/", "remove", "it takes the device away at each run; leave it out"},
	{"/sys/bus/", "rescan", "it is a command, not a value that can be held; leave it out"},
	{"/sys/devices/", "rescan", "it is a command, not a value that can be held; leave it out"},
	{"/sys/class/", "rescan", "it is a command, not a value that can be held; leave it out"},
	{"/sys/bus/", "reset", "it resets the device at each run; leave it out"},
	{"/sys/devices/", "reset", "it resets the device at each run; leave it out"},
	{"/sys/", "reset_subordinate", "it resets the devices at each run; leave it out"},
	{"/sys/", "delete", "it takes the device away at each run; leave it out"},
	{"/sys/power/", "state", "it puts the machine to sleep; leave it out"},
	{"/sys/power/", "disk", "it concerns sleep to disk; leave it out"},
	{"/sys/kernel/iommu_groups/", "type",
	 "the kernel refuses it while a driver is bound; write kernel_args: {iommu: ...}"},
	{"/sys/", "traffic_class",
	 "it reads back in other words; write qos: {SET: {traffic_class: ...}}"},
};

static bool is_of(const char *name, const char *file)
{
	return streq(name, file) || (!streq(name, "*") && fnmatch(name, file, FNM_NOESCAPE) == 0);
}

static void sysfs_has_no_section(struct ruling *r)
{
	const struct ynode *sysfs = section(r, "sysfs");

	for (size_t i = 0; i < count(sysfs, YAML_MAP); i++) {
		const struct ynode *n = sysfs->keys.v[i];
		const char *slash = strrchr(n->text, '/');
		cleanup_free char *key = xasprintf("sysfs.%.120s", n->text);

		for (size_t j = 0; slash && j < array_len(owned_files); j++)
			if (is_of(slash + 1, owned_files[j].file) &&
			    str_starts(n->text, owned_files[j].dir))
				rule_error(r, n, key, "%s", owned_files[j].why);
	}
}

const struct rule rules_kernel[] = {
	RULE("sysctls-have-no-section", sysctls_have_no_section),
	RULE("sysctls-are-said-once", sysctls_are_said_once),
	RULE("balancing-agrees", balancing_agrees),
	RULE("huge-pages-agree", huge_pages_agree),
	RULE("sysfs-has-no-section", sysfs_has_no_section),
	NO_MORE_RULES,
};
