/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Vital Product Data, which a card hands out as it likes. */
#include "fuzz.h"

#include "base/mem.h"
#include "node/vpd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[] = {"PN", "SN", "EC", "RV", "V3"};
	cleanup_free char *pn = vpd_part_number(data, size);

	for (size_t i = 0; i < array_len(keys); i++) {
		struct vpd_field f;

		if (!vpd_find(data, size, keys[i], &f))
			continue;
		must(f.data >= data + 6 && f.len <= size && f.data + f.len <= data + size);
		must(memcmp(f.data - 3, keys[i], 2) == 0 && f.data[-1] == f.len);
	}
	if (pn) {
		size_t len = 0;
		cleanup_free char *vpd = vpd_with(pn, NULL, &len);
		cleanup_free char *again = vpd_part_number(vpd, len);

		for (const char *p = pn; *p; p++)
			must(*p >= ' ' && *p <= '~');
		must(*pn && again && streq(again, pn));
	}
	return 0;
}
