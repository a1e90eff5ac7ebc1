/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/time_over.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

/* Set by a handler, read by the threads of a pool. */
static atomic_bool over;
static atomic_bool over_for_now;

static void on_term(int signal)
{
	(void)signal;
	atomic_store_explicit(&over, true, memory_order_relaxed);
}

void time_over_set(bool is_over)
{
	atomic_store_explicit(&over_for_now, is_over, memory_order_relaxed);
}

void time_over_listen(void)
{
	struct sigaction action = {.sa_handler = on_term, .sa_flags = SA_RESTART};

	sigaction(SIGTERM, &action, NULL);
}

bool time_is_over(void)
{
	return atomic_load_explicit(&over, memory_order_relaxed) ||
	       atomic_load_explicit(&over_for_now, memory_order_relaxed);
}

int err_time_over(struct err *err, const char *what)
{
	return err_set(err, -EAGAIN, "its time was over while %s", what);
}
