/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

struct unit {
	const char *name;
	uint64_t factor;
};

static int digits(const char *s, const char **end, uint64_t *ret)
{
	uint64_t v = 0;

	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	for (; isdigit((unsigned char)*s); s++) {
		unsigned int d = (unsigned int)(*s - '0');

		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, d, &v))
			return -ERANGE;
	}
	*end = s;
	*ret = v;
	return 0;
}

static int with_unit(const char *s, const struct unit *units, size_t n, uint64_t *ret)
{
	const char *end;
	uint64_t v;
	int r = digits(s, &end, &v);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		if (!streq(end, units[i].name))
			continue;
		if (__builtin_mul_overflow(v, units[i].factor, &v))
			return -ERANGE;
		*ret = v;
		return 0;
	}
	return -EINVAL;
}

int parse_u64(const char *s, uint64_t *ret)
{
	const char *end;
	uint64_t v;
	int r = digits(s, &end, &v);

	if (r < 0)
		return r;
	if (*end)
		return -EINVAL;
	*ret = v;
	return 0;
}

int parse_size(const char *s, uint64_t *ret_bytes)
{
	static const struct unit units[] = {
		{"K", 1ULL << 10}, {"M", 1ULL << 20}, {"G", 1ULL << 30}, {"T", 1ULL << 40}};

	return with_unit(s, units, array_len(units), ret_bytes);
}

unsigned int size_shift(char unit)
{
	static const char units[] = "KMGT";
	const char *known = unit ? strchr(units, toupper((unsigned char)unit)) : NULL;

	return known ? 10 * (unsigned int)(known - units + 1) : 0;
}

int parse_duration(const char *s, uint64_t *ret_usec)
{
	static const struct unit units[] = {{"us", 1},
					    {"ms", 1000},
					    {"s", 1000000},
					    {"m", 60ULL * 1000000},
					    {"h", 3600ULL * 1000000},
					    {"d", 86400ULL * 1000000}};

	return with_unit(s, units, array_len(units), ret_usec);
}

char *format_duration(uint64_t usec)
{
	static const struct {
		const char *one, *many;
		uint64_t seconds;
	} units[] = {{"day", "days", 86400}, {"h", "h", 3600}, {"min", "min", 60}, {"s", "s", 1}};
	uint64_t rest = usec / 1000000;
	struct str text = {0};
	size_t parts = 0;

	/* Only the two largest units, because a duration of days needs no seconds. */
	for (size_t i = 0; i < array_len(units) && parts < 2; i++) {
		uint64_t n = rest / units[i].seconds;

		rest %= units[i].seconds;
		if (n)
			str_addf(&text, "%s%" PRIu64 " %s", parts ? " " : "", n,
				 n == 1 ? units[i].one : units[i].many);
		parts += n || parts;
	}
	if (!parts)
		str_add(&text, "0 s");
	return str_take(&text);
}

int parse_latency(const char *s, uint64_t *ret_nsec)
{
	static const struct unit units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}};

	return with_unit(s, units, array_len(units), ret_nsec);
}

int parse_rate(const char *s, uint64_t *ret_bytes_per_s)
{
	/* Divide bits by 8 last, so that 1Mb/s keeps its half byte. */
	static const struct unit bytes[] = {{"MB/s", 8000000ULL}, {"GB/s", 8000000000ULL}};
	static const struct unit bits[] = {{"Mb/s", 1000000ULL}, {"Gb/s", 1000000000ULL}};
	uint64_t v;
	int r = with_unit(s, bytes, array_len(bytes), &v);

	if (r == -EINVAL)
		r = with_unit(s, bits, array_len(bits), &v);
	if (r < 0)
		return r;
	*ret_bytes_per_s = v / 8;
	return 0;
}

int parse_message_rate(const char *s, uint64_t *ret_per_s)
{
	static const struct unit units[] = {{"/s", 1}, {"K/s", 1000}, {"M/s", 1000000}};

	return with_unit(s, units, array_len(units), ret_per_s);
}

int parse_gts(const char *s, uint32_t *ret_tenths)
{
	const char *end;
	uint64_t whole;
	uint32_t tenth = 0;
	int r = digits(s, &end, &whole);

	if (r < 0)
		return r;
	if (whole > 100000)
		return -ERANGE;
	if (*end == '.' && isdigit((unsigned char)end[1])) {
		tenth = (uint32_t)(end[1] - '0');
		end += 2;
	}
	if (*end == ' ')
		end++;
	if (!str_starts(end, "GT/s"))
		return -EINVAL;
	end += 4;
	if (*end && !streq(end, " PCIe"))
		return -EINVAL;
	*ret_tenths = (uint32_t)whole * 10 + tenth;
	return 0;
}

static int parse_range(const char **p, struct cpus *set)
{
	uint64_t from, to;
	int r = digits(*p, p, &from);

	if (r < 0)
		return r;
	to = from;
	if (**p == '-') {
		(*p)++;
		r = digits(*p, p, &to);
		if (r < 0)
			return r;
	}
	if (from > to)
		return -EINVAL;
	if (to >= CPUS_MAX)
		return -ERANGE;
	for (uint64_t n = from; n <= to; n++)
		cpus_add(set, (unsigned int)n);
	return 0;
}

int cpus_parse(const char *s, struct cpus *ret)
{
	struct cpus set = {0};
	int r;

	while (*s) {
		r = parse_range(&s, &set);
		if (r < 0)
			return r;
		if (!*s)
			break;
		if (*s != ',' || !s[1])
			return -EINVAL;
		s++;
	}
	*ret = set;
	return 0;
}

char *cpus_format(const struct cpus *c)
{
	struct str out = {0};

	for (int n = cpus_next(c, -1); n >= 0; n = cpus_next(c, n)) {
		int last = n;

		while (last + 1 < CPUS_MAX && cpus_has(c, (unsigned int)last + 1))
			last++;
		str_addf(&out, "%s%d", out.len ? "," : "", n);
		if (last > n)
			str_addf(&out, "-%d", last);
		n = last;
	}
	return str_take(&out);
}

/* The group that ends before end; group 0 is the last. */
static int parse_group(const char *begin, const char *end, unsigned int group, struct cpus *ret)
{
	uint32_t bits = 0;

	if (end == begin || end - begin > 8)
		return -EINVAL;
	for (const char *p = begin; p < end; p++) {
		if (!isxdigit((unsigned char)*p))
			return -EINVAL;
		bits = bits << 4 | (uint32_t)(isdigit((unsigned char)*p)
						      ? *p - '0'
						      : tolower((unsigned char)*p) - 'a' + 10);
	}
	if (group >= CPUS_MAX / 32)
		return bits ? -ERANGE : 0;
	ret->bit[group / 2] |= (uint64_t)bits << (group % 2 * 32);
	return 0;
}

int cpus_parse_mask(const char *s, struct cpus *ret)
{
	const char *end = s + strlen(s);
	struct cpus set = {0};
	int r = 0;

	for (unsigned int group = 0; r == 0 && end; group++) {
		const char *comma = memrchr(s, ',', (size_t)(end - s));

		r = parse_group(comma ? comma + 1 : s, end, group, &set);
		end = comma;
	}
	if (r == 0)
		*ret = set;
	return r;
}

bool cpus_same_mask(const char *a, const char *b)
{
	struct cpus x, y;

	return cpus_parse_mask(a, &x) == 0 && cpus_parse_mask(b, &y) == 0 &&
	       memcmp(&x, &y, sizeof(x)) == 0;
}

enum { NUMBERS_MAX = 65536 }; /* of a bitmap that the kernel prints as a list: those of ports */

/* One bit for each number. */
struct numbers {
	uint64_t bit[NUMBERS_MAX / 64];
};

static bool parse_member(const char **p, uint64_t *ret)
{
	bool zero_led = (*p)[0] == '0' && isdigit((unsigned char)(*p)[1]);

	return !zero_led && digits(*p, p, ret) == 0 && *ret < NUMBERS_MAX;
}

static bool parse_numbers(const char *s, struct numbers *ret)
{
	uint64_t from, to;

	for (*ret = (struct numbers){0}; *s; s += *s == ',') {
		if (!parse_member(&s, &from))
			return false;
		to = from;
		if (*s == '-' && (s++, !parse_member(&s, &to)))
			return false;
		if (to < from || (*s && (*s != ',' || !s[1])))
			return false;
		for (uint64_t n = from; n <= to; n++)
			ret->bit[n / 64] |= UINT64_C(1) << (n % 64);
	}
	return true;
}

bool numbers_same_set(const char *a, const char *b)
{
	struct numbers x, y;

	return parse_numbers(a, &x) && parse_numbers(b, &y) && memcmp(&x, &y, sizeof(x)) == 0;
}

char *cpus_format_mask(const struct cpus *c)
{
	struct str out = {0};

	for (int group = CPUS_MAX / 32 - 1; group >= 0; group--) {
		uint32_t bits = (uint32_t)(c->bit[group / 2] >> (group % 2 * 32));

		if (out.len)
			str_addf(&out, ",%08x", bits);
		else if (bits || !group)
			str_addf(&out, "%x", bits);
	}
	return str_take(&out);
}

bool cpus_has(const struct cpus *c, unsigned int n)
{
	return n < CPUS_MAX && (c->bit[n / 64] >> (n % 64) & 1);
}

void cpus_add(struct cpus *c, unsigned int n)
{
	if (n < CPUS_MAX)
		c->bit[n / 64] |= 1ULL << (n % 64);
}

void cpus_add_all(struct cpus *c, const struct cpus *more)
{
	for (size_t i = 0; i < array_len(c->bit); i++)
		c->bit[i] |= more->bit[i];
}

void cpus_remove_all(struct cpus *c, const struct cpus *gone)
{
	for (size_t i = 0; i < array_len(c->bit); i++)
		c->bit[i] &= ~gone->bit[i];
}

size_t cpus_count(const struct cpus *c)
{
	size_t n = 0;

	for (size_t i = 0; i < array_len(c->bit); i++)
		n += (size_t)__builtin_popcountll(c->bit[i]);
	return n;
}

int cpus_next(const struct cpus *c, int after)
{
	for (int n = after + 1; n < CPUS_MAX; n++) {
		if (!c->bit[n / 64])
			n |= 63; /* skip an empty word */
		else if (cpus_has(c, (unsigned int)n))
			return n;
	}
	return -1;
}

int cpus_first(const struct cpus *c)
{
	return cpus_next(c, -1);
}

int cpus_last(const struct cpus *c)
{
	for (int n = CPUS_MAX - 1; n >= 0; n--)
		if (cpus_has(c, (unsigned int)n))
			return n;
	return -1;
}
