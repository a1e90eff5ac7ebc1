/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who else sets what the profile sets: links, where a tree has no netlink to look at them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/writers.h"
#include "plan/kind.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_links, tmp_setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
