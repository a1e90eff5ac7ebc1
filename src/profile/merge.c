/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/merge.h"

#include "profile/keypath.h"
#include "profile/schema.h"
#include "profile/yaml.h"

struct merge {
	struct diags *diags;
	struct shadows *shadows; /* or NULL */
	struct str path;
};

/* Records a shadow at the walk's current key. */
static void note_shadow(struct merge *m, const struct ynode *old, struct place by, bool deleted)
{
	struct shadow shadow = {.at = old->at, .by = by, .deleted = deleted};

	if (!m->shadows)
		return;
	shadow.key = xstrdup(str_get(&m->path));
	if (m->path.len && shadow.key[m->path.len - 1] == '+')
		shadow.key[m->path.len - 1] = '\0';
	shadow.value = ynode_line(old);
	vec_push(&m->shadows->list, shadow);
}

void shadows_free(struct shadows *shadows)
{
	for (size_t i = 0; i < shadows->list.n; i++) {
		free(shadows->list.v[i].key);
		free(shadows->list.v[i].value);
	}
	vec_free(&shadows->list);
}

static void lay_over(struct merge *m, struct ynode *base, const struct ynode *over,
		     const struct spec *spec);

/* A copy without null values and `key+:`, which need nothing further to merge. */
static struct ynode *settle(struct merge *m, const struct ynode *n, const struct spec *spec)
{
	struct ynode *copy;

	if (n->kind == YAML_SCALAR)
		return ynode_copy(n);
	copy = ynode_new(n->kind, n->at);
	if (n->kind == YAML_MAP)
		lay_over(m, copy, n, spec);
	spec = spec_for(spec, YAML_LIST);
	for (size_t i = 0; n->kind == YAML_LIST && i < n->items.n; i++)
		vec_push(&copy->items, settle(m, n->items.v[i], spec ? spec->item : NULL));
	return copy;
}

static void append_item(struct merge *m, struct ynode *list, struct ynode *item,
			const struct spec *spec)
{
	for (size_t i = 0; spec && i < list->items.n; i++) {
		if (!item_same(spec->identity, list->items.v[i], item))
			continue;
		note_shadow(m, list->items.v[i], item->at, false);
		ynode_free(list->items.v[i]);
		list->items.v[i] = item;
		return;
	}
	vec_push(&list->items, item);
}

static void append(struct merge *m, struct ynode *base, const struct ynode *key,
		   const struct ynode *more, const struct spec *spec)
{
	cleanup_free char *name = xstrndup(key->text, strlen(key->text) - 1);
	struct ynode *list = ynode_get(base, name);

	spec = spec_for(spec_child(spec, name), YAML_LIST);
	if (!list || list->kind != YAML_LIST) {
		cleanup_ynode struct ynode *plain_key = ynode_scalar(key->at, name, key->plain);

		list = ynode_new(YAML_LIST, more->at);
		ynode_set(base, plain_key, list);
	}
	for (size_t i = 0; i < more->items.n; i++)
		append_item(m, list, settle(m, more->items.v[i], spec ? spec->item : NULL), spec);
}

static void delete_key(struct merge *m, struct ynode *base, const struct ynode *key)
{
	bool refused = strchr(key->text, '+') || streq(str_get(&m->path), "schema") ||
		       streq(str_get(&m->path), "name");

	const struct ynode *old = ynode_get(base, key->text);

	if (old)
		note_shadow(m, old, key->at, true);
	/* Warn, because an empty value is more often an oversight than a deletion. */
	m->diags->code = "nothing-to-delete";
	if (!old && !refused)
		diag_warn(
			m->diags, key->at, str_get(&m->path),
			"no value, and no base has one to delete; write a value or remove the key");
	m->diags->code = NULL;
	ynode_remove(base, key->text);
}

static bool is_append(const struct ynode *key, const struct ynode *value)
{
	size_t len = strlen(key->text);

	return len > 1 && key->text[len - 1] == '+' && value->kind == YAML_LIST;
}

static void lay_key(struct merge *m, struct ynode *base, const struct ynode *key,
		    const struct ynode *value, const struct spec *spec)
{
	struct ynode *old = ynode_get(base, key->text);

	if (is_append(key, value))
		append(m, base, key, value, spec);
	else if (ynode_is_null(value))
		delete_key(m, base, key);
	else if (old && old->kind == YAML_MAP && value->kind == YAML_MAP)
		lay_over(m, old, value, spec_child(spec, key->text));
	else {
		if (old)
			note_shadow(m, old, value->at, false);
		ynode_set(base, key, settle(m, value, spec_child(spec, key->text)));
	}
}

static void lay_over(struct merge *m, struct ynode *base, const struct ynode *over,
		     const struct spec *spec)
{
	base->at = over->at;
	for (size_t i = 0; i < over->keys.n; i++) {
		size_t was = keypath_key(&m->path, over->keys.v[i]->text);

		lay_key(m, base, over->keys.v[i], over->items.v[i], spec);
		keypath_back(&m->path, was);
	}
}

/* match is inherited from bases, so a variant of a SKU need not repeat shared conditions. */
static bool is_left_out(const char *key, enum layer what)
{
	const struct field *f = spec_field(schema_profile(), key);

	if (what == LAYER_OWN || !f)
		return false;
	return f->flags & FIELD_NOT_INHERITED || (what == LAYER_DROPIN && streq(key, "match"));
}

void merge_layer(struct ynode *doc, const struct ynode *layer, enum layer what,
		 struct shadows *shadows, struct diags *diags)
{
	struct merge m = {.diags = diags, .shadows = shadows};

	for (size_t i = 0; i < layer->keys.n; i++) {
		size_t was = keypath_key(&m.path, layer->keys.v[i]->text);

		if (!is_left_out(layer->keys.v[i]->text, what))
			lay_key(&m, doc, layer->keys.v[i], layer->items.v[i], schema_profile());
		keypath_back(&m.path, was);
	}
	str_free(&m.path);
}

/* --- digest ------------------------------------------------------------------------------- */

struct pair {
	const struct ynode *key, *value;
};

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct pair *)a)->key->text, ((const struct pair *)b)->key->text);
}

/* The length prefix makes text unambiguous without quoting. */
static void canon_text(struct str *out, const char *text)
{
	str_addf(out, "%zu:%s", strlen(text), text);
}

static void canon(struct str *out, const struct ynode *n, bool ordered);

static void canon_map(struct str *out, const struct ynode *n, bool ordered, bool top)
{
	struct pair *pairs = xcalloc(n->keys.n, sizeof(*pairs));

	for (size_t i = 0; i < n->keys.n; i++)
		pairs[i] = (struct pair){n->keys.v[i], n->items.v[i]};
	if (!ordered)
		qsort(pairs, n->keys.n, sizeof(*pairs), by_key);
	str_add(out, "{");
	for (size_t i = 0; i < n->keys.n; i++) {
		const char *key = pairs[i].key->text;

		if (top && streq(key, "extends"))
			continue; /* skip: the bases are merged in, so their names add nothing */
		canon_text(out, key);
		canon(out, pairs[i].value, top && (streq(key, "sysctl") || streq(key, "sysfs")));
	}
	str_add(out, "}");
	free(pairs);
}

static void canon(struct str *out, const struct ynode *n, bool ordered)
{
	if (n->kind == YAML_SCALAR) {
		canon_text(out, n->text);
		return;
	}
	if (n->kind == YAML_MAP) {
		canon_map(out, n, ordered, false);
		return;
	}
	str_add(out, "[");
	for (size_t i = 0; i < n->items.n; i++)
		canon(out, n->items.v[i], false);
	str_add(out, "]");
}

void profile_digest(const struct ynode *doc, char ret[SHA256_HEX])
{
	cleanup_str struct str out = {0};

	canon_map(&out, doc, false, true);
	sha256_hex(str_get(&out), out.len, ret);
}
