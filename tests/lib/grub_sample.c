/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "grub_sample.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "loader/env.h"

/* --- chance: splitmix64 -------------------------------------------------------------- */

static uint64_t state;

static uint64_t next_random(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static size_t below(size_t n)
{
	return (size_t)(next_random() % n);
}

static bool one_in(size_t n)
{
	return below(n) == 0;
}

static char any_of(const char *chars)
{
	return chars[below(strlen(chars))];
}

/* --- sound files --------------------------------------------------------------------- */

/* Printable ASCII that env_parse() takes in a value; no blank at the end. */
static void random_text(char *ret, size_t len)
{
	for (size_t i = 0; i < len; i++)
		do
			ret[i] = (char)(' ' + below('~' - ' ' + 1));
		while (strchr("\"'\\$", ret[i]) || (i + 1 == len && ret[i] == ' '));
	ret[len] = '\0';
}

static void random_args(char *ret, size_t len)
{
	static const char *const words[] = {
		"intel_iommu=on,sm_on",
		"iommu=pt",
		"hugepagesz=1G",
		"hugepages=0:32,1:32",
		"quiet",
		"isolcpus=managed_irq,2-63,66-127",
		"a.b=c#d",
		"pci=realloc=on",
		"pci=config_acs=0000000@0000:02:00.0;x@pci:1b36:000c",
		"acpi_osi=!*",
		"\t",
	};
	struct str line = {0};

	while (line.len < len)
		str_addf(&line, "%s%s", line.len ? " " : "", words[below(10)]);
	snprintf(ret, ENV_SLOT_SIZE + 1, "%.*s", (int)len, str_get(&line));
	while (*ret && ret[strlen(ret) - 1] == ' ')
		ret[strlen(ret) - 1] = '\0';
	str_free(&line);
}

static void random_slot(char *ret)
{
	size_t len = one_in(8) ? ENV_SLOT_SIZE : one_in(8) ? 0 : below(one_in(3) ? 1525 : 200);

	if (one_in(3))
		random_text(ret, len);
	else
		random_args(ret, len);
}

static void sound(struct sample *s)
{
	struct boot_env env = {
		.good = any_of("aabb-"), .try_ = any_of("aabbt--"), .begun = any_of("01122--")};

	random_slot(env.slot[0]);
	random_slot(env.slot[1]);
	env.reboots = (unsigned int)below(10);
	env_render(&env, s->text);
	s->len = ENV_SIZE;
}

/* --- damage -------------------------------------------------------------------------- */

static void insert(struct sample *s, size_t pos, const char *text, size_t len)
{
	if (s->len + len > SAMPLE_MAX)
		return;
	memmove(s->text + pos + len, s->text + pos, s->len - pos);
	memcpy(s->text + pos, text, len);
	s->len += len;
}

static void erase(struct sample *s, size_t pos, size_t len)
{
	memmove(s->text + pos, s->text + pos + len, s->len - pos - len);
	s->len -= len;
}

/* The file has the size of a sound one again, if its end is padding as that of a sound one. */
static void fit(struct sample *s)
{
	while (s->len > ENV_SIZE && s->text[s->len - 1] == '#')
		s->len--;
	while (s->len < ENV_SIZE)
		s->text[s->len++] = '#';
}

/* A line behind the signature, its line feed included. */
static size_t any_line(const struct sample *s, size_t *len)
{
	size_t start[512], n = 0, end;

	for (size_t i = strlen(ENV_SIGNATURE) - 1; i + 1 < s->len && n < 512; i++)
		if (s->text[i] == '\n')
			start[n++] = i + 1;
	if (n == 0) {
		*len = 0;
		return s->len;
	}
	/* Three in four are lines that matter most: they come first in a sound file. */
	n = below(one_in(4) || n < 4 ? n : 4);
	for (end = start[n]; end < s->len && s->text[end] != '\n'; end++)
		;
	*len = end + (end < s->len) - start[n];
	return start[n];
}

static size_t anywhere(const struct sample *s)
{
	size_t head = s->len < 600 ? s->len : 600;

	return s->len ? below(one_in(2) ? head : s->len) : 0;
}

static void flip(struct sample *s)
{
	for (size_t n = 1 + below(8); n > 0 && s->len > 0; n--)
		s->text[anywhere(s)] ^= (char)(1 << below(8));
}

static void bytes(struct sample *s)
{
	static const char nasty[] = "\\\\\n\n##==\r\t ab1t-\"'$;\x80\xff";

	for (size_t n = 1 + below(6); n > 0 && s->len > 0; n--)
		s->text[anywhere(s)] = one_in(8) ? '\0' : any_of(nasty);
}

static void cut(struct sample *s)
{
	s->len = anywhere(s);
}

static void lengthen(struct sample *s)
{
	static const char *const tails[] = {
		"#",
		"\n",
		"##\n##",
		"railhead_try=b\n",
		"railhead_try=b",
		"railhead_good=b\n#",
		"x",
		"\\",
		"\\\n",
		"railhead_layout=1\nrailhead_good=a\n",
	};

	for (size_t n = 1 + below(3); n > 0; n--) {
		const char *tail = tails[below(10)];

		insert(s, s->len, tail, strlen(tail));
	}
}

static void remove_line(struct sample *s)
{
	size_t len, pos = any_line(s, &len);

	erase(s, pos, len);
	if (one_in(2))
		fit(s);
}

/* Once more somewhere else; a short value is another one half of the time. */
static void double_line(struct sample *s)
{
	size_t len, ignored, pos = any_line(s, &len);
	char line[ENV_SIZE];

	if (len < 2 || len > sizeof(line))
		return;
	memcpy(line, s->text + pos, len);
	if (one_in(2))
		line[len - 2] = any_of("ab-t1 2");
	insert(s, any_line(s, &ignored), line, len);
	if (one_in(2))
		fit(s);
}

static void move_line(struct sample *s)
{
	size_t len, ignored, pos = any_line(s, &len);
	char line[ENV_SIZE];

	if (len > sizeof(line))
		return;
	memcpy(line, s->text + pos, len);
	erase(s, pos, len);
	insert(s, any_line(s, &ignored), line, len);
}

static void crlf(struct sample *s)
{
	bool all = one_in(2);

	for (size_t i = all ? 0 : strlen(ENV_SIGNATURE); i < s->len; i++)
		if (s->text[i] == '\n' && (all || one_in(4)))
			insert(s, i++, "\r", 1);
	if (one_in(2))
		fit(s);
}

static void backslash(struct sample *s)
{
	size_t len, pos = any_line(s, &len);

	/* before the line feed, or behind the '=', or anywhere */
	if (len < 2)
		return;
	switch (below(4)) {
	case 0:
		s->text[pos + len - 2] = '\\';
		break;
	case 1:
		insert(s, pos + len - 1, "\\", 1);
		break;
	case 2:
		insert(s, pos + len - 2, "\\", 1);
		break;
	default:
		insert(s, pos + below(len), "\\\\\\", 1 + below(3));
	}
	if (one_in(2))
		fit(s);
}

static void nul(struct sample *s)
{
	size_t len, pos = any_line(s, &len);

	for (size_t n = 1 + below(3); n > 0 && len > 0; n--)
		s->text[pos + below(len)] = '\0';
	if (one_in(8))
		memset(s->text + 512, '\0', s->len > 512 ? s->len - 512 : 0);
}

static void comment_out(struct sample *s)
{
	size_t len, pos = any_line(s, &len);

	if (one_in(2))
		insert(s, pos, "#", 1);
	else if (len > 0)
		s->text[pos] = '#';
}

static void equals(struct sample *s)
{
	size_t len, pos = any_line(s, &len);
	char *p = memchr(s->text + pos, '=', len);

	if (p && one_in(3))
		*p = any_of(" #:a");
	else if (p)
		insert(s, (size_t)(p - s->text) + below(2), "==", 1 + below(2));
}

static void resize(struct sample *s)
{
	static const size_t sizes[] = {0, 1, 24, 25, 26, 27, 512, 1024, 4095, 4097, 8192, 16384};
	size_t len = sizes[below(sizeof(sizes) / sizeof(*sizes))];

	if (len > s->len)
		memset(s->text + s->len, one_in(4) ? '\0' : '#', len - s->len);
	s->len = len;
}

/* The signature and lines by chance, of names that matter and some that don't. */
static void soup(struct sample *s)
{
	static const char *const names[] = {
		ENV_VAR_GOOD,
		ENV_VAR_TRY,
		"railhead_layout",
		ENV_VAR_A,
		ENV_VAR_B,
		ENV_VAR_GOOD,
		ENV_VAR_TRY,
		"railhead_layout",
		"railhead_tr",
		"railhead_tryx",
		"",
		"#",
		"saved_entry",
		" railhead_try",
		ENV_VAR_BEGUN,
		"railhead_try\0z",
	};
	static const char *const values[] = {
		"a",  "b",  "-",   "t",	  "1",	     "1", "a",	  "b",	    "",
		" a", "a ", "\\a", "\\b", "x=1 y=2", "=", "#",	  "a\\\nb", "a\tb\rc d",
		"!",  "(",  "b\\", "2",	  "3",	     "0", "long",
	};
	size_t n = 1 + below(14);

	snprintf(s->text, sizeof(s->text), ENV_SIGNATURE);
	s->len = strlen(ENV_SIGNATURE);
	if (!one_in(4))
		insert(s, s->len, "railhead_layout=1\nrailhead_good=a\n", 34);
	while (n-- > 0) {
		size_t name = below(16), value = below(25);
		char text[ENV_SLOT_SIZE + 1];

		random_slot(text);
		insert(s, s->len, names[name], name == 15 ? 14 : strlen(names[name]));
		if (!one_in(12))
			insert(s, s->len, "=", 1);
		if (value == 24)
			insert(s, s->len, text, strlen(text));
		else
			insert(s, s->len, values[value], strlen(values[value]));
		if (!one_in(12))
			insert(s, s->len, "\n", 1);
	}
	for (n = one_in(3) ? 0 : below(40); n > 0; n--)
		insert(s, s->len, "#", 1);
	if (one_in(4))
		fit(s);
}

static void noise(struct sample *s)
{
	size_t from = one_in(8) ? 0 : strlen(ENV_SIGNATURE);

	s->len = from + below(ENV_SIZE);
	for (size_t i = from; i < s->len; i++)
		s->text[i] = one_in(4) ? any_of("\n=#\\") : (char)below(256);
}

/* A value, or a comment, that is longer than all that we or a kernel would take. */
static void huge(struct sample *s)
{
	char line[9000];
	size_t ignored, n = (size_t)snprintf(line, sizeof(line), "%s=",
					     one_in(2)	 ? ENV_VAR_A
					     : one_in(2) ? ENV_VAR_B
							 : "#");

	while (n < sizeof(line) - 1)
		line[n++] = one_in(9) ? ' ' : (char)('a' + below(26));
	line[n++] = '\n';
	insert(s, any_line(s, &ignored), line, n);
}

static const struct {
	const char *name;
	void (*damage)(struct sample *s);
} kinds[] = {
	{"flip", flip},	      {"bytes", bytes},		{"cut", cut},
	{"long", lengthen},   {"removed", remove_line}, {"doubled", double_line},
	{"moved", move_line}, {"crlf", crlf},		{"backslash", backslash},
	{"nul", nul},	      {"hash", comment_out},	{"equals", equals},
	{"size", resize},     {"soup", soup},		{"noise", noise},
	{"huge", huge},
};

enum { N_KINDS = sizeof(kinds) / sizeof(*kinds) };

const char *sample_kind(size_t k)
{
	return k < N_KINDS && !getenv("GRUB_SAMPLES") ? kinds[k].name : NULL;
}

/* --- corner cases -------------------------------------------------------------------- */

#define SIG ENV_SIGNATURE
#define ARMED "railhead_layout=1\nrailhead_good=a\nrailhead_try=b\nrailhead_a=A\nrailhead_b=B\n"
#define GOOD "railhead_layout=1\nrailhead_good=a\nrailhead_a=A\n"
#define C(text)                        \
	{                              \
		text, sizeof(text) - 1 \
	}

static const struct {
	const char *text;
	size_t len;
} corners[] = {
	C(""),
	C("\n"),
	C("# GRUB Environment Block"),
	C(SIG),
	C(SIG "#"),
	C(SIG "\n"),
	C(SIG "="),
	C(SIG "=\n"),
	C("# GRUB Environment Block\r\n" ARMED),
	C("#\n" SIG ARMED),
	/* short, and not padded */
	C(SIG ARMED),
	C(SIG ARMED "#"),
	C(SIG ARMED "x"),
	C(SIG ARMED "x="),
	C(SIG ARMED "x=\\"),
	C(SIG ARMED "x=\\\n"),
	C(SIG ARMED "#\\"),
	C(SIG ARMED "# no line feed"),
	C(SIG ARMED "\0"),
	/* lines that swallow lines */
	C(SIG "no equals sign\n" ARMED),
	C(SIG "#\\\n" ARMED),
	C(SIG "x=\\\n" ARMED),
	C(SIG "x=\\\\\n" ARMED),
	C(SIG "\n" ARMED),
	C(SIG " " ARMED),
	C(SIG "\r" ARMED),
	/* the last line counts to the reader, the first to the writer */
	C(SIG ARMED "railhead_try=a\n####################"),
	C(SIG ARMED "railhead_try=-\n####################"),
	C(SIG "railhead_try=-\n" ARMED "####################"),
	C(SIG "railhead_try=a\n" ARMED "####################"),
	C(SIG "railhead_try=\n" ARMED),
	C(SIG "railhead_try=\n" ARMED "#"),
	C(SIG ARMED "railhead_layout=2\n"),
	C(SIG "railhead_layout=2\n" ARMED),
	C(SIG ARMED "railhead_good=\n"),
	C(SIG ARMED "railhead_b=\n"),
	/* no line of that name for the writer: room to append, one byte short of it, none */
	C(SIG "railhead_layout=1\nrailhead_try\0x=b\nrailhead_b=B\n###############"),
	C(SIG "railhead_layout=1\nrailhead_try\0x=b\nrailhead_b=B\n##############"),
	C(SIG "railhead_layout=1\nrailhead_try\0x=b\nrailhead_b=B\n"),
	/* what the writer takes for a line, and the reader does not; and the other way */
	C(SIG "railhead_layout=1\nx\nrailhead_try=-\nrailhead_try\0=b\nrailhead_b=B\n########"),
	C(SIG "railhead_layout=1\nrailhead_b=\\\nrailhead_try=-\nrailhead_try=b\n##"),
	C(SIG "railhead_layout=1\nrailhead_b=B\n#\\\nrailhead_try=-\nrailhead_try=b\n##"),
	C(SIG "railhead_layout=1\nrailhead_b=B\nrailhead_try=b\nx"),
	C(SIG "railhead_layout=1\nrailhead_try=b\n"),
	C(SIG "railhead_b=B\nrailhead_layout=1\nrailhead_try=\\b\n###"),
	C(SIG "railhead_b=B\nrailhead_layout=1\nrailhead_try=\\b\n"),
	C(SIG "railhead_b=B\nrailhead_layout=1\nrailhead_try=b\0\\\n\n\n"),
	/* boots that have begun */
	C(SIG GOOD "railhead_begun=0\n"),
	C(SIG GOOD "railhead_begun=1\n##"),
	C(SIG GOOD "railhead_begun=2\n"),
	C(SIG GOOD "railhead_begun=3\n"),
	C(SIG GOOD "railhead_begun=4\n"),
	C(SIG GOOD "railhead_begun=22\n"),
	C(SIG GOOD "railhead_begun=2 \n"),
	C(SIG GOOD "railhead_begun=-\n"),
	C(SIG GOOD "railhead_begun=\n"),
	C(SIG GOOD "railhead_begun=2\nrailhead_begun=0\n"),
	C(SIG GOOD "railhead_begun=0\nrailhead_begun=2\n####"),
	C(SIG GOOD "railhead_begun\0=1\n#################"),
	C(SIG GOOD "railhead_begun\0=2\n################"),
	C(SIG ARMED "railhead_begun=2\n"),
	C(SIG ARMED "railhead_try=-\nrailhead_begun=2\n"),
	C(SIG "railhead_layout=1\nrailhead_good=-\nrailhead_begun=2\n"),
	C(SIG "railhead_layout=1\nrailhead_good=c\nrailhead_begun=1\n"),
	C(SIG "railhead_layout=1\nrailhead_good=b\nrailhead_begun=!\n"),
	/* values that look like operators of GRUB's test command */
	C(SIG "railhead_layout=1\nrailhead_good=!\nrailhead_try==\n"),
	C(SIG "railhead_layout=1\nrailhead_good=(\nrailhead_try=!=\n"),
	C(SIG "railhead_layout=!\nrailhead_good=a\nrailhead_try=-nt\n"),
	C(SIG "railhead_layout=1\nrailhead_good=-n\nrailhead_try=]\n"),
	C(SIG "railhead_layout= 1\nrailhead_good=a\n"),
	C(SIG "railhead_layout=1 \nrailhead_good=a\n"),
	C(SIG "railhead_layout=1\r\nrailhead_good=a\r\n"),
	C(SIG "railhead_layout=1\nrailhead_good=ab\nrailhead_try=ba\n"),
	C(SIG "railhead_layout=1\nrailhead_good=A\nrailhead_try=B\n"),
	/* args that a script could trip over */
	C(SIG "railhead_layout=1\nrailhead_good=a\nrailhead_a=$root ${root} \\$root; x {y} (z)\n"),
	C(SIG "railhead_layout=1\nrailhead_good=a\nrailhead_a=\"a b\" 'c d' e\\\\f g\\\nh\n"),
	C(SIG "railhead_layout=1\nrailhead_good=a\nrailhead_a=/ (hd0)/ [a-z] ~ {a,b} <> &|;\n"),
	C(SIG "railhead_layout=1\nrailhead_good=a\nrailhead_a=\t a\r\v\f b\t\n"),
	C(SIG "railhead_layout=1\nrailhead_good=a\nrailhead_a=#\n"),
	C(SIG "railhead_layout=1\nrailhead_good=a\nrailhead_a=\xc3\xa9 \xff\x80\x01\x7f\n"),
	/* other things than the snippet's variables must stay GRUB's own */
	C(SIG "railhead_layout=1\nrailhead_good=a\nrailhead_file=x\nrailhead_before=a\nprefix=/\n"),
	C(SIG "railhead_layout=1\nrailhead_good=a\nrailhead_armed=b\nrailhead_slot=b\n"),
	C(SIG "railhead_layout=1\nrailhead_good=a\nrailhead_args=b\nrailhead_next=2\n"),
};

enum { N_CORNERS = sizeof(corners) / sizeof(*corners) };

static void random_sample(struct sample *s)
{
	size_t kind;

	sound(s);
	s->kind = "sound";
	if (one_in(2))
		return;
	kind = below(N_KINDS);
	s->kind = kinds[kind].name;
	kinds[kind].damage(s);
	if (one_in(4))
		kinds[below(N_KINDS)].damage(s);
}

/* One that somebody else has made. */
static void read_sample(const char *dir, size_t i, struct sample *s)
{
	cleanup_free char *path = xasprintf("%s/%06zu", dir, i);
	cleanup_fclose FILE *f = fopen(path, "re");

	if (!f) {
		perror(path);
		exit(2);
	}
	s->len = fread(s->text, 1, sizeof(s->text), f);
	s->kind = "given";
}

void sample_make(uint64_t seed, size_t i, struct sample *s)
{
	const char *given = getenv("GRUB_SAMPLES");

	if (given) {
		read_sample(given, i, s);
		return;
	}
	state = seed * 0x2545f4914f6cdd1d + i;
	if (i < N_CORNERS) {
		memcpy(s->text, corners[i].text, corners[i].len);
		s->len = corners[i].len;
		s->kind = "corner";
		return;
	}
	random_sample(s);
	/* mke2fs -d makes a hole of a block of NULs, and save_env refuses a file with holes. */
	for (size_t j = 0; j < s->len; j += 512)
		if (s->text[j] == '\0')
			s->text[j] = '0';
	/* In words that begin with one, '(' or '/', GRUB would put the names of files there. */
	for (size_t j = 1; j < s->len; j++)
		if ((s->text[j] == '*' || s->text[j] == '?') && s->text[j - 1] != '!')
			s->text[j] = '+';
	if (streq(s->kind, "sound"))
		env_seal(s->text);
}
