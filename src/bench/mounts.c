/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/mounts.h"

#include <libmount/libmount.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static bool has_id(struct libmnt_fs *fs, const void *arg)
{
	return mnt_fs_get_id(fs) == *(const int *)arg;
}

static bool has_dir(struct libmnt_fs *fs, const void *arg)
{
	return streq(mnt_fs_get_target(fs), arg);
}

static void describe(struct libmnt_fs *fs, struct mount *ret)
{
	const char *source = mnt_fs_get_source(fs);
	char *proto = NULL;
	size_t len = 0;

	snprintf(ret->type, sizeof(ret->type), "%s", mnt_fs_get_fstype(fs));
	snprintf(ret->source, sizeof(ret->source), "%s", source ? source : "none");
	if (mnt_fs_get_option(fs, "proto", &proto, &len) == 0)
		snprintf(ret->transport, sizeof(ret->transport), "%.*s", (int)len, proto);
}

static bool find(const char *mountinfo, bool (*fits)(struct libmnt_fs *fs, const void *arg),
		 const void *arg, struct mount *ret)
{
	FILE *f = fmemopen((void *)mountinfo, strlen(mountinfo), "r");
	struct libmnt_table *table = mnt_new_table();
	struct libmnt_iter *at = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs = NULL;
	bool found = false;

	if (f && mnt_table_parse_stream(table, f, "mountinfo") == 0)
		while (!found && mnt_table_next_fs(table, at, &fs) == 0)
			found = fits(fs, arg);
	if (found && ret)
		describe(fs, ret);
	if (f)
		fclose(f);
	mnt_free_iter(at);
	mnt_unref_table(table);
	return found;
}

bool mounts_find(const char *mountinfo, int id, struct mount *ret)
{
	*ret = (struct mount){.type = ""};
	return find(mountinfo, has_id, &id, ret);
}

bool mounts_has(const char *mountinfo, const char *dir)
{
	return find(mountinfo, has_dir, dir, NULL);
}

char *mounts_cause(const struct mount *m, const char *want)
{
	/* rdma6 is the same over IPv6 */
	if (!m->transport[0] || !*want || str_starts(m->transport, want))
		return NULL;
	return xasprintf("%s uses transport %s instead of %s: the server does not offer %s, or the "
			 "module rpcrdma was missing at the time of the mount",
			 m->source, m->transport, want, want);
}
