/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "checks/counters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "plan/change.h"
#include "profile/yaml.h"
#include "sys/netlink.h"
#include "sys/read.h"

enum {
	NAMED = 3,     /* at most this many findings are named, the others counted */
	BY_SPARE = -1, /* want.number: .spare of each counter */
};

static const char *text_of(const struct counter *k)
{
	const char *slash = strrchr(k->file, '/');

	return k->text ? k->text : slash ? slash + 1 : k->file;
}

/* --- reading ----------------------------------------------------------------------------- */

struct question {
	const struct root *root;
	const struct counter_family *family;
	const struct strv *paths;
	struct strv *covers; /* NULL, or gets a part for each counter */
};

static int read_files(const struct root *root, const char *path, const struct counter_family *f,
		      uint64_t *values, bool *there, struct err *err)
{
	(void)err;
	for (size_t i = 0; i < f->n; i++)
		there[i] =
			read_u64(root, &values[i], NULL, "%s/%s", path, f->counters[i].file) == 0;
	return 0;
}

/* Appends lines "ROW VALUE MEMBER", a text, because another process may send them. */
static int add_member(const struct question *q, const char *path, struct str *text, struct err *err)
{
	const struct counter_family *f = q->family;
	cleanup_free uint64_t *values = xcalloc(f->n, sizeof(*values));
	cleanup_free bool *there = xcalloc(f->n, sizeof(*there));
	int r = (f->read ? f->read : read_files)(q->root, path, f, values, there, err);

	for (size_t i = 0; r == 0 && i < f->n; i++) {
		const struct counter *k = &f->counters[i];
		cleanup_free char *name = there[i] ? f->name(q->root, path, k) : NULL;
		cleanup_free char *part =
			name && q->covers ? xasprintf("%s (%s)", path, text_of(k)) : NULL;

		if (name)
			str_addf(text, "%zu %" PRIu64 " %s\n", i, values[i], name);
		if (part)
			strv_add(q->covers, part);
	}
	return r;
}

static int read_members(const void *arg, struct netlink_answer *ret, struct err *err)
{
	const struct question *q = arg;
	struct str text = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < q->paths->n; i++)
		r = add_member(q, q->paths->v[i], &text, err);
	ret->len = text.len;
	ret->data = str_take(&text);
	return r;
}

static void take_line(const char *line, const struct counter_family *f, struct count_list *counts)
{
	struct count *known;
	unsigned int row;
	uint64_t value;
	int at = 0;

	if (sscanf(line, "%u %" SCNu64 " %n", &row, &value, &at) != 2 || !at || row >= f->n)
		return;
	known = (struct count *)counts_find(counts, line + at, row);
	if (!known)
		counts_add(counts, line + at, row, value);
	else if (known->value < value)
		known->value = value;
}

static int take(const struct kind_ctx *ctx, struct change *c, const struct counter_look *look,
		struct err *err)
{
	const struct counter_family *f = look->family;
	struct netlink_answer got cleanup_answer = {0};
	cleanup_strv struct strv paths = {0};
	struct strv *covers = f->of_node && !look->follows ? &c->now.covers : NULL;
	struct question q = {ctx->root, f, &paths, covers};
	char *rest = NULL;
	int r;

	counts_free(&c->counts);
	counts_free(&c->still);
	r = f->find(ctx->root, c, &paths, err);
	if (r == 0 && ctx->root->live && f->waits_on)
		r = netlink_ask_apart(read_members, &q, f->waits_on, NETLINK_APART_MS, &got, err);
	else if (r == 0)
		r = read_members(&q, &got, err);
	for (char *line = got.len && r == 0 ? strtok_r(got.data, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest))
		take_line(line, f, &c->counts);
	return r;
}

/* --- judging ----------------------------------------------------------------------------- */

/* The findings of several counters, as one sentence with one fault and its remedy. */
struct worst {
	struct str text;
	size_t n;
	enum fault fault;
	const char *remedy;
};

__attribute__((format(printf, 4, 5))) static void blame(struct worst *f, enum fault fault,
							const char *remedy, const char *fmt, ...)
{
	va_list ap;

	if (!f->n || (f->fault != fault && fault_graver(f->fault, fault) == fault)) {
		f->fault = fault;
		f->remedy = remedy;
	}
	if (f->n++ >= NAMED)
		return;
	str_add(&f->text, f->text.len ? "; " : "");
	va_start(ap, fmt);
	str_vaddf(&f->text, fmt, ap);
	va_end(ap);
}

/* The rise since the look before the load; 0: no such look, or no rise. */
static uint64_t rise_of(const struct change *c, const struct count *now)
{
	const struct count *was = counts_find(&c->unloaded, now->member, now->row);

	return c->loaded && was && now->value > was->value ? now->value - was->value : 0;
}

/* The rise after the verdict of a counter that stands still in health. */
static uint64_t rise_later(struct change *c, const struct counter *k, const struct count *now)
{
	cleanup_free char *name = xasprintf("%s %s", now->member, k->file);

	return k->class == COUNTER_STILL ? change_count_still(c, name, now->value, 1) : 0;
}

static void judge_count(struct change *c, const struct counter *k, const struct count *now,
			struct worst *f)
{
	const struct counter_look *look = c->on.item;
	uint64_t rise = rise_of(c, now), later = rise_later(c, k, now);

	if (look->at_most && now->value > (uint64_t)c->want.number)
		blame(f, k->fault, k->remedy, "%s: %s %" PRIu64, now->member, text_of(k),
		      now->value);
	else if (look->at_most)
		return;
	else if (k->class == COUNTER_FAULT && now->value && k->bit)
		blame(f, k->fault, k->remedy, "%s: %s", now->member, text_of(k));
	else if (k->class == COUNTER_FAULT && now->value)
		blame(f, k->fault, k->remedy, "%s: %s %" PRIu64 " since boot", now->member,
		      text_of(k), now->value);
	else if (rise > (c->want.number == BY_SPARE ? k->spare : (uint64_t)c->want.number))
		blame(f, k->fault, k->remedy, "%s: %s rose by %" PRIu64 " under load, to %" PRIu64,
		      now->member, text_of(k), rise, now->value);
	else if (later)
		blame(f, k->fault, k->remedy,
		      "%s: %s rose by %" PRIu64 " after the verdict, to %" PRIu64, now->member,
		      text_of(k), later, now->value);
}

#define LOOK_AGAIN "run `railhead gate --again`"

static bool is_looked_at(const struct counter_look *look, const struct count *count)
{
	return look->classes & look->family->counters[count->row].class;
}

/* Whether in lacks the i-th of counts, and no earlier counter of the same member is missing. */
static bool is_first_missing(const struct counter_look *look, const struct count_list *counts,
			     size_t i, const struct count_list *in)
{
	const struct count *count = &counts->list.v[i];

	if (counts_find(in, count->member, count->row))
		return false;
	for (size_t j = 0; j < i; j++) {
		const struct count *other = &counts->list.v[j];

		if (streq(other->member, count->member) && is_looked_at(look, other) &&
		    !counts_find(in, other->member, other->row))
			return false;
	}
	return true;
}

/* A counter that exists, but whose rise is unknown. */
static void judge_unknown(const struct counter *k, const struct count *was, const struct count *now,
			  struct worst *f)
{
	if (now->value < was->value)
		blame(f, FAULT_GATE_CANNOT_LOOK,
		      "the device or its driver was reset: see the kernel log, and " LOOK_AGAIN,
		      "%s: %s fell from %" PRIu64 " to %" PRIu64
		      " under load, so that its rise is not known",
		      was->member, text_of(k), was->value, now->value);
	else if (k->top && was->value >= k->top)
		blame(f, FAULT_GATE_CANNOT_LOOK,
		      "set the counters back (`perfquery -R`), and " LOOK_AGAIN,
		      "%s: %s stands at %" PRIu64
		      ", where the counter stops, so that its rise is not known",
		      was->member, text_of(k), was->value);
}

static void judge_losses(const struct change *c, const struct counter_look *look, struct worst *f)
{
	const struct counter *rows = look->family->counters;

	for (size_t i = 0; i < c->unloaded.list.n; i++) {
		const struct count *was = &c->unloaded.list.v[i];
		const struct count *now = counts_find(&c->counts, was->member, was->row);

		if (!is_looked_at(look, was) || rows[was->row].bit)
			continue;
		if (now)
			judge_unknown(&rows[was->row], was, now, f);
		else if (is_first_missing(look, &c->unloaded, i, &c->counts))
			blame(f, FAULT_GATE_CANNOT_LOOK, "see the kernel log, and " LOOK_AGAIN,
			      "%s had counters before the load, and has none now", was->member);
	}
	for (size_t i = 0; i < c->counts.list.n; i++)
		if (is_looked_at(look, &c->counts.list.v[i]) &&
		    is_first_missing(look, &c->counts, i, &c->unloaded))
			blame(f, FAULT_GATE_CANNOT_LOOK, LOOK_AGAIN,
			      "%s had no counters before the load, so that its rise is not known",
			      c->counts.list.v[i].member);
}

static void observe(struct change *c, const struct counter_look *look)
{
	struct str text = {0};
	size_t n = 0;

	for (size_t i = 0; i < c->counts.list.n; i++) {
		const struct count *now = &c->counts.list.v[i];
		const struct counter *k = &look->family->counters[now->row];

		if (!is_looked_at(look, now) || !now->value || n++ >= NAMED)
			continue;
		str_addf(&text, "%s%s %s", n > 1 ? ", " : "", now->member, text_of(k));
		if (!k->bit)
			str_addf(&text, " %" PRIu64, now->value);
	}
	if (n > NAMED)
		str_addf(&text, " and %zu more", n - NAMED);
	change_observe(c, "%s", n ? text.s : "0");
	str_free(&text);
}

static void judge(struct change *c, const struct counter_look *look)
{
	struct worst f = {0};

	observe(c, look);
	for (size_t i = 0; i < c->counts.list.n; i++)
		if (is_looked_at(look, &c->counts.list.v[i]))
			judge_count(c, &look->family->counters[c->counts.list.v[i].row],
				    &c->counts.list.v[i], &f);
	if (c->loaded && !look->at_most)
		judge_losses(c, look, &f);
	c->now.state = f.n ? CHANGE_DIFFERS : CHANGE_SAME;
	c->now.fault = f.fault;
	if (f.n > NAMED)
		str_addf(&f.text, " and %zu more", f.n - NAMED);
	if (f.n)
		change_reason(c, "%s" TO_MEND "%s", f.text.s, f.remedy);
	str_free(&f.text);
}

static int unsupported(struct change *c, const char *why)
{
	change_observe(c, "not counted");
	change_reason(c, "%s", why);
	c->now.state = CHANGE_UNSUPPORTED;
	return 0;
}

/* Of counters that are silent, some may be missing. */
static void judge_silence(const struct kind_ctx *ctx, struct change *c,
			  const struct counter_look *look)
{
	cleanup_free char *missing = NULL;

	if (look->family->uncounted && c->now.state == CHANGE_SAME && !look->follows)
		missing = look->family->uncounted(ctx->root);
	if (!missing)
		return;
	change_reason(c, "%s" TO_MEND "%s", missing, look->family->to_count);
	c->now.fault = FAULT_GATE_CANNOT_LOOK;
	c->now.state = c->optional ? CHANGE_UNSUPPORTED : CHANGE_DIFFERS;
}

int counters_look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const struct counter_look *look = c->on.item;
	int r = take(ctx, c, look, err);
	bool none = r == 0 && !c->counts.list.n && !c->unloaded.list.n;

	if ((r < 0 || none) && look->follows)
		return unsupported(c, "unknown; see the first look of this check");
	if (none && !ctx->root->live)
		return unsupported(c, "a captured tree does not hold these counters");
	if (none)
		return err_set(err, -EOPNOTSUPP, "%s", look->family->absent);
	if (r == 0) {
		judge(c, look);
		judge_silence(ctx, c, look);
	}
	return r;
}

/* --- changes ----------------------------------------------------------------------------- */

static struct change *emit(const struct checked *t, struct subject of, const char *suffix,
			   const struct counter_look *look, const char *desired, int64_t most)
{
	struct change *c = check_look(t, of, suffix, &look->item, look->family->sort, desired);

	c->want = (struct value){.type = VALUE_NUMBER, .number = most};
	c->of_load = !look->at_most && !(look->classes & COUNTER_FAULT);
	return c;
}

void counters_emit(const struct checked *t, struct subject of, const char *suffix,
		   const struct counter_look *look, const char *desired)
{
	emit(t, of, suffix, look, desired, BY_SPARE);
}

void counters_emit_rise(const struct checked *t, struct subject of, const char *suffix,
			const struct counter_look *look, bool on_rise)
{
	const struct ynode *most = ynode_get(t->map, "rise");
	cleanup_free char *desired = most ? xasprintf("at most %s more under load", most->text)
					  : xstrdup("as before the load");
	struct change *c = emit(t, of, suffix, look, desired, most ? most->value.number : BY_SPARE);

	if (on_rise)
		on_fail_parse(ynode_text(t->map, "on_rise", "warn"), &c->on_fail);
}

struct change *counters_emit_at_most(const struct checked *t, struct subject of, const char *key,
				     const struct counter_look *look)
{
	const struct ynode *most = ynode_get(t->map, key);
	cleanup_free char *suffix = xasprintf("/%s", key);
	cleanup_free char *desired = most ? xasprintf("at most %s", most->text) : NULL;

	return most ? emit(t, of, suffix, look, desired, most->value.number) : NULL;
}
