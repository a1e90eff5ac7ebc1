/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts: /run/systemd/netif/links/IFINDEX of systemd-networkd (NETWORK_FILE=) and
 * /run/NetworkManager/devices/IFINDEX of NetworkManager (managed=true, or full), which both keep
 * for each link; tuned's pid file and /etc/tuned/active_profile.
 */
#include "engine/writers.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/writer_lines.h"
#include "plan/change.h"
#include "sys/dropins.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

enum { TUNED_MAX = 16 }; /* maximum of included profiles */

/* --- files ------------------------------------------------------------------------------------ */

struct writer_line {
	const struct writer_source *source;
	char *by, *text;
};

/* railhead writes these files from the profile. */
static bool is_railheads(const char *path, const char *text)
{
	return strstr(path, "railhead") || str_starts(text, "# Written by railhead");
}

static void add_line(struct writer_files *files, const struct writer_source *source,
		     const char *path, unsigned int n, char *text)
{
	text += strspn(text, " \t");
	str_chomp(text);
	if (!*text || strchr("#;", *text) || (source->only && !str_starts(text, source->only)))
		return;
	vec_push(&files->lines,
		 ((struct writer_line){source, xasprintf("%s:%u", path, n), xstrdup(text)}));
}

static void read_lines(struct writer_files *files, const struct writer_source *source,
		       const char *path)
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

static void read_source(struct writer_files *files, const struct writer_source *source)
{
	cleanup_strv struct strv paths = {0};
	size_t n = 0;

	while (n < WRITER_DIRS_MAX && source->dirs[n])
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

/* Reads included profiles first, because a profile overrules them. */
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
	for (const struct writer_source *s = writer_sources; s->read; s++)
		read_source(ret, s);
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

/* The text after key at the start of a line; NULL: no line begins with key. The caller frees. */
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

/* tuned sets sysctls, files of sysfs and settings of ethtool. */
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

char *writers_file(const struct change *c)
{
	struct subject s = subject_of(c);
	char *file = take_ptr(s.file);

	subject_free(&s);
	return file;
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
	/* A bound is the profile's; a writer gives a value. */
	enum compare how = c->want.at_least ? COMPARE_TEXT : c->compare;

	for (size_t i = w->list.n; c->now.found && i-- > 0;)
		if (w->list.v[i].value && change_equal(how, w->list.v[i].value, c->now.found))
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
