/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mounts: file systems to mount.
 *
 * Each is a mount unit below /run, written in the initramfs, so that systemd knows the mount from
 * its start, and orders it at shutdown. No target wants these units: railhead starts them, tmpfs
 * and hugetlbfs in stage early, disks in stage devices. Network file systems cannot be mounted in
 * these stages, which run before the network: a separate service retries them from when the network
 * is up, for as long as the gate waits.
 */
#include <fcntl.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/words.h"
#include "kinds/mount.h"
#include "node/node.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/rules.h"
#include "profile/section.h"

enum {
	TIMEOUT_S = 30,	  /* default of an entry's timeout */
	MARGIN_MS = 5000, /* systemd times out first, and reports the reason */
};

/* systemd mounts it before it reads any unit. */
#define SHM "/dev/shm"

/* --- keys --------------------------------------------------------------------------------- */

static const struct spec mount_point =
	TEXT("an absolute path to mount on, such as /mnt/data",
	     "^" PATH_PARTS("[A-Za-z0-9_+,:@~-]", "[A-Za-z0-9._+,:@~-]") "$",
	     "use letters, digits and / . _ + , : @ ~ -, without empty, . and .. parts");
static const struct spec fs_type =
	TEXT("a file system type such as nfs", "^[A-Za-z0-9_.-]+$", "as in fstab(5)", .bytes = 32);
static const struct spec source = LINE("a device or server:/path such as nas:/data");
static const struct spec further =
	TEXT("mount options such as ro,noatime", "^[!-+.-~-]+(,[!-+.-~-]+)*$",
	     "separate options by commas, without blanks and empty options");
static const struct spec timeout = DURATION("a duration such as 30s", SECOND, 120 * SECOND);
static const struct spec bytes =
	SIZE("a size such as 64G", 4096, INT64_C(1) << 50, .pattern = "^" NUMBER_OF "[KMGT]$");
static const struct spec block =
	SIZE("a size such as 1M", 1024, 4 << 20, .pattern = "^" NUMBER_OF "[KMG]$");
static const struct spec id = INT("the number of a user or group", 0, INT32_MAX);
static const struct spec mode = SCALAR("a mode in octal such as 1770", value_mode, "^[0-7]{1,4}$",
				       .note = "write at most four digits from 0 to 7");
static const struct spec port_number = INT("a port", 1, 65535);
static const struct spec protocol = ONE_OF(
	"a transport", MEANS("rdma", "NFS over RDMA, IPv4"), MEANS("rdma6", "NFS over RDMA, IPv6"),
	MEANS("tcp", "NFS over TCP, IPv4"), MEANS("tcp6", "NFS over TCP, IPv6"));
static const struct spec version =
	ONE_OF_WORDS("a version of NFS", WORDS("3", "4.0", "4.1", "4.2"));

#define OPTION(key, of, help, of_types) \
	KEY(key, of, help, .item = &(const struct mount_option){.name = (key), .types = (of_types)})
#define MEMORY (MOUNT_TMPFS | MOUNT_HUGETLBFS)

static const struct mount_option option_mode = {
	.name = "mode",
	.types = MEMORY,
	.tmpfs = 01777,
	.hugetlbfs = 0755,
	.octal = true,
};
static const struct mount_option option_proto = {.name = "proto", .types = MOUNT_NFS, .word = true};
static const struct mount_option option_vers = {.name = "vers", .types = MOUNT_NFS, .word = true};
/* nfs_show_mount_options() of NFSv4 omits the default port. */
static const struct mount_option option_port = {.name = "port", .types = MOUNT_NFS, .nfs = 2049};

/* A row for each key; rows with an item are mount options of the file system types in the item. */
static const struct spec keys = MAP(
	"a map such as {type: nfs, what: \"server:/export\", proto: rdma}",
	KEY("type", &fs_type, "File system type, as in fstab(5).", .flags = FIELD_REQUIRED),
	KEY("what", &source, "Device or server:/path to mount; tmpfs and hugetlbfs have none."),
	KEY("options", &further,
	    "Further mount options; options without a key here are not verified."),
	OPTION("pagesize", &spec_page_size, "Page size; default: the kernel's default.",
	       MOUNT_HUGETLBFS),
	OPTION("size", &bytes, "Highest amount of memory that the files may use.", MEMORY),
	OPTION("min_size", &bytes, "Memory that is reserved when the file system is mounted.",
	       MOUNT_HUGETLBFS),
	OPTION("uid", &id, "Owner of the root directory; default 0.", MEMORY),
	OPTION("gid", &id, "Group of the root directory; default 0.", MEMORY),
	KEY("mode", &mode, "Mode of the root directory; default 1777 of tmpfs, 755 of hugetlbfs.",
	    .item = &option_mode),
	KEY("proto", &protocol,
	    "Transport of NFS, rdma6 and tcp6 over IPv6; never falls back to TCP.",
	    .item = &option_proto),
	KEY("port", &port_number, "Port of the NFS server; default 20049 with proto: rdma.",
	    .item = &option_port),
	KEY("vers", &version, "Version of NFS; default the highest that client and server support.",
	    .item = &option_vers),
	OPTION("nconnect", A_NUMBER_OF("connections", 1, 16), "Connections to the NFS server.",
	       MOUNT_NFS),
	OPTION("rsize", &block, "Largest NFS read; the server may grant less, which fails.",
	       MOUNT_NFS),
	OPTION("wsize", &block, "Largest NFS write; the server may grant less, which fails.",
	       MOUNT_NFS),
	KEY("optional", &spec_bool,
	    "Whether the mount may be missing (an existing mount is compared in any case); default "
	    "false.",
	    .class = KEY_GOVERNS),
	KEY("timeout", &timeout,
	    "Time that one attempt may take, and that the gate waits for a mount; default 30s.",
	    .class = KEY_GOVERNS));
static const struct spec mounts = MAP_OF("PATH", "a map of mount points", mount_point, keys);

/* --- texts -------------------------------------------------------------------------------- */

static enum mount_type type_of(const struct ynode *mount)
{
	return mount_type_of(ynode_text(mount, "type", ""));
}

static unsigned int timeout_ms(const struct ynode *mount)
{
	return (unsigned int)(ynode_number_of(mount, "timeout", TIMEOUT_S * SECOND) / 1000);
}

/* Escapes %, which systemd expands. */
static void add_setting(struct str *text, const char *name, const char *value)
{
	str_addf(text, "%s=", name);
	for (; *value; value++)
		str_addf(text, *value == '%' ? "%%%%" : "%c", *value);
	str_add(text, "\n");
}

#define NETWORK "network-online.target remote-fs-pre.target"

/*
 * No default dependencies, because local-fs.target would wait for the mount: railhead reports a
 * late or failed mount, which must not stop the boot.
 */
static char *unit_text(const struct section_ctx *ctx, const char *path, const struct ynode *mount)
{
	bool network = type_of(mount) == MOUNT_NFS;
	cleanup_str struct str options = {0};
	struct str text = {0};

	str_addf(&text,
		 FILE_HEADER "[Unit]\n"
			     "Description=railhead: %s\n"
			     "DefaultDependencies=no\n"
			     "Conflicts=umount.target\n"
			     "Before=umount.target\n"
			     "After=%s\n\n[Mount]\n",
		 ctx->profile->name, path,
		 network ? NETWORK " network.target" : "local-fs-pre.target");
	add_setting(&text, "What", ynode_text(mount, "what", ynode_text(mount, "type", "")));
	add_setting(&text, "Where", path);
	add_setting(&text, "Type", ynode_text(mount, "type", ""));
	mount_add_options(&keys, mount, &options);
	if (network) /* otherwise mount.nfs retries for two minutes */
		str_addf(&options, "%sretry=0", options.len ? "," : "");
	if (options.len)
		add_setting(&text, "Options", options.s);
	str_addf(&text, "TimeoutSec=%ums\n", timeout_ms(mount));
	return str_take(&text);
}

/*
 * Type=exec: the start job must not last as long as the loop, because the boot would wait for it.
 */
static char *retry_text(const struct section_ctx *ctx, const char *path, const struct ynode *mount)
{
	const struct ynode *gate = profile_section(ctx->profile, "gate");
	uint64_t wait = ynode_number_of(gate, "wait", GATE_WAIT_S * (uint64_t)SECOND) +
			ynode_number_of(gate, "budget", GATE_BUDGET_S * (uint64_t)SECOND);

	return xasprintf(
		FILE_HEADER
		"[Unit]\n"
		"Description=railhead: mount %s, for as long as the gate waits\n"
		"Wants=network-online.target\n"
		"After=" NETWORK " railhead-devices.service\n\n"
		"[Service]\n"
		"Type=exec\n"
		"ExecStart=/bin/sh -c 'until systemctl --quiet start -- \"$$0\"; do sleep 2; "
		"done' %s\n"
		"RuntimeMaxSec=%llums\n",
		ctx->profile->name, path, path,
		(unsigned long long)(wait / 1000 + timeout_ms(mount)));
}

/* --- changes ------------------------------------------------------------------------------ */

static void add_unit(struct plan *plan, const struct ynode *key, const char *id_tail,
		     const char *unit, const char *text)
{
	cleanup_free char *path = xasprintf("/run/systemd/system/%s", unit);

	plan_add_file(plan, "mounts", STAGE_INITRD, key->at, path, text, "mounts%s/%s", key->text,
		      id_tail);
}

static void add_mount(struct plan *plan, const struct ynode *key, const struct ynode *mount)
{
	enum stage stage = type_of(mount) & MEMORY ? STAGE_EARLY : STAGE_DEVICES;
	struct change *c = plan_add(plan, "mounts", &kind_mount, stage, PHASE_MOUNT, key->at,
				    "mounts%s", key->text);
	const char *what = ynode_text(mount, "what", NULL);
	cleanup_str struct str options = {0};

	change_on(c, key->text, &keys);
	c->on.node = mount;
	change_target(c, "mount:%s", key->text);
	mount_add_options(&keys, mount, &options);
	change_desired(c, "%s%s%s%s%s", ynode_text(mount, "type", ""), what ? " " : "",
		       what ? what : "", options.len ? " " : "", str_get(&options));
	change_lane(c, "%s", key->text);
	c->optional = ynode_bool(mount, "optional", false);
	c->deadline_ms = timeout_ms(mount) + MARGIN_MS;
	c->settles = type_of(mount) == MOUNT_NFS && !c->optional;
}

static void emit(const struct section_ctx *ctx, const struct ynode *node, struct plan *plan)
{
	for (size_t i = 0; i < node->keys.n; i++) {
		const struct ynode *key = node->keys.v[i], *mount = node->items.v[i];
		cleanup_free char *unit = mount_unit(key->text);
		cleanup_free char *retry = mount_retry_unit(key->text);
		cleanup_free char *text = unit_text(ctx, key->text, mount);
		cleanup_free char *again = retry_text(ctx, key->text, mount);

		if (!streq(key->text, SHM))
			add_unit(plan, key, "unit", unit, text);
		if (type_of(mount) == MOUNT_NFS)
			add_unit(plan, key, "retry", retry, again);
		add_mount(plan, key, mount);
	}
}

/* --- rules -------------------------------------------------------------------------------- */

/*
 * Directories of running programs and of their configuration: a mount there, below or above hides
 * them. Among them are those of systemd, of logins and of railhead itself.
 */
static const char *const system_dirs[] = {
	"/proc",
	"/sys",
	"/dev",
	"/boot",
	"/efi",
	"/etc",
	"/run",
	"/bin",
	"/sbin",
	"/lib",
	"/lib32",
	"/lib64",
	"/libx32",
	"/root",
	"/sysroot",
	"/ostree",
	"/nix",
	"/usr/bin",
	"/usr/sbin",
	"/usr/lib",
	"/usr/lib32",
	"/usr/lib64",
	"/usr/libexec",
	"/usr/share",
	"/usr/etc",
	"/usr/local/bin",
	"/usr/local/sbin",
	"/usr/local/lib",
	"/usr/local/lib64",
	"/usr/local/libexec",
	"/usr/local/etc",
	"/var/lib/railhead",
	"/var/lib/systemd",
	"/var/lib/dbus",
	"/var/lock",
	"/var/run",
	"/var/spool/cron",
};

static bool is_at_or_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 && (!path[len] || path[len] == '/');
}

/* The directory of the system that a mount on path would hide, or NULL. path: "" is "/". */
static const char *hidden_by(const char *path)
{
	for (size_t i = 0; i < array_len(system_dirs); i++)
		if (is_at_or_below(system_dirs[i], path) || is_at_or_below(path, system_dirs[i]))
			return system_dirs[i];
	return streq(path, "/tmp") ? "/tmp" : NULL;
}

/* /dev/shm and /tmp may be tmpfs anyway; hugetlbfs belongs below /dev/hugepages. */
static bool has_its_place(const char *path, enum mount_type type)
{
	if (type == MOUNT_HUGETLBFS)
		return str_starts(path, "/dev/hugepages");
	return type == MOUNT_TMPFS && (streq(path, SHM) || streq(path, "/tmp"));
}

/*
 * The mount point without symbolic links, as far as it exists; "" is "/". The path itself where it
 * can't be resolved. The caller frees. Only for trees: on a running machine the look would hang at
 * a dead NFS server, and systemd fails such a mount (unit_fail_if_noncanonical() of
 * src/core/unit.c).
 */
static char *resolved(const struct root *root, const char *path)
{
	cleanup_free char *dir = xstrdup(path);
	char *slash, *real = NULL;

	while (!real && (slash = strrchr(dir, '/'))) {
		cleanup_close int fd = root_open_path(root, *dir ? dir : "/", O_PATH);
		cleanup_free char *above = NULL;

		if (fd >= 0 && root_path_of(root, fd, &above) == 0)
			real = xasprintf("%s%s", streq(above, "/") ? "" : above,
					 path + strlen(dir));
		*slash = '\0';
	}
	return real ?: xstrdup(path);
}

static void judge_point(struct ruling *r, const struct ynode *point, enum mount_type type,
			const char *key)
{
	const struct root *root = r->node ? r->node->root : NULL;
	cleanup_free char *real = root && !root->live ? resolved(root, point->text) : NULL;
	const char *path = real ?: point->text, *dir = hidden_by(path);

	if (!dir || has_its_place(path, type))
		return;
	if (streq(path, point->text))
		rule_error(r, point, key,
			   "the system uses %s, and this mount would hide it; mount elsewhere, "
			   "such as below /mnt",
			   dir);
	else
		rule_error(r, point, key,
			   "leads to %.80s by symbolic links, and the system uses %s, which this "
			   "mount would hide; mount elsewhere, such as below /mnt",
			   *path ? path : "/", dir);
}

static bool has_option(const struct ynode *mount, const char *word)
{
	return commas_have(ynode_text(mount, "options", ""), word);
}

static void judge_options(struct ruling *r, const struct ynode *mount, const char *key)
{
	static const char *const names[] = {[MOUNT_TMPFS] = "tmpfs",
					    [MOUNT_HUGETLBFS] = "hugetlbfs",
					    [MEMORY] = "tmpfs and hugetlbfs",
					    [MOUNT_NFS] = "nfs"};

	for (const struct field *f = keys.fields; f->name; f++) {
		const struct mount_option *o = f->item;
		const struct ynode *value = o ? ynode_get(mount, f->name) : NULL;
		const char *options = ynode_text(mount, "options", "");
		cleanup_free char *at = xasprintf("%s.%s", key, f->name);
		size_t len;

		if (value && !(o->types & type_of(mount)))
			rule_error(r, value, at, "only for %s, and the type is %.40s; leave it out",
				   names[o->types], ynode_text(mount, "type", ""));
		else if (value &&
			 (has_option(mount, o->name) || mount_option_value(options, o->name, &len)))
			rule_error(r, value, at, "options (at %s) has %s too; leave it out there",
				   seen(r, ynode_get(mount, "options")), o->name);
	}
}

static void judge_rdma(struct ruling *r, const struct ynode *mount, const char *key)
{
	const struct ynode *port = ynode_get(mount, "port"), *options = ynode_get(mount, "options");
	bool rdma = mount_wants_rdma(mount);
	uint64_t n = 0;

	if (rdma && type_of(mount) != MOUNT_NFS && options)
		rule_error(r, options, key,
			   "proto=rdma is only for nfs, and the type is %.40s; leave it out",
			   ynode_text(mount, "type", ""));
	if (!rdma && ((ynode_number(port, &n) && n == 20049) || has_option(mount, "port=20049")))
		rule_error(
			r, port ? port : options, key,
			"port 20049 is that of NFS over RDMA; write proto: rdma, or drop the port");
}

static bool names_disk(const char *what)
{
	cleanup_free char *device = mount_device(what);

	return device;
}

static void judge_source(struct ruling *r, const struct ynode *mount, const char *key)
{
	const struct ynode *what = ynode_get(mount, "what");
	const char *path = strstr(scalar(what), ":/"); /* also after [fe80::1] */
	cleanup_free char *at = xasprintf("%s.what", key);

	if (type_of(mount) & MEMORY && what)
		rule_error(r, what, at, "%.40s has no source; leave what: out",
			   ynode_text(mount, "type", ""));
	else if (!(type_of(mount) & MEMORY) && !what)
		rule_error(r, mount, at, "missing; write the device or server:/path to mount");
	else if (type_of(mount) == MOUNT_NFS && *scalar(what) && (!path || path == what->text))
		rule_error(r, what, at, "nfs mounts a server's directory; write server:/path");
	else if (type_of(mount) == MOUNT_DISK && *scalar(what) && !names_disk(what->text))
		rule_error(r, what, at,
			   "not a disk (/dev/..., UUID=, LABEL=, PARTUUID= or PARTLABEL=); put "
			   "network file systems other than nfs into fstab(5)");
	if (*scalar(what) && what->text[strlen(what->text) - 1] == '\\')
		rule_error(r, what, at, "ends with a backslash; remove it");
}

/* Sizes must be whole pages, because the kernel rounds down; a pool of such pages must exist. */
static void judge_pages(struct ruling *r, const struct ynode *mount, const char *key)
{
	static const char *const sizes[] = {"size", "min_size"};
	bool huge = type_of(mount) == MOUNT_HUGETLBFS;
	uint64_t page = ynode_number_of(mount, "pagesize", huge ? 2 << 20 : 4096);
	uint64_t size = 0, min = 0;
	const struct ynode *pools = section(r, "hugepages");
	bool has_pool = !pools || !ynode_get(mount, "pagesize");

	for (size_t i = 0; i < array_len(sizes); i++) {
		const struct ynode *value = ynode_get(mount, sizes[i]);
		cleanup_free char *at = xasprintf("%s.%s", key, sizes[i]);
		uint64_t v = 0;

		if (ynode_number(value, &v) && v % page)
			rule_error(r, value, at,
				   "not a multiple of the page size; write a multiple of %s",
				   ynode_text(mount, "pagesize", huge ? "2M" : "4K"));
	}
	if (ynode_number(ynode_get(mount, "size"), &size) &&
	    ynode_number(ynode_get(mount, "min_size"), &min) && min > size)
		rule_error(r, ynode_get(mount, "min_size"), key, "min_size is above size");
	for (size_t i = 0; i < count(pools, YAML_LIST); i++)
		has_pool |= ynode_number_of(pools->items.v[i], "size", 0) == page;
	if (!has_pool)
		rule_warn(r, ynode_get(mount, "pagesize"), key,
			  "hugepages (at %s) has no pool of %s pages", seen(r, pools),
			  ynode_text(mount, "pagesize", ""));
}

/*
 * systemd mounts it with its own options, and a remount does not change these
 * (shmem_reconfigure()).
 */
static void judge_shm(struct ruling *r, const struct ynode *point, const struct ynode *mount,
		      const char *key)
{
	static const char *const fixed[] = {"uid", "gid", "mode"};

	for (size_t i = 0; streq(point->text, SHM) && i < array_len(fixed); i++)
		if (ynode_get(mount, fixed[i]))
			rule_error(r, ynode_get(mount, fixed[i]), key,
				   "%s of " SHM " can't be changed; leave it out", fixed[i]);
}

static int rank_of(const struct ynode *mount)
{
	return type_of(mount) & MEMORY ? 0 : type_of(mount) == MOUNT_DISK ? 1 : 2;
}

/*
 * systemd would mount the directory above first, which is mounted in a later stage or with the
 * network.
 */
static void judge_above(struct ruling *r, const struct ynode *all, size_t i, const char *key)
{
	const char *path = all->keys.v[i]->text;

	for (size_t j = 0; j < all->keys.n; j++) {
		const char *above = all->keys.v[j]->text;
		size_t len = strlen(above);

		if (j != i && strncmp(path, above, len) == 0 && path[len] == '/' &&
		    rank_of(all->items.v[j]) > rank_of(all->items.v[i]))
			rule_error(r, all->keys.v[i], key,
				   "lies below %.80s (at %s), which is mounted later: memory, then "
				   "disks, then nfs; mount it elsewhere",
				   above, seen(r, all->keys.v[j]));
	}
}

static void mounts_are_sound(struct ruling *r)
{
	const struct ynode *all = section(r, "mounts");

	for (size_t i = 0; i < count(all, YAML_MAP); i++) {
		const struct ynode *mount = all->items.v[i];
		cleanup_free char *key = xasprintf("mounts.%.80s", all->keys.v[i]->text);

		if (mount->kind != YAML_MAP || !ynode_get(mount, "type"))
			continue;
		judge_point(r, all->keys.v[i], type_of(mount), key);
		judge_source(r, mount, key);
		judge_options(r, mount, key);
		judge_rdma(r, mount, key);
		judge_shm(r, all->keys.v[i], mount, key);
		judge_above(r, all, i, key);
		judge_pages(r, mount, key);
	}
}

static const struct rule rules[] = {
	RULE_OF_WHOLE("mounts-are-sound", mounts_are_sound),
	NO_MORE_RULES,
};

const struct section section_mounts = {
	.name = "mounts",
	.spec = &mounts,
	.help = "Mounted file systems, by mount point.",
	.class = KEY_SETS,
	.differs = FAULT_STORAGE_MOUNT_DIFFERS,
	.failed = FAULT_STORAGE_MOUNT_FAILED,
	.rules = rules,
	.emit = emit,
};
