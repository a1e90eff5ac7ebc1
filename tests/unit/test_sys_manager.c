/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which control groups are those of railhead's own services. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "sys/manager.h"

static void test_own_service(void **state)
{
	static const struct {
		const char *line;
		bool own;
	} t[] = {
		{"0::/system.slice/railhead-early.service", true},
		{"1:name=systemd:/system.slice/railhead-gate.service", true},
		{"0::/system.slice/system-railhead\\x2ddevice.slice/"
		 "railhead-device@0000:3b:00.0.service",
		 true},
		{"0::/lxc/one/system.slice/railhead-devices.service", true},
		{"0::/", false},
		{"", false},
		{"0::/system.slice", false},
		{"0::/system.slice/", false},
		{"0::/system.slice/railhead-", false},
		{"0::/system.slice/railhead-early.service/payload", false},
		{"0::/system.slice/railhead-ready.target", false},
		{"0::/system.slice/cron.service", false},
		{"0::/system.slice/getty@tty1.service", false},
		{"0::/user.slice/user-0.slice/session-3.scope", false},
		{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/railhead-x.service",
		 false},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++)
		if (is_own_service(t[i].line) != t[i].own)
			fail_msg("%s", t[i].line);
	assert_false(in_own_service()); /* nobody runs tests as one */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_service),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
