/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import of a stranger's file: the first byte chooses the format ("0" sysctl.d, "1" modprobe.d, "2"
 * modules-load.d, "3" a command line, "4" default/grub, "5" tuned.conf), the rest is the text. The
 * profile that comes out is YAML of limited size, with each setting in a line of its own, or
 * import says why there is none. A tuned.conf may include "base", and the variables of
 * "base-variables.conf".
 */
#include "fuzz.h"

#include "base/mem.h"
#include "base/str.h"
#include "profile/diag.h"
#include "profile/import.h"
#include "profile/yaml.h"

/* Twice the text and a comment: a line quotes the value, and names its origin. */
#define PROFILE_MAX ((size_t)IMPORT_MAX * 8)

static void make_root(struct root *root)
{
	cleanup_free char *dir = fuzz_dir();

	fuzz_put_text(dir, "etc/tuned/base/tuned.conf",
		      "[main]\ninclude=x base\n[variables]\nv=1\n"
		      "[sysctl]\nvm.swappiness=${v}\n");
	fuzz_put_text(dir, "etc/tuned/base-variables.conf",
		      "isolated_cores=1-3\nv=${isolated_cores}${v}\n");
	must(root_init(root, dir, NULL) == 0);
}

static void check_lines(const struct import *im, const struct str *text)
{
	cleanup_free bool *taken = xcalloc(text->len + 2, sizeof(*taken));

	for (size_t i = 0; i < im->list.n; i++) {
		const struct imported *one = &im->list.v[i];

		if (!one->section)
			continue;
		must(one->line > 0 && one->line <= text->len && !taken[one->line]);
		taken[one->line] = true;
	}
}

static bool is_line_of_setting(const struct import *im, unsigned int line)
{
	bool found = false;

	for (size_t i = 0; i < im->list.n; i++)
		found |= im->list.v[i].section && im->list.v[i].line == line;
	return found;
}

/* Its errors are of settings, which the command then withdraws: one key too many, or too long. */
static void check_yaml(const struct import *im, const struct str *text)
{
	struct diags diags = {0};
	cleanup_ynode struct ynode *doc =
		yaml_parse("imported.yaml", str_get(text), text->len, &diags);

	for (size_t i = 0; i < diags.list.n; i++) {
		if (!is_line_of_setting(im, diags.list.v[i].at.line))
			fprintf(stderr, "%s\n", diags.list.v[i].text);
		must(is_line_of_setting(im, diags.list.v[i].at.line));
	}
	must(doc || diags.errors);
	diags_free(&diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct root root = {.fd = -1};
	enum import_kind kind = size ? IMPORT_SYSCTL + *data % IMPORT_TUNED : IMPORT_SYSCTL;
	cleanup_free char *text = xstrndup(size ? (const char *)data + 1 : "", size ? size - 1 : 0);
	cleanup_str struct str out = {0};
	struct import im = {.root = &root};

	if (root.fd < 0)
		make_root(&root);
	import_kind_of("x", text);
	import_text(&im, "etc/tuned/x/tuned.conf", true, text, kind);
	import_write(&im, "imported", &out);
	must(out.len <= PROFILE_MAX);
	must(!im.excess == (im.held <= IMPORT_MAX && out.len <= YAML_BYTES_MAX));
	check_lines(&im, &out);
	if (!im.excess)
		check_yaml(&im, &out);
	import_free(&im);
	return 0;
}
