/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/facts.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "plan/change.h"
#include "plan/render.h"
#include "profile/lines.h"
#include "profile/yaml.h"
#include "report/changes.h"
#include "report/inventory.h"

void facts_add(struct facts *ret, const char *key, char *value, char *place, bool thing)
{
	str_make_line(value);
	vec_push(&ret->list, ((struct known){xstrdup(key), value, place, thing, 0, 0}));
}

void facts_free(struct facts *facts)
{
	for (size_t i = 0; i < facts->list.n; i++) {
		free(facts->list.v[i].key);
		free(facts->list.v[i].value);
		free(facts->list.v[i].place);
	}
	vec_free(&facts->list);
}

/* --- profiles --------------------------------------------------------------------------------- */

static bool is_list_of_scalars(const struct ynode *n)
{
	for (size_t i = 0; n->kind == YAML_LIST && i < n->items.n; i++)
		if (n->items.v[i]->kind != YAML_SCALAR)
			return false;
	return n->kind == YAML_LIST;
}

/* True for an item of a list that is a single fact. */
static bool is_item_of_scalars(const struct profile_line *line, const struct profile_lines *lines)
{
	const char *bracket = line->key ? NULL : strrchr(line->path, '[');
	cleanup_free char *path =
		bracket ? xstrndup(line->path, (size_t)(bracket - line->path)) : NULL;
	const struct profile_line *list = path ? profile_lines_find(lines, path) : NULL;

	return list && is_list_of_scalars(list->value);
}

void facts_of_profile(const struct profile *p, struct facts *ret)
{
	cleanup(profile_lines_free) struct profile_lines lines;

	profile_lines_of(p, &lines);
	for (size_t i = 0; i < lines.list.n; i++) {
		const struct profile_line *line = &lines.list.v[i];

		if (!streq(line->path, "name") && !streq(line->path, "version") &&
		    !is_item_of_scalars(line, &lines))
			facts_add(ret, line->path, ynode_line(line->value),
				  render_place(line->value->at),
				  line->value->kind == YAML_MAP ||
					  (line->value->kind == YAML_LIST &&
					   !is_list_of_scalars(line->value)));
	}
}

/* --- machines --------------------------------------------------------------------------------- */

/* The keys that identify an object of a list. */
static const char *const names[] = {"address", "name", "node", "group", "nic"};
/* The names of pci.ids, free memory, and numbers that the kernel assigns in the order of a boot. */
static const char *const left_out[] = {"names", "free", "iommu_group", "iommu_groups"};

static void add_json(struct facts *ret, const char *key, const json_t *value);

static char *scalar_text(const json_t *value)
{
	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	if (json_is_integer(value))
		return xasprintf("%lld", (long long)json_integer_value(value));
	if (json_is_boolean(value))
		return xstrdup(json_is_true(value) ? "yes" : "no");
	return xstrdup("unknown");
}

static const char *name_in(const json_t *obj)
{
	for (size_t i = 0; i < array_len(names); i++)
		if (json_is_string(json_object_get(obj, names[i])))
			return names[i];
	return NULL;
}

/* "15b3:1021 mlx5_core" for a function, else the known parts of a version or model. */
static char *describe(const json_t *obj)
{
	static const char *const keys[] = {"vendor", "device",	"driver",
					   "model",  "version", "hca_type"};
	struct str out = {0};

	for (size_t i = 0; i < array_len(keys); i++) {
		const char *text = json_string_value(json_object_get(obj, keys[i]));

		if (text)
			str_addf(&out, "%s%s", !out.len ? "" : i == 1 ? ":" : " ", text);
	}
	return out.len ? str_take(&out) : xstrdup("there");
}

static void add_object(struct facts *ret, const char *key, const json_t *obj, const char *name)
{
	const char *member;
	const json_t *value;

	json_object_foreach((json_t *)obj, member, value)
	{
		cleanup_free char *path = xasprintf("%s%s%s", key, *key ? "/" : "", member);

		if ((!name || !streq(member, name)) &&
		    str_index(member, left_out, array_len(left_out)) < 0)
			add_json(ret, path, value);
	}
}

static void add_array(struct facts *ret, const char *key, const json_t *array)
{
	cleanup_str struct str text = {0};
	bool scalars = true;

	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *item = json_array_get(array, i);
		const char *name = json_is_object(item) ? name_in(item) : NULL;
		cleanup_free char *scalar = name ? NULL : scalar_text(item);
		cleanup_free char *path =
			name ? xasprintf("%s/%s", key,
					 json_string_value(json_object_get(item, name)))
			     : NULL;

		scalars &= !name;
		if (!name) {
			str_addf(&text, "%s%s", i ? " " : "", scalar);
			continue;
		}
		facts_add(ret, path, describe(item), NULL, true);
		add_object(ret, path, item, name);
	}
	if (scalars && text.len)
		facts_add(ret, key, str_take(&text), NULL, false);
}

static void add_json(struct facts *ret, const char *key, const json_t *value)
{
	if (json_is_object(value))
		add_object(ret, key, value, NULL);
	else if (json_is_array(value))
		add_array(ret, key, value);
	else
		facts_add(ret, key, scalar_text(value), NULL, false);
}

void facts_of_machine(const struct node *node, const struct inventory *inv, struct facts *ret)
{
	json_t *doc = inventory_to_json(node, inv);

	add_object(ret, "", doc, NULL);
	json_decref(doc);
}

void facts_of_plan(const struct plan *plan, struct facts *ret)
{
	for (size_t i = 0; i < plan->list.n; i++) {
		const struct change *c = plan->list.v[i];
		cleanup_free char *key = xasprintf("value/%s", c->id);

		/* railhead's own files follow from the profile */
		if (c->now.found && c->kind != &kind_file && c->kind != &kind_bootenv)
			facts_add(ret, key, xstrdup(c->now.found), NULL, false);
	}
}

void facts_of_wanted(const struct plan *plan, struct facts *wanted, struct facts *found)
{
	for (size_t i = 0; i < plan->list.n; i++) {
		const struct change *c = plan->list.v[i];
		const char *want = changes_wanted(c);

		if (c->now.state == CHANGE_TO_MEASURE)
			continue;
		facts_add(wanted, c->id, xstrdup(want), render_place(c->origin), false);
		facts_add(found, c->id,
			  xstrdup(change_holds(c) ? want
				  : c->now.found  ? c->now.found
						  : "unknown"),
			  NULL, false);
	}
}

/* --- one against another ---------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	return strcmp((*(const struct known *const *)a)->key,
		      (*(const struct known *const *)b)->key);
}

struct sorted {
	const struct known **v;
	size_t n;
};

static struct sorted sort(const struct facts *facts)
{
	struct sorted s = {xcalloc(facts->list.n + 1, sizeof(*s.v)), facts->list.n};

	for (size_t i = 0; i < s.n; i++)
		s.v[i] = &facts->list.v[i];
	qsort(s.v, s.n, sizeof(*s.v), by_key);
	return s;
}

static const struct known *find(const struct sorted *s, const char *key)
{
	const struct known wanted = {.key = (char *)key}, *p = &wanted;
	const struct known **found = s->n ? bsearch(&p, s->v, s->n, sizeof(*s->v), by_key) : NULL;

	return found ? *found : NULL;
}

/* True for a fact of a thing that the other side lacks. */
static bool is_of_missing(const struct known *fact, const struct sorted *own,
			  const struct sorted *other)
{
	cleanup_free char *key = xstrdup(fact->key);

	for (char *end = key; *(end += strcspn(end, "/.[")); end++) {
		const struct known *thing;
		char mark = *end;

		*end = '\0';
		thing = find(own, key);
		if (thing && thing->thing && !find(other, key))
			return true;
		*end = mark;
	}
	return false;
}

static void compare_one(const struct known *fact, const struct known *to, bool swapped,
			struct differences *ret)
{
	struct difference d = {fact->key, swapped ? to : fact, swapped ? fact : to, NAN, false};

	if (to && fact->thing)
		return;
	ret->compared++;
	if (to && streq(fact->value, to->value))
		return;
	if (to && fact->noise > 0 && to->noise > 0) {
		d.percent = 100 * (to->number / fact->number - 1);
		d.noise = fabs(d.percent) <= fact->noise;
	}
	ret->noise += d.noise;
	vec_push(&ret->list, d);
}

void facts_compare(const struct facts *a, const struct facts *b, struct differences *ret)
{
	struct sorted in_a = sort(a), in_b = sort(b);

	*ret = (struct differences){0};
	for (size_t i = 0; i < a->list.n; i++)
		if (!is_of_missing(&a->list.v[i], &in_a, &in_b))
			compare_one(&a->list.v[i], find(&in_b, a->list.v[i].key), false, ret);
	for (size_t i = 0; i < b->list.n; i++)
		if (!find(&in_a, b->list.v[i].key) && !is_of_missing(&b->list.v[i], &in_b, &in_a))
			compare_one(&b->list.v[i], NULL, true, ret);
	free(in_a.v);
	free(in_b.v);
}
