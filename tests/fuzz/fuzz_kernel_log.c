/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel left in its log, and in pstore: Xids of NVIDIA's driver, records of a panic. Each
 * input is read as both.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "boot/pstore.h"
#include "checks/xid.h"

static void xids(const char *log, const struct cpus *fatal)
{
	cleanup_str struct str text = {0};
	size_t harmless = 0, n, kinds = 0, lines = 1;
	enum fault gravest = FAULT_NONE;

	n = xid_faults(log, "0000:41:00.0", fatal, &text, &harmless, &gravest);
	for (const char *p = log; (p = strchr(p, '\n')); p++)
		lines++;
	for (const char *p = str_get(&text); (p = strstr(p, "Xid ")); p++)
		kinds++;
	must(n <= XID_MAX + 1 && n <= kinds && n + harmless <= lines);
	must((n == 0) == (text.len == 0) && (n == 0) == (gravest == FAULT_NONE));
	must(!strchr(str_get(&text), '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct root root = {.fd = -1};
	cleanup_free char *text = xstrndup((const char *)data, size);
	struct cpus fatal = {0};

	if (root.fd < 0) {
		cleanup_free char *dir = fuzz_dir();

		must(root_init(&root, dir, NULL) == 0);
	}
	xids(text, NULL);
	cpus_add(&fatal, 13);
	xids(text, &fatal);
	fuzz_put(root.path, "sys/fs/pstore/dmesg-efi-1", data, size);
	must(pstore_has_panic(&root, 1) == (size >= 6 && memcmp(data, "Panic#", 6) == 0));
	must(!pstore_has_panic(&root, 0));
	return 0;
}
