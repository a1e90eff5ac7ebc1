/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes YAML without libyaml's emitter, because that writes no comments. Uses block style only, in
 * which few characters are special in plain text; quotes every text that is not plainly harmless.
 */
#include "profile/emit.h"

#include <ctype.h>
#include <string.h>

#include "base/utf8.h"
#include "profile/schema.h"
#include "profile/yaml.h"

enum { INDENT = 2 };

/* --- scalars ------------------------------------------------------------------------------ */

#define HARMLESS_FIRST "/."
#define HARMLESS "/._-+=:,*?[]@%"

/* Quoted text is never null, true or false, so it must stay quoted. */
static bool may_be_plain(const struct ynode *n)
{
	size_t len = strlen(n->text);

	if (!n->plain || !len || n->text[len - 1] == ':')
		return false;
	for (const char *s = n->text; *s; s++) {
		bool first = s == n->text;

		if (isalnum((unsigned char)*s) && !(*s & 0x80))
			continue;
		if (!strchr(first ? HARMLESS_FIRST : HARMLESS, *s))
			return false;
	}
	return !streq(n->text, "...");
}

/* Characters that YAML treats as a line break or byte order mark, or rejects, even in quotes. */
static bool needs_escape(unsigned int c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0xfeff ||
	       (c & 0xfffe) == 0xfffe;
}

void emit_quoted(struct str *out, const char *text)
{
	const char *s = text;

	str_add(out, "\"");
	while (*s) {
		size_t len;
		uint32_t c = utf8_code(s, &len); /* yaml.c accepts only well-formed text */

		if (c == '"' || c == '\\')
			str_addf(out, "\\%c", (char)c);
		else if (!needs_escape(c))
			str_addn(out, s, len);
		else if (c <= 0xffff)
			str_addf(out, "\\u%04X", c);
		else
			str_addf(out, "\\U%08X", c);
		s += len;
	}
	str_add(out, "\"");
}

static void scalar(struct str *out, const struct ynode *n)
{
	if (may_be_plain(n))
		str_add(out, n->text);
	else
		emit_quoted(out, n->text);
}

/* --- origins ------------------------------------------------------------------------------ */

char *place_text(const struct place *at)
{
	const char *file = at->file ? at->file : "", *name = file, *dir = file;

	for (const char *s = file; *s; s++)
		if (*s == '/') {
			dir = name;
			name = s + 1;
		}
	/* add the directory, because a drop-in's file name alone is ambiguous */
	if (name - dir > 3 && strncmp(name - 3, ".d/", 3) == 0)
		name = dir;
	return xasprintf("%s:%u", name, at->line);
}

static void end_line(struct str *out, const struct ynode *n)
{
	cleanup_free char *text = place_text(&n->at);

	for (char *s = text; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
	str_addf(out, "  # %s\n", text);
}

/* --- the tree ----------------------------------------------------------------------------- */

static void map(struct str *out, const struct ynode *n, int indent, bool inline_first);

/* Writes the value after "key:" or "-". */
static void value(struct str *out, const struct ynode *n, int indent)
{
	if (n->kind == YAML_SCALAR) {
		str_add(out, " ");
		scalar(out, n);
		end_line(out, n);
		return;
	}
	if (!n->items.n) {
		str_add(out, n->kind == YAML_MAP ? " {}" : " []");
		end_line(out, n);
		return;
	}
	str_add(out, "\n");
	if (n->kind == YAML_MAP) {
		map(out, n, indent, false);
		return;
	}
	for (size_t i = 0; i < n->items.n; i++) {
		const struct ynode *item = n->items.v[i];

		str_addf(out, "%*s-", indent, "");
		if (item->kind == YAML_MAP && item->items.n)
			map(out, item, indent + INDENT, true);
		else
			value(out, item, indent + INDENT);
	}
}

static void pair(struct str *out, const struct ynode *key, const struct ynode *n, int indent)
{
	scalar(out, key);
	str_add(out, ":");
	value(out, n, indent + INDENT);
}

/* inline_first: the first key follows a "-" on its line. */
static void map(struct str *out, const struct ynode *n, int indent, bool inline_first)
{
	for (size_t i = 0; i < n->keys.n; i++) {
		str_addf(out, "%*s", inline_first && !i ? 1 : indent, "");
		pair(out, n->keys.v[i], n->items.v[i], indent);
	}
}

void profile_emit(const struct profile *p, struct str *out)
{
	for (const struct field *f = schema_profile()->fields; f->name; f++) {
		int i = ynode_index(p->doc, f->name);

		if (i < 0 || streq(f->name, "extends"))
			continue;
		pair(out, p->doc->keys.v[i], p->doc->items.v[i], 0);
	}
}
