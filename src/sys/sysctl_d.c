/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/sysctl_d.h"

#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "sys/read.h"

enum { FILE_MAX_SIZE = 1 << 20 };

char *sysctl_path(const char *key)
{
	char *path = xstrdup(key);

	if (path[strcspn(path, "./")] == '/')
		return path;
	for (char *p = path; *p; p++)
		*p = *p == '.' ? '/' : *p == '/' ? '.' : *p;
	return path;
}

static char *trimmed(char *text)
{
	char *end;

	text += strspn(text, " \t");
	for (end = text + strlen(text); end > text && strchr(" \t\r", end[-1]);)
		*--end = '\0';
	return text;
}

/* "-key = value", "key=value"; the dash: errors of the line are passed over. */
static bool gives(char *line, const char *path, const char *value)
{
	char *text = trimmed(line), *equals = strchr(text, '=');
	cleanup_free char *wanted = NULL;

	if (!*text || strchr("#;", *text) || !equals)
		return false;
	*equals = '\0';
	wanted = sysctl_path(trimmed(text + (*text == '-')));
	return fnmatch(wanted, path, FNM_PATHNAME) == 0 && streq(trimmed(equals + 1), value);
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
		n++;
		if (gives(line, path, value))
			return xasprintf("%s:%u", file, n);
	}
	return NULL;
}

/* A file hides those of its name in the directories that come later. */
char *sysctl_d_line(const struct root *root, const char *path, const char *value)
{
	static const char *const dirs[] = {"/etc/sysctl.d", "/run/sysctl.d",
					   "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d"};
	cleanup_strv struct strv seen = {0};
	char *found = line_of_file(root, "/etc/sysctl.conf", path, value);

	for (size_t d = 0; !found && d < array_len(dirs); d++) {
		cleanup_strv struct strv names = {0};

		read_dir(root, &names, NULL, "%s", dirs[d]);
		for (size_t i = 0; !found && i < names.n; i++) {
			cleanup_free char *file = xasprintf("%s/%s", dirs[d], names.v[i]);

			if (strv_contains(&seen, names.v[i]) > 0)
				continue;
			strv_add(&seen, names.v[i]);
			found = line_of_file(root, file, path, value);
		}
	}
	return found;
}
