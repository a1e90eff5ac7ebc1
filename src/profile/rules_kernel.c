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
	 "the hugepages section sets page pools; write hugepages: [{size: 2M, per_node: 512}]"},
	{"vm/nr_hugepages_mempolicy",
	 "the hugepages section sets page pools; write hugepages: [{size: 2M, per_node: 512}]"},
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
		   "%.80s at %u:%u of kernel_args.set sets a different value; make the two agree, "
		   "or drop one",
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
	{"/sys/", "sriov_numvfs", "the sriov section makes VFs; write sriov: {SET: {vfs: ...}}"},
	{"/sys/", "sriov_drivers_autoprobe",
	 "sriov: turns it off and on again as it makes VFs; leave it out"},
	{"/sys/", "driver_override", "write sriov: {SET: {vf: {driver: ...}}}"},
	{"/sys/", "nr_hugepages",
	 "the hugepages section sets page pools; write hugepages: [{size: 2M, per_node: 512}]"},
	{"/sys/", "nr_hugepages_mempolicy",
	 "the hugepages section sets page pools; write hugepages: [{size: 2M, per_node: 512}]"},
	{"/sys/", "bind", "the file is a command, not a setting; write sriov: or modules:"},
	{"/sys/", "unbind", "the file is a command, not a setting; write sriov: or modules:"},
	{"/sys/", "new_id", "the file is a command, not a setting; write modules.options:"},
	{"/sys/", "remove_id", "the file is a command, not a setting; write modules.options:"},
	{"/sys/", "drivers_probe", "the file is a command, not a setting; write sriov:"},
	{"/sys/", "uevent", "the file is a command, not a setting; leave it out"},
	{"/sys/bus/", "remove", "each run would remove the device; leave it out"},
	{"/sys/devices/", "remove", "each run would remove the device; leave it out"},
	{"/sys/bus/", "rescan", "the file is a command, not a setting; leave it out"},
	{"/sys/devices/", "rescan", "the file is a command, not a setting; leave it out"},
	{"/sys/class/", "rescan", "the file is a command, not a setting; leave it out"},
	{"/sys/bus/", "reset", "each run would reset the device; leave it out"},
	{"/sys/devices/", "reset", "each run would reset the device; leave it out"},
	{"/sys/", "reset_subordinate", "each run would reset the devices; leave it out"},
	{"/sys/", "delete", "each run would remove the device; leave it out"},
	{"/sys/power/", "state", "the write puts the machine to sleep; leave it out"},
	{"/sys/power/", "disk", "the file is about sleep to disk; leave it out"},
	{"/sys/kernel/iommu_groups/", "type",
	 "the kernel rejects writes while a driver is bound; write kernel_args: {iommu: ...}"},
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
