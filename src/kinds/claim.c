/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/claim.h"

#include <fnmatch.h>
#include <search.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/pattern.h"
#include "base/str.h"
#include "kinds/cover.h"
#include "plan/change.h"
#include "plan/render.h"
#include "sys/port.h"
#include "sys/read.h"

enum { NAMED_MAX = 3 }; /* rivals that a note names */

/* --- files by their identity ---------------------------------------------------------------- */

struct identity {
	dev_t dev;
	ino_t ino;
};

/* The files of a pattern. */
struct matched {
	char *pattern;
	bool own_ports;		   /* as in struct rival */
	VEC(struct identity) list; /* sorted */
};

static void *all_matched; /* tsearch(3) tree, until claims_forget() */

static int by_pattern(const void *a, const void *b)
{
	const struct matched *x = a, *y = b;

	if (x->own_ports != y->own_ports)
		return x->own_ports ? 1 : -1;
	return strcmp(x->pattern, y->pattern);
}

static int by_identity(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return (x->ino > y->ino) - (x->ino < y->ino);
}

static void matched_free(void *arg)
{
	struct matched *m = arg;

	free(m->pattern);
	vec_free(&m->list);
	free(m);
}

void claims_forget(void)
{
	tdestroy(all_matched, matched_free);
	all_matched = NULL;
}

/* Whether a file below .../net/NETDEV belongs to the representor of a VF or SF. */
static bool is_representors(const struct root *root, const char *path)
{
	const char *net = strstr(path, "/net/");
	const char *name = net ? net + strlen("/net/") : path;
	cleanup_free char *port = NULL;

	return net &&
	       read_attr(root, &port, NULL, "%.*s/phys_port_name",
			 (int)(name - path + (long)strcspn(name, "/")), path) == 0 &&
	       port_is_representor(port);
}

static int find_files(const struct root *root, const char *pattern, bool own_ports,
		      struct strv *ret, struct err *err)
{
	cleanup_strv struct strv all = {0};
	int r = read_glob(root, pattern, &all, err);

	for (size_t i = 0; r == 0 && i < all.n; i++)
		if (!own_ports || !is_representors(root, all.v[i]))
			strv_add(ret, all.v[i]);
	return r;
}

static int match(const struct root *root, const struct rival *rival, const struct matched **ret,
		 struct err *err)
{
	const struct matched key = {.pattern = rival->pattern, .own_ports = rival->own_ports};
	struct matched **known = tfind(&key, &all_matched, by_pattern);
	cleanup_strv struct strv paths = {0};
	struct matched *m;
	int r;

	*ret = known ? *known : NULL;
	if (known)
		return 0;
	r = find_files(root, rival->pattern, rival->own_ports, &paths, err);
	if (r < 0)
		return r;
	m = xnew(struct matched);
	m->pattern = xstrdup(rival->pattern);
	m->own_ports = rival->own_ports;
	for (size_t i = 0; i < paths.n; i++) {
		struct stat st;

		if (root_stat(root, &st, paths.v[i]) == 0)
			vec_push(&m->list, ((struct identity){st.st_dev, st.st_ino}));
	}
	if (m->list.n)
		qsort(m->list.v, m->list.n, sizeof(*m->list.v), by_identity);
	tsearch(m, &all_matched, by_pattern);
	*ret = m;
	return 0;
}

/* --- rivals --------------------------------------------------------------------------------- */

struct contender {
	const struct rival *rival;
	const struct matched *files; /* NULL: the names of files are compared */
};

/* In the order of the rivals. */
struct contenders {
	VEC(struct contender) list;
	bool by_identity; /* for some of the contenders */
};

static int find_contenders(const struct root *root, const struct rivals *rivals,
			   struct contenders *ret, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < rivals->list.n; i++) {
		struct contender c = {.rival = &rivals->list.v[i]};

		if (c.rival->alias)
			r = match(root, c.rival, &c.files, err);
		ret->by_identity |= c.rival->alias;
		vec_push(&ret->list, c);
	}
	return r;
}

static bool has(const struct contender *c, const char *path, const struct identity *id)
{
	if (!c->files)
		return fnmatch(c->rival->pattern, path, FNM_PATHNAME | FNM_PERIOD | FNM_NOESCAPE) ==
		       0;
	return c->files->list.n && bsearch(id, c->files->list.v, c->files->list.n,
					   sizeof(*c->files->list.v), by_identity);
}

/* The first rival that the file also belongs to; or NULL. */
static const struct rival *contender_for(const struct root *root, const struct contenders *all,
					 const char *path)
{
	struct identity id = {0};
	struct stat st;

	if (all->by_identity && root_stat(root, &st, path) == 0)
		id = (struct identity){st.st_dev, st.st_ino};
	for (size_t i = 0; i < all->list.n; i++)
		if (has(&all->list.v[i], path, &id))
			return all->list.v[i].rival;
	return NULL;
}

/* --- notes ---------------------------------------------------------------------------------- */

/* Rivals that own some of the files, or set them to the same value. */
struct crowd {
	size_t files;
	VEC(const struct rival *) list;
};

static void join(struct crowd *crowd, const struct rival *rival)
{
	crowd->files++;
	for (size_t i = 0; i < crowd->list.n; i++)
		if (crowd->list.v[i] == rival)
			return;
	vec_push(&crowd->list, rival);
}

static void add_names(struct str *out, const struct crowd *crowd)
{
	for (size_t i = 0; i < crowd->list.n && i < NAMED_MAX; i++) {
		const struct rival *rival = crowd->list.v[i];
		cleanup_free char *place = render_place(rival->origin);

		str_addf(out, "%s%s (%s)", i ? ", " : "", rival->id, place);
	}
	if (crowd->list.n > NAMED_MAX)
		str_addf(out, " and %zu more", crowd->list.n - NAMED_MAX);
}

static void take_note(struct change *c, size_t all, const struct crowd *owners,
		      const struct crowd *partners)
{
	cleanup_str struct str text = {0};

	free(c->now.note);
	c->now.note = NULL;
	if (owners->files) {
		str_addf(&text, "%zu of %zu files belong to ", owners->files, all);
		add_names(&text, owners);
	}
	if (partners->files) {
		str_addf(&text, "%s%zu of %zu files have the same value from ",
			 text.len ? "; " : "", partners->files, all);
		add_names(&text, partners);
	}
	if (text.len)
		change_note(c, "%s", text.s);
}

/* --- files ---------------------------------------------------------------------------------- */

static char *describe_contest(const struct change *c, const struct rival *rival, const char *path)
{
	cleanup_free char *mine = render_place(c->origin), *its = render_place(rival->origin);

	return xasprintf("%s: this line (%s) sets '%s', %s (%s) sets '%s'; drop one of the two",
			 path, mine, c->desired, rival->id, its, rival->desired);
}

struct search {
	const struct root *root;
	struct contenders may_own, may_contest;
	struct crowd owners, partners;
};

static void search_free(struct search *s)
{
	vec_free(&s->may_own.list);
	vec_free(&s->may_contest.list);
	vec_free(&s->owners.list);
	vec_free(&s->partners.list);
}

static void claim_one(struct search *s, const struct change *c, const char *path, struct claim *ret)
{
	const struct rival *owner = contender_for(s->root, &s->may_own, path);
	const struct rival *other = owner ? NULL : contender_for(s->root, &s->may_contest, path);

	if (owner) {
		join(&s->owners, owner);
	} else if (other && !(change_equal(c->compare, c->desired, other->desired) ||
			      change_equal(other->compare, other->desired, c->desired))) {
		if (!ret->contested++) {
			ret->contest = describe_contest(c, other, path);
			ret->first = xstrdup(path);
		}
	} else {
		if (other)
			join(&s->partners, other);
		strv_add(&ret->files, path);
	}
}

int claim_find(const struct kind_ctx *ctx, struct change *c, struct claim *ret, struct err *err)
{
	cleanup_strv struct strv paths = {0};
	struct search s __attribute__((__cleanup__(search_free))) = {.root = ctx->root};
	int r;

	if (!c->file && !pattern_is(c->target) && !c->yields_to.list.n && !c->contests.list.n) {
		strv_add(&ret->files, c->target);
		ret->all = 1;
		return 0;
	}
	r = find_files(ctx->root, c->file ? c->file : c->target, c->file != NULL, &paths, err);
	if (r == 0)
		r = find_contenders(ctx->root, &c->yields_to, &s.may_own, err);
	if (r == 0)
		r = find_contenders(ctx->root, &c->contests, &s.may_contest, err);
	for (size_t i = 0; r == 0 && i < paths.n; i++)
		if (!cover_is_newcomer(ctx, c, paths.v[i])) {
			claim_one(&s, c, paths.v[i], ret);
			ret->all++;
		}
	take_note(c, ret->all, &s.owners, &s.partners);
	return r;
}

void claim_free(struct claim *claim)
{
	strv_free(&claim->files);
	free(claim->contest);
	free(claim->first);
}
