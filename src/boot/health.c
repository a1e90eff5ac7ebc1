/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/health.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "sys/state.h"

static const char *const files[] = {
	[HEALTH_OF_TRIAL] = "trial-failed",
	[HEALTH_BEFORE] = "trial-before",
};

#define TITLE "railhead health 1"

void health_free(struct health *h)
{
	free(h->profile);
	free(h->kernel);
	strv_free(&h->failed);
	*h = (struct health){0};
}

void health_add(struct strv *failed, const char *id)
{
	cleanup_free char *text = xstrdup(id);

	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = '?';
	if (!strv_contains(failed, text))
		strv_add(failed, text);
}

/* --- text ---------------------------------------------------------------------------------- */

char *health_render(const struct health *h)
{
	struct str text = {0};

	if (h->failed.n > HEALTH_ITEMS_MAX)
		return NULL;
	str_addf(&text, TITLE "\nprofile %s\nkernel %s\nargs %s\nrefused %s\n", h->profile,
		 h->kernel, h->args, h->refused ? "yes" : "no");
	for (size_t i = 0; i < h->failed.n; i++)
		str_addf(&text, "failed %s\n", h->failed.v[i]);
	/* A file that was cut short lacks this line, or its number differs. */
	str_addf(&text, "end %zu\n", h->failed.n);
	return str_take(&text);
}

/* The rest of the next line, if it begins with that word and a blank; else NULL. */
static char *take_line(char **rest, const char *word)
{
	size_t len = strlen(word);
	char *line = *rest, *end = line ? strchr(line, '\n') : NULL;

	if (!end || strncmp(line, word, len) != 0 || line[len] != ' ')
		return NULL;
	*end = '\0';
	*rest = end + 1;
	return line + len + 1;
}

static bool take_head(char **rest, struct health *ret)
{
	const char *title = take_line(rest, "railhead"), *profile = take_line(rest, "profile");
	const char *kernel = take_line(rest, "kernel"), *args = take_line(rest, "args");
	const char *refused = take_line(rest, "refused");

	if (!title || !profile || !kernel || !args || !refused || !streq(title, "health 1") ||
	    !*profile || strlen(args) != KARGS_HASH_LEN ||
	    !(streq(refused, "yes") || streq(refused, "no")))
		return false;
	ret->profile = xstrdup(profile);
	ret->kernel = xstrdup(kernel);
	snprintf(ret->args, sizeof(ret->args), "%s", args);
	ret->refused = streq(refused, "yes");
	return true;
}

static bool take_items(char **rest, struct health *ret)
{
	const char *id, *end;
	uint64_t n;

	while ((id = take_line(rest, "failed"))) {
		if (!*id || ret->failed.n == HEALTH_ITEMS_MAX)
			return false;
		strv_add(&ret->failed, id);
	}
	end = take_line(rest, "end");
	return end && !**rest && parse_u64(end, &n) == 0 && n == ret->failed.n;
}

int health_parse(const char *text, struct health *ret)
{
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;

	*ret = (struct health){0};
	if (take_head(&rest, ret) && take_items(&rest, ret))
		return 0;
	health_free(ret);
	return -EBADMSG;
}

/* --- the kept records ------------------------------------------------------------------------- */

int health_keep(const struct root *root, enum health_of which, const struct health *h,
		struct err *err)
{
	cleanup_free char *text = health_render(h), *kept = NULL;

	if (!text)
		return err_set(err, -E2BIG, STATE_KEPT_DIR "/%s: %zu items failed, over %d",
			       files[which], h->failed.n, HEALTH_ITEMS_MAX);
	if (state_kept(root, files[which], &kept, NULL) == 0 && streq(kept, text))
		return 0;
	return state_keep(root, files[which], text, err);
}

bool health_kept(const struct root *root, enum health_of which, const char *profile,
		 const char *kernel, const char *args, struct health *ret)
{
	cleanup_free char *text = NULL;

	*ret = (struct health){0};
	if (state_kept(root, files[which], &text, NULL) < 0 || health_parse(text, ret) < 0)
		return false;
	if ((!profile || streq(ret->profile, profile)) && streq(ret->kernel, kernel) &&
	    streq(ret->args, args))
		return true;
	health_free(ret);
	return false;
}

/* --- comparing ------------------------------------------------------------------------------- */

size_t health_news(const struct strv *now, const struct strv *before, struct strv *ret)
{
	for (size_t i = 0; i < now->n; i++)
		if (!strv_contains(before, now->v[i]))
			strv_add(ret, now->v[i]);
	return ret->n;
}
