/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/sysmacros.h>

#include "loader/stack.h"
#include "tree.h"

/*
 * Devices as sysfs shows them: {number, name, disk it is a partition of, slaves, dm uuid}.
 * uuid "md": an array. A dm volume is named like its device.
 */
struct device {
	const char *number, *name, *disk, *slaves, *uuid;
};

static const struct device machine[] = {
	{"8:0", "sda", NULL, NULL, NULL},
	{"8:2", "sda2", "sda", NULL, NULL},
	{"8:16", "sdb", NULL, NULL, NULL},
	{"8:17", "sdb1", "sdb", NULL, NULL},
	{"259:0", "nvme0n1", NULL, NULL, NULL},
	{"259:1", "nvme0n1p1", "nvme0n1", NULL, NULL},
	/* an array of partitions, one of disks with a partition in it, LVM on the array */
	{"9:0", "md0", NULL, "sda2 sdb1", "md"},
	{"9:127", "md127", NULL, "sda sdb", "md"},
	{"259:5", "md127p1", "md127", NULL, NULL},
	{"253:0", "dm-0", NULL, "md0", "LVM-0123456789abcdef"},
	{"253:1", "dm-1", NULL, "sda2", "CRYPT-LUKS2-01-luks-01"},
	/* LVM on LUKS, multipath with a partition, and LVM on that */
	{"253:2", "dm-2", NULL, "dm-1", "LVM-fedcba9876543210"},
	{"253:3", "dm-3", NULL, "sda sdb", "mpath-3600a0b8000"},
	{"253:4", "dm-4", NULL, "dm-3", "part2-mpath-3600a0b8000"},
	{"253:5", "dm-5", NULL, "dm-4", "LVM-aa"},
	/* linear by hand, with a uuid and without; a partition that kpartx found in a volume */
	{"253:6", "dm-6", NULL, "sda", "mine"},
	{"253:7", "dm-7", NULL, "sda", ""},
	{"253:8", "dm-8", NULL, "dm-0", "part1-LVM-0123456789abcdef"},
	{"253:9", "dm-9", NULL, "sdb", "part1-loop"},
	{"253:10", "dm-10", NULL, "sdb", "party-of-mpath-"},
	{"252:0", "bcache0", NULL, "sda2 nvme0n1p1", NULL},
	/* each the slave of the other: no kernel makes that */
	{"253:20", "dm-20", NULL, "dm-21", "part1-x"},
	{"253:21", "dm-21", NULL, "dm-20", "part1-x"},
};

static void put(const struct tmp *t, const char *text, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void put(const struct tmp *t, const char *text, const char *fmt, ...)
{
	cleanup_free char *name = NULL;
	struct tree_file f;
	va_list ap;

	va_start(ap, fmt);
	assert_true(vasprintf(&name, fmt, ap) >= 0);
	va_end(ap);
	f = (struct tree_file){name, text};
	tree_write(t, &f, 1);
}

static void add(const struct tmp *t, const struct device *d)
{
	cleanup_free char *dir = d->disk ? xasprintf("%s/%s", d->disk, d->name) : xstrdup(d->name);
	cleanup_free char *link = xasprintf("->../../devices/x/block/%s", dir);
	cleanup_free char *slaves = xstrdup(d->slaves ? d->slaves : "");

	put(t, "1\n", "sys/devices/x/block/%s/size", dir);
	put(t, link, "sys/class/block/%s", d->name);
	put(t, link, "sys/dev/block/%s", d->number);
	if (d->disk)
		put(t, "1\n", "sys/devices/x/block/%s/partition", dir);
	for (char *s = strtok(slaves, " "); s; s = strtok(NULL, " "))
		put(t, "->../../other", "sys/devices/x/block/%s/slaves/%s", dir, s);
	if (d->uuid && streq(d->uuid, "md")) {
		put(t, "raid1\n", "sys/devices/x/block/%s/md/level", dir);
	} else if (d->uuid) {
		put(t, d->uuid, "sys/devices/x/block/%s/dm/uuid", dir);
		put(t, d->name, "sys/devices/x/block/%s/dm/name", dir);
	}
}

static void build(const struct tmp *t)
{
	for (size_t i = 0; i < array_len(machine); i++)
		add(t, &machine[i]);
}

static dev_t number(const char *name)
{
	unsigned int maj, min;

	for (size_t i = 0; i < array_len(machine); i++)
		if (streq(machine[i].name, name)) {
			assert_int_equal(sscanf(machine[i].number, "%u:%u", &maj, &min), 2);
			return makedev(maj, min);
		}
	fail_msg("no device %s", name);
	return 0;
}

static void test_disks_below(void **state)
{
	static const struct {
		const char *name, *disks;
	} t[] = {
		{"sda2", "sda"},	  {"sdb", "sdb"},
		{"md0", "sda sdb"},	  {"dm-0", "sda sdb"},
		{"md127p1", "sda sdb"},	  {"dm-2", "sda"},
		{"dm-5", "sda sdb"},	  {"bcache0", "nvme0n1 sda"},
		{"nvme0n1p1", "nvme0n1"}, {"dm-20", ""},
	};
	const struct tmp *tmp = *state;

	build(tmp);
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_strv struct strv found = {0};
		cleanup_str struct str line = {0};

		disks_below(&tmp->root, number(t[i].name), &found);
		for (size_t j = 0; j < found.n; j++)
			str_addf(&line, "%s%s", j ? " " : "", found.v[j]);
		if (!streq(str_get(&line), t[i].disks))
			fail_msg("%s: '%s'", t[i].name, str_get(&line));
	}
}

static void test_unwritable(void **state)
{
	static const struct {
		const char *name, *what; /* NULL: GRUB can write there */
	} t[] = {
		{"sda", NULL},
		{"sda2", NULL},
		{"nvme0n1p1", NULL},
		{"md0", "the RAID array /dev/md0"},
		{"md127p1", "the RAID array /dev/md127"},
		{"dm-0", "the LVM volume dm-0"},
		{"dm-1", "the encrypted volume dm-1"},
		{"dm-2", "the LVM volume dm-2"},
		{"dm-3", NULL},
		{"dm-4", NULL},
		{"dm-5", "the LVM volume dm-5"},
		{"dm-6", "the device-mapper volume dm-6"},
		{"dm-7", "the device-mapper volume dm-7"},
		{"dm-8", "the LVM volume dm-0"},
		{"dm-9", NULL},
		{"dm-10", "the device-mapper volume dm-10"},
		{"bcache0", "/dev/bcache0, which lies on /dev/nvme0n1p1"},
		{"dm-20", "lies on too many layers of devices"},
	};
	const struct tmp *tmp = *state;

	build(tmp);
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *what = stack_unwritable(&tmp->root, number(t[i].name));

		if (!t[i].what != !what || (what && !strstr(what, t[i].what)))
			fail_msg("%s: %s", t[i].name, what ? what : "writable");
	}
	/* an anonymous device, and one that is not there */
	assert_null(stack_unwritable(&tmp->root, makedev(0, 37)));
	assert_null(stack_unwritable(&tmp->root, makedev(8, 99)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_disks_below, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_unwritable, tmp_setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
