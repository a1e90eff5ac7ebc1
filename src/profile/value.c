/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of single values. Each reports the problem and the remedy. The traps of YAML 1.1 (on, off,
 * yes, no; 010; 12:34) have specific messages, because authors know them from tools where they
 * work.
 */
#include "profile/value.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/capability.h"
#include "base/karg.h"
#include "base/units.h"
#include "base/vec.h"
#include "profile/profile.h"
#include "profile/yaml.h"

#define DIGITS "0123456789"

enum {
	SHOWN = 60,	  /* bytes of a value that a message shows */
	BYTES_MAX = 4000, /* of a text whose spec says no other limit */
};
#define DAY_US INT64_C(86400000000)

static bool only(const char *s, const char *chars)
{
	return *s && !s[strspn(s, chars)];
}

/* "'x' is not WHAT[; NOTE]" */
static bool reject(const struct spec *s, const struct ynode *n, struct str *why, const char *note)
{
	if (*n->text)
		str_addf(why, "'%.*s' is not %s", SHOWN, n->text, s->what);
	else
		str_addf(why, "an empty text is not %s", s->what);
	if (note)
		str_addf(why, "; %s", note);
	return false;
}

static bool accept(struct ynode *n, enum value_type type, uint64_t number)
{
	n->value.type = type;
	n->value.number = (int64_t)number;
	return true;
}

static bool is_word(const struct spec *s, struct ynode *n)
{
	const char *word;

	for (size_t i = 0; (word = spec_word(s, i)); i++)
		if (streq(n->text, word))
			return accept(n, VALUE_WORD, i);
	return false;
}

char *value_text(const struct value *v, int64_t number)
{
	const char *word;

	if (v->type == VALUE_BOOL)
		return number == 0 || number == 1 ? xstrdup(number ? "true" : "false") : NULL;
	if (v->type != VALUE_WORD)
		return xasprintf("%lld", (long long)number);
	for (size_t i = 0; (word = spec_word(v->spec, i)); i++)
		if ((int64_t)i == number)
			return xstrdup(word);
	return NULL;
}

static bool is_switch_word(const char *s)
{
	static const char *const words[] = {"on", "off", "yes", "no", "y", "n"};

	for (size_t i = 0; i < array_len(words); i++)
		if (strcasecmp(s, words[i]) == 0)
			return true;
	return false;
}

static bool is_zero_led(const char *s)
{
	return s[0] == '0' && isdigit((unsigned char)s[1]);
}

/*
 * Rejects 010 and 1:30, because YAML 1.1 reads them as eight and ninety: authors do not mean that,
 * and readers cannot tell.
 */
static bool number_trap(const struct ynode *n, struct str *why)
{
	size_t digits = strspn(n->text, DIGITS);
	const char *sign = *n->text == '-' ? "-" : "", *number = n->text + strlen(sign);

	if (is_zero_led(number) && only(number, DIGITS)) {
		const char *rest = number + strspn(number, "0");

		str_addf(why,
			 "'%.*s' is octal in YAML 1.1; write %s%.*s (railhead reads decimal "
			 "numbers)",
			 SHOWN, n->text, *rest ? sign : "", SHOWN, *rest ? rest : "0");
		return true;
	}
	if (digits && n->text[digits] == ':' && only(n->text, DIGITS ":")) {
		str_addf(why, "'%.*s' is a base-60 number in YAML 1.1; write a decimal number",
			 SHOWN, n->text);
		return true;
	}
	return false;
}

/* --- units -------------------------------------------------------------------------------- */

struct units {
	int (*parse)(const char *text, uint64_t *ret); /* NULL: digits, then the name */
	/* For messages, with the size in base units: the largest first, that of size 1 last. */
	struct unit_name {
		int64_t size;
		const char *name;
	} names[4];
};

const struct units units_bytes = {parse_size,
				  {{1 << 30, "G"}, {1 << 20, "M"}, {1 << 10, "K"}, {1, " bytes"}}};
const struct units units_duration = {parse_duration,
				     {{DAY_US, "d"}, {1000000, "s"}, {1000, "ms"}, {1, "us"}}};
const struct units units_latency = {parse_latency, {{1, "ns"}}};
const struct units units_rate = {parse_rate,
				 {{125000000, "Gb/s"}, {125000, "Mb/s"}, {1, " bytes/s"}}};
const struct units units_messages = {parse_message_rate, {{1, "/s"}}};
const struct units units_percent = {NULL, {{1, "%"}}};
const struct units units_metres = {NULL, {{1, "m"}}};
const struct units units_per_node = {NULL, {{1, " per node"}}};

static char *amount(const struct spec *s, int64_t v)
{
	static const struct units none = {NULL, {{1, ""}}};
	const struct unit_name *u = (s->units ?: &none)->names;

	if (!v && u->size == DAY_US) /* "0s", not "0d" */
		u++;
	while (u->size > 1 && v % u->size)
		u++;
	return xasprintf("%lld%s", (long long)(v / u->size), u->name);
}

bool spec_range(const struct spec *s, char **min, char **max)
{
	if (s->kind != SPEC_SCALAR || !s->max || s->max == INT64_MAX)
		return false;
	*min = amount(s, s->min);
	*max = amount(s, s->max);
	return true;
}

static bool reject_range(const struct spec *s, const struct ynode *n, struct str *why)
{
	cleanup_free char *min = amount(s, s->min), *max = amount(s, s->max);

	str_addf(why, "%.*s is out of range; must be %s to %s", SHOWN, n->text, min, max);
	return false;
}

/* --- plain kinds -------------------------------------------------------------------------- */

bool value_bool(const struct spec *s, struct ynode *n, struct str *why)
{
	bool is_word = streq(n->text, "true") || streq(n->text, "false");
	bool no = strcasecmp(n->text, "no") == 0 || strcasecmp(n->text, "off") == 0 ||
		  strcasecmp(n->text, "n") == 0 || strcasecmp(n->text, "false") == 0;

	if (is_word && n->plain)
		return accept(n, VALUE_BOOL, !no);
	if (is_word)
		str_addf(why, "\"%s\" in quotes is text; write %s without quotes", n->text,
			 n->text);
	else if (is_switch_word(n->text) || strcasecmp(n->text, "true") == 0 || no)
		str_addf(why, "'%s' is not a boolean; write %s", n->text, no ? "false" : "true");
	else
		return reject(s, n, why, NULL);
	return false;
}

static bool parse_int(const char *text, int64_t *ret)
{
	uint64_t v;

	if (parse_u64(text + (*text == '-'), &v) < 0 || v > INT32_MAX)
		return false;
	*ret = *text == '-' ? -(int64_t)v : (int64_t)v;
	return true;
}

bool value_int(const struct spec *s, struct ynode *n, struct str *why)
{
	int64_t v = 0;

	if (is_word(s, n))
		return true;
	if (number_trap(n, why))
		return false;
	if (!only(n->text + (*n->text == '-'), DIGITS))
		return reject(s, n, why, NULL);
	if (parse_int(n->text, &v) && v >= s->min && v <= s->max)
		return accept(n, VALUE_NUMBER, (uint64_t)v);
	return reject_range(s, n, why);
}

/* An exact count, or ">=N". */
bool value_count(const struct spec *s, struct ynode *n, struct str *why)
{
	struct ynode number = *n;
	bool at_least = str_starts(n->text, ">=");

	number.text += at_least ? 2 : 0;
	if (*number.text == '-' || *number.text == ' ')
		return reject(s, n, why, NULL);
	if (!value_int(s, &number, why))
		return false;
	n->value = number.value;
	n->value.at_least = at_least;
	return true;
}

bool value_schema(const struct spec *s, struct ynode *n, struct str *why)
{
	int64_t v = 0;

	if (number_trap(n, why))
		return false;
	if (!only(n->text, DIGITS))
		return reject(s, n, why, NULL);
	if (parse_int(n->text, &v) && v >= SCHEMA_MIN && v <= SCHEMA_MAX)
		return accept(n, VALUE_NUMBER, (uint64_t)v);
	str_addf(why, "schema %.*s; this railhead reads %d..%d%s", 20, n->text, SCHEMA_MIN,
		 SCHEMA_MAX, v < SCHEMA_MIN && only(n->text, "0") ? "" : "; upgrade railhead");
	return false;
}

bool value_word(const struct spec *s, struct ynode *n, struct str *why)
{
	const char *word, *near = NULL;
	size_t best = SIZE_MAX;

	if (is_word(s, n))
		return true;
	for (size_t i = 0; (word = spec_word(s, i)); i++)
		if (str_is_near(n->text, word, &best))
			near = word;
	str_addf(why, "'%.*s' is %snot %s; ", SHOWN, n->text,
		 is_switch_word(n->text) ? "a boolean in YAML 1.1, and " : "", s->what);
	if (near) {
		str_addf(why, "did you mean '%s'?", near);
		return false;
	}
	str_add(why, "expected one of: ");
	for (size_t i = 0; (word = spec_word(s, i)); i++)
		str_addf(why, "%s%s", i ? ", " : "", word);
	return false;
}

bool value_capability(const struct spec *s, struct ynode *n, struct str *why)
{
	return capability_number(n->text) >= 0 || reject(s, n, why, "see capabilities(7)");
}

/* --- numbers with units ------------------------------------------------------------------- */

/* r, v: result of the unit's parser. */
static bool judge_unit(const struct spec *s, struct ynode *n, int r, uint64_t v, struct str *why)
{
	if (r == 0 && v > INT64_MAX)
		r = -ERANGE;
	if (r == 0 && !is_zero_led(n->text + (n->value.at_least ? strlen(">=") : 0)))
		return accept(n, VALUE_NUMBER, v);
	if (number_trap(n, why))
		return false;
	if (r == -ERANGE)
		return reject(s, n, why, "write a smaller number");
	if (r == 0)
		return reject(s, n, why, "write it without a leading zero");
	return reject(s, n, why, only(n->text, DIGITS) ? "write the unit" : NULL);
}

static bool above_zero(const struct spec *s, struct ynode *n, struct str *why)
{
	if (n->value.number)
		return true;
	n->value = (struct value){0};
	return reject(s, n, why, "write a value greater than zero");
}

static int parse_suffixed(const char *text, const char *suffix, uint64_t *ret)
{
	cleanup_free char *number = xstrndup(text, strspn(text, DIGITS));

	return streq(text + strlen(number), suffix) ? parse_u64(number, ret) : -EINVAL;
}

bool value_amount(const struct spec *s, struct ynode *n, struct str *why)
{
	const struct units *u = s->units;
	uint64_t v = 0;
	int r = u->parse ? u->parse(n->text, &v) : parse_suffixed(n->text, u->names->name, &v);

	if (is_word(s, n))
		return true;
	if (!judge_unit(s, n, r, v, why))
		return false;
	if (!s->max)
		return above_zero(s, n, why);
	if (n->value.number >= s->min && n->value.number <= s->max)
		return true;
	n->value = (struct value){0};
	return reject_range(s, n, why);
}

/* A page size, by the kernel's names. */
bool value_page_size(const struct spec *s, struct ynode *n, struct str *why)
{
	uint64_t bytes = 0;

	return value_word(s, n, why) && parse_size(n->text, &bytes) == 0 &&
	       accept(n, VALUE_NUMBER, bytes);
}

/* Octal, as in chmod(1), with or without a leading zero. */
bool value_mode(const struct spec *s, struct ynode *n, struct str *why)
{
	return value_pattern(s, n, why) && accept(n, VALUE_NUMBER, strtoul(n->text, NULL, 8));
}

/* "92% of line": a share of the rate of the link, of the PCIe slot or of the other set members. */
static int parse_share(const char *text, struct value *ret)
{
	static const char *const of[] = {"% of line", "% of pcie", "% of set"};
	size_t digits = strspn(text, DIGITS), i = 0;
	uint64_t percent = 0;
	cleanup_free char *number = xstrndup(text, digits);

	while (i < array_len(of) && !streq(text + digits, of[i]))
		i++;
	if (i == array_len(of) || parse_u64(number, &percent) < 0)
		return -EINVAL;
	if (percent < 1 || percent > 100)
		return -ERANGE;
	*ret = (struct value){
		.type = VALUE_SHARE, .number = (int64_t)percent, .of = of[i] + strlen("% of ")};
	return 0;
}

/* An absolute rate, or a share. */
bool value_measure(const struct spec *s, struct ynode *n, struct str *why)
{
	uint64_t v = 0;
	int r = parse_rate(n->text, &v);
	struct value share = {0};

	if (r != -EINVAL)
		return judge_unit(s, n, r, v, why) && above_zero(s, n, why);
	r = parse_share(n->text, &share);
	if (r == -ERANGE)
		return reject(s, n, why, "write a share of 1% to 100%");
	if (!judge_unit(s, n, r, 0, why))
		return false;
	n->value = share;
	return true;
}

bool value_speed(const struct spec *s, struct ynode *n, struct str *why)
{
	uint64_t rate = 0;
	uint32_t v = 0;
	int r;

	if (strstr(n->text, "b/s")) { /* a port's speed is in bits per second */
		r = parse_rate(n->text, &rate);
		return judge_unit(s, n, r, rate, why);
	}
	r = parse_gts(n->text, &v);
	/* reject sysfs's notation, which has blanks and "PCIe" */
	if (r == 0 && strchr(n->text, ' '))
		r = -EINVAL;
	return judge_unit(s, n, r, v, why) && accept(n, VALUE_GTS, v);
}

bool value_memory(const struct spec *s, struct ynode *n, struct str *why)
{
	uint64_t v = 0;
	bool at_least = str_starts(n->text, ">=");
	int r = parse_size(n->text + (at_least ? 2 : 0), &v);

	n->value.at_least = at_least;
	return judge_unit(s, n, r, v, why) && above_zero(s, n, why);
}

/* --- CPUs --------------------------------------------------------------------------------- */

static bool accept_set(struct ynode *n, const struct cpus *set)
{
	if (!n->value.set)
		n->value.set = xnew(struct cpus);
	*n->value.set = *set;
	return accept(n, VALUE_SET, 0);
}

bool value_cpus(const struct spec *s, struct ynode *n, struct str *why)
{
	struct cpus set;
	int r = cpus_parse(n->text, &set);

	if (is_word(s, n))
		return true;
	if (r == 0 && *n->text)
		return accept_set(n, &set);
	return reject(s, n, why, r == -ERANGE ? "the highest CPU number is 8191" : NULL);
}

/* A list of numbers up to max in the same notation: DSCPs. */
bool value_numbers(const struct spec *s, struct ynode *n, struct str *why)
{
	struct cpus set;
	int r = cpus_parse(n->text, &set);

	if (number_trap(n, why))
		return false;
	if (r < 0 || !*n->text)
		return reject(s, n, why, NULL);
	if (cpus_last(&set) <= s->max)
		return accept_set(n, &set);
	return reject_range(s, n, why);
}

/* --- texts -------------------------------------------------------------------------------- */

struct expression {
	const char *pattern;
	regex_t regex;
};

/* The expressions stay compiled, because each document asks for the same few. */
static const regex_t *compiled(const char *pattern)
{
	static VEC(struct expression) all;
	struct expression new = {.pattern = pattern};

	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].pattern == pattern)
			return &all.v[i].regex;
	if (regcomp(&new.regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		abort();
	vec_push(&all, new);
	return &all.v[all.n - 1].regex;
}

bool value_pattern(const struct spec *s, struct ynode *n, struct str *why)
{
	size_t bytes = s->bytes ?: BYTES_MAX;

	/* DEL is no part of patterns, because the output replaces it, of the schema too. */
	if (strlen(n->text) <= bytes)
		return (!strchr(n->text, '\x7f') &&
			regexec(compiled(s->pattern), n->text, 0, NULL, 0) == 0) ||
		       reject(s, n, why, *n->text ? s->note : NULL);
	reject(s, n, why, NULL);
	str_addf(why, "; use at most %zu bytes", bytes);
	return false;
}

static bool is_bound(const char *text)
{
	return str_starts(text, ">=") && only(text + 2, DIGITS) && !is_zero_led(text + 2);
}

bool value_line(const struct spec *s, struct ynode *n, struct str *why)
{
	uint64_t v = 0;

	if (*n->text && strchr("<=>", *n->text) && !is_bound(n->text))
		return reject(s, n, why, "of <, = and >, only >= is accepted, before a number");
	if (!value_pattern(s, n, why))
		return false;
	if (!str_starts(n->text, ">="))
		return true;
	if (parse_u64(n->text + 2, &v) < 0 || v > INT64_MAX)
		return reject(s, n, why, "write a smaller number");
	n->value.at_least = true;
	return accept(n, VALUE_NUMBER, v);
}

/* Pairs of hexadecimal digits with colons. A port with GUID 0, for example, never leaves INIT. */
bool value_id(const struct spec *s, struct ynode *n, struct str *why)
{
	uint64_t number = 0;

	if (!value_pattern(s, n, why))
		return false;
	for (const char *p = n->text; *p; p++)
		if (*p != ':')
			number = number << 4 | strtoul((char[]){*p, '\0'}, NULL, 16);
	if (number < (uint64_t)s->min)
		return reject(s, n, why, "write a nonzero address");
	return accept(n, VALUE_ID, number);
}

/* Dots or slashes separate the parts, as in sysctl.d(5); globs are accepted. */
bool value_sysctl_key(const struct spec *s, struct ynode *n, struct str *why)
{
	if (str_starts(n->text, "/") || str_starts(n->text, "proc/"))
		return reject(s, n, why, "leave out /proc/sys/");
	return value_pattern(s, n, why);
}

bool value_kernel_arg(const struct spec *s, struct ynode *n, struct str *why)
{
	struct err err = {0};

	if (!*n->text)
		return reject(s, n, why, NULL);
	if (karg_check(n->text, &err) == 0)
		return true;
	str_add(why, err.text);
	return false;
}
