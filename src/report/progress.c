/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/progress.h"

#include <stdint.h>

#include "base/mem.h"
#include "base/units.h"
#include "report/screen.h"
#include "report/text.h"
#include "sys/clock.h"
#include "sys/waiting.h"

enum { SECOND_US = 1000000 };

static const char *of;

static char *seconds(uint64_t usec)
{
	return format_duration(usec / SECOND_US * SECOND_US);
}

static void show(const char *what, uint64_t since, uint64_t until)
{
	struct screen screen = screen_look();
	uint64_t now = clock_usec();
	cleanup_free char *waited = NULL, *most = NULL, *text = NULL, *line = NULL;

	if (now < since + SECOND_US)
		return;
	waited = seconds(now - since);
	most = seconds(until > since ? until - since : 0);
	text = xasprintf("%s: waiting for %s: %s, at most %s", of, what, waited, most);
	line = text_cut(text, screen.columns - 1, screen.utf8);
	screen_draw(line);
}

void progress_begin(const char *what)
{
	of = what;
	waiting_watch(show);
}

void progress_end(void)
{
	waiting_watch(NULL);
	screen_draw(NULL);
}
