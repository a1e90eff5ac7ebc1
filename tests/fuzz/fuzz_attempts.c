/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of trials: damaged, or the same after it was written and read again. */
#include "fuzz.h"

#include "base/mem.h"
#include "base/str.h"
#include "boot/attempts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size), *first = NULL, *second = NULL;
	cleanup_attempts struct attempts one = {0}, two = {0};

	if (!attempts_parse(text, &one)) {
		must(!one.refused.n && !one.reboots && !one.before.profile);
		return 0;
	}
	must(one.refused.n <= REFUSALS_MAX);
	first = attempts_render(&one);
	must(attempts_parse(first, &two));
	second = attempts_render(&two);
	must(streq(first, second));
	return 0;
}
