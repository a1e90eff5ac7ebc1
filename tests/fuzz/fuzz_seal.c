/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What others wrote of TPM policies: the JSON area of a LUKS2 header, the whole header,
 * /etc/crypttab, lists of PCRs. Each input is read as all of them.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "boot/seal.h"

/* A machine with one volume, whose header and table are the input. */
static const struct root *machine(const uint8_t *data, size_t size)
{
	static struct root root = {.fd = -1};

	if (root.fd < 0) {
		cleanup_free char *dir = fuzz_dir();

		fuzz_put_text(dir, "sys/class/block/dm-0/dm/uuid", "CRYPT-LUKS2-0-x\n");
		fuzz_put_text(dir, "sys/class/block/dm-0/dm/name", "x\n");
		fuzz_put_text(dir, "sys/class/block/dm-0/slaves/sda2/size", "1\n");
		must(root_init(&root, dir, NULL) == 0);
		root.live = true;
	}
	fuzz_put(root.path, "dev/sda2", data, size);
	fuzz_put(root.path, "etc/crypttab", data, size);
	return &root;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);
	cleanup_free char *why = seal_why_refused(machine(data, size));
	struct seal_tokens t;
	bool is_object = seal_read_tokens((const char *)data, size, &t);

	must(is_object || (!t.pcrs && !t.pcrlock));
	must(!(t.pcrs & ~SEAL_PCRS_CHANGED));
	must(!(seal_pcrs(text) & ~SEAL_PCRS_CHANGED));
	/* what is no header is refused, by name */
	must(why || (size >= 4096 && memcmp(data, "LUKS\xba\xbe", 6) == 0));
	for (const char *p = why; p && *p; p++)
		must((unsigned char)*p >= ' ' && *p != 0x7f);
	return 0;
}
