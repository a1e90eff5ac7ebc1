/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/panic.h"

#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/trial.h"
#include "kargs/kargs.h"
#include "kargs/token.h"
#include "plan/change.h"
#include "sys/machine.h"
#include "sys/read.h"
#include "sys/sysctl_d.h"

enum { CONFIG_MAX_SIZE = 4 << 20 };

struct setting {
	const char *file;
	const char *added;  /* its value by the added argument */
	const char *key;    /* the argument whose value is the setting's; or NULL */
	const char *word;   /* the argument that means `added`; or NULL */
	const char *config; /* the build option with the kernel's default */
};

/* kernel-parameters.txt; kernel/panic.c; lib/Kconfig.debug. A boot that is counted has the first.
 */
static const struct setting settings[] = {
	{PROC_SYS "kernel/panic", "30", "panic", NULL, "CONFIG_PANIC_TIMEOUT"},
	{PROC_SYS "kernel/panic_on_oops", "1", NULL, "oops=panic", "CONFIG_PANIC_ON_OOPS"},
};

static bool profile_asks(const struct plan *plan, const struct setting *s)
{
	for (size_t i = 0; plan && i < plan->list.n; i++) {
		const char *target = plan->list.v[i]->target;

		if (target && fnmatch(target, s->file, FNM_PATHNAME) == 0)
			return true;
	}
	return false;
}

/* False if another program has changed the value since, or gives the same value. */
static bool is_added(const struct root *root, const struct setting *s, const struct plan *plan)
{
	cleanup_free char *now = NULL, *line = NULL;

	if (read_attr(root, &now, NULL, "%s", s->file) < 0 || !streq(now, s->added) ||
	    profile_asks(plan, s))
		return false;
	line = sysctl_d_line(root, s->file + strlen(PROC_SYS), s->added);
	return !line;
}

/* The value that an argument gives to s; NULL: none. Caller frees. */
static char *said_by(const char *text, const struct setting *s)
{
	struct token t = token_of(text);
	cleanup_free char *name = xstrndup(t.name, t.name_len), *file = sysctl_arg_file(name);

	if (t.value && ((file && streq(file, s->file)) || (s->key && token_named(&t, s->key))))
		return xstrndup(t.value, t.value_len);
	return s->word && karg_equal(text, s->word) ? xstrdup(s->added) : NULL;
}

static char *said_on_line(const struct kargs *line, const struct setting *s)
{
	char *said = NULL;

	for (size_t i = line->n; !said && i > 0; i--)
		said = said_by(line->v[i - 1].text, s);
	return said;
}

/* "" if there is no config. Caller frees. */
static char *read_config(const struct root *root)
{
	static const char *const places[][2] = {
		{"/boot/config-", ""},
		{"/lib/modules/", "/config"},
		{"/usr/lib/modules/", "/config"},
	};
	cleanup_free char *release = NULL;
	char *text = NULL;

	if (read_attr(root, &release, NULL, "/proc/sys/kernel/osrelease") < 0)
		return xstrdup("");
	for (size_t i = 0; i < array_len(places); i++) {
		cleanup_free char *path = xasprintf("%s%s%s", places[i][0], release, places[i][1]);

		if (read_file(root, CONFIG_MAX_SIZE, &text, NULL, NULL, path) == 0)
			return text;
	}
	return xstrdup("");
}

/* "CONFIG_X=y", "CONFIG_X=120", below a head of comments. Caller frees. */
static char *built_in(const struct root *root, const struct setting *s)
{
	cleanup_free char *config = read_config(root), *line = xasprintf("\n%s=", s->config);
	const char *at = strstr(config, line), *value = at ? at + strlen(line) : "0";

	return *value == 'y' ? xstrdup("1") : xstrndup(value, strcspn(value, "\n"));
}

static int set_back(const struct root *root, const struct setting *s, const struct kargs *line,
		    struct err *err)
{
	cleanup_free char *said = said_on_line(line, s), *back = NULL;

	back = said ? xstrdup(said) : built_in(root, s);
	return streq(back, s->added) ? 0 : machine_write_attr(root, s->file, back, err);
}

int panic_set_back(const struct root *root, const char *cmdline, const struct plan *plan,
		   struct err *err)
{
	const size_t n = trial_on_line(cmdline) ? array_len(settings) : 1;
	const struct kargs none = {0};
	cleanup_free char *others = kargs_predict(cmdline, &none, &none);
	cleanup_kargs struct kargs line = {0};
	struct err later = {0};
	int first = 0;

	kargs_split(&line, others, NULL);
	for (size_t i = 0; i < n; i++) {
		int r = is_added(root, &settings[i], plan)
				? set_back(root, &settings[i], &line, first ? &later : err)
				: 0;

		first = first ? first : r;
	}
	return first;
}
