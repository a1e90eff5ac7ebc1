/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/witness.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/env_layout.h"
#include "boot/place.h"
#include "sys/machine.h"
#include "sys/read.h"
#include "sys/state.h"

enum { TEXT_MAX = 128 };

#define SET_BACK_BY "railhead apply --retry` or `railhead kargs --reset"

void witness_free(struct witness *w)
{
	free(w->damage);
	*w = (struct witness){0};
}

static char *render(unsigned int reboots, const char *boot_id)
{
	return xasprintf("reboots=%u boot=%s\n", reboots, boot_id);
}

/* --- reading ------------------------------------------------------------------------------- */

/* False: the text is not as railhead writes it. */
static bool parse(const char *text, size_t len, unsigned int *ret, char boot_id[37])
{
	cleanup_free char *again = NULL;
	char boot[37] = "";

	if (strlen(text) != len || sscanf(text, "reboots=%2u boot=%36[^\n]", ret, boot) < 1)
		return false;
	again = render(*ret, boot);
	if (!*ret || !streq(again, text))
		return false;
	snprintf(boot_id, 37, "%s", boot);
	return true;
}

static int read_variable(const struct root *root, char **ret, size_t *ret_len, struct err *err)
{
	return machine_efi_read(root, WITNESS_VARIABLE, ret, ret_len, err);
}

static int read_count(const struct root *root, char **ret, size_t *ret_len, struct err *err)
{
	return read_file(root, TEXT_MAX, ret, ret_len, err, WITNESS_FILE);
}

typedef int (*reader)(const struct root *root, char **ret, size_t *ret_len, struct err *err);

static const struct {
	const char *name;
	reader read;
} copies[] = {{"EFI variable RailheadReboots", read_variable}, {WITNESS_FILE, read_count}};

static void __attribute__((format(printf, 2, 3)))
say_damage(struct witness *w, const char *fmt, ...)
{
	cleanup_free char *was = w->damage;
	struct str s = {0};
	va_list ap;

	str_addf(&s, "%s%s", was ? was : "", was ? "; " : "");
	va_start(ap, fmt);
	str_vaddf(&s, fmt, ap);
	va_end(ap);
	w->damage = str_take(&s);
}

/* True: the copy can be read. */
static bool read_copy(const struct root *root, size_t which, const char *boot_id, struct witness *w)
{
	cleanup_free char *text = NULL;
	struct err err = {0};
	unsigned int reboots;
	char boot[37];
	size_t len = 0;
	int r = copies[which].read(root, &text, &len, &err);

	if (r == -ENOENT || r == -ENOTDIR)
		return false;
	if (r < 0) {
		say_damage(w, "%s", err.text);
		return false;
	}
	if (!parse(text, len, &reboots, boot)) {
		say_damage(w, "%s: %s", copies[which].name,
			   len ? "not a count that railhead wrote" : "empty");
		return false;
	}
	w->of_this_boot |= *boot_id && streq(boot, boot_id);
	if (reboots > w->reboots)
		w->reboots = reboots;
	return true;
}

void witness_read(const struct root *root, struct witness *ret)
{
	bool known = false;
	char boot_id[37];

	*ret = (struct witness){0};
	state_boot_id(root, boot_id);
	for (size_t i = 0; i < array_len(copies); i++)
		known |= read_copy(root, i, boot_id, ret);
	ret->lost = ret->damage && !known;
	if (ret->lost)
		ret->reboots = REBOOTS_MAX;
}

char *witness_why_held(const struct witness *w)
{
	if (w->of_this_boot || w->reboots < REBOOTS_MAX)
		return NULL;
	if (w->lost)
		return xasprintf("railhead can't tell how many reboots it has made before (%s). "
				 "The verdict of this boot begins the count again, and the next "
				 "boot may reboot; `" SET_BACK_BY "` begins the count at once",
				 w->damage);
	return xasprintf("railhead has made %u reboots with no verdict in between (" WITNESS_FILE
			 ", EFI variable RailheadReboots). Check that " ENV_FILE_NAME
			 " survives a reboot, that GRUB can write to the file, and that each boot "
			 "requires the same arguments; then `" SET_BACK_BY "` sets the count back",
			 w->reboots);
}

/* --- writing ------------------------------------------------------------------------------- */

static int close_etc(const char *remounted, int r, struct err *err)
{
	int closed = remounted ? machine_remount(remounted, false, r < 0 ? NULL : err) : 0;

	return r < 0 ? r : closed;
}

/* Makes the file system of /etc, the root or another, writable. */
static int open_etc(const struct root *root, struct place *etc, char **ret_remounted,
		    struct err *err)
{
	const struct fstab none = {0};
	int r = place_open(root, &none, "/etc", true, etc, err);

	if (r < 0)
		return r;
	place_name(root, etc);
	if (machine_boots_from(root) && etc->fstype && streq(etc->fstype, "tmpfs"))
		return err_set(err, -EOPNOTSUPP, "/etc is on a tmpfs, which does not last");
	return place_make_writable(root, etc, ret_remounted, err);
}

static int write_file(const struct root *root, const char *text, struct err *err)
{
	cleanup_place struct place etc = {.fd = -1};
	cleanup_free char *remounted = NULL;
	int r = open_etc(root, &etc, &remounted, err);

	if (r == 0)
		r = machine_write_file(root, WITNESS_FILE, text, 0644, err);
	return close_etc(remounted, r, err);
}

static int remove_file(const struct root *root, struct err *err)
{
	cleanup_place struct place etc = {.fd = -1};
	cleanup_free char *remounted = NULL;
	int r = open_etc(root, &etc, &remounted, err);

	if (r == 0)
		r = machine_remove_file(root, WITNESS_FILE, err);
	return close_etc(remounted, r, err);
}

static int write_both(const struct root *root, const char *text, struct err *err)
{
	struct err of_variable = {0}, of_file = {0};
	int variable = machine_efi_write(root, WITNESS_VARIABLE, text, strlen(text), &of_variable);
	int file = write_file(root, text, &of_file);

	if (variable == 0 || file == 0)
		return 0;
	return err_set(err, file,
		       "railhead can't count its reboots (%s; %s), and so does not reboot: "
		       "make " WITNESS_FILE " writable, or reboot the node yourself",
		       of_file.text, of_variable.text);
}

int witness_count(const struct root *root, struct err *err)
{
	cleanup_witness struct witness w = {0};
	cleanup_free char *text = NULL, *why = NULL;
	char boot_id[37];

	witness_read(root, &w);
	if (w.of_this_boot)
		return 0;
	why = witness_why_held(&w);
	if (why)
		return err_set(err, -EDQUOT, "%s", why);
	state_boot_id(root, boot_id);
	text = render(w.reboots + 1, boot_id);
	return write_both(root, text, err);
}

int witness_set_back(const struct root *root, unsigned int *ret_were, struct err *err)
{
	cleanup_witness struct witness w = {0};
	struct err later = {0};
	int r, s;

	witness_read(root, &w);
	if (ret_were)
		*ret_were = w.lost ? 0 : w.reboots;
	if (!w.reboots)
		return 0;
	r = machine_efi_remove(root, WITNESS_VARIABLE, err);
	s = root_exists(root, WITNESS_FILE) ? remove_file(root, r < 0 ? &later : err) : 0;
	return r < 0 ? r : s < 0 ? s : 1;
}
