/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loader/grub.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kargs/env_layout.h"
#include "loader/booted.h"
#include "loader/esp.h"
#include "sys/read.h"

enum { GRUB_CFG_MAX = 4 << 20, GRUBENV_MAX = 65536 };

/* --- lines of grub.cfg ------------------------------------------------------------------------ */

/* The next line of *text, without the blanks before it; false at the end. */
static bool next_line(const char **text, const char **line, size_t *len)
{
	const char *p = *text;
	const char *end;

	if (!*p)
		return false;
	end = strchrnul(p, '\n');
	*text = *end ? end + 1 : end;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	*line = p;
	*len = (size_t)(end - p);
	return true;
}

static bool line_starts(const char *line, size_t len, const char *word)
{
	size_t n = strlen(word);

	return len >= n && memcmp(line, word, n) == 0 &&
	       (len == n || line[n] == ' ' || line[n] == '\t');
}

static bool line_has(const char *line, size_t len, const char *text)
{
	return memmem(line, len, text, strlen(text)) != NULL;
}

/*
 * Finds $NAME or ${NAME} as GRUB's script reads it: names are as long as possible, '\' hides the
 * '$'.
 */
static bool has_variable(const char *line, size_t len, const char *name)
{
	const char *end = line + len, *p = line;

	while ((p = memchr(p, '$', (size_t)(end - p)))) {
		bool hidden = p > line && p[-1] == '\\';
		bool braced = ++p < end && *p == '{';
		size_t n = 0;

		p += braced;
		while (p + n < end && (isalnum((unsigned char)p[n]) || p[n] == '_'))
			n++;
		if (!hidden && n == strlen(name) && memcmp(p, name, n) == 0)
			return true;
	}
	return false;
}

static bool is_linux(const char *line, size_t len)
{
	return line_starts(line, len, "linux") || line_starts(line, len, "linuxefi") ||
	       line_starts(line, len, "linux16");
}

struct cfg_facts {
	bool loads, exports, blscfg, on_line, uuid;
	bool defaults;	   /* it sets a default entry */
	bool saved;	   /* ... to the entry that grubenv names */
	bool default_opts; /* $default_kernelopts has the variable */
	unsigned int flat; /* number of a `linux` line with our arguments as text */
};

static void read_linux(const char *line, size_t len, unsigned int number, struct cfg_facts *f)
{
	cleanup_free char *text = xstrndup(line, len);

	f->on_line |= has_variable(line, len, ENV_VAR_KARGS);
	if (!f->flat && bls_judge_options(text, NULL) == BLS_FLAT)
		f->flat = number;
}

static void read_cfg(const char *cfg, const char *esp_uuid, struct cfg_facts *f)
{
	const char *line;
	unsigned int number = 0;
	size_t len;

	while (next_line(&cfg, &line, &len)) {
		bool sets = line_starts(line, len, "set");

		number++;
		if (len > 0 && *line == '#')
			continue;
		f->loads |= line_has(line, len, ENV_FILE_NAME);
		f->exports |=
			line_starts(line, len, "export") && line_has(line, len, ENV_VAR_KARGS);
		f->blscfg |= line_starts(line, len, "blscfg");
		f->uuid |= esp_uuid && line_has(line, len, "railhead_esp=") &&
			   line_has(line, len, esp_uuid);
		f->defaults |= sets && line_has(line, len, " default=");
		f->saved |= sets && line_has(line, len, " default=") &&
			    has_variable(line, len, "saved_entry");
		f->default_opts |= sets && line_has(line, len, " default_kernelopts=") &&
				   has_variable(line, len, ENV_VAR_KARGS);
		if (is_linux(line, len))
			read_linux(line, len, number, f);
	}
}

/* --- GRUB's own environment ------------------------------------------------------------------- */

/* A value of an environment block (grub-core/lib/envblk.c); NULL if absent. */
static char *env_value(const char *env, const char *name)
{
	size_t n = strlen(name);
	struct str value = {0};
	const char *line;
	size_t len;

	while (env && next_line(&env, &line, &len)) {
		if (len <= n || memcmp(line, name, n) != 0 || line[n] != '=')
			continue;
		str_add(&value, "");
		for (const char *p = line + n + 1; p < line + len; p++) {
			p += *p == '\\' && p + 1 < line + len;
			str_addn(&value, p, 1);
		}
		return str_take(&value);
	}
	return NULL;
}

/*
 * The value that the first line beginning with `set` ("set x=") gives the variable; NULL if there
 * is none.
 */
static char *set_value(const char *cfg, const char *set)
{
	const char *line;
	size_t len;

	while (cfg && next_line(&cfg, &line, &len)) {
		if (len < strlen(set) || memcmp(line, set, strlen(set)) != 0)
			continue;
		line += strlen(set);
		len -= strlen(set);
		if (len > 1 && *line == '"' && line[len - 1] == '"') {
			line++;
			len -= 2;
		}
		return xstrndup(line, len);
	}
	return NULL;
}

char *grub_kernelopts(const struct grub_config *c)
{
	char *value = env_value(c->env, "kernelopts");

	if (value && *value)
		return value;
	free(value);
	return set_value(c->cfg, "set kernelopts=");
}

char *grub_installation(const struct grub_config *c)
{
	static const char known[] =
		"0123456789-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	cleanup_free char *value = set_value(c->cfg, "set railhead_installation=");

	return value && *value && !value[strspn(value, known)] ? take_ptr(value) : NULL;
}

/*
 * The entry that boots next, if grubenv names it by its file, as Fedora's and RHEL's tools do.
 * Numbers and titles are not looked up: NULL, as when grubenv names no entry.
 */
static const struct bls_entry *default_entry(const struct grub_config *c, const struct cfg_facts *f)
{
	cleanup_free char *next = env_value(c->env, "next_entry");
	cleanup_free char *saved = env_value(c->env, "saved_entry");
	const char *id = next && *next ? next : saved;

	/* saved_entry is a leftover where grub.cfg names its default itself */
	if (!id || (id == saved && f->defaults && !f->saved))
		return NULL;
	for (size_t i = 0; i < c->entries.n; i++) {
		const char *name = c->entries.v[i].name;

		if (strlen(name) == strlen(id) + strlen(".conf") && str_starts(name, id))
			return &c->entries.v[i];
	}
	return NULL;
}

/* --- judging ---------------------------------------------------------------------------------- */

#define MEND "run `railhead kargs --mend`"

static int check_entry(const struct bls_entry *e, bool boots, const char *kernelopts,
		       const struct cfg_facts *f, struct err *err)
{
	const char *which = boots ? "which GRUB boots by default, " : "";
	const char *remedy = !e->text ? "" : bls_is_grub(e->text) ? MEND : "edit its options line";
	enum bls_state state = e->text ? bls_judge(e->text, kernelopts) : BLS_LACKS;

	if (!e->text)
		return err_set(err, -ESTALE,
			       "the menu entry /boot/loader/entries/%s can't be read: check the "
			       "file, and remove it if it is not a menu entry",
			       e->name);
	switch (state) {
	case BLS_TAKES:
		return 0;
	case BLS_FLAT:
		return err_set(
			err, -ESTALE,
			"the menu entry /boot/loader/entries/%s, %shas railhead's arguments as "
			"text (" ENV_ARG_SLOT "): grubby or kernel-install copied them from a "
			"boot's command line; %s",
			e->name, which, remedy);
	case BLS_FLAT_KERNELOPTS:
		return err_set(err, -ESTALE,
			       "the variable kernelopts, which the menu entry "
			       "/boot/loader/entries/%s uses, has "
			       "railhead's arguments as text (" ENV_ARG_SLOT
			       "): take them out with "
			       "grub2-editenv - set kernelopts=\"...\"",
			       e->name);
	case BLS_NO_OPTIONS:
		if (f->default_opts)
			return 0;
		remedy = "write one, with all arguments that the kernel needs";
		break;
	case BLS_LACKS:
		break;
	}
	return err_set(err, -ESTALE,
		       "the menu entry /boot/loader/entries/%s, %shas no $" ENV_VAR_KARGS "%s: %s",
		       e->name, which,
		       state == BLS_NO_OPTIONS ? ", nor an options line before the first empty line"
					       : "",
		       remedy);
}

static int check_entries(const struct grub_config *c, const struct cfg_facts *f, struct err *err)
{
	cleanup_free char *kernelopts = grub_kernelopts(c);
	const struct bls_entry *boots = default_entry(c, f);

	if (boots)
		return check_entry(boots, true, kernelopts, f, err);
	for (size_t i = 0; i < c->entries.n; i++) {
		int r = check_entry(&c->entries.v[i], false, kernelopts, f, err);

		if (r < 0)
			return r;
	}
	return 0;
}

int grub_cfg_check(const struct grub_config *c, const char *esp_uuid, struct err *err)
{
	struct cfg_facts f = {0};
	cleanup_free char *remedy =
		c->path && !(c->dir && streq(c->dir, "grub"))
			? xasprintf("run grub2-mkconfig -o %s", c->path)
			: xstrdup("run update-grub (grub-mkconfig -o /boot/grub/grub.cfg)");

	read_cfg(c->cfg, esp_uuid, &f);
	if (!f.loads || !f.exports)
		return err_set(err, -ENOENT,
			       "grub.cfg does not read %s: %s after /etc/grub.d/05_railhead is "
			       "installed",
			       ENV_FILE_NAME, remedy);
	if (esp_uuid && !f.uuid)
		return err_set(err, -ENOENT,
			       "grub.cfg does not look for %s on the EFI system partition %s: %s "
			       "while it is mounted",
			       ENV_FILE_NAME, esp_uuid, remedy);
	if (f.blscfg && c->entries.n)
		return check_entries(c, &f, err);
	if (f.flat)
		return err_set(
			err, -ESTALE,
			"a menu entry of grub.cfg (line %u) has railhead's arguments as text "
			"(" ENV_ARG_SLOT "): take them out of GRUB_CMDLINE_LINUX in "
			"/etc/default/grub, then %s",
			f.flat, remedy);
	if (!f.on_line && f.blscfg)
		return err_set(err, -ESTALE,
			       "/boot/loader/entries has no menu entry other than rescue entries, "
			       "and no entry of grub.cfg ends in $" ENV_VAR_KARGS
			       ": install a kernel, then " MEND);
	if (!f.on_line)
		return err_set(err, -ESTALE,
			       "no menu entry of GRUB ends in $" ENV_VAR_KARGS ": %s with "
			       "/etc/default/grub.d/railhead.cfg in place",
			       remedy);
	return 0;
}

int grub_config_check(const struct root *root, const struct grub_config *c, const char *esp_uuid,
		      struct err *err)
{
	int r = booted_check(root, err);

	if (r < 0)
		return r;
	if (c->trouble)
		return err_set(err, -ENOENT, "%s", c->trouble);
	if (!c->cfg)
		return err_set(
			err, -ENOENT,
			"there is no grub.cfg in /boot/grub or /boot/grub2, nor in EFI/* of "
			"the EFI system partition; where the network boots this machine, give the "
			"output of `railhead kargs --format=line` to the boot server");
	return grub_cfg_check(c, esp_uuid, err);
}

bool grub_reads(const char *fstype)
{
	static const char *const known[] = {"ext2", "ext3", "ext4", "xfs", "vfat", "btrfs"};

	for (size_t i = 0; fstype && i < array_len(known); i++)
		if (streq(fstype, known[i]))
			return true;
	return false;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* "grub" or "grub2" below /boot, the first that has a grub.cfg; NULL if neither has one. */
static const char *grub_dir(int boot)
{
	if (faccessat(boot, "grub/grub.cfg", F_OK, 0) == 0)
		return "grub";
	if (faccessat(boot, "grub2/grub.cfg", F_OK, 0) == 0)
		return "grub2";
	return NULL;
}

void grub_config_read(int boot, struct grub_config *ret)
{
	cleanup_free char *cfg = NULL, *env = NULL;

	ret->dir = grub_dir(boot);
	if (ret->dir) {
		cfg = xasprintf("%s/grub.cfg", ret->dir);
		ret->cfg = read_at(boot, cfg, GRUB_CFG_MAX);
		ret->path = xasprintf("/boot/%s", cfg);
	}
	env = xasprintf("%s/grubenv", ret->dir ? ret->dir : "grub2");
	ret->env = read_at(boot, env, GRUBENV_MAX);
	bls_read(boot, &ret->entries);
}

/* An empty file, or a file without entries that only leads GRUB to the real one. */
static bool is_stub(const char *cfg)
{
	const char *line;
	bool leads = !*cfg;
	size_t len;

	while (next_line(&cfg, &line, &len)) {
		leads |= line_starts(line, len, "configfile");
		if (line_starts(line, len, "blscfg") || line_starts(line, len, "menuentry") ||
		    is_linux(line, len))
			return false;
	}
	return leads;
}

/* Takes EFI/VENDOR/grub.cfg, unless it is a stub; false if a different one was taken before. */
static bool take_vendor(int esp, const char *vendor, struct grub_config *c, char **name)
{
	cleanup_free char *path = xasprintf("EFI/%s/grub.cfg", vendor);
	cleanup_free char *cfg = read_at(esp, path, GRUB_CFG_MAX);
	cleanup_free char *env = xasprintf("EFI/%s/grubenv", vendor);

	if (!cfg || is_stub(cfg))
		return true;
	if (c->cfg)
		return streq(c->cfg, cfg);
	c->cfg = take_ptr(cfg);
	*name = take_ptr(path);
	if (!c->env)
		c->env = read_at(esp, env, GRUBENV_MAX);
	return true;
}

void grub_config_read_esp(int esp, const char *at, struct grub_config *c)
{
	cleanup_strv struct strv vendors = {0};
	cleanup_free char *name = NULL;

	if (c->cfg)
		return;
	esp_vendors(esp, &vendors);
	for (size_t i = 0; i < vendors.n; i++) {
		if (take_vendor(esp, vendors.v[i], c, &name))
			continue;
		c->trouble = xasprintf("%s and EFI/%s/grub.cfg of the EFI system partition differ, "
				       "and railhead can't tell which of them GRUB reads: remove "
				       "the file that GRUB does not read",
				       name, vendors.v[i]);
		free(take_ptr(c->cfg));
		return;
	}
	if (c->cfg)
		c->path = xasprintf("%s/%s", at, name);
}

/* --- trees ------------------------------------------------------------------------------------ */

const char *grub_home(const struct root *root)
{
	if (root_exists(root, "/boot/grub2") || root_exists(root, "/usr/sbin/grub2-mkconfig") ||
	    root_exists(root, "/usr/bin/grub2-mkconfig"))
		return "/boot/grub2";
	if (root_exists(root, "/boot/grub") || root_exists(root, "/usr/sbin/grub-mkconfig") ||
	    root_exists(root, "/usr/bin/grub-mkconfig"))
		return "/boot/grub";
	return NULL;
}

bool grub_parses_value(const struct grub_config *c)
{
	struct cfg_facts f = {0};

	if (c->cfg)
		read_cfg(c->cfg, NULL, &f);
	return f.blscfg;
}

static void read_tree(const struct root *root, struct grub_config *ret)
{
	static const char *const esp[] = {"/boot/efi", "/efi", "/boot"};
	cleanup_close int boot = root_open(root, O_RDONLY | O_DIRECTORY, NULL, "/boot");

	if (boot >= 0)
		grub_config_read(boot, ret);
	for (size_t i = 0; i < array_len(esp); i++) {
		cleanup_close int fd = root_open(root, O_RDONLY | O_DIRECTORY, NULL, "%s", esp[i]);

		if (fd >= 0)
			grub_config_read_esp(fd, esp[i], ret);
	}
}

bool grub_tree_parses_value(const struct root *root)
{
	cleanup_grub_config struct grub_config config = {0};
	const char *home = grub_home(root);

	read_tree(root, &config);
	return config.cfg ? grub_parses_value(&config) : home && streq(home, "/boot/grub2");
}

void grub_config_free(struct grub_config *c)
{
	free(c->path);
	free(c->cfg);
	free(c->env);
	free(c->trouble);
	bls_free(&c->entries);
}
