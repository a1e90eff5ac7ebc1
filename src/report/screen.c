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
#include "base/utf8.h"
#include "sys/atomic_file.h"

enum { COLUMNS_USUAL = 80, COLUMNS_LEAST = 40, ROWS_USUAL = 24, SEQUENCE_MAX = 4 };

/* One of the two streams. A character may arrive in two writes. */
struct filter {
	int fd;
	char part[SEQUENCE_MAX]; /* the beginning of a character whose rest is missing so far */
	size_t have;
};

static struct filter filters[] = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}};
static bool pass_raw, has_colour, is_drawn;

/* --- the filter ---------------------------------------------------------------------------- */

/* True for characters that move the cursor, reorder or hide text, or break a line. */
static bool is_control(uint32_t c)
{
	return (c < ' ' && c != '\n' && c != '\t') || (c >= 0x7f && c <= 0x9f) || c == 0x61c ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xe0000 && c <= 0xe007f);
}

/* Adds one byte of the text. */
static void take(struct filter *f, struct str *out, char byte)
{
	bool continues = ((unsigned char)byte & 0xc0) == 0x80;
	size_t len;

	if (f->have && !continues) { /* the previous character is incomplete */
		str_add(out, "?");
		f->have = 0;
	}
	f->part[f->have++] = byte;
	if (utf8_expected(f->part[0]) > f->have)
		return;
	if (!utf8_len(f->part, f->have) || is_control(utf8_code(f->part, &len)))
		str_add(out, "?");
	else
		str_addn(out, f->part, len);
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
	return str_take(&out);
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

/* For fopencookie(3), where 0 is an error and negative results are forbidden. */
static ssize_t written(int result, size_t n)
{
	if (result == 0)
		return (ssize_t)n;
	errno = -result;
	return 0;
}

static ssize_t filter_write(void *cookie, const char *s, size_t n)
{
	struct filter *f = cookie;
	cleanup_str struct str out = {0};

	erase();
	if (pass_raw)
		return written(write_all(f->fd, s, n), n);
	for (size_t i = 0; i < n; i++)
		take(f, &out, s[i]);
	return written(write_all(f->fd, str_get(&out), out.len), n);
}

static int filter_close(void *cookie)
{
	struct filter *f = cookie;
	cleanup_str struct str out = {0};
	int r;

	finish(f, &out);
	r = write_all(f->fd, str_get(&out), out.len);
	if (close(f->fd) == 0 && r == 0)
		return 0;
	errno = r < 0 ? -r : errno;
	return EOF;
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
	/* Line by line, because the console and the journal show results while a stage runs. */
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

/* A terminal of unknown size (a serial line) reports 0. */
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

static unsigned int rows(void)
{
	struct winsize size = {0};

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row ? size.ws_row
									   : ROWS_USUAL;
}

struct screen screen_look(void)
{
	return (struct screen){isatty(STDOUT_FILENO) == 1, is_utf8(), columns(), rows()};
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
	before = screen_raw(true);
	fputs(sequence, out);
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
