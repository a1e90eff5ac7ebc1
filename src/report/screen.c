/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/screen.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

enum { COLUMNS_USUAL = 80, COLUMNS_LEAST = 40, SEQUENCE_MAX = 4 };

/* One of the two streams. A character may come in two writes. */
struct filter {
	int fd;
	char part[SEQUENCE_MAX]; /* the beginning of a character whose rest is still to come */
	size_t have;
};

static struct filter filters[] = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}};
static bool pass_raw, has_colour, is_drawn;

/* --- the filter ---------------------------------------------------------------------------- */

/* How many bytes a character has by its first; 0: none begins so (RFC 3629). */
static size_t length_of(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

static uint32_t decode(const char *s, size_t n)
{
	static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t c = (unsigned char)*s & masks[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return c;
}

/* Moves the cursor, changes the order of text, hides, or breaks a line: no character to print. */
static bool is_control(uint32_t c)
{
	return (c < ' ' && c != '\n' && c != '\t') || (c >= 0x7f && c <= 0x9f) || c == 0x61c ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xd800 && c <= 0xdfff) ||
	       (c >= 0xe0000 && c <= 0xe007f) || c > 0x10ffff;
}

static bool is_overlong(uint32_t c, size_t n)
{
	return (n == 3 && c < 0x800) || (n == 4 && c < 0x10000);
}

/* One more byte of the text. */
static void take(struct filter *f, struct str *out, char byte)
{
	bool continues = ((unsigned char)byte & 0xc0) == 0x80;
	size_t need;
	uint32_t c;

	if (f->have && !continues) { /* the character before is torn */
		str_add(out, "?");
		f->have = 0;
	}
	f->part[f->have++] = byte;
	need = length_of((unsigned char)f->part[0]);
	if (need > f->have)
		return;
	c = need ? decode(f->part, need) : 0;
	if (!need || is_control(c) || is_overlong(c, need))
		str_add(out, "?");
	else
		str_addn(out, f->part, need);
	f->have = 0;
}

static void finish(struct filter *f, struct str *out)
{
	if (f->have)
		str_add(out, "?");
	f->have = 0;
}

char *scrub(const char *text)
{
	struct filter f = {.fd = -1};
	struct str out = {0};

	for (; *text; text++)
		take(&f, &out, *text);
	finish(&f, &out);
	return out.len ? str_take(&out) : xstrdup("");
}

/* 0 or -1, as write(2). */
static int write_all(int fd, const char *s, size_t n)
{
	while (n) {
		ssize_t wrote = write(fd, s, n);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return -1;
		s += wrote;
		n -= (size_t)wrote;
	}
	return 0;
}

static void erase(void)
{
	static const char sequence[] = "\r\033[K";

	if (is_drawn)
		write_all(STDERR_FILENO, sequence, sizeof(sequence) - 1);
	is_drawn = false;
}

void screen_draw(const char *line)
{
	cleanup_free char *text = line ? scrub(line) : NULL;

	erase();
	if (!text)
		return;
	write_all(STDERR_FILENO, text, strlen(text));
	is_drawn = true;
}

/* Of fopencookie(3): 0 is an error, since it must not be negative. */
static ssize_t filter_write(void *cookie, const char *s, size_t n)
{
	struct filter *f = cookie;
	cleanup_str struct str out = {0};

	erase();
	if (pass_raw)
		return write_all(f->fd, s, n) < 0 ? 0 : (ssize_t)n;
	for (size_t i = 0; i < n; i++)
		take(f, &out, s[i]);
	return write_all(f->fd, str_get(&out), out.len) < 0 ? 0 : (ssize_t)n;
}

static int filter_close(void *cookie)
{
	struct filter *f = cookie;
	cleanup_str struct str out = {0};
	int torn;

	finish(f, &out);
	torn = write_all(f->fd, str_get(&out), out.len);
	return close(f->fd) < 0 || torn < 0 ? EOF : 0;
}

static FILE *lay_over(struct filter *f, FILE *plain, int mode)
{
	cookie_io_functions_t io = {.write = filter_write, .close = filter_close};
	FILE *stream = fopencookie(f, "w", io);

	if (!stream)
		return plain;
	setvbuf(stream, NULL, mode, 0);
	return stream;
}

void screen_begin(void)
{
	/* Results are read line by line while a stage runs: on the console, in the journal. */
	stdout = lay_over(&filters[0], stdout, _IOLBF);
	stderr = lay_over(&filters[1], stderr, _IOLBF);
}

bool screen_raw(bool raw)
{
	bool before = pass_raw;

	fflush(stdout);
	pass_raw = raw;
	return before;
}

/* --- what it is ------------------------------------------------------------------------------ */

static bool is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < array_len(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

/* A terminal that does not know its size (a serial line) says 0. */
static unsigned int columns(void)
{
	const char *text = getenv("COLUMNS");
	struct winsize size = {0};
	unsigned long n = 0;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		n = size.ws_col;
	if (!n && text)
		n = strtoul(text, NULL, 10);
	if (!n || n > 1000)
		n = COLUMNS_USUAL;
	return n < COLUMNS_LEAST ? COLUMNS_LEAST : (unsigned int)n;
}

struct screen screen_look(void)
{
	return (struct screen){isatty(STDOUT_FILENO) == 1, is_utf8(), columns()};
}

/* --- colour ---------------------------------------------------------------------------------- */

static bool wants_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no && *no) && term && *term && !streq(term, "dumb");
}

int screen_colour(const char *when)
{
	if (!when || streq(when, "auto"))
		has_colour = wants_colour();
	else if (streq(when, "always") || streq(when, "never"))
		has_colour = streq(when, "always");
	else
		return -EINVAL;
	return 0;
}

static void put_raw(FILE *out, const char *sequence)
{
	bool before;

	if (!has_colour)
		return;
	fflush(out);
	before = screen_raw(true);
	fputs(sequence, out);
	fflush(out);
	screen_raw(before);
}

void style_begin(FILE *out, enum style style)
{
	static const char *const sequences[STYLE_COUNT] = {
		[STYLE_BAD] = "\033[1;31m",
		[STYLE_DIFFERS] = "\033[33m",
		[STYLE_GOOD] = "\033[32m",
		[STYLE_DIM] = "\033[2m",
	};

	put_raw(out, sequences[style]);
}

void style_end(FILE *out)
{
	put_raw(out, "\033[0m");
}
