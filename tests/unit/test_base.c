/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units, CPU lists, strings, lists, messages and digests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/str.h"
#include "base/units.h"
#include "base/vec.h"
#include "base/version.h"

struct number {
	const char *text;
	int code;
	uint64_t value;
};

/* A parser that fails leaves its output alone. */
static void parses(int (*parse)(const char *, uint64_t *), const struct number *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t v = 12345;
		int r = parse(t[i].text, &v);

		if (r != t[i].code || v != (r < 0 ? 12345 : t[i].value))
			fail_msg("'%s': %d, %llu", t[i].text, r, (unsigned long long)v);
	}
}

static void test_u64(void **state)
{
	static const struct number t[] = {
		{"0", 0, 0},
		{"007", 0, 7},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"99999999999999999999", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
		{"1.5", -EINVAL, 0},
	};

	(void)state;
	parses(parse_u64, t, array_len(t));
}

static void test_sizes(void **state)
{
	static const struct number t[] = {
		{"64K", 0, 65536},
		{"2M", 0, 2097152},
		{"1G", 0, 1073741824},
		{"16T", 0, 16ULL << 40},
		{"0G", 0, 0},
		{"16777215T", 0, 16777215ULL << 40},
		{"16777216T", -ERANGE, 0},
		{"18446744073709551616K", -ERANGE, 0},
		{"1024", -EINVAL, 0}, /* without a unit it says nothing */
		{"1GB", -EINVAL, 0},
		{"1g", -EINVAL, 0},
		{"1 G", -EINVAL, 0},
		{"G", -EINVAL, 0},
		{"1.5G", -EINVAL, 0},
		{"-1G", -EINVAL, 0},
		{"", -EINVAL, 0},
	};

	(void)state;
	parses(parse_size, t, array_len(t));
	assert_int_equal(size_shift('k'), 10);
	assert_int_equal(size_shift('T'), 40);
	assert_int_equal(size_shift('P'), 0);
	assert_int_equal(size_shift('\0'), 0);
}

static void test_durations(void **state)
{
	static const struct number t[] = {
		{"50us", 0, 50},
		{"100ms", 0, 100000},
		{"30s", 0, 30000000},
		{"10m", 0, 600000000},
		{"4h", 0, 14400000000},
		{"7d", 0, 604800000000},
		{"0s", 0, 0},
		{"5124095576h", 0, 18446744073600000000ULL},
		{"5124095577h", -ERANGE, 0},
		{"213503983d", -ERANGE, 0},
		{"30", -EINVAL, 0},
		{"30 s", -EINVAL, 0},
		{"1h30m", -EINVAL, 0},
		{"30S", -EINVAL, 0},
		{"ns", -EINVAL, 0},
	};

	(void)state;
	parses(parse_duration, t, array_len(t));
}

static void test_format_duration(void **state)
{
	static const struct {
		uint64_t seconds;
		const char *text;
	} t[] = {{0, "0 s"},	       {42, "42 s"},	 {60, "1 min"},
		 {125, "2 min 5 s"},   {3600, "1 h"},	 {5400, "1 h 30 min"},
		 {3605, "1 h"},	       {86400, "1 day"}, {2 * 86400 + 3 * 3600 + 59, "2 days 3 h"},
		 {86400 + 60, "1 day"}};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text = format_duration(t[i].seconds * 1000000 + 999999);

		assert_string_equal(text, t[i].text);
	}
}

static void test_rates(void **state)
{
	static const struct number t[] = {
		{"180GB/s", 0, 180000000000},
		{"100MB/s", 0, 100000000},
		{"400Gb/s", 0, 50000000000},
		{"1Mb/s", 0, 125000},
		{"0GB/s", 0, 0},
		{"18446744073709551615GB/s", -ERANGE, 0},
		{"180", -EINVAL, 0},
		{"180GB", -EINVAL, 0},
		{"180GiB/s", -EINVAL, 0},
		{"180gb/s", -EINVAL, 0},
		{"1.5GB/s", -EINVAL, 0},
		{"180 GB/s", -EINVAL, 0},
	};

	(void)state;
	parses(parse_rate, t, array_len(t));
}

static int gts(const char *text, uint64_t *ret)
{
	uint32_t tenths;
	int r = parse_gts(text, &tenths);

	if (r == 0)
		*ret = tenths;
	return r;
}

static void test_gts(void **state)
{
	static const struct number t[] = {
		{"32GT/s", 0, 320},
		{"32.0 GT/s PCIe", 0, 320},
		{"2.5 GT/s PCIe", 0, 25},
		{"2.5GT/s", 0, 25},
		{"64.0 GT/s", 0, 640},
		{"100000GT/s", 0, 1000000},
		{"100001GT/s", -ERANGE, 0},
		{"Unknown", -EINVAL, 0},
		{"Unknown speed", -EINVAL, 0},
		{"32", -EINVAL, 0},
		{"2.55 GT/s", -EINVAL, 0},
		{"2. GT/s", -EINVAL, 0},
		{"32.0 GT/s PCI", -EINVAL, 0},
		{"32  GT/s", -EINVAL, 0},
		{"-32GT/s", -EINVAL, 0},
	};

	(void)state;
	parses(gts, t, array_len(t));
}

static void test_cpus(void **state)
{
	static const struct {
		const char *text;
		int code;
		size_t count;
		const char *canonical;
	} t[] = {
		{"", 0, 0, ""},
		{"0", 0, 1, "0"},
		{"0-3", 0, 4, "0-3"},
		{"2-47,50-95", 0, 92, "2-47,50-95"},
		{"7,3,5,4", 0, 4, "3-5,7"},
		{"1,1,1-1", 0, 1, "1"},
		{"63,64,127-128", 0, 4, "63-64,127-128"},
		{"8191", 0, 1, "8191"},
		{"0-8191", 0, 8192, "0-8191"},
		{"8192", -ERANGE, 0, NULL},
		{"0-8192", -ERANGE, 0, NULL},
		{"18446744073709551616", -ERANGE, 0, NULL},
		{"1-18446744073709551616", -ERANGE, 0, NULL},
		{"5-2", -EINVAL, 0, NULL},
		{"9000-8999", -EINVAL, 0, NULL},
		{"1,", -EINVAL, 0, NULL},
		{",1", -EINVAL, 0, NULL},
		{"1,,2", -EINVAL, 0, NULL},
		{",", -EINVAL, 0, NULL},
		{"1-", -EINVAL, 0, NULL},
		{"-1", -EINVAL, 0, NULL},
		{"1-2-3", -EINVAL, 0, NULL},
		{"1 2", -EINVAL, 0, NULL},
		{" 1", -EINVAL, 0, NULL},
		{"0-6:2/3", -EINVAL, 0, NULL},
		{"all", -EINVAL, 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct cpus set = {.bit = {0, 42}}, untouched = set;
		cleanup_free char *text = NULL;
		int r = cpus_parse(t[i].text, &set);

		if (r != t[i].code)
			fail_msg("'%s': %d", t[i].text, r);
		if (r < 0) {
			assert_memory_equal(&set, &untouched, sizeof(set));
			continue;
		}
		text = cpus_format(&set);
		assert_string_equal(text, t[i].canonical);
		assert_int_equal(cpus_count(&set), t[i].count);
	}
}

/* As bitmaps are in sysfs, and what is not one. */
static void test_cpu_masks(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *list, *canonical;
	} t[] = {
		{"0", 0, "", "0"},
		{"00000000,00000000", 0, "", "0"},
		{"3", 0, "0-1", "3"},
		{"Ff", 0, "0-7", "ff"},
		{"00000001,00000000", 0, "32", "1,00000000"},
		{"80000000,00000001,0000ff00", 0, "8-15,32,95", "80000000,00000001,0000ff00"},
		{"1,0", 0, "32", "1,00000000"},
		{"", -EINVAL, NULL, NULL},
		{",1", -EINVAL, NULL, NULL},
		{"1,", -EINVAL, NULL, NULL},
		{"1,,1", -EINVAL, NULL, NULL},
		{"0x1", -EINVAL, NULL, NULL},
		{"1-2", -EINVAL, NULL, NULL},
		{"000000001", -EINVAL, NULL, NULL},
	};
	struct cpus high = {0}, again;
	cleanup_free char *text = NULL, *beyond = NULL, *zero = NULL;

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct cpus set = {.bit = {0, 42}}, untouched = set;
		cleanup_free char *list = NULL, *mask = NULL;

		assert_int_equal(cpus_parse_mask(t[i].text, &set), t[i].code);
		if (t[i].code < 0) {
			assert_memory_equal(&set, &untouched, sizeof(set));
			continue;
		}
		list = cpus_format(&set);
		mask = cpus_format_mask(&set);
		assert_string_equal(list, t[i].list);
		assert_string_equal(mask, t[i].canonical);
	}
	cpus_add(&high, CPUS_MAX - 1);
	text = cpus_format_mask(&high);
	assert_int_equal(cpus_parse_mask(text, &again), 0);
	assert_memory_equal(&high, &again, sizeof(high));
	beyond = xasprintf("1,%s", text);
	assert_int_equal(cpus_parse_mask(beyond, &again), -ERANGE);
	zero = xasprintf("0,%s", text);
	assert_int_equal(cpus_parse_mask(zero, &again), 0);
}

static void test_cpus_members(void **state)
{
	struct cpus set = {0}, gone = {0};
	int seen = 0;

	(void)state;
	assert_int_equal(cpus_first(&set), -1);
	assert_int_equal(cpus_last(&set), -1);
	assert_int_equal(cpus_next(&set, -1), -1);
	cpus_add(&set, CPUS_MAX); /* beyond: no effect, no write outside */
	assert_int_equal(cpus_count(&set), 0);
	assert_false(cpus_has(&set, CPUS_MAX));
	assert_int_equal(cpus_parse("0,64,4095,8191", &set), 0);
	for (int n = cpus_next(&set, -1); n >= 0; n = cpus_next(&set, n))
		seen++;
	assert_int_equal(seen, 4);
	assert_int_equal(cpus_first(&set), 0);
	assert_int_equal(cpus_last(&set), 8191);
	assert_int_equal(cpus_next(&set, 8191), -1);
	assert_int_equal(cpus_next(&set, 64), 4095);
	assert_int_equal(cpus_parse("0,8191,5", &gone), 0);
	cpus_remove_all(&set, &gone);
	assert_int_equal(cpus_first(&set), 64);
	assert_int_equal(cpus_last(&set), 4095);
}

static void test_distance(void **state)
{
	static const struct {
		const char *a, *b;
		size_t d;
	} t[] = {
		{"", "", 0},
		{"a", "", 1},
		{"", "abc", 3},
		{"vfs", "vfs", 0},
		{"vfz", "vfs", 1},
		{"sysctls", "sysctl", 1},
		{"vfs", "fvs", 1}, /* neighbours swapped */
		{"ab", "ba", 1},
		{"kitten", "sitting", 3},
		{"ca", "abc", 3}, /* optimal string alignment: nothing is touched twice */
		{"hugepages", "modules", 7},
	};
	char longest[66];

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		if (str_distance(t[i].a, t[i].b) != t[i].d ||
		    str_distance(t[i].b, t[i].a) != t[i].d)
			fail_msg("%s, %s: %zu", t[i].a, t[i].b, str_distance(t[i].a, t[i].b));
	}
	memset(longest, 'x', sizeof(longest));
	longest[65] = '\0';
	assert_int_equal(str_distance(longest, longest), 64); /* too long to be near */
	longest[64] = '\0';
	assert_int_equal(str_distance(longest, longest), 0);
	assert_int_equal(str_distance(longest, ""), 64);
}

static void test_str(void **state)
{
	cleanup_str struct str s = {0};
	cleanup_free char *taken = NULL, *empty = NULL;
	char padded[] = "value \t\r\n\n", blank[] = " \n", none[] = "";

	(void)state;
	assert_string_equal(str_get(&s), "");
	for (int i = 0; i < 100; i++)
		str_addf(&s, "%d,", i % 10);
	str_addn(&s, "end, and more", 3);
	str_add(&s, "");
	str_addf(&s, "%s", "");
	assert_int_equal(s.len, 203);
	assert_int_equal(strlen(s.s), 203);
	assert_string_equal(s.s + 196, "8,9,end");
	taken = str_take(&s);
	assert_int_equal(strlen(taken), 203);
	assert_null(s.s);
	empty = str_take(&s);
	assert_string_equal(empty, "");
	str_chomp(padded);
	assert_string_equal(padded, "value");
	str_chomp(blank);
	assert_string_equal(blank, "");
	str_chomp(none);
	assert_true(str_starts("virtfn0", "virtfn"));
	assert_true(str_starts("x", ""));
	assert_false(str_starts("virt", "virtfn"));
	assert_true(str_ends("a.conf", ".conf"));
	assert_false(str_ends(".conf", ".conf"));
	assert_false(str_ends("conf", ".conf"));
	assert_false(str_ends("a.conf~", ".conf"));
}

/* Texts that end within the room, just fill it, or go beyond. */
static void test_str_lengths(void **state)
{
	char text[100];

	(void)state;
	memset(text, 'x', sizeof(text));
	for (int had = 0; had < 90; had++) {
		for (int more = 0; more < 90; more++) {
			cleanup_str struct str s = {0};

			str_addn(&s, text, (size_t)had);
			str_addf(&s, "%.*s", more, text);
			assert_int_equal(s.len, had + more);
			assert_int_equal(strlen(str_get(&s)), had + more);
		}
	}
}

static void test_err(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(err_errno(&err, -ERANGE, "sriov_numvfs: %d asked, %d possible", 16, 8),
			 -ERANGE);
	assert_int_equal(err_wrap(&err, "sriov %s", "0000:3b:00.0"), -ERANGE);
	assert_int_equal(err.code, -ERANGE);
	assert_string_equal(err.text, "sriov 0000:3b:00.0: sriov_numvfs: 16 asked, 8 possible: "
				      "Numerical result out of range");
	assert_int_equal(err_set(&err, -EINVAL, "%s", "once more"), -EINVAL);
	assert_string_equal(err.text, "once more");
	/* who does not care passes none */
	assert_int_equal(err_set(NULL, -EBUSY, "x"), -EBUSY);
	assert_int_equal(err_errno(NULL, -EBUSY, "x"), -EBUSY);
	assert_true(err_wrap(NULL, "x") < 0);
}

static void test_err_explain(void **state)
{
	struct err err = {0};
	char text[ERR_TEXT_MAX];

	(void)state;
	err_set(&err, -ENOMEM, "writing '4'");
	assert_int_equal(err_explain(&err, "no room" TO_MEND "use less"), -ENOMEM);
	assert_string_equal(err.text, "no room: writing '4'; use less");
	assert_string_equal(err.text + err.mend, "use less");
	err_wrap(&err, "sriov");
	assert_string_equal(err.text + err.mend, "use less");
	err_set(&err, -ENOMEM, "writing '4'");
	err_explain(&err, "no room; see the log");
	assert_string_equal(err.text, "no room; see the log: writing '4'");
	assert_int_equal(err.mend, 0);
	assert_true(err_explain(NULL, "no room" TO_MEND "use less") < 0);
	/* of a remedy that is cut off none is left */
	for (size_t len = ERR_TEXT_MAX - 40; len < ERR_TEXT_MAX; len++) {
		memset(text, 'x', len);
		text[len] = '\0';
		err_set(&err, -EIO, "%s", text);
		err_explain(&err, "no room" TO_MEND "use less");
		if (err.mend)
			assert_string_equal(err.text + err.mend, "use less");
		else
			assert_string_equal(err.text + ERR_TEXT_MAX - 4, "...");
	}
}

/* A message that is cut anywhere ends in dots, and is never longer than its buffer. */
static void test_err_cut(void **state)
{
	static const size_t lengths[] = {ERR_TEXT_MAX - 2, ERR_TEXT_MAX - 1, ERR_TEXT_MAX,
					 ERR_TEXT_MAX + 1, 3 * ERR_TEXT_MAX};
	char text[3 * ERR_TEXT_MAX + 1];

	(void)state;
	for (size_t i = 0; i < array_len(lengths); i++) {
		bool fits = lengths[i] < ERR_TEXT_MAX;
		struct err err = {0};

		memset(text, 'x', lengths[i]);
		text[lengths[i]] = '\0';
		err_set(&err, -EIO, "%s", text);
		assert_int_equal(strlen(err.text), fits ? lengths[i] : ERR_TEXT_MAX - 1);
		assert_int_equal(streq(err.text + strlen(err.text) - 3, "..."), !fits);
		err_errno(&err, -EIO, "%s", text);
		assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
		assert_string_equal(err.text + ERR_TEXT_MAX - 4, "...");
		err_set(&err, -EIO, "inner");
		err_wrap(&err, "%s", text);
		assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
		assert_string_equal(err.text + ERR_TEXT_MAX - 4, "...");
	}
	{
		struct err err = {0};

		err_set(&err, -EIO, "reason");
		for (int i = 0; i < 1000; i++)
			err_wrap(&err, "level %d", i);
		assert_int_equal(strncmp(err.text, "level 999: level 998: ", 22), 0);
		assert_string_equal(err.text + ERR_TEXT_MAX - 4, "...");
	}
}

static void test_sha256(void **state)
{
	/* FIPS 180-4 examples and NIST's byte-oriented vectors */
	static const struct {
		const char *text;
		size_t times;
		const char *hex;
	} t[] = {
		{"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
		 "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
		 1, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
		{"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
		/* each way that the padding can fall */
		{"a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
		{"a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
		{"a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_str struct str s = {0};
		char hex[SHA256_HEX];

		for (size_t j = 0; j < t[i].times; j++)
			str_add(&s, t[i].text);
		sha256_hex(str_get(&s), s.len, hex);
		assert_string_equal(hex, t[i].hex);
	}
}

static void test_strv(void **state)
{
	static const char *const words[] = {"b", "a10", "A", "a1", "", "a-b", "a.b", "a1"};
	static const char *const sorted[] = {"", "A", "a-b", "a.b", "a1", "a1", "a10", "b"};
	cleanup_strv struct strv l = {0};
	struct strv none = {0};

	(void)state;
	strv_sort(&none);
	assert_int_equal(strv_contains(&none, ""), 0);
	for (size_t i = 0; i < array_len(words); i++)
		strv_add(&l, words[i]);
	strv_sort(&l);
	assert_int_equal(l.n, array_len(sorted));
	for (size_t i = 0; i < l.n; i++)
		assert_string_equal(l.v[i], sorted[i]);
	assert_int_equal(strv_contains(&l, "a10"), 1);
	assert_int_equal(strv_contains(&l, "a"), 0);
	strv_free(&none);
}

static void test_vec(void **state)
{
	VEC(int) v = {0};

	(void)state;
	for (int i = 0; i < 1000; i++)
		vec_push(&v, i * i);
	assert_int_equal(v.n, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(v.v[i], i * i);
	vec_free(&v);
	assert_null(v.v);
	assert_int_equal(v.n + v.cap, 0);
	vec_push(&v, 7);
	assert_int_equal(v.v[0], 7);
	vec_free(&v);
}

static void test_version(void **state)
{
	static const struct {
		const char *want, *have;
		bool fits;
	} cases[] = {
		{">=6.1", "6.1.0-18-amd64", true},
		{">=6.9", "6.12.1", true},
		{">=6.12", "6.9.12", false},
		{">=6.1", "6.1", true},
		{">=6.1.1", "6.1", false},
		{">=28.39.1002", "28.39.1002", true},
		{">=28.39.1002", "28.39.0950", false},
		{">=28.39.0950", "28.39.1002", true},
		{">=1.0", "1.0~rc1", false},
		{">=6.8", "6.8.0-rc1", false},
		{">=6.8.0", "6.8.0-rc1-amd64", false},
		{">=6.8", "6.8.0-060800rc1-generic", false},
		{">=6.8", "6.8.0-0.rc3.20240209git.30.fc40.x86_64", false},
		{">=6.8", "6.8.0-1-generic", true},
		{">=6.8", "6.8.0-src1", true},
		{">=6.8", "6.9.0-rc1", true},
		{">=6.8", "6.8.1-rc1", true},
		{">=6.8-rc2", "6.8.0-rc10", true},
		{">=6.8.0-rc2", "6.8.0-rc1", false},
		{">=6.8.0-rc2", "6.8.0-1-amd64", true},
		{"6.8", "6.8.0-rc1", false},
		{"6.8.0-rc1", "6.8.0-rc1", true},
		{">=24.10-0.7.0", "24.10-1.1.4", true},
		{">=535.54", "", false},
		{"6.1", "6.1.0-18-amd64", true},
		{"6.1", "6.12.0", false},
		{"550.90.07", "550.90.07", true},
		{"550.90.07", "550.90.7", false},
		{">=99999999999999999999998", "99999999999999999999999", true},
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++)
		if (version_fits(cases[i].want, cases[i].have) != cases[i].fits)
			fail_msg("%s, %s", cases[i].want, cases[i].have);
	assert_int_equal(version_compare("1.0", "1.00"), 0);
	assert_true(version_compare("1.0a", "1.0") > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64),	     cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_durations),    cmocka_unit_test(test_format_duration),
		cmocka_unit_test(test_rates),	     cmocka_unit_test(test_gts),
		cmocka_unit_test(test_cpus),	     cmocka_unit_test(test_cpu_masks),
		cmocka_unit_test(test_cpus_members), cmocka_unit_test(test_distance),
		cmocka_unit_test(test_str),	     cmocka_unit_test(test_str_lengths),
		cmocka_unit_test(test_err),	     cmocka_unit_test(test_err_explain),
		cmocka_unit_test(test_err_cut),	     cmocka_unit_test(test_sha256),
		cmocka_unit_test(test_strv),	     cmocka_unit_test(test_vec),
		cmocka_unit_test(test_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
