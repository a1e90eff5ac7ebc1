/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GRUB's own files: the input is up to three pieces between lines "--8<--": grub.cfg, grubenv, the
 * menu entry that grubenv may name. What is missing is empty.
 */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "loader/counters.h"
#include "loader/grub.h"

#define CUT "\n--8<--\n"

static void next_piece(const uint8_t **data, size_t *size, const char *dir, const char *file)
{
	const uint8_t *cut = *size ? memmem(*data, *size, CUT, strlen(CUT)) : NULL;
	size_t len = cut ? (size_t)(cut - *data) : *size;

	fuzz_put(dir, file, *data, len);
	*size -= cut ? len + strlen(CUT) : len;
	*data += cut ? len + strlen(CUT) : len;
}

static void config(const struct root *root, int boot)
{
	cleanup_grub_config struct grub_config c = {0};
	cleanup_free char *opts = NULL, *installation = NULL;
	static const char *const uuids[] = {NULL, "AAAA-BBBB"};

	grub_config_read(boot, &c);
	must(c.dir && c.cfg);
	opts = grub_kernelopts(&c);
	installation = grub_installation(&c);
	must(!installation || *installation);
	for (size_t i = 0; i < array_len(uuids); i++) {
		struct err err = {0};
		int r = grub_config_check(root, &c, uuids[i], &err);

		must(r == 0 || r == -ENOENT || r == -ESTALE);
		must((r == 0) == (*err.text == '\0'));
	}
}

static void counts(const struct root *root, int boot)
{
	struct counters c = {0};
	cleanup_free char *why = NULL;

	counters_read_blocks(root, boot, "/boot", &c);
	why = counters_why_held(root, &c);
	must(!why == !c.armed);
	for (const char *p = why; p && *p; p++)
		must((unsigned char)*p >= ' ' && *p != 0x7f);
	counters_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct root root = {.fd = -1};
	cleanup_free char *boot = NULL;
	cleanup_close int fd = -1;

	if (root.fd < 0) {
		cleanup_free char *dir = fuzz_dir();

		fuzz_put_text(dir, "proc/cmdline", "quiet rauc.slot=A\n");
		must(root_init(&root, dir, NULL) == 0);
	}
	next_piece(&data, &size, root.path, "boot/grub/grub.cfg");
	next_piece(&data, &size, root.path, "boot/grub/grubenv");
	next_piece(&data, &size, root.path, "boot/loader/entries/entry.conf");
	boot = xasprintf("%s/boot", root.path);
	fd = open(boot, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(fd >= 0);
	config(&root, fd);
	counts(&root, fd);
	return 0;
}
