/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/search.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/mem.h"
#include "base/str.h"
#include "profile/schema.h"
#include "profile/value.h"
#include "profile/yaml.h"
#include "sys/read.h"
#include "sys/trust.h"

const char *const profile_dirs[] = {
	"/etc/railhead/profiles",
	"/run/railhead/profiles",
	"/usr/lib/railhead/profiles",
	NULL,
};

static const char suffix[] = ".yaml";

bool profile_name_is_valid(const char *name)
{
	return spec_accepts(spec_child(schema_profile(), "name"), name);
}

static size_t stem_len(const char *name)
{
	return strlen(name) - (str_ends(name, suffix) ? strlen(suffix) : 0);
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

bool profile_is_name(const char *arg)
{
	return !strchr(arg, '/') && stem_len(arg) == strlen(arg);
}

bool file_is_masked(const struct root *root, const char *path)
{
	cleanup_free char *target = NULL;
	struct stat st;

	if (root_stat(root, &st, path) == 0)
		return S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
	return read_link(root, &target, NULL, "%s", path) == 0 && streq(target, "/dev/null");
}

static const struct profile_file *first_of(const struct profile_files *files, const char *name)
{
	for (size_t i = 0; i < files->list.n; i++)
		if (streq(files->list.v[i].name, name))
			return &files->list.v[i];
	return NULL;
}

static int list_dir(const struct root *root, const char *dir, struct profile_files *ret,
		    struct err *err)
{
	cleanup_strv struct strv names = {0};
	int r = read_dir(root, &names, err, "%s", dir);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (size_t i = 0; i < names.n; i++) {
		struct profile_file f = {0};
		const struct profile_file *first;

		if (!profile_is_file_name(names.v[i]))
			continue;
		f.name = profile_stem(names.v[i]);
		f.path = xasprintf("%s/%s", dir, names.v[i]);
		f.masked = file_is_masked(root, f.path);
		first = first_of(ret, f.name);
		if (first)
			f.overridden_by = xstrdup(first->path);
		vec_push(&ret->list, f);
	}
	return 0;
}

static int dir_index(const char *path)
{
	int i = 0;

	while (profile_dirs[i] && !str_starts(path, profile_dirs[i]))
		i++;
	return i;
}

static int by_name(const void *a, const void *b)
{
	const struct profile_file *fa = a, *fb = b;
	int r = strcmp(fa->name, fb->name);

	return r ? r : dir_index(fa->path) - dir_index(fb->path);
}

/* A file that another user removes, or masks, lets one of a later directory take effect. */
static int judge_dirs(const struct root *root, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && profile_dirs[i]; i++)
		r = trust_listing(root, trust_of_reads(root), profile_dirs[i], err);
	return r < 0 ? err_wrap(err, "profiles are not trusted") : 0;
}

int profile_files_list(const struct root *root, struct profile_files *ret, struct err *err)
{
	struct profile_files files = {0};
	int r = judge_dirs(root, err);

	for (size_t i = 0; r == 0 && profile_dirs[i]; i++)
		r = list_dir(root, profile_dirs[i], &files, err);
	if (r < 0) {
		profile_files_free(&files);
		return r;
	}
	if (files.list.n > 1)
		qsort(files.list.v, files.list.n, sizeof(*files.list.v), by_name);
	*ret = files;
	return 0;
}

void profile_files_free(struct profile_files *f)
{
	for (size_t i = 0; i < f->list.n; i++) {
		free(f->list.v[i].name);
		free(f->list.v[i].path);
		free(f->list.v[i].overridden_by);
	}
	vec_free(&f->list);
}

/* The path below the root, or NULL. */
static char *find_below(const struct root *root, const char *name)
{
	for (size_t i = 0; i < array_len(profile_dirs) - 1; i++) {
		char *path = xasprintf("%s/%s%s", profile_dirs[i], name, suffix);

		if (root_exists(root, "%s", path) || (!root->live && file_is_masked(root, path)))
			return path;
		free(path);
	}
	return NULL;
}

static void add_unread(struct diags *ret, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void add_unread(struct diags *ret, const char *path, const char *fmt, ...)
{
	cleanup_str struct str text = {0};
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	ret->code = "unread";
	diag_error(ret, (struct place){.file = path}, "", "not read: %s", text.s);
	ret->code = NULL;
}

static void list_visible(const struct root *root, const char *dir, struct strv *ret,
			 struct diags *diags)
{
	cleanup_strv struct strv names = {0};
	int r = read_dir(root, &names, NULL, "%s", dir);

	if (r < 0 && r != -ENOENT && r != -ENOTDIR)
		add_unread(diags, dir, "%s", strerror(-r));
	for (size_t i = 0; i < names.n; i++)
		if (*names.v[i] != '.' && !str_ends(names.v[i], "~"))
			strv_add(ret, names.v[i]);
}

/* name: NAME.d, in the directory of that index. */
static void judge_dropins(const struct root *root, size_t index, const char *name,
			  struct diags *ret)
{
	cleanup_free char *dir = xasprintf("%s/%s", profile_dirs[index], name);
	cleanup_free char *stem = xstrndup(name, strlen(name) - strlen(".d"));
	cleanup_free char *profile = find_below(root, stem);
	cleanup_strv struct strv names = {0};

	list_visible(root, dir, &names, ret);
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *path = xasprintf("%s/%s", dir, names.v[i]);

		if (index)
			add_unread(ret, path, "drop-ins are only below %s; move the file there",
				   profile_dirs[0]);
		else if (!profile)
			add_unread(ret, path,
				   "no profile '%.64s' is installed; name the directory after the "
				   "profile that the file is for, or remove the file",
				   stem);
		else if (!profile_is_file_name(names.v[i]))
			add_unread(ret, path, "drop-ins end with .yaml; rename or remove the file");
	}
}

static void judge_conf_d(const struct root *root, const char *profiles, struct diags *ret)
{
	const char *slash = strrchr(profiles, '/');
	cleanup_free char *dir =
		xasprintf("%.*s/railhead.conf.d", (int)(slash - profiles), profiles);
	cleanup_strv struct strv names = {0};

	list_visible(root, dir, &names, ret);
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *path = xasprintf("%s/%s", dir, names.v[i]);

		if (!str_ends(names.v[i], ".conf"))
			add_unread(ret, path,
				   "drop-ins of railhead.conf end with .conf; rename or remove "
				   "the file");
	}
}

void profile_files_unread(const struct root *root, struct diags *ret)
{
	for (size_t i = 0; profile_dirs[i]; i++) {
		cleanup_strv struct strv names = {0};

		list_visible(root, profile_dirs[i], &names, ret);
		for (size_t j = 0; j < names.n; j++) {
			cleanup_free char *path = xasprintf("%s/%s", profile_dirs[i], names.v[j]);

			if (str_ends(names.v[j], ".d"))
				judge_dropins(root, i, names.v[j], ret);
			else if (str_ends(names.v[j], ".yml"))
				add_unread(ret, path, "profiles end with .yaml; rename the file");
		}
		judge_conf_d(root, profile_dirs[i], ret);
	}
}

bool profile_dirs_exist(const struct root *root)
{
	for (size_t i = 0; profile_dirs[i]; i++)
		if (root_exists(root, "%s", profile_dirs[i]))
			return true;
	return false;
}

int profile_find(const struct root *root, const char *name, char **ret, struct err *err)
{
	cleanup_free char *path = NULL;
	int r;

	if (!profile_name_is_valid(name))
		return err_set(err, -EINVAL, "'%.80s' is not a profile's name", name);
	r = judge_dirs(root, err);
	if (r < 0)
		return r;
	path = find_below(root, name);
	if (!path)
		return err_set(err, -ENOENT,
			       "no profile '%s' in %s, %s or %s; for a file write its path, such "
			       "as ./%s.yaml",
			       name, profile_dirs[0], profile_dirs[1], profile_dirs[2], name);
	if (file_is_masked(root, path))
		return err_set(err, -ENOENT, "profile '%s' is masked by %s", name, path);
	*ret = take_ptr(path);
	return 0;
}
