/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/claim.h"

#include <errno.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "plan/render.h"
#include "sys/read.h"

enum { NAMED_MAX = 3 }; /* rivals that a note names */

/* Of a rival that may have a file by another name. */
struct twin {
	dev_t dev;
	ino_t ino;
	const struct rival *rival;
};

struct twins {
	VEC(struct twin) list;
};

static int find_twins(const struct kind_ctx *ctx, const struct rivals *rivals, struct twins *ret,
		      struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < rivals->list.n; i++) {
		const struct rival *rival = &rivals->list.v[i];
		cleanup_strv struct strv paths = {0};

		if (!rival->alias)
			continue;
		r = read_glob(ctx->root, rival->pattern, &paths, err);
		for (size_t j = 0; r == 0 && j < paths.n; j++) {
			struct stat st;

			if (root_stat(ctx->root, &st, paths.v[j]) == 0)
				vec_push(&ret->list, ((struct twin){st.st_dev, st.st_ino, rival}));
		}
	}
	return r;
}

static bool is_twin(const struct twins *twins, const struct rival *rival, const struct stat *st)
{
	for (size_t i = 0; i < twins->list.n; i++) {
		const struct twin *t = &twins->list.v[i];

		if (t->rival == rival && t->dev == st->st_dev && t->ino == st->st_ino)
			return true;
	}
	return false;
}

/* The first of the rivals that the file is of, too. */
static const struct rival *rival_for(const struct kind_ctx *ctx, const struct rivals *rivals,
				     const struct twins *twins, const char *path)
{
	struct stat st;
	bool known = twins->list.n && root_stat(ctx->root, &st, path) == 0;

	for (size_t i = 0; i < rivals->list.n; i++) {
		const struct rival *rival = &rivals->list.v[i];

		if (rival->alias ? known && is_twin(twins, rival, &st)
				 : fnmatch(rival->pattern, path,
					   FNM_PATHNAME | FNM_PERIOD | FNM_NOESCAPE) == 0)
			return rival;
	}
	return NULL;
}

/* --- notes ---------------------------------------------------------------------------------- */

/* Rivals that have, or set, some of the files. */
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

	free(c->note);
	c->note = NULL;
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

	return xasprintf("%s (%s) wants '%s' and %s (%s) wants '%s' of %s, which is left as it "
			 "is; drop one of the two",
			 c->id, mine, c->desired, rival->id, its, rival->desired, path);
}

struct search {
	const struct kind_ctx *ctx;
	struct twins owners_twins, contest_twins;
	struct crowd owners, partners;
};

static void search_free(struct search *s)
{
	vec_free(&s->owners_twins.list);
	vec_free(&s->contest_twins.list);
	vec_free(&s->owners.list);
	vec_free(&s->partners.list);
}

static bool agree(const struct change *c, const struct rival *other)
{
	return change_equal(c->compare, c->desired, other->desired) ||
	       change_equal(other->compare, c->desired, other->desired);
}

static void claim_one(struct search *s, const struct change *c, const char *path, struct claim *ret)
{
	const struct rival *owner = rival_for(s->ctx, &c->yields_to, &s->owners_twins, path);
	const struct rival *other =
		owner ? NULL : rival_for(s->ctx, &c->contests, &s->contest_twins, path);

	if (owner) {
		join(&s->owners, owner);
	} else if (other && !agree(c, other)) {
		if (!ret->contest)
			ret->contest = describe_contest(c, other, path);
	} else {
		if (other)
			join(&s->partners, other);
		strv_add(&ret->files, path);
	}
}

int claim_find(const struct kind_ctx *ctx, struct change *c, struct claim *ret, struct err *err)
{
	cleanup_strv struct strv paths = {0};
	struct search s __attribute__((__cleanup__(search_free))) = {.ctx = ctx};
	int r = read_glob(ctx->root, c->file ? c->file : c->target, &paths, err);

	if (r == 0)
		r = find_twins(ctx, &c->yields_to, &s.owners_twins, err);
	if (r == 0)
		r = find_twins(ctx, &c->contests, &s.contest_twins, err);
	for (size_t i = 0; r == 0 && i < paths.n; i++)
		claim_one(&s, c, paths.v[i], ret);
	ret->all = paths.n;
	take_note(c, paths.n, &s.owners, &s.partners);
	return r;
}

void claim_free(struct claim *claim)
{
	strv_free(&claim->files);
	free(claim->contest);
}
