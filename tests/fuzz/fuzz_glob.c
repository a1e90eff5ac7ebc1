/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patterns of profiles walked over a small tree with links that go round, as sysfs has them,
 * against glob(3). That a walk ends soon is what libFuzzer's -timeout asserts.
 */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/read.h"

static const struct {
	const char *path, *link; /* link: NULL for a file, "" for a directory */
} tree[] = {
	{"sys", ""},
	{"sys/bus", ""},
	{"sys/bus/pci", ""},
	{"sys/bus/pci/devices", ""},
	{"sys/devices", ""},
	{"sys/devices/0000:3b:00.0", ""},
	{"sys/devices/0000:3b:00.0/numa_node", NULL},
	{"sys/devices/0000:3b:00.0/subsystem", "../../bus/pci"},
	{"sys/devices/0000:3b:00.0/.hidden", NULL},
	{"sys/devices/0000:3b:00.1", ""},
	{"sys/devices/0000:3b:00.1/numa_node", NULL},
	{"sys/devices/0000:3b:00.1/physfn", "../0000:3b:00.0"},
	{"sys/bus/pci/devices/0000:3b:00.0", "../../../devices/0000:3b:00.0"},
	{"sys/bus/pci/devices/0000:3b:00.1", "../../../devices/0000:3b:00.1"},
	{"sys/block", ""},
	{"sys/block/nvme0n1", ""},
	{"sys/block/nvme0n1/scheduler", NULL},
	{"sys/block/[x]", NULL},
	{"sys/block/a-b", ""},
	{"sys/block/a-b/x", NULL},
	{"sys/block/a", ""},
	{"sys/block/a/x", NULL},
};

static void make_tree(struct root *root)
{
	cleanup_free char *dir = fuzz_dir();

	for (size_t i = 0; i < array_len(tree); i++) {
		cleanup_free char *path = xasprintf("%s/%s", dir, tree[i].path);

		if (!tree[i].link)
			close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
		else if (*tree[i].link)
			must(symlink(tree[i].link, path) == 0);
		else
			must(mkdir(path, 0755) == 0);
	}
	must(root_init(root, dir, NULL) == 0);
}

/* What check takes as a path, and where both walks mean the same by every character. */
static bool comparable(const char *pattern)
{
	size_t len = strlen(pattern);

	if (!str_starts(pattern, "/") || strpbrk(pattern, "\\") || strlen(pattern) > 200)
		return false;
	/* Whether a bracket may hold a slash is left open by POSIX. */
	if (strchr(pattern, '[') && !strchr(pattern, ']'))
		return false;
	return !strstr(pattern, "//") && !strstr(pattern, "/.") && pattern[len - 1] != '/';
}

static void against_libc(const struct root *root, const char *pattern, struct strv *ours)
{
	cleanup_free char *full = xasprintf("%s%s", root->path, pattern);
	size_t skip = strlen(root->path);
	glob_t g = {0};
	int r = glob(full, 0, NULL, &g);

	if (r == 0 || r == GLOB_NOMATCH) {
		strv_sort(ours);
		if (ours->n != g.gl_pathc)
			fprintf(stderr, "%s: %zu, libc has %zu\n", pattern, ours->n, g.gl_pathc);
		must(ours->n == g.gl_pathc);
		for (size_t i = 0; i < ours->n; i++)
			must(streq(ours->v[i], g.gl_pathv[i] + skip));
	}
	globfree(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct root root = {.fd = -1};
	cleanup_free char *pattern = xstrndup((const char *)data, size);
	cleanup_strv struct strv found = {0};
	struct err err = {0};
	int r;

	if (root.fd < 0)
		make_tree(&root);
	r = read_glob(&root, pattern, &found, &err);
	must((r < 0) == (*err.text != '\0'));
	if (r < 0)
		return 0;
	for (size_t i = 0; i < found.n; i++) {
		must(*found.v[i] == '/' || !*found.v[i]);
		must(root_exists(&root, "%s/", found.v[i]) || root_exists(&root, "%s", found.v[i]));
	}
	if (comparable(pattern) && found.n < 1000)
		against_libc(&root, pattern, &found);
	return 0;
}
