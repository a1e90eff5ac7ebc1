/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of what bake made in an image: damaged, with the remedy, or the same after it was
 * written and read again. Each of its paths begins at the root, and is there once.
 */
#include "fuzz.h"

#include <errno.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/bake.h"

static bool parsed(const char *text, struct bake_record *ret)
{
	struct err err = {0};
	int r = bake_record_parse(text, ret, &err);

	must(r == 0 || (r == -EBADMSG && strstr(err.text, "bake again")));
	return r == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size), *first = NULL, *second = NULL;
	struct bake_record one = {0}, two = {0};

	if (!parsed(text, &one)) {
		must(!one.entries.n && !one.dirs.n && !one.read);
		return 0;
	}
	for (size_t i = 0; i < one.entries.n; i++) {
		must(*one.entries.v[i].path == '/' && one.entries.v[i].text);
		must(bake_record_find(&one, one.entries.v[i].path) == &one.entries.v[i]);
	}
	first = bake_record_text(&one);
	must(parsed(first, &two));
	second = bake_record_text(&two);
	must(streq(first, second));
	bake_record_free(&one);
	bake_record_free(&two);
	return 0;
}
