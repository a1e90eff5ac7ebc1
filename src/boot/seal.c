/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the volumes below / and /boot, and the PCRs that their keys are sealed to. */
#include "boot/seal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/read.h"

enum {
	MAX_DEPTH = 8,	   /* deeper than the stacks of any machine */
	MAX_VISITED = 256, /* devices of a machine; a stack may branch */
	HEAD = 4096,
};

/* A volume of dm-crypt. */
struct map {
	char *volume; /* "luks-root" */
	char *lower;  /* "sda2", or NULL */
};

struct maps {
	VEC(struct map) list;
	unsigned int visited;
};

static void maps_free(struct maps *m)
{
	for (size_t i = 0; i < m->list.n; i++) {
		free(m->list.v[i].volume);
		free(m->list.v[i].lower);
	}
	vec_free(&m->list);
}

/* --- the devices below / and /boot ------------------------------------------------------------ */

/* Documentation/ABI/testing/sysfs-block-dm; cryptsetup writes dm-crypt's uuids. */
static void note_map(const struct root *root, const char *dev, const struct strv *slaves,
		     struct maps *ret)
{
	cleanup_free char *uuid = NULL, *name = NULL;
	struct map m = {0};

	if (read_attr(root, &uuid, NULL, "sys/class/block/%s/dm/uuid", dev) < 0 ||
	    !str_starts(uuid, "CRYPT-LUKS2-") ||
	    read_attr(root, &name, NULL, "sys/class/block/%s/dm/name", dev) < 0)
		return;
	for (size_t i = 0; i < ret->list.n; i++)
		if (streq(ret->list.v[i].volume, name))
			return;
	m.volume = take_ptr(name);
	m.lower = slaves->n == 1 ? xstrdup(slaves->v[0]) : NULL;
	vec_push(&ret->list, m);
}

static void descend(const struct root *root, const char *dev, int depth, struct maps *ret)
{
	cleanup_strv struct strv slaves = {0};

	if (depth > MAX_DEPTH || ++ret->visited > MAX_VISITED)
		return;
	read_dir(root, &slaves, NULL, "sys/class/block/%s/slaves", dev);
	note_map(root, dev, &slaves, ret);
	for (size_t i = 0; i < slaves.n; i++)
		descend(root, slaves.v[i], depth + 1, ret);
}

/* "/dev/mapper/luks-root" -> "dm-0", for mounts without a device number of their own (btrfs). */
static char *name_of_source(const struct root *root, const char *source)
{
	cleanup_strv struct strv names = {0};

	if (!str_starts(source, "/dev/mapper/"))
		return str_starts(source, "/dev/") ? xstrdup(source + strlen("/dev/")) : NULL;
	read_dir(root, &names, NULL, "sys/class/block");
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *name = NULL;

		if (str_starts(names.v[i], "dm-") &&
		    read_attr(root, &name, NULL, "sys/class/block/%s/dm/name", names.v[i]) == 0 &&
		    streq(name, source + strlen("/dev/mapper/")))
			return xstrdup(names.v[i]);
	}
	return NULL;
}

/* The device's name from a line of mountinfo (proc(5)), if it mounts `point`; else NULL. */
static char *device_of_mount(const struct root *root, const char *line, const char *point)
{
	char number[32], where[4096], source[4096];
	const char *behind = strstr(line, " - ");
	char *name = NULL;

	if (!behind || sscanf(line, "%*s %*s %31s %*s %4095s", number, where) != 2 ||
	    !streq(where, point) || sscanf(behind, " - %*s %4095s", source) != 1)
		return NULL;
	if (!str_starts(number, "0:") &&
	    read_link_name(root, &name, NULL, "sys/dev/block/%s", number) == 0)
		return name;
	return name_of_source(root, source);
}

static void maps_below(const struct root *root, const char *mountinfo, const char *point,
		       struct maps *ret)
{
	cleanup_free char *copy = xstrdup(mountinfo), *dev = NULL;
	char *save = NULL;

	/* the last of stacked mounts is visible */
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *found = device_of_mount(root, line, point);

		if (!found)
			continue;
		free(dev);
		dev = found;
	}
	if (dev)
		descend(root, dev, 0, ret);
}

/* --- a volume ------------------------------------------------------------------------ */

static bool read_exactly(int fd, void *buf, size_t len, off_t at)
{
	char *p = buf;

	while (len) {
		ssize_t n = pread(fd, p, len, at);

		if (n <= 0)
			return false;
		p += n;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* sysfs replaces '/' in names by '!': "cciss!c0d0". */
static char *device_path(const char *name)
{
	char *path = xasprintf("/dev/%s", name);

	for (char *p = path; *p; p++)
		if (*p == '!')
			*p = '/';
	return path;
}

static bool read_tokens(const struct root *root, const char *device, struct seal_tokens *ret)
{
	cleanup_close int fd = root_open_device(root, device);
	cleanup_free char *json = NULL;
	char head[HEAD];
	size_t size;

	if (fd < 0 || !read_exactly(fd, head, sizeof(head), 0))
		return false;
	size = seal_header_size(head, sizeof(head));
	if (!size)
		return false;
	json = xcalloc(size - HEAD, 1);
	return read_exactly(fd, json, size - HEAD, HEAD) &&
	       seal_header_tokens(json, size - HEAD, ret);
}

static void add(struct seals *ret, const char *volume, const char *device, uint32_t pcrs,
		bool clevis)
{
	struct seal s = {.volume = xstrdup(volume),
			 .device = device ? xstrdup(device) : NULL,
			 .pcrs = pcrs,
			 .clevis = clevis};

	vec_push(&ret->list, s);
}

/* Adds a volume by crypttab alone; the PCRs of crypttab count only if the header has none. */
static void add_by_table(const struct crypttab_line *l, const char *device, struct seals *ret)
{
	if (!l->pcrs_known || l->pcrs & SEAL_PCRS_CHANGED)
		add(ret, l->volume, device, l->pcrs & SEAL_PCRS_CHANGED, false);
}

static void judge_map(const struct root *root, const struct map *m, const struct crypttab *table,
		      struct seals *ret)
{
	cleanup_free char *device = m->lower ? device_path(m->lower) : NULL;
	struct seal_tokens tokens = {0};
	bool read = device && read_tokens(root, device, &tokens);

	if (tokens.open)
		return;
	if (tokens.sealed) {
		add(ret, m->volume, device, tokens.pcrs, tokens.clevis);
		return;
	}
	for (size_t i = 0; i < table->list.n; i++) {
		const struct crypttab_line *l = &table->list.v[i];

		/* without a token and without tpm2-pcrs= the default is PCR 7: crypttab(5) */
		if (streq(l->volume, m->volume) && (l->pcrs_known || !read))
			add_by_table(l, device, ret);
	}
}

static void find_live(const struct root *root, const struct crypttab *table, struct seals *ret)
{
	cleanup_free char *mountinfo = NULL;
	cleanup(maps_free) struct maps maps = {0};

	if (read_text(root, &mountinfo, NULL, "proc/self/mountinfo") < 0)
		return;
	maps_below(root, mountinfo, "/", &maps);
	maps_below(root, mountinfo, "/boot", &maps);
	for (size_t i = 0; i < maps.list.n; i++)
		judge_map(root, &maps.list.v[i], table, ret);
}

/* --- a tree -------------------------------------------------------------------------- */

/* Whether fstab(5) mounts the volume itself as / or /boot. */
static bool fstab_mounts(const char *fstab, const char *volume)
{
	cleanup_free char *copy = xstrdup(fstab);
	cleanup_free char *device = xasprintf("/dev/mapper/%s", volume);
	char *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *rest = NULL, *spec = strtok_r(line, " \t\r", &rest);
		const char *where = spec ? strtok_r(NULL, " \t\r", &rest) : NULL;

		if (where && streq(spec, device) && (streq(where, "/") || streq(where, "/boot")))
			return true;
	}
	return false;
}

static void find_in_tree(const struct root *root, const struct crypttab *table, struct seals *ret)
{
	cleanup_free char *fstab = NULL;

	if (read_text(root, &fstab, NULL, "etc/fstab") < 0)
		fstab = xstrdup("");
	for (size_t i = 0; i < table->list.n; i++)
		if (table->list.v[i].initrd || fstab_mounts(fstab, table->list.v[i].volume))
			add_by_table(&table->list.v[i], NULL, ret);
}

void seals_find(const struct root *root, struct seals *ret)
{
	struct crypttab table cleanup(crypttab_free) = {0};
	cleanup_free char *text = NULL;

	if (read_text(root, &text, NULL, "etc/crypttab") == 0)
		crypttab_parse(text, &table);
	if (root->live)
		find_live(root, &table, ret);
	else
		find_in_tree(root, &table, ret);
}

void seals_free(struct seals *s)
{
	for (size_t i = 0; i < s->list.n; i++) {
		free(s->list.v[i].volume);
		free(s->list.v[i].device);
	}
	vec_free(&s->list);
}

/* --- in words ------------------------------------------------------------------------ */

static void add_pcrs(struct str *out, uint32_t pcrs)
{
	const char *before = "";

	for (unsigned int i = 0; i < 32; i++) {
		if (!(pcrs & 1u << i))
			continue;
		str_addf(out, "%s%u", before, i);
		before = ", ";
	}
}

char *seal_sentence(const struct seal *s)
{
	const char *device = s->device ? s->device : "DEVICE";
	struct str out = {0};

	str_addf(&out, "%s%s%s%s: its key is sealed by the TPM", s->volume, s->device ? " (" : "",
		 s->device ? s->device : "", s->device ? ")" : "");
	if (s->pcrs) {
		str_addf(&out, " to PCR ");
		add_pcrs(&out, s->pcrs);
		str_add(&out, ", which kernel arguments change");
	} else {
		str_addf(&out,
			 " (tpm2-device= in /etc/crypttab) to PCRs that railhead can't read (as "
			 "root, cryptsetup luksDump %s shows the PCRs); kernel arguments change "
			 "PCRs 8, 9 and 12, and if the key is sealed to one of these",
			 device);
	}
	str_addf(&out,
		 "%s the volume asks for its passphrase at the next boot, and a trial that waits "
		 "there is rebooted; bind the key to PCR 7, with ",
		 s->pcrs ? ": with other arguments" : ",");
	if (s->clevis)
		str_addf(&out, "clevis luks bind -d %s tpm2 '{\"pcr_ids\":\"7\"}'", device);
	else
		str_addf(&out,
			 "systemd-cryptenroll --wipe-slot=tpm2 --tpm2-device=auto --tpm2-pcrs=7 %s",
			 device);
	return str_take(&out);
}
