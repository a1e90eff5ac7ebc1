/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/kernel_names.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "sys/kernel_names.inc"
#include "sys/read.h"
#include "sys/sysctl_d.h"

/* The names of a table, one on each line, sorted by bytes. */
struct names {
	const char *text;
	size_t len;
};
#define NAMES(table)                       \
	(struct names)                     \
	{                                  \
		(table), sizeof(table) - 1 \
	}

static size_t line_len(const char *line)
{
	return strcspn(line, "\n");
}

static int compare_line(const char *name, const char *line)
{
	size_t len = line_len(line), own = strlen(name);
	int r = memcmp(name, line, own < len ? own : len);

	return r ?: (own > len) - (own < len);
}

static bool names_have(struct names t, const char *name)
{
	size_t low = 0, high = t.len; /* starts of lines */

	while (low < high) {
		size_t line = low + (high - low) / 2;
		int r;

		while (line > low && t.text[line - 1] != '\n')
			line--;
		r = compare_line(name, t.text + line);
		if (r == 0)
			return true;
		if (r < 0)
			high = line;
		else
			low = line + line_len(t.text + line) + 1;
	}
	return false;
}

/* Replaces the "*" in a path of the table by the interface in path. */
static void for_same_interface(char **line, const char *path)
{
	const char *star = strchr(*line, '*');
	cleanup_free char *dir = NULL;

	for (size_t i = 0; star && i < 3; i++)
		path += strcspn(path, "/") + (strchr(path, '/') != NULL);
	if (!star || !strchr(path, '/'))
		return;
	dir = xasprintf("%.*s%.*s%s", (int)(star - *line), *line, (int)strcspn(path, "/"), path,
			star + 1);
	free(*line);
	*line = take_ptr(dir);
}

static char *nearest(struct names t, const char *name)
{
	char *near = NULL;
	size_t best = SIZE_MAX;

	for (size_t at = 0; at < t.len; at += line_len(t.text + at) + 1) {
		cleanup_free char *line = xstrndup(t.text + at, line_len(t.text + at));

		for_same_interface(&line, name);
		if (str_is_near(name, line, &best)) {
			free(near);
			near = take_ptr(line);
		}
	}
	return near;
}

char *kernel_name_hint(const char *near)
{
	return near ? xasprintf("did you mean '%s'?", near) : xstrdup("is the name misspelt?");
}

/* --- arguments of the kernel -------------------------------------------------------------- */

/* kernel/params.c: parameq() treats - and _ as equal. */
static char *arg_name(const char *arg)
{
	char *name = xstrndup(arg, strcspn(arg, "="));

	for (char *p = name; *p; p++)
		*p = *p == '-' ? '_' : *p;
	return name;
}

bool kernel_arg_known(const char *arg)
{
	cleanup_free char *name = arg_name(arg);

	return strchr(name, '.') || names_have(NAMES(kernel_args), name);
}

char *kernel_arg_near(const char *arg)
{
	cleanup_free char *name = arg_name(arg);

	return nearest(NAMES(kernel_args), name);
}

/* --- sysctls ------------------------------------------------------------------------------ */

/* Length of "net/ipv4/conf/", a directory that has a subdirectory for each interface. */
static size_t of_interfaces(const char *path)
{
	static const char *const dirs[] = {"net/ipv4/conf/", "net/ipv4/neigh/", "net/ipv6/conf/",
					   "net/ipv6/neigh/"};

	for (size_t i = 0; i < array_len(dirs); i++)
		if (str_starts(path, dirs[i]))
			return strlen(dirs[i]);
	return 0;
}

/*
 * nf_conntrack_standalone.c, br_netfilter_hooks.c, net/sunrpc/sysctl.c, xprtrdma/transport.c and
 * svc_rdma.c, fs/lockd/svc.c, fs/nfs/sysctl.c and nfs4sysctl.c.
 */
const struct sysctl_module *sysctl_module_of(const char *path)
{
	static const struct sysctl_module rows[] = {
		{PROC_SYS "net/netfilter/nf_conntrack_", "nf_conntrack", "nf_nat"},
		{PROC_SYS "net/netfilter/nf_flowtable_", "nf_conntrack", "nf_nat"},
		{PROC_SYS "net/nf_conntrack_max", "nf_conntrack", "nf_nat"},
		{PROC_SYS "net/bridge/", "br_netfilter", NULL},
		{PROC_SYS "sunrpc/rdma_", "rpcrdma", "*rdma"},
		{PROC_SYS "sunrpc/svc_rdma/", "rpcrdma", "*rdma"},
		{PROC_SYS "sunrpc/", "sunrpc", "nfs*"},
		{PROC_SYS "fs/nfs/nlm_", "lockd", "nfs*"},
		{PROC_SYS "fs/nfs/nsm_", "lockd", "nfs*"},
		{PROC_SYS "fs/nfs/nfs_callback_tcpport", "nfsv4", "nfs*"},
		{PROC_SYS "fs/nfs/idmap_cache_timeout", "nfsv4", "nfs*"},
		{PROC_SYS "fs/nfs/", "nfs", "nfs*"},
	};

	for (size_t i = 0; i < array_len(rows); i++)
		if (str_starts(path, rows[i].prefix))
			return &rows[i];
	return NULL;
}

char *sysctl_interface(const char *path)
{
	const char *below = str_starts(path, PROC_SYS) ? path + strlen(PROC_SYS) : "";
	size_t dir = of_interfaces(below);

	return dir ? xstrndup(below + dir, strcspn(below + dir, "/")) : NULL;
}

static char *without_interface(const char *path)
{
	size_t dir = of_interfaces(path);

	if (!dir || !strchr(path + dir, '/'))
		return xstrdup(path);
	return xasprintf("%.*s*%s", (int)dir, path, strchr(path + dir, '/'));
}

/* The length of the module's directory in the path; 0: none. */
static size_t module_dir(const char *path)
{
	for (const char *end = strchr(path, '/'); end; end = strchr(end + 1, '/')) {
		cleanup_free char *dir = xstrndup(path, (size_t)(end - path));

		if (names_have(NAMES(sysctl_dirs), dir))
			return (size_t)(end - path);
	}
	return 0;
}

/* Whether the documentation has no names in that directory: then any name may be right. */
static bool is_undocumented(const char *path, size_t dir)
{
	cleanup_free char *first = xasprintf("\n%.*s/", (int)dir, path);

	return dir && !strstr(sysctls, first);
}

bool sysctl_documented(const char *path)
{
	cleanup_free char *name = without_interface(path);

	return names_have(NAMES(sysctls), name);
}

bool sysctl_known(const char *path)
{
	return sysctl_documented(path) || is_undocumented(path, module_dir(path));
}

char *sysctl_near(const char *path)
{
	char *near = nearest(NAMES(sysctls), path);

	for (char *p = near; p && *p; p++)
		*p = *p == '/' ? '.' : *p;
	return near;
}

static bool sysctl_may_lack(const struct root *root, const char *path)
{
	size_t dir = module_dir(path) ?: of_interfaces(path);

	if (dir && strchr(path + dir, '/')) {
		if (of_interfaces(path))
			dir += strcspn(path + dir, "/");
		if (!root_exists(root, "/proc/sys/%.*s", (int)dir, path))
			return true;
	}
	return sysctl_known(path);
}

/* --- sysfs -------------------------------------------------------------------------------- */

/* Whether the entries of dir are devices, drivers or modules, which come and go. */
static bool has_instances(const char *dir, const char *name)
{
	static const char *const dirs[] = {
		"/sys/class/*",
		"/sys/bus/*/devices",
		"/sys/bus/*/drivers",
		"/sys/bus/*/drivers/*",
		"/sys/module",
		"/sys/block",
		"/sys/kernel/debug",
		"/sys/kernel/security",
		"/sys/fs/*",
		"/sys/dev/*",
		"/sys/devices/virtual/*",
	};

	for (size_t i = 0; i < array_len(dirs); i++)
		if (fnmatch(dirs[i], dir, FNM_PATHNAME) == 0)
			return true;
	/* "cpu7", "node1", "0000:18:00.0" */
	return str_starts(dir, "/sys/devices/") && strpbrk(name, "0123456789");
}

/* "rx-12", "rx-*" and "rx-[0-3]" match "rx-#". */
static bool word_known(const char *name)
{
	cleanup_str struct str word = {0};

	for (const char *p = name; *p; p++) {
		bool number = isdigit((unsigned char)*p) || strchr("*?[", *p);

		if (*p == '[' && strchr(p, ']'))
			p = strchr(p, ']');
		if (!number)
			str_addf(&word, "%c", *p);
		else if (!word.len || word.s[word.len - 1] != '#')
			str_add(&word, "#");
	}
	return streq(str_get(&word), "#") || names_have(NAMES(sysfs_words), str_get(&word));
}

static bool any_is_there(const struct root *root, const char *pattern)
{
	cleanup_strv struct strv found = {0};

	return read_glob(root, pattern, &found, NULL) == 0 && found.n > 0;
}

static bool sysfs_may_lack(const struct root *root, const char *path)
{
	const char *end = path + strlen("/sys");

	while (*end) {
		cleanup_free char *dir = xstrndup(path, (size_t)(end - path));
		size_t len = strcspn(end + 1, "/");
		cleanup_free char *name = xstrndup(end + 1, len);
		cleanup_free char *here = xasprintf("%s/%s", dir, name);

		end += 1 + len;
		if (any_is_there(root, here))
			continue;
		if (has_instances(dir, name))
			return true;
		if (!word_known(name))
			return false;
	}
	return true;
}

bool kernel_path_may_lack(const struct root *root, const char *path)
{
	if (str_starts(path, PROC_SYS))
		return sysctl_may_lack(root, path + strlen(PROC_SYS));
	return str_starts(path, "/sys/") && sysfs_may_lack(root, path);
}
