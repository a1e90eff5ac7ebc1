/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * railhead.conf, alone and as a file of railhead.conf.d: booleans, or errors, and then nothing is
 * admitted and nothing reboots.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "base/str.h"
#include "profile/site.h"

static void load(const struct root *root)
{
	struct diags diags = {0};
	struct site site;

	site_load(root, &site, &diags);
	must(!diags.errors || (!site.admit_off && !site.admit_none && !site.reboot));
	diags_free(&diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct root root = {.fd = -1};

	if (root.fd < 0) {
		cleanup_free char *dir = fuzz_dir();

		must(root_init(&root, dir, NULL) == 0);
	}
	fuzz_put(root.path, "etc/railhead/railhead.conf", data, size);
	load(&root);
	fuzz_put_text(root.path, "etc/railhead/railhead.conf", "reboot: false\n");
	fuzz_put(root.path, "etc/railhead/railhead.conf.d/x.conf", data, size);
	load(&root);
	fuzz_put_text(root.path, "etc/railhead/railhead.conf.d/x.conf", "reboot: true\n");
	return 0;
}
