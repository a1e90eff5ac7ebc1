/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts: sysctl.d(5), modprobe.d(5), modules-load.d(5), tmpfiles.d(5), udev(7), systemd.link(5);
 * /run/systemd/netif/links/IFINDEX of systemd-networkd (NETWORK_FILE=) and
 * /run/NetworkManager/devices/IFINDEX of NetworkManager (managed=true, or full), which both keep
 * for each link; tuned's pid file and /etc/tuned/active_profile.
 */
#include "engine/writers.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "base/pattern.h"
#include "base/str.h"
#include "boot/kargs.h"
#include "kinds/checks.h"
#include "kinds/vf.h"
#include "profile/schema.h"
#include "sys/dropins.h"
#include "sys/read.h"
#include "sys/sysctl_d.h"

#define PROC_SYS "/proc/sys/"
#define DEV "/sys/bus/pci/devices/"

/* --- what a change sets, as such files name it ------------------------------------------------ */

struct subject {
	char *file;	    /* of procfs or sysfs, or a pattern; or NULL */
	const char *module; /* or NULL */
	const char *param;  /* of module; NULL: the module itself */
	struct kargs args;  /* kernel arguments whose keys matter */
};

char *writers_file(const struct change *c)
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

/* Arguments that set what files show, too. */
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

static struct subject subject_of(const struct change *c)
{
	struct subject s = {.file = writers_file(c)};

	if (c->on.item == &param_item || c->on.item == &unloaded_item || c->kind == &kind_module)
		s.module = c->on.name;
	if (c->on.item == &param_item)
		s.param = c->on.key;
	add_args(c, &s);
	return s;
}

static void subject_free(struct subject *s)
{
	free(s->file);
	kargs_free(&s->args);
}

static const char *sysctl_of(const struct subject *s)
{
	return s->file && str_starts(s->file, PROC_SYS) ? s->file + strlen(PROC_SYS) : NULL;
}

/* Whether a path of another file's line names the subject's. */
static bool is_file(const struct subject *s, const char *path)
{
	return s->file && (fnmatch(s->file, path, FNM_PATHNAME) == 0 ||
			   fnmatch(path, s->file, FNM_PATHNAME) == 0);
}

/* Whether a path ends as the subject's file does, "queue/scheduler". */
static bool is_tail(const struct subject *s, const char *tail)
{
	size_t len = s->file ? strlen(s->file) : 0, n = strlen(tail);

	return len > n && s->file[len - n - 1] == '/' && streq(s->file + len - n, tail);
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Each cuts up the line; *value, what the line gives, is a part of the line, or NULL. */
typedef bool line_reader(const struct subject *s, char *line, const char **value);

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
		/* a name that nothing else has: sriov_numvfs, scaling_governor */
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

/* KEY{name}="value" that assigns: neither == nor !=. */
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

/* In the boot loader's files, and tuned's cmdline=. */
static bool read_args(const struct subject *s, char *line, const char **value)
{
	struct kargs given cleanup_kargs = {0};
	char *text = strchr(line, '=');

	/* NAME="..." of a shell's file; else the line is all arguments */
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

/* What tuned calls by names of its own. */
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

enum { DIRS_MAX = 4, TUNED_MAX = 16 };

struct source {
	const char *dirs[DIRS_MAX], *pattern;
	line_reader *read;
	const char *only; /* lines that begin so; NULL: all */
};

#define LIB_DIRS(name)                                                               \
	{                                                                            \
		"/etc/" name, "/run/" name, "/usr/local/lib/" name, "/usr/lib/" name \
	}

/* What is read later overrules what is read before. */
static const struct source sources[] = {
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
	{{"/etc"}, "sysfs.conf", read_command, NULL},
	{{"/etc/sysfs.d"}, "*.conf", read_command, NULL},
	{{"/etc/default"}, "grub", read_args, "GRUB_CMDLINE_LINUX"},
	{{"/etc/default/grub.d"}, "*.cfg", read_args, "GRUB_CMDLINE_LINUX"},
	{{"/etc/kernel"}, "cmdline", read_args, NULL},
};
static const struct source tuned_source = {.read = read_tuned};

struct writer_line {
	const struct source *source;
	char *by, *text;
};

/* Its own files are the profile's. */
static bool is_railheads(const char *path, const char *text)
{
	return strstr(path, "railhead") || str_starts(text, "# Written by railhead");
}

static void add_line(struct writer_files *files, const struct source *source, const char *path,
		     unsigned int n, char *text)
{
	text += strspn(text, " \t");
	str_chomp(text);
	if (!*text || strchr("#;", *text) || (source->only && !str_starts(text, source->only)))
		return;
	vec_push(&files->lines,
		 ((struct writer_line){source, xasprintf("%s:%u", path, n), xstrdup(text)}));
}

static void read_lines(struct writer_files *files, const struct source *source, const char *path)
{
	cleanup_free char *text = NULL;
	char *rest, *line;
	unsigned int n = 0;

	if (read_file(files->root, READ_TEXT_MAX, &text, NULL, NULL, path) < 0 ||
	    is_railheads(path, text))
		return;
	for (rest = text; (line = strsep(&rest, "\n"));)
		add_line(files, source, path, ++n, line);
}

static void read_source(struct writer_files *files, const struct source *source)
{
	cleanup_strv struct strv paths = {0};
	size_t n = 0;

	while (n < DIRS_MAX && source->dirs[n])
		n++;
	dropins_find(files->root, source->dirs, n, source->pattern, &paths);
	for (size_t i = 0; i < paths.n; i++)
		read_lines(files, source, paths.v[i]);
}

/* --- tuned ------------------------------------------------------------------------------------ */

static void add_names(struct strv *names, const char *text)
{
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy, *name;

	while ((name = strsep(&rest, " \t\n,")))
		if (*name && !strchr(name, '/') && !strv_contains(names, name) &&
		    names->n < TUNED_MAX)
			strv_add(names, name);
}

static char *tuned_file(const struct root *root, const char *profile)
{
	static const char *const dirs[] = {"/etc/tuned/profiles", "/etc/tuned",
					   "/usr/lib/tuned/profiles", "/usr/lib/tuned"};

	for (size_t d = 0; d < array_len(dirs); d++)
		if (root_exists(root, "%s/%s/tuned.conf", dirs[d], profile))
			return xasprintf("%s/%s/tuned.conf", dirs[d], profile);
	return NULL;
}

/* A profile overrules those that it includes: these are read first. */
static void read_tuned_files(struct writer_files *files, const char *active)
{
	cleanup_strv struct strv names = {0};
	VEC(char *) paths = {0};

	add_names(&names, active);
	for (size_t i = 0; i < names.n; i++) {
		char *path = tuned_file(files->root, names.v[i]);
		cleanup_free char *text = NULL;

		if (!path || read_file(files->root, READ_TEXT_MAX, &text, NULL, NULL, path) < 0) {
			free(path);
			continue;
		}
		vec_push(&paths, path);
		for (char *line = text; line; line = strchr(line, '\n')) {
			line += *line == '\n';
			if (str_starts(line, "include=")) {
				cleanup_free char *more =
					xstrndup(line + strlen("include="),
						 strcspn(line + strlen("include="), "\n"));

				add_names(&names, more);
			}
		}
	}
	while (paths.n) {
		read_lines(files, &tuned_source, paths.v[--paths.n]);
		free(paths.v[paths.n]);
	}
	vec_free(&paths);
}

static void read_tuned_profile(struct writer_files *files)
{
	cleanup_free char *active = NULL;
	bool runs = root_exists(files->root, "/run/tuned/tuned.pid");

	if (read_text(files->root, &active, NULL, "/etc/tuned/active_profile") == 0 && *active)
		read_tuned_files(files, active);
	if (runs)
		files->tuned = active && *active ? xasprintf("runs, with profile %s", active)
						 : xstrdup("runs");
}

void writer_files_read(const struct root *root, struct writer_files *ret)
{
	*ret = (struct writer_files){.root = root};
	for (size_t i = 0; i < array_len(sources); i++)
		read_source(ret, &sources[i]);
	read_tuned_profile(ret);
}

void writer_files_free(struct writer_files *files)
{
	for (size_t i = 0; i < files->lines.n; i++) {
		free(files->lines.v[i].by);
		free(files->lines.v[i].text);
	}
	vec_free(&files->lines);
	free(files->tuned);
}

/* --- programs that manage a link -------------------------------------------------------------- */

/* What follows key at the start of a line; NULL: no line begins so. The caller frees. */
static char *setting_of(const char *text, const char *key)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (str_starts(line, key))
			return xstrndup(line + strlen(key), strcspn(line + strlen(key), "\n"));
	}
	return NULL;
}

static void add_writer(struct writers *ret, const char *by, char *says, const char *value)
{
	vec_push(&ret->list, ((struct writer){xstrdup(by), says, value ? xstrdup(value) : NULL}));
}

static bool add_manager(const struct root *root, const char *netdev, uint64_t ifindex,
			struct writers *ret)
{
	cleanup_free char *text = NULL, *file = NULL, *managed = NULL;

	if (read_text(root, &text, NULL, "/run/systemd/netif/links/%llu",
		      (unsigned long long)ifindex) == 0)
		file = setting_of(text, "NETWORK_FILE=");
	if (file) {
		add_writer(ret, "systemd-networkd", xasprintf("manages %s by %s", netdev, file),
			   NULL);
		return true;
	}
	free(take_ptr(text));
	if (read_text(root, &text, NULL, "/run/NetworkManager/devices/%llu",
		      (unsigned long long)ifindex) == 0)
		managed = setting_of(text, "managed=");
	if (!managed || streq(managed, "false"))
		return false;
	add_writer(ret, "NetworkManager", xasprintf("manages %s", netdev), NULL);
	return true;
}

static bool add_link_manager(const struct root *root, const struct change *c, struct writers *ret)
{
	cleanup_strv struct strv names = {0};
	bool found = false;
	uint64_t ifindex;

	if (!c->on.name || !streq(c->section, "link"))
		return false;
	read_dir(root, &names, NULL, DEV "%s/net", c->on.name);
	for (size_t i = 0; !found && i < names.n; i++)
		if (read_u64(root, &ifindex, NULL, "/sys/class/net/%s/ifindex", names.v[i]) == 0)
			found = add_manager(root, names.v[i], ifindex, ret);
	return found;
}

/* --- the answer ------------------------------------------------------------------------------- */

/* It sets sysctls, files of sysfs and what ethtool sets. */
static bool tuned_may_set(const struct change *c)
{
	return streq(c->section, "sysctl") || streq(c->section, "sysfs") ||
	       streq(c->section, "link");
}

void writers_find(const struct writer_files *files, const struct change *c, struct writers *ret)
{
	struct subject s = subject_of(c);
	bool by_line = false;

	for (size_t i = 0; i < files->lines.n; i++) {
		const struct writer_line *line = &files->lines.v[i];
		cleanup_free char *text = xstrdup(line->text);
		const char *value = NULL;

		if (!line->source->read(&s, text, &value))
			continue;
		add_writer(ret, line->by, xstrdup(line->text), value);
		by_line |= line->source == &tuned_source;
	}
	if (!add_link_manager(files->root, c, ret) && files->tuned && !by_line && tuned_may_set(c))
		add_writer(ret, "tuned", xstrdup(files->tuned), NULL);
	subject_free(&s);
}

void writers_free(struct writers *w)
{
	for (size_t i = 0; i < w->list.n; i++) {
		free(w->list.v[i].by);
		free(w->list.v[i].says);
		free(w->list.v[i].value);
	}
	vec_free(&w->list);
}

const struct writer *writers_in_force(const struct writers *w, const struct change *c)
{
	for (size_t i = w->list.n; c->observed && i-- > 0;)
		if (w->list.v[i].value && change_equal(c->compare, w->list.v[i].value, c->observed))
			return &w->list.v[i];
	return NULL;
}

char *writers_blame(const struct writer_files *files, const struct change *c)
{
	cleanup(writers_free) struct writers all = {0};
	const struct writer *w;

	writers_find(files, c, &all);
	w = writers_in_force(&all, c);
	if (w)
		return xasprintf("%s gives it that value", w->by);
	for (size_t i = 0; i < all.list.n; i++)
		if (*all.list.v[i].by != '/')
			return xasprintf("%s %s", all.list.v[i].by, all.list.v[i].says);
	return NULL;
}
