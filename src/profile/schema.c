/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks a document against the tables of the language. */
#include "profile/schema.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "profile/keypath.h"
#include "profile/synonyms.h"
#include "profile/yaml.h"

struct walk {
	struct diags *diags;
	struct str path;
	enum schema_doc kind;
};

static void check_value(struct walk *w, const struct spec *s, struct ynode *n);

/* Reports an error at the walk's current path. code: see struct diag. */
static void wrong(struct walk *w, const char *code, struct place at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void wrong(struct walk *w, const char *code, struct place at, const char *fmt, ...)
{
	cleanup_str struct str text = {0};
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	w->diags->code = code;
	diag_error(w->diags, at, str_get(&w->path), "%s", str_get(&text));
	w->diags->code = NULL;
}

/* --- specs -------------------------------------------------------------------------------- */

const struct field *spec_field(const struct spec *spec, const char *key)
{
	for (const struct field *f = spec->fields; f->name; f++)
		if (streq(f->name, key))
			return f;
	return NULL;
}

bool spec_accepts(const struct spec *spec, const char *text)
{
	struct ynode n = {.kind = YAML_SCALAR, .text = (char *)text, .plain = true};
	cleanup_str struct str why = {0};
	bool accepted = spec->check(spec, &n, &why);

	free(n.value.set);
	return accepted;
}

const char *spec_word(const struct spec *s, size_t index)
{
	const struct field *f = s->keys_of ? s->keys_of->fields : NULL;

	if (s->words)
		return s->words[index];
	if (s->meanings)
		return s->meanings[2 * index];
	for (; f && f->name; f++)
		if ((f->class == KEY_INHERITS || f->class == KEY_SETS) && !index--)
			return f->name;
	return NULL;
}

const char *spec_meaning(const struct spec *s, const char *word)
{
	for (const char *const *m = s->meanings; m && *m; m += 2)
		if (streq(*m, word))
			return m[1];
	return s->meaning;
}

const struct spec *spec_for(const struct spec *spec, enum yaml_kind kind)
{
	if (!spec || spec->kind != SPEC_EITHER)
		return spec;
	return kind == YAML_MAP ? spec->map : kind == YAML_LIST ? spec->list : spec->scalar;
}

const struct spec *spec_scalar(const struct spec *spec)
{
	if (spec->kind == SPEC_EITHER && spec->scalar)
		spec = spec->scalar;
	return spec->kind == SPEC_LIST && spec->item->kind == SPEC_SCALAR ? spec->item : spec;
}

const struct spec *spec_child(const struct spec *spec, const char *key)
{
	const struct field *f;

	spec = spec_for(spec, YAML_MAP);
	if (!spec)
		return NULL;
	if (spec->kind == SPEC_MAP_OF)
		return spec->item;
	if (spec->kind != SPEC_MAP)
		return NULL;
	f = spec_field(spec, key);
	return f ? f->spec : NULL;
}

bool spec_may_append(const struct spec *map, const struct field *field)
{
	const struct spec *list = spec_for(field->spec, YAML_LIST);

	if (map == schema_profile() && field->flags & FIELD_NOT_INHERITED)
		return false;
	return list && list->kind == SPEC_LIST;
}

/* --- duplicate items ---------------------------------------------------------------------- */

size_t arg_key_len(const char *arg)
{
	return strcspn(arg, "=");
}

bool dash_equal(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char ca = a[i] == '-' ? '_' : a[i];
		char cb = b[i] == '-' ? '_' : b[i];

		if (ca != cb)
			return false;
		if (!ca)
			break;
	}
	return true;
}

static const char *item_text(enum item_identity identity, const struct ynode *n)
{
	if (identity == ITEM_NAME && n->kind == YAML_MAP)
		return ynode_text(n, "name", NULL);
	return n->kind == YAML_SCALAR ? n->text : NULL;
}

bool item_same(enum item_identity identity, const struct ynode *a, const struct ynode *b)
{
	const char *ta = item_text(identity, a), *tb = item_text(identity, b);

	if (identity == ITEM_NONE || !ta || !tb)
		return false;
	if (identity == ITEM_TEXT)
		return streq(ta, tb);
	if (identity == ITEM_NAME)
		return dash_equal(ta, tb, strlen(ta) + 1);
	return arg_key_len(ta) == arg_key_len(tb) && dash_equal(ta, tb, arg_key_len(ta));
}

/* --- similar words ------------------------------------------------------------------------ */

bool word_is_one_of(const char *word, const char *const *words)
{
	for (; words && *words; words++)
		if (streq(word, *words))
			return true;
	return false;
}

const char *nearest_word(const char *word, const char *const *words)
{
	const char *near = NULL;
	size_t best = SIZE_MAX;

	for (; words && *words; words++)
		if (str_is_near(word, *words, &best))
			near = *words;
	return near;
}

static const char *nearest_field(const struct spec *s, const char *key)
{
	const char *near = NULL;
	size_t best = SIZE_MAX;

	for (const struct field *f = s->fields; f->name; f++)
		if (str_is_near(key, f->name, &best))
			near = f->name;
	return near;
}

static char *known_fields(const struct walk *w, const struct spec *s)
{
	struct str out = {0};

	for (const struct field *f = s->fields; f->name; f++) {
		if (w->kind == SCHEMA_DROPIN && f->flags & FIELD_NO_DROPIN)
			continue;
		str_addf(&out, "%s%s", out.len ? ", " : "", f->name);
	}
	return str_take(&out);
}

/* --- scalars, lists ----------------------------------------------------------------------- */

static void wrong_kind(struct walk *w, const struct spec *s, const struct ynode *n)
{
	wrong(w, "wrong-kind", n->at, "expected %s, not %s", s->what, ynode_kind_name(n));
}

static size_t text_len_to(const char *text, const char *end)
{
	const char *p = strstr(text, end);

	return p ? (size_t)(p - text) : strlen(text);
}

static void check_scalar(struct walk *w, const struct spec *s, struct ynode *n)
{
	cleanup_str struct str why = {0};
	cleanup_free char *other = NULL;

	if (s->check(s, n, &why)) {
		n->value.spec = s;
		return;
	}
	other = synonym_value(s, spec_accepts, n->text);
	if (other)
		wrong(w, "synonym", n->at, "%.*s; write %s", (int)text_len_to(str_get(&why), "; "),
		      str_get(&why), other);
	else
		wrong(w, "value", n->at, "%s", str_get(&why));
}

static void check_twice(struct walk *w, const struct spec *s, const struct ynode *list, size_t i)
{
	const struct ynode *n = list->items.v[i];

	for (size_t j = 0; j < i; j++) {
		const struct ynode *first = list->items.v[j];

		if (!item_same(s->identity, first, n))
			continue;
		wrong(w, "twice", n->at, "%.60s is already listed at %u:%u; %s",
		      item_text(s->identity, n), first->at.line, first->at.col,
		      s->identity == ITEM_ARG ? "write one argument with all its values"
					      : "remove one of the two");
		return;
	}
}

static void check_list(struct walk *w, const struct spec *s, const struct ynode *n)
{
	enum { ITEMS_MAX = 1024 };

	if (n->items.n > ITEMS_MAX) {
		wrong(w, "too-many", n->at, "%zu items; at most %d are allowed", n->items.n,
		      ITEMS_MAX);
		return;
	}
	for (size_t i = 0; i < n->items.n; i++) {
		size_t was = keypath_index(&w->path, i);

		if (ynode_is_null(n->items.v[i]))
			wrong_kind(w, s->item, n->items.v[i]);
		else
			check_value(w, s->item, n->items.v[i]);
		check_twice(w, s, n, i);
		keypath_back(&w->path, was);
	}
}

/* --- maps --------------------------------------------------------------------------------- */

/* The replacement of a key that earlier versions had. */
static const char *successor(const char *name)
{
	return streq(name, "unsupported")
		       ? "write optional: true, or a list of keys, in the set that may lack them "
			 "(qos: {rails: {dcqcn: ..., optional: [dcqcn]}})"
		       : NULL;
}

static void unknown_key(struct walk *w, const struct spec *s, const struct ynode *key,
			const char *name)
{
	const char *near = nearest_field(s, name), *row = synonym_key(name);
	cleanup_free char *known = known_fields(w, s);

	if (row && spec_field(s, keypath_last(row)))
		wrong(w, "synonym", key->at, "unknown key; the key here is %s", keypath_last(row));
	else if (row)
		wrong(w, "synonym", key->at, "unknown key; write %s (railhead explain %s)", row,
		      row);
	else if (successor(name))
		wrong(w, "unknown-key", key->at, "unknown key; %s", successor(name));
	else if (near)
		wrong(w, "unknown-key", key->at, "unknown key; did you mean '%s'?", near);
	else
		wrong(w, "unknown-key", key->at, "unknown key; expected one of: %s", known);
}

/* `key+:` needs a list to append to, and excludes `key:`. */
static bool may_append(struct walk *w, const struct spec *map, const struct field *f,
		       const struct ynode *doc, const struct ynode *key)
{
	if (!spec_may_append(map, f)) {
		wrong(w, "append", key->at,
		      "only lists of a base can be appended to; write %s:", f->name);
		return false;
	}
	if (ynode_get(doc, f->name)) {
		wrong(w, "append", key->at, "%s: and %s+: exclude each other; keep one", f->name,
		      f->name);
		return false;
	}
	return true;
}

static void check_field(struct walk *w, const struct spec *s, const struct ynode *map, size_t i)
{
	const struct ynode *key = map->keys.v[i];
	struct ynode *value = map->items.v[i];
	size_t len = strlen(key->text);
	bool append = len > 1 && key->text[len - 1] == '+';
	cleanup_free char *name = xstrndup(key->text, len - append);
	const struct field *f = spec_field(s, name);

	if (!f)
		unknown_key(w, s, key, name);
	else if (f->flags & FIELD_NO_DROPIN && w->kind == SCHEMA_DROPIN)
		wrong(w, "not-in-dropin", key->at,
		      "a drop-in cannot set this key; set it in the profile");
	else if (append && !may_append(w, s, f, map, key))
		return;
	else if (ynode_is_null(value) && (append || f->flags & FIELD_OWN))
		wrong_kind(w, f->spec, value);
	else if (!ynode_is_null(value))
		check_value(w, f->spec, value);
}

static bool key_is_good(struct walk *w, const struct spec *s, struct ynode *key)
{
	cleanup_str struct str why = {0};

	if (s->key->check(s->key, key, &why))
		return true;
	wrong(w, "key", key->at, "%s", str_get(&why));
	return false;
}

static void missing(struct walk *w, const struct ynode *map, const struct field *f)
{
	size_t was;

	if (synonym_is_in(map, f->name))
		return;
	was = keypath_key(&w->path, f->name);
	wrong(w, "missing", map->at, "missing; %s is required", f->spec->what);
	keypath_back(&w->path, was);
}

static void check_own(struct walk *w, const struct spec *s, const struct ynode *map)
{
	for (const struct field *f = s->fields; f->name; f++) {
		if (!(f->flags & FIELD_OWN) || ynode_get(map, f->name))
			continue;
		if (w->kind == SCHEMA_DROPIN && f->flags & FIELD_NO_DROPIN)
			continue;
		missing(w, map, f);
	}
}

static void check_map(struct walk *w, const struct spec *s, const struct ynode *n)
{
	if (s->kind == SPEC_MAP)
		check_own(w, s, n);
	for (size_t i = 0; i < n->keys.n; i++) {
		size_t was = keypath_key(&w->path, n->keys.v[i]->text);

		if (s->kind == SPEC_MAP)
			check_field(w, s, n, i);
		else if (key_is_good(w, s, n->keys.v[i]) && !ynode_is_null(n->items.v[i]))
			check_value(w, s->item, n->items.v[i]);
		keypath_back(&w->path, was);
	}
}

static void check_value(struct walk *w, const struct spec *s, struct ynode *n)
{
	static const enum yaml_kind wants[] = {
		[SPEC_SCALAR] = YAML_SCALAR,
		[SPEC_LIST] = YAML_LIST,
		[SPEC_MAP] = YAML_MAP,
		[SPEC_MAP_OF] = YAML_MAP,
	};
	const struct spec *chosen = spec_for(s, n->kind);

	if (!chosen || n->kind != wants[chosen->kind])
		wrong_kind(w, s, n);
	else if (n->kind == YAML_SCALAR)
		check_scalar(w, chosen, n);
	else if (n->kind == YAML_LIST)
		check_list(w, chosen, n);
	else
		check_map(w, chosen, n);
}

/* --- documents ---------------------------------------------------------------------------- */

/* A newer schema is the only error reported, because other keys may be valid in it. */
static bool schema_is_ours(const struct ynode *doc, struct diags *diags)
{
	struct ynode *n = ynode_get(doc, "schema");
	const struct spec *s = spec_child(schema_profile(), "schema");
	cleanup_str struct str why = {0};

	if (!n || n->kind != YAML_SCALAR || !*n->text || n->text[strspn(n->text, "0123456789")])
		return true; /* check_value() reports the error */
	if (s->check(s, n, &why))
		return true;
	diags->code = "schema";
	diag_error(diags, n->at, "schema", "%s", str_get(&why));
	diags->code = NULL;
	return false;
}

bool schema_check(struct ynode *doc, enum schema_doc kind, struct diags *diags)
{
	struct walk w = {.diags = diags, .kind = kind};

	if (doc->kind != YAML_MAP) {
		wrong(&w, "wrong-kind", doc->at, "a %s, not %s",
		      kind == SCHEMA_SITE ? "railhead.conf is a map of keys"
					  : "profile is a map of sections",
		      ynode_kind_name(doc));
		str_free(&w.path);
		return false;
	}
	if (!schema_is_ours(doc, diags))
		return false;
	check_value(&w, kind == SCHEMA_SITE ? &schema_site : schema_profile(), doc);
	str_free(&w.path);
	return true;
}

static void complete(struct walk *w, const struct spec *s, const struct ynode *n);

static void complete_map(struct walk *w, const struct spec *s, const struct ynode *n)
{
	for (const struct field *f = s->fields; s->kind == SPEC_MAP && f->name; f++)
		if (f->flags & FIELD_REQUIRED && !ynode_get(n, f->name))
			missing(w, n, f);
	for (size_t i = 0; i < n->keys.n; i++) {
		size_t was = keypath_key(&w->path, n->keys.v[i]->text);

		complete(w, spec_child(s, n->keys.v[i]->text), n->items.v[i]);
		keypath_back(&w->path, was);
	}
}

/* Skips nodes that schema_check() has already rejected. */
static void complete(struct walk *w, const struct spec *s, const struct ynode *n)
{
	s = spec_for(s, n->kind);
	if (!s)
		return;
	if (n->kind == YAML_MAP && (s->kind == SPEC_MAP || s->kind == SPEC_MAP_OF))
		complete_map(w, s, n);
	for (size_t i = 0; n->kind == YAML_LIST && s->kind == SPEC_LIST && i < n->items.n; i++) {
		size_t was = keypath_index(&w->path, i);

		complete(w, s->item, n->items.v[i]);
		keypath_back(&w->path, was);
	}
}

void schema_complete(const struct ynode *doc, struct diags *diags)
{
	struct walk w = {.diags = diags};

	complete(&w, schema_profile(), doc);
	str_free(&w.path);
}
