/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/fold.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/pci_address.h"
#include "base/str.h"

enum { LISTED_MAX = 4 };

/* Placeholders in a shape: for an address, a VF's number and a NUMA node's number. */
#define ADDRESS_MARK '\1'
#define VF_MARK '\2'
#define NODE_MARK '\3'

/* --- shapes -------------------------------------------------------------------------------- */

/* The length of a word with the number after it, "vf3", "VF 3"; 0: other text. */
static size_t numbered_at(const char *s, const char *word)
{
	size_t n = strlen(word);
	size_t digits;

	if (strncasecmp(s, word, n) != 0)
		return 0;
	n += s[n] == ' ';
	digits = strspn(s + n, "0123456789");
	return digits && !isalnum((unsigned char)s[n + digits]) ? n + digits : 0;
}

struct id_part {
	char mark; /* 0: an ordinary character */
	size_t len;
};

static struct id_part part_at(const char *text, const char *s)
{
	size_t n;

	if (s > text && isalnum((unsigned char)s[-1]))
		return (struct id_part){0, 1};
	if ((n = pci_address_len(s)) && !isalnum((unsigned char)s[n]))
		return (struct id_part){ADDRESS_MARK, n};
	if ((n = numbered_at(s, "vf")))
		return (struct id_part){VF_MARK, n};
	if ((n = numbered_at(s, "node")))
		return (struct id_part){NODE_MARK, n};
	return (struct id_part){0, 1};
}

/* The text with marks for addresses, VFs and nodes; texts of one shape have the same meaning. */
static char *shape_of(const char *text)
{
	struct str out = {0};

	for (const char *s = text; *s;) {
		struct id_part p = part_at(text, s);

		str_addn(&out, p.mark ? &p.mark : s, 1);
		s += p.len;
	}
	return str_take(&out);
}

static bool has_marks(const char *shape)
{
	return shape[strcspn(shape, "\1\2\3")];
}

/* --- what a line says ------------------------------------------------------------------------ */

/* "link mtu" of "link/0000:18:00.0/mtu": the section, and the path without the members. */
static char *name_of(const char *shape)
{
	struct str out = {0};

	while (*shape) {
		size_t n = strcspn(shape, "/");
		bool is_member = n && strspn(shape, "\1\2\3-") >= n;

		if (!is_member && (n || out.len)) {
			if (out.len)
				str_add(&out, strchr(out.s, ' ') ? "/" : " ");
			str_addn(&out, shape, n);
		}
		shape += n + (shape[n] == '/');
	}
	return str_take(&out);
}

/* The last name in the path of an id without members; folded lines may differ in it. */
static const char *last_of(const char *id)
{
	const char *slash = strrchr(id, '/');

	return slash && slash > id && slash[-1] != '/' && slash[1] ? slash + 1 : NULL;
}

/* The differing names of a row without members. */
static char *names_of(const struct fold_row *row)
{
	struct str out = {0};

	for (size_t i = 0; i < row->items.n; i++)
		str_addf(&out, "%s%s", i ? ", " : "", last_of(row->items.v[i]->id));
	return str_take(&out);
}

/* --- whom it is about ------------------------------------------------------------------------ */

struct members {
	struct strv addresses; /* without repetition */
	struct strv nodes;     /* "node0" */
	size_t vfs, pairs;
	char *first_vf; /* "vf3" */
};

static void add_once(struct strv *list, const char *s, size_t n)
{
	cleanup_free char *copy = xstrndup(s, n);

	if (!strv_contains(list, copy))
		strv_add(list, copy);
}

static void find_members(const char *id, struct members *m)
{
	size_t addresses = 0;

	for (const char *s = id; *s;) {
		struct id_part p = part_at(id, s);

		if (p.mark == ADDRESS_MARK) {
			add_once(&m->addresses, s, p.len);
			if (++addresses == 2)
				m->pairs++;
		} else if (p.mark == NODE_MARK) {
			add_once(&m->nodes, s, p.len);
		} else if (p.mark == VF_MARK && !m->vfs++) {
			m->first_vf = xstrndup(s, p.len);
		}
		s += p.len;
	}
}

struct id_subject id_subject_of(const char *id)
{
	struct id_subject ret = {.vf = -1, .numa = -1};

	for (const char *s = id; *s;) {
		struct id_part p = part_at(id, s);
		int *number = p.mark == VF_MARK ? &ret.vf : p.mark == NODE_MARK ? &ret.numa : NULL;

		if (p.mark == ADDRESS_MARK && !*ret.addr && p.len < sizeof(ret.addr))
			memcpy(ret.addr, s, p.len);
		else if (number && *number < 0)
			*number = (int)strtol(s + strcspn(s, "0123456789"), NULL, 10);
		s += p.len;
	}
	return ret;
}

static void members_free(struct members *m)
{
	strv_free(&m->addresses);
	strv_free(&m->nodes);
	free(m->first_vf);
}

static bool has_all(const struct strv *list, const struct strv *wanted)
{
	for (size_t i = 0; i < wanted->n; i++)
		if (!strv_contains(list, wanted->v[i]))
			return false;
	return true;
}

static void drop_all(struct strv *list, const struct strv *gone)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++)
		if (strv_contains(gone, list->v[i]))
			free(list->v[i]);
		else
			list->v[kept++] = list->v[i];
	list->n = kept;
}

/* The largest set with all members among the addresses; NULL: every set lacks a member. */
static const struct record_set *whole_set(const struct record_sets *sets,
					  const struct strv *addresses)
{
	const struct record_set *best = NULL;

	for (size_t i = 0; i < sets->list.n; i++) {
		const struct record_set *set = &sets->list.v[i];

		if (set->addresses.n > 1 && has_all(addresses, &set->addresses) &&
		    (!best || set->addresses.n > best->addresses.n))
			best = set;
	}
	return best;
}

/* The smallest set with this member, or NULL. */
static const struct record_set *set_of(const struct record_sets *sets, const char *address)
{
	const struct record_set *best = NULL;

	for (size_t i = 0; i < sets->list.n; i++) {
		const struct record_set *set = &sets->list.v[i];

		if (strv_contains(&set->addresses, address) &&
		    (!best || set->addresses.n < best->addresses.n))
			best = set;
	}
	return best;
}

/* "0000:18:00.0, 0000:29:00.0 and 3 more" */
static void list_addresses(struct str *out, const struct strv *addresses)
{
	size_t shown = addresses->n > LISTED_MAX ? LISTED_MAX - 1 : addresses->n;
	cleanup_free char *text = strv_some(addresses, shown);

	str_add(out, text);
}

/* Adds members of an incomplete set, and removes them from rest. */
static void add_some(struct str *out, const struct record_sets *sets, struct strv *rest)
{
	const struct record_set *set = set_of(sets, rest->v[0]);
	cleanup_strv struct strv some = {0};

	for (size_t i = 0; i < rest->n; i++)
		if (set_of(sets, rest->v[i]) == set)
			strv_add(&some, rest->v[i]);
	if (out->len)
		str_add(out, ", ");
	if (set && some.n > 1)
		str_addf(out, "%zu of %zu ", some.n, set->addresses.n);
	if (set)
		str_addf(out, "%s ", set->name);
	if (set && some.n > 1)
		str_add(out, "(");
	list_addresses(out, &some);
	if (set && some.n > 1)
		str_add(out, ")");
	drop_all(rest, &some);
}

/* "rails x8, 2 of 4 storage (0000:29:00.0, 0000:29:00.1)" */
static char *cover(const struct members *m, const struct record_sets *sets, const char *times)
{
	cleanup_strv struct strv rest = {0};
	const struct record_set *set;
	struct str out = {0};

	for (size_t i = 0; i < m->addresses.n; i++)
		strv_add(&rest, m->addresses.v[i]);
	while ((set = whole_set(sets, &rest))) {
		str_addf(&out, "%s%s", out.len ? ", " : "", set->name);
		if (!m->vfs)
			str_addf(&out, " %s%zu", times, set->addresses.n);
		drop_all(&rest, &set->addresses);
	}
	while (rest.n)
		add_some(&out, sets, &rest);
	return str_take(&out);
}

static char *of_members(const struct fold_row *row, const struct record_sets *sets,
			const char *times)
{
	cleanup(members_free) struct members m = {0};
	cleanup_free char *functions = NULL;
	struct str out = {0};

	for (size_t i = 0; i < row->items.n; i++)
		find_members(row->items.v[i]->id, &m);
	if (m.pairs > 1)
		return xasprintf("%zu pairs", m.pairs);
	if (m.pairs)
		return xasprintf("%s-%s", m.addresses.v[0], m.addresses.v[1]);
	functions = m.addresses.n ? cover(&m, sets, times) : NULL;
	if (m.vfs > 1)
		str_addf(&out, "%zu vfs of ", m.vfs);
	else if (m.vfs)
		str_addf(&out, "%s of ", m.first_vf);
	if (functions)
		str_add(&out, functions);
	for (size_t i = 0; !functions && i < m.nodes.n; i++)
		str_addf(&out, "%s%s", i ? ", " : "", m.nodes.v[i]);
	return str_take(&out);
}

char *fold_subject(const struct fold_row *row)
{
	return xasprintf("%s%s%s%s%s", row->of, *row->of && *row->name ? ": " : "", row->name,
			 row->names ? ": " : "", row->names ? row->names : "");
}

/* --- folding --------------------------------------------------------------------------------- */

/* Items with the same key become one line. */
static char *key_of(const struct fold_item *item)
{
	cleanup_free char *id = shape_of(item->id);
	cleanup_free char *value = shape_of(or_empty(item->value));
	cleanup_free char *reason = shape_of(or_empty(item->reason));
	const char *last = has_marks(id) ? NULL : last_of(id);

	return xasprintf("%s\n%.*s\n%s\n%s", item->label, last ? (int)(last - id) : (int)strlen(id),
			 id, value, reason);
}

static void finish_row(struct fold_row *row, const struct record_sets *sets, bool utf8)
{
	const struct fold_item *first = row->items.v[0];
	cleanup_free char *shape = shape_of(first->id);
	bool many_names = row->items.n > 1 && !has_marks(shape) && last_of(shape);

	row->of = of_members(row, sets, utf8 ? "×" : "x");
	if (many_names) {
		row->names = names_of(row);
		shape[last_of(shape) - shape - 1] = '\0';
	}
	row->name = name_of(shape);
	row->reason_same = true;
	for (size_t i = 1; i < row->items.n; i++)
		row->reason_same &=
			streq(or_empty(row->items.v[i]->reason), or_empty(first->reason));
}

void fold(const struct fold_item *items, size_t n, const struct record_sets *sets, bool utf8,
	  struct fold *ret)
{
	cleanup_strv struct strv keys = {0}; /* one for each row */

	*ret = (struct fold){0};
	for (size_t i = 0; i < n; i++) {
		cleanup_free char *key = key_of(&items[i]);
		size_t r = 0;

		while (r < keys.n && !streq(keys.v[r], key))
			r++;
		if (r == keys.n) {
			struct fold_row row = {0};

			strv_add(&keys, key);
			vec_push(&ret->rows, row);
		}
		vec_push(&ret->rows.v[r].items, &items[i]);
	}
	for (size_t r = 0; r < ret->rows.n; r++)
		finish_row(&ret->rows.v[r], sets, utf8);
}

void fold_free(struct fold *f)
{
	for (size_t r = 0; r < f->rows.n; r++) {
		vec_free(&f->rows.v[r].items);
		free(f->rows.v[r].of);
		free(f->rows.v[r].name);
		free(f->rows.v[r].names);
	}
	vec_free(&f->rows);
}
