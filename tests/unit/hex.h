/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Netlink messages that are written down byte by byte: tests/fixtures/netlink/NAME.hex,
 * of little-endian hosts. Include after cmocka.h.
 */
#pragma once

#include <ctype.h>
#include <endian.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEX_MAX = 4096 };

struct hex {
	_Alignas(struct nlmsghdr) unsigned char data[HEX_MAX];
	size_t len;
};

static inline void hex_load(const char *name, struct hex *ret)
{
	char path[256], line[256];
	FILE *f;

	if (__BYTE_ORDER != __LITTLE_ENDIAN)
		skip();
	snprintf(path, sizeof(path), "tests/fixtures/netlink/%s.hex", name);
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s: %s", path, strerror(errno));
	memset(ret, 0, sizeof(*ret));
	while (fgets(line, sizeof(line), f)) {
		char *p = line, *end;

		line[strcspn(line, "#\n")] = '\0';
		for (unsigned long v = strtoul(p, &end, 16); end != p; v = strtoul(p, &end, 16)) {
			assert_true(v <= 255 && ret->len < HEX_MAX);
			ret->data[ret->len++] = (unsigned char)v;
			p = end;
		}
	}
	fclose(f);
}

/*
 * A message is built twice, on stacks and in a buffer of other contents: what is not set, such as
 * a hole of a structure, differs from the golden in one of them at least. The rooms are built with
 * -O0 for the tests, so that no optimisation fills a hole by chance.
 */
#define hex_equal(name, build)         \
	do {                           \
		hex_paint_stack(0x00); \
		hex_is(name, build);   \
		hex_paint_stack(0xff); \
		hex_is(name, build);   \
	} while (0)

/* Where the functions called next will have their variables. */
__attribute__((noinline, no_sanitize("address"))) static void hex_paint_stack(int byte)
{
	volatile unsigned char paint[32768];

	for (size_t i = 0; i < sizeof(paint); i++)
		paint[i] = (unsigned char)byte;
}

static inline void hex_is(const char *name, struct nlmsghdr *msg)
{
	size_t len = msg->nlmsg_len;
	struct hex want;

	hex_load(name, &want);
	if (want.len == len && memcmp(want.data, msg, len) == 0) {
		memset(msg, 0xff, len);
		return;
	}
	for (size_t i = 0; i < len; i++)
		fprintf(stderr, "%02x%s", ((const unsigned char *)msg)[i],
			i % 16 == 15 ? "\n" : " ");
	fail_msg("message %s has %zu bytes, not the %zu of the golden, or others", name, len,
		 want.len);
}
