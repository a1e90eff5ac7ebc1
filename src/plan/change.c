/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/change.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "base/version.h"
#include "base/words.h"
#include "profile/value.h"
#include "profile/yaml.h"

void plan_take_drift(struct plan *plan, const struct strv *without)
{
	for (size_t i = 0; i < plan->list.n; i++) {
		struct change *c = plan->list.v[i];

		c->came_later = c->now.state == CHANGE_DIFFERS && c->kind->set &&
				strv_contains(without, c->id);
		if (c->came_later)
			change_reason(c, "%s%sit was absent when the node was judged",
				      or_empty(c->now.why), c->now.why ? "; " : "");
		if (c->drift_warns || c->came_later)
			c->on_fail = ON_FAIL_WARN;
	}
}

static void replace_v(char **slot, const char *fmt, va_list ap)
{
	char *before = *slot;

	*slot = xvasprintf(fmt, ap);
	free(before);
}

#define SETTER(field)                          \
	do {                                   \
		va_list ap;                    \
		va_start(ap, fmt);             \
		replace_v(&c->field, fmt, ap); \
		va_end(ap);                    \
	} while (0)

void change_target(struct change *c, const char *fmt, ...)
{
	SETTER(target);
}

void change_desired(struct change *c, const char *fmt, ...)
{
	SETTER(desired);
}

void change_lane(struct change *c, const char *fmt, ...)
{
	SETTER(lane);
}

void change_waits_for(struct change *c, const char *fmt, ...)
{
	SETTER(waits_for);
}

void change_withhold(struct change *c, const char *why)
{
	free(c->withheld);
	c->withheld = why ? xstrdup(why) : NULL;
}

void change_needs(struct change *c, const char *fmt, ...)
{
	SETTER(needs);
}

void change_while(struct change *c, const char *fmt, ...)
{
	SETTER(while_id);
}

void change_observe(struct change *c, const char *fmt, ...)
{
	SETTER(now.found);
}

void change_on(struct change *c, const char *name, const void *item)
{
	free(c->on.name);
	c->on.name = name ? xstrdup(name) : NULL;
	c->on.item = item;
}

void change_want(struct change *c, const struct ynode *value)
{
	c->want = value->value;
	change_desired(c, "%s", value->text);
}

struct part *change_part(struct change *c, const char *name, const void *item,
			 const struct ynode *value)
{
	struct part part = {.name = xstrdup(name), .item = item};

	if (value)
		part.want = value->value;

	vec_push(&c->parts, part);
	return &c->parts.v[c->parts.n - 1];
}

void change_reason(struct change *c, const char *fmt, ...)
{
	unsigned int mend;
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	mend = err_take_mark(text, fmt);
	finding_say(&c->now, text, mend);
}

void change_file(struct change *c, const char *fmt, ...)
{
	SETTER(file);
}

void change_note(struct change *c, const char *fmt, ...)
{
	SETTER(now.note);
}

static struct change *vadd(struct plan *plan, const char *section, const struct kind *kind,
			   enum stage stage, enum phase phase, struct place origin,
			   const char *id_fmt, va_list ap)
{
	struct change *c = xnew(struct change);

	replace_v(&c->id, id_fmt, ap);
	c->section = section;
	c->kind = kind;
	c->stage = stage;
	c->phase = phase;
	c->origin = origin;
	c->on.vf = -1;
	c->lane = xstrdup("");
	c->target = xstrdup("");
	c->desired = xstrdup("");
	vec_push(&plan->list, c);
	return c;
}

struct change *plan_add(struct plan *plan, const char *section, const struct kind *kind,
			enum stage stage, enum phase phase, struct place origin, const char *id_fmt,
			...)
{
	struct change *c;
	va_list ap;

	va_start(ap, id_fmt);
	c = vadd(plan, section, kind, stage, phase, origin, id_fmt, ap);
	va_end(ap);
	return c;
}

struct change *plan_add_file(struct plan *plan, const char *section, enum stage stage,
			     struct place origin, const char *path, const char *text,
			     const char *id_fmt, ...)
{
	struct change *c;
	va_list ap;

	va_start(ap, id_fmt);
	c = vadd(plan, section, &kind_file, stage, PHASE_FILES, origin, id_fmt, ap);
	va_end(ap);
	change_target(c, "%s", path);
	change_desired(c, "%s", text);
	return c;
}

struct change *plan_find(const struct plan *plan, const char *id)
{
	for (size_t i = 0; i < plan->list.n; i++)
		if (streq(plan->list.v[i]->id, id))
			return plan->list.v[i];
	return NULL;
}

static void rivals_free(struct rivals *rivals)
{
	for (size_t i = 0; i < rivals->list.n; i++) {
		free(rivals->list.v[i].id);
		free(rivals->list.v[i].pattern);
		free(rivals->list.v[i].desired);
	}
	vec_free(&rivals->list);
}

void counts_add(struct count_list *counts, const char *member, unsigned int row, uint64_t value)
{
	struct count count = {xstrdup(member), row, value};

	vec_push(&counts->list, count);
}

const struct count *counts_find(const struct count_list *counts, const char *member,
				unsigned int row)
{
	for (size_t i = 0; i < counts->list.n; i++)
		if (counts->list.v[i].row == row && streq(counts->list.v[i].member, member))
			return &counts->list.v[i];
	return NULL;
}

void counts_free(struct count_list *counts)
{
	for (size_t i = 0; i < counts->list.n; i++)
		free(counts->list.v[i].member);
	vec_free(&counts->list);
}

uint64_t change_count_still(struct change *c, const char *counter, uint64_t value, uint64_t once)
{
	const struct count *was = NULL;
	bool is_spared;

	if (c->on.vf >= 0)
		return 0;
	if (c->still_before)
		was = counts_find(c->still_before, counter, 0);
	is_spared = was && value >= was->value && value - was->value <= once;
	counts_add(&c->still, counter, 0, is_spared ? was->value : value);
	return was && value > was->value && !is_spared ? value - was->value : 0;
}

void change_follows(struct change *c, const char *id)
{
	free(c->now.follows);
	c->now.follows = xstrdup(id);
}

void change_loaded(struct change *c)
{
	counts_free(&c->unloaded);
	c->unloaded = c->counts;
	c->counts = (struct count_list){0};
	c->loaded = true;
}

static void change_free(struct change *c)
{
	rivals_free(&c->yields_to);
	rivals_free(&c->contests);
	free(c->file);
	free(c->id);
	free(c->lane);
	free(c->target);
	free(c->on.name);
	for (size_t i = 0; i < c->parts.n; i++)
		free(c->parts.v[i].name);
	vec_free(&c->parts);
	free(c->desired);
	free(c->waits_for);
	free(c->needs);
	free(c->withheld);
	free(c->while_id);
	stored_free(finding_stored, &c->now);
	counts_free(&c->counts);
	counts_free(&c->unloaded);
	counts_free(&c->still);
	free(c);
}

void plan_free(struct plan *plan)
{
	for (size_t i = 0; i < plan->list.n; i++)
		change_free(plan->list.v[i]);
	vec_free(&plan->list);
}

void plan_learn(struct plan *plan, const struct lessons *lessons)
{
	for (size_t i = 0; i < lessons->list.n; i++) {
		const struct lesson *l = &lessons->list.v[i];
		struct change *c = plan_find(plan, l->id);

		if (!c || !c->kind->set || !change_equal(COMPARE_TEXT, c->desired, l->desired))
			continue;
		stored_free(tried_stored, &c->now.tried);
		c->now.tried = l->tried;
		stored_own(tried_stored, &c->now.tried);
	}
}

void plan_filter(struct plan *plan, bool (*keep)(const struct change *c, const void *arg),
		 const void *arg)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->list.n; i++) {
		struct change *c = plan->list.v[i];

		if (keep(c, arg))
			plan->list.v[kept++] = c;
		else
			change_free(c);
	}
	plan->list.n = kept;
}

/* "never [always] madvise": brackets mark the kernel's selection. */
static bool selected_is(const char *text, const char *want)
{
	const char *open = strchr(text, '[');
	const char *close = open ? strchr(open, ']') : NULL;

	return close && (size_t)(close - open - 1) == strlen(want) &&
	       strncmp(open + 1, want, strlen(want)) == 0;
}

static const char *skip_space(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

/* Equal when runs of white space count as one: tcp_rmem is printed with tabs. */
static bool same_words(const char *a, const char *b)
{
	for (;;) {
		a = skip_space(a);
		b = skip_space(b);
		if (!*a || !*b)
			return *a == *b;
		while (*a && !isspace((unsigned char)*a))
			if (*a++ != *b++)
				return false;
		if (*b && !isspace((unsigned char)*b))
			return false;
	}
}

/* The length of the word at *s, which is behind white space; 0: the end. */
static size_t next_word(const char **s)
{
	*s = skip_space(*s);
	return strcspn(*s, " \t\n\v\f\r");
}

/*
 * Reads a number as proc_get_long() of kernel/sysctl.c: a minus, and the base of simple_strtoul().
 * The C library also knows binary numbers, "0b1".
 */
static bool read_number(const char *word, size_t len, bool *ret_minus, unsigned long long *ret)
{
	const char *digits = word + (*word == '-');
	char *end;

	if (!isdigit((unsigned char)*digits) ||
	    (digits[0] == '0' && tolower((unsigned char)digits[1]) == 'b'))
		return false;
	errno = 0;
	*ret = strtoull(digits, &end, 0);
	*ret_minus = digits > word && *ret;
	return !errno && end == word + len;
}

static bool same_number(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned long long x, y;
	bool minus_x, minus_y;

	return read_number(a, a_len, &minus_x, &x) && read_number(b, b_len, &minus_y, &y) &&
	       x == y && minus_x == minus_y;
}

static bool same_numbers(const char *a, const char *b)
{
	for (;;) {
		size_t in_a = next_word(&a), in_b = next_word(&b);

		if (!in_a || !in_b)
			return in_a == in_b;
		if (!(in_a == in_b && strncmp(a, b, in_a) == 0) && !same_number(a, in_a, b, in_b))
			return false;
		a += in_a;
		b += in_b;
	}
}

/* Whether each word of the one text is in the other. */
static bool words_are_in(const char *some, const char *all)
{
	for (size_t len; (len = next_word(&some)); some += len) {
		const char *s = all;
		size_t n;

		while ((n = next_word(&s)) && !(n == len && strncmp(s, some, n) == 0))
			s += n;
		if (!n)
			return false;
	}
	return true;
}

/* 1, 0, or -1: as kstrtobool() reads neither. */
static int read_switch(const char *s)
{
	static const char *const on[] = {"1", "Y", "y", "true", "on", NULL}, *const off[] = {
										     "0",   "N",
										     "n",   "false",
										     "off", NULL};

	return word_is_one_of(s, on) ? 1 : word_is_one_of(s, off) ? 0 : -1;
}

static bool read_bound(const char *s, uint64_t *ret)
{
	return parse_u64(s + (str_starts(s, ">=") ? 2 : 0), ret) == 0;
}

static bool means_equal(enum compare how, const char *desired, const char *observed)
{
	uint64_t want, have;

	switch (how) {
	case COMPARE_TEXT:
		return false;
	case COMPARE_NUMBERS:
		return same_numbers(desired, observed);
	case COMPARE_LIST:
		return numbers_same_set(desired, observed);
	case COMPARE_WORDS:
		return words_are_in(desired, observed) && words_are_in(observed, desired);
	case COMPARE_SWITCH:
		return read_switch(desired) >= 0 && read_switch(desired) == read_switch(observed);
	case COMPARE_AT_LEAST:
		return read_bound(desired, &want) && read_bound(observed, &have) && have >= want;
	case COMPARE_PARAM:
		return streq(param_value(desired), param_value(observed));
	case COMPARE_MASK:
		return cpus_same_mask(desired, observed);
	case COMPARE_VERSION:
		return version_fits(desired, observed);
	}
	return false;
}

bool change_equal(enum compare how, const char *desired, const char *observed)
{
	bool bounds = how == COMPARE_AT_LEAST || how == COMPARE_VERSION;

	return (!bounds && (same_words(desired, observed) || selected_is(observed, desired))) ||
	       means_equal(how, desired, observed);
}

void change_found(struct change *c, int64_t number)
{
	cleanup_free char *text = value_text(&c->want, number);

	if (text)
		change_observe(c, "%s", text);
	else
		change_observe(c, "reserved value %lld", (long long)number);
	c->now.state = number == c->want.number ? CHANGE_SAME : CHANGE_DIFFERS;
}

void change_judge(struct change *c)
{
	c->now.state = c->now.found && change_equal(c->compare, c->desired, c->now.found)
			       ? CHANGE_SAME
			       : CHANGE_DIFFERS;
}

bool change_holds(const struct change *c)
{
	return c->now.state == CHANGE_SAME || c->now.state == CHANGE_SET ||
	       c->now.state == CHANGE_UNSUPPORTED;
}

bool change_may_come(const struct change *c)
{
	return c->settles && !c->now.final && c->now.state == CHANGE_DIFFERS;
}

bool change_broken_premise(const struct change *c)
{
	return c->premise && c->now.state != CHANGE_UNKNOWN && !change_holds(c);
}
