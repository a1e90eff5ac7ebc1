/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers with units, against a second reading of them in 128 bits. */
#include "fuzz.h"

#include <ctype.h>
#include <errno.h>

#include "base/mem.h"
#include "base/units.h"

typedef unsigned __int128 u128;

struct unit {
	const char *name;
	uint64_t mul, div;
};

/* What text says, or -EINVAL, or -ERANGE where it is beyond 64 bits before the division. */
static int expected(const char *text, const struct unit *units, uint64_t *ret)
{
	size_t n = strspn(text, "0123456789");
	u128 v = 0;

	for (; n && units->name; units++) {
		if (!streq(text + n, units->name))
			continue;
		for (size_t i = 0; i < n && v <= UINT64_MAX; i++)
			v = v * 10 + (u128)(text[i] - '0');
		if (v > UINT64_MAX || v * units->mul > UINT64_MAX)
			return -ERANGE;
		*ret = (uint64_t)(v * units->mul) / units->div;
		return 0;
	}
	return -EINVAL;
}

static const struct unit plain[] = {{"", 1, 1}, {0}};
static const struct unit sizes[] = {{"K", 1ULL << 10, 1},
				    {"M", 1ULL << 20, 1},
				    {"G", 1ULL << 30, 1},
				    {"T", 1ULL << 40, 1},
				    {0}};
static const struct unit durations[] = {{"us", 1, 1},
					{"ms", 1000, 1},
					{"s", 1000000, 1},
					{"m", 60000000, 1},
					{"h", 3600000000, 1},
					{"d", 86400000000, 1},
					{0}};
static const struct unit rates[] = {{"MB/s", 8000000, 8},
				    {"GB/s", 8000000000, 8},
				    {"Mb/s", 1000000, 8},
				    {"Gb/s", 1000000000, 8},
				    {0}};

static const struct {
	int (*parse)(const char *s, uint64_t *ret);
	const struct unit *units;
} parsers[] = {
	{parse_u64, plain}, {parse_size, sizes}, {parse_duration, durations}, {parse_rate, rates}};

static void one(size_t i, const char *text)
{
	uint64_t want = 0, got = 0x5a5a;
	int wr = expected(text, parsers[i].units, &want);
	int r = parsers[i].parse(text, &got);

	/* A number that is too long for any unit may be called so before its unit is looked at. */
	must(r == wr || (r == -ERANGE && wr == -EINVAL && isdigit((unsigned char)*text)));
	must(got == (r == 0 ? want : 0x5a5a));
}

static void gts(const char *text)
{
	cleanup_free char *again = NULL;
	uint32_t v = 0x5a5a, w = 0;
	int r = parse_gts(text, &v);

	must(r == 0 || r == -EINVAL || r == -ERANGE);
	if (r < 0) {
		must(v == 0x5a5a);
		return;
	}
	must(v <= 1000009);
	again = xasprintf("%u.%u GT/s PCIe", v / 10, v % 10);
	must(parse_gts(again, &w) == 0 && w == v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);

	for (size_t i = 0; i < array_len(parsers); i++)
		one(i, text);
	gts(text);
	return 0;
}
