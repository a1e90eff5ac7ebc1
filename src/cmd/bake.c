/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bake: prepares the tree of an image without booting it. Errors in the tree's profiles are
 * reported before the first write.
 */
#include <errno.h>
#include <stdio.h>

#include "bake/bake.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/stored.h"
#include "cmd/cmd.h"
#include "profile/search.h"
#include "profile/site.h"

/* A profile's part of the image. */
struct baking {
	struct profile *profile; /* NULL: no --profile */
	struct kargs wanted;	 /* as far as known without a node */
	struct strv unknown;	 /* the settings left to the first boot, a line for each */
};

static void baking_free(struct baking *k)
{
	profile_free(k->profile);
	kargs_free(&k->wanted);
	strv_free(&k->unknown);
}

/* --- the tree ------------------------------------------------------------------------------- */

/* As in systemctl: "/" is an ordinary tree unless systemd has booted from it. */
static bool is_booted(const struct root *root)
{
	return root->live && root_exists(root, "/run/systemd/system");
}

static int judge_tree(const struct invocation *inv)
{
	if (!inv->root_path)
		return fail(EXIT_USAGE, "bake: --root DIR is missing; give the top directory of an "
					"image's tree (/ in the container or chroot of an image)");
	if (is_booted(&inv->root) && !inv->undo)
		return fail(EXIT_USAGE,
			    "bake: %s is the root of this running machine: bake is for the trees "
			    "of images; on a running machine the package enables the units, and "
			    "its gate arms the arguments",
			    inv->root_path);
	if (root_exists(&inv->root, "/usr/.") && root_exists(&inv->root, "/etc/."))
		return EXIT_OK;
	return fail(EXIT_USAGE,
		    "bake: %s is not a root tree: it lacks the directories usr and etc; give the "
		    "directory that will be / in the image",
		    inv->root_path);
}

/* --- its profiles --------------------------------------------------------------------------- */

/* Loads from the tree's search path, because the profiles of this machine are not in the image. */
static struct profile *load(struct invocation *inv, const char *name)
{
	struct profile *p = NULL;
	cleanup(diags_free) struct diags diags = {0};
	struct err err = {0};
	int r = profile_load_named(&inv->root, name, NULL, &p, &diags, &err);

	print_diags(stderr, &diags);
	if (r < 0)
		complain("bake: %s", err.text);
	return r < 0 ? NULL : p;
}

static int check_all(struct invocation *inv, struct bake *b)
{
	cleanup(profile_files_free) struct profile_files files = {0};
	struct err err = {0};
	int code = EXIT_OK;
	size_t n = 0;

	if (profile_files_list(&inv->root, &files, &err) < 0)
		return fail(EXIT_INTERNAL, "bake: %s", err.text);
	for (size_t i = 0; i < files.list.n; i++) {
		const struct profile_file *f = &files.list.v[i];
		struct profile *p;

		if (f->masked || f->overridden_by)
			continue;
		n++;
		p = load(inv, f->name);
		if (!p)
			code = EXIT_INVALID;
		profile_free(p);
	}
	if (!n)
		bake_warn(b,
			  "there is no profile in this tree (%s, %s): a node gets the verdict "
			  "none and does not accept work until it has a profile",
			  profile_dirs[0], profile_dirs[2]);
	return code;
}

/* An invalid site file would block each node of the image. */
static int check_site(struct invocation *inv)
{
	cleanup(diags_free) struct diags diags = {0};
	struct site site;

	site_load(&inv->root, &site, &diags);
	return print_diags(stderr, &diags) ? EXIT_INVALID : EXIT_OK;
}

static int open_profile(struct invocation *inv, struct bake *b, struct baking *k)
{
	struct err err = {0};

	if (!inv->profile)
		return check_all(inv, b);
	if (!profile_is_name(inv->profile))
		return fail(EXIT_USAGE,
			    "bake: --profile %s: the image does not have this file when it boots; "
			    "put the file into %s of the tree, and give the name of the profile",
			    inv->profile, profile_dirs[0]);
	k->profile = load(inv, inv->profile);
	if (!k->profile)
		return EXIT_INVALID;
	if (k->profile->abstract)
		return fail(EXIT_INVALID,
			    "bake: %s is abstract, and a node cannot use an abstract profile; name "
			    "a profile that extends it",
			    k->profile->name);
	gather_kargs(&inv->root, NULL, k->profile, &k->wanted, &k->unknown);
	if (bake_check_kargs(b, &k->wanted, &err) == 0)
		return EXIT_OK;
	return fail(EXIT_INVALID, "bake: %s: %s", k->profile->name, err.text);
}

/* --- what came of it ------------------------------------------------------------------------ */

static const char *const loader_names[] = {
	[BAKE_GRUB] = "grub", [BAKE_BOOTC] = "bootc", [BAKE_OTHER] = "other"};

static STORED_TABLE(item_stored, STORED(bake_item, path, "path", TEXT),
		    STORED(bake_item, result, "result", ENUM, .word = bake_result_name),
		    STORED(bake_item, what, "what", STRING, .omit = true),
		    STORED(bake_item, why, "reason", TEXT));

static STORED_TABLE(items_stored, STORED_ITEMS(bake, items, "", LIST, item_stored));

static void print_as_json(const struct bake *b, const struct baking *k)
{
	json_t *doc = json_pack("{s:s, s:b, s:o, s:o}", "root", b->root->path, "changed",
				bake_changed(b), "items", stored_to_json(items_stored, b),
				"warnings", stored_to_json(texts_stored, &b->warnings));

	if (k->profile) {
		json_object_set_new(doc, "profile",
				    json_pack("{s:s, s:s, s:s}", "name", k->profile->name,
					      "version", k->profile->version, "digest",
					      k->profile->digest));
		json_object_set_new(doc, "kernel_args", stored_to_json(kargs_stored, &k->wanted));
		json_object_set_new(doc, "left_to_first_boot",
				    stored_to_json(texts_stored, &k->unknown));
		json_object_set_new(doc, "loader", json_string(loader_names[b->loader]));
	}
	print_json(doc);
}

static void print_kargs(const struct bake *b, const struct baking *k)
{
	cleanup_free char *line = kargs_line(&k->wanted);
	const char *whose =
		b->loader != BAKE_OTHER ? ""
		: root_exists(b->root, "/etc/kernel/cmdline")
			? " (put them into /etc/kernel/cmdline by hand)"
			: " (give them to the boot loader, boot server or ukify by hand)";

	printf("kernel arguments of %s%s: %s\n", k->profile->name, k->wanted.n ? whose : "",
	       *line ? line : "(none)");
	for (size_t i = 0; i < k->unknown.n; i++)
		printf("left to the first boot: %s\n", k->unknown.v[i]);
}

static void print_text(const struct bake *b, const struct baking *k, bool undo)
{
	for (size_t i = 0; i < b->items.n; i++) {
		const struct bake_item *it = &b->items.v[i];

		if (it->result == BAKE_LEFT)
			complain("bake: %s: left as it is: %s", it->path, it->why);
		else
			printf("%-8s %s%s%s%s\n", bake_result_name(it->result), it->path,
			       *it->what ? " (" : "", it->what, *it->what ? ")" : "");
	}
	if (k->profile)
		print_kargs(b, k);
	for (size_t i = 0; i < b->warnings.n; i++)
		complain("bake: warning: %s", b->warnings.v[i]);
	if (!bake_changed(b))
		printf(undo ? "the tree has nothing that bake made, and is unchanged\n"
			    : "the tree is up to date, and is unchanged\n");
}

static bool any_left(const struct bake *b)
{
	for (size_t i = 0; i < b->items.n; i++)
		if (b->items.v[i].result == BAKE_LEFT)
			return true;
	return false;
}

static int report(struct invocation *inv, const struct bake *b, const struct baking *k)
{
	if (inv->json)
		print_as_json(b, k);
	else
		print_text(b, k, inv->undo);
	if (any_left(b))
		return inv->undo ? EXIT_PENDING : EXIT_FAILED;
	if (!inv->strict || !b->warnings.n)
		return EXIT_OK;
	return fail(EXIT_PENDING,
		    "bake: --strict: %zu warning%s; add the missing parts and run bake again",
		    b->warnings.n, b->warnings.n == 1 ? "" : "s");
}

/* --- the verb ------------------------------------------------------------------------------- */

static int want_gates(struct invocation *inv, struct bake *b)
{
	cleanup_strv struct strv units = {0};
	struct err err = {0};

	for (size_t i = 0; i < inv->gates.n; i++) {
		cleanup_free char *unit = NULL;
		int r = bake_gate_name(inv->gates.v[i], &unit, &err);

		/* "x" and "x.service" are the same unit */
		if (r == 0 && !strv_contains(&units, unit)) {
			strv_add(&units, unit);
			r = bake_gate(b, unit, &err);
		}
		if (r < 0)
			return fail(r == -EINVAL ? EXIT_USAGE : EXIT_INTERNAL, "bake: %s",
				    err.text);
	}
	return EXIT_OK;
}

/* True if bake changes the image's kernel arguments. */
static bool args_change(const struct bake *b, const struct baking *k)
{
	if (b->loader == BAKE_OTHER)
		return k->wanted.n > 0;
	for (size_t i = 0; i < b->items.n; i++)
		if (b->items.v[i].kernel_args && b->items.v[i].result != BAKE_SAME)
			return k->wanted.n > 0;
	return false;
}

static int bake(struct invocation *inv, struct bake *b, struct baking *k)
{
	struct karg_heading heading = {.name = ""};
	struct err err = {0};
	int code = check_site(inv);

	if (code == EXIT_OK)
		code = open_profile(inv, b, k);
	if (code == EXIT_OK)
		code = want_gates(inv, b);
	if (code != EXIT_OK)
		return code;
	if (k->profile)
		heading = heading_of(k->profile);
	if (bake_units(b, &err) < 0 ||
	    bake_kargs(b, k->profile ? &k->wanted : NULL, &heading, &err) < 0 ||
	    bake_apply(b, &err) < 0)
		return fail(EXIT_INTERNAL, "bake: %s; correct the error and run bake again",
			    err.text);
	bake_judge(b, args_change(b, k));
	return report(inv, b, k);
}

static int undo(struct invocation *inv, struct bake *b)
{
	struct baking none = {0};
	struct err err = {0};

	if (inv->profile || inv->gates.n || inv->strict)
		return fail(EXIT_USAGE, "bake: --undo takes back all files that bake made; leave "
					"out --profile, --gate and --strict");
	/* The arguments of a machine that runs are changed by a trial, or `kargs --reset`. */
	if ((!is_booted(&inv->root) && bake_undo_kargs(b, &err) < 0) ||
	    bake_undo_gates(b, &err) < 0)
		return fail(EXIT_INTERNAL, "bake: %s; correct the error and run bake --undo again",
			    err.text);
	return report(inv, b, &none);
}

static int run(struct invocation *inv)
{
	struct bake b cleanup_bake = {.lock = -1};
	struct baking k cleanup(baking_free) = {0};
	struct err err = {0};
	int code = judge_tree(inv);

	if (code != EXIT_OK)
		return code;
	if (bake_open(&inv->root, &b, &err) < 0)
		return fail(EXIT_INTERNAL, "bake: %s", err.text);
	return inv->undo ? undo(inv, &b) : bake(inv, &b, &k);
}

const struct verb verb_bake = {
	.name = "bake",
	.args = "",
	.help = "prepare an image tree: units, kernel arguments, dependent units (--gate)",
	.options = OPT_ROOT | OPT_JSON | OPT_PROFILE | OPT_GATE | OPT_STRICT | OPT_UNDO,
	.writes = true,
	.run = run,
};
