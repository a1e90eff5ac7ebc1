/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/attempts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "sys/state.h"

#define TITLE "railhead kernel-args 1"

static const char *const refusals[] = {
	[REFUSAL_DIED] = "died",
	[REFUSAL_UNFIT] = "unfit",
	[REFUSAL_LOST] = "lost",
};

static void attempt_free(struct attempt *a)
{
	free(a->kernel);
	free(a->profile);
	*a = (struct attempt){0};
}

static void attempt_set(struct attempt *a, const struct attempt *to)
{
	struct attempt copy = {.kernel = xstrdup(to->kernel), .profile = xstrdup(to->profile)};

	snprintf(copy.hash, sizeof(copy.hash), "%s", to->hash);
	attempt_free(a);
	*a = copy;
}

void attempts_free(struct attempts *a)
{
	attempt_free(&a->last);
	free(a->new_kernel);
	for (size_t i = 0; i < a->refused.n; i++)
		attempt_free(&a->refused.v[i].attempt);
	vec_free(&a->refused);
	strv_free(&a->items);
	free(a->before.profile);
	free(a->before.kernel);
	strv_free(&a->before.failed);
	strv_free(&a->before.held);
	strv_free(&a->before.up);
	*a = (struct attempts){0};
}

bool attempt_same(const struct attempt *a, const struct attempt *b)
{
	return a->kernel && b->kernel && streq(a->hash, b->hash) && streq(a->kernel, b->kernel) &&
	       streq(a->profile, b->profile);
}

unsigned int attempts_deaths(const struct attempts *a, const struct attempt *now)
{
	const struct attempt *last = &a->last;

	if (!last->kernel || !streq(last->hash, now->hash) || !streq(last->profile, now->profile))
		return 0;
	return a->deaths < TRIALS_MAX || streq(last->kernel, now->kernel) ? a->deaths : 0;
}

void attempts_begin(struct attempts *a, const struct attempt *now)
{
	a->deaths = attempts_deaths(a, now);
	attempt_set(&a->last, now);
}

const struct refused *attempts_refused(const struct attempts *a, const struct attempt *now)
{
	for (size_t i = 0; i < a->refused.n; i++)
		if (attempt_same(&a->refused.v[i].attempt, now))
			return &a->refused.v[i];
	return NULL;
}

static void drop_refusal(struct attempts *a, size_t i)
{
	attempt_free(&a->refused.v[i].attempt);
	a->refused.n--;
	memmove(&a->refused.v[i], &a->refused.v[i + 1], (a->refused.n - i) * sizeof(*a->refused.v));
}

static void forget_refusal(struct attempts *a, const struct attempt *now)
{
	const struct refused *no = attempts_refused(a, now);

	if (no)
		drop_refusal(a, (size_t)(no - a->refused.v));
}

void attempts_refuse(struct attempts *a, const struct attempt *now, enum refusal why)
{
	struct refused no = {.why = why};

	forget_refusal(a, now);
	if (a->refused.n == REFUSALS_MAX)
		drop_refusal(a, 0);
	attempt_set(&no.attempt, now);
	vec_push(&a->refused, no);
	a->armed = false;
}

void attempts_forgive(struct attempts *a, const struct attempt *now)
{
	forget_refusal(a, now);
	if (attempts_deaths(a, now))
		a->deaths = 0;
	a->reboots = 0;
}

void attempts_forgive_all(struct attempts *a)
{
	while (a->refused.n)
		drop_refusal(a, 0);
	strv_free(&a->items);
	attempt_free(&a->last);
	*a->boot = '\0';
	a->armed = false;
	a->deaths = a->reboots = 0;
}

void attempts_add(struct strv *list, const char *id)
{
	cleanup_free char *text = xstrdup(id);

	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = '?';
	if (!strv_contains(list, text))
		strv_add(list, text);
}

/* --- text ---------------------------------------------------------------------------------- */

/* A list that is too long is left out as a whole: then nothing is known to have held. */
static void render_list(const char *word, const struct strv *list, struct str *s)
{
	for (size_t i = 0; list->n <= ATTEMPT_ITEMS_MAX && i < list->n; i++)
		str_addf(s, "%s %s\n", word, list->v[i]);
}

static void render_before(const struct before *b, struct str *s)
{
	/* Without the list all that failed before would be news. */
	if (!b->profile || b->failed.n > ATTEMPT_ITEMS_MAX)
		return;
	str_addf(s, "before %s %s\n", b->profile, b->kernel);
	render_list("failed", &b->failed, s);
	render_list("held", &b->held, s);
	render_list("up", &b->up, s);
}

char *attempts_render(const struct attempts *a)
{
	struct str s = {0};

	str_addf(&s, TITLE "\nreboots %u\n", a->reboots);
	if (*a->last.hash)
		str_addf(&s, "tried %s %s %s\narmed %s %s\ndeaths %u\n", a->last.hash,
			 a->last.kernel, a->last.profile, a->armed ? "yes" : "no", a->boot,
			 a->deaths);
	if (a->new_kernel)
		str_addf(&s, "new-kernel %s\n", a->new_kernel);
	for (size_t i = 0; i < a->refused.n; i++) {
		const struct refused *no = &a->refused.v[i];

		str_addf(&s, "refused %s %s %s %s\n", refusals[no->why], no->attempt.hash,
			 no->attempt.kernel, no->attempt.profile);
	}
	render_list("item", &a->items, &s);
	render_before(&a->before, &s);
	str_add(&s, "end\n"); /* a file that was cut short lacks this line */
	return str_take(&s);
}

/* Cuts the next word off; "" at the end. */
static const char *take_word(char **rest)
{
	const char *word = *rest ? strsep(rest, " ") : NULL;

	return word ? word : "";
}

/* "HASH KERNEL PROFILE", where the profile is the rest of the line. */
static bool take_attempt(char *rest, struct attempt *ret)
{
	const char *hash = take_word(&rest), *kernel = take_word(&rest);

	if (strlen(hash) != KARGS_HASH_LEN || !rest)
		return false;
	attempt_free(ret);
	snprintf(ret->hash, sizeof(ret->hash), "%s", hash);
	ret->kernel = xstrdup(kernel);
	ret->profile = xstrdup(rest);
	return true;
}

static bool take_count(const char *text, unsigned int *ret)
{
	uint64_t n;

	if (parse_u64(text, &n) < 0 || n > 99)
		return false;
	*ret = (unsigned int)n;
	return true;
}

static bool take_armed(char *rest, struct attempts *a)
{
	a->armed = streq(take_word(&rest), "yes");
	snprintf(a->boot, sizeof(a->boot), "%s", rest ? rest : "");
	return true;
}

static bool take_refused(char *rest, struct attempts *a)
{
	struct refused no = {0};
	int why = str_index(take_word(&rest), refusals, array_len(refusals));

	if (why < 0 || !rest || a->refused.n == REFUSALS_MAX || !take_attempt(rest, &no.attempt))
		return false;
	no.why = (enum refusal)why;
	vec_push(&a->refused, no);
	return true;
}

static bool take_before(char *rest, struct before *b)
{
	const char *profile = take_word(&rest);

	if (b->profile || !*profile || !rest)
		return false;
	b->profile = xstrdup(profile);
	b->kernel = xstrdup(rest);
	return true;
}

static bool take_item(const char *id, struct strv *list)
{
	strv_add(list, id);
	return *id && list->n <= ATTEMPT_ITEMS_MAX;
}

static bool take_line(const char *word, char *rest, struct attempts *a)
{
	if (streq(word, "reboots"))
		return take_count(rest, &a->reboots);
	if (streq(word, "tried"))
		return take_attempt(rest, &a->last);
	if (streq(word, "armed"))
		return take_armed(rest, a);
	if (streq(word, "deaths"))
		return take_count(rest, &a->deaths);
	if (streq(word, "new-kernel")) {
		free(a->new_kernel);
		a->new_kernel = xstrdup(rest);
		return true;
	}
	if (streq(word, "refused"))
		return take_refused(rest, a);
	if (streq(word, "item"))
		return take_item(rest, &a->items);
	if (streq(word, "before"))
		return take_before(rest, &a->before);
	if (streq(word, "failed"))
		return take_item(rest, &a->before.failed);
	if (streq(word, "held"))
		return take_item(rest, &a->before.held);
	return streq(word, "up") && take_item(rest, &a->before.up);
}

static bool parse(const char *text, struct attempts *ret)
{
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy, *line = strsep(&rest, "\n");

	if (!streq(line, TITLE))
		return false;
	while (rest && (line = strsep(&rest, "\n")) && !streq(line, "end")) {
		const char *word = strsep(&line, " ");

		if (!line || !take_line(word, line, ret))
			return false;
	}
	return rest && !*rest;
}

bool attempts_parse(const char *text, struct attempts *ret)
{
	*ret = (struct attempts){0};
	if (parse(text, ret))
		return true;
	attempts_free(ret);
	return false;
}

/* --- the file ------------------------------------------------------------------------------ */

int attempts_read(const struct root *root, struct attempts *ret, struct err *err)
{
	cleanup_free char *text = NULL;
	int r = state_kept(root, ATTEMPTS_FILE, &text, err);

	*ret = (struct attempts){0};
	if (r == 0)
		attempts_parse(text, ret);
	return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

int attempts_write(const struct root *root, const struct attempts *a, struct err *err)
{
	cleanup_free char *text = attempts_render(a), *kept = NULL;
	int r;

	if (state_kept(root, ATTEMPTS_FILE, &kept, NULL) < 0)
		kept = attempts_render(&(struct attempts){0});
	if (streq(kept, text))
		return 0;
	r = state_keep(root, ATTEMPTS_FILE, text, err);
	return r < 0 ? r : 1;
}
