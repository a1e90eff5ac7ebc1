/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/esp.h"
#include "sys/read.h"

enum {
	BLOCK_MAX = 64 << 10, /* GRUB's editor makes 1,024 bytes */
	CONF_MAX = 64 << 10,
};

/* --- blocks ------------------------------------------------------------------------------- */

static void trouble(struct blocks *b, const char *path, int code)
{
	if (!b->trouble)
		b->trouble = xasprintf("%s can't be read (%s)", path, err_text(code));
}

static void add(int top, const char *at, const char *name, const char *path, bool raucs,
		struct blocks *b)
{
	cleanup_close int fd = root_open_at(top, name, O_RDONLY | O_NOFOLLOW);
	struct block block = {.raucs = raucs};
	int r = fd < 0 ? fd : read_fd(fd, BLOCK_MAX, &block.text, &block.len);

	if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP || r == -EISDIR)
		return;
	if (r < 0) {
		trouble(b, path, r);
		return;
	}
	if (!block.text)
		block.text = xstrdup("");
	block.path = xstrdup(path);
	block.at = at ? xstrdup(at) : NULL;
	block.name = xstrdup(name);
	vec_push(&b->list, block);
}

void blocks_read(int top, const char *at, const char *shown, struct blocks *b)
{
	static const char *const usual[] = {"grub/grubenv", "grub2/grubenv", "grubenv"};
	static const char *const menders[] = {"grub-mender-grubenv/", "EFI/BOOT/", "grub/", ""};
	cleanup_strv struct strv names = {0}, vendors = {0};

	for (size_t i = 0; i < array_len(usual); i++)
		strv_add(&names, usual[i]);
	esp_vendors(top, &vendors);
	for (size_t i = 0; i < vendors.n; i++) {
		cleanup_free char *name = xasprintf("EFI/%s/grubenv", vendors.v[i]);

		strv_add(&names, name);
	}
	for (size_t i = 0; i < array_len(menders); i++)
		for (int n = 1; n <= 2; n++) {
			cleanup_free char *name =
				xasprintf("%smender_grubenv%d/env", menders[i], n);

			strv_add(&names, name);
		}
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *path = xasprintf("%s/%s", shown, names.v[i]);

		add(top, at, names.v[i], path, false, b);
	}
}

void blocks_read_raucs(int top, const char *at, const char *name, const char *path,
		       struct blocks *b)
{
	add(top, at, name, path, true, b);
}

void block_free(struct block *b)
{
	free(b->path);
	free(b->at);
	free(b->name);
	free(b->text);
	*b = (struct block){0};
}

void blocks_free(struct blocks *b)
{
	for (size_t i = 0; i < b->list.n; i++)
		block_free(&b->list.v[i]);
	vec_free(&b->list);
	free(b->trouble);
	b->trouble = NULL;
}

/* --- RAUC's configuration ------------------------------------------------------------------- */

/* The value of a GKeyFile line "key=value" or "key = value", up to the end of the line; else NULL.
 */
static char *value_of(char *line, const char *key)
{
	size_t n = strlen(key);

	if (!str_starts(line, key))
		return NULL;
	line += n + strspn(line + n, " \t");
	if (*line != '=')
		return NULL;
	line++;
	return line + strspn(line, " \t");
}

static void take_path(struct rauc_conf *c, const char *value)
{
	const char *slash = strrchr(c->path, '/');

	free(c->grubenv);
	c->grubenv = *value == '/' ? xstrdup(value)
				   : xasprintf("%.*s/%s", (int)(slash - c->path), c->path, value);
}

static void parse(char *text, struct rauc_conf *c)
{
	bool system = false;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *value;

		str_chomp(line);
		if (*line == '[')
			system = streq(line, "[system]");
		if (!system)
			continue;
		value = value_of(line, "bootloader");
		if (value) {
			free(c->bootloader);
			c->bootloader = xstrdup(value);
		}
		value = value_of(line, "grubenv");
		if (value)
			take_path(c, value);
	}
}

void rauc_conf_read(const struct root *root, struct rauc_conf *ret)
{
	/* in RAUC's own order (src/context.c) */
	static const char *const paths[] = {"/etc/rauc/system.conf", "/run/rauc/system.conf",
					    "/usr/lib/rauc/system.conf"};

	*ret = (struct rauc_conf){0};
	for (size_t i = 0; i < array_len(paths); i++) {
		cleanup_free char *text = NULL;

		if (read_file(root, CONF_MAX, &text, NULL, NULL, paths[i]) < 0)
			continue;
		ret->path = xstrdup(paths[i]);
		parse(text ? text : (char[]){""}, ret);
		return;
	}
}

void rauc_conf_free(struct rauc_conf *c)
{
	free(c->path);
	free(c->bootloader);
	free(c->grubenv);
	*c = (struct rauc_conf){0};
}
