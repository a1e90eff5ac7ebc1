/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loader/booted.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/machine.h"

#define VENDOR "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"

char *loader_variable(const struct root *root, const char *name)
{
	cleanup_free char *variable = xasprintf("%s-" VENDOR, name), *raw = NULL;
	struct str text = {0};
	size_t len = 0;

	if (machine_efi_read(root, variable, &raw, &len, NULL) < 0)
		return NULL;
	/* UTF-16, little endian, with or without a final NUL */
	for (size_t i = 0; i + 1 < len && (raw[i] || raw[i + 1]); i += 2) {
		char c = !raw[i + 1] && raw[i] >= ' ' && raw[i] <= '~' ? raw[i] : '?';

		str_addn(&text, &c, 1);
	}
	return text.len ? str_take(&text) : NULL;
}

int booted_check(const struct root *root, struct err *err)
{
	cleanup_free char *loader = NULL, *stub = NULL;
	const char *name;

	if (root_exists(root, "run/ostree-booted"))
		return err_set(err, -ENOENT,
			       "this is an ostree or bootc system, whose kernel arguments come "
			       "with the image: put the output of `railhead kargs --format=bootc` "
			       "into a file of the image's /usr/lib/bootc/kargs.d");
	loader = loader_variable(root, "LoaderInfo");
	stub = loader_variable(root, "StubInfo");
	name = loader ? loader : "";
	/* A GRUB that starts a unified kernel image is still the configured GRUB. */
	if (stub && !str_starts(name, "GRUB"))
		return err_set(err, -ENOENT,
			       "a unified kernel image, which contains the command line, booted "
			       "this machine (%.64s%s%.64s): build the image again with the "
			       "arguments that `railhead kargs --format=line` prints, or build an "
			       "addon from the output of `railhead kargs --format=uki`",
			       stub, *name ? ", started by " : "", name);
	if (str_starts(name, "systemd-boot"))
		return err_set(
			err, -ENOENT,
			"%.64s booted this machine, and does not read GRUB's variables: put the "
			"output of `railhead kargs --format=line` into /etc/kernel/cmdline "
			"and install the kernel again (kernel-install add)",
			name);
	return 0;
}
