/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/search.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "profile/value.h"

const char *const profile_dirs[] = {
	"/etc/railhead/profiles",
	"/run/railhead/profiles",
	"/usr/lib/railhead/profiles",
	NULL,
};

static const char suffix[] = ".yaml";

bool profile_name_is_valid(const char *name)
{
	const struct spec spec = {.what = "a profile's name"};
	const struct ynode n = {.kind = YAML_SCALAR, .text = (char *)name};
	cleanup_str struct str why = {0};

	return value_name(&spec, &n, &why);
}

static size_t stem_len(const char *name)
{
	size_t len = strlen(name), tail = strlen(suffix);

	return len > tail && streq(name + len - tail, suffix) ? len - tail : len;
}

bool profile_is_file_name(const char *name)
{
	return *name != '.' && stem_len(name) < strlen(name);
}

char *profile_stem(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return xstrndup(name, stem_len(name));
}

int profile_find(const struct root *root, const char *name, char **ret, struct err *err)
{
	if (!profile_name_is_valid(name))
		return err_set(err, -EINVAL, "'%.80s' is not a profile's name", name);
	for (size_t i = 0; profile_dirs[i]; i++) {
		if (!root_exists(root, "%s/%s%s", profile_dirs[i], name, suffix))
			continue;
		*ret = xasprintf("%s%s/%s%s", root->live ? "" : root->path, profile_dirs[i], name,
				 suffix);
		return 0;
	}
	return err_set(err, -ENOENT, "no profile '%s' in %s, %s or %s", name, profile_dirs[0],
		       profile_dirs[1], profile_dirs[2]);
}
