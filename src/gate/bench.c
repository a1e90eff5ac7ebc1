/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One poll loop over all children. A child goes WAITING (its resource is in use) -> RUNNING ->
 * (over its deadline) TERM -> KILL -> DONE; a child that yields goes RUNNING -> (shortly before its
 * deadline) TOLD -> (over the deadline) KILL -> DONE. The loop watches children (their keepers:
 * spawn.h) through pidfds; kernels before 5.3 have none, and there the loop wakes every 20 ms to
 * look.
 */
#include "gate/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/str.h"
#include "gate/spawn.h"
#include "sys/clock.h"
#include "sys/waiting.h"

#define TICK_MS 20 /* between looks at a child without a pidfd */

enum child_phase { WAITING, RUNNING, TOLD, TERM, KILL, DONE };

struct stream {
	int fd; /* -1 after its end */
	struct str text;
};

struct child {
	struct bench_job *job;
	size_t round; /* the jobs of a round do not disturb each other */
	enum child_phase phase;
	struct spawned spawned;
	int pidfd;
	struct stream out;
	struct stream err;
	bool too_much;	      /* killed for too much output rather than for its time */
	uint64_t started_us;  /* CLOCK_MONOTONIC */
	uint64_t deadline_us; /* its own deadline, or the end of the budget ... */
	bool cut_short;	      /* ... if the budget ends first */
	uint64_t next_us;     /* when the current phase ends */
};

/* --- what a child said --------------------------------------------------------------- */

/*
 * Copies text as one line of valid UTF-8 that fits, because the reason goes into JSON and onto the
 * console, and a broken child may print anything.
 */
static void clean_text(char *dst, size_t size, const char *src)
{
	size_t n = strnlen(src, size - 1);

	if (src[n]) /* never cut inside a character */
		while (n > 0 && ((unsigned char)src[n] & 0xc0) == 0x80)
			n--;
	for (size_t i = 0; i < n; i++)
		dst[i] = (unsigned char)src[i] < 0x20 || src[i] == 0x7f ? ' ' : src[i];
	dst[n] = '\0';
	while (n > 0 && dst[n - 1] == ' ')
		dst[--n] = '\0';

	json_t *probe = json_string(dst); /* NULL unless it is UTF-8 */

	if (!probe)
		for (char *p = dst; *p; p++)
			if ((unsigned char)*p >= 0x80)
				*p = '?';
	json_decref(probe);
}

/* The text to quote of a broken child: its complaint, or else its output. */
static const char *said(const struct child *c)
{
	return c->err.text.len ? str_get(&c->err.text) : str_get(&c->out.text);
}

/* The complete lines that are objects. */
static json_t *lines_of(const struct str *text)
{
	const char *from = str_get(text), *end;
	json_t *lines = json_array();

	for (; (end = strchr(from, '\n')) != NULL; from = end + 1) {
		json_t *line = json_loadb(from, (size_t)(end - from), JSON_REJECT_DUPLICATES, NULL);

		if (json_is_object(line))
			json_array_append(lines, line);
		json_decref(line);
	}
	return lines;
}

static void finish(struct child *c, enum change_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void finish(struct child *c, enum change_state state, const char *fmt, ...)
{
	struct bench_job *job = c->job;
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	job->state = state;
	job->mend = err_take_mark(text, fmt);
	clean_text(job->reason, sizeof(job->reason), text);
	if (job->mend >= strlen(job->reason))
		job->mend = 0; /* cut off */
	free(text);
	if (c->started_us)
		job->duration_us = clock_usec() - c->started_us;
	if (job->many)
		job->result = lines_of(&c->out.text);
	job->by_budget = c->cut_short && c->phase >= TOLD && !c->too_much;
	c->phase = DONE;
}

static void finish_said(struct child *c, const char *what)
{
	char text[sizeof(c->job->reason)];

	clean_text(text, sizeof(text), said(c)); /* without the end of the line */
	if (*text)
		finish(c, CHANGE_FAILED, "%s (output: %s)", what, text);
	else
		finish(c, CHANGE_FAILED, "%s (no output)", what);
}

/* Something is left of the reason when it is cleaned. */
static bool is_said(const char *reason)
{
	char clean[sizeof(((struct bench_job *)0)->reason)];

	if (!reason)
		return false;
	clean_text(clean, sizeof(clean), reason);
	return *clean;
}

/* The state that the line reports; CHANGE_FAILED for a line that bench.h does not list. */
static enum change_state state_of(const json_t *line)
{
	static const struct {
		const char *result;
		enum change_state state;
	} declined[] = {
		{"cannot measure", CHANGE_CANNOT_MEASURE},
		{"not yet", CHANGE_NOT_YET},
		{"unsupported", CHANGE_UNSUPPORTED},
	};
	const char *result = json_string_value(json_object_get(line, "result"));
	const char *reason = json_string_value(json_object_get(line, "reason"));

	if (!result)
		return CHANGE_FAILED;
	if (streq(result, "measured") && json_is_number(json_object_get(line, "value")))
		return CHANGE_SAME;
	for (size_t i = 0; i < array_len(declined); i++)
		if (streq(result, declined[i].result) && is_said(reason))
			return declined[i].state;
	return CHANGE_FAILED;
}

void bench_job_take(struct bench_job *job, json_t *line)
{
	const char *reason = json_string_value(json_object_get(line, "reason"));

	job->state = state_of(line);
	if (job->state == CHANGE_SAME)
		reason = "";
	clean_text(job->reason, sizeof(job->reason),
		   job->state == CHANGE_FAILED ? "not a result" : reason);
	job->result = job->state == CHANGE_FAILED ? NULL : json_incref(line);
}

/* The child ended with status 0: its stdout is the result, or the child is broken. */
static void finish_line(struct child *c)
{
	const char *text = str_get(&c->out.text);
	json_error_t e;
	json_t *line = json_loadb(text, c->out.text.len, JSON_REJECT_DUPLICATES, &e);

	if (state_of(line) == CHANGE_FAILED) {
		finish_said(c, line ? "not a result" : "not one line of JSON");
	} else {
		finish(c, CHANGE_SAME, "%s", "");
		bench_job_take(c->job, line);
	}
	json_decref(line);
}

/* A child over its deadline, or with too much output, is killed, and its output does not count. */
static bool was_killed(const struct child *c, uint64_t ended_us)
{
	return c->too_much || (c->phase > TOLD && ended_us >= c->deadline_us);
}

static void finish_killed(struct child *c)
{
	unsigned int had_ms = (unsigned int)((c->deadline_us - c->started_us + 999u) / 1000u);
	char what[96];

	snprintf(what, sizeof(what), "killed, because it printed more than %u KiB",
		 BENCH_OUTPUT_MAX / 1024);
	if (c->too_much)
		finish_said(c, what);
	else if (c->cut_short)
		finish(c, CHANGE_FAILED,
		       "no result within %u ms, when gate.budget was used up" TO_MEND
		       "raise gate.budget, or leave checks out",
		       had_ms);
	else
		finish(c, CHANGE_FAILED,
		       "no result within %u ms, so it was killed" TO_MEND
		       "see in the kernel log why it hung, or raise the timeout of the check",
		       had_ms);
}

static void finish_exit(struct child *c, int status)
{
	char what[96];

	if (WIFEXITED(status))
		snprintf(what, sizeof(what), "exit status %d", WEXITSTATUS(status));
	else
		snprintf(what, sizeof(what), "killed by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && c->job->many)
		finish(c, CHANGE_SAME, "%s", "");
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		finish_line(c);
	else
		finish_said(c, what);
}

/* The keeper has ended, or will not end: reports the state of the program itself. */
static void finish_ended(struct child *c)
{
	uint64_t ended_us = UINT64_MAX;
	int status = 0;
	bool ended = spawn_ended(&c->spawned, &status, &ended_us);
	const char *refused = spawn_refused(&c->spawned);

	if (*refused)
		finish(c, CHANGE_CANNOT_MEASURE, "not run: %s", refused);
	else if (was_killed(c, ended_us))
		finish_killed(c);
	else if (ended)
		finish_exit(c, status);
	else
		finish_said(c, "its keeper was killed, by the OOM killer or by hand");
}

/* --- one child ----------------------------------------------------------------------- */

static int open_pipes(int out[2], int err[2])
{
	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(err, O_CLOEXEC) < 0) {
		int r = -errno;

		close(out[0]);
		close(out[1]);
		return r;
	}
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	return 0;
}

/* When a child that yields gets SIGTERM. */
static uint64_t time_to_yield(const struct child *c)
{
	uint64_t before = (c->deadline_us - c->started_us) / 5;

	return c->deadline_us - (before < BENCH_YIELD_MS * 1000u ? before : BENCH_YIELD_MS * 1000u);
}

static void child_start(struct child *c, uint64_t end_us)
{
	struct spawn spawn = {.argv = c->job->argv, .as = c->job->as};
	struct err why = {0};
	int out[2], err[2];
	int r = open_pipes(out, err);

	if (r < 0) {
		finish(c, CHANGE_FAILED, "could not be started: pipe: %s", strerror(-r));
		return;
	}
	c->started_us = c->job->started_us = clock_usec();
	c->deadline_us = c->started_us + (uint64_t)c->job->deadline_ms * 1000u;
	c->cut_short = c->deadline_us > end_us;
	if (c->cut_short)
		c->deadline_us = end_us;
	c->next_us = c->job->yields ? time_to_yield(c) : c->deadline_us;
	spawn.out = out[1];
	spawn.err = err[1];
	r = spawn_start(&spawn, &c->spawned, &why);
	close(out[1]);
	close(err[1]);
	c->out.fd = out[0];
	c->err.fd = err[0];
	if (r < 0 && spawn.as)
		finish(c, CHANGE_CANNOT_MEASURE, "not run: %s", why.text);
	else if (r < 0)
		finish(c, CHANGE_FAILED, "could not be started: %s", why.text);
	if (r < 0)
		return;
	c->pidfd = (int)syscall(SYS_pidfd_open, c->spawned.keeper, 0u);
	c->phase = RUNNING;
}

static void stream_close(struct stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* Reads the available output. False: more than a child may print; the rest is dropped. */
static bool stream_drain(struct stream *s)
{
	char buf[16384];
	ssize_t n;

	while (s->fd >= 0) {
		n = read(s->fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0) {
			stream_close(s);
			return true;
		}
		if (s->text.len + (size_t)n > BENCH_OUTPUT_MAX) {
			stream_close(s);
			return false;
		}
		str_addn(&s->text, buf, (size_t)n);
	}
	return true;
}

static void child_drain(struct child *c)
{
	bool fits = stream_drain(&c->out);

	fits &= stream_drain(&c->err);
	if (fits || c->too_much)
		return;
	c->too_much = true;
	if (c->phase <= TOLD) {
		spawn_kill(&c->spawned);
		c->phase = KILL;
		c->next_us = clock_usec() + BENCH_GRACE_MS * 1000u;
	}
}

/* If the keeper has ended: reads the child's last output and sets the state. */
static void child_reap(struct child *c)
{
	siginfo_t si = {0};
	int r = waitid(P_PID, (id_t)c->spawned.keeper, &si, WEXITED | WNOHANG);

	if (r == 0 && si.si_pid == 0)
		return;
	child_drain(c); /* waitid() fails if the caller ignores SIGCHLD, and the keeper has ended
			   then, too */
	finish_ended(c);
}

/* Reports where in the kernel a thread hangs, which helps the reader most. */
static void child_abandon(struct child *c)
{
	char where[64];
	uint64_t ended_us = UINT64_MAX;
	int status;

	spawn_where(&c->spawned, where, sizeof(where));
	spawn_ended(&c->spawned, &status, &ended_us);
	if (!was_killed(c, ended_us)) /* only its remaining processes hang */
		finish_ended(c);
	else
		finish(c, CHANGE_FAILED,
		       "%s, killed, but did not end; abandoned (waits in the kernel: %s)",
		       c->too_much ? "printed too much" : "no result",
		       where[0] ? where : "unknown");
}

static void child_clock(struct child *c, uint64_t now)
{
	if (c->phase == DONE || c->phase == WAITING || now < c->next_us)
		return;
	switch (c->phase) {
	case RUNNING:
		spawn_term(&c->spawned);
		c->phase = now < c->deadline_us ? TOLD : TERM;
		c->next_us = c->phase == TOLD ? c->deadline_us : now + BENCH_GRACE_MS * 1000u / 2;
		break;
	case TOLD:
	case TERM:
		spawn_kill(&c->spawned);
		c->phase = KILL;
		c->next_us = now + BENCH_GRACE_MS * 1000u / 2;
		break;
	default:
		child_abandon(c);
	}
}

static void child_release(struct child *c)
{
	stream_close(&c->out);
	stream_close(&c->err);
	str_free(&c->out.text);
	str_free(&c->err.text);
	if (c->pidfd >= 0)
		close(c->pidfd);
	c->pidfd = -1;
	spawn_free(&c->spawned);
}

/* --- all of them --------------------------------------------------------------------- */

static bool running(const struct child *c)
{
	return c->phase != WAITING && c->phase != DONE;
}

static bool have_common(const struct strv *a, const struct strv *b)
{
	for (size_t i = 0; a && b && i < a->n; i++)
		if (strv_contains(b, a->v[i]))
			return true;
	return false;
}

static bool disturb(const struct bench_job *a, const struct bench_job *b)
{
	bool both_start = a->start_disturbs && b->start_disturbs;

	return have_common(a->resources, b->resources) ||
	       (!both_start && (have_common(a->start_disturbs, b->resources) ||
				have_common(b->start_disturbs, a->resources)));
}

void bench_rounds(const struct bench_job *jobs, size_t n, size_t *ret)
{
	cleanup_free bool *taken = xcalloc(n + 1, sizeof(*taken));

	for (size_t i = 0; i < n; i++) {
		memset(taken, 0, (n + 1) * sizeof(*taken));
		for (size_t j = 0; j < i; j++)
			if (disturb(&jobs[i], &jobs[j]))
				for (size_t k = jobs[i].last ? 0 : ret[j]; k <= ret[j]; k++)
					taken[k] = true;
		for (ret[i] = 0; taken[ret[i]];)
			ret[i]++;
	}
}

/*
 * True if no running job disturbs this one, and no waiting job of an earlier round needs its
 * resources. Without the second condition a job with many resources would wait for ever.
 */
static bool may_start(const struct child *all, size_t n, const struct child *c)
{
	for (size_t i = 0; i < n; i++) {
		bool counts =
			running(&all[i]) || (all[i].phase == WAITING && all[i].round < c->round);

		if (counts && disturb(all[i].job, c->job))
			return false;
	}
	return true;
}

/* Names the slowest of the jobs that this one waited for, so that the operator can look at it. */
static void finish_too_late(const struct child *all, size_t n, struct child *c,
			    unsigned int budget_ms)
{
	const struct child *slowest = NULL;

	for (size_t i = 0; i < n; i++)
		if (all[i].started_us && disturb(all[i].job, c->job) &&
		    (!slowest || all[i].job->duration_us > slowest->job->duration_us))
			slowest = &all[i];
	finish(c, CHANGE_UNKNOWN,
	       "its turn did not come within the budget of %u ms%s%s" TO_MEND
	       "raise gate.budget, or mend the slow part",
	       budget_ms, slowest ? ", most of which went to " : "",
	       slowest ? slowest->job->name : "");
}

/* True while any job runs. */
static bool start_ready(struct child *all, size_t n, uint64_t end_us)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (all[i].phase == WAITING && clock_usec() < end_us &&
		    may_start(all, n, &all[i])) {
			child_start(&all[i], end_us);
			if (all[i].phase == DONE)
				child_release(&all[i]);
		}
		any |= running(&all[i]);
	}
	return any;
}

/* The time until the next end of a phase, as a poll() timeout. */
static int next_timeout_ms(const struct child *all, size_t n)
{
	uint64_t now = clock_usec();
	uint64_t wait = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		const struct child *c = &all[i];

		if (!running(c))
			continue;
		if (c->next_us <= now)
			return 0;
		if ((c->next_us - now) / 1000u + 1 < wait)
			wait = (c->next_us - now) / 1000u + 1;
		if (c->pidfd < 0 && wait > TICK_MS)
			wait = TICK_MS;
	}
	return wait > 60000 ? 60000 : (int)wait;
}

static void wait_for_news(const struct child *all, size_t n, struct pollfd *fds)
{
	const struct child *first = NULL;
	int timeout_ms = next_timeout_ms(all, n);
	size_t others = 0;
	nfds_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (!running(&all[i]))
			continue;
		others += first != NULL;
		first = first ? first : &all[i];
		/* poll() skips negative fds: no pidfd, or a stream at its end. */
		fds[k++] = (struct pollfd){.fd = all[i].pidfd, .events = POLLIN};
		fds[k++] = (struct pollfd){.fd = all[i].out.fd, .events = POLLIN};
		fds[k++] = (struct pollfd){.fd = all[i].err.fd, .events = POLLIN};
	}
	if (first)
		timeout_ms = waiting_for(first->job->name, others, first->started_us,
					 first->deadline_us, timeout_ms);
	poll(fds, k, timeout_ms);
}

static void attend(struct child *c)
{
	child_drain(c);
	child_reap(c);
	child_clock(c, clock_usec());
	if (c->phase == DONE)
		child_release(c);
}

static int check_jobs(const struct bench_job *jobs, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (!jobs[i].argv[0] || jobs[i].argv[BENCH_ARGS_MAX - 1])
			return err_set(err, -EINVAL, "benchmark %zu: no command", i);
		if (!jobs[i].deadline_ms)
			return err_set(err, -EINVAL, "%s: no deadline", jobs[i].argv[0]);
	}
	return 0;
}

int bench_run(struct bench_job *jobs, size_t n, unsigned int budget_ms, struct err *err)
{
	uint64_t end_us = clock_usec() + (uint64_t)budget_ms * 1000u;
	int r = check_jobs(jobs, n, err);

	if (r < 0)
		return r;
	if (budget_ms == 0)
		return err_set(err, -EINVAL, "no time to measure anything");

	cleanup_free struct child *all = xcalloc(n, sizeof(*all));
	cleanup_free struct pollfd *fds = xcalloc(3 * n, sizeof(*fds));
	cleanup_free size_t *rounds = xcalloc(n, sizeof(*rounds));

	for (size_t i = 0; i < n; i++) {
		bench_job_clear(&jobs[i]);
		if (!jobs[i].name)
			jobs[i].name = jobs[i].argv[0];
		all[i] = (struct child){
			.job = &jobs[i], .pidfd = -1, .out = {.fd = -1}, .err = {.fd = -1}};
	}
	bench_rounds(jobs, n, rounds);
	for (size_t i = 0; i < n; i++)
		all[i].round = rounds[i];
	while (start_ready(all, n, end_us)) {
		wait_for_news(all, n, fds);
		for (size_t i = 0; i < n; i++)
			if (running(&all[i]))
				attend(&all[i]);
	}
	for (size_t i = 0; i < n; i++)
		if (all[i].phase == WAITING)
			finish_too_late(all, n, &all[i], budget_ms);
	return 0;
}

void bench_job_clear(struct bench_job *job)
{
	json_decref(job->result);
	job->result = NULL;
	job->state = CHANGE_UNKNOWN;
	job->reason[0] = '\0';
	job->mend = 0;
	job->started_us = job->duration_us = 0;
	job->by_budget = false;
}
