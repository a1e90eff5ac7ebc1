/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EFI variables as the firmware keeps them, with the four bytes of their attributes: each input is
 * the value of all variables that are read.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "base/str.h"
#include "loader/booted.h"
#include "loader/counters.h"
#include "sys/machine.h"

#define VARIABLES "sys/firmware/efi/efivars/"
#define LOADER "-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"

static const char *const names[] = {
	"LoaderInfo" LOADER,
	"StubInfo" LOADER,
	"LoaderBootCountPath" LOADER,
	"LoaderDevicePartUUID" LOADER,
};

static void loader(const struct root *root, size_t size)
{
	cleanup_free char *text = loader_variable(root, "LoaderInfo");
	struct err err = {0};

	must(!text || (*text && strlen(text) <= size / 2));
	for (const char *p = text; p && *p; p++)
		must(*p >= ' ' && *p <= '~');
	must((booted_check(root, &err) < 0) == (*err.text != '\0'));
}

static bool loader_counts(const struct root *root)
{
	cleanup_free char *path = loader_variable(root, "LoaderBootCountPath");

	return path;
}

static void counts(const struct root *root)
{
	struct counters counters = {0};
	cleanup_free char *why = counters_why_held(root, &counters);

	must(!why == !loader_counts(root));
	counters_free(&counters);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct root root = {.fd = -1};
	cleanup_free char *value = NULL;
	size_t len = 0;

	if (root.fd < 0) {
		cleanup_free char *dir = fuzz_dir();

		fuzz_put_text(dir, "proc/sys/kernel/random/boot_id",
			      "11111111-2222-3333-4444-555555555555\n");
		must(root_init(&root, dir, NULL) == 0);
	}
	for (size_t i = 0; i < array_len(names); i++) {
		cleanup_free char *path = xasprintf(VARIABLES "%s", names[i]);

		fuzz_put(root.path, path, data, size);
	}
	if (machine_efi_read(&root, names[0], &value, &len, NULL) == 0)
		must(len + 4 == size && memcmp(value, data + 4, len) == 0);
	loader(&root, size);
	counts(&root);
	return 0;
}
