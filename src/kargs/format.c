/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kargs/format.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kargs/token.h"

static const char *const names[] = {
	[KARG_FORMAT_LINE] = "line",
	[KARG_FORMAT_BOOTC] = "bootc",
	[KARG_FORMAT_UKI] = "uki",
	[KARG_FORMAT_GRUBBY] = "grubby",
};

const char karg_format_names[] = "line, bootc, uki, grubby";

int karg_format_parse(const char *name, enum karg_format *ret)
{
	int i = str_index(name, names, array_len(names));

	if (i >= 0)
		*ret = (enum karg_format)i;
	return i < 0 ? -EINVAL : 0;
}

/* Adds a comment line of TOML, of ini files and of the shell; no text in it can end the comment. */
static void add_heading(struct str *out, const struct karg_heading *h)
{
	size_t from = out->len;

	str_addf(out, "# kernel arguments of railhead profile %s%s%s", h->name,
		 *h->version ? " " : "", h->version);
	for (char *s = out->s + from; *s; s++)
		if (*s < ' ' || *s > '~')
			*s = '?';
	str_add(out, "\n");
}

static void add_line(struct str *out, const struct kargs *l)
{
	cleanup_free char *line = kargs_line(l);

	str_addf(out, "%s\n", line);
}

/* --- bootc --------------------------------------------------------------------------------- */

/* Adds a basic string of TOML 1.0. */
static void add_toml(struct str *out, const char *text)
{
	str_add(out, "\"");
	for (const char *p = text; *p; p++) {
		if (*p == '"' || *p == '\\')
			str_addf(out, "\\%c", *p);
		else if (iscntrl((unsigned char)*p))
			str_addf(out, "\\u%04X", (unsigned char)*p);
		else
			str_addn(out, p, 1);
	}
	str_add(out, "\"");
}

static size_t count_named(const struct kargs *l, const char *key)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += karg_same_key(l->v[i].text, key);
	return n;
}

/* https://bootc-dev.github.io/bootc/building/kernel-arguments.html */
static int add_bootc(struct str *out, const struct kargs *l, const struct karg_heading *h,
		     struct err *err)
{
	(void)err;
	add_heading(out, h);
	/* A bootc upgrade removes old arguments one by one and adds new ones at the end. */
	if (count_named(l, "hugepagesz") > 1)
		str_add(out, "# Pages of more than one size: if their counts change, install "
			     "the image again,\n# because a bootc upgrade would separate a count "
			     "from its size.\n");
	str_add(out, "kargs = [");
	for (size_t i = 0; i < l->n; i++) {
		str_add(out, i ? ", " : "");
		add_toml(out, l->v[i].text);
	}
	str_add(out, "]\n");
	if (h->arch) {
		str_add(out, "match-architectures = [");
		add_toml(out, h->arch);
		str_add(out, "]\n");
	}
	return 0;
}

/* --- ukify --------------------------------------------------------------------------------- */

/*
 * ukify reads the file with Python's configparser: no quotes, no escapes, and " #" begins a
 * comment.
 */
static int add_uki(struct str *out, const struct kargs *l, const struct karg_heading *h,
		   struct err *err)
{
	for (size_t i = 0; i < l->n; i++) {
		const char *text = l->v[i].text;

		if (*text == '#')
			return err_set(err, -EINVAL,
				       "%s: ukify would read this argument and all that follow as "
				       "a comment; "
				       "use --format=line",
				       text);
		if (i == 0 && *text == '@')
			return err_set(err, -EINVAL,
				       "%s: ukify would read a file of that name instead of the "
				       "line; put another argument before it",
				       text);
	}
	add_heading(out, h);
	str_add(out, "[UKI]\nCmdline=");
	add_line(out, l);
	return 0;
}

/* --- grubby -------------------------------------------------------------------------------- */

#define BY_HAND "use --format=line and edit /etc/kernel/cmdline and the boot entries"

/*
 * Since 8.40-22 (2018) grubby removes all arguments of each given key from the line, then adds the
 * given arguments at the end in their order, repeated keys too: pairs of hugepagesz= and hugepages=
 * stay pairs. The image's own arguments of such a key are then gone.
 */
static int grubby_may(const struct karg *k, struct err *err)
{
	struct token t = token_of(k->text);

	if (token_rule(&t) == KARG_EACH)
		return err_set(err, -EINVAL,
			       "%s: each %.*s= counts by itself, and grubby would remove the "
			       "arguments of that name in the image; " BY_HAND,
			       k->text, (int)t.name_len, t.name);
	/* the name becomes the pattern of a sed command */
	for (size_t i = 0; i < t.name_len; i++)
		if (!isalnum((unsigned char)t.name[i]) && !strchr("_-.,:@", t.name[i]))
			return err_set(
				err, -EINVAL,
				"%s: grubby would read %c in the name as a pattern; " BY_HAND,
				k->text, t.name[i]);
	/* the value becomes its replacement, and then stands in quotes that a shell reads */
	if (strpbrk(k->text, "&\\\"'$`"))
		return err_set(err, -EINVAL, "%s: grubby would not keep its %c; " BY_HAND, k->text,
			       *strpbrk(k->text, "&\\\"'$`"));
	return 0;
}

/* The image's list may have items that our list does not repeat. */
static void add_replaced(struct str *out, const struct kargs *l)
{
	bool any = false;

	for (size_t i = 0; i < l->n; i++) {
		struct token t = token_of(l->v[i].text);

		if (token_rule(&t) != KARG_LIST)
			continue;
		str_addf(out,
			 "%s%.*s=", any ? ", " : "# grubby removes the image's own values of: ",
			 (int)t.name_len, t.name);
		any = true;
	}
	if (any)
		str_add(out, "\n");
}

static int add_grubby(struct str *out, const struct kargs *l, const struct karg_heading *h,
		      struct err *err)
{
	cleanup_free char *line = kargs_line(l);

	for (size_t i = 0; i < l->n; i++) {
		int r = grubby_may(&l->v[i], err);

		if (r < 0)
			return r;
	}
	add_heading(out, h);
	add_replaced(out, l);
	str_addf(out, "grubby --update-kernel=ALL --args='%s'\n", line);
	return 0;
}

int kargs_format(const struct kargs *l, enum karg_format format, const struct karg_heading *h,
		 struct str *ret, struct err *err)
{
	switch (format) {
	case KARG_FORMAT_BOOTC:
		return add_bootc(ret, l, h, err);
	case KARG_FORMAT_UKI:
		return add_uki(ret, l, h, err);
	case KARG_FORMAT_GRUBBY:
		return add_grubby(ret, l, h, err);
	case KARG_FORMAT_LINE:
		break;
	}
	add_line(ret, l);
	return 0;
}
