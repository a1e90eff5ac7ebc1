/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status --watch: shows the verdict now and whenever it changes, until SIGINT, or until the reader
 * is gone. On a terminal it draws the screen again, elsewhere it adds a line. It sleeps in between:
 * files of /run/railhead wake it, and so does each minute, until the claim is too old.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "report/status_text.h"
#include "sys/follow.h"
#include "sys/state.h"

enum { LOOK_AGAIN_MS = 1000, AGE_MS = 60000 };

struct watching {
	const struct invocation *inv;
	struct follow follow;
	int signals;
	char *shown; /* the last printed line; NULL: none yet */
	int code;
	bool too_old; /* only a file can change that */
};

static void print_time(FILE *out)
{
	time_t now = time(NULL);
	char text[32] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	fputs(text, out);
}

/* Takes ownership of text. False: the text is the same as the last line. */
static bool is_news(struct watching *w, char *text)
{
	bool same = w->shown && streq(w->shown, text);

	free(w->shown);
	w->shown = text;
	return !same;
}

static void add_line(struct watching *w, const struct record *r)
{
	if (!is_news(w, status_line(r)))
		return;
	print_time(stdout);
	printf(" %s\n", w->shown);
}

static void add_json(struct watching *w, const struct record *r)
{
	json_t *doc = record_to_json(r);
	bool before = screen_raw(true);

	if (is_news(w, json_dumps(doc, JSON_COMPACT)))
		printf("%s\n", w->shown);
	screen_raw(before);
	json_decref(doc);
}

/* Prints as many lines as the terminal has, except the last line, which is printed below. */
static void print_top(char *page, const struct record *r, unsigned int rows)
{
	char *line, *rest = page;
	unsigned int n = 0;

	for (; n + 1 < rows && (line = strsep(&rest, "\n")) && (rest || *line); n++) {
		if (!n)
			style_begin(stdout, status_style(r));
		printf("%s", line);
		if (!n)
			style_end(stdout);
		putchar('\n');
	}
}

static void draw(struct watching *w, const struct record *r)
{
	static const char clear[] = "\033[H\033[2J";
	struct screen screen = screen_look();
	cleanup_free char *page = NULL;
	size_t len;
	FILE *out = open_memstream(&page, &len);
	bool before;

	if (!out)
		return;
	screen_colour("never"); /* off within the page; print_top() colours the page */
	screen.terminal &= !w->inv->all;
	status_render(out, r, &screen);
	fclose(out);
	screen_colour(w->inv->colour);
	if (!is_news(w, xstrdup(page)))
		return;
	before = screen_raw(true);
	fputs(clear, stdout);
	screen_raw(before);
	print_top(page, r, screen.rows);
	print_time(stdout);
	printf(" (^C ends)");
}

static void show(struct watching *w, const struct record *r)
{
	w->code = record_admits(r) ? EXIT_OK : EXIT_GATE;
	if (w->inv->json)
		add_json(w, r);
	else if (screen_look().terminal)
		draw(w, r);
	else
		add_line(w, r);
	fflush(stdout);
}

static void look(struct watching *w)
{
	struct status status;

	status_load_settled(&w->inv->root, &status);
	w->too_old = status.record.too_old;
	show(w, &status.record);
	status_free(&status);
}

static bool goes_on(struct watching *w, int timeout)
{
	struct pollfd fds[] = {
		{w->signals, POLLIN, 0},
		{w->follow.fd, POLLIN, 0},
		{STDOUT_FILENO, 0, 0}, /* reports an error once the reader has gone */
	};
	struct signalfd_siginfo info;

	if (ferror(stdout)) /* the disk is full */
		return false;
	if (poll(fds, array_len(fds), timeout) < 0)
		return errno == EINTR;
	if (fds[2].revents)
		return false;
	if (!fds[0].revents)
		return true;
	if (read(w->signals, &info, sizeof(info)) != sizeof(info) || info.ssi_signo != SIGWINCH)
		return false;
	free(take_ptr(w->shown)); /* for drawing again in the new size */
	return true;
}

static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGWINCH);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	return signalfd(-1, &set, SFD_CLOEXEC);
}

int status_watch(const struct invocation *inv)
{
	struct watching w = {.inv = inv, .signals = block_signals(), .code = EXIT_GATE};
	bool follows;

	if (inv->scratch.child)
		return fail(EXIT_USAGE, "status --watch: a snapshot does not change");
	if (w.signals < 0)
		return fail(EXIT_INTERNAL, "status --watch: signalfd: %s", strerror(errno));
	follow_begin(&w.follow);
	do {
		follows = follow_look(&w.follow, &inv->root, STATE_DIR);
		look(&w);
	} while (goes_on(&w, !follows ? LOOK_AGAIN_MS : w.too_old ? -1 : AGE_MS));
	if (screen_look().terminal && !inv->json)
		putchar('\n');
	follow_end(&w.follow);
	close(w.signals);
	free(w.shown);
	return w.code;
}
