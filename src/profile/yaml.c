/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts text to a tree. libyaml parses the syntax. This file rejects constructs that libyaml
 * accepts and profiles must not have: several documents, duplicate keys, tags, merge keys, alias
 * bombs.
 */
#include "profile/yaml.h"

#include <yaml.h>

#include "base/utf8.h"
#include "profile/diag.h"
#include "profile/keypath.h"

struct anchor {
	char *name;
	const struct ynode *node;
	size_t nodes, bytes, height; /* size of the node's subtree */
};

struct build {
	yaml_parser_t parser;
	const char *file, *text;
	size_t len;
	struct diags *diags;
	struct str path;
	size_t nodes, bytes, depth;
	VEC(struct anchor) anchors;
	VEC(struct ynode *) dropped; /* kept until the end, because anchors may point to them */
};

#define cleanup_event __attribute__((__cleanup__(yaml_event_delete)))

static struct place place_of(const struct build *b, const yaml_mark_t *m)
{
	return (struct place){
		.file = b->file,
		.line = (unsigned int)m->line + 1,
		.col = (unsigned int)m->column + 1,
	};
}

/* --- checks before libyaml ---------------------------------------------------------------- */

/* The place of a byte; columns count characters, as in libyaml. */
static struct place place_at(const struct build *b, size_t offset)
{
	struct place at = {.file = b->file, .line = 1, .col = 1};

	for (size_t i = 0; i < offset && i < b->len; i++) {
		if (b->text[i] == '\n') {
			at.line++;
			at.col = 1;
		} else if ((b->text[i] & 0xc0) != 0x80) {
			at.col++;
		}
	}
	return at;
}

static bool bytes_are_text(const struct build *b)
{
	for (size_t i = 0, n; i < b->len; i += n) {
		unsigned char c = (unsigned char)b->text[i];

		n = utf8_len(b->text + i, b->len - i);
		if (!n) {
			diag_error(b->diags, place_at(b, i), "",
				   "byte 0x%02x is not UTF-8; save the file as UTF-8", c);
			return false;
		}
		if ((c < ' ' && c != '\n' && c != '\r' && c != '\t') || c == 0x7f) {
			diag_error(b->diags, place_at(b, i), "", "%s in the text; remove it",
				   c ? "a control character" : "a NUL byte");
			return false;
		}
	}
	return true;
}

static bool size_is_sane(const struct build *b)
{
	struct place whole = {.file = b->file};

	if (b->len > YAML_BYTES_MAX) {
		diag_error(b->diags, whole, "", "larger than %d bytes; a profile is a few thousand",
			   YAML_BYTES_MAX);
		return false;
	}
	if (!b->len) {
		diag_error(b->diags, whole, "",
			   "the file is empty; a profile begins with schema: and name:");
		return false;
	}
	return true;
}

/* --- syntax errors ------------------------------------------------------------------------ */

/* For tabs libyaml reports "cannot start any token", which does not help an author. */
static bool line_has_tab_indent(const struct build *b, size_t offset)
{
	size_t i = offset < b->len ? offset : b->len;

	while (i > 0 && b->text[i - 1] != '\n')
		i--;
	while (i < b->len && b->text[i] == ' ')
		i++;
	return i < b->len && b->text[i] == '\t';
}

static void syntax_error(struct build *b)
{
	const yaml_parser_t *p = &b->parser;
	const char *problem = or_empty(p->problem);

	if (p->error == YAML_MEMORY_ERROR)
		mem_exhausted(); /* nothing is wrong with the text */
	if (p->error == YAML_READER_ERROR)
		diag_error(b->diags, place_at(b, p->problem_offset), "", "not YAML: %s", problem);
	else if (line_has_tab_indent(b, p->problem_mark.index))
		diag_error(b->diags, place_of(b, &p->problem_mark), "",
			   "a tab in the indentation; indent with spaces");
	else if (p->context)
		diag_error(b->diags, place_of(b, &p->problem_mark), "",
			   "not YAML: %s (%s that begins at line %zu)", problem, p->context,
			   p->context_mark.line + 1);
	else
		diag_error(b->diags, place_of(b, &p->problem_mark), "", "not YAML: %s", problem);
}

static bool next_event(struct build *b, yaml_event_t *event)
{
	if (yaml_parser_parse(&b->parser, event))
		return true;
	syntax_error(b);
	return false;
}

/* --- bounds ------------------------------------------------------------------------------ */

static bool spend(struct build *b, struct place at, size_t nodes, size_t bytes)
{
	b->nodes += nodes;
	b->bytes += bytes;
	if (b->nodes > YAML_NODES_MAX)
		diag_error(b->diags, at, str_get(&b->path),
			   "more than %d values, aliases expanded; split the profile",
			   YAML_NODES_MAX);
	else if (b->bytes > YAML_TEXT_MAX)
		diag_error(b->diags, at, str_get(&b->path),
			   "more than %d bytes of text, aliases expanded; split the profile",
			   YAML_TEXT_MAX);
	else
		return true;
	return false;
}

static bool depth_is_sane(struct build *b, struct place at, size_t more)
{
	if (b->depth + more <= YAML_DEPTH_MAX)
		return true;
	/* Omit the path, because it is as deep as the nesting. */
	diag_error(b->diags, at, "", "nested more than %d levels deep; remove levels",
		   YAML_DEPTH_MAX);
	return false;
}

/* --- anchors and aliases ------------------------------------------------------------------ */

static size_t subtree(const struct ynode *n, size_t *nodes, size_t *bytes)
{
	size_t height = 0;

	(*nodes)++;
	*bytes += n->text ? strlen(n->text) : 0;
	for (size_t i = 0; i < n->keys.n; i++)
		subtree(n->keys.v[i], nodes, bytes);
	for (size_t i = 0; i < n->items.n; i++) {
		size_t h = subtree(n->items.v[i], nodes, bytes);

		height = h > height ? h : height;
	}
	return height + 1;
}

static bool remember(struct build *b, const yaml_char_t *name, const struct ynode *n)
{
	struct anchor a = {.node = n};

	if (!name)
		return true;
	if (b->anchors.n == YAML_ANCHORS_MAX) {
		diag_error(b->diags, n->at, str_get(&b->path),
			   "more than %d anchors; write the values out", YAML_ANCHORS_MAX);
		return false;
	}
	a.height = subtree(n, &a.nodes, &a.bytes);
	a.name = xstrdup((const char *)name);
	vec_push(&b->anchors, a);
	return true;
}

static const struct anchor *recall(const struct build *b, const char *name)
{
	for (size_t i = b->anchors.n; i > 0; i--)
		if (streq(b->anchors.v[i - 1].name, name))
			return &b->anchors.v[i - 1];
	return NULL;
}

static struct ynode *parse_alias(struct build *b, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	const struct anchor *a = recall(b, name);
	struct place at = place_of(b, &event->start_mark);

	if (!a) {
		diag_error(b->diags, at, str_get(&b->path),
			   "*%.60s refers to no earlier anchor; write &%.60s first", name, name);
		return NULL;
	}
	/* Check the bounds before copying: an alias bomb explodes here. */
	if (!spend(b, at, a->nodes, a->bytes) || !depth_is_sane(b, at, a->height))
		return NULL;
	return ynode_copy(a->node);
}

/* --- nodes -------------------------------------------------------------------------------- */

static struct ynode *parse_node(struct build *b, const yaml_event_t *event);

/* Rejects tags, because the schema determines types. Parsing continues. */
static void reject_tag(struct build *b, const yaml_event_t *event, const yaml_char_t *tag)
{
	static const char core[] = "tag:yaml.org,2002:";
	const char *text = (const char *)tag;
	bool is_core = text && str_starts(text, core);

	if (text)
		diag_error(b->diags, place_of(b, &event->start_mark), str_get(&b->path),
			   "the tag %s%.60s is not supported; remove it (quote a value to make it "
			   "text)",
			   is_core ? "!!" : "", is_core ? text + strlen(core) : text);
}

static struct ynode *parse_scalar(struct build *b, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;
	struct place at = place_of(b, &event->start_mark);
	struct ynode *n;

	reject_tag(b, event, event->data.scalar.tag);
	if (memchr(text, '\0', len)) {
		diag_error(b->diags, at, str_get(&b->path), "a NUL (\\0) in the text; remove it");
		return NULL;
	}
	if (!spend(b, at, 1, len))
		return NULL;
	n = ynode_scalar(at, text, event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE);
	if (remember(b, event->data.scalar.anchor, n))
		return n;
	ynode_free(n);
	return NULL;
}

static int parse_item(struct build *b, struct ynode *list)
{
	cleanup_event yaml_event_t event = {0};
	struct ynode *item;
	size_t was;

	if (!next_event(b, &event))
		return -1;
	if (event.type == YAML_SEQUENCE_END_EVENT)
		return 0;
	was = keypath_index(&b->path, list->items.n);
	item = parse_node(b, &event);
	keypath_back(&b->path, was);
	if (!item)
		return -1;
	vec_push(&list->items, item);
	return 1;
}

static struct ynode *parse_key(struct build *b, const yaml_event_t *event)
{
	struct place at = place_of(b, &event->start_mark);

	if (event->type != YAML_SCALAR_EVENT) {
		diag_error(b->diags, at, str_get(&b->path),
			   "a key must be a word, not %s; quote it if it begins with [ { or *",
			   event->type == YAML_ALIAS_EVENT ? "an alias" : "a list or a map");
		return NULL;
	}
	if (event->data.scalar.length > YAML_KEY_BYTES_MAX) {
		diag_error(b->diags, at, str_get(&b->path),
			   "a key of %zu bytes; at most %d are allowed", event->data.scalar.length,
			   YAML_KEY_BYTES_MAX);
		return NULL;
	}
	return parse_scalar(b, event);
}

/* Whether to add the pair to the tree; if not, reports why. */
static bool pair_is_good(struct build *b, const struct ynode *map, const struct ynode *key)
{
	int first = ynode_index(map, key->text);

	if (key->plain && streq(key->text, "<<")) {
		diag_error(b->diags, key->at, str_get(&b->path),
			   "merge keys are not supported; use extends:, or write the keys out");
		return false;
	}
	if (first >= 0) {
		const struct place *at = &map->keys.v[first]->at;

		diag_error(b->diags, key->at, str_get(&b->path),
			   "duplicate key, first at %u:%u; remove one of the two", at->line,
			   at->col);
		return false;
	}
	return true;
}

static bool add_pair(struct build *b, struct ynode *map, struct ynode *key, struct ynode *value)
{
	if (map->keys.n == YAML_KEYS_MAX) {
		diag_error(b->diags, key->at, "", "more than %d keys in one map", YAML_KEYS_MAX);
		vec_push(&b->dropped, key);
		vec_push(&b->dropped, value);
		return false;
	}
	if (pair_is_good(b, map, key)) {
		ynode_add(map, key, value);
	} else {
		vec_push(&b->dropped, key);
		vec_push(&b->dropped, value);
	}
	return true;
}

static int parse_pair(struct build *b, struct ynode *map)
{
	cleanup_event yaml_event_t kevent = {0}, vevent = {0};
	struct ynode *key, *value = NULL;
	bool added = false;
	size_t was;

	if (!next_event(b, &kevent))
		return -1;
	if (kevent.type == YAML_MAPPING_END_EVENT)
		return 0;
	key = parse_key(b, &kevent);
	if (!key)
		return -1;
	was = keypath_key(&b->path, key->text);
	if (next_event(b, &vevent))
		value = parse_node(b, &vevent);
	if (value)
		added = add_pair(b, map, key, value);
	else
		ynode_free(key);
	keypath_back(&b->path, was);
	return added ? 1 : -1;
}

static struct ynode *parse_inside(struct build *b, struct ynode *n, const yaml_char_t *anchor)
{
	int r;

	b->depth++;
	do
		r = n->kind == YAML_MAP ? parse_pair(b, n) : parse_item(b, n);
	while (r > 0);
	b->depth--;
	if (r == 0 && remember(b, anchor, n))
		return n;
	ynode_free(n);
	return NULL;
}

static struct ynode *parse_node(struct build *b, const yaml_event_t *event)
{
	struct place at = place_of(b, &event->start_mark);

	if (event->type == YAML_SCALAR_EVENT)
		return parse_scalar(b, event);
	if (event->type == YAML_ALIAS_EVENT)
		return parse_alias(b, event);
	if (!depth_is_sane(b, at, 1) || !spend(b, at, 1, 0))
		return NULL;
	if (event->type == YAML_MAPPING_START_EVENT) {
		reject_tag(b, event, event->data.mapping_start.tag);
		return parse_inside(b, ynode_new(YAML_MAP, at), event->data.mapping_start.anchor);
	}
	reject_tag(b, event, event->data.sequence_start.tag);
	return parse_inside(b, ynode_new(YAML_LIST, at), event->data.sequence_start.anchor);
}

/* --- the document ------------------------------------------------------------------------- */

/* Skips to the document's first content event, or to the end of the stream. */
static bool enter_document(struct build *b, yaml_event_t *event)
{
	do {
		yaml_event_delete(event);
		if (!next_event(b, event))
			return false;
	} while (event->type == YAML_STREAM_START_EVENT ||
		 event->type == YAML_DOCUMENT_START_EVENT);
	return true;
}

static bool stream_ends(struct build *b)
{
	for (;;) {
		cleanup_event yaml_event_t event = {0};

		if (!next_event(b, &event))
			return false;
		if (event.type == YAML_STREAM_END_EVENT)
			return true;
		if (event.type == YAML_DOCUMENT_END_EVENT)
			continue;
		diag_error(b->diags, place_of(b, &event.start_mark), "",
			   "a second document begins here; write one profile per file");
		return false;
	}
}

static struct ynode *parse_document(struct build *b)
{
	cleanup_event yaml_event_t event = {0};
	struct ynode *doc;

	if (!enter_document(b, &event))
		return NULL;
	if (event.type == YAML_STREAM_END_EVENT) {
		diag_error(b->diags, (struct place){.file = b->file}, "",
			   "the file has only comments; a profile begins with schema: and name:");
		return NULL;
	}
	doc = parse_node(b, &event);
	if (doc && stream_ends(b))
		return doc;
	ynode_free(doc);
	return NULL;
}

static void build_free(struct build *b)
{
	for (size_t i = 0; i < b->anchors.n; i++)
		free(b->anchors.v[i].name);
	for (size_t i = 0; i < b->dropped.n; i++)
		ynode_free(b->dropped.v[i]);
	vec_free(&b->anchors);
	vec_free(&b->dropped);
	str_free(&b->path);
	yaml_parser_delete(&b->parser);
}

static struct ynode *build_tree(struct build *b)
{
	struct ynode *doc;

	if (!size_is_sane(b) || !bytes_are_text(b))
		return NULL;
	if (!yaml_parser_initialize(&b->parser))
		mem_exhausted();
	yaml_parser_set_encoding(&b->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&b->parser, (const unsigned char *)b->text, b->len);
	doc = parse_document(b);
	build_free(b);
	return doc;
}

struct ynode *yaml_parse(const char *file, const char *text, size_t len, struct diags *diags)
{
	struct build b = {.file = file, .text = text, .len = len, .diags = diags};
	struct ynode *doc;

	diags->code = "syntax";
	doc = build_tree(&b);
	diags->code = NULL;
	return doc;
}
