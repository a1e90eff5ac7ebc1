/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contradictions: mounts. */
#include "profile/rules.h"

#include <string.h>

/* --- mounts ------------------------------------------------------------------------------- */

static bool has_option(const struct ynode *mount, const char *word)
{
	return commas_have(ynode_text(mount, "options", ""), word);
}

static bool is_nfs(const struct ynode *mount)
{
	return text_is(mount, "type", "nfs") || text_is(mount, "type", "nfs4");
}

/* Directories that the system itself lives in. */
static const struct {
	const char *dir;
	bool below; /* nothing below it either */
} system_dirs[] = {
	{"/proc", true},   {"/sys", true},   {"/dev", true},  {"/boot", true},	{"/etc", true},
	{"/run", false},   {"/usr", false},  {"/bin", false}, {"/sbin", false}, {"/lib", false},
	{"/lib64", false}, {"/root", false}, {"/var", false}, {"/tmp", false},
};

static void judge_point(struct ruling *r, const struct ynode *point, const char *key)
{
	for (size_t i = 0; i < array_len(system_dirs); i++) {
		const char *dir = system_dirs[i].dir;
		size_t len = strlen(dir);

		if (strncmp(point->text, dir, len) != 0)
			continue;
		if (!point->text[len] || (system_dirs[i].below && point->text[len] == '/'))
			rule_error(r, point, key,
				   "the system itself lives in %s, and this would hide it; mount "
				   "elsewhere, such as below /mnt",
				   dir);
	}
}

static void judge_mount(struct ruling *r, const struct ynode *mount, const char *key)
{
	const struct ynode *what = ynode_get(mount, "what"), *options = ynode_get(mount, "options");
	const char *colon = strchr(scalar(what), ':');
	cleanup_free char *what_key = xasprintf("%s.what", key);
	cleanup_free char *options_key = xasprintf("%s.options", key);

	if (is_nfs(mount) && *scalar(what) && (!colon || colon == what->text || colon[1] != '/'))
		rule_error(r, what, what_key,
			   "nfs mounts a server's directory; write server:/path");
	if (options && *ynode_text(mount, "type", "") && !is_nfs(mount) &&
	    (has_option(mount, "proto=rdma") || has_option(mount, "rdma")))
		rule_error(r, options, options_key,
			   "proto=rdma is an option of nfs, and the type is %.40s",
			   ynode_text(mount, "type", ""));
	if (options && is_nfs(mount) && has_option(mount, "port=20049") &&
	    !has_option(mount, "proto=rdma") && !has_option(mount, "rdma"))
		rule_error(r, options, options_key,
			   "port 20049 is that of NFS over RDMA; add proto=rdma, or drop the port");
}

static void mounts_are_sound(struct ruling *r)
{
	const struct ynode *mounts = section(r, "mounts");

	for (size_t i = 0; i < count(mounts, YAML_MAP); i++) {
		cleanup_free char *key = xasprintf("mounts.%.80s", mounts->keys.v[i]->text);

		judge_point(r, mounts->keys.v[i], key);
		if (mounts->items.v[i]->kind == YAML_MAP)
			judge_mount(r, mounts->items.v[i], key);
	}
}

const struct rule rules_host[] = {
	RULE("mounts-are-sound", mounts_are_sound),
	NO_MORE_RULES,
};
