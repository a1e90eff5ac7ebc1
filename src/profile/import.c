/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of imported settings, and the profile that is written from it. */
#include "profile/import.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "profile/emit.h"
#include "profile/schema.h"
#include "profile/yaml.h"
#include "sys/read.h"

enum { FILE_MAX = 1 << 20 };

/* --- settings ------------------------------------------------------------------------------ */

/* Text for a comment: bytes that YAML rejects become '?'. */
static char *one_line(const char *text)
{
	char *copy = xstrdup(text);

	for (char *p = copy; *p; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
			*p = '?';
	return copy;
}

static char *copy_of(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static struct imported start(const struct import *im, const struct origin *from)
{
	cleanup_free char *file = one_line(from->file);

	return (struct imported){
		.of = copy_of(im->assigned),
		.at = xasprintf("%s:%u", file, from->line),
		.said = one_line(from->said),
	};
}

static bool same(const char *a, const char *b)
{
	return (!a && !b) || (a && b && dash_equal(a, b, strlen(a) + 1));
}

static bool is_of_slot(const struct imported *one, const struct slot *slot)
{
	return one->section && streq(one->section, slot->section) &&
	       same(one->group, slot->group) && same(one->map, slot->map) &&
	       same(one->key, slot->key);
}

bool import_hold(struct import *im, const char *file, unsigned int line, size_t bytes)
{
	if (im->excess)
		return false;
	im->held += bytes;
	if (im->held <= IMPORT_MAX)
		return true;
	im->excess = xasprintf("%s:%u: the settings up to this line, with the values of their "
			       "variables, take more than %d MiB; import fewer files at once, or "
			       "write values instead of variables",
			       file, line, IMPORT_MAX >> 20);
	return false;
}

static bool hold(struct import *im, const struct origin *from, const char *text)
{
	return import_hold(im, from->file, from->line,
			   IMPORT_ITEM + strlen(from->said) + strlen(text));
}

void import_withdraw(struct imported *one, const char *why)
{
	free(one->note);
	one->note = one_line(why);
	one->section = NULL;
	one->pages_line = 0;
}

/* Profiles are written in ASCII, because the encoding of other bytes is unknown. */
static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x7f || ((unsigned char)*text < ' ' && *text != '\t'))
			return false;
	return true;
}

/* A later line sets the same. */
static void override(struct imported *one, const struct origin *from)
{
	cleanup_free char *why =
		xasprintf(streq(one->section, "kernel_args") && one->is_item
				  ? "%s:%u sets this argument again; write one argument with all "
				    "values"
				  : "%s:%u overrides this line",
			  from->file, from->line);

	import_withdraw(one, why);
}

void import_keep(struct import *im, const struct origin *from, const struct slot *slot,
		 const char *value)
{
	struct imported one;

	if (!hold(im, from, value))
		return;
	one = start(im, from);
	for (size_t i = 0; i < im->list.n; i++)
		if (is_of_slot(&im->list.v[i], slot))
			override(&im->list.v[i], from);
	one.section = slot->section;
	one.group = slot->group;
	one.map = copy_of(slot->map);
	one.key = xstrdup(slot->key);
	one.value = xstrdup(value);
	one.note = copy_of(slot->note);
	one.is_item = slot->is_item;
	one.may_lack = slot->may_lack;
	vec_push(&im->list, one);
	if (!is_ascii(value) || !is_ascii(slot->key) || !is_ascii(or_empty(slot->map)))
		import_withdraw(&im->list.v[im->list.n - 1], "not plain ASCII");
}

void import_refuse(struct import *im, const struct origin *from, const char *fmt, ...)
{
	struct imported one;
	cleanup_str struct str why = {0};
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&why, fmt, ap);
	va_end(ap);
	if (!hold(im, from, str_get(&why)))
		return;
	one = start(im, from);
	one.note = one_line(str_get(&why));
	vec_push(&im->list, one);
}

void import_refuse_pages(struct import *im, const struct origin *from, bool is_sysctl)
{
	struct imported one;

	if (!hold(im, from, ""))
		return;
	one = start(im, from);
	one.pages_line = is_sysctl ? IMPORT_PAGES_SYSCTL : im->command_line;
	vec_push(&im->list, one);
}

void import_free(struct import *im)
{
	for (size_t i = 0; i < im->list.n; i++) {
		struct imported *one = &im->list.v[i];

		free(one->at);
		free(one->of);
		free(one->said);
		free(one->note);
		free(one->map);
		free(one->key);
		free(one->value);
	}
	vec_free(&im->list);
	strv_free(&im->files);
	free(take_ptr(im->excess));
}

/* --- files --------------------------------------------------------------------------------- */

int import_read(const struct import *im, const char *path, bool below, char **ret, struct err *err)
{
	cleanup_close int fd = below ? root_open_path(im->root, path, O_RDONLY | O_NONBLOCK)
				     : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	cleanup_free char *text = NULL;
	struct stat st;
	size_t len;
	int r;

	if (fd < 0)
		return err_path(err, below ? fd : -errno, path);
	if (fstat(fd, &st) < 0)
		return err_path(err, -errno, path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL,
			       "%s: is not a regular file; give the file that has the text", path);
	r = read_fd(fd, FILE_MAX, &text, &len);
	if (r < 0)
		return err_path(err, r, path);
	if (strlen(text) != len)
		return err_set(err, -EINVAL,
			       "%s: has a zero byte, so it is not text; write the file again",
			       path);
	*ret = take_ptr(text);
	return 0;
}

char *import_trim(char *text)
{
	size_t len;

	text += strspn(text, IMPORT_BLANKS);
	for (len = strlen(text); len && strchr(IMPORT_BLANKS, text[len - 1]);)
		text[--len] = '\0';
	return text;
}

char *import_line(const char **next, unsigned int *number, unsigned int *lines, bool joined)
{
	struct str out = {0};

	if (!**next)
		return NULL;
	*number = *lines + 1;
	for (;;) {
		size_t len = strcspn(*next, "\n");
		bool goes_on = joined && len && (*next)[len - 1] == '\\' && (*next)[len];

		str_addn(&out, *next, len - goes_on);
		*next += len + ((*next)[len] == '\n');
		++*lines;
		if (!goes_on)
			break;
	}
	return out.s ? str_take(&out) : xstrdup("");
}

/* --- the profile --------------------------------------------------------------------------- */

struct writer {
	struct import *im;
	struct str *out;
	unsigned int line;
};

static void add(struct writer *w, const char *text)
{
	for (const char *p = text; *p; p++)
		w->line += *p == '\n';
	str_add(w->out, text);
}

/* Text of letters, digits, '/' and (not first) _ . - + stays plain; other text is quoted. */
static bool is_plain(const char *text)
{
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && (p == text || !strchr("_.-+/", *p)) && *p != '/')
			return false;
	return *text;
}

static void add_scalar(struct writer *w, const char *text)
{
	cleanup_str struct str quoted = {0};

	if (is_plain(text)) {
		add(w, text);
		return;
	}
	emit_quoted(&quoted, text);
	add(w, str_get(&quoted));
}

static void note_excess(struct writer *w, const struct imported *one)
{
	if (w->out->len > YAML_BYTES_MAX && !w->im->excess)
		w->im->excess = xasprintf("%s: the profile up to this setting takes more than %d "
					  "MiB, which no profile may; import fewer files at once",
					  one->at, YAML_BYTES_MAX >> 20);
}

static void add_setting(struct writer *w, struct imported *one, const char *indent)
{
	add(w, indent);
	add(w, one->is_item ? "- " : "");
	if (!one->is_item) {
		add_scalar(w, one->key);
		add(w, one->may_lack ? ": {value: " : ": ");
	}
	add_scalar(w, one->value);
	add(w, one->may_lack ? ", optional: true}" : "");
	one->line = w->line;
	add(w, "   # ");
	add(w, one->at);
	add(w, one->note ? ": " : "");
	add(w, or_empty(one->note));
	add(w, "\n");
	note_excess(w, one);
}

static bool is_in(const struct imported *one, const char *section, const char *group)
{
	return one->section && streq(one->section, section) && same(one->group, group);
}

/* Each module once, with all its parameters. */
static void add_maps(struct writer *w, const char *section, const char *group)
{
	for (size_t i = 0; i < w->im->list.n; i++) {
		const struct imported *first = &w->im->list.v[i];
		bool done = false;

		if (!is_in(first, section, group) || !first->map)
			continue;
		for (size_t j = 0; j < i; j++)
			done |= is_in(&w->im->list.v[j], section, group) &&
				same(w->im->list.v[j].map, first->map);
		if (done)
			continue;
		add(w, "    ");
		add_scalar(w, first->map);
		add(w, ":\n");
		for (size_t j = i; j < w->im->list.n; j++)
			if (is_in(&w->im->list.v[j], section, group) &&
			    same(w->im->list.v[j].map, first->map))
				add_setting(w, &w->im->list.v[j], "      ");
	}
}

static void add_group(struct writer *w, const char *section, const char *group)
{
	bool any = false;

	for (size_t i = 0; i < w->im->list.n; i++)
		any |= is_in(&w->im->list.v[i], section, group);
	if (!any)
		return;
	if (group) {
		add(w, "  ");
		add(w, group);
		add(w, ":\n");
	}
	add_maps(w, section, group);
	for (size_t i = 0; i < w->im->list.n; i++)
		if (is_in(&w->im->list.v[i], section, group) && !w->im->list.v[i].map)
			add_setting(w, &w->im->list.v[i], group ? "    " : "  ");
}

static void add_section(struct writer *w, const char *section)
{
	static const char *const groups[] = {NULL, "set", "load", "options", "blacklist"};
	bool any = false;

	for (size_t i = 0; i < w->im->list.n; i++)
		any |= w->im->list.v[i].section && streq(w->im->list.v[i].section, section);
	if (!any)
		return;
	add(w, "\n");
	add(w, section);
	add(w, ":\n");
	for (size_t i = 0; i < array_len(groups); i++)
		add_group(w, section, groups[i]);
}

static void add_reasons(struct writer *w)
{
	bool begun = false;

	for (size_t i = 0; i < w->im->list.n; i++) {
		const struct imported *one = &w->im->list.v[i];
		cleanup_free char *text = NULL;

		if (one->section)
			continue;
		text = xasprintf("%s# %s: %s: %s\n", begun ? "" : "\n# Not carried over:\n",
				 one->at, one->said, one->note);
		add(w, text);
		note_excess(w, one);
		begun = true;
	}
}

void import_write(struct import *im, const char *name, struct str *out)
{
	static const char *const sections[] = {"kernel_args", "modules", "cpu",
					       "memory",      "sysctl",	 "sysfs"};
	struct writer w = {.im = im, .out = out, .line = 1};
	cleanup_free char *head = NULL;
	size_t kept = 0;

	import_explain_pages(im);
	for (size_t i = 0; i < im->list.n; i++)
		kept += im->list.v[i].section != NULL;
	head = xasprintf(
		"# Imported from %zu file%s. %zu of %zu settings are keys here, each with its file "
		"and "
		"line; the others\n# are listed at the end with the reason. This is a base: write "
		"`extends: %s` in the profile\n# of a SKU.\nschema: 1\nname: %s\nabstract: true\n",
		im->files.n, im->files.n == 1 ? "" : "s", kept, im->list.n, name, name);
	add(&w, head);
	for (size_t i = 0; i < array_len(sections); i++)
		add_section(&w, sections[i]);
	add_reasons(&w);
}
