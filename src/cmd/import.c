/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import [FILE|DIR...]: writes the settings of sysctl.d, modprobe.d, boot loaders and tuned as a
 * profile to stdout. The profile passes check: a line that would fail is a comment, with the
 * reason.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "profile/import.h"
#include "sys/read.h"

#define NAME "imported"

/* --- files --------------------------------------------------------------------------------- */

/* Returns false and complains if the file can't be read, or is named and of an unknown kind. */
static bool take(struct import *im, const char *path, bool below, bool asked)
{
	cleanup_free char *text = NULL;
	struct err err = {0};
	enum import_kind kind;

	if (import_read(im, path, below, &text, &err) < 0) {
		complain("import: %s", err.text);
		return false;
	}
	kind = import_kind_of(path, asked ? text : NULL);
	if (kind != IMPORT_UNKNOWN) {
		import_text(im, path, below, text, kind);
		return true;
	}
	if (asked)
		complain("import: %s: neither the path nor the text shows the format; known "
			 "formats are sysctl.d, modprobe.d, modules-load.d, kernel/cmdline, "
			 "cmdline.d, default/grub and tuned.conf",
			 path);
	return !asked;
}

/* Reads all files below the directory whose path reveals their kind. */
static bool take_directory(struct import *im, char *dir)
{
	FTS *fts = open_walk(dir);
	bool good = true;
	FTSENT *e;

	if (!fts) {
		complain("import: %s: %s", dir, err_of_path(-errno));
		return false;
	}
	while ((e = fts_read(fts))) {
		if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS) {
			complain("import: %s: %s", e->fts_path, err_of_path(-e->fts_errno));
			good = false;
		} else if (e->fts_info == FTS_F) {
			good &= take(im, e->fts_path, false, false);
		}
	}
	fts_close(fts);
	return good;
}

static bool take_arg(struct import *im, char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return take_directory(im, path);
	return take(im, path, false, true);
}

/* --- a tree -------------------------------------------------------------------------------- */

/* True if an earlier directory has a file of that name, which overrides this one. */
static bool is_overridden(const struct root *root, const char *const *dirs, size_t i,
			  const char *name)
{
	for (size_t j = 0; j < i; j++)
		if (root_exists(root, "%s/%s", dirs[j], name))
			return true;
	return false;
}

static int by_base_name(const void *a, const void *b)
{
	const char *na = strrchr(*(char *const *)a, '/'), *nb = strrchr(*(char *const *)b, '/');

	return strcmp(na, nb);
}

/* Reads the *.conf of one sort in the order of their names, across all directories. */
static bool take_conf(struct import *im, const char *sort)
{
	cleanup_free char *etc = xasprintf("/etc/%s", sort), *run = xasprintf("/run/%s", sort);
	cleanup_free char *local = xasprintf("/usr/local/lib/%s", sort);
	const char *const dirs[] = {etc, run, local};
	cleanup_strv struct strv paths = {0};
	bool good = true;

	for (size_t i = 0; i < array_len(dirs); i++) {
		cleanup_strv struct strv names = {0};

		if (read_dir(im->root, &names, NULL, "%s", dirs[i]) < 0)
			continue;
		for (size_t j = 0; j < names.n; j++) {
			cleanup_free char *path = xasprintf("%s/%s", dirs[i], names.v[j]);

			if (str_ends(names.v[j], ".conf") &&
			    !is_overridden(im->root, dirs, i, names.v[j]))
				strv_add(&paths, path);
		}
	}
	if (paths.n)
		qsort(paths.v, paths.n, sizeof(*paths.v), by_base_name);
	for (size_t i = 0; i < paths.n; i++)
		good &= take(im, paths.v[i], true, false);
	return good;
}

/* Reads the active profile of tuned. */
static bool take_tuned(struct import *im)
{
	cleanup_free char *names = NULL;
	char *rest, *name;
	bool good = true;

	if (read_text(im->root, &names, NULL, "/etc/tuned/active_profile") < 0)
		return true;
	rest = names;
	while ((name = strsep(&rest, " \t\n")))
		for (size_t i = 0; *name && tuned_dirs[i]; i++) {
			cleanup_free char *path =
				xasprintf("%s/%s/tuned.conf", tuned_dirs[i], name);

			if (!root_exists(im->root, "%s", path))
				continue;
			good &= take(im, path, true, false);
			break;
		}
	return good;
}

/* Reads the files of a directory with that ending, by name. */
static bool take_names(struct import *im, const char *dir, const char *ending)
{
	cleanup_strv struct strv names = {0};
	bool good = true;

	read_dir(im->root, &names, NULL, "%s", dir);
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *path = xasprintf("%s/%s", dir, names.v[i]);

		if (str_ends(path, ending))
			good &= take(im, path, true, false);
	}
	return good;
}

/* Reads the administrator's files of a tree, not the vendor's below /usr/lib. */
static bool take_tree(struct import *im)
{
	static const char *const files[] = {"/etc/sysctl.conf", "/etc/modules",
					    "/etc/kernel/cmdline", "/etc/default/grub"};
	bool good = take_tuned(im);

	good &= take_conf(im, "modules-load.d");
	good &= take_conf(im, "modprobe.d");
	good &= take_conf(im, "sysctl.d");
	good &= take_conf(im, "cmdline.d");
	for (size_t i = 0; i < array_len(files); i++)
		if (root_exists(im->root, "%s", files[i]))
			good &= take(im, files[i], true, false);
	return good & take_names(im, "/etc/default/grub.d", ".cfg");
}

/* --- the profile --------------------------------------------------------------------------- */

/* Removes places in the written profile, which is written again: "iommu: at 8:10 already". */
static char *without_places(const char *text)
{
	struct str out = {0};

	while (*text) {
		size_t line = str_starts(text, " at ") ? strspn(text + 4, "0123456789") : 0;
		size_t col =
			line && text[4 + line] == ':' ? strspn(text + 5 + line, "0123456789") : 0;

		if (col)
			text += 5 + line + col;
		else
			str_addn(&out, text++, 1);
	}
	return str_take(&out);
}

/* A message about one item of a list begins with the item, as the line does. */
static void withdraw_one(struct imported *one, const char *text)
{
	size_t len = strlen(one->value);
	bool repeats = strncmp(text, one->value, len) == 0 && str_starts(text + len, ": ");
	cleanup_free char *why = without_places(text + (repeats ? len + 2 : 0));

	import_withdraw(one, why);
}

/* Withdraws each setting that check rejects, with check's reason. Returns their number. */
static size_t withdraw(struct import *im, const struct diags *diags)
{
	size_t n = 0;

	for (size_t i = 0; i < diags->list.n; i++) {
		const struct diag *d = &diags->list.v[i];

		for (size_t j = 0; !d->warning && j < im->list.n; j++) {
			struct imported *one = &im->list.v[j];

			if (!one->section || one->line != d->at.line)
				continue;
			withdraw_one(one, d->text);
			n++;
		}
	}
	return n;
}

/* Withdraws the last setting of a section for an error of the whole section. */
static size_t withdraw_last(struct import *im, const struct diags *diags)
{
	const struct diag *d = NULL;

	for (size_t i = 0; i < diags->list.n && !d; i++)
		d = diags->list.v[i].warning ? NULL : &diags->list.v[i];
	for (size_t j = im->list.n; d && j > 0; j--) {
		struct imported *one = &im->list.v[j - 1];

		if (!one->section || !str_starts(d->key, one->section))
			continue;
		withdraw_one(one, d->text);
		return 1;
	}
	return 0;
}

/* Writes the profile repeatedly until it passes; each time at least one setting is withdrawn. */
static bool write_valid(struct import *im, struct str *out)
{
	for (;;) {
		struct diags diags = {0};
		bool good;

		str_free(out);
		import_write(im, NAME, out);
		if (im->excess)
			return false;
		good = check_text(im->root, str_get(out), &diags);
		if (!good && !withdraw(im, &diags) && !withdraw_last(im, &diags)) {
			print_diags(stderr, &diags);
			diags_free(&diags);
			return false;
		}
		diags_free(&diags);
		if (good)
			return true;
	}
}

/* none: the exit code if no file was read. */
static int print(struct import *im, int none)
{
	cleanup_str struct str text = {0};

	if (!im->files.n)
		return fail(none,
			    "import: found no file of sysctl.d, modprobe.d, modules-load.d, a "
			    "kernel command line, default/grub or tuned; give the path of a file");
	if (!write_valid(im, &text))
		return fail(im->excess ? EXIT_USAGE : EXIT_INTERNAL, "import: %s",
			    im->excess ? im->excess : "the profile would not pass check");
	fputs(str_get(&text), stdout);
	if (!isatty(STDOUT_FILENO))
		complain("save the profile as " NAME
			 ".yaml, because a profile has the name of its file");
	return EXIT_OK;
}

static int run(struct invocation *inv)
{
	struct import im = {.root = &inv->root};
	bool good = true;
	int code;

	for (int i = 0; i < inv->nargs; i++)
		good &= take_arg(&im, inv->args[i]);
	if (!inv->nargs)
		good = take_tree(&im);
	if (im.excess) {
		complain("import: %s", im.excess);
		good = false;
	}
	/* after a failure nothing is printed, because a partial profile would look complete */
	code = good ? print(&im, inv->nargs ? EXIT_USAGE : EXIT_NO_MATCH) : EXIT_USAGE;
	import_free(&im);
	return code;
}

const struct verb verb_import = {
	.name = "import",
	.args = "[FILE...]",
	.help = "write what sysctl.d, modprobe.d, GRUB and tuned set as a profile",
	.options = OPT_ROOT,
	.max_args = 1000,
	.run = run,
};
