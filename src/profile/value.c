/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of single values. Each says what is wrong and what would be right; the traps of
 * YAML 1.1 (on, off, yes, no; 010; 12:34) get words of their own, since an author who steps
 * into one has seen it work elsewhere.
 */
#include "profile/value.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "profile/profile.h"

#define DIGITS "0123456789"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define WORD LOWER UPPER DIGITS "_-"
#define HEX DIGITS "abcdefABCDEF"

enum { SHOWN = 60 }; /* how much of a value a message shows */

static bool only(const char *s, const char *chars)
{
	return *s && !s[strspn(s, chars)];
}

static bool is_one_of(const char *s, const char *const *words)
{
	for (; words && *words; words++)
		if (streq(s, *words))
			return true;
	return false;
}

static void list_words(struct str *out, const char *const *words)
{
	for (size_t i = 0; words && words[i]; i++)
		str_addf(out, "%s%s", i ? ", " : "", words[i]);
}

/* "'x' is not WHAT[; NOTE]" */
static bool refuse(const struct spec *s, const struct ynode *n, struct str *why, const char *note)
{
	if (*n->text)
		str_addf(why, "'%.*s' is not %s", SHOWN, n->text, s->what);
	else
		str_addf(why, "an empty text is not %s", s->what);
	if (note)
		str_addf(why, "; %s", note);
	return false;
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
 * YAML 1.1 reads 010 as eight and 1:30 as ninety. Nobody who writes them means that, and
 * the next reader of the file can't know.
 */
static bool number_trap(const struct ynode *n, struct str *why)
{
	size_t digits = strspn(n->text, DIGITS);

	if (is_zero_led(n->text) && !n->text[digits]) {
		const char *rest = n->text + strspn(n->text, "0");

		str_addf(why,
			 "'%.*s' is octal to some YAML readers; write %.*s (numbers are decimal "
			 "here)",
			 SHOWN, n->text, SHOWN, *rest ? rest : "0");
		return true;
	}
	if (digits && n->text[digits] == ':' && only(n->text, DIGITS ":")) {
		str_addf(why,
			 "'%.*s' is a number to base 60 to some YAML readers; write a decimal "
			 "number",
			 SHOWN, n->text);
		return true;
	}
	return false;
}

/* --- plain kinds -------------------------------------------------------------------------- */

bool value_bool(const struct spec *s, const struct ynode *n, struct str *why)
{
	bool is_word = streq(n->text, "true") || streq(n->text, "false");
	bool no = strcasecmp(n->text, "no") == 0 || strcasecmp(n->text, "off") == 0 ||
		  strcasecmp(n->text, "n") == 0 || strcasecmp(n->text, "false") == 0;

	if (is_word && n->plain)
		return true;
	if (is_word)
		str_addf(why, "\"%s\" in quotes is text; write %s without quotes", n->text,
			 n->text);
	else if (is_switch_word(n->text) || strcasecmp(n->text, "true") == 0 || no)
		str_addf(why, "'%s' is no boolean here; write %s", n->text, no ? "false" : "true");
	else
		return refuse(s, n, why, NULL);
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

bool value_int(const struct spec *s, const struct ynode *n, struct str *why)
{
	int64_t v = 0;

	if (is_one_of(n->text, s->words))
		return true;
	if (number_trap(n, why))
		return false;
	if (!only(n->text + (*n->text == '-'), DIGITS))
		return refuse(s, n, why, NULL);
	if (parse_int(n->text, &v) && v >= s->min && v <= s->max)
		return true;
	str_addf(why, "%.*s is out of range; %lld to %lld is possible", SHOWN, n->text,
		 (long long)s->min, (long long)s->max);
	return false;
}

/* An exact count, or ">=N". */
bool value_count(const struct spec *s, const struct ynode *n, struct str *why)
{
	struct ynode number = *n;

	number.text += str_starts(n->text, ">=") ? 2 : 0;
	return value_int(s, &number, why);
}

bool value_schema(const struct spec *s, const struct ynode *n, struct str *why)
{
	int64_t v = 0;

	if (number_trap(n, why))
		return false;
	if (!only(n->text, DIGITS))
		return refuse(s, n, why, NULL);
	if (parse_int(n->text, &v) && v >= SCHEMA_MIN && v <= SCHEMA_MAX)
		return true;
	str_addf(why, "schema %.*s; this railhead reads %d..%d%s", 20, n->text, SCHEMA_MIN,
		 SCHEMA_MAX, v < SCHEMA_MIN && only(n->text, "0") ? "" : "; upgrade railhead");
	return false;
}

bool value_word(const struct spec *s, const struct ynode *n, struct str *why)
{
	const char *near;

	if (is_one_of(n->text, s->words))
		return true;
	if (is_one_of(n->text, s->later)) {
		str_addf(why, "'%s' is not implemented in this railhead; known now: ", n->text);
		list_words(why, s->words);
		return false;
	}
	near = nearest_word(n->text, s->words);
	str_addf(why, "'%.*s' is %snot %s; ", SHOWN, n->text,
		 is_switch_word(n->text) ? "a boolean to some YAML readers, and " : "", s->what);
	if (near) {
		str_addf(why, "did you mean '%s'?", near);
		return false;
	}
	str_add(why, "one of: ");
	list_words(why, s->words);
	return false;
}

/* Text on one line: what goes verbatim into a kernel file, or to people. */
bool value_line(const struct spec *s, const struct ynode *n, struct str *why)
{
	if (!*n->text)
		return refuse(s, n, why, NULL);
	for (const char *p = n->text; *p; p++)
		if ((unsigned char)*p < ' ' && *p != '\t')
			return refuse(s, n, why, "no line breaks or control characters");
	if (strlen(n->text) > 4000)
		return refuse(s, n, why, "longer than 4000 bytes");
	return true;
}

bool value_label(const struct spec *s, const struct ynode *n, struct str *why)
{
	if (only(n->text, WORD ".+~:") && strlen(n->text) <= 64)
		return true;
	return refuse(s, n, why, "letters, digits and . + ~ : _ -, 64 at most");
}

bool value_pattern(const struct spec *s, const struct ynode *n, struct str *why)
{
	if (!value_line(s, n, why))
		return false;
	if (strlen(n->text) > 256)
		return refuse(s, n, why, "longer than 256 bytes");
	return true;
}

/* --- numbers with units ------------------------------------------------------------------- */

static bool lacks_unit(const struct ynode *n)
{
	return only(n->text, DIGITS);
}

static bool judge_unit(const struct spec *s, const struct ynode *n, int r, struct str *why)
{
	if (r == 0 && !is_zero_led(n->text))
		return true;
	if (number_trap(n, why))
		return false;
	if (r == -ERANGE)
		return refuse(s, n, why, "the number is too large");
	if (r == 0)
		return refuse(s, n, why, "no zero in front");
	return refuse(s, n, why, lacks_unit(n) ? "write the unit" : NULL);
}

bool value_size(const struct spec *s, const struct ynode *n, struct str *why)
{
	uint64_t v;

	return judge_unit(s, n, parse_size(n->text, &v), why);
}

bool value_duration(const struct spec *s, const struct ynode *n, struct str *why)
{
	uint64_t usec = 0;

	if (!judge_unit(s, n, parse_duration(n->text, &usec), why))
		return false;
	if ((int64_t)usec >= s->min && (!s->max || usec <= (uint64_t)s->max))
		return true;
	str_addf(why, "%.*s is out of range; %llds to %llds is possible", SHOWN, n->text,
		 (long long)s->min / 1000000, (long long)s->max / 1000000);
	return false;
}

static int parse_share(const char *text)
{
	size_t digits = strspn(text, DIGITS);
	int percent = 0;

	if (!digits || digits > 3 || !streq(text + digits, "% of line"))
		return -EINVAL;
	for (size_t i = 0; i < digits; i++)
		percent = percent * 10 + (text[i] - '0');
	return percent >= 1 && percent <= 100 ? 0 : -ERANGE;
}

bool value_rate(const struct spec *s, const struct ynode *n, struct str *why)
{
	uint64_t v;
	int r = parse_rate(n->text, &v);

	if (r == -EINVAL)
		r = parse_share(n->text);
	return judge_unit(s, n, r, why);
}

bool value_gts(const struct spec *s, const struct ynode *n, struct str *why)
{
	uint32_t v;
	int r = parse_gts(n->text, &v);

	/* sysfs writes blanks and "PCIe"; a profile does not */
	if (r == 0 && strchr(n->text, ' '))
		r = -EINVAL;
	return judge_unit(s, n, r, why);
}

bool value_memory(const struct spec *s, const struct ynode *n, struct str *why)
{
	uint64_t v;
	int r = parse_size(n->text + (str_starts(n->text, ">=") ? 2 : 0), &v);

	return judge_unit(s, n, r, why);
}

/* --- CPUs --------------------------------------------------------------------------------- */

bool value_cpus(const struct spec *s, const struct ynode *n, struct str *why)
{
	struct cpus set;
	int r = cpus_parse(n->text, &set);

	if (r == 0 && *n->text)
		return true;
	return refuse(s, n, why, r == -ERANGE ? "CPU numbers end at 8191" : NULL);
}

/* --- names -------------------------------------------------------------------------------- */

bool value_name(const struct spec *s, const struct ynode *n, struct str *why)
{
	const char *t = n->text;

	if (only(t, LOWER DIGITS "._-") && isalnum((unsigned char)*t) && strlen(t) <= 64)
		return true;
	return refuse(s, n, why,
		      "lower case letters, digits and . _ -, a letter or digit first, 64 at most");
}

bool value_set_name(const struct spec *s, const struct ynode *n, struct str *why)
{
	if (only(n->text, WORD) && isalnum((unsigned char)*n->text) && strlen(n->text) <= 64)
		return true;
	return refuse(s, n, why, "letters, digits, _ and -, 64 at most");
}

bool value_on_set(const struct spec *s, const struct ynode *n, struct str *why)
{
	const char *set = n->text + (str_starts(n->text, "vfs of ") ? 7 : 0);

	return only(set, WORD) || refuse(s, n, why, NULL);
}

bool value_module(const struct spec *s, const struct ynode *n, struct str *why)
{
	/* A module's name ends in a file name and in modprobe.d: no dots, slashes, blanks. */
	if (only(n->text, WORD) && strlen(n->text) <= 64)
		return true;
	return refuse(s, n, why, "letters, digits, _ and -, no .ko");
}

bool value_param(const struct spec *s, const struct ynode *n, struct str *why)
{
	if (only(n->text, WORD) && strlen(n->text) <= 64)
		return true;
	return refuse(s, n, why, "letters, digits, _ and -");
}

/* --- PCI ---------------------------------------------------------------------------------- */

bool value_pci_id(const struct spec *s, const struct ynode *n, struct str *why)
{
	const char *t = n->text;

	if (strlen(t) == 9 && strspn(t, HEX) == 4 && t[4] == ':' && strspn(t + 5, HEX) == 4)
		return true;
	return refuse(s, n, why, strncasecmp(t, "0x", 2) == 0 ? "no 0x in front" : NULL);
}

static bool is_full_address(const char *t)
{
	size_t domain = strspn(t, HEX);

	return domain >= 4 && domain <= 8 && t[domain] == ':' && strspn(t + domain + 1, HEX) == 2 &&
	       t[domain + 3] == ':' && strspn(t + domain + 4, HEX) == 2 && t[domain + 6] == '.' &&
	       t[domain + 7] >= '0' && t[domain + 7] <= '7' && !t[domain + 8];
}

bool value_pci_address(const struct spec *s, const struct ynode *n, struct str *why)
{
	const char *t = n->text;

	if (!only(t, HEX ":.*?[]-!"))
		return refuse(s, n, why, NULL);
	if (strpbrk(t, "ABCDEF"))
		return refuse(s, n, why, "addresses are lower case");
	if (strpbrk(t, "*?[") || is_full_address(t))
		return true;
	return refuse(s, n, why, "write domain:bus:device.function in full");
}

/* --- kernel ------------------------------------------------------------------------------- */

static bool adjacent(const char *t, const char *chars)
{
	for (; *t; t++)
		if (strchr(chars, t[0]) && t[1] && strchr(chars, t[1]))
			return true;
	return false;
}

/* Dots or slashes part it, as in sysctl.d(5); globs are taken. No part may be empty or "..". */
bool value_sysctl_key(const struct spec *s, const struct ynode *n, struct str *why)
{
	const char *t = n->text;
	size_t len = strlen(t);

	if (str_starts(t, "/") || str_starts(t, "proc/"))
		return refuse(s, n, why, "leave out /proc/sys/");
	if (!only(t, WORD "./*?[]:@") || !strpbrk(t, "./"))
		return refuse(s, n, why, NULL);
	if (strchr("./", t[0]) || strchr("./", t[len - 1]) || adjacent(t, "./"))
		return refuse(s, n, why, "no empty, . or .. parts");
	return true;
}

static bool has_dot_part(const char *t)
{
	while (*t) {
		size_t n;

		t += *t == '/';
		n = strcspn(t, "/");
		if (n == 0 || (n == 1 && t[0] == '.') || (n == 2 && t[0] == '.' && t[1] == '.'))
			return true;
		t += n;
	}
	return false;
}

bool value_sysfs_path(const struct spec *s, const struct ynode *n, struct str *why)
{
	if (!str_starts(n->text, "/sys/"))
		return refuse(s, n, why, NULL);
	for (const char *p = n->text; *p; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
			return refuse(s, n, why,
				      "no blanks, control characters or bytes beyond ASCII");
	if (has_dot_part(n->text))
		return refuse(s, n, why, "no empty, . or .. parts");
	return true;
}

/* It goes into modprobe.d, where a blank would begin the next parameter. */
bool value_module_value(const struct spec *s, const struct ynode *n, struct str *why)
{
	for (const char *p = n->text; *p; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f || strchr("\"'\\#", *p))
			return refuse(s, n, why, "no blanks, quotes, backslashes or #");
	return (*n->text && strlen(n->text) <= 1000) || refuse(s, n, why, NULL);
}

/*
 * The argument travels through a GRUB variable, which is split at blanks again, and through
 * the kernel's own splitter, which knows quotes and no escapes (lib/cmdline.c).
 */
bool value_kernel_arg(const struct spec *s, const struct ynode *n, struct str *why)
{
	for (const char *p = n->text; *p; p++) {
		if (isspace((unsigned char)*p))
			return refuse(s, n, why,
				      "blanks can't travel through the boot loader; one argument "
				      "per item");
		if (strchr("\"'\\`", *p))
			return refuse(
				s, n, why,
				"quotes and backslashes can't travel through the boot loader");
		if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
			return refuse(s, n, why, "only printable ASCII");
	}
	if (!arg_key_len(n->text))
		return refuse(s, n, why, "a name must come first");
	if (strlen(n->text) > 1000)
		return refuse(s, n, why, "longer than 1000 bytes");
	return true;
}
