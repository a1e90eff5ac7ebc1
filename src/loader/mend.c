/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loader/mend.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "loader/bls.h"
#include "loader/bootpart.h"
#include "loader/grub.h"
#include "loader/place.h"
#include "sys/machine.h"
#include "sys/read.h"

struct mending {
	const struct root *root;
	int dir; /* directory of the entries */
	enum mend_goal goal;
	bool write;
	bool due; /* a file must be written */
	bool have_env;
	struct boot_env env;
	char env_why[ERR_TEXT_MAX]; /* when !have_env */
	char *kernelopts;
	struct mend_report *report;
};

static void __attribute__((format(printf, 4, 5)))
note(struct mending *m, const char *name, bool refused, const char *fmt, ...)
{
	struct mend_note n = {.path = xasprintf("/boot/" BLS_DIR "/%s", name), .refused = refused};
	va_list ap;

	va_start(ap, fmt);
	n.text = xvasprintf(fmt, ap);
	va_end(ap);
	vec_push(m->report, n);
}

void mend_report_free(struct mend_report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->v[i].path);
		free(r->v[i].text);
	}
	vec_free(r);
	free(r->none);
	*r = (struct mend_report){0};
}

/* --- one entry -------------------------------------------------------------------------------- */

/* NULL, after a note, if the entry can't be mended. */
static char *read_entry(struct mending *m, const char *name)
{
	cleanup_close int fd = root_open_at(m->dir, name, O_RDONLY | O_NOFOLLOW);
	cleanup_free char *text = NULL;
	size_t len = 0;
	int r;

	/* A new file in its place would leave the link's target as it is. */
	if (fd == -ELOOP) {
		note(m, name, true, "is a symbolic link: mend the file that it leads to by hand");
		return NULL;
	}
	if (fd == -EBADFD || fd == -EISDIR) {
		note(m, name, false, "is not a regular file: left unchanged");
		return NULL;
	}
	if (fd < 0) {
		note(m, name, true, "can't be read: %s", err_text(fd));
		return NULL;
	}
	r = read_fd(fd, BLS_FILE_MAX, &text, &len);
	if (r < 0) {
		note(m, name, true, "can't be read: %s", err_text(r));
		return NULL;
	}
	if (text && strlen(text) != len) {
		note(m, name, true, "has a zero byte, so it is not text: write the file again");
		return NULL;
	}
	return text ? take_ptr(text) : xstrdup("");
}

static void say_what(struct mending *m, const char *name, const struct bls_mended *done)
{
	cleanup_str struct str text = {0};

	if (*done->taken)
		str_addf(&text, "took out '%s'", done->taken);
	if (done->added)
		str_addf(&text, "%sadded $" ENV_VAR_KARGS, text.len ? ", " : "");
	if (done->unknown)
		str_addf(&text,
			 "; railhead can't tell which other arguments it gave (%s): check that "
			 "none of them are left",
			 m->have_env ? "the slot does not exist" : m->env_why);
	note(m, name, false, "%s", str_get(&text));
}

/* Notes why an entry stays unchanged although it may be wrong. */
static void say_why_not(struct mending *m, const char *name, const char *text)
{
	bool clear = m->goal == MEND_CLEAR;

	switch (bls_judge(text, m->kernelopts)) {
	case BLS_TAKES:
		/* GRUB expands the unset variable in $kernelopts to nothing. */
		if (!clear || bls_judge(text, NULL) != BLS_TAKES)
			return;
		break;
	case BLS_NO_OPTIONS:
		if (clear)
			return;
		note(m, name, false,
		     "has no options line (before the first empty line): left alone, since a new "
		     "one would hide $default_kernelopts from GRUB");
		return;
	case BLS_FLAT_KERNELOPTS:
		note(m, name, true,
		     "takes $kernelopts, which has railhead's arguments as text (" ENV_ARG_SLOT
		     "): take them out with grub2-editenv - set kernelopts=\"...\"");
		return;
	case BLS_LACKS:
		if (clear)
			return;
		break;
	case BLS_FLAT:
		break;
	}
	note(m, name, true, "has an options line with an open quote: mend it by hand");
}

static bool mend_text(const struct mending *m, const char *text, struct bls_mended *ret)
{
	const struct boot_env *env = m->have_env ? &m->env : NULL;

	if (m->goal == MEND_CLEAR)
		return bls_clear(text, env, ret);
	return bls_mend(text, env, m->kernelopts, ret);
}

static int mend_entry(struct mending *m, const char *name, struct err *err)
{
	cleanup_bls_mended struct bls_mended done = {0};
	cleanup_free char *text = read_entry(m, name);
	int r;

	if (!text)
		return 0;
	if (!bls_is_grub(text)) {
		m->report->others++;
		return 0;
	}
	m->report->entries++;
	if (!mend_text(m, text, &done)) {
		say_why_not(m, name, text);
		return 0;
	}
	m->due = true;
	if (m->write) {
		r = machine_create_durable(m->root, m->dir, name, done.text, strlen(done.text),
					   err);
		if (r < 0)
			return err_wrap(err, "/boot/" BLS_DIR);
	}
	say_what(m, name, &done);
	return 0;
}

static int mend_all(struct mending *m, struct err *err)
{
	cleanup_strv struct strv names = {0};
	int r = read_dir_at(m->dir, ".", &names);

	if (r < 0)
		return err_errno(err, r, "/boot/" BLS_DIR);
	for (size_t i = 0; i < names.n && r == 0; i++)
		if (bls_counts(names.v[i]))
			r = mend_entry(m, names.v[i], err);
	return r;
}

/* --- the place of the entries ----------------------------------------------------------------- */

/*
 * Reads the args of the slots. Closes the partition before /boot is opened, because they may be the
 * same.
 */
static void read_env(const struct root *root, struct mending *m)
{
	struct bootpart part;
	struct err err = {0};
	int r = bootpart_open(root, false, &part, &err);

	if (r == 0) {
		r = env_read(part.dirfd, &m->env, &err);
		if (r == -ENOENT)
			err_set(&err, r, "there is no %s", ENV_FILE_NAME);
		bootpart_close(&part, NULL);
	}
	m->have_env = r >= 0;
	snprintf(m->env_why, sizeof(m->env_why), "%s", err.text);
}

static void __attribute__((format(printf, 2, 3))) none(struct mending *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	m->report->none = xvasprintf(fmt, ap);
	va_end(ap);
}

static int mend_boot(const struct root *root, struct mending *m, struct err *err)
{
	cleanup_fstab struct fstab t = {0};
	cleanup_place struct place boot = {.fd = -1};
	cleanup_grub_config struct grub_config config = {0};
	cleanup_free char *remounted = NULL;
	int r = fstab_read(root, &t, err), closed;

	if (r == 0)
		r = place_open(root, &t, "/boot", m->write, &boot, err);
	if (r < 0)
		return r;
	m->dir = root_open_at(boot.fd, BLS_DIR, O_RDONLY | O_DIRECTORY);
	if (m->dir < 0 && m->dir != -ENOENT)
		return err_errno(err, m->dir, "/boot/" BLS_DIR);
	if (m->dir < 0) {
		none(m, "there is no /boot/" BLS_DIR ": no menu entries to mend");
		return 0;
	}
	if (m->write)
		r = place_make_writable(root, &boot, &remounted, err);
	if (r == 0) {
		grub_config_read(boot.fd, &config);
		m->kernelopts = grub_kernelopts(&config);
		r = mend_all(m, err);
		free(take_ptr(m->kernelopts));
	}
	close(m->dir);
	closed = remounted ? machine_remount(remounted, false, r < 0 ? NULL : err) : 0;
	return r < 0 ? r : closed;
}

int mend_entries(const struct root *root, enum mend_goal goal, struct mend_report *ret,
		 struct err *err)
{
	struct mending m = {.root = root, .dir = -1, .goal = goal, .report = ret};
	int r;

	*ret = (struct mend_report){0};
	if (root_exists(root, "run/ostree-booted") || root_exists(root, "ostree/repo")) {
		none(&m, "this is an ostree or bootc system, which writes its own menu entries: "
			 "put the output of `railhead kargs --format=bootc` into a file of the "
			 "image's /usr/lib/bootc/kargs.d");
		return 0;
	}
	if (!root_exists(root, "boot")) {
		none(&m, "there is no /boot: no menu entries to mend");
		return 0;
	}
	read_env(root, &m);
	/* Look first, because /boot must be writable only if an entry needs mending. */
	r = mend_boot(root, &m, err);
	if (r < 0 || !m.due)
		return r;
	mend_report_free(ret);
	m.write = true;
	return mend_boot(root, &m, err);
}
