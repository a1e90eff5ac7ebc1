/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loader/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kargs/kargs.h"
#include "loader/booted.h"
#include "loader/envblk.h"
#include "loader/esp.h"
#include "sys/read.h"

enum { FILE_LIMIT = 64 << 10 }; /* GRUB's editor makes blocks of 1,024 bytes */

#define TRIES ": the first boot that no other program counts tries the arguments"

/* A counter in a block: armed if `var` has that value (NULL: any), unless `unless` is 1. */
static const struct {
	const char *var, *value, *unless;
	const char *says, *remedy;
} rows[] = {
	/* grub2/08_greenboot.cfg; boot_success alone is Fedora's way to hide GRUB's menu */
	{"boot_counter", NULL, "boot_success",
	 "greenboot counts the boots of an update that is not confirmed yet",
	 "let greenboot confirm the boot" TRIES},
	/* grub-mender-grubenv, 04_mender_setup_env_functions_grub.cfg: the second boot goes back */
	{"upgrade_available", "1", NULL, "Mender has an update on trial that is not committed yet",
	 "let Mender commit it" TRIES},
	/* snapd's grub.cfg: try, trying; of Ubuntu Core 16 and 18 (boot/boot.go) */
	{"kernel_status", NULL, NULL, "snapd has a kernel on trial",
	 "let snapd confirm the boot" TRIES},
	{"snap_mode", NULL, NULL, "snapd has a kernel or base on trial",
	 "let snapd confirm the boot" TRIES},
	/* SWUpdate's include/state.h: installed, testing */
	{"ustate", "1", NULL, "SWUpdate has installed an update that has not booted yet",
	 "let SWUpdate confirm the update" TRIES},
	{"ustate", "2", NULL, "SWUpdate has an update on trial", "let SWUpdate confirm it" TRIES},
};

#define REMEDY_RAUC "run `rauc status mark-good`, then `railhead gate`"

static void __attribute__((format(printf, 2, 3))) armed(struct counters *c, const char *fmt, ...)
{
	va_list ap;

	if (c->armed)
		return;
	va_start(ap, fmt);
	c->armed = xvasprintf(fmt, ap);
	va_end(ap);
}

/* --- a block ------------------------------------------------------------------------------- */

struct block {
	const char *path; /* for people */
	const char *text;
	size_t len;
};

struct wanted {
	const char *name;
	char *value;
};

/* Of two lines for one name load_env takes the last. */
static void take(const char *name, const char *value, void *data)
{
	struct wanted *w = data;

	if (!streq(name, w->name))
		return;
	free(w->value);
	w->value = str_printable(value, 64);
}

/* As GRUB reads it: "" if unset, or if GRUB does not load the block. Caller frees. */
static char *value_of(const struct block *b, const char *name)
{
	struct wanted w = {.name = name};
	cleanup_free char *copy = NULL;

	if (envblk_loads(b->text, b->len)) {
		copy = memcpy(xcalloc(b->len + 1, 1), b->text, b->len);
		envblk_each(copy, b->len, take, &w);
	}
	return w.value ? w.value : xstrdup("");
}

static bool is(const struct block *b, const char *name, const char *wanted)
{
	cleanup_free char *value = value_of(b, name);

	return streq(value, wanted);
}

static void judge_rows(const struct block *b, struct counters *c)
{
	for (size_t i = 0; i < array_len(rows); i++) {
		cleanup_free char *value = value_of(b, rows[i].var);

		if (rows[i].value ? streq(value, rows[i].value)
				  : *value && !(rows[i].unless && is(b, rows[i].unless, "1")))
			armed(c, "%s (%s=%s in %s); %s", rows[i].says, rows[i].var, value, b->path,
			      rows[i].remedy);
	}
}

/* Appends ", A_OK=1 A_TRY=0" for people. */
static bool slot_at_rest(const struct block *b, const char *slot, struct str *shown)
{
	cleanup_free char *ok_name = xasprintf("%s_OK", slot), *ok = value_of(b, ok_name);
	cleanup_free char *try_name = xasprintf("%s_TRY", slot), *try = value_of(b, try_name);

	str_addf(shown, ", %s=%s %s=%s", ok_name, ok, try_name, try);
	/* RAUC's script sets 0 before it loads the block */
	return streq(ok, "1") && (streq(try, "0") || !*try);
}

static void judge_rauc(const struct root *root, const struct block *b, struct counters *c)
{
	cleanup_free char *order = value_of(b, "ORDER"), *cmdline = NULL, *runs = NULL;
	cleanup_str struct str shown = {0};
	char *rest = order, *slot;
	size_t n = 0;
	bool at_rest = true;

	if (!*order)
		return;
	c->rauc = true;
	if (read_attr(root, &cmdline, NULL, "/proc/cmdline") == 0)
		runs = kargs_value(cmdline, "rauc.slot");
	str_addf(&shown, "rauc.slot=%s, ORDER=%s", or_empty(runs), order);
	while ((slot = strsep(&rest, " \t"))) {
		if (!*slot)
			continue;
		at_rest &= slot_at_rest(b, slot, &shown) && (n || streq(slot, or_empty(runs)));
		n++;
	}
	if (!at_rest || n < 2)
		armed(c,
		      "RAUC counts the boots of slots, of which one is not marked good, or the "
		      "slot that runs is not the first of two or more (%.300s in %s); " REMEDY_RAUC,
		      str_get(&shown), b->path);
}

static void judge_block(const struct root *root, const struct block *b, struct counters *c)
{
	judge_rows(b, c);
	judge_rauc(root, b, c);
}

static void unreadable(struct counters *c, const char *path, int error)
{
	armed(c, "can't tell whether a boot counter is armed: %s can't be read (%s)", path,
	      err_text(error));
}

static void look(const struct root *root, int top, const char *name, const char *shown,
		 struct counters *c)
{
	cleanup_close int fd = root_open_at(top, name, O_RDONLY | O_NOFOLLOW);
	cleanup_free char *path = xasprintf("%s/%s", shown, name), *text = NULL;
	struct block b = {.path = path};
	int r = fd < 0 ? fd : read_fd(fd, FILE_LIMIT, &text, &b.len);

	if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP || r == -EISDIR)
		return;
	if (r < 0) {
		unreadable(c, path, r);
		return;
	}
	b.text = or_empty(text);
	judge_block(root, &b, c);
}

void counters_read_blocks(const struct root *root, int top, const char *shown, struct counters *c)
{
	static const char *const names[] = {
		"grub/grubenv",
		"grub2/grubenv",
		"grubenv",
		"grub-mender-grubenv/mender_grubenv1/env",
		"grub-mender-grubenv/mender_grubenv2/env",
		"grub/mender_grubenv1/env",
		"grub/mender_grubenv2/env",
		"mender_grubenv1/env",
		"mender_grubenv2/env",
	};
	static const char *const vendors_names[] = {"grubenv", "grub/grubenv",
						    "mender_grubenv1/env", "mender_grubenv2/env"};
	cleanup_strv struct strv vendors = {0};

	for (size_t i = 0; i < array_len(names); i++)
		look(root, top, names[i], shown, c);
	esp_vendors(top, &vendors);
	for (size_t i = 0; i < vendors.n; i++)
		for (size_t j = 0; j < array_len(vendors_names); j++) {
			cleanup_free char *name =
				xasprintf("EFI/%s/%s", vendors.v[i], vendors_names[j]);

			look(root, top, name, shown, c);
		}
}

/* --- elsewhere ------------------------------------------------------------------------------- */

/* Of a line "key=value" or "key = value" of a GKeyFile; else NULL. */
static char *setting(char *line, const char *key)
{
	size_t n = strlen(key);

	if (!str_starts(line, key))
		return NULL;
	line += n + strspn(line + n, " \t");
	return *line == '=' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

/* Both keys are of section [system] alone. */
static void judge_conf(const struct root *root, const char *path, char *text, struct counters *c)
{
	const char *loader = NULL, *block_path = NULL;
	cleanup_free char *block = NULL;
	struct block b;
	char *line, *value;
	int r;

	while ((line = strsep(&text, "\n"))) {
		str_chomp(line);
		value = setting(line, "bootloader");
		loader = value ? value : loader;
		value = setting(line, "grubenv");
		block_path = value ? value : block_path;
	}
	if (!loader || streq(loader, "noop"))
		return;
	if (!streq(loader, "grub")) {
		armed(c,
		      "RAUC counts boots (bootloader=%.32s in %s), which railhead can't read; "
		      "give the image its arguments",
		      loader, path);
	} else if (block_path) {
		r = read_file(root, FILE_LIMIT, &block, &b.len, NULL, block_path);
		b.path = block_path;
		b.text = or_empty(block);
		r < 0 ? unreadable(c, block_path, r) : judge_block(root, &b, c);
	}
	if (!c->rauc)
		armed(c,
		      "RAUC counts boots (%s), and no ORDER is in GRUB's environment; " REMEDY_RAUC,
		      path);
}

/* --- work of the next boot ----------------------------------------------------------------- */

/* The link may lead to a file system that is not mounted yet. */
static bool is_there(const struct root *root, const char *path)
{
	cleanup_free char *link = NULL;

	return read_link(root, &link, NULL, "%s", path) == 0 || root_exists(root, "%s", path);
}

/* With SELINUX=disabled the file lies there for ever (selinux-autorelabel-mark.service). */
static bool selinux_is_on(const struct root *root)
{
	cleanup_free char *config = NULL;
	size_t len;

	if (!root_exists(root, "sys/fs/selinux"))
		return false;
	return read_file(root, 65536, &config, &len, NULL, "etc/selinux/config") < 0 ||
	       (strncmp(config, "SELINUX=disabled", strlen("SELINUX=disabled")) != 0 &&
		!strstr(config, "\nSELINUX=disabled"));
}

static bool line_relabels(const char *cmdline)
{
	cleanup_free char *value = kargs_value(cmdline, "autorelabel");

	return value && (!*value || streq(value, "1"));
}

static void judge_work(const struct root *root, struct counters *ret)
{
	static const char *const links[] = {"/system-update", "/etc/system-update"};
	cleanup_free char *cmdline = NULL;

	for (size_t i = 0; i < array_len(links); i++)
		if (is_there(root, links[i]))
			armed(ret,
			      "the next boot installs an offline update (%s): let it, or remove "
			      "the link if no update is due",
			      links[i]);
	if (!selinux_is_on(root))
		return;
	if (is_there(root, "/.autorelabel"))
		armed(ret, "the next boot labels the files again for SELinux (/.autorelabel)");
	else if (read_attr(root, &cmdline, NULL, "/proc/cmdline") == 0 && line_relabels(cmdline))
		armed(ret, "the command line has files labelled again for SELinux (autorelabel=1)");
}

char *counters_why_held(const struct root *root, struct counters *c)
{
	/* in RAUC's own order (src/context.c) */
	static const char *const confs[] = {"/etc/rauc/system.conf", "/run/rauc/system.conf",
					    "/usr/lib/rauc/system.conf"};
	cleanup_free char *counted = loader_variable(root, "LoaderBootCountPath"), *text = NULL;

	if (counted)
		armed(c,
		      "the boot loader counts the boots of its entry (EFI variable "
		      "LoaderBootCountPath: %.128s); let systemd-bless-boot confirm it" TRIES,
		      counted);
	judge_work(root, c);
	for (size_t i = 0; i < array_len(confs) && !text; i++)
		if (read_file(root, FILE_LIMIT, &text, NULL, NULL, confs[i]) == 0)
			judge_conf(root, confs[i], text, c);
	return c->armed ? xstrdup(c->armed) : NULL;
}

void counters_free(struct counters *c)
{
	free(c->armed);
	*c = (struct counters){0};
}
