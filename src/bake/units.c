/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Enables units by the links that `systemctl --root enable` makes (systemd.unit(5), [Install]).
 * bake does not run systemctl, because an image may be built where there is none, or one of another
 * systemd; libsystemd has no function for this. The preset lists the units, and each unit names its
 * links, so nothing of either is repeated here.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "bake/bake.h"
#include "base/mem.h"
#include "base/str.h"
#include "sys/read.h"

#define ETC_UNITS "/etc/systemd/system"
#define TARGET "railhead-ready.target"
#define PRESET "90-railhead.preset"

enum { UNIT_FILE_MAX = 64 << 10, UNIT_NAME_MAX = 255 };

/* --- reading unit files --------------------------------------------------------------------- */

static void add_words(const char *value, size_t len, struct strv *ret)
{
	const char *end = value + len;

	while (value < end) {
		const char *from = value;

		while (value < end && !isspace((unsigned char)*value))
			value++;
		if (value > from) {
			cleanup_free char *word = xstrndup(from, (size_t)(value - from));

			strv_add(ret, word);
		}
		while (value < end && isspace((unsigned char)*value))
			value++;
	}
}

/* The next line of *text, joined with the next while it ends in '\'; NULL at the end. Caller frees.
 */
static char *next_line(const char **text)
{
	struct str line = {0};
	bool more = **text;

	while (more) {
		size_t len = strcspn(*text, "\n");

		more = len && (*text)[len - 1] == '\\' && (*text)[len];
		str_addn(&line, *text, len - more);
		if (more)
			str_add(&line, " ");
		else
			str_add(&line, "");
		*text += len + ((*text)[len] == '\n');
	}
	return line.s;
}

void bake_unit_words(const char *text, const char *section, const char *key, struct strv *ret)
{
	cleanup_free char *head = xasprintf("[%s]", section);
	struct strv found = {0};
	bool inside = false;
	char *line;

	for (; (line = next_line(&text)); free(line)) {
		char *p = line + strspn(line, " \t"), *equals = strchr(p, '=');
		size_t len = equals ? (size_t)(equals - p) : 0;

		str_chomp(p);
		while (len && isspace((unsigned char)p[len - 1]))
			len--;
		if (*p == '[')
			inside = streq(p, head);
		if (!inside || !equals || len != strlen(key) || strncmp(p, key, len) != 0)
			continue;
		if (!equals[1 + strspn(equals + 1, " \t")])
			strv_free(&found);
		else
			add_words(equals + 1, strlen(equals + 1), &found);
	}
	for (size_t i = 0; i < found.n; i++)
		strv_add(ret, found.v[i]);
	strv_free(&found);
}

/* Of packages, and of the administrator. The order matters only for the link's text. */
static const char *const unit_dirs[] = {"/usr/lib/systemd/system", "/lib/systemd/system",
					"/usr/local/lib/systemd/system", ETC_UNITS};

/* The path of a unit's file; NULL: there is none. Caller frees. */
static char *find_unit(const struct root *root, const char *unit)
{
	for (size_t i = 0; i < array_len(unit_dirs); i++)
		if (root_exists(root, "%s/%s", unit_dirs[i], unit))
			return xasprintf("%s/%s", unit_dirs[i], unit);
	return NULL;
}

static bool is_masked(const struct root *root, const char *unit)
{
	cleanup_free char *to = NULL;

	return read_link(root, &to, NULL, ETC_UNITS "/%s", unit) == 0 && streq(to, "/dev/null");
}

/* --- ours ----------------------------------------------------------------------------------- */

static int enable(struct bake *b, const char *unit, struct err *err)
{
	cleanup_free char *path = find_unit(b->root, unit), *text = NULL;
	cleanup_strv struct strv targets = {0};
	int r;

	if (is_masked(b->root, unit)) {
		bake_warn(b,
			  "%s is masked (" ETC_UNITS
			  "/%s): each boot skips its stage until that link is removed",
			  unit, unit);
		return 0;
	}
	if (!path) {
		bake_warn(b, "%s is in the preset and not in the tree: install railhead again",
			  unit);
		return 0;
	}
	r = read_file(b->root, UNIT_FILE_MAX, &text, NULL, err, path);
	if (r < 0)
		return r;
	bake_unit_words(text ? text : "", "Install", "WantedBy", &targets);
	for (size_t i = 0; i < targets.n; i++) {
		struct bake_item *it =
			bake_want(b, xasprintf(ETC_UNITS "/%s.wants/%s", targets.v[i], unit),
				  xstrdup(path), xasprintf("%s is enabled", unit));

		it->link = true;
	}
	return 0;
}

/* "enable UNIT" of our own preset: systemd.preset(5). */
static void preset_units(const char *text, struct strv *ret)
{
	cleanup_free char *copy = xstrdup(text);
	char *save = NULL;

	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		cleanup_strv struct strv words = {0};

		add_words(l, strlen(l), &words);
		if (words.n == 2 && streq(words.v[0], "enable"))
			strv_add(ret, words.v[1]);
	}
}

int bake_units(struct bake *b, struct err *err)
{
	static const char *const dirs[] = {"/usr/lib/systemd/system-preset",
					   "/lib/systemd/system-preset"};
	cleanup_strv struct strv units = {0};
	cleanup_free char *text = NULL;
	int r = -ENOENT;

	for (size_t i = 0; i < array_len(dirs) && r == -ENOENT; i++) {
		cleanup_free char *path = xasprintf("%s/" PRESET, dirs[i]);

		r = read_file(b->root, UNIT_FILE_MAX, &text, NULL, err, path);
	}
	if (r == -ENOENT) {
		bake_warn(b,
			  "railhead is not installed in this tree (no %s/" PRESET
			  "): no unit is enabled; install the package, then bake again",
			  dirs[0]);
		return 0;
	}
	if (r < 0)
		return r;
	preset_units(text ? text : "", &units);
	for (size_t i = 0; i < units.n && r == 0; i++)
		r = enable(b, units.v[i], err);
	return r;
}

/* --- units of work ---------------------------------------------------------------------------- */

/* Characters of unit names: systemd.unit(5). */
static bool is_unit_name(const char *name)
{
	return *name && *name != '.' && strlen(name) <= UNIT_NAME_MAX &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789:-_.\\@")];
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);

	return n > m && streq(name + n - m, suffix);
}

int bake_gate_name(const char *arg, char **ret, struct err *err)
{
	static const char *const others[] = {".target", ".socket",    ".timer", ".path", ".mount",
					     ".swap",	".automount", ".slice", ".scope"};

	if (!is_unit_name(arg))
		return err_set(err, -EINVAL, "--gate %s: not the name of a unit", arg);
	for (size_t i = 0; i < array_len(others); i++)
		if (has_suffix(arg, others[i]))
			return err_set(
				err, -EINVAL,
				"--gate %s: only a service can wait for railhead-ready.target, "
				"which comes after basic.target: name the service that does the "
				"work",
				arg);
	if (str_starts(arg, "railhead-"))
		return err_set(err, -EINVAL, "--gate %s: the unit belongs to railhead", arg);
	*ret = has_suffix(arg, ".service") ? xstrdup(arg) : xasprintf("%s.service", arg);
	return 0;
}

/*
 * Rejects units that our own units wait for: they can't wait for ours, because systemd would drop
 * one of the two.
 */
static int refuse_circle(struct bake *b, const char *unit, struct err *err)
{
	static const char *const ours[] = {"railhead-early.service", "railhead-devices.service",
					   "railhead-gate.service"};

	for (size_t i = 0; i < array_len(ours); i++) {
		cleanup_free char *path = find_unit(b->root, ours[i]), *text = NULL;
		cleanup_strv struct strv after = {0};

		if (!path || read_file(b->root, UNIT_FILE_MAX, &text, NULL, NULL, path) < 0)
			continue;
		bake_unit_words(text ? text : "", "Unit", "After", &after);
		if (strv_contains(&after, unit))
			return err_set(err, -EINVAL,
				       "--gate %s: %s is ordered after it, so it can't wait for "
				       "the verdict",
				       unit, ours[i]);
	}
	return 0;
}

/* "a@.service" for an instance of that template; else NULL. Caller frees. */
static char *template_of(const char *unit)
{
	const char *at = strchr(unit, '@');

	return at ? xasprintf("%.*s@.service", (int)(at - unit), unit) : NULL;
}

static void look_for(struct bake *b, const char *unit)
{
	cleanup_free char *template = template_of(unit), *path = find_unit(b->root, unit);

	if (!path && template)
		path = find_unit(b->root, template);
	if (!path)
		bake_warn(b,
			  "%s is not in this tree: it will wait for railhead-ready.target once it "
			  "is",
			  unit);
	else if (is_masked(b->root, unit))
		bake_warn(b, "%s is masked in this tree: nothing starts it", unit);
}

/*
 * Requires= and After= hold the unit back until the gate has admitted work. The target is never
 * stopped afterwards, so the ready file is checked too. The check is an assertion and not a
 * condition, because a skipped unit counts as started, and units that require it would go ahead. It
 * tests the file instead of running `railhead status`, because the file exists exactly while work
 * is admitted, and no program runs.
 */
#define WAITS                                                           \
	"# No work before this node is admitted: railhead(8).\n"        \
	"[Unit]\n"                                                      \
	"Requires=" TARGET "\n"                                         \
	"After=" TARGET "\n"                                            \
	"# The target stays when a device is lost (verdict: lapsed).\n" \
	"AssertPathExists=/run/railhead/ready\n"

int bake_gate(struct bake *b, const char *unit, struct err *err)
{
	cleanup_free char *template = template_of(unit), *wants = NULL;
	int r = refuse_circle(b, unit, err);

	if (r < 0)
		return r;
	look_for(b, unit);
	bake_want(b, xasprintf(ETC_UNITS "/%s.d/10-railhead.conf", unit), bake_mark(WAITS),
		  xasprintf("%s waits for " TARGET, unit));
	/* a template has no list of all its instances to start */
	if (template && streq(template, unit))
		return 0;
	wants = xasprintf("[Unit]\nWants=%s\n", unit);
	bake_want(b, xasprintf(ETC_UNITS "/" TARGET ".d/10-%s.conf", unit), bake_mark(wants),
		  xasprintf(TARGET " starts %s", unit));
	return 0;
}

int bake_undo_gates(struct bake *b, struct err *err)
{
	int r = bake_undo(b, ETC_UNITS "/*.d/10-railhead.conf", err);

	return r < 0 ? r : bake_undo(b, ETC_UNITS "/" TARGET ".d/10-*.conf", err);
}
