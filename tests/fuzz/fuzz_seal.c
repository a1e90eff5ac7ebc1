/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What others wrote of TPM policies: the JSON area of a LUKS2 header, /etc/crypttab, lists of
 * PCRs. Each input is read as all of them.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "boot/seal.h"

static void tokens(const char *text, size_t size)
{
	struct seal_tokens t = {0};

	if (!seal_header_tokens(text, size, &t))
		return;
	must(!(t.pcrs & ~SEAL_PCRS_CHANGED));
	must(t.sealed == (t.pcrs != 0));
	must(t.sealed || !t.clevis);
}

static void table(const char *text)
{
	struct crypttab t = {0};

	crypttab_parse(text, &t);
	for (size_t i = 0; i < t.list.n; i++) {
		const struct crypttab_line *l = &t.list.v[i];

		must(*l->volume && strstr(text, l->volume));
		for (const char *p = l->volume; *p; p++)
			must(*p > ' ' && *p <= '~');
		must(l->pcrs_known || !l->pcrs);
	}
	crypttab_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);
	uint32_t pcrs = 0;
	size_t header = seal_header_size(data, size);

	must(header == 0 || (header >= 16384 && header <= 4 << 20));
	tokens((const char *)data, size);
	table(text);
	if (seal_pcrs(text, &pcrs))
		must(!(pcrs >> 24) && (!*text || pcrs));
	return 0;
}
