/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about device sets, and functions for rules that combine sections' settings of a set. */
#include "profile/rules.h"

#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#include "base/pattern.h"
#include "profile/section.h"
#include "profile/view.h"

const struct selector *find_set(const struct ruling *r, const char *name)
{
	return selector_find(r->p->devices.v, r->p->devices.n, name);
}

/* The set named by in: of s. Following it ends only if the sets have no cycle. */
static const struct selector *wider(const struct ruling *r, const struct selector *s)
{
	return r->wider[s - r->p->devices.v];
}

bool set_is_within(const struct ruling *r, const struct selector *s, const struct selector *a)
{
	for (size_t i = 0; s && i <= SETS_DEPTH_MAX; i++, s = wider(r, s))
		if (s == a)
			return true;
	return false;
}

bool set_is_infiniband(const struct ruling *r, const struct selector *s)
{
	for (size_t i = 0; s && i <= SETS_DEPTH_MAX; i++, s = wider(r, s))
		if (s->infiniband)
			return true;
	return false;
}

bool set_is_ethernet(const struct ruling *r, const struct selector *s)
{
	for (size_t i = 0; s && i <= SETS_DEPTH_MAX; i++, s = wider(r, s))
		if (s->ethernet)
			return true;
	return false;
}

/* --- references --------------------------------------------------------------------------- */

/* Names of all sets except `asker`, which looks for another set; *near: the most similar name. */
static char *set_names(const struct ruling *r, const char *meant, const char *asker,
		       const char **near)
{
	struct str out = {0};
	VEC(const char *) names = {0};

	for (size_t i = 0; i < r->p->devices.n; i++) {
		const char *name = r->p->devices.v[i].name;

		if (streq(name, asker))
			continue;
		str_addf(&out, "%s%s", out.len ? ", " : "", name);
		vec_push(&names, name);
	}
	vec_push(&names, NULL);
	*near = nearest_word(meant, names.v);
	vec_free(&names);
	return str_take(&out);
}

bool must_be_absent(const struct selector *s)
{
	return s->expect == 0 && !s->or_more;
}

static void want_set_of(struct ruling *r, const struct ynode *n, const char *key, const char *name,
			const char *asker)
{
	const struct selector *set = find_set(r, name);
	const char *near = NULL;
	cleanup_free char *known = set ? NULL : set_names(r, name, asker, &near);

	if (!*name || strpbrk(name, " \t"))
		return; /* not a name; the schema has reported the error */
	if (!set && !*known)
		rule_error(r, n, key,
			   "no device set '%.64s', and devices: defines no%s; write devices: "
			   "{%.64s: {pci: \"VENDOR:DEVICE\"}} with an id that `railhead survey` "
			   "lists",
			   name, *asker ? " other" : "ne", name);
	else if (!set && near)
		rule_error(r, n, key, "no device set '%.64s'; did you mean '%s'?", name, near);
	else if (!set)
		rule_error(r, n, key, "no device set '%.64s'; devices: defines %s", name, known);
	else if (set->protect)
		rule_error(r, n, key,
			   "the set '%.64s' is protected, so railhead must not touch its devices; "
			   "leave it out here",
			   name);
	else if (must_be_absent(set))
		rule_error(r, n, key,
			   "the set '%.64s' must be absent (expect: 0); write expect: \">=0\" if "
			   "it may be present",
			   name);
}

void want_set(struct ruling *r, const struct ynode *n, const char *key, const char *name)
{
	want_set_of(r, n, key, name, "");
}

/* --- the sets themselves ------------------------------------------------------------------ */

/* A malformed predicate counts too, because the schema has reported it. */
static bool has_predicate(const struct ynode *set)
{
	for (size_t i = 0; i < set->keys.n; i++)
		if (!streq(set->keys.v[i]->text, "expect") &&
		    !streq(set->keys.v[i]->text, "protect"))
			return true;
	return false;
}

/* Whether following in: from s leads back to s. */
static bool goes_round(const struct ruling *r, const struct selector *s)
{
	const struct selector *at = s;

	for (size_t i = 0; at && i <= r->p->devices.n; i++) {
		at = wider(r, at);
		if (at == s)
			return true;
	}
	return false;
}

static void judge_in(struct ruling *r, const struct selector *s, const struct ynode *in)
{
	cleanup_free char *key = xasprintf("devices.%.64s.in", s->name);

	if (goes_round(r, s))
		rule_error(r, in, key,
			   "'%.64s' is itself within this set; break the cycle of in:", s->in);
	else if (set_depth(r->p, s) > SETS_DEPTH_MAX)
		rule_error(r, in, key, "sets are nested more than %d deep; name a wider set",
			   SETS_DEPTH_MAX);
	else
		want_set_of(r, in, key, s->in, s->name);
}

/* Reports predicates that contradict those of the wider set, because the set would be empty. */
static void judge_against_wider(struct ruling *r, const struct selector *s, const struct ynode *n)
{
	static const char *const keys[] = {"pci",  "subsystem", "ports", "port",
					   "link", "driver",	"numa"};
	const struct selector *up = wider(r, s);
	const struct ynode *upper = up ? ynode_get(section(r, "devices"), up->name) : NULL;

	for (size_t i = 0; i < array_len(keys); i++) {
		const struct ynode *mine = ynode_get(n, keys[i]), *its = ynode_get(upper, keys[i]);
		cleanup_free char *key = xasprintf("devices.%.64s.%s", s->name, keys[i]);

		if (*scalar(mine) && *scalar(its) && strcasecmp(mine->text, its->text) != 0)
			rule_error(r, mine, key,
				   "this set is in %s, which requires %.40s (at %s), so it is "
				   "always empty; drop one of the two",
				   up->name, its->text, seen(r, its));
	}
}

static void judge_expect(struct ruling *r, const struct selector *s, const struct ynode *n)
{
	const struct selector *up = wider(r, s);
	const struct ynode *expect = ynode_get(n, "expect");
	cleanup_free char *key = xasprintf("devices.%.64s.expect", s->name);

	if (expect && up && up->expect >= 0 && !up->or_more && s->expect > up->expect)
		rule_error(r, expect, key, "%s functions, but the wider set has only %d (%s)",
			   expect->text, up->expect, up->name);
}

static void judge_set(struct ruling *r, const struct selector *s, const struct ynode *n)
{
	cleanup_free char *key = xasprintf("devices.%.64s", s->name);

	if (n->kind != YAML_MAP)
		return;
	if (!has_predicate(n))
		rule_error(r, n, key,
			   "no predicate selects functions; write pci:, address:, driver: or in:");
	if (s->ports > 0 && s->port > s->ports)
		rule_error(r, ynode_get(n, "port"), key,
			   "port %d of cards with %d functions, so the set is always empty; write "
			   "ports: and port: of the same card",
			   s->port, s->ports);
	if (!s->in)
		return;
	judge_in(r, s, ynode_get(n, "in"));
	judge_against_wider(r, s, n);
	judge_expect(r, s, n);
}

static void sets_are_sound(struct ruling *r)
{
	for (size_t i = 0; i < r->p->devices.n; i++) {
		const struct selector *s = &r->p->devices.v[i];

		judge_set(r, s, ynode_get(section(r, "devices"), s->name));
	}
}

/*
 * Whether a lost member is missed: the set, or a wider set, has a count, and in between are no
 * predicates that a fault changes with the member.
 */
static bool misses_members(const struct ruling *r, const struct selector *s)
{
	for (size_t i = 0; s && i <= SETS_DEPTH_MAX; i++, s = wider(r, s)) {
		if (s->expect >= 0 || (s->address && !pattern_is(s->address)))
			return true;
		if (s->driver || s->part_number || s->ports || s->port)
			return false;
	}
	return false;
}

static void members_are_counted(struct ruling *r)
{
	for (size_t i = 0; i < r->p->devices.n && !r->p->abstract; i++) {
		const struct selector *s = &r->p->devices.v[i];
		const struct ynode *n = ynode_get(section(r, "devices"), s->name);
		cleanup_free char *key = xasprintf("devices.%.64s", s->name);

		if (!s->named || s->protect || misses_members(r, s))
			continue;
		rule_warn(r, n, key,
			  "the set has no expect, so one member suffices, and %s go unnoticed; "
			  "write expect: N",
			  s->driver ? "functions that lose their driver" : "lost ones");
	}
}

const struct rule rules_devices[] = {
	RULE_OF_WHOLE("sets-are-sound", sets_are_sound),
	RULE_OF_WHOLE("members-are-counted", members_are_counted),
	NO_MORE_RULES,
};

/* --- sets that share functions ------------------------------------------------------------ */

static bool share_here(const struct ruling *r, const struct selector *a, const struct selector *b)
{
	const struct device_set *as = device_sets_find(r->sets, a->name);
	const struct device_set *bs = device_sets_find(r->sets, b->name);

	for (size_t i = 0; as && bs && i < as->fn.n; i++)
		if (device_set_has(bs, as->fn.v[i]))
			return true;
	return false;
}

/* Whether s has members on this node; false without a node. */
static bool has_members(const struct ruling *r, const struct selector *s)
{
	const struct device_set *set = r->sets ? device_sets_find(r->sets, s->name) : NULL;

	return set && set->fn.n;
}

/* How a's predicate relates to b's. */
enum relation { EQUAL, LOOSER, OTHER }; /* LOOSER: a accepts all that b accepts; OTHER: unknown */

static enum relation numbers(int a, int b, int any)
{
	return a == b ? EQUAL : a == any ? LOOSER : OTHER;
}

static enum relation words(const char *a, const char *b)
{
	if (!a)
		return b ? LOOSER : EQUAL;
	return b && streq(a, b) ? EQUAL : OTHER;
}

static enum relation patterns(const char *a, const char *b)
{
	if (a && b && !pattern_is(b))
		return fnmatch(a, b, 0) == 0 ? LOOSER : OTHER;
	return words(a, b);
}

static bool accepts_all_of(const struct selector *a, const struct selector *b)
{
	const enum relation relations[] = {
		numbers(a->vendor, b->vendor, -1),
		numbers(a->device, b->device, -1),
		numbers(a->subsystem_vendor, b->subsystem_vendor, -1),
		numbers(a->subsystem_device, b->subsystem_device, -1),
		numbers(a->numa, b->numa, -1),
		numbers(a->ports, b->ports, 0),
		numbers(a->port, b->port, 0),
		numbers(a->ethernet, b->ethernet, 0),
		numbers(a->infiniband, b->infiniband, 0),
		words(a->driver, b->driver),
		patterns(a->address, b->address),
		patterns(a->part_number, b->part_number),
	};

	for (size_t i = 0; i < array_len(relations); i++)
		if (relations[i] == OTHER)
			return false;
	return true;
}

/* Whether the predicates of a and of all wider sets accept every function of b. */
static bool covers(const struct ruling *r, const struct selector *a, const struct selector *b)
{
	for (size_t i = 0; a && i <= SETS_DEPTH_MAX; i++, a = wider(r, a)) {
		bool covered = false;
		const struct selector *inner = b;

		for (size_t j = 0; inner && j <= SETS_DEPTH_MAX; j++, inner = wider(r, inner))
			covered |= inner == a || accepts_all_of(a, inner);
		if (!covered)
			return false;
	}
	return true;
}

bool sets_surely_share(const struct ruling *r, const struct selector *a, const struct selector *b)
{
	if (r->sets)
		return share_here(r, a, b);
	if (a->protect || b->protect || must_be_absent(a) || must_be_absent(b))
		return false;
	return covers(r, a, b) || covers(r, b, a);
}

static bool differ(int a, int b, int any)
{
	return a != any && b != any && a != b;
}

static bool literals_differ(const char *a, const char *b)
{
	return a && b && !pattern_is(b) && fnmatch(a, b, 0) != 0;
}

static bool excludes(const struct selector *a, const struct selector *b)
{
	return differ(a->vendor, b->vendor, -1) || differ(a->device, b->device, -1) ||
	       differ(a->subsystem_vendor, b->subsystem_vendor, -1) ||
	       differ(a->subsystem_device, b->subsystem_device, -1) ||
	       differ(a->numa, b->numa, -1) || differ(a->ports, b->ports, 0) ||
	       differ(a->port, b->port, 0) || (a->ethernet && b->infiniband) ||
	       (a->infiniband && b->ethernet) || literals_differ(a->address, b->address) ||
	       literals_differ(b->address, a->address) ||
	       (a->driver && b->driver && !streq(a->driver, b->driver));
}

bool sets_may_share(const struct ruling *r, const struct selector *a, const struct selector *b)
{
	if (has_members(r, a) && has_members(r, b))
		return share_here(r, a, b);
	for (size_t i = 0; a && i <= SETS_DEPTH_MAX; i++, a = wider(r, a)) {
		const struct selector *inner = b;

		for (size_t j = 0; inner && j <= SETS_DEPTH_MAX; j++, inner = wider(r, inner))
			if (excludes(a, inner))
				return false;
	}
	return true;
}

/* --- rules of the settings of one set ----------------------------------------------------- */

static void run_set_rules(struct ruling *r, const struct set_rule *rules, const struct selector *s,
			  const struct ynode *view)
{
	for (const struct set_rule *rule = rules; rule->name; rule++) {
		r->diags->code = rule->name;
		rule->check(r, s, view);
	}
}

static bool is_chain(const struct ruling *r, const struct set_list *sets)
{
	for (size_t i = 1; i < sets->list.n; i++)
		if (!set_is_within(r, sets->list.v[0], sets->list.v[i]))
			return false;
	return true;
}

/* Leaves the sets that a section has settings of. */
static void keep_set(const struct ruling *r, struct set_list *sets)
{
	size_t n = 0;

	for (size_t i = 0; i < sets->list.n; i++)
		for (const struct section *const *s = sections; *s; s++)
			if (section_is_per_set(*s) &&
			    ynode_get(section(r, (*s)->name), sets->list.v[i]->name)) {
				sets->list.v[n++] = sets->list.v[i];
				break;
			}
	sets->list.n = n;
}

/* Functions that are in the same sets yield the same messages, of which one is reported. */
static void rule_each_overlap(struct ruling *r, const struct set_rule *rules)
{
	const struct pci_functions *functions = node_functions(r->node);

	for (size_t i = 0; i < functions->n; i++) {
		struct set_list sets = {0};
		cleanup_view struct ynode *view = NULL;

		sets_with(r->p, r->sets, &functions->v[i], &sets);
		keep_set(r, &sets);
		if (!is_chain(r, &sets)) {
			view = view_new(r->p, &sets);
			run_set_rules(r, rules, sets.list.v[0], view);
		}
		vec_free(&sets.list);
	}
}

void rule_each_set(struct ruling *r, const struct set_rule *rules)
{
	for (size_t depth = 0; depth <= SETS_DEPTH_MAX; depth++)
		for (size_t i = 0; i < r->p->devices.n; i++) {
			const struct selector *s = &r->p->devices.v[i];
			cleanup_view struct ynode *view = NULL;

			if (set_depth(r->p, s) != depth)
				continue;
			view = set_view(r->p, s);
			run_set_rules(r, rules, s, view);
		}
	if (r->sets && r->sets->set.n > 1) /* a profile without sets reads no function */
		rule_each_overlap(r, rules);
}

/* A view has maps of its own, at the places of those that come first in it. */
static bool has_value(const struct ynode *own, const struct ynode *value)
{
	bool has = own == value || (own->kind == YAML_MAP && value->kind == YAML_MAP &&
				    own->at.line == value->at.line &&
				    own->at.col == value->at.col && own->at.file == value->at.file);

	for (size_t i = 0; !has && i < own->items.n; i++)
		has = has_value(own->items.v[i], value);
	return has;
}

const struct selector *set_with_value(const struct ruling *r, const char *path,
				      const struct ynode *value)
{
	size_t len = strcspn(path, ".");
	cleanup_free char *name = xstrndup(path, len);
	const struct ynode *of = section(r, name);

	for (size_t i = 0; value && i < r->p->devices.n; i++) {
		const struct selector *s = &r->p->devices.v[i];
		const struct ynode *own = ynode_get(of, s->name);

		own = own ? tree_get(own, path + len + (path[len] == '.')) : NULL;
		if (own && has_value(own, value))
			return s;
	}
	return NULL;
}

char *set_key(const struct ruling *r, const struct selector *s, const struct ynode *view,
	      const char *path)
{
	const struct selector *from = set_with_value(r, path, tree_get(view, path));
	size_t len = strcspn(path, ".");

	return xasprintf("%.*s.%.64s%s", (int)len, path, (from ? from : s)->name, path + len);
}

static void report_of_set(struct ruling *r, const struct selector *s, const struct ynode *view,
			  const char *path, bool warning, const char *fmt, va_list ap)
{
	cleanup_free char *key = set_key(r, s, view, path);
	const struct ynode *n = tree_get(view, path);
	cleanup_str struct str text = {0};

	str_vaddf(&text, fmt, ap);
	if (warning)
		rule_warn(r, n ?: view, key, "%s", str_get(&text));
	else
		rule_error(r, n ?: view, key, "%s", str_get(&text));
}

void set_error(struct ruling *r, const struct selector *s, const struct ynode *view,
	       const char *path, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report_of_set(r, s, view, path, false, fmt, ap);
	va_end(ap);
}

void set_warn(struct ruling *r, const struct selector *s, const struct ynode *view,
	      const char *path, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report_of_set(r, s, view, path, true, fmt, ap);
	va_end(ap);
}

void set_in_order(struct ruling *r, const struct selector *s, const struct ynode *view,
		  const char *low, const char *high)
{
	const struct ynode *bound = tree_get(view, high);
	uint64_t min, max;

	if (ynode_number(tree_get(view, low), &min) && ynode_number(bound, &max) && max &&
	    min > max)
		set_error(r, s, view, low, "above %s: %.40s", strrchr(high, '.') + 1, bound->text);
}
