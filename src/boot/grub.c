/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/grub.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/env_layout.h"
#include "sys/read.h"

enum { GRUB_CFG_MAX = 4 << 20 };

#define REMEDY_UPDATE_GRUB "run update-grub (grub2-mkconfig -o /boot/grub2/grub.cfg)"

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

	return len > n && memcmp(line, word, n) == 0 && (line[n] == ' ' || line[n] == '\t');
}

static bool line_has(const char *line, size_t len, const char *text)
{
	return memmem(line, len, text, strlen(text)) != NULL;
}

static bool has_variable(const char *line, size_t len)
{
	return line_has(line, len, "$" ENV_VAR_KARGS) || line_has(line, len, "${" ENV_VAR_KARGS);
}

struct cfg_facts {
	bool loads, exports, blscfg, on_line, uuid;
	int linux_lines;
};

static void read_cfg(const char *cfg, const char *esp_uuid, struct cfg_facts *f)
{
	const char *line;
	size_t len;

	while (next_line(&cfg, &line, &len)) {
		if (len > 0 && *line == '#')
			continue;
		f->loads |= line_has(line, len, ENV_FILE_NAME);
		f->exports |=
			line_starts(line, len, "export") && line_has(line, len, ENV_VAR_KARGS);
		f->blscfg |= line_starts(line, len, "blscfg") ||
			     (len == 6 && memcmp(line, "blscfg", 6) == 0);
		f->uuid |= esp_uuid && line_has(line, len, "railhead_esp=") &&
			   line_has(line, len, esp_uuid);
		if (line_starts(line, len, "linux") || line_starts(line, len, "linuxefi") ||
		    line_starts(line, len, "linux16")) {
			f->linux_lines++;
			f->on_line |= has_variable(line, len);
		}
	}
}

int grub_cfg_check(const char *grub_cfg, const char *bls_options, const char *esp_uuid,
		   struct err *err)
{
	struct cfg_facts f = {0};
	bool bls;

	read_cfg(grub_cfg, esp_uuid, &f);
	if (!f.loads || !f.exports)
		return err_set(err, -ENOENT,
			       "grub.cfg does not read %s: %s after /etc/grub.d/05_railhead is "
			       "installed",
			       ENV_FILE_NAME, REMEDY_UPDATE_GRUB);
	bls = f.blscfg && bls_options && *bls_options;
	if (bls ? !has_variable(bls_options, strlen(bls_options)) : !f.on_line)
		return err_set(err, -ENOENT, "no menu entry of GRUB ends in $%s: %s", ENV_VAR_KARGS,
			       bls ? "run grubby --update-kernel=ALL --args='$" ENV_VAR_KARGS "'"
				   : REMEDY_UPDATE_GRUB
				       " with /etc/default/grub.d/railhead.cfg in place");
	if (esp_uuid && !f.uuid)
		return err_set(err, -ENOENT,
			       "grub.cfg does not look for %s on the EFI system partition %s: %s "
			       "while it is mounted",
			       ENV_FILE_NAME, esp_uuid, REMEDY_UPDATE_GRUB);
	return 0;
}

/* "grub" or "grub2" below /boot, whichever has a grub.cfg; NULL if neither. */
static const char *grub_dir(int boot)
{
	if (faccessat(boot, "grub/grub.cfg", F_OK, 0) == 0)
		return "grub";
	if (faccessat(boot, "grub2/grub.cfg", F_OK, 0) == 0)
		return "grub2";
	return NULL;
}

static char *read_at(int dir, const char *name)
{
	cleanup_close int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = NULL;

	if (fd < 0 || read_fd(fd, GRUB_CFG_MAX, &text, NULL) < 0)
		return NULL;
	return text ? text : xstrdup("");
}

static bool is_entry(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && streq(name + n - 5, ".conf") && !strstr(name, "rescue");
}

/* The options lines of the boot loader specification's entries, rescue entries left out. */
static char *bls_options(int boot)
{
	cleanup_closedir DIR *dir = NULL;
	struct str all = {0};
	struct dirent *e;
	int fd = openat(boot, "loader/entries", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	dir = fdopendir(fd);
	while (dir && (e = readdir(dir))) {
		cleanup_free char *text = is_entry(e->d_name) ? read_at(fd, e->d_name) : NULL;
		const char *p = text, *line;
		size_t len;

		while (p && next_line(&p, &line, &len))
			if (line_starts(line, len, "options"))
				str_addf(&all, "%.*s\n", (int)len, line);
	}
	return all.len ? str_take(&all) : NULL;
}

void grub_config_read(int boot, struct grub_config *ret)
{
	cleanup_free char *path = NULL;

	ret->dir = grub_dir(boot);
	if (ret->dir) {
		path = xasprintf("%s/grub.cfg", ret->dir);
		ret->cfg = read_at(boot, path);
	}
	ret->bls_options = bls_options(boot);
}

void grub_config_free(struct grub_config *c)
{
	free(c->cfg);
	free(c->bls_options);
}

int grub_config_check(const struct root *root, const struct grub_config *c, const char *esp_uuid,
		      struct err *err)
{
	if (root_exists(root, "run/ostree-booted"))
		return err_set(
			err, -ENOENT,
			"this is an ostree or bootc system; its kernel arguments come with the "
			"image: give it those that `railhead kargs` prints");
	if (!c->cfg)
		return err_set(err, -ENOENT,
			       "there is no grub.cfg in /boot/grub or /boot/grub2 (network boot, "
			       "systemd-boot or a unified kernel image?); give the arguments that "
			       "`railhead kargs` prints to what boots this machine");
	return grub_cfg_check(c->cfg, c->bls_options, esp_uuid, err);
}

bool grub_reads(const char *fstype)
{
	static const char *const known[] = {"ext2", "ext3", "ext4", "xfs", "vfat", "btrfs"};

	for (size_t i = 0; fstype && i < array_len(known); i++)
		if (streq(fstype, known[i]))
			return true;
	return false;
}
