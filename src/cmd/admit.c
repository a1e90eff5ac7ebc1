/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * admit: admits work on a node whose verdict does not, for a limited time and on record. The
 * verdict stays the same. A transient timer ends the admission; a reader of the record ignores an
 * admission whose time is over, even if the timer has not run yet.
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
static const char *why_not(const struct record *r)
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

/* Starts the timer first, because an admission without a timer would never end. */
static int admit(struct flow *flow, const struct invocation *inv, uint64_t usec)
{
	struct record *r = &flow->status->record;
	cleanup_free char *ends = utc(usec), *by = who();
	uint64_t now = clock_usec();
	struct err err = {0};
	const char *instead = why_not(r);
	cleanup_free char *age = NULL;

	if (instead)
		return fail(EXIT_GATE, "admit: %s", instead);
	if (flow_state(r) == FLOW_ADMITTED) {
		status_judge_age(flow->root, r);
		age = r->too_old ? age_text(r) : NULL;
		if (age)
			return fail(EXIT_GATE, "admit: %s", age);
		printf("verdict: %s: work is admitted already; there is nothing to do\n",
		       verdict_name(r->verdict.kind));
		return EXIT_OK;
	}
	if (service_admission_ends(flow->root, usec / 1000000, &err) < 0)
		return fail(EXIT_INTERNAL, "%s; nothing is admitted", err.text);
	record_let_in(r, now, now + usec, ends, by, inv->reason);
	return flow_move(flow, FLOW_ADMIT, NULL) < 0 ? EXIT_INTERNAL : EXIT_OK;
}

/* If the timer runs this, an admission in force is a newer one, and stays. */
static int end(struct flow *flow)
{
	const struct record *r = &flow->status->record;
	bool timer = in_own_service(), in_force = record_is_let_in(r);

	if (timer && in_force)
		return EXIT_OK;
	if (!r->admission.until) {
		if (!timer)
			printf("nothing is admitted by hand\n");
		return EXIT_OK;
	}
	flow->over = in_force ? "taken back" : "its time is over";
	return flow_move(flow, FLOW_ADMIT_ENDS, NULL) < 0 ? EXIT_INTERNAL : EXIT_OK;
}

/* Returns an exit code. usec 0: end the admission. */
static int parse(const struct invocation *inv, uint64_t *usec)
{
	*usec = 0;
	if (inv->end && !inv->for_time && !inv->reason)
		return EXIT_OK;
	if (inv->end || !inv->for_time)
		return fail(EXIT_USAGE, "admit: give --for DURATION and --reason TEXT, or --end");
	if (parse_duration(inv->for_time, usec) < 0 || (*usec && *usec < MINUTE_US) ||
	    *usec > 7 * DAY_US)
		return fail(EXIT_USAGE,
			    "admit: --for %s: must be 1m to 7d, such as 30m, 4h or 2d; 0s ends it",
			    inv->for_time);
	if (*usec && !(inv->reason && is_reason(inv->reason)))
		return fail(
			EXIT_USAGE,
			"admit: --reason TEXT: give the reason on one line of at most %d bytes; "
			"the record, the journal and `railhead status` show the line",
			REASON_MAX);
	return EXIT_OK;
}

static int run_locked(struct invocation *inv, uint64_t usec, bool *admitted)
{
	struct screen screen = screen_look();
	struct status s;
	struct flow flow = {.root = &inv->root, .status = &s, .complain = complain_text};
	int code;

	status_load(&inv->root, &s);
	code = usec ? admit(&flow, inv, usec) : end(&flow);
	*admitted = usec && code == EXIT_OK;
	say_warnings(&s);
	if (inv->json)
		print_json(record_to_json(&s.record));
	else if (code == EXIT_OK && !in_own_service())
		status_render(stdout, &s.record, &screen);
	status_free(&s);
	return code;
}

static int run(struct invocation *inv)
{
	bool admitted = false;
	struct err err = {0};
	uint64_t usec, wait = in_own_service() ? TIMER_LOCK_WAIT_US : LOCK_WAIT_US;
	int lock, code = parse(inv, &usec);

	if (code)
		return code;
	lock = state_lock(&inv->root, clock_usec() + wait, &err);
	if (lock < 0)
		return fail(EXIT_INTERNAL, "%s", err.text);
	code = run_locked(inv, usec, &admitted);
	/* The target's start runs the gate in its unit, which finds the admission. */
	close(lock);
	return admitted ? open_target(&inv->root, true, code) : code;
}

const struct verb verb_admit = {
	.name = "admit",
	.args = "",
	.help = "admit work on a node that is not ready, for a limited time (recorded)",
	.options = OPT_ROOT | OPT_JSON | OPT_FOR | OPT_REASON | OPT_END,
	.writes = true,
	.run = run,
};
