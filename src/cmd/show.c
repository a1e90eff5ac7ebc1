/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show: the profiles of the search path, or one merged profile with its derived settings. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "profile/emit.h"
#include "profile/lines.h"
#include "profile/search.h"
#include "profile/yaml.h"
#include "report/inventory.h"
#include "report/sets.h"
#include "report/table.h"
#include "sections/derived.h"

/* --- the list ----------------------------------------------------------------------------- */

struct entry {
	const struct profile_file *file;
	struct profile *profile; /* NULL: invalid, or not used */
	char *extends;		 /* names, a blank between them */
	char *note;		 /* why the profile is not used, or its first error; "" */
};

static char *extends_of(const struct profile *p)
{
	const struct ynode *n = ynode_get(p->doc, "extends");
	struct str out = {0};

	if (n && n->kind == YAML_SCALAR)
		str_add(&out, n->text);
	for (size_t i = 0; n && n->kind == YAML_LIST && i < n->items.n; i++)
		str_addf(&out, "%s%s", i ? " " : "", n->items.v[i]->text);
	return str_take(&out);
}

static char *first_error(const struct diags *diags, const struct err *err)
{
	for (size_t i = 0; i < diags->list.n; i++)
		if (!diags->list.v[i].warning)
			return diag_format(&diags->list.v[i]);
	return xstrdup(err->text);
}

static struct entry read_entry(const struct root *root, const struct profile_file *f)
{
	struct entry e = {.file = f};
	struct diags diags = {0};
	struct err err = {0};

	if (f->overridden_by)
		e.note = xasprintf("overridden by %s", f->overridden_by);
	else if (f->masked)
		e.note = xstrdup("masked: a link to /dev/null");
	else if (profile_load_named(root, f->name, NULL, &e.profile, &diags, &err) < 0)
		e.note = first_error(&diags, &err);
	diags_free(&diags);
	e.extends = e.profile ? extends_of(e.profile) : xstrdup("");
	if (!e.note)
		e.note = xstrdup("");
	return e;
}

static const char *state_of(const struct entry *e)
{
	if (e->file->overridden_by)
		return "overridden";
	if (e->file->masked)
		return "masked";
	if (!e->profile)
		return "invalid";
	return e->profile->abstract ? "abstract" : "valid";
}

static json_t *entry_to_json(const struct entry *e)
{
	const struct profile *p = e->profile;

	return json_pack(
		"{s:o, s:s, s:s, s:o, s:s*, s:s*, s:o*, s:o*}", "name", text_json(e->file->name),
		"state", state_of(e), "extends", e->extends, "file", text_json(e->file->path),
		"version", p ? p->version : NULL, "digest", p ? p->digest : NULL, "abstract",
		p ? json_boolean(p->abstract) : NULL, "note", *e->note ? text_json(e->note) : NULL);
}

static void entry_to_row(struct table *t, const struct entry *e)
{
	table_add(t, e->file->name, e->profile ? e->profile->version : "", state_of(e), e->extends,
		  e->file->path, e->note);
}

static int list_profiles(struct invocation *inv)
{
	static const char *const heading[] = {"NAME", "VERSION", "STATE", "EXTENDS",
					      "FILE", "NOTE",	 NULL};
	const struct root *root = profiles_root(inv);
	struct table t = {.name = "profile", .heading = heading};
	struct profile_files files = {0};
	json_t *list = json_array();
	struct err err = {0};

	if (profile_files_list(root, &files, &err) < 0) {
		complain("%s", err.text);
		json_decref(list);
		return EXIT_INTERNAL;
	}
	for (size_t i = 0; i < files.list.n; i++) {
		struct entry e;

		if (!profile_name_is_valid(files.list.v[i].name)) {
			complain("show: %s: the file's name is not a profile's name; rename the "
				 "file",
				 files.list.v[i].path);
			continue;
		}
		e = read_entry(root, &files.list.v[i]);
		json_array_append_new(list, entry_to_json(&e));
		entry_to_row(&t, &e);
		profile_free(e.profile);
		free(e.extends);
		free(e.note);
	}
	if (inv->json)
		print_json(json_pack("{s:O}", "profiles", list));
	else
		table_print(stdout, &t, begin_page(inv).terminal);
	json_decref(list);
	table_free(&t);
	profile_files_free(&files);
	return EXIT_OK;
}

/* --- one of them -------------------------------------------------------------------------- */

/* A profile, the node that it is shown for, and its derived settings there. */
struct view {
	const struct root *root;
	struct profile *profile;
	struct node node;
	bool has_node;
	bool resolved;
	struct derived derived;
	struct sets_account sets; /* with a node */
};

/*
 * Takes the node of --root as the profile's node. This machine is the profile's node only if the
 * profile matches it, because an author's machine is not.
 */
static int open_view(struct invocation *inv, struct view *v)
{
	struct profile *on_node = NULL;
	struct err err = {0};

	v->root = &inv->root;
	v->resolved = inv->resolved;
	if (node_survey(&inv->root, &v->node, &err) < 0)
		return fail(EXIT_INTERNAL, "%s", err.text);
	if (!load_named(inv, inv->args[0], NULL, &v->profile))
		return EXIT_INVALID;
	v->has_node = !inv->root.live || profile_fits(v->profile, &v->node);
	if (!v->has_node)
		return EXIT_OK;
	/* loaded again, for drop-ins with a match; a profile that does not fit is shown, too */
	if (load_named(inv, inv->args[0], &v->node, &on_node)) {
		profile_free(v->profile);
		v->profile = on_node;
	} else {
		complain("the profile does not fit this node; railhead shows the profile without a "
			 "node");
		v->has_node = false;
	}
	return EXIT_OK;
}

static void resolve(struct view *v)
{
	const struct node *node = v->has_node ? &v->node : NULL;

	if (!v->resolved)
		return;
	if (node)
		device_sets_prepare(v->root, &v->node, v->profile->devices.v,
				    v->profile->devices.n);
	derive_kargs(v->root, node, v->profile, &v->derived);
	if (!node)
		return;
	if (sets_account(node, v->profile, &v->sets, NULL) < 0)
		v->has_node = false; /* a cycle of sets, which check has rejected */
}

static void close_view(struct view *v)
{
	derived_free(&v->derived);
	sets_account_free(&v->sets);
	profile_free(v->profile);
	node_free(&v->node);
}

/* --- as JSON ------------------------------------------------------------------------------ */

static json_t *scalar_to_json(const struct ynode *n)
{
	size_t len = strlen(n->text);

	if (n->plain && (streq(n->text, "true") || streq(n->text, "false")))
		return json_boolean(*n->text == 't');
	if (n->plain && len && len < 16 && !n->text[strspn(n->text, "0123456789")] &&
	    (len == 1 || *n->text != '0'))
		return json_integer(strtoll(n->text, NULL, 10));
	return json_string(n->text);
}

static json_t *tree_to_json(const struct ynode *n)
{
	json_t *out;

	if (n->kind == YAML_SCALAR)
		return scalar_to_json(n);
	out = n->kind == YAML_MAP ? json_object() : json_array();
	for (size_t i = 0; i < n->items.n; i++) {
		json_t *item = tree_to_json(n->items.v[i]);

		if (n->kind == YAML_MAP)
			json_object_set_new(out, n->keys.v[i]->text, item);
		else
			json_array_append_new(out, item);
	}
	return out;
}

/* "kernel_args.set[1]": "roce-base.yaml:31" */
static json_t *origins_to_json(const struct profile *p)
{
	cleanup(profile_lines_free) struct profile_lines lines;
	json_t *out = json_object();

	profile_lines_of(p, &lines);
	for (size_t i = 0; i < lines.list.n; i++) {
		const struct ynode *n = lines.list.v[i].value;
		cleanup_free char *at = place_text(&n->at);

		if (n->kind == YAML_SCALAR || !n->items.n)
			json_object_set_new(out, lines.list.v[i].path, text_json(at));
	}
	return out;
}

static json_t *kargs_to_json(const struct derived *d)
{
	json_t *list = json_array();

	for (size_t i = 0; i < d->list.n; i++) {
		const struct derived_section *s = &d->list.v[i];
		json_t *args = json_array(), *unknown = json_array();

		for (size_t j = 0; j < s->kargs.n; j++)
			json_array_append_new(
				args,
				json_pack("{s:s, s:o}", "argument", s->kargs.v[j].text, "origin",
					  text_json(s->kargs.v[j].origin ? s->kargs.v[j].origin
									 : "")));
		for (size_t j = 0; j < s->unknown.n; j++)
			json_array_append_new(unknown, json_string(s->unknown.v[j].text));
		json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "section", s->section,
						      "arguments", args, "unknown", unknown));
	}
	return list;
}

static void show_json(const struct view *v)
{
	const struct profile *p = v->profile;
	json_t *tree = tree_to_json(p->doc), *doc;

	json_object_del(tree, "extends");
	doc = json_pack("{s:s, s:o, s:s, s:o, s:o, s:o}", "name", p->name, "file",
			text_json(p->file), "digest", p->digest, "files", texts_json(&p->files),
			"profile", tree, "origins", origins_to_json(p));
	if (v->resolved)
		json_object_update_new(doc, json_pack("{s:o, s:o?}", "kernel_args",
						      kargs_to_json(&v->derived), "devices",
						      v->has_node ? sets_to_json(&v->sets) : NULL));
	print_json(doc);
}

/* --- as text ------------------------------------------------------------------------------ */

/* Prints comments only, so that the output remains a profile. */
static void print_derived(const struct view *v)
{
	printf("\n# Derived settings %s:\n",
	       v->has_node ? "on this node" : "without a node (railhead show --resolved --root)");
	for (size_t i = 0; i < v->derived.list.n; i++) {
		const struct derived_section *s = &v->derived.list.v[i];

		printf("#   kernel arguments of %s:\n", s->section);
		for (size_t j = 0; j < s->kargs.n; j++)
			printf("#     %s\n", s->kargs.v[j].text);
		for (size_t j = 0; j < s->unknown.n; j++)
			printf("#     not known: %s\n", s->unknown.v[j].text);
	}
	if (!v->derived.list.n)
		printf("#   no kernel arguments\n");
}

static void print_sets(const struct view *v)
{
	if (!v->profile->devices.n)
		return;
	if (!v->has_node) {
		printf("#   device sets: only a node shows the members\n");
		return;
	}
	printf("#   device sets:\n");
	for (size_t i = 0; i < v->sets.list.n; i++) {
		const struct device_set *set = v->sets.list.v[i].set;
		cleanup_free char *expected = device_set_expectation(set);

		printf("#     %s:", set->sel->name);
		for (size_t j = 0; j < set->fn.n; j++)
			printf(" %s", set->fn.v[j]->addr);
		if (!set->fn.n)
			printf(" none");
		if (expected)
			printf(" (%s expected)", expected);
		putchar('\n');
	}
}

static void show_text(const struct view *v)
{
	const struct profile *p = v->profile;
	cleanup_str struct str out = {0};

	printf("# %s%s%s, digest %s\n", p->name, *p->version ? " " : "", p->version, p->digest);
	for (size_t i = 0; i < p->files.n; i++) {
		cleanup_free char *file = str_printable(p->files.v[i], SIZE_MAX);

		printf("# %s %s\n", i ? "     " : "merged", file);
	}
	profile_emit(p, &out);
	fputs(str_get(&out), stdout);
	if (!v->resolved)
		return;
	print_derived(v);
	print_sets(v);
}

static int run(struct invocation *inv)
{
	cleanup(close_view) struct view v = {0};
	int code;

	if (!inv->nargs)
		return list_profiles(inv);
	code = open_view(inv, &v);
	if (code != EXIT_OK)
		return code;
	resolve(&v);
	if (inv->json)
		show_json(&v);
	else
		show_text(&v);
	return EXIT_OK;
}

const struct verb verb_show = {
	.name = "show",
	.args = "[NAME|FILE]",
	.help = "list the profiles, or print one merged; --resolved adds derived settings",
	.options = OPT_ROOT | OPT_JSON | OPT_RESOLVED | OPT_SCREEN,
	.max_args = 1,
	.run = run,
};
