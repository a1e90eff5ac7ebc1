/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the place from which the kernel of an image gets its arguments, and writes them there. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "bake/bake.h"
#include "base/mem.h"
#include "loader/env.h"
#include "loader/grub.h"
#include "sys/read.h"

#define SNIPPET "/etc/grub.d/05_railhead"
#define BOOTC_FILE "/usr/lib/bootc/kargs.d/10-railhead.toml"

enum { ENV_READ_MAX = 64 << 10 };

static bool any_exists(const struct root *root, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (root_exists(root, "%s", paths[i]))
			return true;
	return false;
}

/* These paths exist only in trees that bootc or rpm-ostree deploy. */
static bool is_bootc(const struct root *root)
{
	static const char *const marks[] = {"/usr/lib/bootc", "/usr/bin/bootc",
					    "/usr/bin/rpm-ostree", "/ostree/repo",
					    "/sysroot/ostree"};

	return any_exists(root, marks, array_len(marks));
}

/* --- railhead.env --------------------------------------------------------------------------- */

static bool holds(const struct boot_env *env, const struct kargs *wanted)
{
	struct kargs have cleanup_kargs = {0};

	kargs_split(&have, env_slot(env, env->good), NULL);
	return env->good != ENV_NONE && env->try_ == ENV_NONE && kargs_same(&have, wanted);
}

int bake_env(const char *current, const struct kargs *wanted, char **ret, struct err *err)
{
	cleanup_free char *line = kargs_line(wanted);
	struct boot_env env;
	char text[ENV_SIZE];
	int r = kargs_check(wanted, err);

	if (r < 0)
		return r;

	env_init(&env);
	if (current && *current)
		r = env_parse(current, strlen(current), &env, err);
	if (r < 0)
		return r;
	if (!wanted->n)
		env_init(&env);
	if (!holds(&env, wanted)) {
		env.good = env_free_slot(&env);
		env_set_slot(&env, env.good, line);
		env.try_ = ENV_NONE;
		/*
		 * The file counts one begun boot with these args already: if the first real boot
		 * has no verdict, GRUB leaves the args out of the next one. The args are not armed
		 * as a trial, because a trial's args would not arrive where GRUB can't write.
		 */
		env.begun = wanted->n ? '1' : ENV_NONE;
	}
	env_render(&env, text);
	*ret = xstrndup(text, sizeof(text));
	return 0;
}

static int want_env(struct bake *b, const char *dir, const struct kargs *wanted, struct err *err)
{
	cleanup_free char *path = xasprintf("%s/" ENV_FILE_NAME, dir), *current = NULL;
	const struct kargs none = {0};
	struct bake_item *it;
	char *text = NULL;
	int r = read_file(b->root, ENV_READ_MAX, &current, NULL, err, path);

	if (r < 0 && r != -ENOENT)
		return r;
	if (r == 0 && !wanted)
		return 0;
	r = bake_env(current, wanted ? wanted : &none, &text, err);
	if (r == -EBADMSG)
		return err_set(err, r,
			       "%s is damaged, or another program wrote it: remove the file and "
			       "bake again",
			       path);
	if (r < 0)
		return r;
	it = bake_want(b, take_ptr(path), text,
		       xstrdup(wanted && wanted->n ? "GRUB passes the kernel arguments"
						   : "GRUB passes no arguments of railhead's yet"));
	it->takes_over = it->kernel_args = true;
	return 0;
}

/*
 * The BIOS file goes next to grub.cfg, and a second one on the EFI system partition, if that is
 * mounted in the tree: the same image may be booted either way, and GRUB reads the file for its way
 * (dracut/grub.d/05_railhead.in).
 */
static int want_envs(struct bake *b, const char *home, const struct kargs *wanted, struct err *err)
{
	static const char *const efi[] = {"/usr/lib/grub/x86_64-efi", "/usr/lib/grub/arm64-efi"};
	static const char *const esp[] = {"/boot/efi", "/efi"};
	bool found = false;
	int r = want_env(b, home, wanted, err);

	for (size_t i = 0; i < array_len(esp) && r == 0 && !found; i++) {
		cleanup_free char *dir = xasprintf("%s/EFI/railhead", esp[i]);

		found = root_exists(b->root, "%s/EFI", esp[i]);
		if (found)
			r = want_env(b, dir, wanted, err);
	}
	if (r == 0 && !found && wanted && any_exists(b->root, efi, array_len(efi)))
		bake_warn(b, "this tree has GRUB for EFI, and no EFI system partition: mount the "
			     "partition at /boot/efi of the tree and bake again, or a machine that "
			     "boots with "
			     "EFI reboots once for its arguments");
	return r;
}

/* --- missing parts of GRUB -------------------------------------------------------------------- */

static void judge_grub(struct bake *b)
{
	cleanup_grub_config struct grub_config config = {0};
	cleanup_close int boot = root_open(b->root, O_RDONLY | O_DIRECTORY, NULL, "/boot");
	struct err err = {0};

	if (boot >= 0)
		grub_config_read(boot, &config);
	if (!config.cfg)
		bake_warn(b, "there is no grub.cfg in /boot yet: it must be made with railhead "
			     "in the tree (update-grub, grub2-mkconfig), or the arguments do not "
			     "arrive");
	else if (grub_cfg_check(&config, NULL, &err) < 0)
		bake_warn(b, "%s", err.text);
}

static int want_grub(struct bake *b, const char *home, const struct kargs *wanted, struct err *err)
{
	b->loader = BAKE_GRUB;
	judge_grub(b);
	return want_envs(b, home, wanted, err);
}

/* --- bootc ---------------------------------------------------------------------------------- */

static int want_bootc(struct bake *b, const struct kargs *wanted, const struct karg_heading *h,
		      struct err *err)
{
	struct str text = {0};
	int r;

	b->loader = BAKE_BOOTC;
	if (!wanted || !wanted->n)
		return 0;
	r = kargs_format(wanted, KARG_FORMAT_BOOTC, h, &text, err);
	if (r == 0)
		bake_want(b, xstrdup(BOOTC_FILE), bake_mark(str_get(&text)),
			  xstrdup("bootc passes the kernel arguments"))
			->kernel_args = true;
	str_free(&text);
	return r;
}

int bake_check_kargs(const struct bake *b, const struct kargs *wanted, struct err *err)
{
	int r = kargs_check(wanted, err);

	return r == 0 && grub_tree_parses_value(b->root) ? kargs_check_parsed(wanted, err) : r;
}

int bake_kargs(struct bake *b, const struct kargs *wanted, const struct karg_heading *h,
	       struct err *err)
{
	const char *home = grub_home(b->root);

	if (is_bootc(b->root))
		return want_bootc(b, wanted, h, err);
	if (home && root_exists(b->root, SNIPPET))
		return want_grub(b, home, wanted, err);
	b->loader = BAKE_OTHER;
	if (home)
		bake_warn(b, "this tree has GRUB without " SNIPPET
			     ", so GRUB does not read " ENV_FILE_NAME
			     "; install railhead in the tree, run update-grub (grub2-mkconfig), "
			     "and bake again");
	return 0;
}

/* --- undo ------------------------------------------------------------------------------------ */

/* A file that can't be read as railhead's is somebody else's. */
static int want_empty_env(struct bake *b, const char *path, struct err *err)
{
	cleanup_free char *current = NULL, *text = NULL;
	const struct kargs none = {0};
	int r = read_file(b->root, ENV_READ_MAX, &current, NULL, err, path);

	if (r == 0)
		r = bake_env(or_empty(current), &none, &text, err);
	if (r == -ENOENT || r == -EBADMSG || (r == 0 && streq(or_empty(current), text)))
		return 0;
	if (r < 0)
		return r;
	bake_want(b, xstrdup(path), take_ptr(text),
		  xstrdup("GRUB passes no arguments of railhead's"))
		->takes_over = true;
	return 0;
}

int bake_undo_kargs(struct bake *b, struct err *err)
{
	static const char *const envs[] = {
		"/boot/grub/" ENV_FILE_NAME, "/boot/grub2/" ENV_FILE_NAME,
		"/boot/efi/EFI/railhead/" ENV_FILE_NAME, "/efi/EFI/railhead/" ENV_FILE_NAME};
	int r = 0;

	for (size_t i = 0; i < array_len(envs) && r == 0; i++)
		r = want_empty_env(b, envs[i], err);
	if (r == 0)
		r = bake_apply(b, err);
	/* those without the mark stay: what a killed run has left goes */
	for (size_t i = 0; i < array_len(envs) && r == 0; i++)
		r = bake_undo(b, envs[i], err);
	return r < 0 ? r : bake_undo(b, BOOTC_FILE, err);
}
