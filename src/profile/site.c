/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/site.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "profile/load.h"
#include "profile/merge.h"
#include "profile/schema.h"
#include "profile/search.h"
#include "profile/yaml.h"
#include "sys/read.h"
#include "sys/trust.h"

/* Reject settings that railhead cannot honour, because users rely on them. */
static void reject_unimplemented(const struct ynode *doc, struct diags *diags)
{
	static const char key[] = "require_signature";

	if (ynode_bool(doc, key, false))
		diag_error(diags, ynode_get(doc, key)->at, key,
			   "not implemented by this railhead; write false or remove it");
}

/* Whether units/railhead-generator, which reads lines instead of YAML, finds that value. */
static bool generator_sees(char *text, const char *wanted)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *rest = NULL;
		const char *key = strtok_r(line, " \t", &rest);
		const char *value = strtok_r(NULL, " \t", &rest);

		if (key && value && streq(key, "boot_complete:") && streq(value, wanted))
			return true;
	}
	return false;
}

static void check_boot_complete(const struct ynode *doc, char *text, struct diags *diags)
{
	static const char key[] = "boot_complete";
	const char *wanted = ynode_bool(doc, key, false) ? "true" : "false";

	if (ynode_get(doc, key) && !generator_sees(text, wanted))
		diag_error(diags, ynode_get(doc, key)->at, key,
			   "write 'boot_complete: %s' on a separate line, because a systemd "
			   "generator reads only this form",
			   wanted);
}

static void file_error(struct diags *diags, const char *file, int r)
{
	diag_error(diags, (struct place){.file = file}, "", "%s", err_text(r));
}

/* NULL: the file has an error. */
static struct ynode *read_layer(const struct root *root, const char *file, struct diags *diags)
{
	cleanup_close int fd = open_trusted(root, file, diags);
	cleanup_free char *text = NULL;
	cleanup_ynode struct ynode *doc = NULL;
	size_t len = 0, before = diags->errors;
	int r = fd;

	if (r == -EPERM)
		return NULL;
	if (r >= 0)
		r = read_fd(fd, YAML_BYTES_MAX, &text, &len);
	if (r < 0) {
		file_error(diags, file, r);
		return NULL;
	}
	doc = yaml_parse(file, text, len, diags);
	if (doc && schema_check(doc, SCHEMA_SITE, diags)) {
		reject_unimplemented(doc, diags);
		check_boot_complete(doc, text, diags);
	}
	return diags->errors > before ? NULL : take_ptr(doc);
}

/* --- the files in effect -------------------------------------------------------------------- */

static const char *const dirs[] = {"/etc/railhead", "/run/railhead", "/usr/lib/railhead"};

/* Whether the path exists. A dangling link counts, so that the files it hides stay hidden. */
static bool is_there(const struct root *root, const char *path)
{
	cleanup_close int fd = root_open_path(root, path, O_PATH | O_NOFOLLOW);

	return fd != -ENOENT;
}

static void add_first(const struct root *root, const char *name, struct strv *ret)
{
	for (size_t i = 0; i < array_len(dirs); i++) {
		cleanup_free char *path = xasprintf("%s/%s", dirs[i], name);

		if (!is_there(root, path))
			continue;
		if (!file_is_masked(root, path))
			strv_add(ret, path);
		return;
	}
}

/* Whether root alone decides which files are there. */
static bool is_trusted(const struct root *root, const char *dir, struct diags *diags)
{
	struct err err;

	if (trust_listing(root, trust_of_reads(root), dir, &err) == 0)
		return true;
	diag_error(diags, (struct place){.file = dir}, "", "not trusted: %s", err.text);
	return false;
}

/* The drop-ins of all directories, each name once. */
static void list_dropins(const struct root *root, struct strv *ret, struct diags *diags)
{
	for (size_t i = 0; i < array_len(dirs); i++) {
		cleanup_free char *dir = xasprintf("%s/railhead.conf.d", dirs[i]);
		cleanup_strv struct strv names = {0};
		int r;

		if (!is_trusted(root, dirs[i], diags) || !is_trusted(root, dir, diags))
			continue;
		r = read_dir(root, &names, NULL, "%s", dir);
		if (r < 0 && r != -ENOENT)
			file_error(diags, dir, r);
		for (size_t j = 0; j < names.n; j++)
			if (*names.v[j] != '.' && str_ends(names.v[j], ".conf") &&
			    !strv_contains(ret, names.v[j]))
				strv_add(ret, names.v[j]);
	}
	strv_sort(ret);
}

void site_files(const struct root *root, struct strv *ret, struct diags *diags)
{
	cleanup_strv struct strv names = {0};

	add_first(root, "railhead.conf", ret);
	list_dropins(root, &names, diags);
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *name = xasprintf("railhead.conf.d/%s", names.v[i]);

		add_first(root, name, ret);
	}
}

void site_load(const struct root *root, struct site *ret, struct diags *diags)
{
	cleanup_strv struct strv files = {0};
	cleanup_ynode struct ynode *doc = ynode_new(YAML_MAP, (struct place){0});
	size_t before = diags->errors;

	*ret = (struct site){0};
	site_files(root, &files, diags);
	for (size_t i = 0; i < files.n; i++) {
		cleanup_ynode struct ynode *layer = read_layer(root, files.v[i], diags);

		if (layer)
			merge_layer(doc, layer, LAYER_OWN, NULL, diags);
	}
	if (diags->errors > before)
		return;
	ret->admit_off = ynode_bool(doc, "admit_off", false);
	ret->admit_none = ynode_bool(doc, "admit_none", false);
	ret->reboot = ynode_bool(doc, "reboot", true);
	ret->recheck_off = ynode_get(doc, "recheck");
}

bool site_ends_looks(const struct root *root)
{
	cleanup(diags_free) struct diags unused = {0};
	struct site site;

	site_load(root, &site, &unused);
	return site.recheck_off;
}
