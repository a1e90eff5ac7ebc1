/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kept list of what failed beside a trial: damaged, or the same after it was written and read
 * again.
 */
#include "fuzz.h"

#include <errno.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/health.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size), *first = NULL, *second = NULL;
	cleanup_health struct health one = {0}, two = {0};

	if (health_parse(text, &one) < 0) {
		must(!one.profile && !one.failed.n);
		return 0;
	}
	must(*one.profile && strlen(one.args) == KARGS_HASH_LEN);
	first = health_render(&one);
	must(first && health_parse(first, &two) == 0);
	second = health_render(&two);
	must(second && streq(first, second) && one.refused == two.refused);
	return 0;
}
