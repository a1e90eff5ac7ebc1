/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selects the node's profile: reads all files of the search path, evaluates their match: sections;
 * exactly one must remain. An unreadable profile blocks, because it might have been the right one.
 * Most profiles are of other machines, and say so in their own file: their bases are not read.
 */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "base/pattern.h"
#include "base/str.h"
#include "profile/load.h"
#include "profile/schema.h"
#include "profile/search.h"
#include "profile/yaml.h"

/* Internal state of a candidate, which callers do not see. */
struct contender {
	struct profile *profile; /* may be invalid; NULL: even its match is unreadable */
	bool fits;
	bool ruled_out; /* by its own file */
};

struct search {
	const struct root *root; /* the root of the profiles */
	bool files;		 /* the caller's files instead of the search path */
	bool all;		 /* load also the profiles that their own file rules out */
	const struct node *node;
	struct match *m;
	VEC(struct contender) contenders; /* parallel to m->candidates */
};

/* --- the candidates ------------------------------------------------------------------------ */

/*
 * Whether the keys that identify the profile are free of errors. Errors elsewhere matter only once
 * the profile is chosen.
 */
static bool identity_is_sound(const struct diags *diags)
{
	for (size_t i = 0; i < diags->list.n; i++) {
		const struct diag *d = &diags->list.v[i];
		cleanup_free char *top = xstrndup(d->key, strcspn(d->key, ".["));
		const struct field *f = spec_field(schema_profile(), top);

		if (d->warning)
			continue;
		if (f && (f->flags & (FIELD_NOT_INHERITED | FIELD_OWN) || streq(top, "match")))
			return false;
	}
	return true;
}

static unsigned int load_flags_of(const struct search *s)
{
	return s->files ? 0 : LOAD_BELOW_ROOT;
}

static void set_fate(struct candidate *c, char *text)
{
	free(c->fate);
	c->fate = text;
}

/* A condition without a value deletes that of a base. */
static bool deletes(const struct ynode *match)
{
	if (ynode_is_null(match))
		return true;
	for (size_t i = 0; i < match->items.n; i++)
		if (deletes(match->items.v[i]))
			return true;
	return false;
}

/*
 * Whether the file as written excludes the node, whatever its bases are: a base may add conditions,
 * and replaces none.
 */
static bool rules_itself_out(const struct search *s, const struct ynode *own)
{
	const struct ynode *match = ynode_get(own, "match");
	struct conditions conditions = {0};
	bool fails;

	if (ynode_bool(own, "abstract", false))
		return true;
	if (!match || deletes(match))
		return false;
	fails = !conditions_hold(s->node, match, &conditions) && conditions.list.n;
	conditions_free(&conditions);
	return fails;
}

static bool judge(const struct search *s, struct candidate *c, const struct contender *k)
{
	if (!k->profile) {
		set_fate(c, xstrdup("its match section can't be read"));
		return false;
	}
	if (k->profile->abstract) {
		set_fate(c, xstrdup("abstract, a base for others"));
		return false;
	}
	if (!s->node)
		return true; /* called by match_ties() */
	return conditions_hold(s->node, profile_section(k->profile, "match"), &c->conditions);
}

/* A candidate that is being loaded. */
struct loading {
	const struct search *s;
	const struct candidate *c;
	struct contender *k;
};

static bool is_enough(const struct ynode *own, void *arg)
{
	const struct loading *l = arg;

	l->k->ruled_out =
		l->s->node && identity_is_sound(&l->c->diags) && rules_itself_out(l->s, own);
	return l->k->ruled_out && !l->s->all;
}

static void add_candidate(struct search *s, const char *path)
{
	struct candidate c = {.name = profile_stem(path), .path = xstrdup(path)};
	struct contender k = {0};
	struct loading loading = {s, &c, &k};
	struct err err = {0};
	int r;

	/*
	 * Without the node, because its limits apply to the chosen profile only. Without drop-ins,
	 * because these cannot change a profile's match.
	 */
	r = load_candidate(s->root, path, load_flags_of(s), is_enough, &loading, &k.profile,
			   &c.diags, &err);
	if (r < 0)
		diag_error(&c.diags, (struct place){.file = path}, "", "%s", err_text(r));
	if (k.profile && (!k.profile->doc || !identity_is_sound(&c.diags))) {
		profile_free(k.profile);
		k.profile = NULL;
	}
	c.matches = k.fits = judge(s, &c, &k);
	vec_push(&s->m->candidates, c);
	vec_push(&s->contenders, k);
}

/* --- the choice --------------------------------------------------------------------------- */

static struct candidate *chosen_by_pin(struct search *s, const char *pin)
{
	struct match *m = s->m;

	for (size_t i = 0; i < m->candidates.n; i++) {
		if (!streq(m->candidates.v[i].name, pin))
			continue;
		if (s->contenders.v[i].profile && s->contenders.v[i].profile->abstract) {
			err_set(&m->why, -EINVAL,
				"railhead.profile=%s: the profile is abstract, a base for others",
				pin);
			err_fault(&m->why, -EINVAL, FAULT_PROFILE_UNKNOWN);
			return NULL;
		}
		set_fate(&m->candidates.v[i], xstrdup("pinned by railhead.profile="));
		return &m->candidates.v[i];
	}
	err_set(&m->why, -ENOENT, "railhead.profile=%.80s: no such profile in %s, %s or %s", pin,
		profile_dirs[0], profile_dirs[1], profile_dirs[2]);
	err_fault(&m->why, -ENOENT, FAULT_PROFILE_UNKNOWN);
	return NULL;
}

/* Sets the reason to the first candidate whose match is unreadable. */
static bool none_is_unreadable(struct search *s)
{
	for (size_t i = 0; i < s->m->candidates.n; i++) {
		const struct candidate *c = &s->m->candidates.v[i];
		cleanup_free char *text = NULL;

		if (s->contenders.v[i].profile || s->contenders.v[i].ruled_out)
			continue;
		text = c->diags.list.n ? diag_format(&c->diags.list.v[0]) : xstrdup(c->path);
		err_set(&s->m->why, -EINVAL, "the match section of profile %s can't be read: %s",
			c->name, text);
		return false;
	}
	return true;
}

static void rule_out(struct search *s, size_t i, const char *why, const char *whom)
{
	s->contenders.v[i].fits = false;
	set_fate(&s->m->candidates.v[i], xasprintf("%s %s, which matches too", why, whom));
}

/* A descendant is a more specific version of its ancestor. */
static void rule_out_ancestors(struct search *s)
{
	for (size_t i = 0; i < s->contenders.n; i++) {
		const struct contender *k = &s->contenders.v[i];

		for (size_t j = 0; s->m->candidates.v[i].matches && j < s->contenders.n; j++)
			if (s->contenders.v[j].fits &&
			    strv_contains(&k->profile->ancestors, s->m->candidates.v[j].name))
				rule_out(s, j, "a base of", s->m->candidates.v[i].name);
	}
}

static void rule_out_lower(struct search *s)
{
	const char *whom = NULL;
	int best = 0;

	for (size_t i = 0; i < s->contenders.n; i++) {
		const struct contender *k = &s->contenders.v[i];

		if (!k->fits || (whom && k->profile->priority <= best))
			continue;
		best = k->profile->priority;
		whom = s->m->candidates.v[i].name;
	}
	for (size_t i = 0; i < s->contenders.n; i++)
		if (s->contenders.v[i].fits && s->contenders.v[i].profile->priority < best)
			rule_out(s, i, "of lower priority than", whom);
}

/* The number of candidates that fit, and their names for a message. */
static size_t remaining(const struct search *s, struct str *names, size_t *ret_last)
{
	size_t n = 0;

	for (size_t i = 0; i < s->contenders.n; i++) {
		if (!s->contenders.v[i].fits)
			continue;
		str_addf(names, "%s%s", n++ ? ", " : "", s->m->candidates.v[i].name);
		*ret_last = i;
	}
	return n;
}

static struct candidate *chosen_by_match(struct search *s)
{
	cleanup_str struct str names = {0};
	size_t last = 0, n;

	rule_out_ancestors(s);
	rule_out_lower(s);
	n = remaining(s, &names, &last);
	if (n == 1)
		return &s->m->candidates.v[last];
	s->m->result = n ? MATCH_TWO : MATCH_NONE;
	if (n)
		err_set(&s->m->why, -EINVAL,
			"%zu profiles match this node (%s); give one a higher priority: or make "
			"their match: narrower",
			n, str_get(&names));
	else if (s->m->candidates.n)
		err_set(&s->m->why, -ENOENT,
			"none of %zu profiles matches this node; see railhead match --explain",
			s->m->candidates.n);
	else
		err_set(&s->m->why, -ENOENT,
			"no profiles found in %s, %s or %s; install one there, or write a first "
			"one with `railhead draft`",
			profile_dirs[0], profile_dirs[1], profile_dirs[2]);
	return NULL;
}

/* --- the chosen profile ------------------------------------------------------------------- */

/* Loads the profile again, now with its drop-ins and checked against the node. */
static void settle_on(struct search *s, struct candidate *c)
{
	struct profile *p = NULL;
	struct err err = {0};
	int r;

	diags_free(&c->diags);
	r = load_profile(s->root, c->path, load_flags_of(s), s->node, &p, &c->diags, &err);
	if (r < 0)
		diag_error(&c->diags, (struct place){.file = c->path}, "", "%s", err_text(r));
	s->m->chosen = c;
	c->chosen = true;
	if (!c->diags.errors) {
		c->profile = p;
		s->m->result = MATCH_ONE;
		return;
	}
	profile_free(p);
	for (size_t i = 0; i < c->diags.list.n; i++) {
		cleanup_free char *text = NULL;

		if (c->diags.list.v[i].warning)
			continue;
		text = diag_format(&c->diags.list.v[i]);
		err_set(&s->m->why, -EINVAL, "profile %s is invalid: %s", c->name, text);
		if (c->diags.errors > 1)
			err_set(&s->m->why, -EINVAL, "profile %s is invalid: %s (and %zu more)",
				c->name, text, c->diags.errors - 1);
		break;
	}
}

/* Hands the valid profiles over to the candidates and frees the others. */
static void finish(struct search *s)
{
	for (size_t i = 0; i < s->contenders.n; i++) {
		struct candidate *c = &s->m->candidates.v[i];

		if (!c->chosen && !c->diags.errors && (s->all || !s->contenders.v[i].ruled_out))
			c->profile = s->contenders.v[i].profile;
		else
			profile_free(s->contenders.v[i].profile);
	}
	vec_free(&s->contenders);
}

static void decide(struct search *s, const char *pin)
{
	struct candidate *c = NULL;

	if (pin)
		c = chosen_by_pin(s, pin);
	else if (none_is_unreadable(s))
		c = chosen_by_match(s);
	if (c)
		settle_on(s, c);
	finish(s);
}

int match_profiles(const struct root *root, const struct node *node, const char *pin, bool all,
		   struct match *ret, struct err *err)
{
	struct profile_files files = {0};
	struct search s = {.root = root, .all = all, .node = node, .m = ret};
	struct err why;
	int r = profile_files_list(root, &files, &why);

	if (r < 0 && r != -EPERM)
		return err_copy(err, r, &why);
	*ret = (struct match){.result = MATCH_INVALID};
	if (r < 0) {
		ret->why = why;
		return 0;
	}
	for (size_t i = 0; i < files.list.n; i++)
		if (!files.list.v[i].masked && !files.list.v[i].overridden_by)
			add_candidate(&s, files.list.v[i].path);
	profile_files_free(&files);
	decide(&s, pin);
	return 0;
}

/*
 * Whether narrow has a condition for each of wide's, so that every machine matching narrow matches
 * wide. False if two patterns differ, because their relation is unknown.
 */
static bool implies(const struct ynode *narrow, const struct ynode *wide)
{
	if (!narrow || narrow->kind != wide->kind)
		return false;
	if (wide->kind == YAML_SCALAR)
		return streq(narrow->text, wide->text) ||
		       (!pattern_is(narrow->text) && !strchr(narrow->text, '\\') &&
			fnmatch(wide->text, narrow->text, 0) == 0);
	for (size_t i = 0; i < wide->items.n; i++) {
		bool found = wide->kind == YAML_MAP &&
			     implies(ynode_get(narrow, wide->keys.v[i]->text), wide->items.v[i]);

		for (size_t j = 0; wide->kind == YAML_LIST && j < narrow->items.n; j++)
			found = found || implies(narrow->items.v[j], wide->items.v[i]);
		if (!found)
			return false;
	}
	return true;
}

/* Sets which profiles fit every machine that the ith profile matches. */
static void match_like(struct search *s, size_t i)
{
	const struct ynode *match = profile_section(s->contenders.v[i].profile, "match");

	for (size_t j = 0; j < s->contenders.n; j++) {
		struct contender *k = &s->contenders.v[j];
		const struct ynode *other =
			k->profile ? profile_section(k->profile, "match") : NULL;

		k->fits = match && other && !k->profile->abstract && implies(match, other);
		s->m->candidates.v[j].matches = k->fits;
	}
}

void match_ties(const struct root *root, struct diags *diags)
{
	struct match m = {0};
	struct search s = {.root = root, .m = &m};
	struct profile_files files = {0};

	if (profile_files_list(root, &files, NULL) < 0)
		return;
	for (size_t i = 0; i < files.list.n; i++)
		if (!files.list.v[i].masked && !files.list.v[i].overridden_by)
			add_candidate(&s, files.list.v[i].path);
	profile_files_free(&files);
	for (size_t i = 0; i < s.contenders.n; i++) {
		const struct profile *p = s.contenders.v[i].profile;
		cleanup_str struct str names = {0};
		size_t last;

		if (!p || p->abstract)
			continue;
		match_like(&s, i);
		rule_out_ancestors(&s);
		rule_out_lower(&s);
		if (s.contenders.v[i].fits && remaining(&s, &names, &last) > 1)
			diag_error(diags, profile_section(p, "match")->at, "match",
				   "more than one profile matches each machine that this one "
				   "matches (%s); give one a higher priority: or make their match: "
				   "narrower",
				   str_get(&names));
	}
	finish(&s);
	match_free(&m);
}

void match_files(const struct root *root, const struct node *node, char *const *paths, size_t n,
		 bool all, struct match *ret)
{
	struct search s = {.root = root, .files = true, .all = all, .node = node, .m = ret};

	*ret = (struct match){.result = MATCH_INVALID};
	for (size_t i = 0; i < n; i++)
		add_candidate(&s, paths[i]);
	decide(&s, NULL);
}

void match_free(struct match *m)
{
	for (size_t i = 0; i < m->candidates.n; i++) {
		struct candidate *c = &m->candidates.v[i];

		free(c->name);
		free(c->path);
		profile_free(c->profile);
		diags_free(&c->diags);
		conditions_free(&c->conditions);
		free(c->fate);
	}
	vec_free(&m->candidates);
	m->chosen = NULL;
}
