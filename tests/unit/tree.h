/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines as small trees below a test's own root: see profile_tmp.h for files. Include
 * after cmocka.h.
 */
#pragma once

#include <errno.h>

#include "base/mem.h"
#include "profile_tmp.h"

/* What is left of the message when it does not hold text is printed, then the test fails. */
#define assert_text(haystack, needle)                                \
	do {                                                         \
		const char *h_ = (haystack), *n_ = (needle);         \
		if (!strstr(h_, n_))                                 \
			fail_msg("'%s' does not hold '%s'", h_, n_); \
	} while (0)

static inline void tree_link(const struct tmp *t, const char *name, const char *target)
{
	const char *path = tmp_path(t, name);

	unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

static inline void tree_dir(const struct tmp *t, const char *name)
{
	assert_true(mkdir(tmp_path(t, name), 0755) == 0 || errno == EEXIST);
}

static inline void tree_remove(const struct tmp *t, const char *name)
{
	assert_int_equal(remove(tmp_path(t, name)), 0);
}

static inline bool tree_has(const struct tmp *t, const char *name)
{
	struct stat st;

	return lstat(tmp_path(t, name), &st) == 0;
}

/* The text of a file of the tree. Static buffer. */
static inline const char *tree_text(const struct tmp *t, const char *name)
{
	static char text[65536];
	FILE *f = fopen(tmp_path(t, name), "r");

	if (!f)
		fail_msg("%s: %s", name, strerror(errno));
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

struct tree_file {
	const char *name, *text; /* text "->X": a link to X */
};

static inline void tree_write(const struct tmp *t, const struct tree_file *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(files[i].text, "->", 2) == 0)
			tree_link(t, files[i].name, files[i].text + 2);
		else
			tmp_write(t, files[i].name, files[i].text);
}

/* A PCI function as sysfs shows it; dev: its directory below sys/devices. */
struct tree_fn {
	const char *addr, *ids; /* "15b3:1021" */
	const char *class;
	const char *numa;
	const char *driver; /* or NULL */
	const char *net;    /* its netdev, or NULL */
	const char *vfs;    /* sriov_totalvfs, or NULL */
	const char *physfn; /* of a VF */
	const char *subsystem;
};

static inline void tree_fn_file(const struct tmp *t, const char *addr, const char *file,
				const char *fmt, ...)
{
	cleanup_free char *name = xasprintf("sys/devices/pci0000:00/%s/%s", addr, file);
	cleanup_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	assert_true(vasprintf(&text, fmt, ap) >= 0);
	va_end(ap);
	if (strncmp(text, "->", 2) == 0)
		tree_link(t, name, text + 2);
	else
		tmp_write(t, name, text);
}

static inline void tree_pci(const struct tmp *t, const struct tree_fn *fn)
{
	cleanup_free char *bus = xasprintf("sys/bus/pci/devices/%s", fn->addr);
	cleanup_free char *dev = xasprintf("../../../devices/pci0000:00/%s", fn->addr);

	tree_link(t, bus, dev);
	tree_fn_file(t, fn->addr, "vendor", "0x%.4s\n", fn->ids);
	tree_fn_file(t, fn->addr, "device", "0x%.4s\n", fn->ids + 5);
	tree_fn_file(t, fn->addr, "class", "%s\n", fn->class);
	tree_fn_file(t, fn->addr, "numa_node", "%s\n", fn->numa ? fn->numa : "-1");
	if (fn->subsystem) {
		tree_fn_file(t, fn->addr, "subsystem_vendor", "0x%.4s\n", fn->subsystem);
		tree_fn_file(t, fn->addr, "subsystem_device", "0x%.4s\n", fn->subsystem + 5);
	}
	if (fn->driver)
		tree_fn_file(t, fn->addr, "driver", "->../../../bus/pci/drivers/%s", fn->driver);
	if (fn->physfn)
		tree_fn_file(t, fn->addr, "physfn", "->../%s", fn->physfn);
	if (fn->vfs) {
		tree_fn_file(t, fn->addr, "sriov_totalvfs", "%s\n", fn->vfs);
		tree_fn_file(t, fn->addr, "sriov_numvfs", "0\n");
		tree_fn_file(t, fn->addr, "sriov_drivers_autoprobe", "1\n");
	}
	if (fn->net) {
		cleanup_free char *flags = xasprintf("net/%s/flags", fn->net);
		cleanup_free char *class = xasprintf("sys/class/net/%s", fn->net);
		cleanup_free char *target =
			xasprintf("../../devices/pci0000:00/%s/net/%s", fn->addr, fn->net);

		tree_fn_file(t, fn->addr, flags, "0x1003\n");
		tree_link(t, class, target);
	}
}
