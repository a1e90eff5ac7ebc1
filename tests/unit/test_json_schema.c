/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON Schema refuses nothing that check takes. Every scalar of the language is asked of
 * some thousand texts, quoted and plain: what its check takes must fit its part of the schema.
 * Patterns are POSIX expressions, which many checks go by, and those of ECMA 262, which editors
 * use: none may have syntax that the two read differently. The example of each fits its pattern.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/json_schema.h"
#include "profile/value.h"
#include "profile/yaml.h"

/* --- a reader of the part of JSON Schema that scalars use ---------------------------------- */

/* As an editor reads YAML 1.2: a plain text may be a boolean or a number. */
static json_t *read_yaml(const char *text, bool plain)
{
	char *end;
	long long v;
	double d;

	if (plain && (streq(text, "true") || streq(text, "false")))
		return json_boolean(*text == 't');
	if (!plain || !*text || text[strspn(text, "+-.0123456789e")])
		return json_stringn_nocheck(text, strlen(text));
	errno = 0;
	v = strtoll(text, &end, 10);
	if (!*end && !errno)
		return json_integer(v);
	d = strtod(text, &end);
	return *end ? json_stringn_nocheck(text, strlen(text)) : json_real(d);
}

/* One spec's texts come in a row: its pattern is compiled once. */
static bool matches(const char *pattern, const char *text)
{
	static regex_t re;
	static char *compiled;

	if (!compiled || !streq(compiled, pattern)) {
		if (compiled)
			regfree(&re);
		free(compiled);
		compiled = xasprintf("%s", pattern);
		if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB) != 0)
			fail_msg("no POSIX expression: %s", pattern);
	}
	return regexec(&re, text, 0, NULL, 0) == 0;
}

static bool is_of_type(const char *type, const json_t *v)
{
	double d = json_number_value(v);

	if (streq(type, "string"))
		return json_is_string(v);
	if (streq(type, "boolean"))
		return json_is_boolean(v);
	if (streq(type, "number"))
		return json_is_number(v);
	assert_string_equal(type, "integer");
	return json_is_integer(v) || (json_is_real(v) && d > -1e15 && d < 1e15 && d == (int64_t)d);
}

static bool type_fits(const json_t *types, const json_t *v)
{
	const json_t *t;
	size_t i;

	if (json_is_string(types))
		return is_of_type(json_string_value(types), v);
	json_array_foreach(types, i, t) if (is_of_type(json_string_value(t), v)) return true;
	return false;
}

static bool number_fits(const json_t *schema, const json_t *v)
{
	const json_t *min = json_object_get(schema, "minimum");
	const json_t *max = json_object_get(schema, "maximum");

	return (!min || json_number_value(v) >= json_number_value(min)) &&
	       (!max || json_number_value(v) <= json_number_value(max));
}

static bool is_one_of(const json_t *list, const json_t *v)
{
	const json_t *word;
	size_t i;

	json_array_foreach(list, i, word) if (json_equal(word, v)) return true;
	return false;
}

static bool fits(const json_t *schema, const json_t *v)
{
	const json_t *any = json_object_get(schema, "anyOf"), *one;
	const json_t *words = json_object_get(schema, "enum");
	const char *pattern = json_string_value(json_object_get(schema, "pattern"));
	size_t i;

	json_array_foreach(any, i, one) if (fits(one, v)) return true;
	if (any || words)
		return words && is_one_of(words, v);
	if (!type_fits(json_object_get(schema, "type"), v))
		return false;
	if (json_is_string(v))
		return !pattern || matches(pattern, json_string_value(v));
	return !json_is_number(v) || number_fits(schema, v);
}

/* --- texts --------------------------------------------------------------------------------- */

static const char *const heads[] = {"", ">=", "-", "0", "vfs of ", "0-", "3,"};
static const char *const numbers[] = {"0",    "1",    "2",    "7",	"8",	   "10",
				      "11",   "16",   "31",   "63",	"64",	   "99",
				      "100",  "128",  "500",  "1000",	"1023",	   "1024",
				      "4096", "8191", "8192", "131071", "1000000", "2147483647"};
static const char *const tails[] = {
	"",	  "K",	"M",   "G",    "T",	    "B",    "us",   "ms",   "s",	"m",
	"h",	  "d",	"ns",  "%",    "% of line", "GT/s", "Mb/s", "Gb/s", "MB/s",	"GB/s",
	".5GT/s", "-9", ",12", "-012", ",3-4,9",    ".5",   "e3",   "e-3",  " per node"};
static const char *const words[] = {
	"true",
	"false",
	"-0",
	"-010",
	"010",
	"a",
	"_a",
	"-",
	"a-b_c",
	"A.b+c~d:e",
	"mlx5_core",
	"rx-gro-hw",
	"vfs of rails",
	"15b3:1021",
	"15B3:10fe",
	"0000:5e:00.0",
	"10000:01:00.7",
	"0000:5e:*",
	"0000:[35]?:00.[!01-3]",
	"*",
	"[",
	"pci=realloc,noats",
	"x=[]^{}|~!#$%&()*+,-./:;<>?@",
	"[a]=b",
	"a=",
	"0x1f",
	"1e-5",
	"^_`{|}~!$%&()*+,-./:;<=>?@[]",
	"net.core.rmem_max",
	"net/ipv4/conf/eth0.100/rp_filter",
	"a.b",
	"net.*.[ab]:@?-",
	"/sys/a",
	"/sys/block/nvme*n*/queue/scheduler",
	"/sys/.a/..b/.../a./a..b/!#~-,",
	"/a",
	"/mnt/ai-data/.x/..y/...",
	"/mnt/\xc3\xa4",
	"nfs",
	"fuse.s3fs",
	"proto=rdma,port=20049",
	"a,b=\"c\",-d",
	"containerd.service",
	"2M/s",
	"CAP_NET_RAW",
	"CAP_NET_CAW",
	"a@b\\x2d:c.service",
	"-.service",
	"6.1-rc1+b~2_x",
	"24.10",
	"02:00:00:00:00:01",
	"fe:ff:ff:ff:ff:ff",
	"02:00:00:00:00:00:00:01",
	"a b\tc \xc3\xa4 \"'\\",
	"|/bin/false",
	"4096 87380 16777216",
	"2.5GT/s",
	"64.0GT/s",
	"0.1GT/s",
};

struct tally {
	size_t specs, taken;
};

static bool check_takes(const struct spec *s, const char *text, bool plain)
{
	struct ynode n = {.kind = YAML_SCALAR, .text = (char *)text, .plain = plain};
	struct str why = {0};
	bool taken = s->check(s, &n, &why);

	str_free(&why);
	free(n.value.set);
	return taken;
}

static size_t try_text(const struct spec *s, const json_t *schema, const char *text)
{
	size_t taken = 0;

	for (int plain = 0; plain < 2; plain++) {
		json_t *v;

		if (!check_takes(s, text, plain))
			continue;
		taken++;
		v = read_yaml(text, plain);
		if (!fits(schema, v)) {
			char *shown = json_dumps(schema, 0);

			fail_msg("%s: check takes %s '%s', but the JSON Schema does not: %s",
				 s->what, plain ? "plain" : "quoted", text, shown);
		}
		json_decref(v);
	}
	return taken;
}

static size_t try_amounts(const struct spec *s, const json_t *schema)
{
	size_t taken = 0;

	for (size_t h = 0; h < array_len(heads); h++)
		for (size_t n = 0; n < array_len(numbers); n++)
			for (size_t t = 0; t < array_len(tails); t++) {
				char text[64];

				snprintf(text, sizeof(text), "%s%s%s", heads[h], numbers[n],
					 tails[t]);
				taken += try_text(s, schema, text);
			}
	return taken;
}

/* --- patterns and their examples ------------------------------------------------------------ */

/* To POSIX, a backslash in brackets is a character, and ] is one behind the opening bracket. */
static void is_of_both_dialects(const char *pattern)
{
	bool inside = false, good = *pattern == '^' && str_ends(pattern, "$");

	for (const char *p = pattern; good && *p; p++) {
		if (*p == '\\') {
			good = inside ? *++p == '\\' : ispunct((unsigned char)*++p) != 0;
			continue;
		}
		if (*p == '[')
			good = !inside && p[1] != ']' && !str_starts(p + 1, "^]");
		if (*p == '?' && !inside) /* lazy repetition, groups of ECMA */
			good = !strchr("(*+?}", p[-1]);
		inside = *p == '[' || (inside && *p != ']');
	}
	if (!good)
		fail_msg("%s: not the same in both dialects", pattern);
}

static void try_example(const struct spec *s, const char *example)
{
	bool is_word = false;
	const char *word;

	for (size_t i = 0; (word = spec_word(s, i)); i++)
		is_word |= streq(word, example);
	if (!check_takes(s, example, true) || (!is_word && !matches(s->pattern, example)))
		fail_msg("%s: '%s' is no example", s->what, example);
}

/* What messages show behind "such as": 26 or 24-31,46 (or so). */
static void try_examples(const struct spec *s)
{
	const char *p = strstr(s->what, "such as ");

	is_of_both_dialects(s->pattern);
	if (!p)
		fail_msg("%s: such as?", s->what);
	for (p += strlen("such as "); *p;) {
		struct str example = {0};

		while (*p && !str_starts(p, ", ") && !str_starts(p, " or ")) {
			if (str_starts(p, " ("))
				p = strchr(p, ')');
			else if (*p != '"')
				str_addf(&example, "%c", *p);
			p++;
		}
		try_example(s, str_get(&example));
		str_free(&example);
		p += strspn(p, ", ");
		p += str_starts(p, "or ") ? strlen("or ") : 0;
	}
}

static void try_scalar(const struct spec *s)
{
	json_t *schema = json_schema_scalar(s, false);
	size_t taken = try_amounts(s, schema);
	const char *word;
	char bound[32];

	for (size_t i = 0; i < array_len(words); i++)
		taken += try_text(s, schema, words[i]);
	for (size_t i = 0; (word = spec_word(s, i)); i++)
		taken += try_text(s, schema, word);
	snprintf(bound, sizeof(bound), "%lld", (long long)s->min);
	taken += try_text(s, schema, bound);
	snprintf(bound, sizeof(bound), "%lld", (long long)s->max);
	taken += try_text(s, schema, bound);
	if (s->pattern && s->check != value_int && s->check != value_count &&
	    s->check != value_schema)
		try_examples(s);
	/* or nothing was asked of it */
	if (!taken)
		fail_msg("%s: none of the texts is one; add some", s->what);
	json_decref(schema);
}

/* --- the walk ------------------------------------------------------------------------------ */

static const struct spec *seen[1024];
static size_t n_seen;

static void walk(const struct spec *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < n_seen; i++)
		if (seen[i] == s)
			return;
	assert_true(n_seen < array_len(seen));
	seen[n_seen++] = s;
	if (s->kind == SPEC_SCALAR)
		try_scalar(s);
	walk(s->item);
	walk(s->key);
	walk(s->scalar);
	walk(s->list);
	walk(s->map);
	for (const struct field *f = s->fields; f && f->name; f++)
		walk(f->spec);
}

static void takes_what_check_takes(void **state)
{
	(void)state;
	n_seen = 0;
	walk(schema_profile());
	assert_true(n_seen > 100);
}

/* The reader above must be able to refuse, or the walk proves nothing. */
static void refuses_too(void **state)
{
	const struct spec *mtu =
		spec_child(spec_child(spec_child(schema_profile(), "link"), "any"), "mtu");
	const struct spec *up =
		spec_child(spec_child(spec_child(schema_profile(), "link"), "any"), "up");
	static const char *const not_mtu[] = {"67", "65536", "9000.5", "true", "nine", "09x"};
	json_t *schema = json_schema_scalar(mtu, false);

	(void)state;
	for (size_t i = 0; i < array_len(not_mtu); i++) {
		json_t *v = read_yaml(not_mtu[i], true);

		assert_false(fits(schema, v));
		json_decref(v);
	}
	json_decref(schema);
	schema = json_schema_scalar(up, false);
	json_t *v = read_yaml("true", false);
	assert_false(fits(schema, v));
	json_decref(v);
	json_decref(schema);
}

/* Keys of maps are strings to a JSON Schema: they need a pattern or an enum. */
static void keys_have_patterns(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_seen; i++)
		if (seen[i]->kind == SPEC_MAP_OF && !seen[i]->key->pattern)
			fail_msg("%s: its keys have no pattern", seen[i]->what);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_what_check_takes),
		cmocka_unit_test(refuses_too),
		cmocka_unit_test(keys_have_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
