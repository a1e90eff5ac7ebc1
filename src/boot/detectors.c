/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/detectors.h"

#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/karg_token.h"
#include "boot/kargs.h"
#include "sys/machine.h"
#include "sys/read.h"
#include "sys/sysctl_d.h"

#define PROC_SYS "/proc/sys/"

enum { CONFIG_MAX_SIZE = 4 << 20 };

struct detector {
	const char *file;
	const char *trial;  /* its value in a trial */
	const char *key;    /* another argument than sysctl.X that sets it; or NULL */
	const char *word;   /* the value of that argument that means 1; NULL: the value itself */
	const char *config; /* the build option with the value; or NULL */
	const char *plain;  /* the kernel's default */
};

/*
 * Admin guide of the kernel: kernel-parameters.txt, sysctl/kernel.rst; lib/Kconfig.debug. The
 * switches that panic come before the times, so that no shorter time is in force while a hang still
 * panics.
 */
static const struct detector detectors[] = {
	{PROC_SYS "kernel/hung_task_panic", "1", "hung_task_panic", NULL,
	 "CONFIG_BOOTPARAM_HUNG_TASK_PANIC", "0"},
	{PROC_SYS "kernel/softlockup_panic", "1", "softlockup_panic", NULL,
	 "CONFIG_BOOTPARAM_SOFTLOCKUP_PANIC", "0"},
	{PROC_SYS "kernel/hardlockup_panic", "1", "nmi_watchdog", "panic",
	 "CONFIG_BOOTPARAM_HARDLOCKUP_PANIC", "0"},
	{PROC_SYS "kernel/panic_on_rcu_stall", "1", NULL, NULL, NULL, "0"},
	{PROC_SYS "kernel/panic_on_oops", "1", "oops", "panic", "CONFIG_PANIC_ON_OOPS", "0"},
	{PROC_SYS "kernel/panic", "30", "panic", NULL, "CONFIG_PANIC_TIMEOUT", "0"},
	{PROC_SYS "kernel/hung_task_timeout_secs", "300", NULL, NULL,
	 "CONFIG_DEFAULT_HUNG_TASK_TIMEOUT", "120"},
	{PROC_SYS "kernel/watchdog_thresh", "60", "watchdog_thresh", NULL, NULL, "10"},
	{"/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout", "120",
	 "rcupdate.rcu_cpu_stall_timeout", NULL, "CONFIG_RCU_CPU_STALL_TIMEOUT", "21"},
};

/* The path below /proc/sys, or NULL. */
static const char *sysctl_of(const struct detector *d)
{
	return str_starts(d->file, PROC_SYS) ? d->file + strlen(PROC_SYS) : NULL;
}

static bool profile_asks(const struct plan *plan, const struct detector *d)
{
	for (size_t i = 0; plan && i < plan->list.n; i++) {
		const char *target = plan->list.v[i]->target;

		if (target && fnmatch(target, d->file, FNM_PATHNAME) == 0)
			return true;
	}
	return false;
}

/* From a list such as nmi_watchdog=1,panic: "1" for the word, "0" for its opposite, or NULL. */
static const char *said_by_word(const char *value, const char *word)
{
	cleanup_free char *words = xstrdup(value), *contrary = xasprintf("no%s", word);
	const char *said = NULL;
	char *rest = words, *one;

	while ((one = strsep(&rest, ",")))
		if (streq(one, word) || streq(one, contrary))
			said = streq(one, word) ? "1" : "0";
	return said;
}

static bool sets_file(const struct token *t, const char *file)
{
	cleanup_free char *name = xstrndup(t->name, t->name_len), *sysctl = sysctl_arg_file(name);

	return sysctl && streq(sysctl, file);
}

/*
 * The value that an argument of the line, other than the trial's, gives to d; NULL: none. Caller
 * frees.
 */
static char *said_by_word_of_line(const struct detector *d, const char *text)
{
	struct token t = token_of(text);
	cleanup_free char *value = t.value ? xstrndup(t.value, t.value_len) : NULL;
	const char *said = NULL;

	if (!value)
		return NULL;
	if (sets_file(&t, d->file))
		said = value;
	else if (d->key && token_named(&t, d->key))
		said = d->word ? said_by_word(value, d->word) : value;
	return said ? xstrdup(said) : NULL;
}

static char *said_on_line(const struct detector *d, const struct kargs *line)
{
	for (size_t i = line->n; i > 0; i--) {
		char *said = said_by_word_of_line(d, line->v[i - 1].text);

		if (said)
			return said;
	}
	return NULL;
}

/* "CONFIG_X=y", "CONFIG_X=120"; kernels up to 5.18 put the number of a switch into CONFIG_X_VALUE.
 */
static char *built_in(const char *config, const char *name)
{
	size_t len = name ? strlen(name) : 0;

	for (const char *p = name ? strstr(config, name) : NULL; p; p = strstr(p + len, name)) {
		const char *value = p + len;

		if (p > config && p[-1] != '\n')
			continue;
		if (str_starts(value, "_VALUE="))
			value += strlen("_VALUE");
		if (*value != '=')
			continue;
		value++;
		return *value == 'y' ? xstrdup("1") : xstrndup(value, strcspn(value, "\n"));
	}
	return NULL;
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

/* config: read by the first call that needs it. The caller frees it. */
static int set_back(const struct root *root, const struct detector *d, const struct kargs *line,
		    char **config, struct err *err)
{
	cleanup_free char *said = said_on_line(d, line), *built = NULL;
	const char *back;

	if (!said && !*config)
		*config = read_config(root);
	if (!said)
		built = built_in(*config, d->config);
	back = said ? said : built ? built : d->plain;
	return streq(back, d->trial) ? 0 : machine_write_attr(root, d->file, back, err);
}

/* False if another program has changed the value since, or gives the same value as the trial. */
static bool is_the_trials(const struct root *root, const struct detector *d,
			  const struct plan *plan)
{
	cleanup_free char *now = NULL, *line = NULL;

	if (read_attr(root, &now, NULL, "%s", d->file) < 0 || !streq(now, d->trial) ||
	    profile_asks(plan, d))
		return false;
	if (sysctl_of(d))
		line = sysctl_d_line(root, sysctl_of(d), d->trial);
	return !line;
}

/* name: the only setting to set back; NULL: all. */
static int set_back_those(const struct root *root, const char *cmdline, const struct plan *plan,
			  const char *name, struct err *err)
{
	const struct kargs none = {0};
	cleanup_free char *others = kargs_predict(cmdline, &none, &none);
	cleanup_free char *config = NULL;
	cleanup_kargs struct kargs line = {0};
	struct err later = {0};
	int first = 0;

	kargs_split(&line, others, NULL);
	for (size_t i = 0; i < array_len(detectors); i++) {
		int r = 0;

		if (name && !streq(detectors[i].file, name))
			continue;
		if (is_the_trials(root, &detectors[i], plan))
			r = set_back(root, &detectors[i], &line, &config, first ? &later : err);
		if (!first)
			first = r;
	}
	return first;
}

int detectors_set_back(const struct root *root, const char *cmdline, const struct plan *plan,
		       struct err *err)
{
	return set_back_those(root, cmdline, plan, NULL, err);
}

int detectors_set_panic_back(const struct root *root, const char *cmdline, struct err *err)
{
	return set_back_those(root, cmdline, NULL, PROC_SYS "kernel/panic", err);
}
