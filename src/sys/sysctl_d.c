/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/sysctl_d.h"

#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "sys/dropins.h"
#include "sys/read.h"

enum { FILE_MAX_SIZE = 1 << 20 };

const char *const sysctl_d_dirs[SYSCTL_D_DIRS] = {"/etc/sysctl.d", "/run/sysctl.d",
						  "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d"};

char *sysctl_path(const char *key)
{
	char *path = xstrdup(key);

	if (path[strcspn(path, "./")] == '/')
		return path;
	for (char *p = path; *p; p++)
		*p = *p == '.' ? '/' : *p == '/' ? '.' : *p;
	return path;
}

char *sysctl_file(const char *key)
{
	cleanup_free char *path = sysctl_path(key);

	return xasprintf("/proc/sys/%s", path);
}

char *sysctl_arg_file(const char *name)
{
	struct str path = {0};

	if (!str_starts(name, "sysctl.") && !str_starts(name, "sysctl/"))
		return NULL;
	str_add(&path, "/proc/sys");
	for (name += strlen("sysctl"); *(name += strspn(name, "./")); name += strcspn(name, "./"))
		str_addf(&path, "/%.*s", (int)strcspn(name, "./"), name);
	return str_take(&path);
}

static char *trimmed(char *text)
{
	char *end;

	text += strspn(text, " \t");
	for (end = text + strlen(text); end > text && strchr(" \t\r", end[-1]);)
		*--end = '\0';
	return text;
}

char *sysctl_d_value(char *line, const char *path)
{
	char *text = trimmed(line), *equals = strchr(text, '=');
	cleanup_free char *wanted = NULL;

	if (!*text || strchr("#;", *text) || !equals)
		return NULL;
	*equals = '\0';
	wanted = sysctl_path(trimmed(text + (*text == '-')));
	return fnmatch(wanted, path, FNM_PATHNAME) == 0 ? trimmed(equals + 1) : NULL;
}

static char *line_of_file(const struct root *root, const char *file, const char *path,
			  const char *value)
{
	cleanup_free char *text = NULL;
	char *rest, *line;
	unsigned int n = 0;

	if (read_file(root, FILE_MAX_SIZE, &text, NULL, NULL, file) < 0)
		return NULL;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		const char *given = sysctl_d_value(line, path);

		n++;
		if (given && streq(given, value))
			return xasprintf("%s:%u", file, n);
	}
	return NULL;
}

char *sysctl_d_line(const struct root *root, const char *path, const char *value)
{
	cleanup_strv struct strv files = {0};
	char *found = line_of_file(root, SYSCTL_CONF, path, value);

	dropins_find(root, sysctl_d_dirs, SYSCTL_D_DIRS, "*.conf", &files);
	for (size_t i = 0; !found && i < files.n; i++)
		found = line_of_file(root, files.v[i], path, value);
	return found;
}
