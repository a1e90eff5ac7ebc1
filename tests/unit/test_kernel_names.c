/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names that the kernel's documents have, and which absent file a machine may well lack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "sys/kernel_names.h"
#include "sys/kernel_names.inc"
#include "tree.h"

/* The tables are searched by halves: each of their lines is found. */
static void each_is_known(const char *table, bool (*known)(const struct tmp *t, const char *name),
			  const struct tmp *t)
{
	size_t n = 0;

	for (const char *line = table; *line; line += strcspn(line, "\n") + 1, n++) {
		cleanup_free char *name = xstrndup(line, strcspn(line, "\n"));

		if (!known(t, name))
			fail_msg("%s", name);
	}
	assert_true(n > 10);
}

static bool arg(const struct tmp *t, const char *name)
{
	(void)t;
	return kernel_arg_known(name);
}

static bool sysctl(const struct tmp *t, const char *name)
{
	(void)t;
	return sysctl_known(name);
}

static bool directory(const struct tmp *t, const char *name)
{
	cleanup_free char *path = xasprintf("/proc/sys/%s/anything", name);

	return kernel_path_may_lack(&t->root, path);
}

static bool word(const struct tmp *t, const char *name)
{
	cleanup_free char *path = xasprintf("/sys/kernel/mm/%s", name);

	return kernel_path_may_lack(&t->root, path);
}

static void test_tables(void **state)
{
	each_is_known(kernel_args, arg, *state);
	each_is_known(sysctls, sysctl, *state);
	each_is_known(sysctl_dirs, directory, *state);
	each_is_known(sysfs_words, word, *state);
}

static void test_args(void **state)
{
	static const char *const known[] = {"isolcpus=1-3",
					    "nohz_full=1",
					    "iommu=pt",
					    "quiet",
					    "default-hugepagesz=1G",
					    "mlx5_core.foo=1",
					    "rd.neednet",
					    "intel_iommu=on",
					    "pci=realloc",
					    "S",
					    "accept_memory",
					    "BOOT_IMAGE=/x",
					    "zswap.enabled=1"};
	static const char *const unknown[] = {"isolcpu=1",  "iomu=pt", "", "=",
					      "hugepage=3", "zz",      "A"};

	(void)state;
	for (size_t i = 0; i < array_len(known); i++)
		assert_true(kernel_arg_known(known[i]));
	for (size_t i = 0; i < array_len(unknown); i++)
		assert_false(kernel_arg_known(unknown[i]));
	cleanup_free char *near = kernel_arg_near("isolcpu=1-3"),
			  *none = kernel_arg_near("wwwwwwww");

	assert_string_equal(near, "isolcpus");
	assert_null(none);
}

static void test_sysctls(void **state)
{
	static const char *const known[] = {"vm/swappiness",
					    "net/core/rmem_max",
					    "net/ipv4/conf/all/rp_filter",
					    "net/ipv4/conf/eth0.5/arp_ignore",
					    "net/ipv4/neigh/default/gc_thresh3",
					    "net/ipv6/conf/*/disable_ipv6",
					    "fs/inotify/max_user_watches",
					    "net/rds/anything",
					    "kernel/numa_balancing",
					    "net/netfilter/nf_conntrack_max"};
	static const char *const unknown[] = {"vm/swapiness",
					      "net/core/rmem_mx",
					      "net/ipv4/config/all/rp_filter",
					      "net/ipv4/conf/all/rpfilter",
					      "net/ipv4/conf",
					      "net/ipv4/conf/all",
					      "net/netfilter/nf_conntrack_mx",
					      "net/brigde/bridge-nf-call-iptables",
					      "",
					      "vm"};

	(void)state;
	for (size_t i = 0; i < array_len(known); i++)
		assert_true(sysctl_known(known[i]));
	for (size_t i = 0; i < array_len(unknown); i++)
		assert_false(sysctl_known(unknown[i]));
	cleanup_free char *near = sysctl_near("vm/swapiness");

	assert_string_equal(near, "vm.swappiness");
}

static void test_interfaces(void **state)
{
	cleanup_free char *vlan = sysctl_interface("/proc/sys/net/ipv4/conf/eth0.5/rp_filter");
	cleanup_free char *neigh = sysctl_interface("/proc/sys/net/ipv6/neigh/ib0/locktime");

	(void)state;
	assert_string_equal(vlan, "eth0.5");
	assert_string_equal(neigh, "ib0");
	assert_null(sysctl_interface("/proc/sys/net/ipv4/ip_forward"));
	assert_null(sysctl_interface("net/ipv4/conf/eth0/rp_filter"));
	assert_null(sysctl_interface("carrier:0000:18:00.0"));
}

static void test_absent_paths(void **state)
{
	struct tmp *t = *state;
	static const struct {
		const char *path;
		bool may_lack;
	} paths[] = {
		{"/proc/sys/vm/compaction_proactiveness", true},
		{"/proc/sys/vm/swapiness", false},
		{"/proc/sys/net/ipv4/conf/eth7/rp_filter", true},
		{"/proc/sys/net/ipv4/conf/eth7/anything", true}, /* there is no eth7 */
		{"/proc/sys/net/ipv4/conf/eth0/arp_evict_nocarrier", true},
		{"/proc/sys/net/ipv4/conf/eth0/rpfilter", false}, /* there is eth0 */
		{"/proc/sys/net/bridge/bridge-nf-call-iptables", true},
		{"/proc/sys/net/bridge/anything", true},	    /* no br_netfilter */
		{"/proc/sys/net/netfilter/nf_conntrack_mx", false}, /* there is nf_conntrack */
		{"/sys/class/net/eth0/threaded", true},
		{"/sys/class/net/eth0/thraeded", false},
		{"/sys/class/net/eth7/thraeded", true},
		{"/sys/class/net/rail*/thraeded", true},
		{"/sys/class/net/eth0/queues/rx-*/rps_cpus", true},
		{"/sys/class/net/eth0/queues/rx-*/rps_cpu", false},
		{"/sys/class/infiniband/mlx5_0/anything", true},
		{"/sys/clas/net/eth0/mtu", false},
		{"/sys/kernel/mm/transparent_hugepage/enabled", true},
		{"/sys/kernel/mm/transparent_hugepages/enabled", false},
		{"/sys/kernel/mm/ksm/run", true},
		{"/sys/module/nvme/parameters/io_timeout", true}, /* no nvme */
		{"/sys/module/nvme_core/parameters/io_timeuot", false},
		{"/sys/devices/system/cpu/cpu9/cpufreq/scaling_governor", true},
		{"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", true},
		{"/sys/devices/system/cpu/cpu0/cpufreq/scaling_govenor", false},
		{"/sys/devices/system/node/node9/hugepages/hugepages-2048kB/nr_hugepages", true},
		{"/sys/block/nvme0n1/queue/schedular", true}, /* no such disk */
		{"/etc/anything", false},
	};

	tmp_write(t, "proc/sys/net/ipv4/conf/eth0/rp_filter", "0");
	tmp_write(t, "proc/sys/net/netfilter/nf_conntrack_max", "0");
	tmp_write(t, "sys/class/net/eth0/mtu", "1500");
	tmp_write(t, "sys/kernel/mm/hugepages/x", "");
	tmp_write(t, "sys/module/nvme_core/parameters/multipath", "Y");
	tmp_write(t, "sys/devices/system/cpu/cpu0/online", "1");
	tmp_write(t, "sys/devices/system/node/node0/x", "1");
	for (size_t i = 0; i < array_len(paths); i++)
		if (kernel_path_may_lack(&t->root, paths[i].path) != paths[i].may_lack)
			fail_msg("%s", paths[i].path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tables, tmp_setup, tmp_teardown),
		cmocka_unit_test(test_args),
		cmocka_unit_test(test_sysctls),
		cmocka_unit_test(test_interfaces),
		cmocka_unit_test_setup_teardown(test_absent_paths, tmp_setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
