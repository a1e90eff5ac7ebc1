/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who else sets what the profile sets: lines of files, and programs that manage a link. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/writers.h"
#include "kinds/checks.h"
#include "kinds/vf.h"
#include "plan/change.h"
#include "tree.h"

#define NIC "0000:18:00.0"

static void test_links(void **state)
{
	static const struct {
		const char *file, *text, *said;
	} t[] = {
		{"run/tuned/other", "", NULL},
		{"run/tuned/tuned.pid", "1", "tuned runs"},
		{"run/NetworkManager/devices/7", "[device]\nmanaged=false\n", "tuned runs"},
		{"run/NetworkManager/devices/7", "[device]\nmanaged=true\n",
		 "NetworkManager manages enp24s0"},
		{"run/systemd/netif/links/7", "ADMIN_STATE=unmanaged\n",
		 "NetworkManager manages enp24s0"},
		{"run/systemd/netif/links/7",
		 "ADMIN_STATE=configured\nNETWORK_FILE=/etc/systemd/network/10-rail.network\n",
		 "systemd-networkd manages enp24s0 by /etc/systemd/network/10-rail.network"},
	};
	struct tmp *tmp = *state;
	struct plan plan = {0};
	struct change *c = plan_add(&plan, "link", &kind_netlink, STAGE_DEVICES, PHASE_PORT,
				    (struct place){0}, "link/" NIC "/mtu");

	change_on(c, NIC, NULL);
	change_target(c, "link:" NIC "/mtu");
	tmp_write(tmp, "sys/bus/pci/devices/" NIC "/net/enp24s0/x", "");
	tmp_write(tmp, "sys/class/net/enp24s0/ifindex", "7\n");
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup(writer_files_free) struct writer_files files = {0};
		cleanup_free char *said = NULL;

		tmp_write(tmp, t[i].file, t[i].text);
		writer_files_read(&tmp->root, &files);
		said = writers_blame(&files, c);
		if (t[i].said)
			assert_string_equal(said, t[i].said);
		else
			assert_null(said);
	}
	plan_free(&plan);
}

/* Each file names one writer of one change, or none. */
static void test_lines(void **state)
{
	enum { SYSCTL, SCHEDULER, PARAM, BLACKLIST, NUMVFS, ARG, MTU, LIMIT, SUBJECTS };
	static const struct {
		int of;
		const char *file, *text, *by, *value; /* by NULL: none */
	} t[] = {
		{SYSCTL, "etc/sysctl.conf", "#vm.swappiness=1\n\tvm/swappiness =\t2 \n",
		 "/etc/sysctl.conf:2", "2"},
		{SYSCTL, "etc/sysctl.d/x.conf", "-vm.*=3\n", "/etc/sysctl.d/x.conf:1", "3"},
		{SYSCTL, "etc/sysctl.d/x.txt", "vm.swappiness=3\n", NULL, NULL},
		{SYSCTL, "etc/sysctl.d/x.conf", "vm.swappiness_x=3\nvm.swappiness\n", NULL, NULL},
		{SYSCTL, "etc/sysctl.d/60-railhead.conf", "vm.swappiness=3\n", NULL, NULL},
		{SYSCTL, "etc/sysctl.d/x.conf", "# Written by railhead for x\nvm.swappiness=3\n",
		 NULL, NULL},
		{SYSCTL, "etc/udev/rules.d/x.rules", "ACTION==\"add\", SYSCTL{vm/swappiness}=\"4\"",
		 "/etc/udev/rules.d/x.rules:1", "4"},
		{SYSCTL, "etc/udev/rules.d/x.rules", "RUN+=\"/bin/sysctl -w vm.swappiness=5\"",
		 "/etc/udev/rules.d/x.rules:1", "5"},
		{SYSCTL, "etc/default/grub.d/x.cfg",
		 "GRUB_CMDLINE_LINUX='a sysctl.vm.swappiness=6'", "/etc/default/grub.d/x.cfg:1",
		 "6"},
		{SYSCTL, "run/systemd/system/x.service.d/y.conf",
		 "ExecStartPre=/bin/sh -c 'echo 7 >/proc/sys/vm/swappiness'",
		 "/run/systemd/system/x.service.d/y.conf:1", "7"},
		{SYSCTL, "run/systemd/system/x.service.d/y.conf",
		 "ExecStartPre=/bin/sysctl vm.swappiness=8",
		 "/run/systemd/system/x.service.d/y.conf:1", "8"},
		{SYSCTL, "etc/systemd/system/x.service", "Description=vm.swappiness", NULL, NULL},
		{SCHEDULER, "etc/udev/rules.d/x.rules", "ATTR{queue/scheduler}:=\"none\"",
		 "/etc/udev/rules.d/x.rules:1", "none"},
		{SCHEDULER, "etc/udev/rules.d/x.rules",
		 "ATTR{queue/scheduler}==\"none\", ATTR{queue/nr_requests}=\"1\"", NULL, NULL},
		{SCHEDULER, "etc/udev/rules.d/x.rules", "ATTR{scheduler}!=\"none\"", NULL, NULL},
		{SCHEDULER, "usr/lib/tmpfiles.d/x.conf",
		 "w- /sys/block/sd?/queue/scheduler - - - - mq-deadline",
		 "/usr/lib/tmpfiles.d/x.conf:1", "mq-deadline"},
		{SCHEDULER, "usr/lib/tmpfiles.d/x.conf", "d /sys/block/sda/queue/scheduler", NULL,
		 NULL},
		{PARAM, "etc/modprobe.d/x.conf", "options ib-core a=1 netns-mode=0 b",
		 "/etc/modprobe.d/x.conf:1", "0"},
		{PARAM, "etc/modprobe.d/x.conf", "options ib_core_x netns_mode=0\noptions ib_core",
		 NULL, NULL},
		{PARAM, "etc/kernel/cmdline", "ro ib_core.netns_mode=1", "/etc/kernel/cmdline:1",
		 "1"},
		{BLACKLIST, "etc/modules-load.d/x.conf", "nouveau", "/etc/modules-load.d/x.conf:1",
		 NULL},
		{BLACKLIST, "etc/modprobe.d/x.conf", "blacklist nouveau_x", NULL, NULL},
		{BLACKLIST, "etc/modprobe.d/x.conf", "install nouveau /bin/true",
		 "/etc/modprobe.d/x.conf:1", NULL},
		{NUMVFS, "etc/udev/rules.d/x.rules", "ATTR{sriov_numvfs}=\"8\"",
		 "/etc/udev/rules.d/x.rules:1", "8"},
		{NUMVFS, "etc/rc.local", "echo 4 > /sys/class/net/eth0/device/sriov_numvfs",
		 "/etc/rc.local:1", "4"},
		{NUMVFS, "etc/rc.local", "echo 4 > /x/sriov_numvfs_old", NULL, NULL},
		{ARG, "etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet iommu=off x\"",
		 "/etc/default/grub:1", "off"},
		{ARG, "etc/default/grub", "GRUB_CMDLINE_XEN=\"iommu=off\"", NULL, NULL},
		{ARG, "etc/default/grub", "GRUB_CMDLINE_LINUX=\"intel_iommu=off\"", NULL, NULL},
		{MTU, "etc/systemd/network/x.link", "[Link]\nMTUBytes=1500",
		 "/etc/systemd/network/x.link:2", "1500"},
		{MTU, "etc/netplan/x.yaml", "      mtu: 9000", "/etc/netplan/x.yaml:1", "9000"},
		{MTU, "etc/network/interfaces", "  mtu 1500", "/etc/network/interfaces:1", "1500"},
		{MTU, "etc/network/interfaces", "  mtunnel 1500", NULL, NULL},
		{LIMIT, "etc/security/limits.d/x.conf", "* - memlock 64",
		 "/etc/security/limits.d/x.conf:1", "64"},
		{LIMIT, "etc/security/limits.conf", "* - nofile 64\nroot", NULL, NULL},
		{LIMIT, "etc/systemd/system/x.service.d/y.conf", "LimitMEMLOCK=8M",
		 "/etc/systemd/system/x.service.d/y.conf:1", "8M"},
		{LIMIT, "etc/systemd/system.conf", "DefaultLimitMEMLOCK=infinity",
		 "/etc/systemd/system.conf:1", "infinity"},
		{LIMIT, "etc/systemd/system.conf", "DefaultLimitMEMLOCKX=1\nDefaultLimitNOFILE=1",
		 NULL, NULL},
	};
	struct tmp *tmp = *state;
	struct plan plan = {0};
	struct change *c[SUBJECTS];

	for (int i = 0; i < SUBJECTS; i++)
		c[i] = plan_add(&plan, "sysctl",
				i == SYSCTL || i == SCHEDULER ? &kind_attr
				: i == LIMIT		      ? &kind_limit
							      : &kind_check,
				STAGE_EARLY, PHASE_SYSCTL, (struct place){0}, "x%d", i);
	change_target(c[SYSCTL], "/proc/sys/vm/swappiness");
	change_target(c[SCHEDULER], "/sys/block/sda/queue/scheduler");
	change_on(c[PARAM], "ib_core", &param_item);
	c[PARAM]->on.key = "netns_mode";
	c[LIMIT]->on.key = "memlock";
	change_on(c[BLACKLIST], "nouveau", &unloaded_item);
	change_on(c[NUMVFS], NIC, &vf_numvfs);
	change_on(c[ARG], "iommu=pt", &arrived_item);
	change_file(c[MTU], "/sys/bus/pci/devices/" NIC "/net/*/mtu");
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup(writer_files_free) struct writer_files files = {0};
		cleanup(writers_free) struct writers all = {0}, own = {0};

		tmp_write(tmp, t[i].file, t[i].text);
		writer_files_read(&tmp->root, &files);
		for (int s = 0; s < SUBJECTS; s++)
			writers_find(&files, c[s], &all);
		writers_find(&files, c[t[i].of], &own);
		if (all.list.n != (t[i].by != NULL) || own.list.n != all.list.n)
			fail_msg("%s: %zu writers, %zu of the change", t[i].text, all.list.n,
				 own.list.n);
		if (t[i].by)
			assert_string_equal(own.list.v[0].by, t[i].by);
		if (t[i].by && t[i].value)
			assert_string_equal(own.list.v[0].value, t[i].value);
		tree_remove(tmp, t[i].file);
	}
	plan_free(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_links, tmp_setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
