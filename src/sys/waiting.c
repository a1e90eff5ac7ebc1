/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/waiting.h"

#include "base/mem.h"

enum { SECOND_MS = 1000 };

static waiting_shown watcher;

void waiting_watch(waiting_shown show)
{
	watcher = show;
}

int waiting_for(const char *what, size_t others, uint64_t since, uint64_t until, int timeout_ms)
{
	cleanup_free char *text = NULL;

	if (!watcher)
		return timeout_ms;
	text = others ? xasprintf("%s and %zu more", what, others) : xstrdup(what);
	watcher(text, since, until);
	return timeout_ms < 0 || timeout_ms > SECOND_MS ? SECOND_MS : timeout_ms;
}
