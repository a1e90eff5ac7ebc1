/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "base/words.h"

static void test_oppose(void **state)
{
	static const struct {
		const char *a, *b;
		bool oppose;
	} t[] = {
		{"on", "off", true},
		{"sm_on", "sm_off", true},
		{"sm_on", "off", false},
		{"sm_on", "sp_off", false},
		{"igfx_off", "off", false},
		{"on", "on", false},
		{"option", "optioff", false}, /* no word ends in on by chance */
		{"pt", "nopt", true},
		{"force", "noforce", true},
		{"nomerge", "merge", true},
		{"nodac", "nomerge", false},
		{"realloc", "realloc=off", true},
		{"realloc", "realloc=on", false},
		{"realloc=on", "realloc=off", true},
		{"realloc", "realloc", false},
		{"hpmemsize=1M", "hpmemsize=2M", true},
		{"hpmemsize=1M", "hpiosize=2M", false},
		{"hpmemsize=1M", "hpmemsize=1M", false},
		{"pcie_bus_perf", "pcie_bus_safe", true},
		{"pcie_bus_perf", "pcie_bus_perf", false},
		{"pcie_bus_perf", "pcie_scan_all", false},
		{"pgtbl_v1", "pgtbl_v2", true},
		{"active", "passive", true},
		{"active", "no_hwp", false},
		{"", "", false},
		{"", "no", false},
		{"=", "=off", true},
		{"on", "", false},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		if (words_oppose(t[i].a, t[i].b) != t[i].oppose)
			fail_msg("words_oppose(\"%s\", \"%s\")", t[i].a, t[i].b);
		if (words_oppose(t[i].b, t[i].a) != t[i].oppose)
			fail_msg("words_oppose(\"%s\", \"%s\")", t[i].b, t[i].a);
	}
}

static void test_modes(void **state)
{
	static const struct {
		const char *arg, *mode;
	} t[] = {
		{"rescue", "rescue mode"},
		{"rescued", NULL},
		{"1", "rescue mode"},
		{"11", NULL},
		{"rd.break", "an initramfs stopped for debugging"},
		{"rd.break=cmdline", "an initramfs stopped for debugging"},
		{"rd.breakage", NULL},
		{"break", "an initramfs stopped for debugging"},
		{"break=init", "an initramfs stopped for debugging"},
		{"breakage", NULL},
		{"x.break=init", NULL},
		{"rd.emergency", "emergency mode"},
		{"rd.emergency=reboot", NULL},
		{"systemd.unit=emergency.target", "emergency mode"},
		{"systemd.unit=emergency", NULL},
		{"systemd.unit=kdump-tools-dump.service", "a crash kernel"},
		{"rd.systemd.unit=rescue.target", "rescue mode"},
		{"systemd.unit=multi-user.target", NULL},
		{"init=/bin/sh", "another init"},
		{"init=", "another init"},
		{"init=/usr/lib/systemd/systemd", NULL},
		{"rdinit=/nonexistent", NULL},
		{"root=/dev/nfs", "a root file system over the network"},
		{"root=/dev/nfs1", NULL},
		{"root=nbd:10.0.0.1:1", "a root file system over the network"},
		{"root=UUID=1", NULL},
		{"rd.live.image", "a live system"},
		{"boot=live", "a live system"},
		{"boot=local", NULL},
		{"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		const char *mode = arg_boot_mode(t[i].arg);

		if (!mode != !t[i].mode || (mode && !streq(mode, t[i].mode)))
			fail_msg("arg_boot_mode(\"%s\"): %s", t[i].arg, mode ? mode : "none");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oppose),
		cmocka_unit_test(test_modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
