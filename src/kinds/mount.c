/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/mount.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "base/words.h"
#include "plan/change.h"
#include "profile/yaml.h"
#include "sys/clock.h"
#include "sys/libmount.h"
#include "sys/machine.h"
#include "sys/manager.h"
#include "sys/read.h"
#include "sys/uevent.h"

enum { WORDS_US = 1000000 }; /* the shortest time between two questions to the journal */

/* --- names -------------------------------------------------------------------------------- */

enum mount_type mount_type_of(const char *fs_type)
{
	if (streq(fs_type, "tmpfs"))
		return MOUNT_TMPFS;
	if (streq(fs_type, "hugetlbfs"))
		return MOUNT_HUGETLBFS;
	return streq(fs_type, "nfs") || streq(fs_type, "nfs4") ? MOUNT_NFS : MOUNT_DISK;
}

static char *unit_stem(const char *path)
{
	struct str out = {0};

	for (const char *p = path + 1; *p; p++) {
		if (*p == '/')
			str_add(&out, "-");
		else if (isalnum((unsigned char)*p) || *p == '_' || *p == ':' ||
			 (*p == '.' && p > path + 1))
			str_addn(&out, p, 1);
		else
			str_addf(&out, "\\x%02x", (unsigned char)*p);
	}
	return str_take(&out);
}

char *mount_unit(const char *path)
{
	cleanup_free char *stem = unit_stem(path);

	return xasprintf("%s.mount", stem);
}

char *mount_retry_unit(const char *path)
{
	cleanup_free char *stem = unit_stem(path);

	return xasprintf("railhead-mount-%s.service", stem);
}

char *mount_device(const char *what)
{
	if (str_starts(what, "UUID="))
		return xasprintf("/dev/disk/by-uuid/%s", what + strlen("UUID="));
	if (str_starts(what, "LABEL="))
		return xasprintf("/dev/disk/by-label/%s", what + strlen("LABEL="));
	if (str_starts(what, "PARTUUID="))
		return xasprintf("/dev/disk/by-partuuid/%s", what + strlen("PARTUUID="));
	if (str_starts(what, "PARTLABEL="))
		return xasprintf("/dev/disk/by-partlabel/%s", what + strlen("PARTLABEL="));
	return str_starts(what, "/dev/") ? xstrdup(what) : NULL;
}

/* NFS accepts no units: fs/nfs/fs_context.c */
static void add_option(const struct mount_option *o, const struct ynode *value, struct str *text)
{
	str_addf(text, "%s%s=", text->len ? "," : "", o->name);
	if (o->types & MOUNT_NFS && value->value.type == VALUE_NUMBER)
		str_addf(text, "%lld", (long long)value->value.number);
	else
		str_add(text, value->text);
}

void mount_add_options(const struct spec *keys, const struct ynode *mount, struct str *text)
{
	const char *more = ynode_text(mount, "options", NULL);

	for (const struct field *f = keys->fields; f->name; f++)
		if (f->item && ynode_get(mount, f->name))
			add_option(f->item, ynode_get(mount, f->name), text);
	if (more)
		str_addf(text, "%s%s", text->len ? "," : "", more);
}

const char *mount_option_value(const char *options, const char *name, size_t *len)
{
	size_t n = strlen(name);

	for (const char *p = options; *p; p += strcspn(p, ","), p += *p == ',')
		if (strncmp(p, name, n) == 0 && p[n] == '=') {
			*len = strcspn(p + n + 1, ",");
			return p + n + 1;
		}
	return NULL;
}

/* --- the table ---------------------------------------------------------------------------- */

struct table {
	const struct libmount *lib;
	struct libmnt_table *table;
	struct libmnt_cache *cache; /* of the tags and links that name sources */
};

static void table_free(struct table *t)
{
	if (t->cache)
		t->lib->mnt_unref_cache(t->cache);
	if (t->table)
		t->lib->mnt_unref_table(t->table);
}

static int table_read(const struct root *root, struct table *ret, struct err *err)
{
	int fd = root_open_path(root, "proc/self/mountinfo", O_RDONLY);
	cleanup_fclose FILE *f = fd < 0 ? NULL : fdopen(fd, "re");

	*ret = (struct table){0};
	if (!f)
		return err_errno(err, fd < 0 ? fd : -errno, "/proc/self/mountinfo");
	ret->lib = libmount_get(err);
	if (!ret->lib)
		return -ELIBACC;
	ret->table = ret->lib->mnt_new_table();
	ret->cache = ret->lib->mnt_new_cache();
	if (ret->lib->mnt_table_parse_stream(ret->table, f, "/proc/self/mountinfo") != 0)
		return err_set(err, -EINVAL, "/proc/self/mountinfo can't be parsed");
	return 0;
}

/* "67108864k", "64M", "1073741824"; "1777" of an octal option */
static bool parse_shown(const struct mount_option *o, const char *text, size_t len, int64_t *ret)
{
	char *end;
	unsigned long long v = strtoull(text, &end, o->octal ? 8 : 10);

	if (end == text)
		return false;
	if (end < text + len && size_shift(*end))
		v <<= size_shift(*end++);
	*ret = (int64_t)v;
	return end == text + len;
}

/* The wanted value of an option, from its key or from the text of `options`. */
struct wanted {
	bool number;
	int64_t value;
	const char *text;
	size_t len;
};

static bool find_wanted(const struct ynode *mount, const struct field *f, struct wanted *ret)
{
	const struct mount_option *o = f->item;
	const struct ynode *value = ynode_get(mount, f->name);
	const char *options = ynode_text(mount, "options", "");

	*ret = (struct wanted){0};
	if (value) {
		ret->number = value->value.type == VALUE_NUMBER;
		ret->value = value->value.number;
		ret->text = value->text;
		ret->len = strlen(value->text);
		return true;
	}
	if (!(o->types & mount_type_of(ynode_text(mount, "type", ""))))
		return false;
	ret->text = mount_option_value(options, o->name, &ret->len);
	if (!ret->text && streq(o->name, "proto") && commas_have(options, "rdma")) {
		ret->text = "rdma";
		ret->len = strlen(ret->text);
	}
	if (!ret->text)
		return false;
	ret->number = !o->word && parse_shown(o, ret->text, ret->len, &ret->value);
	return o->word || ret->number; /* size=50%, uid=nobody: the kernel shows other values */
}

bool mount_wants_rdma(const struct ynode *mount)
{
	const char *options = ynode_text(mount, "options", "");

	return str_starts(ynode_text(mount, "proto", ""), "rdma") || commas_have(options, "rdma") ||
	       commas_have(options, "proto=rdma") || commas_have(options, "proto=rdma6");
}

/* The kernel may show "4" as 4.2, and "rdma" as rdma6, RDMA over IPv6. */
static bool same_word(const char *shown, size_t len, const struct wanted *w)
{
	if (len < w->len || strncmp(shown, w->text, w->len) != 0)
		return false;
	return len == w->len || (shown[w->len] == '.' && w->len == 1) ||
	       (shown[w->len] == '6' && len == w->len + 1);
}

/* Adds the shown option to found if it differs from the wanted value. */
static void compare_option(const struct table *t, const struct mount_option *o, const char *shown,
			   const struct wanted *w, enum mount_type type, struct str *found)
{
	int64_t have = type == MOUNT_TMPFS ? o->tmpfs : type == MOUNT_NFS ? o->nfs : o->hugetlbfs;
	char *text = NULL;
	size_t len = 0;
	bool given = t->lib->mnt_optstr_get_option(shown, o->name, &text, &len) == 0;

	if (w->number && (!given || parse_shown(o, text, len, &have)) && have == w->value)
		return;
	if (!w->number && given && same_word(text, len, w))
		return;
	if (given)
		str_addf(found, " %s=%.*s", o->name, (int)len, text);
	else
		str_addf(found, " no %s", o->name);
}

static bool type_is(const char *shown, const char *wanted)
{
	return streq(shown, wanted) ||
	       (mount_type_of(wanted) == MOUNT_NFS && mount_type_of(shown) == MOUNT_NFS);
}

/*
 * Compares a source of NFS by its text, without a slash at the end; the source of a disk also by
 * its links, LABEL= and UUID=.
 */
static bool source_is(const struct table *t, struct libmnt_fs *fs, const char *wanted,
		      enum mount_type type)
{
	const char *shown = t->lib->mnt_fs_get_source(fs);
	size_t len = strlen(wanted);

	if (type != MOUNT_NFS)
		return t->lib->mnt_fs_match_source(fs, wanted, t->cache);
	while (len > 1 && wanted[len - 1] == '/' && wanted[len - 2] != ':')
		len--;
	return shown && strncmp(shown, wanted, len) == 0 &&
	       (!shown[len] || (shown[len] == '/' && !shown[len + 1]));
}

/*
 * Whether a disk's file system is read-only although the profile does not ask for it. mount(8)
 * falls back to read-only if the device rejects writes, and the kernel after an error
 * (errors=remount-ro of ext4).
 */
static bool is_made_read_only(const struct ynode *mount, const char *shown)
{
	static const char *const never_written[] = {"squashfs", "erofs", "iso9660", "cramfs",
						    "romfs"};
	const char *type = ynode_text(mount, "type", "");

	return mount_type_of(type) == MOUNT_DISK &&
	       str_index(type, never_written, array_len(never_written)) < 0 &&
	       commas_have(shown, "ro") && !commas_have(ynode_text(mount, "options", ""), "ro");
}

/* Adds the differences to found, " TYPE SOURCE OPTION..."; found stays empty if there are none. */
static void compare(const struct table *t, struct libmnt_fs *fs, const struct change *c,
		    struct str *found)
{
	const struct spec *keys = c->on.item;
	const char *type = ynode_text(c->on.node, "type", "");
	const char *what = ynode_text(c->on.node, "what", NULL);
	const char *shown = t->lib->mnt_fs_get_options(fs);

	if (!type_is(t->lib->mnt_fs_get_fstype(fs), type))
		str_addf(found, " %s", t->lib->mnt_fs_get_fstype(fs));
	if (what && !source_is(t, fs, what, mount_type_of(type)))
		str_addf(found, " %s", t->lib->mnt_fs_get_source(fs));
	if (is_made_read_only(c->on.node, shown ? shown : ""))
		str_add(found, " ro");
	for (const struct field *f = keys->fields; f->name; f++) {
		struct wanted w;

		if (f->item && find_wanted(c->on.node, f, &w))
			compare_option(t, f->item, shown ? shown : "", &w, mount_type_of(type),
				       found);
	}
}

/* --- looking ------------------------------------------------------------------------------ */

static bool is_network(const struct change *c)
{
	return mount_type_of(ynode_text(c->on.node, "type", "")) == MOUNT_NFS;
}

static bool has_rdma_device(const struct root *root)
{
	cleanup_strv struct strv devices = {0};

	return read_glob(root, "/sys/class/infiniband/*", &devices, NULL) == 0 && devices.n;
}

/* Sets the reason at the gate: the last message of the unit's mount(8), and the likely cause. */
static void say_why(const struct kind_ctx *ctx, struct change *c)
{
	static uint64_t asked;
	cleanup_free char *unit = mount_unit(c->on.name), *retry = mount_retry_unit(c->on.name);
	cleanup_free char *words = NULL, *state = NULL;
	cleanup_str struct str text = {0};

	if (c->now.why && clock_usec() - asked < WORDS_US)
		return;
	asked = clock_usec();
	words = machine_unit_words(unit);
	if (mount_wants_rdma(c->on.node) && !has_rdma_device(ctx->root))
		str_add(&text,
			"there is no RDMA device, and NFS over RDMA never falls back to TCP; "
			"see modules.load, and `rdma link`");
	else if (words && is_network(c))
		str_addf(&text, "is the server up, and does it listen for %s on port %s?",
			 ynode_text(c->on.node, "proto", "NFS"),
			 ynode_text(c->on.node, "port",
				    mount_wants_rdma(c->on.node) ? "20049" : "2049"));
	else
		str_addf(&text, "see `systemctl status '%s'`", unit);
	state = is_network(c) ? manager_unit_state(retry) : NULL;
	if (state && streq(state, "failed"))
		str_add(&text, "; the retries ended, run `railhead apply` to try again");
	change_reason(c, "%s%s%s", words ? words : "", words ? "; " : "", text.s);
}

/*
 * A stage starts a network mount, which then waits for the network. The looks of a stage do not ask
 * the journal, because nothing is tried before the set, and the set reports its own error.
 */
static void say_absent(const struct kind_ctx *ctx, struct change *c)
{
	cleanup_free char *retry = mount_retry_unit(c->on.name), *state = NULL;

	change_observe(c, "not mounted");
	c->now.state = CHANGE_DIFFERS;
	if (c->optional && ctx->running == STAGE_GATE)
		c->now.state = CHANGE_UNSUPPORTED;
	if (!ctx->root->live)
		return;
	if (ctx->running == STAGE_GATE) {
		say_why(ctx, c);
		return;
	}
	state = is_network(c) ? manager_unit_state(retry) : NULL;
	if (state && (streq(state, "activating") || streq(state, "active"))) {
		change_reason(c,
			      "the mount starts once the network is up" TO_MEND
			      "see `systemctl status '%s'`",
			      retry);
		c->now.state = CHANGE_WAITS;
	}
}

static int look_at(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	__attribute__((__cleanup__(table_free))) struct table t;
	cleanup_str struct str found = {0};
	struct libmnt_fs *fs;
	int r = table_read(ctx->root, &t, err);

	if (r < 0)
		return r;
	/* the last mount covers earlier mounts */
	fs = t.lib->mnt_table_find_target(t.table, c->on.name, MNT_ITER_BACKWARD);
	/* An automount that no program has used yet has the type autofs. */
	if (!fs || streq(t.lib->mnt_fs_get_fstype(fs), "autofs")) {
		say_absent(ctx, c);
		return 0;
	}
	compare(&t, fs, c, &found);
	change_observe(c, "%s", found.len ? found.s + 1 : c->desired);
	/* Only newer kernels apply nconnect to NFSv4 over RDMA (nfs4_set_client()). */
	if (found.len && strstr(found.s, " no nconnect") && mount_wants_rdma(c->on.node))
		change_reason(
			c, "this kernel ignores nconnect with proto: rdma (Linux 6.1 does)" TO_MEND
			   "leave it out");
	else if (found.len && streq(found.s, " ro"))
		change_reason(c, "the kernel made it read-only after an error, or the device "
				 "rejects writes: see the kernel log, check the file system "
				 "(fsck), and mount it again");
	c->now.state = found.len ? CHANGE_DIFFERS : CHANGE_SAME;
	c->now.final = found.len; /* a mount does not change later */
	return 0;
}

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct err why = {0};
	int r = look_at(ctx, c, &why);

	if (r == -ENOENT && !ctx->root->live) {
		change_reason(c, "the tree has no table of mounts");
		c->now.state = CHANGE_UNSUPPORTED;
		return 0;
	}
	if (r < 0 && err)
		*err = why;
	return r;
}

/* --- setting ------------------------------------------------------------------------------ */

/* Changes the options of a mount. Only tmpfs accepts new options while it is in use. */
static int change_options(const struct kind_ctx *ctx, struct change *c, const char *type,
			  struct err *err)
{
	cleanup_str struct str options = {0};

	mount_add_options(c->on.item, c->on.node, &options);
	if (!streq(type, "tmpfs") || !streq(ynode_text(c->on.node, "type", ""), "tmpfs") ||
	    !options.len)
		return err_set(err, -EBUSY,
			       "%s is mounted with other settings: %s" TO_MEND
			       "unmount it, or reboot, and "
			       "railhead mounts it again",
			       c->on.name, c->now.found ? c->now.found : "?");
	return machine_remount_with(ctx->root, c->on.name, options.s, err);
}

/* The type of the file system mounted at path; NULL: none. The caller frees. */
static char *mounted_type(const struct kind_ctx *ctx, const char *path)
{
	__attribute__((__cleanup__(table_free))) struct table t;
	struct libmnt_fs *fs;

	if (table_read(ctx->root, &t, NULL) < 0)
		return NULL;
	fs = t.lib->mnt_table_find_target(t.table, path, MNT_ITER_BACKWARD);
	return fs ? xstrdup(t.lib->mnt_fs_get_fstype(fs)) : NULL;
}

static bool is_there(void *path)
{
	return access(path, F_OK) == 0;
}

/* Waits here, because systemd would wait three times as long and report less. */
static int wait_for_device(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_free char *device = mount_device(ynode_text(c->on.node, "what", ""));

	if (!device || is_there(device))
		return 0;
	uevent_wait(is_there, device, ctx->deadline);
	if (is_there(device))
		return 0;
	return err_set(err, -ENODEV, "%s is not there: is the disk, or its driver, missing?",
		       device);
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_free char *unit = mount_unit(c->on.name), *retry = mount_retry_unit(c->on.name);
	cleanup_free char *type = NULL, *words = NULL;
	int r;

	if (!ctx->root->live)
		return err_set(err, -EOPNOTSUPP,
			       "%s: railhead can mount only on the running machine", c->on.name);
	type = mounted_type(ctx, c->on.name);
	if (type)
		return change_options(ctx, c, type, err);
	/* The network comes after this stage. */
	if (is_network(c))
		return machine_start_unit(retry, false, err);
	r = wait_for_device(ctx, c, err);
	if (r < 0)
		return r;
	r = machine_start_unit_within(unit, c->deadline_ms, err);
	words = r < 0 ? machine_unit_words(unit) : NULL;
	return words ? err_set(err, r, "%s", words) : r;
}

const struct kind kind_mount = {.name = "mount",
				.blocks = true,
				.optional_may_fail = true,
				.begins = true,
				.look = look,
				.set = set};
