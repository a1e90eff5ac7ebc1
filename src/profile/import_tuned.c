/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tuned.conf: sections of plug-ins, as Python's ConfigParser reads them (an indented line continues
 * a value, a # after a blank begins a comment), with the files that include= names and the
 * variables of [variables]. Values that tuned computes (${f:...}) and settings of single devices or
 * machines are listed with the reason why they are not carried over.
 *
 * A stranger may have written the file, and values of included files are printed: of this machine
 * only the files of tuned are read, and files next to the file itself.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "profile/import.h"

enum { DEPTH_MAX = 8 };

const char *const tuned_dirs[] = {"/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles",
				  "/usr/lib/tuned", NULL};

struct option {
	char *section, *key, *value, *said;
	unsigned int line;
};

struct variable {
	char *name, *value;
};

struct variables {
	VEC(struct variable) list;
};

struct tuned {
	struct import *im;
	const char *path;
	bool below;
	VEC(struct option) options;
	struct variables *variables; /* of all files */
	unsigned int depth;
};

/* --- the file ------------------------------------------------------------------------------ */

/* A # after a blank begins a comment. In place. */
static void cut_comment(char *text)
{
	for (char *p = text; *p; p++)
		if (*p == '#' && p > text && isblank((unsigned char)p[-1])) {
			*p = '\0';
			return;
		}
}

/* Appends an indented line, which continues the value before it. */
static void join(struct tuned *t, struct option *o, const char *text)
{
	char *value, *said;

	if (!import_hold(t->im, t->path, o->line, strlen(o->said)))
		return;
	value = xasprintf("%s%s%s", o->value, *o->value ? " " : "", text);
	said = xasprintf("%s %s", o->said, text);
	free(o->value);
	free(o->said);
	o->value = value;
	o->said = said;
}

static void add_option(struct tuned *t, const char *section, char *text, unsigned int line)
{
	struct option o = {.line = line};
	char *value = strchr(text, '=');

	if (!import_hold(t->im, t->path, line, IMPORT_ITEM + strlen(section)))
		return;
	o.section = xstrdup(section);
	o.said = xstrdup(text);
	if (value)
		*value++ = '\0';
	o.key = xstrdup(import_trim(text));
	o.value = xstrdup(value ? import_trim(value) : "");
	vec_push(&t->options, o);
}

static void parse(struct tuned *t, const char *text, const char *section)
{
	cleanup_free char *now = xstrdup(section);
	unsigned int number = 0, lines = 0;
	bool open = false; /* whether the line before was an option */
	char *line;

	while (!t->im->excess && (line = import_line(&text, &number, &lines, false))) {
		bool indented = isblank((unsigned char)*line);
		char *rest;

		import_hold(t->im, t->path, number, strlen(line));
		cut_comment(line);
		rest = import_trim(line);
		if (*rest == '[' && strchr(rest, ']') && !indented) {
			free(now);
			now = xstrndup(rest + 1, strcspn(rest + 1, "]"));
			open = false;
		} else if (*rest && !strchr("#;", *rest)) {
			if (indented && open)
				join(t, &t->options.v[t->options.n - 1], rest);
			else
				add_option(t, now, rest, number);
			open = true;
		}
		free(line);
	}
}

static void options_free(struct tuned *t)
{
	for (size_t i = 0; i < t->options.n; i++) {
		free(t->options.v[i].section);
		free(t->options.v[i].key);
		free(t->options.v[i].value);
		free(t->options.v[i].said);
	}
	vec_free(&t->options);
}

static const char *attribute(const struct tuned *t, const char *section, const char *key)
{
	const char *value = NULL;

	for (size_t i = 0; i < t->options.n; i++)
		if (streq(t->options.v[i].section, section) && streq(t->options.v[i].key, key))
			value = t->options.v[i].value;
	return value;
}

/* --- variables ----------------------------------------------------------------------------- */

static const char *variable(const struct tuned *t, const char *name)
{
	const struct variables *all = t->variables;

	for (size_t i = all->list.n; i > 0; i--)
		if (streq(all->list.v[i - 1].name, name))
			return all->list.v[i - 1].value;
	return NULL;
}

/* The text with variables replaced by their values; unknown variables and functions remain. */
static char *expand(const struct tuned *t, const struct origin *from, const char *text)
{
	struct str out = {0};

	while (*text) {
		size_t len = str_starts(text, "${") ? strcspn(text + 2, "}:$") : 0;
		cleanup_free char *name =
			len && text[2 + len] == '}' ? xstrndup(text + 2, len) : NULL;
		const char *value = name ? variable(t, name) : NULL;

		if (value && import_hold(t->im, from->file, from->line, strlen(value))) {
			str_add(&out, value);
			text += len + strlen("${}");
		} else {
			str_addn(&out, text++, 1);
		}
	}
	return str_take(&out) ?: xstrdup("");
}

static bool define(struct tuned *t, const struct origin *from, const char *name, const char *text)
{
	cleanup_free char *own = xasprintf("${%s}", name);
	cleanup_free char *value = expand(t, from, text);
	struct variable v;

	/* reject: it refers to its own unknown value, or tuned computes it */
	if (strstr(value, own) || strstr(value, "${f:"))
		return false;
	v = (struct variable){xstrdup(name), xstrdup(value)};
	vec_push(&t->variables->list, v);
	return true;
}

static void variable_line(struct tuned *t, const struct origin *from, const struct option *o)
{
	if (define(t, from, o->key, o->value))
		import_refuse(t->im, from, "a variable; the lines that use it have its value");
	else
		import_refuse(t->im, from, "a variable that only tuned can compute");
}

/* --- settings ------------------------------------------------------------------------------ */

/* Plug-ins of tuned without a key in profiles, or with a key of another kind. */
static const struct {
	const char *plugin, *why;
} elsewhere[] = {
	{"disk", "railhead sets disks by device set: block.SET.scheduler, block.SET.read_ahead"},
	{"net",
	 "railhead sets ports by device set: link.SET.channels, .rings, .coalesce, .features"},
	{"irq", "railhead sets interrupts by device set: irq.SET.affinity"},
	{"irqbalance",
	 "interrupts of a device set: irq.SET.affinity, which leaves isolated CPUs out"},
	{"systemd",
	 "kernel_args.isolate_cpus isolates CPUs; CPUAffinity= stays in systemd's files"},
	{"script", "runs a program; a profile cannot"},
	{"service", "systemd manages services; use a preset or a drop-in of the image"},
	{"selinux", "belongs to SELinux, not to hardware"},
	{"mounts",
	 "mount options of file systems stay in fstab; mounts: has those of memory and NFS"},
	{"acpi", "the firmware owns the platform profile; write its file in sysfs:"},
	{"uncore", "uncore frequencies have no key; write their files in sysfs:"},
	{"rtentsk", "keeps a kernel feature on by an open socket; a profile cannot"},
	{"audio", "saves power of sound devices; not needed on a node"},
	{"video", "saves power of displays; not needed on a node"},
	{"usb", "saves power of USB devices; not needed on a node"},
	{"scsi_host", "saves power of SATA links; not needed on a node"},
	{"eeepc_she", "saves power of a laptop; not needed on a node"},
};

/* Options with a key of the same meaning. */
static const struct {
	const char *plugin, *option, *section, *key;
} rows[] = {
	{"vm", "transparent_hugepages", "memory", "thp"},
	{"vm", "transparent_hugepage", "memory", "thp"},
	{"vm", "transparent_hugepage.defrag", "memory", "thp_defrag"},
	{"cpu", "energy_performance_preference", "cpu", "epp"},
	{"cpu", "governor", "cpu", "governor"},
};

/* Options that control tuned itself in the section of a plug-in. */
static const struct {
	const char *option, *why;
} governing[] = {
	{"priority", "the order in which tuned acts; railhead has its own order"},
	{"replace", "the section that it replaces in an included file is still imported"},
	{"type", "the plug-in that the section is for"},
	{"enabled", "whether tuned acts on the section"},
	{"devices", "the devices that the section is for"},
	{"uname_regex", "the machines that the section is for"},
	{"cpuinfo_regex", "the machines that the section is for"},
};

static void vm_amount(struct tuned *t, const struct origin *from, const struct option *o,
		      const char *value)
{
	size_t len = strlen(value);
	bool percent = len && value[len - 1] == '%';
	bool background = strstr(o->key, "background") != NULL;
	cleanup_free char *number = xstrndup(value, len - percent);
	cleanup_free char *key = xasprintf("vm.dirty_%s%s", background ? "background_" : "",
					   percent || strstr(o->key, "ratio") ? "ratio" : "bytes");

	import_sysctl(t->im, from, key, number, false,
		      percent && strstr(o->key, "bytes")
			      ? "a share of available memory; in tuned a share of all memory"
			      : NULL);
}

static void cpu_latency(struct tuned *t, const struct origin *from, const char *value)
{
	const struct slot slot = {.section = "cpu", .key = "max_cstate_latency"};
	cleanup_free char *usec = xasprintf("%sus", value);

	if (!*value || value[strspn(value, "0123456789")])
		import_refuse(t->im, from,
			      "an idle state by its name; write cpu: {max_cstate_latency: 10us}");
	else
		import_keep(t->im, from, &slot, usec);
}

static void cpu_boost(struct tuned *t, const struct origin *from, const char *value)
{
	const struct slot slot = {.section = "cpu", .key = "boost"};

	import_keep(t->im, from, &slot,
		    streq(value, "1") || streq(value, "true") ? "true" : "false");
}

/* "schedutil|ondemand" is the first that the CPU supports; a profile names one. */
static void mapped(struct tuned *t, const struct origin *from, size_t row, const char *value)
{
	cleanup_free char *first = xstrndup(value, strcspn(value, "|"));
	const struct slot slot = {.section = rows[row].section,
				  .key = rows[row].key,
				  .note = strchr(value, '|') ? "the first of several choices"
							     : NULL};

	import_keep(t->im, from, &slot, first);
}

/* "-quiet" removes an argument that earlier lines added. */
static void remove_args(struct tuned *t, const struct origin *from, const char *words)
{
	cleanup_free char *copy = xstrdup(words);
	cleanup_free char *why = xasprintf("%s:%u removes it", from->file, from->line);
	char *rest = copy, *word;

	while ((word = import_word(&rest)))
		for (size_t i = 0; i < t->im->list.n; i++)
			if (t->im->list.v[i].section && t->im->list.v[i].is_item &&
			    streq(t->im->list.v[i].value, word))
				import_withdraw(&t->im->list.v[i], why);
	import_refuse(t->im, from, "removes arguments of earlier lines");
}

static void bootloader(struct tuned *t, const struct origin *from, const struct option *o,
		       const char *value)
{
	if (!str_starts(o->key, "cmdline"))
		import_refuse(t->im, from, "configures tuned's own initrd or boot loader files");
	else if (*value == '-')
		remove_args(t, from, value + 1);
	else
		import_arguments(t->im, from, value + (*value == '+'));
}

/* name=param=1 param2=2; "+r" in front asks tuned to reload the module with them. */
static void module(struct tuned *t, const struct origin *from, const char *name, const char *value)
{
	cleanup_free char *copy = xstrdup(str_starts(value, "+r") ? value + 2 : value);
	const struct slot load = {
		.section = "modules", .group = "load", .key = name, .is_item = true};
	char *rest = copy, *word;
	bool any = false;

	while ((word = strsep(&rest, "," IMPORT_BLANKS))) {
		char *eq = strchr(word, '=');
		struct slot slot = {
			.section = "modules", .group = "options", .map = name, .key = word};

		if (!eq)
			continue;
		*eq = '\0';
		import_keep(t->im, from, &slot, eq + 1);
		any = true;
	}
	if (!any)
		import_keep(t->im, from, &load, name);
}

/* ">2048": tuned only raises a lower value. */
static void sysctl(struct tuned *t, const struct origin *from, const struct option *o,
		   const char *value)
{
	bool least = *value == '>';
	const char *number = value + least + (least && value[1] == '=');

	import_sysctl(t->im, from, o->key, number + strspn(number, " "), false,
		      least ? "tuned leaves a greater value alone" : NULL);
}

static void sysfs(struct tuned *t, const struct origin *from, const struct option *o,
		  const char *value)
{
	const struct slot slot = {.section = "sysfs", .key = o->key};

	import_keep(t->im, from, &slot, value);
}

static void scheduler(struct tuned *t, const struct origin *from, const struct option *o)
{
	if (str_starts(o->key, "sched_"))
		import_refuse(t->im, from,
			      "since Linux 5.13 a file in debugfs instead of a sysctl");
	else if (streq(o->key, "isolated_cores"))
		import_refuse(
			t->im, from,
			"CPUs are isolated by kernel_args: {isolate_cpus: ...}, from boot on");
	else
		import_refuse(t->im, from, "moves processes; a profile cannot");
}

/* --- a section ----------------------------------------------------------------------------- */

/* The reason why no line of the section applies on any node; NULL: they apply. */
static char *section_off(const struct tuned *t, const char *section)
{
	const char *enabled = attribute(t, section, "enabled");
	const char *devices = attribute(t, section, "devices");
	const char *regex =
		attribute(t, section, "uname_regex") ?: attribute(t, section, "cpuinfo_regex");

	if (enabled && strchr("0fFnN", *enabled))
		return xasprintf("the section [%s] is not enabled", section);
	if (regex)
		return xasprintf("the section [%s] applies only to some machines (%s); write a "
				 "profile that matches these",
				 section, regex);
	if (devices && !streq(devices, "*"))
		return xasprintf("the section [%s] applies to devices %s; write a device set",
				 section, devices);
	return NULL;
}

static bool governs(struct tuned *t, const struct origin *from, const struct option *o)
{
	for (size_t i = 0; i < array_len(governing); i++)
		if (streq(o->key, governing[i].option)) {
			import_refuse(t->im, from, "%s", governing[i].why);
			return true;
		}
	return false;
}

static void of_cpu(struct tuned *t, const struct origin *from, const struct option *o,
		   const char *value)
{
	if (streq(o->key, "force_latency"))
		cpu_latency(t, from, value);
	else if (streq(o->key, "boost"))
		cpu_boost(t, from, value);
	else if (streq(o->key, "no_turbo"))
		cpu_boost(t, from, streq(value, "1") ? "0" : "1");
	else if (streq(o->key, "energy_perf_bias"))
		import_refuse(t->im, from, "no key sets this; cpu.epp is the nearest");
	else
		import_refuse(t->im, from, "no key sets this; write the files of CPUs in sysfs:");
}

/* Whether the plug-in is in `elsewhere`; if so, lists the option with the reason. */
static bool belongs_elsewhere(struct tuned *t, const struct origin *from, const char *plugin)
{
	for (size_t i = 0; i < array_len(elsewhere); i++)
		if (streq(elsewhere[i].plugin, plugin)) {
			import_refuse(t->im, from, "%s", elsewhere[i].why);
			return true;
		}
	return false;
}

static void setting(struct tuned *t, const struct origin *from, const char *plugin,
		    const struct option *o, const char *value)
{
	for (size_t i = 0; i < array_len(rows); i++)
		if (streq(rows[i].plugin, plugin) && streq(rows[i].option, o->key)) {
			mapped(t, from, i, value);
			return;
		}
	if (streq(plugin, "sysctl"))
		sysctl(t, from, o, value);
	else if (streq(plugin, "sysfs"))
		sysfs(t, from, o, value);
	else if (streq(plugin, "bootloader"))
		bootloader(t, from, o, value);
	else if (streq(plugin, "modules"))
		module(t, from, o->key, value);
	else if (streq(plugin, "scheduler"))
		scheduler(t, from, o);
	else if (streq(plugin, "cpu"))
		of_cpu(t, from, o, value);
	else if (streq(plugin, "vm") && str_starts(o->key, "dirty_"))
		vm_amount(t, from, o, value);
	else if (streq(plugin, "vm"))
		import_refuse(t->im, from, "the plug-in vm has no such option");
	else
		import_refuse(t->im, from, "railhead knows no plug-in %s of tuned", plugin);
}

static void plugin_option(struct tuned *t, const struct origin *from, const struct option *o)
{
	const char *plugin = attribute(t, o->section, "type") ?: o->section;
	cleanup_free char *off = section_off(t, o->section);
	cleanup_free char *value = expand(t, from, o->value);

	if (governs(t, from, o) || belongs_elsewhere(t, from, plugin))
		return;
	if (off)
		import_refuse(t->im, from, "%s", off);
	else if (strstr(value, str_starts(o->key, "cmdline") ? "${f:" : "${"))
		import_refuse(t->im, from,
			      "tuned computes the value, or another file defines it; write the "
			      "value itself");
	else
		setting(t, from, plugin, o, value);
}

/* --- included files ------------------------------------------------------------------------ */

static void read_tuned(struct import *im, const char *path, bool below, const char *text,
		       struct variables *variables, unsigned int depth);

/* Whether a path, absolute below the root, may be read. Of another root any may. */
static bool is_readable(const struct tuned *t, const char *path)
{
	bool below = str_starts(path, "/usr/share/tuned/"); /* which has no profiles */

	for (size_t i = 0; !below && tuned_dirs[i]; i++)
		below = str_starts(path, tuned_dirs[i]) && path[strlen(tuned_dirs[i])] == '/';
	return !t->im->root->live || (below && !strstr(path, "/.."));
}

/* Next to a file of the caller only a NAME.conf is read, and not what a link leads to. */
static int read_beside(const struct tuned *t, const char *path, char **ret, struct err *err)
{
	size_t len = strlen(path);
	struct stat st;

	if (!t->below && (len < 5 || !streq(path + len - 5, ".conf")))
		return err_set(err, -EINVAL,
			       "not read, because its name does not end in .conf; rename the file");
	if (!t->below && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return err_set(err, -ELOOP, "not read: %s: is a symbolic link; copy the file there",
			       path);
	return import_read(t->im, path, t->below, ret, err);
}

/* The parent of the file's directory, which contains the other profiles' directories. */
static char *profiles_beside(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *end = slash;

	while (end && end > path && end[-1] != '/')
		end--;
	return end && end > path ? xstrndup(path, (size_t)(end - path))
				 : xstrdup(slash ? "" : "../");
}

static int include_profile(struct tuned *t, const char *name, struct err *err)
{
	cleanup_free char *beside = profiles_beside(t->path), *text = NULL;
	cleanup_free char *path = xasprintf("%s%s/tuned.conf", beside, name);
	bool below = t->below;
	int r = *name == '.' || strchr(name, '/')
			? err_set(err, -EINVAL,
				  "not read, because %s is a path; write a profile's name", name)
			: read_beside(t, path, &text, err);

	for (size_t i = 0; r == -ENOENT && tuned_dirs[i]; i++) {
		free(path);
		path = xasprintf("%s/%s/tuned.conf", tuned_dirs[i], name);
		below = true;
		r = import_read(t->im, path, below, &text, err);
	}
	if (r < 0)
		return r;
	if (t->depth >= DEPTH_MAX)
		return err_set(err, -ELOOP, "%s: included more than %d deep", path, DEPTH_MAX);
	if (!strv_contains(&t->im->files, path))
		read_tuned(t->im, path, below, text, t->variables, t->depth + 1);
	return 0;
}

static void include_profiles(struct tuned *t, const struct origin *from, const struct option *o)
{
	cleanup_free char *names = expand(t, from, o->value);
	char *rest = names, *name;
	cleanup_str struct str missing = {0};
	bool all = true;

	while ((name = strsep(&rest, ",;" IMPORT_BLANKS)) &&
	       import_hold(t->im, from->file, from->line, IMPORT_ITEM)) {
		bool may_lack = *name == '-';
		struct err err = {0};
		int r = *name ? include_profile(t, name + may_lack, &err) : 0;

		all &= r == 0;
		if (r == -ENOENT)
			str_addf(&missing, " %s", name);
		else if (r < 0)
			import_refuse(t->im, from, "%s", err.text);
	}
	if (missing.len)
		import_refuse(t->im, from, "tuned profiles that were not found:%s",
			      str_get(&missing));
	else if (all)
		import_refuse(t->im, from,
			      "included: its lines come before the lines of this file");
}

/* include= in [variables]: a file of NAME=VALUE, at that path or in this file's directory. */
static void include_variables(struct tuned *t, const struct origin *from, const char *path)
{
	struct tuned other = {.im = t->im, .below = true, .variables = t->variables};
	const char *slash = strrchr(path, '/'), *own = strrchr(t->path, '/');
	cleanup_free char *text = NULL;
	cleanup_free char *at = xstrdup(path);
	struct err err = {0};
	bool readable = is_readable(t, path);
	int r = readable ? import_read(t->im, at, true, &text, &err) : -ENOENT;

	if (r == -ENOENT) {
		free(at);
		at = xasprintf("%.*s%s", own ? (int)(own - t->path) + 1 : 0, t->path,
			       slash ? slash + 1 : path);
		other.below = t->below;
		r = read_beside(t, at, &text, &err);
	}
	if (r < 0) {
		import_refuse(t->im, from, "%s",
			      r != -ENOENT ? err.text
			      : readable
				      ? "the file is neither at this path nor next to this file"
				      : "not read, because it is neither in a directory of tuned "
					"nor next to this file; copy the file there");
		return;
	}
	import_refuse(t->im, from,
		      "a file of variables; the lines that use them have their values");
	strv_add(&t->im->files, at);
	other.path = at;
	parse(&other, text, "variables");
	for (size_t i = 0; i < other.options.n && !t->im->excess; i++) {
		const struct option *o = &other.options.v[i];
		/* Any file of the machine could be named, so only names are shown. */
		const struct origin there = {at, o->line,
					     strchr(o->said, '=') ? o->key : "no NAME=VALUE"};

		variable_line(t, &there, o);
	}
	options_free(&other);
}

/* --- a whole file -------------------------------------------------------------------------- */

/*
 * Called for included profiles, then variables, then plug-ins, in this order independent of the
 * order in the file, because later ones use earlier ones.
 */
static void each_option(struct tuned *t, const char *section)
{
	for (size_t i = 0; i < t->options.n && !t->im->excess; i++) {
		const struct option *o = &t->options.v[i];
		const struct origin from = {t->path, o->line, o->said};
		bool is_main = streq(o->section, "main"),
		     is_variable = streq(o->section, "variables");

		if (section ? !streq(o->section, section) : is_main || is_variable)
			continue;
		if (is_main && streq(o->key, "include"))
			include_profiles(t, &from, o);
		else if (is_main)
			import_refuse(t->im, &from, "describes the tuned profile; not a setting");
		else if (is_variable && streq(o->key, "include"))
			include_variables(t, &from, o->value);
		else if (is_variable)
			variable_line(t, &from, o);
		else
			plugin_option(t, &from, o);
	}
}

static void read_tuned(struct import *im, const char *path, bool below, const char *text,
		       struct variables *variables, unsigned int depth)
{
	struct tuned t = {
		.im = im, .path = path, .below = below, .variables = variables, .depth = depth};

	strv_add(&im->files, path);
	parse(&t, text, "main");
	each_option(&t, "main");
	each_option(&t, "variables");
	each_option(&t, NULL);
	options_free(&t);
}

void import_tuned(struct import *im, const char *path, bool below, const char *text)
{
	struct variables variables = {0};

	read_tuned(im, path, below, text, &variables, 0);
	for (size_t i = 0; i < variables.list.n; i++) {
		free(variables.list.v[i].name);
		free(variables.list.v[i].value);
	}
	vec_free(&variables.list);
}
