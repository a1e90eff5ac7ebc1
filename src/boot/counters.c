/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/counters.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/booted.h"
#include "boot/env_grub.h"
#include "boot/kargs.h"
#include "sys/machine.h"
#include "sys/read.h"

#define EFI_GLOBAL "8be4df61-93ca-11d2-aa0d-00e098032b8c"

/* Reports the first armed counter that is found, because any one is reason enough. */
static void __attribute__((format(printf, 2, 3))) armed(struct counters *c, const char *fmt, ...)
{
	struct str text = {0};
	va_list ap;

	if (c->armed)
		return;
	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	c->armed = str_take(&text);
}

/* --- the variables of a block ---------------------------------------------------------------- */

struct var {
	const char *name, *value;
	size_t offset; /* of the value in the file */
};

struct vars {
	char *text; /* a copy, cut into names and values */
	VEC(struct var) list;
};

static void take(const char *name, const char *value, void *data)
{
	struct vars *v = data;
	struct var var = {name, value, (size_t)(value - v->text)};

	vec_push(&v->list, var);
}

static void vars_read(const struct block *b, struct vars *ret)
{
	*ret = (struct vars){0};
	if (!env_grub_loads(b->text, b->len))
		return;
	ret->text = memcpy(xcalloc(b->len + 1, 1), b->text, b->len);
	env_grub_each(ret->text, b->len, take, ret);
}

static void vars_free(struct vars *v)
{
	vec_free(&v->list);
	free(v->text);
}
#define cleanup_vars __attribute__((__cleanup__(vars_free)))

/* Of two lines for one name load_env takes the last. */
static const struct var *find(const struct vars *v, const char *name)
{
	for (size_t i = v->list.n; i > 0; i--)
		if (streq(v->list.v[i - 1].name, name))
			return &v->list.v[i - 1];
	return NULL;
}

/* GRUB treats an empty variable as unset. */
static const char *value(const struct vars *v, const char *name)
{
	const struct var *var = find(v, name);

	return var ? var->value : "";
}

/* --- counters that railhead does not touch ---------------------------------------------------- */

static char *printable(const char *s)
{
	return str_printable(s, 64);
}

static void judge_others(const struct block *b, const struct vars *v, struct counters *ret)
{
	cleanup_free char *counter = printable(value(v, "boot_counter"));
	cleanup_free char *count = printable(value(v, "bootcount"));
	cleanup_free char *kernel = printable(value(v, "kernel_status"));

	if (*counter && !streq(value(v, "boot_success"), "1"))
		armed(ret,
		      "greenboot counts the boots of an update that is not confirmed yet "
		      "(boot_counter=%s in %s)",
		      counter, b->path);
	if (streq(value(v, "upgrade_available"), "1"))
		armed(ret,
		      "Mender has an update on trial that is not committed yet "
		      "(upgrade_available=1, bootcount=%s in %s)",
		      count, b->path);
	if (*kernel)
		armed(ret, "snapd has a kernel on trial (kernel_status=%s in %s)", kernel, b->path);
}

static void judge_assessment(const struct root *root, struct counters *ret)
{
	cleanup_free char *path = loader_variable(root, "LoaderBootCountPath");

	if (path)
		armed(ret,
		      "the boot loader counts the boots of its entry (EFI variable "
		      "LoaderBootCountPath: %.128s)",
		      path);
}

/* --- RAUC --------------------------------------------------------------------------------------
 */

struct slot {
	char *name;
	bool ok, tried, known; /* known: both have a value that RAUC and its script write */
};

struct slots {
	VEC(struct slot) list; /* in the order of GRUB's attempts */
	const struct slot *booted;
};

static void slots_free(struct slots *s)
{
	for (size_t i = 0; i < s->list.n; i++)
		free(s->list.v[i].name);
	vec_free(&s->list);
}
#define cleanup_slots __attribute__((__cleanup__(slots_free)))

/* Empty counts, because the script sets "0" before it loads the block. */
static bool is_flag(const char *v)
{
	return !*v || streq(v, "0") || streq(v, "1");
}

static void add_slot(const struct vars *v, const char *name, struct slots *ret)
{
	cleanup_free char *ok = xasprintf("%s_OK", name), *try = xasprintf("%s_TRY", name);
	struct slot s = {.name = xstrdup(name),
			 .ok = streq(value(v, ok), "1"),
			 .tried = streq(value(v, try), "1"),
			 .known = is_flag(value(v, ok)) && is_flag(value(v, try))};

	vec_push(&ret->list, s);
}

static void read_slots(const struct vars *v, const char *cmdline, struct slots *ret)
{
	cleanup_free char *order = xstrdup(value(v, "ORDER"));
	cleanup_free char *booted = kargs_value(cmdline, "rauc.slot");
	char *rest = order, *name;

	while ((name = strsep(&rest, " \t")))
		if (*name)
			add_slot(v, name, ret);
	for (size_t i = 0; i < ret->list.n && booted; i++)
		if (streq(ret->list.v[i].name, booted))
			ret->booted = &ret->list.v[i];
}

/* The slot that GRUB boots next once the attempt of `again` is given back; NULL: none. */
static const struct slot *next_slot(const struct slots *s, const struct slot *again)
{
	for (size_t i = 0; i < s->list.n; i++) {
		const struct slot *one = &s->list.v[i];

		if (one->ok && (!one->tried || one == again))
			return one;
	}
	return NULL;
}

/*
 * If the trial dies, its slot counts as tried, and GRUB boots another slot. Without another slot
 * the script ends in its rescue entry, even if there are good arguments.
 */
static bool has_fallback(const struct slots *s)
{
	for (size_t i = 0; i < s->list.n; i++) {
		const struct slot *one = &s->list.v[i];

		if (one != s->booted && one->ok && !one->tried)
			return true;
	}
	return false;
}

/*
 * The place of "1" in the only line X_TRY=1; NULL: the line is missing, repeated or of another
 * form.
 */
static const struct var *plain_try(const struct block *b, const struct vars *v, const char *name)
{
	const struct var *only = NULL;

	for (size_t i = 0; i < v->list.n; i++) {
		const struct var *var = &v->list.v[i];

		if (!streq(var->name, name))
			continue;
		if (only)
			return NULL;
		only = var;
	}
	return only && memcmp(b->text + only->offset, "1\n", 2) == 0 ? only : NULL;
}

static void give_back(struct block *b, const struct vars *v, const struct slot *s,
		      struct counters *ret)
{
	cleanup_free char *name = xasprintf("%s_TRY", s->name);
	const struct var *try = plain_try(b, v, name);

	if (!try) {
		armed(ret, "RAUC counts boots, and the line %s of %s does not have RAUC's format",
		      name, b->path);
		return;
	}
	ret->block = b;
	ret->offset = try->offset;
	ret->what = xasprintf("slot %s (%s=1 in %s)", s->name, name, b->path);
}

static char *states(const struct slots *s)
{
	struct str text = {0};

	str_add(&text, "ORDER=");
	for (size_t i = 0; i < s->list.n; i++)
		str_addf(&text, "%s%s", i ? " " : "", s->list.v[i].name);
	for (size_t i = 0; i < s->list.n; i++)
		str_addf(&text, ", %s_OK=%d %s_TRY=%d", s->list.v[i].name, s->list.v[i].ok,
			 s->list.v[i].name, s->list.v[i].tried);
	return str_take(&text);
}

static void judge_slots(struct block *b, const struct vars *v, const char *cmdline,
			struct counters *ret)
{
	cleanup_slots struct slots s = {0};
	cleanup_free char *all = NULL, *shown = NULL;
	const struct slot *next;

	read_slots(v, cmdline, &s);
	all = states(&s);
	shown = str_printable(all, 200);
	next = next_slot(&s, s.booted);
	for (size_t i = 0; i < s.list.n; i++)
		if (!s.list.v[i].known)
			armed(ret,
			      "RAUC counts boots, and %s_OK or %s_TRY in %s is neither 0 nor 1",
			      s.list.v[i].name, s.list.v[i].name, b->path);
	if (!s.booted)
		armed(ret,
		      "RAUC counts boots, and no slot of its ORDER is named by rauc.slot= on the "
		      "kernel command line (%s in %s)",
		      shown, b->path);
	else if (next != s.booted)
		armed(ret, "RAUC would boot %s%s next and not slot %s, which runs (%s in %s)",
		      next ? "slot " : "no slot", next ? next->name : "", s.booted->name, shown,
		      b->path);
	else if (!has_fallback(&s))
		armed(ret, "if a trial fails, RAUC has no slot to boot other than %s (%s in %s)",
		      s.booted->name, shown, b->path);
	else if (s.booted->tried && !ret->armed)
		give_back(b, v, s.booted, ret);
}

/* 0: absent or not a number. *ret is the first of a list. */
static bool efi_number(const struct root *root, const char *name, unsigned int *ret)
{
	cleanup_free char *variable = xasprintf("%s-" EFI_GLOBAL, name), *raw = NULL;
	size_t len = 0;

	if (machine_efi_read(root, variable, &raw, &len, NULL) < 0 || len < 2)
		return false;
	*ret = (unsigned char)raw[0] | (unsigned int)(unsigned char)raw[1] << 8;
	return true;
}

/*
 * The next boot comes back here if the firmware's boot order begins with the entry that was booted
 * now.
 */
static void judge_efi(const struct root *root, struct counters *ret)
{
	unsigned int next, current, first;

	if (efi_number(root, "BootNext", &next))
		armed(ret, "RAUC has the firmware boot entry %04X next (EFI variable BootNext)",
		      next);
	else if (!efi_number(root, "BootCurrent", &current) ||
		 !efi_number(root, "BootOrder", &first))
		armed(ret, "RAUC counts boots by the EFI variables BootCurrent and BootOrder, "
			   "which can't be read");
	else if (current != first)
		armed(ret,
		      "RAUC has not marked this boot good yet: the firmware booted entry %04X, and "
		      "boots %04X next (EFI variables BootCurrent, BootOrder)",
		      current, first);
}

/* The block that RAUC's configuration names, else the only block with an ORDER. */
static struct block *raucs_block(struct blocks *b, size_t *ret_n)
{
	struct block *found = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < b->list.n; i++) {
		struct block *one = &b->list.v[i];
		cleanup_vars struct vars v = {0};

		vars_read(one, &v);
		if (!*value(&v, "ORDER"))
			continue;
		if (one->raucs) {
			*ret_n = 1;
			return one;
		}
		++*ret_n;
		found = one;
	}
	return found;
}

static bool uses_grub(const struct rauc_conf *c)
{
	return !c->bootloader || streq(c->bootloader, "grub");
}

static void judge_grub(struct blocks *b, const struct rauc_conf *c, const char *cmdline,
		       struct counters *ret)
{
	size_t n;
	struct block *block = raucs_block(b, &n);
	cleanup_vars struct vars v = {0};

	if (n > 1 || (block && c->grubenv && !block->raucs)) {
		armed(ret,
		      "RAUC counts boots, and railhead can't tell which environment block GRUB "
		      "uses (ORDER is in %s%s)",
		      block->path, n > 1 ? " and in another block" : "");
	} else if (block) {
		vars_read(block, &v);
		judge_slots(block, &v, cmdline, ret);
	} else if (c->bootloader) {
		armed(ret,
		      "RAUC counts boots (bootloader=grub in %s), and no ORDER is in GRUB's "
		      "environment (%s)",
		      c->path, c->grubenv ? c->grubenv : "/boot/grub/grubenv");
	}
}

static void judge_rauc(const struct root *root, struct blocks *b, const char *cmdline,
		       struct counters *ret)
{
	cleanup_rauc_conf struct rauc_conf conf = {0};

	rauc_conf_read(root, &conf);
	if (uses_grub(&conf))
		judge_grub(b, &conf, cmdline, ret);
	else if (streq(conf.bootloader, "efi"))
		judge_efi(root, ret);
	else if (!streq(conf.bootloader, "noop"))
		armed(ret, "RAUC counts boots (bootloader=%.32s in %s), which railhead can't read",
		      conf.bootloader, conf.path);
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

static void judge_work(const struct root *root, const char *cmdline, struct counters *ret)
{
	static const char *const links[] = {"/system-update", "/etc/system-update"};

	for (size_t i = 0; i < array_len(links); i++)
		if (is_there(root, links[i]))
			armed(ret,
			      "the next boot installs an offline update (%s): let it, or remove "
			      "the "
			      "link if no update is due",
			      links[i]);
	if (!selinux_is_on(root))
		return;
	if (is_there(root, "/.autorelabel"))
		armed(ret, "the next boot labels the files again for SELinux (/.autorelabel)");
	else if (line_relabels(cmdline))
		armed(ret, "the command line has files labelled again for SELinux (autorelabel=1)");
}

/* --- all -----------------------------------------------------------------------------------------
 */

void counters_judge(const struct root *root, struct blocks *b, const char *cmdline,
		    struct counters *ret)
{
	*ret = (struct counters){0};
	if (b->trouble)
		armed(ret, "can't tell whether a boot counter is active: %s", b->trouble);
	for (size_t i = 0; i < b->list.n; i++) {
		cleanup_vars struct vars v = {0};

		vars_read(&b->list.v[i], &v);
		judge_others(&b->list.v[i], &v, ret);
	}
	judge_assessment(root, ret);
	judge_work(root, cmdline, ret);
	judge_rauc(root, b, cmdline, ret);
	/* A block is written only if a reboot follows. */
	if (ret->armed)
		ret->block = NULL;
}

void counters_free(struct counters *c)
{
	free(c->armed);
	free(c->what);
	*c = (struct counters){0};
}
