/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * admit: admits work on a node whose verdict does not, for a limited time and on record.
 * maintain: announces work on the node, so that nobody is called for what the work does; admits
 * nothing. The verdict stays the same. A transient timer ends either window; a reader of the record
 * ignores a window whose time is over, even if the timer has not run yet.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "boot/service.h"
#include "cmd/cmd.h"
#include "engine/flow.h"
#include "engine/journal.h"
#include "profile/site.h"
#include "report/status_text.h"
#include "sys/clock.h"
#include "sys/manager.h"
#include "sys/read.h"
#include "sys/state.h"

enum {
	LOCK_WAIT_US = 30 * 1000000,
	TIMER_LOCK_WAIT_US = 660 * 1000000, /* behind a gate, which may measure for ten minutes */
	REASON_MAX = 200,
	WHO_MAX = 32,
};

#define MINUTE_US (60ULL * 1000000)
#define DAY_US (24 * 60 * MINUTE_US)

static bool is_reason(const char *text)
{
	json_t *probe = json_string(text); /* NULL unless it is UTF-8 */
	bool utf8 = probe, blank = true;

	json_decref(probe);
	for (const char *p = text; *p; p++) {
		if (iscntrl((unsigned char)*p))
			return false;
		blank = blank && *p == ' ';
	}
	return utf8 && !blank && strlen(text) <= REASON_MAX;
}

/* The environment is only a hint: accept a text that looks like a user name. */
static const char *user_name(void)
{
	const char *name = getenv("SUDO_USER");

	if (!name || !*name)
		name = getenv("LOGNAME");
	if (!name || !*name || strlen(name) > WHO_MAX ||
	    name[strspn(name,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-")])
		return NULL;
	return name;
}

/*
 * The user that logged in, which the kernel keeps across sudo and su (proc(5), /proc/PID/loginuid;
 * 4294967295: no login), or else the user of this process.
 */
static char *who(void)
{
	const char *tty = ttyname(STDIN_FILENO), *name = user_name();
	struct root own cleanup(root_close) = {.fd = -1};
	uint64_t uid = getuid(), logged;

	if (root_init(&own, NULL, NULL) == 0 &&
	    read_u64(&own, &logged, NULL, "/proc/self/loginuid") == 0 && logged != UINT32_MAX)
		uid = logged;
	return xasprintf("%s%suid %" PRIu64 "%s%s%s", name ? name : "", name ? " (" : "", uid,
			 tty ? ", " : "", tty ? tty : "", name ? ")" : "");
}

static char *utc(uint64_t in_usec)
{
	time_t at = time(NULL) + (time_t)(in_usec / 1000000);
	char text[32] = "";
	struct tm tm;

	if (gmtime_r(&at, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return xstrdup(text);
}

/* The remedy if an operator cannot admit the node; NULL: the operator can, or it is admitted. */
static const char *why_not_admit(const struct record *r)
{
	enum flow_state state = flow_state(r);

	if (r->verdict.kind == VERDICT_OFF)
		return "railhead=off is on the kernel command line: admit_off: true in " SITE_FILE
		       " lets such nodes work";
	if (r->verdict.kind == VERDICT_NONE)
		return "no profile matches this node: admit_none: true in " SITE_FILE
		       " lets such nodes work; `railhead match --explain` shows why no profile "
		       "matches";
	if (state == FLOW_AT_WORK)
		return "a gate has begun and has no verdict, because it was killed or failed; run "
		       "`railhead gate`";
	if (state != FLOW_ADMITTED && flow_find(FLOW_ADMIT, state)->acts & FLOW_REFUSES)
		return "the gate has not judged this node yet; run `railhead gate`";
	return NULL;
}

static int move_admission(struct flow *flow, bool begins)
{
	return flow_move(flow, begins ? FLOW_ADMIT : FLOW_ADMIT_ENDS, NULL);
}

static const char *why_not_maintain(const struct record *r)
{
	if (r->judged)
		return NULL;
	return r->unreadable ? r->unreadable
			     : "railhead has not run in this boot; run `railhead gate`";
}

/* The verdict does not move. */
static int move_maintenance(struct flow *flow, bool begins)
{
	struct record *r = &flow->status->record;
	struct err err = {0};
	int e;

	if (!begins)
		r->maintenance.until = 0;
	e = status_write(flow->root, r, &err);
	if (e == 0) {
		journal_maintenance(flow->root, r, flow->over);
		flow_move(flow, FLOW_RENEW, NULL);
	}
	if (e == 0 && !begins)
		e = service_window_over(flow->root, "maintain", &err);
	if (e < 0)
		complain_text(err.text);
	return e;
}

/* A verb, with its window. */
struct hand {
	const char *verb, *none;
	size_t window; /* in struct record */
	const char *(*why_not)(const struct record *r);
	/* The window has begun in the record, or ends. Returns an error after reporting it. */
	int (*move)(struct flow *flow, bool begins);
};

static const struct hand admission = {"admit", "nothing is admitted by hand",
				      offsetof(struct record, admission), why_not_admit,
				      move_admission};
static const struct hand maintenance = {"maintain", "no maintenance is announced",
					offsetof(struct record, maintenance), why_not_maintain,
					move_maintenance};

/* Starts the timer first, because a window without a timer would never end. */
static int begin(const struct hand *hand, struct flow *flow, struct window *w,
		 const struct invocation *inv, uint64_t usec)
{
	struct record *r = &flow->status->record;
	cleanup_free char *ends = utc(usec), *by = who();
	uint64_t now = clock_usec();
	struct err err = {0};
	const char *instead = hand->why_not(r);
	cleanup_free char *age = NULL;

	if (instead)
		return fail(EXIT_GATE, "%s: %s", hand->verb, instead);
	if (hand == &admission && flow_state(r) == FLOW_ADMITTED) {
		status_judge_age(flow->root, r);
		age = r->too_old ? age_text(r) : NULL;
		if (age)
			return fail(EXIT_GATE, "admit: %s", age);
		printf("verdict: %s: work is admitted already; there is nothing to do\n",
		       verdict_name(r->verdict.kind));
		return EXIT_OK;
	}
	if (service_window_ends(flow->root, hand->verb, usec / 1000000, &err) < 0)
		return fail(EXIT_INTERNAL, "%s; nothing has changed", err.text);
	record_open_window(r, w, now, now + usec, ends, by, inv->reason);
	return hand->move(flow, true) < 0 ? EXIT_INTERNAL : EXIT_OK;
}

/*
 * If the timer runs this, a window whose time is not over is a newer one, and stays. A record that
 * was lost on a full disk has no window, but other readers may have one.
 */
static int end(const struct hand *hand, struct flow *flow, const struct window *w)
{
	bool timer = in_own_service(), in_time = clock_usec() < w->until;

	if (timer && in_time)
		return EXIT_OK;
	if (!w->until) {
		if (!timer)
			printf("%s\n", hand->none);
		else if (hand == &maintenance)
			flow_move(flow, FLOW_RENEW, NULL);
		return EXIT_OK;
	}
	flow->over = in_time ? "taken back" : "its time is over";
	return hand->move(flow, false) < 0 ? EXIT_INTERNAL : EXIT_OK;
}

/* Returns an exit code. usec 0: end the window. */
static int parse(const struct hand *hand, const struct invocation *inv, uint64_t *usec)
{
	*usec = 0;
	if (inv->end && !inv->for_time && !inv->reason)
		return EXIT_OK;
	if (inv->end || !inv->for_time)
		return fail(EXIT_USAGE, "%s: give --for DURATION and --reason TEXT, or --end",
			    hand->verb);
	if (parse_duration(inv->for_time, usec) < 0 || (*usec && *usec < MINUTE_US) ||
	    *usec > 7 * DAY_US)
		return fail(EXIT_USAGE,
			    "%s: --for %s: must be 1m to 7d, such as 30m, 4h or 2d; 0s ends it",
			    hand->verb, inv->for_time);
	if (*usec && !(inv->reason && is_reason(inv->reason)))
		return fail(EXIT_USAGE,
			    "%s: --reason TEXT: give the reason on one line of at most %d bytes; "
			    "the record, the journal and `railhead status` show the line",
			    hand->verb, REASON_MAX);
	return EXIT_OK;
}

static int run_locked(const struct hand *hand, struct invocation *inv, uint64_t usec)
{
	struct screen screen = screen_look();
	struct window *w;
	struct status s;
	struct flow flow = {.root = &inv->root, .status = &s, .complain = complain_text};
	int code;

	status_load(&inv->root, &s);
	w = (struct window *)((char *)&s.record + hand->window);
	code = usec ? begin(hand, &flow, w, inv, usec) : end(hand, &flow, w);
	say_warnings(&s);
	if (inv->json)
		print_json(record_to_json(&s.record));
	else if (code == EXIT_OK && !in_own_service())
		status_render(stdout, &s.record, &screen);
	status_free(&s);
	return code;
}

static int run(const struct hand *hand, struct invocation *inv)
{
	struct err err = {0};
	uint64_t usec, wait = in_own_service() ? TIMER_LOCK_WAIT_US : LOCK_WAIT_US;
	int lock, code = parse(hand, inv, &usec);

	if (code)
		return code;
	lock = state_lock(&inv->root, clock_usec() + wait, &err);
	if (lock < 0)
		return fail(EXIT_INTERNAL, "%s", err.text);
	code = run_locked(hand, inv, usec);
	/* The target's start runs the gate in its unit, which finds the admission. */
	close(lock);
	return hand == &admission && usec && code == EXIT_OK ? open_target(&inv->root, true, code)
							     : code;
}

static int run_admit(struct invocation *inv)
{
	return run(&admission, inv);
}

static int run_maintain(struct invocation *inv)
{
	return run(&maintenance, inv);
}

const struct verb verb_admit = {
	.name = "admit",
	.args = "",
	.help = "admit work on a node that is not ready, for a limited time (recorded)",
	.options = OPT_ROOT | OPT_JSON | OPT_FOR | OPT_REASON | OPT_END,
	.writes = true,
	.run = run_admit,
};

const struct verb verb_maintain = {
	.name = "maintain",
	.args = "",
	.help = "announce work on the node, so that nobody is called; admits nothing (recorded)",
	.options = OPT_ROOT | OPT_JSON | OPT_FOR | OPT_REASON | OPT_END,
	.writes = true,
	.run = run_maintain,
};
