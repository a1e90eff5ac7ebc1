/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts: sysctl.d(5), modprobe.d(5), modules-load.d(5), tmpfiles.d(5), udev(7), systemd.link(5),
 * systemd.exec(5), limits.conf(5), tuned.conf(5).
 */
#include "engine/writer_lines.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "base/pattern.h"
#include "base/str.h"
#include "kinds/checks.h"
#include "kinds/vf.h"
#include "plan/change.h"
#include "profile/schema.h"
#include "sys/sysctl_d.h"

#define DEV "/sys/bus/pci/devices/"

/* --- subjects --------------------------------------------------------------------------------- */

static char *file_of(const struct change *c)
{
	if (c->file)
		return xstrdup(c->file);
	if (c->kind == &kind_attr)
		return xstrdup(c->target);
	if (c->on.item == &vf_numvfs)
		return xasprintf(DEV "%s/sriov_numvfs", c->on.name);
	if (c->on.item == &pages_item && c->parts.n)
		return xasprintf("/sys/devices/system/node/node%u/hugepages/%s/nr_hugepages",
				 c->parts.v[0].index, c->parts.v[0].name);
	return NULL;
}

/* Kernel arguments that set the same values as files. */
static void add_args(const struct change *c, struct subject *s)
{
	for (size_t i = 0; c->kind == &kind_bootenv && i < c->parts.n; i++)
		kargs_add(&s->args, c->parts.v[i].name, NULL);
	if (c->on.item == &arrived_item)
		kargs_add(&s->args, c->on.name, NULL);
	if (s->file && str_starts(s->file, PROC_SYS) && !pattern_is(s->file)) {
		cleanup_free char *arg = xasprintf("sysctl.%s=", s->file + strlen(PROC_SYS));

		for (char *p = arg; *p; p++)
			*p = *p == '/' ? '.' : *p;
		kargs_add(&s->args, arg, NULL);
	}
	if (s->file && fnmatch("*/transparent_hugepage/enabled", s->file, 0) == 0)
		kargs_add(&s->args, "transparent_hugepage=", NULL);
	if (s->param) {
		cleanup_free char *arg = xasprintf("%s.%s=", s->module, s->param);

		kargs_add(&s->args, arg, NULL);
	}
}

struct subject subject_of(const struct change *c)
{
	struct subject s = {.file = file_of(c)};

	if (c->on.item == &param_item || c->on.item == &unloaded_item || c->kind == &kind_module)
		s.module = c->on.name;
	if (c->on.item == &param_item)
		s.param = c->on.key;
	if (c->kind == &kind_limit)
		s.limit = c->on.key;
	add_args(c, &s);
	return s;
}

void subject_free(struct subject *s)
{
	free(s->file);
	kargs_free(&s->args);
}

static const char *sysctl_of(const struct subject *s)
{
	return s->file && str_starts(s->file, PROC_SYS) ? s->file + strlen(PROC_SYS) : NULL;
}

/* Whether a path in a line of another file is the subject's file. */
static bool is_file(const struct subject *s, const char *path)
{
	return s->file && (fnmatch(s->file, path, FNM_PATHNAME) == 0 ||
			   fnmatch(path, s->file, FNM_PATHNAME) == 0);
}

/* Whether the subject's file ends with this path, such as "queue/scheduler". */
static bool is_tail(const struct subject *s, const char *tail)
{
	size_t len = s->file ? strlen(s->file) : 0, n = strlen(tail);

	return len > n && s->file[len - n - 1] == '/' && streq(s->file + len - n, tail);
}

/* --- lines ------------------------------------------------------------------------------------ */

static char *next_word(char **rest)
{
	char *word;

	do {
		word = strsep(rest, " \t");
	} while (word && !*word);
	return word;
}

static bool read_sysctl(const struct subject *s, char *line, const char **value)
{
	const char *path = sysctl_of(s);

	*value = path ? sysctl_d_value(line, path) : NULL;
	return *value;
}

static bool is_module(const struct subject *s, const char *name)
{
	return s->module && name && strlen(name) == strlen(s->module) &&
	       dash_equal(name, s->module, strlen(name));
}

/* "options ib_core netns_mode=0", "blacklist nouveau", "install nouveau /bin/false" */
static bool read_modprobe(const struct subject *s, char *line, const char **value)
{
	const char *command = next_word(&line);
	char *word;

	if (!command || !is_module(s, next_word(&line)))
		return false;
	if (!s->param)
		return streq(command, "blacklist") || streq(command, "install");
	while (streq(command, "options") && (word = next_word(&line))) {
		size_t len = strcspn(word, "=");

		if (len == strlen(s->param) && dash_equal(word, s->param, len) && word[len])
			*value = word + len + 1;
	}
	return *value;
}

static bool read_modules_load(const struct subject *s, char *line, const char **value)
{
	(void)value;
	return !s->param && is_module(s, next_word(&line));
}

/* Whether a command or script names the subject's file, or its sysctl. */
static bool names_subject(const struct subject *s, const char *line, const char **value)
{
	const char *base = s->file ? strrchr(s->file, '/') : NULL, *found = NULL;
	cleanup_free char *key = sysctl_of(s) ? xstrdup(sysctl_of(s)) : NULL;
	size_t len;

	for (char *p = key; p && *p; p++)
		*p = *p == '/' ? '.' : *p;
	if (key && (found = strstr(line, key))) {
		len = strlen(key);
	} else if (base && !pattern_is(s->file) && (found = strstr(line, s->file))) {
		len = strlen(s->file);
	} else {
		/* a unique name: */
		len = base && !sysctl_of(s) ? strlen(base) : 0;
		found = len > 8 ? strstr(line, base) : NULL;
	}
	if (!found || isalnum((unsigned char)found[len]) || found[len] == '_')
		return false;
	if (found[len] == '=')
		*value = found + len + 1;
	else if (strstr(line, "echo ") && strstr(line, "echo ") < found)
		*value = strstr(line, "echo ") + strlen("echo ");
	return true;
}

static bool read_command(const struct subject *s, char *line, const char **value)
{
	bool named = names_subject(s, line, value);

	if (named && *value)
		((char *)*value)[strcspn(*value, " \t\"';>")] = '\0';
	return named;
}

/* Finds an assignment KEY{name}="value": an operator other than == and !=. */
static bool takes_udev(char *line, const char *key,
		       bool (*is)(const struct subject *, const char *), const struct subject *s,
		       const char **value)
{
	for (char *p = line; (p = strstr(p, key)); p++) {
		char *name = p + strlen(key), *end = strchr(name, '}'), *quote;

		quote = end ? end + 1 + strspn(end + 1, ":+") : NULL;
		if (!quote || quote[0] != '=' || quote[1] != '"')
			continue;
		*end = '\0';
		if (is(s, str_starts(name, "device/") ? name + strlen("device/") : name)) {
			*value = quote + 2;
			quote[2 + strcspn(quote + 2, "\"")] = '\0';
			return true;
		}
		*end = '}';
	}
	return false;
}

static bool is_sysctl(const struct subject *s, const char *key)
{
	cleanup_free char *path = sysctl_path(key);

	return sysctl_of(s) && streq(path, sysctl_of(s));
}

static bool read_udev(const struct subject *s, char *line, const char **value)
{
	char *run;

	if (takes_udev(line, "ATTR{", is_tail, s, value) ||
	    takes_udev(line, "SYSCTL{", is_sysctl, s, value))
		return true;
	run = strstr(line, "RUN");
	return run && read_command(s, run, value);
}

/* "w /sys/kernel/mm/transparent_hugepage/enabled - - - - never" */
static bool read_tmpfiles(const struct subject *s, char *line, const char **value)
{
	const char *type = next_word(&line), *path = next_word(&line);

	if (!type || *type != 'w' || !path || !is_file(s, path))
		return false;
	for (size_t i = 0; i < 4; i++)
		next_word(&line);
	*value = line;
	return true;
}

/* MTUBytes=9000 of networkd, mtu=9000 of NetworkManager, mtu: 9000 of netplan, mtu 9000. */
static bool read_mtu(const struct subject *s, char *line, const char **value)
{
	size_t len = strncasecmp(line, "mtubytes", 8) == 0 ? 8
		     : strncasecmp(line, "mtu", 3) == 0	   ? 3
							   : 0;
	char *number = line + len + strspn(line + len, " \t=:");

	if (!len || !is_tail(s, "mtu") || !isdigit((unsigned char)*number))
		return false;
	*value = number;
	return true;
}

/* For the boot loader's files, and tuned's cmdline=. */
static bool read_args(const struct subject *s, char *line, const char **value)
{
	struct kargs given cleanup_kargs = {0};
	char *text = strchr(line, '=');

	/* NAME="..." in a file for a shell; otherwise the whole line is arguments */
	if (text && isupper((unsigned char)*line))
		line = text + 1;
	for (char *p = line; *p; p++)
		*p = strchr("\"'", *p) ? ' ' : *p;
	kargs_split(&given, line, NULL);
	for (size_t i = 0; i < given.n; i++)
		for (size_t j = 0; j < s->args.n; j++)
			if (karg_same_key(given.v[i].text, s->args.v[j].text)) {
				text = strstr(line, given.v[i].text);
				text[strlen(given.v[i].text)] = '\0';
				*value = strchr(text, '=') ? strchr(text, '=') + 1 : text;
				return true;
			}
	return false;
}

/* "* hard memlock 64" of limits.conf(5); LimitMEMLOCK=64, DefaultLimitMEMLOCK=64 of systemd. */
static bool read_limit(const struct subject *s, char *line, const char **value)
{
	const char *name = line;
	size_t len = s->limit ? strlen(s->limit) : 0;

	if (!len)
		return false;
	name += str_starts(name, "Default") ? strlen("Default") : 0;
	if (str_starts(name, "Limit")) {
		name += strlen("Limit");
		*value = name + len + 1;
		return strncasecmp(name, s->limit, len) == 0 && name[len] == '=';
	}
	if (!next_word(&line) || !next_word(&line) || !(name = next_word(&line)))
		return false;
	*value = next_word(&line);
	return streq(name, s->limit);
}

/* Settings for which tuned has its own names. */
static const struct {
	const char *name, *tail;
} tuned_names[] = {
	{"transparent_hugepages", "transparent_hugepage/enabled"},
	{"governor", "scaling_governor"},
	{"energy_performance_preference", "energy_performance_preference"},
};

/* "vm.swappiness=10", "/sys/block/sda/queue/scheduler=none", "governor=performance" */
static bool read_tuned(const struct subject *s, char *line, const char **value)
{
	char *equals = strchr(line, '='), *key = line;

	if (!equals)
		return false;
	if (str_starts(line, "cmdline") && read_args(s, equals + 1, value))
		return true;
	*equals = '\0';
	str_chomp(key);
	*value = equals + 1 + strspn(equals + 1, " \t");
	for (size_t i = 0; i < array_len(tuned_names); i++)
		if (streq(key, tuned_names[i].name) && is_tail(s, tuned_names[i].tail))
			return true;
	return is_file(s, key) || is_sysctl(s, key);
}

/* --- files ------------------------------------------------------------------------------------ */

#define LIB_DIRS(name)                                                               \
	{                                                                            \
		"/etc/" name, "/run/" name, "/usr/local/lib/" name, "/usr/lib/" name \
	}

const struct writer_source writer_sources[] = {
	{LIB_DIRS("sysctl.d"), "*.conf", read_sysctl, NULL},
	{{"/etc"}, "sysctl.conf", read_sysctl, NULL},
	{LIB_DIRS("modprobe.d"), "*.conf", read_modprobe, NULL},
	{LIB_DIRS("modules-load.d"), "*.conf", read_modules_load, NULL},
	{{"/etc"}, "modules", read_modules_load, NULL},
	{LIB_DIRS("tmpfiles.d"), "*.conf", read_tmpfiles, NULL},
	{LIB_DIRS("udev/rules.d"), "*.rules", read_udev, NULL},
	{LIB_DIRS("systemd/network"), "*.link", read_mtu, NULL},
	{LIB_DIRS("systemd/network"), "*.network", read_mtu, NULL},
	{{"/etc/NetworkManager/system-connections"}, "*.nmconnection", read_mtu, NULL},
	{{"/etc/netplan"}, "*.yaml", read_mtu, NULL},
	{{"/etc/network"}, "interfaces", read_mtu, NULL},
	{{"/etc/network/interfaces.d"}, "*", read_mtu, NULL},
	{LIB_DIRS("systemd/system"), "*.service", read_command, "Exec"},
	{LIB_DIRS("systemd/system"), "*.service.d/*.conf", read_command, "Exec"},
	{{"/etc", "/etc/rc.d"}, "rc.local", read_command, NULL},
	{LIB_DIRS("systemd/system"), "*.service", read_limit, "Limit"},
	{LIB_DIRS("systemd/system"), "*.service.d/*.conf", read_limit, "Limit"},
	{{"/etc/systemd"}, "system.conf", read_limit, "DefaultLimit"},
	{LIB_DIRS("systemd/system.conf.d"), "*.conf", read_limit, "DefaultLimit"},
	{{"/etc/security"}, "limits.conf", read_limit, NULL},
	{{"/etc/security/limits.d"}, "*.conf", read_limit, NULL},
	{{"/etc"}, "sysfs.conf", read_command, NULL},
	{{"/etc/sysfs.d"}, "*.conf", read_command, NULL},
	{{"/etc/default"}, "grub", read_args, "GRUB_CMDLINE_LINUX"},
	{{"/etc/default/grub.d"}, "*.cfg", read_args, "GRUB_CMDLINE_LINUX"},
	{{"/etc/kernel"}, "cmdline", read_args, NULL},
	{.read = NULL},
};
const struct writer_source tuned_source = {.read = read_tuned};
