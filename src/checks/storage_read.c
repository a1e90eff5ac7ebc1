/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The storage that the node reads from: NFS, also over RDMA, and disks. */
#include <string.h>

#include "checks/probe.h"
#include "kinds/mount.h"
#include "profile/profile.h"
#include "profile/section.h"
#include "profile/yaml.h"

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		n--;
	return strncmp(path, dir, n) == 0 && (n == 1 || !path[n] || path[n] == '/');
}

/* The entry of `mounts` that contains the path (the longest), or NULL. */
static const struct ynode *find_mount(const struct profile *profile, const char *path,
				      const char **ret_dir)
{
	const struct ynode *mounts = profile_section(profile, "mounts"), *found = NULL;

	*ret_dir = "";
	for (size_t i = 0; mounts && i < mounts->keys.n; i++) {
		const char *dir = mounts->keys.v[i]->text;

		if (!is_below(path, dir) || strlen(dir) < strlen(*ret_dir))
			continue;
		*ret_dir = dir;
		found = mounts->items.v[i];
	}
	return found;
}

static void want_storage(const struct checked *t, struct probes *ret)
{
	const char *path = ynode_text(t->map, "path", ""), *dir;
	const struct ynode *mount = find_mount(t->ctx->profile, path, &dir);
	struct probe *p = probe_add(ret, t, "%s", path[0] == '/' ? path + 1 : path);

	probe_subject(p, "storage_read of %s", path);
	probe_option(p, "--path", "%s", path);
	probe_option(p, "--size", "%s", ynode_text(t->map, "size", "1M"));
	if (mount)
		probe_option(p, "--mount", "%s", dir);
	if (mount && mount_wants_rdma(mount))
		probe_option(p, "--transport", "rdma");
	probe_resource(p, PROBE_STORAGE);
	probe_needs_cpus(p, t->ctx->node);
	p->late = true;
	probe_judges(p, t, "min", "value", NULL);
	probe_tells(p, t, "p50", "p50");
	probe_tells(p, t, "p99", "p99");
	probe_tells(p, t, "max", "max");
	p->remedy = "measure the server or the disk by itself, and look at what else reads now";
}

CHECK(storage_read, .required = {"path", "min"}, .optional = {"p50", "p99", "max", "size"},
      .measure = want_storage, .slow = FAULT_STORAGE_READ);
